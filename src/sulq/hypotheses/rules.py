"""What the learners beyond sums return."""

from __future__ import annotations

from dataclasses import dataclass

from sulq.hypotheses.hypothesis import Hypothesis, words
from sulq.pictures import chips
from sulq.queries.arithmetic import And
from sulq.queries.codes import Xor, parity
from sulq.queries.expressions import Constant
from sulq.queries.node import Node

ONE = Constant(1)
"""The feature that is true of every row: with it a parity can be the opposite of one."""


@dataclass(frozen=True, eq=False)
class Rule(Hypothesis):
    """A conjunction: true of a row if all its literals are.

    Args:
        schema: what is public about the columns.
        origin: where the hypothesis comes from, if it was learned.
        literals: conditions, each true or false of a row.

    >>> import sulq
    >>> schema = sulq.Schema({"a": sulq.Boolean(), "b": sulq.Boolean()})
    >>> rule = Rule(schema, None, (sulq.col("a"), ~sulq.col("b")))
    >>> rule.describe()
    'a and not b'
    >>> rule.predict({"a": [True, True], "b": [False, True]})
    array([ True, False])
    """

    wire = "rule"

    literals: tuple[Node, ...]

    @property
    def expression(self) -> Node:
        if not self.literals:
            return Constant(1)
        conjunction = self.literals[0]
        for literal in self.literals[1:]:
            conjunction = And(conjunction, literal)
        return conjunction

    @property
    def headline(self) -> str:
        return f"True where {self.describe()}." if self.literals else "True of every row."

    def describe(self) -> str:
        return " and ".join(words(literal, self.schema) for literal in self.literals) or "always"

    def picture(self) -> str:
        literals = [words(literal, self.schema) for literal in self.literals]
        return chips.picture("True where", literals or ["always"], note=self._caption)


@dataclass(frozen=True, eq=False)
class ParityRule(Hypothesis):
    """True of a row if an odd number of the masked features are.

    Args:
        schema: what is public about the columns.
        origin: where the hypothesis comes from, if it was learned.
        features: conditions, each true or false of a row.
        mask: 1 for each feature that counts, 0 for the others.

    >>> import sulq
    >>> schema = sulq.Schema({name: sulq.Boolean() for name in "abc"})
    >>> rule = ParityRule(schema, None, tuple(map(sulq.col, "abc")), (1, 0, 1))
    >>> rule.describe()
    'a xor c'
    >>> rule.predict({"a": [1, 1], "b": [1, 0], "c": [0, 1]})
    array([ True, False])
    """

    wire = "parity"

    features: tuple[Node, ...]
    mask: tuple[int, ...]

    @property
    def expression(self) -> Xor:
        return parity(self.features, self.mask)

    @property
    def headline(self) -> str:
        return f"True where {self.describe()}." if self._terms else "True of no row."

    def describe(self) -> str:
        return " xor ".join(self._terms) or "never"

    def picture(self) -> str:
        return chips.picture("True where", self._terms or ["never"], joint="xor", note=self._caption)

    @property
    def _terms(self) -> list[str]:
        chosen = [f for f, masked in zip(self.features, self.mask, strict=True) if masked]
        return ["true" if feature.key == ONE.key else words(feature, self.schema) for feature in chosen]


@dataclass(frozen=True, eq=False)
class Selected(Hypothesis):
    """A hypothesis out of a class.

    Args:
        schema: what is public about the columns.
        origin: where the hypothesis comes from, if it was learned.
        said: what it says of a row, as an expression.
        words: what it says, for people.

    >>> import sulq
    >>> schema = sulq.Schema({"age": sulq.Integer(0, 120)})
    >>> Selected(schema, None, sulq.col("age") >= 65, "age from 65").predict({"age": [3, 70]})
    array([False,  True])
    """

    wire = "selected"

    said: Node
    words: str

    @property
    def expression(self) -> Node:
        return self.said

    @property
    def headline(self) -> str:
        return f"True where {self.words}."

    def describe(self) -> str:
        return self.words

    def picture(self) -> str:
        return chips.picture("True where", [self.words], note=self._caption)
