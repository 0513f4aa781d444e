"""Sums, products, comparisons, and what can be made of conditions."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sulq.dates import Date
from sulq.errors import QueryError, SchemaError
from sulq.loops import Step
from sulq.queries.expressions import Column, Constant
from sulq.queries.facts import Code, Number, common_bits, factors, flag, number, square_of_sum, widened
from sulq.queries.moves import MovedColumns, public_table
from sulq.queries.node import Node
from sulq.queries.scope import Batch, Floats, Scope, Values, once
from sulq.schema import text
from sulq.wire import shown

COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


@dataclass(frozen=True, eq=False)
class Add(Node):
    """The sum of two values, coordinate by coordinate."""

    wire = "add"

    left: Node
    right: Node

    def facts(self, scope: Scope) -> Number:
        left, right = scope.number(self.left), scope.number(self.right)
        width = max(left.width, right.width)
        bits = common_bits(left, right)
        a, b = (widened(side.on(bits), width) for side in (left, right))
        return number(
            bits,
            a.low + b.low,
            a.high + b.high,
            norm1=a.norm1 + b.norm1,
            square=square_of_sum(a.square, b.square),
            spread1=a.spread1 + b.spread1,
            spread_square=square_of_sum(a.spread_square, b.spread_square),
            rounded=a.rounded or b.rounded,
        )

    def value(self, batch: Batch) -> Values:
        if (built := self.built(batch)) is not None:
            return built
        bits = batch.scope.number(self).bits
        sides = batch.number(self.left, bits), batch.number(self.right, bits)
        return np.add(*sides, out=batch.room(self, batch.scope.number(self).width))

    @once
    def moved(self, scope: Scope) -> MovedColumns | None:
        facts = scope.number(self)
        for side, other in ((self.left, self.right), (self.right, self.left)):
            columns, choices = side.moved(scope), other.choices()
            if columns is None or choices is None or len(columns.leaves) < facts.width:
                continue
            finer = columns.on(facts.bits - scope.number(side).bits)
            offsets = public_table(other, choices, facts.bits, scope)
            if finer is not None and offsets is not None:
                offsets = np.broadcast_to(offsets, (facts.width, offsets.shape[1]))
                return finer.plus(next(iter(choices.values()), None), offsets)
        return None


def _apart(left: Number, right: Number) -> dict[str, int]:
    """How far two products can differ, if one factor is constant: cᵢ·(vᵢ − vᵢ′), coordinate by coordinate."""
    for side, constant in ((left, right), (right, left)):
        if (constant.low == constant.high).all():
            if side.width == 1:
                one, two = constant.norm1, constant.square
            else:
                one, two = constant.magnitude, constant.magnitude**2
            return {"spread1": side.spread1 * one, "spread_square": side.spread_square * two}
    return {}


@dataclass(frozen=True, eq=False)
class Multiply(Node):
    """The product of two values, coordinate by coordinate."""

    wire = "multiply"

    left: Node
    right: Node

    def facts(self, scope: Scope) -> Number:
        left, right = self._factors(scope)
        width = max(left.width, right.width)
        a, b = widened(left, width), widened(right, width)
        corners = np.stack([a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high])
        low, high = corners.min(axis=0), corners.max(axis=0)
        if self.left.key == self.right.key:
            low = np.where((a.low < 0) & (a.high > 0), 0, low).clip(min=0)
        return number(
            a.bits + b.bits,
            low,
            high,
            norm1=min(a.magnitude * b.norm1, b.magnitude * a.norm1),
            square=min(a.magnitude**2 * b.square, b.magnitude**2 * a.square),
            rounded=a.rounded or b.rounded,
            **({} if scope.former else _apart(left, right)),
        )

    def value(self, batch: Batch) -> Values:
        left, right = self._factors(batch.scope)
        if (built := self.built(batch)) is not None:
            return built
        sides = batch.number(self.left, left.bits), batch.number(self.right, right.bits)
        return np.multiply(*sides, out=batch.room(self, max(left.width, right.width)))

    def sums(self, batch: Batch, steps: Sequence[Step] = (), weight: Floats | None = None) -> Floats:
        left, right = self._factors(batch.scope)
        single = left.width == right.width == 1 and not steps and weight is None
        if not single or batch.knows(self) or self.moved(batch.scope) is not None:
            return super().sums(batch, steps, weight)
        # The products of single numbers are added up as they are made.
        return np.asarray(batch.number(self.left, left.bits)[0] @ batch.number(self.right, right.bits).T)

    @once
    def moved(self, scope: Scope) -> MovedColumns | None:
        left, right = self._factors(scope)
        if self.left.key == self.right.key and left.bits == right.bits:
            side = self.left.moved(scope)
            coarser = None if side is None else side.on(left.bits - scope.number(self.left).bits)
            return None if coarser is None else coarser.squared()
        for weight, by, other, on in (
            (self.left, left, self.right, right),
            (self.right, right, self.left, left),
        ):
            moved = other.moved(scope) if by.width == 1 < on.width else None
            on_grid = None if moved is None else moved.on(on.bits - scope.number(other).bits)
            if on_grid is not None:
                return on_grid.times(weight, by.bits)
        return None

    def breadth(self, scope: Scope) -> int:
        for side, other in ((self.left, self.right), (self.right, self.left)):
            facts = scope.number(side)
            if facts.width == 1 and (facts.low == facts.high).all():
                return other.breadth(scope)
        return super().breadth(scope)

    @once
    def _factors(self, scope: Scope) -> tuple[Number, Number]:
        return factors(scope.number(self.left), scope.number(self.right))


@dataclass(frozen=True, eq=False)
class Compare(Node):
    """A comparison of two numbers, or of a category with one of its values.

    Numbers are compared on the coarser of the grids on which they were truncated, so that the value 0.1 in
    a column equals the constant 0.1.
    """

    wire = "compare"

    relation: str
    left: Node
    right: Node

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.relation, str) or self.relation not in COMPARISONS:
            raise QueryError(f"unknown comparison {shown(self.relation)}; there are {' '.join(COMPARISONS)}")

    def facts(self, scope: Scope) -> Number:
        if self._category(scope) is None:
            self._bits(scope)
        return flag()

    def value(self, batch: Batch) -> Values:
        compare = COMPARISONS[self.relation]
        level = self._category(batch.scope)
        if level is not None:
            side, position = level
            return np.asarray(compare(batch.code(side), position))
        bits = self._bits(batch.scope)
        left, right = self._sides(batch.scope)
        return np.asarray(compare(batch.number(left, bits), batch.number(right, bits)))

    @once
    def _sides(self, scope: Scope) -> tuple[Node, Node]:
        """What is compared: of dates, the numbers of their days."""
        sides = self.left, self.right
        for side, other in (sides, sides[::-1]):
            kind = scope.schema[side.name] if isinstance(side, Column) else None
            if isinstance(kind, Date) and isinstance(other, Constant) and isinstance(other.constant, str):
                day = Constant(_day(kind, other.constant))
                return (side, day) if side is self.left else (day, side)
        return sides

    @once
    def _bits(self, scope: Scope) -> int:
        left, right = (scope.number(side) for side in self._sides(scope))
        if left.width != 1 or right.width != 1:
            raise QueryError("only single numbers can be compared, not vectors")
        truncated_on = min(
            (side.bits for side in (left, right) if side.rounded), default=max(left.bits, right.bits)
        )
        return min(truncated_on, common_bits(left, right, room=52))

    @once
    def _category(self, scope: Scope) -> tuple[Node, int] | None:
        """The category's side and the position of the value it is compared with, if it is one."""
        for side, other in ((self.left, self.right), (self.right, self.left)):
            if not isinstance(side, Constant) and isinstance(scope.facts(side), Code):
                levels = scope.code(side).levels or ()
                if self.relation not in ("==", "!=") or not isinstance(other, Constant):
                    raise QueryError(
                        f"{side.described()} is a category: compare it with one of its values by == or !="
                    )
                if (value := text(other.constant)) not in levels:
                    raise QueryError(f"{side.described()} has no value {value!r}; it has {', '.join(levels)}")
                return side, levels.index(value)
        return None


@dataclass(frozen=True, eq=False)
class And(Node):
    """Whether two conditions both hold."""

    wire = "and"

    left: Node
    right: Node

    def facts(self, scope: Scope) -> Number:
        scope.condition(self.left)
        scope.condition(self.right)
        return flag()

    def value(self, batch: Batch) -> Values:
        return batch.condition(self.left) & batch.condition(self.right)


@dataclass(frozen=True, eq=False)
class Or(Node):
    """Whether at least one of two conditions holds."""

    wire = "or"

    left: Node
    right: Node

    facts = And.facts

    def value(self, batch: Batch) -> Values:
        return batch.condition(self.left) | batch.condition(self.right)


@dataclass(frozen=True, eq=False)
class Not(Node):
    """Whether a condition does not hold."""

    wire = "not"

    inner: Node

    def facts(self, scope: Scope) -> Number:
        scope.condition(self.inner)
        return flag()

    def value(self, batch: Batch) -> Values:
        return ~batch.condition(self.inner)


def _day(kind: Date, text: str) -> int:
    try:
        return kind.day(text)
    except SchemaError as error:
        raise QueryError(str(error)) from None
