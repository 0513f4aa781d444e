"""Masked parity: the class that two rounds of questions learn, and one round cannot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sulq.errors import QueryError
from sulq.hypotheses.hypothesis import Hypothesis
from sulq.learners.learner import Learner
from sulq.numbers import Numeric, rational, truth
from sulq.pictures import chips
from sulq.queries.attributes import column_names, distinct
from sulq.queries.cases import where
from sulq.queries.codes import Cross, OneHot, parity
from sulq.queries.expressions import Constant, col
from sulq.queries.lookups import lookup
from sulq.queries.node import Node
from sulq.queries.query import mean
from sulq.queries.rounds import Round
from sulq.queries.vectors import Only
from sulq.schema import Boolean, Integer, Schema
from sulq.talk.answers import Answer
from sulq.talk.oracle import Rounds


@dataclass(frozen=True, eq=False)
class MaskedParityRule(Hypothesis):
    """c_{r,a}: where the switch is on, bit `index` of r; where it is off, the parity of the bits in r plus a.

    Args:
        schema: what is public about the columns.
        origin: where the rule comes from, if it was learned.
        bits: the boolean columns whose parity is meant.
        index: the column that says which bit of r is the label where the switch is on.
        switch: the boolean column that says which of the two the label is.
        secret: r.
        mask: a. None says that nothing is known of it; then the rule says false wherever the switch is off,
            which is right about half of the rows there.

    >>> import sulq
    >>> schema = sulq.theory.masked_parity_schema(2)
    >>> rule = MaskedParityRule(schema, None, ("x0", "x1"), "index", "switch", (1, 0), 1)
    >>> rule.describe()
    'where switch: bit index of 10; elsewhere: not the parity of x0'
    >>> rule.predict({"x0": [1, 1], "x1": [0, 1], "index": [0, 1], "switch": [False, True]})
    array([False, False])
    """

    wire = "masked parity"

    bits: tuple[str, ...]
    index: str
    switch: str
    secret: tuple[int, ...]
    mask: int | None

    def __post_init__(self) -> None:
        if self.mask not in (None, 0, 1):
            raise QueryError(f"the mask is 0 or 1, or None if nothing is known of it, not {self.mask!r}")

    @property
    def expression(self) -> Node:
        shown = lookup(col(self.index), self.secret) > 0
        odd: Node = parity([col(bit) for bit in self.bits], self.secret)
        hidden = Constant(0) if self.mask is None else ~odd if self.mask else odd
        return where(col(self.switch), shown, hidden)

    def describe(self) -> str:
        shown = f"where {self.switch}: bit {self.index} of {''.join(map(str, self.secret))}"
        if self.mask is None:
            return f"{shown}; elsewhere: unknown"
        odd = " + ".join(bit for bit, one in zip(self.bits, self.secret, strict=True) if one) or "nothing"
        return f"{shown}; elsewhere: {'not ' * self.mask}the parity of {odd}"

    def picture(self) -> str:
        return chips.picture("Masked parity", self.describe().split("; "), "and", self._caption)


@dataclass(frozen=True)
class MaskedParity(Learner[MaskedParityRule]):
    """Learns r from the rows where the switch is on, then a from the others: A_MP of the full paper, §5.3.1.

    The first round asks, for every j, how often the switch is on, the index is j, and the label is true or
    false; the larger of the two tells bit j. (The paper asks for the first only and compares it with 1/4d,
    which needs an index that is uniform; `paper=True` does the same.) The second round asks how often the
    parity is not the label where the switch is off: for uniform rows 0 or 1/2. All answers need be no closer
    than 1/(4d+1), so where rows are uniform any oracle within that tolerance teaches r and a exactly. (Rows
    that were drawn are uniform up to the sampling error, which is the oracle's to count in.)

    Args:
        bits: d boolean columns; by default all columns but the other three.
        index: an integer column from 0 to d − 1.
        switch: a boolean column.
        label: a boolean column.
        adaptive: False leaves the second round out. One round can learn r, and nothing of a, so the rule is
            wrong about half of the rows where the switch is off, a quarter in all.
        paper: ask in the first round what the paper asks.
        confidence: how sure it is under an oracle that adds noise.
        share: ask for this part of the budget, or of a crowd, instead of by tolerances; the first round gets
            four fifths of it.

    >>> import sulq
    >>> rows = sulq.theory.masked_parity_rows([1, 0, 1, 1], 1, 4_000, np.random.default_rng(0))
    >>> people = sulq.open(rows, sulq.theory.masked_parity_schema(4))
    >>> MaskedParity().learn(people.exact()).describe()
    'where switch: bit index of 1011; elsewhere: not the parity of x0 + x2 + x3'
    """

    bits: Sequence[str] | None = None
    index: str = "index"
    switch: str = "switch"
    label: str = "label"
    adaptive: bool = True
    paper: bool = False
    confidence: Numeric = Fraction(95, 100)
    share: Numeric | None = None

    def rounds(self, schema: Schema) -> Rounds[MaskedParityRule]:
        truth("paper", self.paper)
        bits, mask, adaptive = self.columns(schema), None, truth("adaptive", self.adaptive)
        secret = self._secret(len(bits), (yield self._first(len(bits))))
        if adaptive:
            [differs] = yield self._second(bits, secret)
            mask = int(differs.value > 1 / 4)
        return MaskedParityRule(schema, None, bits, self.index, self.switch, secret, mask)

    def later(self, schema: Schema) -> Sequence[Round]:
        """The second round, which costs the same whatever the first one says."""
        bits = self.columns(schema)
        return [self._second(bits, (0,) * len(bits))] if self.adaptive and self.share is None else []

    def _first(self, d: int) -> Round:
        """How often the switch is on and the index is j, for every j: with each label, or with a true one."""
        on, index, label = col(self.switch), col(self.index), col(self.label)
        table: list[Node] = [Only(on, OneHot(Cross((index, label))))]
        values = [on & (index == j) & label for j in range(d)] if self.paper else table
        return self._round(values, self.tolerance(d), Fraction(4, 5))

    def _secret(self, d: int, answers: Sequence[Answer]) -> tuple[int, ...]:
        """What the answers of the first round say of r."""
        if self.paper:
            return tuple(int(answer.value > 1 / (4 * d)) for answer in answers)
        false, true = np.reshape(answers[0].value, (d, 2)).T
        return tuple(int(bit) for bit in true > false)

    def _second(self, bits: Sequence[str], secret: tuple[int, ...]) -> Round:
        """How often the parity is not the label where the switch is off."""
        differs = ~col(self.switch) & (col(self.label) != parity([col(bit) for bit in bits], secret))
        return self._round([differs], Fraction(1, 5), Fraction(1, 5))

    def tolerance(self, d: int) -> Fraction:
        """How close the answers of the first round must be: 1/(4d+1)."""
        return Fraction(1, 4 * d + 1)

    def _round(self, values: Sequence[Node], tolerance: Fraction, part: Fraction) -> Round:
        if self.share is not None:
            share = rational("share", self.share, most=1)
            return Round([mean(value) for value in values], share * part if self.adaptive else share)
        doubt = 1 - rational("confidence", self.confidence, below=1)
        beta = doubt / len(values) / (2 if self.adaptive else 1)
        return Round([mean(value, tolerance=tolerance, beta=beta) for value in values])

    def columns(self, schema: Schema) -> tuple[str, ...]:
        """The columns whose parity is meant, or a refusal."""
        others = (self.index, self.switch, self.label)
        given = [n for n in schema.attributes if n not in others] if self.bits is None else self.bits
        bits = column_names(distinct(schema, given, "bits", "bit"), schema)
        if len(set(bits) | set(others)) < len(bits) + 3:
            raise QueryError("the bits, the index, the switch and the label must be different columns")
        for name in (*bits, self.switch, self.label):
            if not isinstance(schema.attribute(name), Boolean):
                raise QueryError(f"column {name!r} must be boolean")
        kind = schema.attribute(self.index)
        if not bits or not isinstance(kind, Integer) or (kind.low, kind.high) != (0, len(bits) - 1):
            raise QueryError(f"the index must be an integer column from 0 to {max(0, len(bits) - 1)}")
        return bits
