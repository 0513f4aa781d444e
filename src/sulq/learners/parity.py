"""Parities, learned privately though no statistical query can: `sulq.classes.solve` has the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from sulq.classes.sizes import Amplification
from sulq.classes.solve import Solve
from sulq.errors import QueryError
from sulq.hypotheses.nothing import Nothing
from sulq.hypotheses.rules import ONE, ParityRule
from sulq.learners.learner import Learner
from sulq.numbers import Numeric, rational
from sulq.privacy.parity import Sampling
from sulq.queries.arithmetic import And, Or
from sulq.queries.attributes import condition, conditions
from sulq.queries.node import Node
from sulq.queries.rounds import Round
from sulq.schema import Schema
from sulq.talk.oracle import Rounds


@dataclass(frozen=True)
class Parity(Learner[ParityRule | Nothing]):
    """Learns a parity of boolean features from labels that are one, whatever the distribution of the rows.

    It returns a `ParityRule`, or ⊥ (`sulq.hypotheses.Nothing`): that is the likely outcome if the labels are
    no parity. It needs the rows themselves and not their sums, so only who holds the rows can answer. Where
    the number of rows is public and too small for the promise, a curator refuses before anything is spent.

    Args:
        label: a boolean column, or an expression that is true or false.
        features: boolean columns or such expressions; by default all boolean columns but the label's.
        error: the parity errs on at most this part of the population that the rows were drawn from.
        confidence: the chance of that.
        constant: whether the opposites of parities are considered too.
        sampling: how many rows a run looks at: as many as privacy allows ("tight"), or as the paper says
            ("paper"); see `sulq.privacy.parity`.
        amplification: how a mechanism that may say ⊥ becomes reliable. "repeat" makes several attempts on
            all rows, accounted jointly, and the first parity decides. With sampling="paper" it is the box of
            the paper's earlier version: k = ⌈log₂ 2/β⌉ runs with ε/k each, and Theorem 3.8's number of rows.
            "test set" runs it on disjoint parts with all of ε each, and chooses among the parities by their
            mistakes on other rows (the full version, with its footnote's way of choosing). "boxed" is the
            full version's box, with sampling="paper": its constants, and the least of noisy counts of
            mistakes. "repeat" needs fewer rows.
        share: the part of the budget to spend.

    >>> import numpy as np, sulq
    >>> rng = np.random.default_rng(0)
    >>> bits = rng.random((8, 4000)) < 0.5
    >>> rows = {f"x{i}": bits[i] for i in range(8)} | {"y": bits[1] ^ bits[4] ^ bits[6]}
    >>> people = sulq.open(rows, {name: sulq.Boolean() for name in rows})
    >>> learner = Parity(label="y", error=0.2, confidence="0.999999")
    >>> learner.learn(people.curator(epsilon=4)).describe()
    'x1 xor x4 xor x6'
    """

    label: str | Node
    features: Sequence[str | Node] | None = None
    error: Numeric = Fraction(1, 10)
    confidence: Numeric = Fraction(95, 100)
    constant: bool = False
    sampling: Sampling = "tight"
    amplification: Amplification = "repeat"
    share: Numeric = 1

    def rounds(self, schema: Schema) -> Rounds[ParityRule | Nothing]:
        question = self.question(schema)
        [parities] = yield Round([question], self.share)
        for mask in parities.value.tolist():
            return ParityRule(schema, None, question.features, tuple(mask))
        return Nothing(schema, None, "parity", float(question.beta))

    def question(self, schema: Schema) -> Solve:
        """What is asked."""
        label = condition(self.label, schema)
        features = conditions(self.features, label, schema) + ((ONE,) if self.constant else ())
        error, sure = rational("error", self.error, most=1), rational("confidence", self.confidence, most=1)
        return Solve(features, label, error, 1 - sure, self.sampling, self.amplification)


def masked(bits: Sequence[str | Node], choices: Sequence[Node], mask: Node, schema: Schema) -> list[Node]:
    """MASKED-PARITY as a parity, of d + 1 features made from its input (x, i, b): section 5.3 of the paper.

    Where b is 0 the label is ⟨r, x⟩ + a, and where it is 1 it is rᵢ. Both are linear in (r, a), so features
    that are xⱼ where b is 0 and [i = j] where it is 1, and one more that is 1 where b is 0, make it a parity.
    `bits`: x. `choices`: the d conditions i = j. `mask`: b.

    >>> import sulq
    >>> names = ["x0", "x1", "i", "b"]
    >>> schema = sulq.Schema({name: sulq.Boolean() for name in names})
    >>> i, b = sulq.col("i"), sulq.col("b")
    >>> [type(feature).__name__ for feature in masked(["x0", "x1"], [~i, i], b, schema)]
    ['Or', 'Or', 'Not']
    """
    if len(bits) != len(choices):
        raise QueryError(f"there are {len(bits)} bits and {len(choices)} choices among them")
    shown = ~condition(mask, schema)
    pairs = zip(bits, choices, strict=True)
    seen = [Or(And(shown, condition(x, schema)), And(mask, condition(j, schema))) for x, j in pairs]
    return [*seen, shown]
