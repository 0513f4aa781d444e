"""Any function of the rows, by its caller's promise: how far one person moves it is stated, and not proved.

The lecture notes' general Laplace mechanism (after Theorem 3) and the exponential mechanism for any score.
All other questions here are sums whose bounds follow from the schema. These two are Python functions of whole
columns, so nobody can check what is promised of them: whoever asks answers for it. The ledger, the words for
a question and the origin of what is learned say so. Such a question cannot be sent elsewhere.

Values are rounded to a grid of steps of at most a millionth of the sensitivity, which can add one step to how
far a person moves them. That step is paid for.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sulq.classes.promised_values import (
    TableFunction,
    called,
    check_columns,
    check_promise,
    check_range,
    grid_step,
    moves_of,
    number_in,
    promise_form,
    table_of,
)
from sulq.errors import QueryError
from sulq.numbers import Numeric, fraction, make_rational, rational
from sulq.privacy.many_candidates import choose
from sulq.privacy.noise import DiscreteLaplace
from sulq.privacy.terms import Contest, Pure, Settled
from sulq.queries.question import QUESTIONS
from sulq.talk.answers import Answer
from sulq.talk.choice_laws import Gap
from sulq.talk.law_forms import Law
from sulq.talk.laws import Exactly, Noise
from sulq.talk.row_questions import PublicFacts, RowQuestion, SeenRows


@dataclass(frozen=True, eq=False)
class PromisedFunction(RowQuestion):
    """A number that any function makes of the rows: the Laplace mechanism with a stated Δf.

    Its value is clipped to a public range. Where the function raises, or returns no number, it is `low`.

    Args:
        name: what it is called, in the ledger and in words.
        columns: the columns that the function reads.
        sensitivity: Δf, how far one person can move the function, by the caller's promise.
        low: the smallest value.
        high: the largest value.
        function: the function, of a mapping from the columns' names to arrays of their values.
        weight: how well it should be answered, compared with the other questions of its round.
    """

    name: str
    columns: tuple[str, ...]
    sensitivity: Fraction
    low: Fraction
    high: Fraction
    function: TableFunction
    weight: Fraction = Fraction(1)
    serial: str = field(default_factory=lambda: uuid.uuid4().hex, init=False)

    def __post_init__(self) -> None:
        check_promise(self.name, self.columns, self.function)
        make_rational(self, "sensitivity")
        make_rational(self, "weight")
        check_range("a promised function has", self.low, self.high, self.sensitivity)

    @property
    def form(self) -> dict[str, Any]:
        """Names the function without containing it, and says who promised what."""
        numbers = {"sensitivity": str(self.sensitivity), "low": str(self.low), "high": str(self.high)}
        return promise_form("promised function", self.name, self.columns, self.serial, self.weight) | numbers

    @property
    def caller_promises(self) -> str:
        return f"one person moves {self.name} by at most {float(self.sensitivity):g}"

    def contest(self, public: PublicFacts) -> Contest:
        check_columns(self.columns, public)
        return Contest(moves=1, monotone=False, size=1, weight=self.weight, way="pure")

    def check(self, public: PublicFacts, settled: Settled) -> None:
        self._noise(settled)  # what is out of its range is refused before anything is spent

    def look(self, rows: SeenRows, public: PublicFacts, settled: Settled | None) -> int:
        table = table_of(rows, self.columns, public)
        value = called(self.function, table, number_in(self.low, self.high), self.low)
        steps = round(value / grid_step(self.sensitivity))
        return steps if settled is None else steps + int(self._noise(settled).sample(1)[0])

    def answer(self, released: Any, public: PublicFacts, settled: Settled | None) -> Answer:
        value = int(released) * grid_step(self.sensitivity)
        if public.truncate:
            value = min(max(value, self.low), self.high)
        return Answer(float(value), self.law(public, settled))

    def law(self, public: PublicFacts, settled: Settled | None) -> Law:
        return (
            Exactly() if settled is None else Noise.of(self._noise(settled), grid_step(self.sensitivity), 1)
        )

    def words(self, public: PublicFacts) -> str:
        return f"{self.name}; the caller promises that {self.caller_promises}"

    def _noise(self, settled: Settled) -> DiscreteLaplace:
        assert isinstance(settled, Pure)
        return DiscreteLaplace(moves_of(self.sensitivity) / settled.epsilon)


@dataclass(frozen=True, eq=False)
class PromisedChoice(RowQuestion):
    """Which of some candidates has the largest score: the exponential mechanism for any score.

    The answer is the number of a candidate. A score that is no number counts as the lowest that is possible.

    Args:
        name: what the score is called, in the ledger and in words.
        columns: the columns that the scores are made of.
        sensitivity: how far one person can move any score, by the caller's promise.
        candidates: how many candidates there are.
        low: the smallest score.
        high: the largest score.
        scores: the scores of all candidates, of a mapping from the columns' names to arrays of their values.
        weight: how well it should be answered, compared with the other questions of its round.
    """

    measured_in = "best"

    name: str
    columns: tuple[str, ...]
    sensitivity: Fraction
    candidates: int
    low: Fraction
    high: Fraction
    scores: TableFunction
    weight: Fraction = Fraction(1)
    serial: str = field(default_factory=lambda: uuid.uuid4().hex, init=False)

    def __post_init__(self) -> None:
        check_promise(self.name, self.columns, self.scores)
        make_rational(self, "sensitivity")
        make_rational(self, "weight")
        if type(self.candidates) is not int or not 1 <= self.candidates <= 2**26:
            raise QueryError(f"there are from 1 to 2^26 candidates, not {self.candidates!r}")
        check_range("promised scores have", self.low, self.high, self.sensitivity)

    @property
    def form(self) -> dict[str, Any]:
        """Names the scores without containing them, and says who promised what."""
        numbers = {"sensitivity": str(self.sensitivity), "candidates": self.candidates}
        return promise_form("promised choice", self.name, self.columns, self.serial, self.weight) | numbers

    @property
    def caller_promises(self) -> str:
        return f"one person moves each {self.name} by at most {float(self.sensitivity):g}"

    def contest(self, public: PublicFacts) -> Contest:
        check_columns(self.columns, public)
        moves = moves_of(self.sensitivity)
        return Contest(moves=moves, monotone=False, size=moves, weight=self.weight, way="exponential")

    def check(self, public: PublicFacts, settled: Settled) -> None:
        return None

    def look(self, rows: SeenRows, public: PublicFacts, settled: Settled | None) -> int:
        def read(returned: Any) -> NDArray[np.float64]:
            return np.array(returned, dtype=np.float64).reshape(self.candidates)

        lowest = float(self.low)
        table = table_of(rows, self.columns, public)
        scores = called(self.scores, table, read, np.full(self.candidates, lowest))
        known = np.clip(np.where(np.isnan(scores), lowest, scores), lowest, float(self.high))
        # From the lowest score on: what counts is how far below the best one a score is.
        steps = np.array(
            [round((Fraction(score) - self.low) / grid_step(self.sensitivity)) for score in known]
        )
        if settled is None:
            return int(np.argmax(steps))
        assert not isinstance(settled, Pure)
        return choose(settled, steps.astype(np.int64))

    def answer(self, released: Any, public: PublicFacts, settled: Settled | None) -> Answer:
        return Answer(int(released), self.law(public, settled))

    def law(self, public: PublicFacts, settled: Settled | None) -> Law:
        if settled is None:
            return Exactly()
        assert not isinstance(settled, Pure)
        return Gap.of(settled, self.candidates, 1, grid_step(self.sensitivity))

    def words(self, public: PublicFacts) -> str:
        asked = f"which of {self.candidates:,} has the best {self.name}"
        return f"{asked}; the caller promises that {self.caller_promises}"


def promised(
    function: TableFunction,
    columns: Sequence[str],
    *,
    sensitivity: Numeric,
    low: Numeric,
    high: Numeric,
    name: str = "a function",
    weight: Numeric = 1,
) -> PromisedFunction:
    """A question about any function of the rows, which is answered with Laplace noise for a stated Δf.

    That one person moves the function by no more than Δf, whatever the rows, is **your promise**: no code can
    check it, and the privacy of the answer rests on it. Ask sums (`count`, `total`, `mean`) where they do.
    A person is whoever the schema's unit says, and neighbours are as the curator has them. It is answered by
    curators in the same process, and by exact answers, from all rows.

    Args:
        function: it is called with a dict of arrays, one for each of the `columns`, in the schema's own units
            (texts for categories), with an entry for every row: of a missing cell the column's public
            constant, also if the schema drops missing cells. It returns a number. Where it raises, or returns
            something else, its value is `low`: the promise must hold for that too.
        columns: the names of the columns that the function reads.
        sensitivity: Δf, how far one person can move the function.
        low: what values below it are raised to; public.
        high: what values above it are lowered to; public.
        name: what to call it, in the ledger and in words.
        weight: how well it should be answered, compared with the other questions of its round.

    >>> import numpy as np, sulq
    >>> people = sulq.open({"ward": [1, 2, 2, 3] * 500}, {"ward": sulq.Integer(0, 9)})
    >>> def in_use(rows):
    ...     return len(np.unique(rows["ward"]))
    >>> wards = sulq.promised(in_use, ["ward"], sensitivity=1, low=0, high=10, name="wards in use")
    >>> [answer] = people.curator(epsilon=20).ask(sulq.Round([wards], share=1))
    >>> abs(answer.value - 3) <= answer.radius(1e-9)
    True
    >>> wards.caller_promises
    'one person moves wards in use by at most 1'
    """
    ends = (fraction("low", low), fraction("high", high))
    delta = rational("sensitivity", sensitivity)
    return PromisedFunction(name, tuple(columns), delta, *ends, function, rational("weight", weight))


def promised_choice(
    scores: TableFunction,
    columns: Sequence[str],
    *,
    candidates: int,
    sensitivity: Numeric,
    low: Numeric,
    high: Numeric,
    name: str = "score",
    weight: Numeric = 1,
) -> PromisedChoice:
    """A question which of some candidates has the best score, for any score: the exponential mechanism.

    That one person moves no score by more than `sensitivity`, whatever the rows, is **your promise**, as for
    `promised`.

    Args:
        scores: it is called like the function of `promised`, and returns the scores of all candidates.
        columns: the names of the columns that the scores are made of.
        candidates: how many candidates there are.
        sensitivity: how far one person can move any score.
        low: what scores below it are raised to; public.
        high: what scores above it are lowered to; public.
        name: what to call the score, in the ledger and in words.
        weight: how well it should be answered, compared with the other questions of its round.

    >>> import numpy as np, sulq
    >>> people = sulq.open({"age": [20, 30, 30, 41] * 500}, {"age": sulq.Integer(0, 99)})
    >>> def balance(rows):  # how evenly an age cuts the rows: the median is best
    ...     ages = np.arange(100)[:, None]
    ...     return -np.abs((rows["age"] < ages).sum(axis=1) - (rows["age"] > ages).sum(axis=1))
    >>> median = sulq.promised_choice(
    ...     balance, ["age"], candidates=100, sensitivity=2, low=-10_000, high=0, name="balance"
    ... )
    >>> people.curator(epsilon=1).ask(sulq.Round([median], share=1))[0].value
    30
    """
    ends = (fraction("low", low), fraction("high", high))
    delta = rational("sensitivity", sensitivity)
    return PromisedChoice(name, tuple(columns), delta, candidates, *ends, scores, rational("weight", weight))


def _read(form: Mapping[str, Any]) -> PromisedFunction:
    raise QueryError("a promised function is a Python function: it cannot be read back, or asked elsewhere")


QUESTIONS["promised function"] = QUESTIONS["promised choice"] = _read
