"""Plans of learners that ask statistical queries and have a theorem: conjunctions and masked parity."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from sulq.learners.conjunction import Conjunction
from sulq.plans.decisions import Needs, Planned, needs
from sulq.plans.models import Failing, Model, failing, paper_rows
from sulq.schema import Schema


@dataclass(frozen=True, eq=False)
class StatisticalBounds:
    """How many rows a learner needs that asks statistical queries.

    Args:
        learner: the learner.
        schema: what is public about the columns.
        model: who answers.
        rate: how often labels are wrong.
    """

    learner: Planned
    schema: Schema
    model: Model
    rate: Fraction

    def paper(self, error: Fraction, beta: Fraction, epsilon: Fraction | None) -> int:
        tolerances, strength = self.needs(error, beta).tolerances, None if epsilon is None else float(epsilon)
        return paper_rows(self.answered_as, tolerances, float(beta), strength, float(self.rate))

    def enough(self, rows: int, error: Fraction, beta: Fraction, epsilon: Fraction | None) -> bool:
        return _failing(self, error, beta, epsilon)(rows) <= beta

    @property
    def answered_as(self) -> Model:
        """Rows that are all there is have wrong labels by chance: with these they are as good as a sample.

        With the rows fixed, moments multiply over rows of several kinds, and a product of powers is at most
        the power of the mean that a sample has.
        """
        return "sample" if self.model == "exact" and self.rate else self.model

    def needs(self, error: Fraction, beta: Fraction) -> Needs:
        """What the learner needs for this error; masked parity is learned exactly, whatever it is."""
        return _needs(self, error, beta)


@lru_cache(maxsize=64)
def _needs(bounds: StatisticalBounds, error: Fraction, beta: Fraction) -> Needs:
    learner: Planned = replace(bounds.learner, confidence=1 - beta)
    if isinstance(learner, Conjunction):
        learner = replace(learner, error=error)
    return needs(learner, bounds.schema, bounds.rate)


@lru_cache(maxsize=64)
def _failing(bounds: StatisticalBounds, error: Fraction, beta: Fraction, epsilon: Fraction | None) -> Failing:
    return failing(bounds.needs(error, beta), bounds.schema, bounds.answered_as, epsilon)
