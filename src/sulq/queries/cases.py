"""Values that depend on a condition or on public bounds."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sulq.errors import QueryError
from sulq.queries.arithmetic import Multiply
from sulq.queries.expressions import Constant, measured, named, truncated
from sulq.queries.facts import Number, common_bits, number, square_of_sum, widened
from sulq.queries.moves import MovedColumns
from sulq.queries.node import Node, Operand
from sulq.queries.scope import Batch, Scope, Values, once


@dataclass(frozen=True, eq=False)
class Where(Node):
    """One value where a condition holds, another where it does not."""

    wire = "where"

    condition: Node
    then: Node
    otherwise: Node

    def facts(self, scope: Scope) -> Number:
        scope.condition(self.condition)
        bits, then, otherwise = self._sides(scope)
        apart = then.norm1 + otherwise.norm1, square_of_sum(then.square, otherwise.square)
        return number(
            bits,
            np.minimum(then.low, otherwise.low),
            np.maximum(then.high, otherwise.high),
            norm1=max(then.norm1, otherwise.norm1),
            square=max(then.square, otherwise.square),
            spread1=max(then.spread1, otherwise.spread1, apart[0]),
            spread_square=max(then.spread_square, otherwise.spread_square, apart[1]),
            rounded=then.rounded or otherwise.rounded,
        )

    def value(self, batch: Batch) -> Values:
        if (built := self.built(batch)) is not None:
            return built
        bits = batch.scope.number(self).bits
        return np.where(
            batch.condition(self.condition), batch.number(self.then, bits), batch.number(self.otherwise, bits)
        )

    @once
    def moved(self, scope: Scope) -> MovedColumns | None:
        """One vector times this number or that is the vector times a number that depends on the condition."""
        facts, (first, vector), (second, other) = (
            scope.number(self),
            _multiple(self.then),
            _multiple(self.otherwise),
        )
        if vector is None or other is None or vector.key != other.key:
            if first != 0 and second != 0:
                return None
            vector = other if first == 0 else vector
        same_grid = vector is not None and scope.number(vector).bits == facts.bits
        moved = vector.moved(scope) if vector is not None and same_grid and facts.width > 1 else None
        if moved is None or len(moved.leaves) < facts.width:
            return None
        return moved.times(Where(self.condition, Constant(first), Constant(second)), 0)

    def _sides(self, scope: Scope) -> tuple[int, Number, Number]:
        then, otherwise = scope.number(self.then), scope.number(self.otherwise)
        bits, width = common_bits(then, otherwise), max(then.width, otherwise.width)
        return bits, widened(then.on(bits), width), widened(otherwise.on(bits), width)


def _multiple(node: Node) -> tuple[int, Node | None]:
    """A node as a small whole number times another; zero is no multiple of anything in particular."""
    if isinstance(node, Constant) and node.constant == 0:
        return 0, None
    if isinstance(node, Multiply) and isinstance(node.left, Constant) and node.left.constant == -1:
        return -1, node.right
    return 1, node


@dataclass(frozen=True, eq=False)
class Clip(Node):
    """Every coordinate brought between two public bounds."""

    wire = "clip"

    inner: Node
    low: float
    high: float

    def __post_init__(self) -> None:
        super().__post_init__()
        for side in ("low", "high"):
            object.__setattr__(self, side, Constant(getattr(self, side)).constant)
        if isinstance(self.low, str) or isinstance(self.high, str) or not self.low <= self.high:
            raise QueryError(f"cannot clip between {self.low!r} and {self.high!r}")

    def facts(self, scope: Scope) -> Number:
        inner = scope.number(self.inner)
        low, high = self._bounds(scope)
        toward_zero = low <= 0 <= high
        return number(
            inner.bits,
            inner.low.clip(low, high),
            inner.high.clip(low, high),
            norm1=inner.norm1 if toward_zero else None,
            square=inner.square if toward_zero else None,
            spread1=inner.spread1,
            spread_square=inner.spread_square,
            rounded=inner.rounded,
        )

    def value(self, batch: Batch) -> Values:
        if (built := self.built(batch)) is not None:
            return built
        low, high = self._bounds(batch.scope)
        return batch.number(self.inner).clip(low, high)

    def breadth(self, scope: Scope) -> int:
        low, high = self._bounds(scope)
        return self.inner.breadth(scope) if low <= 0 <= high else super().breadth(scope)

    @once
    def moved(self, scope: Scope) -> MovedColumns | None:
        moved = self.inner.moved(scope)
        return None if moved is None else moved.between(*self._bounds(scope))

    @once
    def _bounds(self, scope: Scope) -> tuple[int, int]:
        """The bounds on the grid, but never beyond what the value can reach, which keeps them small."""
        inner = scope.number(self.inner)
        least, most = int(inner.low.min()), int(inner.high.max())
        low, high = (truncated(Fraction(bound), inner.bits) for bound in (self.low, self.high))
        if high < least or low > most:
            raise QueryError(
                f"clip between {self.low} and {self.high} leaves nothing of the value: it is a constant"
            )
        return max(low, least), min(high, most)


def where(condition: str | Node, then: Operand, otherwise: Operand) -> Where:
    """One value on the rows where a condition holds, another on the rest.

    Args:
        condition: the name of a boolean column, or an expression that is true or false.
        then: the value where the condition holds: a column's name, an expression or a constant.
        otherwise: the value elsewhere.

    >>> import sulq
    >>> people = sulq.open({"age": [10, 50]}, {"age": sulq.Integer(0, 120)})
    >>> people.values(sulq.where(sulq.col("age") >= 18, "age", 0)).tolist()
    [0.0, 50.0]
    """
    return Where(named(condition), measured(then), measured(otherwise))


def clip(expression: Operand, low: float, high: float) -> Clip:
    """An expression with every coordinate brought between two public bounds.

    Args:
        expression: a column's name or an expression.
        low: what every coordinate is raised to where it is less.
        high: what every coordinate is lowered to where it is more.

    >>> import sulq
    >>> people = sulq.open({"age": [10, 50, 90]}, {"age": sulq.Integer(0, 120)})
    >>> people.values(sulq.clip("age", 18, 65)).tolist()
    [18.0, 50.0, 65.0]
    """
    return Clip(measured(expression), low, high)
