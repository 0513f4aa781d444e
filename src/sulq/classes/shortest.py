"""The compression version of the generic learner: longer hypotheses only where short ones do not suffice.

The paper omits the details (end of section 3.1). They are these. Round i takes fresh rows, at least twice as
many as the round before, and has βᵢ = β/2ⁱ of the failure probability. On some of its rows it chooses from
its class. If that has a hypothesis without mistakes, what is chosen errs on at most α/4, but for βᵢ/2, by
`occam_rows`. On its other s rows the mistakes are counted, with discrete Laplace noise of scale 1/ε, and the
learner stops if that says at most 9/16·αs. By Chernoff's bounds

- a hypothesis that errs on α/4 makes fewer than 8/16·αs mistakes, but for exp(−αs·(2 ln 2 − 1)/4);
- one that errs on more than α makes more than 10/16·αs, but for exp(−αs·(3/8 + 5/8·ln 5/8));
- the noise stays within 1/16·αs to either side, but for exp(−εαs/16).

With s ≥ max{12.4, 16/ε}/α·ln(4/βᵢ) each of these is at most βᵢ/4. No row is in two rounds, nor used twice in
one, so all of it costs ε, however many rounds there are.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sulq.classes.base import HypothesisClass, Look, Setting, check_size, class_of
from sulq.classes.sizes import occam_rows, printed_occam_rows
from sulq.errors import QueryError
from sulq.numbers import make_rational, percent
from sulq.privacy.coins import shuffled
from sulq.privacy.many_candidates import choose
from sulq.privacy.noise import DiscreteLaplace
from sulq.privacy.selection import PermuteAndFlip
from sulq.privacy.terms import Contest, Settled
from sulq.queries.attributes import condition
from sulq.queries.node import Node
from sulq.queries.node_forms import node_of
from sulq.queries.question import QUESTIONS
from sulq.talk.answers import Answer, Axis
from sulq.talk.choice_laws import Population
from sulq.talk.law_forms import Law
from sulq.talk.laws import Exactly
from sulq.talk.row_questions import PublicFacts, RowQuestion, SeenRows
from sulq.wire import exact, listed, members

PASSED = Fraction(9, 16)
"""The most mistakes of a hypothesis that passes, as a part of `error` times the rows it is tested on."""


@dataclass(frozen=True)
class CompressionRound:
    """How many fresh rows a round takes.

    Args:
        chosen_on: the rows that a hypothesis is chosen on.
        tested_on: the rows that it is tested on.
    """

    chosen_on: int
    tested_on: int


def compression_rounds(
    sizes: Sequence[int], error: float, beta: float, epsilon: float, as_printed: bool = False
) -> list[CompressionRound]:
    """How many fresh rows each round takes, for classes of these sizes.

    Args:
        sizes: how many hypotheses each class has, from the most concise class on.
        error: on which part of the population what is found may err.
        beta: the chance of failure.
        epsilon: what is promised to each person.
        as_printed: choose on as many rows as the paper's generic learner asks for, with its constants.

    >>> [fresh.chosen_on + fresh.tested_on for fresh in compression_rounds([3, 81], 0.1, 0.05, 1)]
    [1327, 2654]
    """
    rounds: list[CompressionRound] = []
    rows_for, needed = (printed_occam_rows if as_printed else occam_rows), 0
    for size in sizes:
        beta /= 2
        chosen = rows_for(size, error / 4, beta / 2, epsilon, agnostic=False)
        tested = math.ceil(max(12.4, 16 / epsilon) / error * math.log(4 / beta))
        needed = max(chosen + tested, 2 * needed)
        rounds.append(CompressionRound(needed - tested, tested))
    return rounds


@dataclass(frozen=True)
class Shortest(RowQuestion):
    """Which is the first of several classes that has a hypothesis without mistakes, and which one that is.

    The answer has a row with the number of the class and that of the hypothesis, for what was found: one row,
    or none if no hypothesis passed its test. It needs a public number of rows.

    Args:
        classes: from the most concise to the longest hypotheses.
        label: what a hypothesis should say: a row expression that is true or false.
        error: what is found errs on at most that part of the population.
        beta: the chance that it errs on more, or that nothing is found though one of the classes that the
            rows suffice for has a hypothesis without mistakes.
        weight: how well it should be answered, compared with the other questions of its round.

    >>> import sulq
    >>> from sulq.classes import Conjunctions
    >>> bits = np.random.default_rng(0).random((2, 100)) < 0.5
    >>> rows = {"a": bits[0], "b": bits[1], "y": bits[0] & ~bits[1]}
    >>> people = sulq.open(rows, {name: sulq.Boolean() for name in rows})
    >>> question = Shortest((Conjunctions(["a"]), Conjunctions(["a", "b"])), sulq.col("y"))
    >>> people.exact().ask(sulq.Round([question]))[0].value
    array([[1, 5]])
    """

    classes: tuple[HypothesisClass, ...]
    label: Node
    error: Fraction = Fraction(1, 10)
    beta: Fraction = Fraction(1, 20)
    weight: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        if not isinstance(self.classes, tuple) or not self.classes:
            raise QueryError("there is nothing to choose from: name some classes, from short to long")
        if not all(isinstance(each, HypothesisClass) for each in self.classes) or not isinstance(
            self.label, Node
        ):
            raise QueryError("this question takes classes of hypotheses and a row expression as its label")
        make_rational(self, "error", most=1)
        make_rational(self, "beta", most=1)
        make_rational(self, "weight")

    @property
    def form(self) -> dict[str, Any]:
        return {
            "query": "shortest",
            "of": [each.form for each in self.classes],
            "label": self.label.form,
            "error": str(self.error),
            "beta": str(self.beta),
            "weight": str(self.weight),
        }

    def contest(self, public: PublicFacts) -> Contest:
        for each in self.classes:
            check_size(each, self._setting(public))
        return Contest(moves=1, monotone=False, size=1, weight=self.weight, way="pure")

    def check(self, public: PublicFacts, settled: Settled) -> None:
        self.plan(public, settled.epsilon)
        _mechanisms(settled.epsilon)  # what is out of their range is refused before anything is spent

    def plan(self, public: PublicFacts, epsilon: Fraction) -> list[CompressionRound]:
        """The rounds that the rows suffice for; refused if that is none."""
        if public.rows is None or public.schema.unit is not None:
            raise QueryError("rounds of fresh rows need a public number of rows")
        left, needed = public.rows, 0
        rounds: list[CompressionRound] = []
        sizes = [check_size(each, self._setting(public)) for each in self.classes]
        for fresh in compression_rounds(sizes, float(self.error), float(self.beta), float(epsilon)):
            needed = fresh.chosen_on + fresh.tested_on
            if needed > left:
                break
            left -= needed
            rounds.append(fresh)
        if not rounds:
            public.require(needed, "the first class")
        return rounds

    def look(self, rows: SeenRows, public: PublicFacts, settled: Settled | None) -> list[int] | None:
        truth, setting = rows.values(self.label), self._setting(public)
        if settled is None:
            return self._exactly(rows, truth, setting)
        start = 0
        choice, noise = _mechanisms(settled.epsilon)
        # There may be fewer rows than were counted, and no error may say so: then the last rounds have fewer.
        order = shuffled(rows.rows)
        plan = self.plan(public, settled.epsilon)
        for number, (each, fresh) in enumerate(zip(self.classes, plan, strict=False)):
            middle, stop = start + fresh.chosen_on, start + fresh.chosen_on + fresh.tested_on
            chosen, tested = order[start:middle], order[middle:stop]
            start = stop
            wrong = each.mistakes(_on(rows, chosen), truth[chosen], setting)
            index = choose(choice, -wrong)
            predicted = _on(rows, tested)(each.hypothesis(index, setting).expression)
            mistakes = int(np.count_nonzero(predicted != truth[tested]))
            noisy = mistakes + int(noise.sample(1)[0])
            if noisy <= PASSED * self.error * fresh.tested_on:
                return [number, index]
        return None

    def _exactly(self, rows: SeenRows, truth: NDArray[Any], setting: Setting) -> list[int] | None:
        for number, each in enumerate(self.classes):
            mistakes = each.mistakes(rows.values, truth, setting)
            index = int(np.argmin(mistakes))
            if mistakes[index] <= PASSED * self.error * rows.rows:
                return [number, index]
        return None

    def answer(self, released: Any, public: PublicFacts, settled: Settled | None) -> Answer:
        pairs = [] if released is None else [released]
        value = np.array(pairs, dtype=np.int64).reshape(len(pairs), 2)
        axes = (Axis("hypotheses found", None), Axis("place", ("class", "hypothesis")))
        return Answer(value, self.law(public, settled), axes)

    def law(self, public: PublicFacts, settled: Settled | None) -> Law:
        return Exactly() if settled is None else Population(float(self.error), float(self.beta))

    def promise(self, public: PublicFacts, settled: Settled) -> str:
        return f"wrong on at most {percent(self.error)} of the population, {percent(1 - self.beta)} sure"

    def words(self, public: PublicFacts) -> str:
        return f"which of {len(self.classes):,} classes is the first with a hypothesis that fits the rows"

    def _setting(self, public: PublicFacts) -> Setting:
        return Setting(public.schema, condition(self.label, public.schema))


def _mechanisms(epsilon: Fraction) -> tuple[PermuteAndFlip, DiscreteLaplace]:
    """What chooses from a class, and the noise of a test."""
    return PermuteAndFlip(epsilon, sensitivity=1), DiscreteLaplace(1 / epsilon)


def _on(rows: SeenRows, places: NDArray[np.int64]) -> Look:
    """A look at some of the rows alone."""
    return lambda expression: rows.values(expression)[places]


def _read(form: Mapping[str, Any]) -> Shortest:
    given = members(form, "this question", ["query", "of", "label", "error", "beta", "weight"])
    settings: Any = tuple(exact(given[name], name) for name in ("error", "beta", "weight"))
    classes = tuple(map(class_of, listed(given["of"], "the classes")))
    return Shortest(classes, node_of(given["label"]), *settings)


QUESTIONS["shortest"] = _read
