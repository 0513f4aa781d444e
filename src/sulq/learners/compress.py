"""The compression version of the generic learner: `sulq.classes.shortest` has the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from sulq.classes.base import HypothesisClass, Setting
from sulq.classes.shortest import Shortest
from sulq.hypotheses.hypothesis import Hypothesis
from sulq.hypotheses.nothing import Nothing
from sulq.learners.learner import Learner
from sulq.numbers import Numeric, rational
from sulq.queries.attributes import condition
from sulq.queries.node import Node
from sulq.queries.rounds import Round
from sulq.schema import Schema
from sulq.talk.oracle import Rounds


@dataclass(frozen=True)
class Compress(Learner[Hypothesis]):
    """Learns the shortest hypothesis that does, from labels that some hypothesis has no mistakes on.

    It returns a hypothesis of the first class that has one which passes its test, or ⊥
    (`sulq.hypotheses.Nothing`) if none does.

    Args:
        classes: from the most concise to the longest hypotheses.
        label: a boolean column, or an expression that is true or false.
        error: what is returned errs on at most this part of the population.
        confidence: the chance of that, and that something is returned if one of the classes that the rows
            suffice for has a hypothesis without mistakes.
        share: the part of the budget to spend.

    >>> import numpy as np, sulq
    >>> from sulq.classes import Conjunctions
    >>> bits = np.random.default_rng(0).random((4, 20_000)) < 0.5
    >>> rows = {name: bits[i] for i, name in enumerate("abcd")} | {"y": bits[0] & ~bits[2]}
    >>> people = sulq.open(rows, {name: sulq.Boolean() for name in rows})
    >>> learner = Compress([Conjunctions(["a"]), Conjunctions(list("abcd"))], "y", confidence="0.999999")
    >>> learner.learn(people.curator(epsilon=2)).describe()
    'a and not c'
    """

    classes: Sequence[HypothesisClass]
    label: str | Node
    error: Numeric = Fraction(1, 10)
    confidence: Numeric = Fraction(95, 100)
    share: Numeric = 1

    def rounds(self, schema: Schema) -> Rounds[Hypothesis]:
        question = self.question(schema)
        [places] = yield Round([question], self.share)
        for place, index in places.value.tolist():
            chosen: HypothesisClass = question.classes[place]
            return chosen.hypothesis(index, Setting(schema, question.label))
        return Nothing(schema, None, "hypothesis that passes its test", float(question.beta))

    def question(self, schema: Schema) -> Shortest:
        """What is asked."""
        error, sure = rational("error", self.error, most=1), rational("confidence", self.confidence, most=1)
        classes = tuple(self.classes) if isinstance(self.classes, Sequence) else ()
        return Shortest(classes, condition(self.label, schema), error, 1 - sure)
