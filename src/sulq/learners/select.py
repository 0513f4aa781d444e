"""The generic private learner: choose the hypothesis that makes the fewest mistakes, or nearly so.

Section 3.1 of "What can we learn privately?"; `sulq.classes.pick` has the question.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from sulq.classes.base import HypothesisClass, Setting, check_size
from sulq.classes.boolean import Hypotheses
from sulq.classes.pick import Pick
from sulq.hypotheses.hypothesis import Hypothesis
from sulq.learners.learner import Learner
from sulq.numbers import Numeric, rational
from sulq.queries.attributes import condition
from sulq.queries.node import Node
from sulq.queries.rounds import Round
from sulq.schema import Schema
from sulq.talk.oracle import Rounds

Mechanism = Literal["permute-and-flip", "exponential"]


@dataclass(frozen=True)
class Select(Learner[Hypothesis]):
    """Chooses from a class of hypotheses one that agrees with the label on nearly as many rows as any does.

    Args:
        hypotheses: a class (`Stumps()`, `Conjunctions(…)`, …) or a list of expressions that are true or
            false.
        label: a boolean column, or an expression that is true or false.
        error: if it is stated, the chosen hypothesis errs on at most that part more of the population than
            the best does, and a curator refuses, before anything is spent, where the rows are too few.
        confidence: the chance that it does.
        mechanism: by default permute-and-flip under a budget in ε, the exponential mechanism, which is
            cheaper there, under one in ρ.
        share: the part of the budget to spend.

    >>> import sulq
    >>> people = sulq.randhie()
    >>> learner = Select(sulq.classes.Stumps(), label="bought_drugs", error=0.05)
    >>> stump = learner.learn(people.curator(epsilon=1))
    >>> stump.origin.promise
    'ε = 1 (pure)'
    """

    hypotheses: HypothesisClass | Sequence[str | Node]
    label: str | Node
    error: Numeric | None = None
    confidence: Numeric = Fraction(95, 100)
    mechanism: Mechanism | None = None
    share: Numeric = 1

    def rounds(self, schema: Schema) -> Rounds[Hypothesis]:
        setting, listed = Setting(schema, condition(self.label, schema)), self.listed
        check_size(listed, setting)
        [best] = yield Round([self.question(schema)], self.share)
        return listed.hypothesis(int(best.value), setting)

    def question(self, schema: Schema) -> Pick:
        """What is asked."""
        error = None if self.error is None else rational("error", self.error, most=1)
        beta = None if self.error is None else 1 - rational("confidence", self.confidence, most=1)
        way = self.mechanism or "usual"
        return Pick(self.listed, condition(self.label, schema), way=way, error=error, beta=beta)

    @property
    def listed(self) -> HypothesisClass:
        """The class that is chosen from."""
        given = self.hypotheses
        return given if isinstance(given, HypothesisClass) else Hypotheses(given)
