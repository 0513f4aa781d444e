"""Which hypothesis of a class is wrong least often: the question of the generic private learner.

Section 3.1 of "What can we learn privately?". A row moves the number of mistakes of any hypothesis by at most
one, so the choice costs the same however many there are, and the rows needed grow with the logarithm of their
number (`occam_rows`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from sulq.classes.base import HypothesisClass, Setting, check_size, class_of
from sulq.classes.sizes import occam_rows
from sulq.errors import QueryError
from sulq.numbers import make_rational, percent
from sulq.privacy.many_candidates import choose
from sulq.privacy.terms import Contest, Pure, Settled, Way
from sulq.queries.attributes import condition
from sulq.queries.expressions import col
from sulq.queries.node import Node
from sulq.queries.node_forms import node_of
from sulq.queries.question import QUESTIONS
from sulq.schema import Schema
from sulq.talk.answers import Answer
from sulq.talk.choice_laws import Gap
from sulq.talk.law_forms import Law
from sulq.talk.laws import Exactly
from sulq.talk.row_questions import PublicFacts, RowQuestion, SeenRows
from sulq.wire import exact, members


@dataclass(frozen=True)
class Pick(RowQuestion):
    """Which hypothesis of a class disagrees with a label on the fewest rows.

    The answer is its number. Where an `error` is stated, the question is refused, before anything is spent,
    if the number of rows is public and too small for it.

    Args:
        hypotheses: the class.
        label: what the hypotheses should say: a row expression that is true or false.
        weight: how well it should be answered, compared with the other questions of its round.
        way: the mechanism; "usual" is permute-and-flip under a budget in ε, and the exponential mechanism,
            which is cheaper there, under one in ρ.
        error: what is chosen errs on at most that part more of the population than the best does.
        beta: the chance that it errs on more.

    >>> import sulq
    >>> from sulq.classes import Stumps
    >>> question = Pick(Stumps(), sulq.col("bought_drugs"))
    >>> [answer] = sulq.randhie().exact().ask(sulq.Round([question]))
    >>> Stumps().hypothesis(answer.value, Setting(sulq.randhie().schema, question.label)).describe()
    'doctor_visits >= 2'
    """

    measured_in = "best"

    hypotheses: HypothesisClass
    label: Node
    weight: Fraction = Fraction(1)
    way: Way = "usual"
    error: Fraction | None = None
    beta: Fraction | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.hypotheses, HypothesisClass) or not isinstance(self.label, Node):
            raise QueryError("a pick takes a class of hypotheses and a row expression as its label")
        if self.way not in ("usual", "permute-and-flip", "exponential"):
            raise QueryError(f"mechanism is 'permute-and-flip' or 'exponential', not {self.way!r}")
        if (self.error is None) != (self.beta is None):
            raise QueryError("error and beta go together: how much worse, and how often more than that")
        make_rational(self, "weight")
        if self.error is not None:
            make_rational(self, "error", most=1)
            make_rational(self, "beta", most=1)

    @property
    def form(self) -> dict[str, Any]:
        return {
            "query": "pick",
            "of": self.hypotheses.form,
            "label": self.label.form,
            "weight": str(self.weight),
            "way": self.way,
            "error": None if self.error is None else str(self.error),
            "beta": None if self.beta is None else str(self.beta),
        }

    def contest(self, public: PublicFacts) -> Contest:
        self._size(public)
        monotone = public.neighbours == "add-remove"
        return Contest(public.schema.rows_per_unit, monotone, 1, self.weight, self.way)

    def check(self, public: PublicFacts, settled: Settled) -> None:
        needed = self.needed(public, settled)
        if needed is not None and self.error is not None:
            epsilon = _per_row(settled)
            promise = (
                f"an error of {float(self.error):g} among {self._size(public)} hypotheses at ε = {epsilon:g}"
            )
            public.require(needed, promise)

    def needed(self, public: PublicFacts, settled: Settled) -> int | None:
        """How many rows the stated error takes; None if none is stated."""
        if self.error is None or self.beta is None:
            return None
        numbers = (float(self.error), float(self.beta), _per_row(settled))
        return occam_rows(self._size(public), *numbers, neighbours=public.neighbours)

    def look(self, rows: SeenRows, public: PublicFacts, settled: Settled | None) -> int:
        mistakes = self.hypotheses.mistakes(rows.values, rows.values(self.label), self._setting(public))
        if settled is None:
            return int(np.argmin(mistakes))
        assert not isinstance(settled, Pure)
        return choose(settled, -mistakes)

    def answer(self, released: Any, public: PublicFacts, settled: Settled | None) -> Answer:
        return Answer(int(released), self.law(public, settled))

    def law(self, public: PublicFacts, settled: Settled | None) -> Law:
        if settled is None:
            return Exactly()
        assert not isinstance(settled, Pure)
        return Gap.of(settled, self._size(public), 1, Fraction(1))

    def promise(self, public: PublicFacts, settled: Settled) -> str | None:
        if self.error is None or self.beta is None:
            return None
        return (
            f"at most {percent(self.error)} of the population beyond the best, {percent(1 - self.beta)} "
            f"sure, from {self.needed(public, settled):,} rows on"
        )

    def flipped(self, column: str, rate: Fraction, schema: Schema) -> Pick:
        """The same question, by the label as it is: flips make of every error e the error (1 − 2η)·e + η.

        So the best stays the best, and to be as close to it by the right labels takes 1 − 2η of the error.
        """
        others = Schema({name: schema[name] for name in schema if name != column}, schema.unit)
        # Refused if it looks at the column, by name or because it looks at all columns.
        if check_size(self.hypotheses, Setting(others, self.label)) != self._size(PublicFacts(schema)):
            raise QueryError(
                f"these hypotheses look at {column!r}, which is wrong part of the time: name others"
            )
        if all(leaf.name != column for leaf in self.label.leaves().values()):
            return self
        if self.label.key not in (col(column).key, (~col(column)).key):
            raise QueryError("a choice by a noisy label needs that label itself, not an expression of it")
        return self if self.error is None else replace(self, error=self.error * (1 - 2 * rate))

    def words(self, public: PublicFacts) -> str:
        return f"which of {self._size(public):,} hypotheses is wrong least often"

    def _setting(self, public: PublicFacts) -> Setting:
        return Setting(public.schema, condition(self.label, public.schema))

    def _size(self, public: PublicFacts) -> int:
        return check_size(self.hypotheses, self._setting(public))


def _per_row(settled: Settled) -> float:
    """The ε of one row: a person of several has it for each of them."""
    return float(settled.epsilon if isinstance(settled, Pure) else settled.epsilon / settled.sensitivity)


def _read(form: Mapping[str, Any]) -> Pick:
    given = members(form, "a pick", ["query", "of", "label", "weight", "way", "error", "beta"])
    stated = [None if given[name] is None else exact(given[name], name) for name in ("error", "beta")]
    settings: Any = (exact(given["weight"], "a weight"), given["way"], *stated)
    return Pick(class_of(given["of"]), node_of(given["label"]), *settings)


QUESTIONS["pick"] = _read
