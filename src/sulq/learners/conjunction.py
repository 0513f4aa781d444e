"""Conjunctions: which of many literals hold whenever the label does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, get_args

from sulq.errors import QueryError
from sulq.hypotheses.rules import Rule
from sulq.learners.learner import LATER, Learner
from sulq.numbers import Numeric, rational
from sulq.queries.attributes import condition, conditions
from sulq.queries.node import Node
from sulq.queries.query import mean
from sulq.queries.rounds import Round
from sulq.schema import Schema
from sulq.talk.law_forms import Law
from sulq.talk.laws import Noise, Ratio
from sulq.talk.oracle import Rounds

Keep = Literal["tight", "paper"]


@dataclass(frozen=True)
class Conjunction(Learner[Rule]):
    """Learns a conjunction from d queries in one round: Theorem 5 of the lecture notes.

    For every literal it asks how often the label is true and the literal is not, and keeps those where that
    is at most error/2d. With answers within error/2d of the truth it keeps every literal of a target
    conjunction, and none that costs more than error/d, so the rule errs on at most `error` of the rows.

    With a `share` of a curator's budget the noise may be wider than that. Then it keeps literals up to what
    the noise may add to a literal of the target, but not beyond error/d: to drop one of those is a failure,
    while to keep a bad literal only costs what it costs (`sulq.plans.literals` has the proof).

    Args:
        label: a boolean column, or an expression that is true or false.
        features: boolean columns or such expressions, by default all boolean columns that the label does not
            look at.
        error: on which part of the rows the rule may be wrong.
        confidence: how sure that is under an oracle that adds noise.
        negations: consider the opposite of every feature too.
        share: ask for this part of the budget instead of by tolerances; then the rule is as good as the
            budget allows.
        keep: "tight" keeps literals as said above; "paper" those up to error/2d, however wide the noise is.

    >>> import sulq
    >>> rows = {"a": [1, 1, 0, 0] * 9, "b": [1, 0, 1, 0] * 9, "c": [1, 0, 0, 1] * 9, "y": [1, 0, 0, 0] * 9}
    >>> people = sulq.open(rows, {name: sulq.Boolean() for name in rows})
    >>> Conjunction(label="y", error=0.1).learn(people.exact()).describe()
    'a and b and c'
    """

    label: str | Node
    features: Sequence[str | Node] | None = None
    error: Numeric = Fraction(1, 10)
    confidence: Numeric = Fraction(95, 100)
    negations: bool = False
    share: Numeric | None = None
    keep: Keep = field(default="tight", metadata=LATER)

    def rounds(self, schema: Schema) -> Rounds[Rule]:
        if self.keep not in get_args(Keep):
            raise QueryError(f"keep is 'tight' or 'paper', not {self.keep!r}")
        literals, label = self.literals(schema), condition(self.label, schema)
        within = self.tolerance(len(literals))
        tolerance, beta = (within, self._beta(len(literals))) if self.share is None else (None, None)
        violations = [mean(label & ~literal, tolerance=tolerance, beta=beta) for literal in literals]
        answers = yield Round(violations, self.share)
        most = [self.most(len(literals), answer.law) for answer in answers]
        judged = zip(literals, answers, most, strict=True)
        return Rule(schema, None, tuple(literal for literal, answer, m in judged if answer.value <= m))

    def most(self, literals: int, law: Law) -> float:
        """Up to which answer of this law a literal is kept.

        A literal of the target goes beyond what the noise may add to it with a chance of 9β/10d at most.
        """
        half = float(self.tolerance(literals))
        sums = law.of_totals if isinstance(law, Ratio) else law
        if self.share is None or self.keep == "paper" or not isinstance(sums, Noise):
            return half
        # Noise is symmetric: on one side it goes beyond half as often.
        strays = float(law.each(min(1.0, 1.8 * float(self._beta(literals)))))
        if isinstance(law, Noise):
            # Noise is a number of steps: half a step more keeps the same literals, however floats round.
            strays += float(law.step) * law.factor / 2
        return min(2 * half, max(half, strays))

    def tolerance(self, literals: int) -> Fraction:
        """How close every answer must be for the rule to be as good as promised: error/2d."""
        return rational("error", self.error, most=1) / (2 * literals)

    def literals(self, schema: Schema) -> list[Node]:
        """What the rule may be made of."""
        given = conditions(self.features, condition(self.label, schema), schema)
        return [*given, *(~feature for feature in given)] if self.negations else list(given)

    def _beta(self, literals: int) -> Fraction:
        return (1 - rational("confidence", self.confidence, below=1)) / literals
