"""Sums taken apart: the sum of an expression as a combination of simpler sums.

The sum of a + b is the sum of a plus the sum of b, and the sum of c·a is c times the sum of a, so a factor is
multiplied once instead of on every row. What holds for some rows only is summed over those rows, and what is
grouped is summed in groups. So half a Gram matrix costs what a Gram matrix costs.

The integers are the same ones. Where an expression truncates on its way to a coarser grid, the truncation
stays where it is, on every row: as a step that the simpler value takes before it is added up. Every step
turns 0 into 0, so it may be taken before or after rows are left out.

All products here are exact. Facts bound c·v, and v·c₁·c₂, by LIMIT = 2^37 for integers v, so the factors that
meet in one step have a product within LIMIT too, unless v is 0 on all rows, and then it is a constant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sulq import loops
from sulq.loops.plain import Step, stepped
from sulq.queries.cases import Clip, Where
from sulq.queries.codes import Cross, OneHot
from sulq.queries.expressions import Add, Constant, Leaf, Multiply, Node, Not
from sulq.queries.facts import Number
from sulq.queries.products import Outer
from sulq.queries.scope import Batch, Floats, Scope, Values
from sulq.queries.vectors import Only, Vector

GROUPS_BY_PRODUCT = 24
MOST_GROUPS = 256
"""More groups than this are summed together, row by row: each one on its own would cost more."""
FEW_NUMBERS = 2**18
"""So few values are summed together too."""

_ONE = Constant(1)

Sums = Mapping[str, NDArray[Any]]
Recipe = Callable[[Sums], NDArray[Any]]
"""Makes a sum out of simpler ones, as a table with a row for each group."""


@dataclass(frozen=True, eq=False)
class Summand:
    """A simple sum: a value, over the rows where all conditions hold, in groups.

    Args:
        conditions: Truth values. A row counts where all of them hold.
        groups: Choices. There is one sum for each combination of them.
        weights: Single numbers that each row's value is multiplied by, each with the grid it is taken on.
        steps: What the value goes through on every row before it is multiplied and added up.
        value: What is added up; None stands for 1, so that rows are counted.
    """

    conditions: tuple[Node, ...] = ()
    groups: tuple[Node, ...] = ()
    weights: tuple[tuple[Node, int], ...] = ()
    steps: tuple[Step, ...] = ()
    value: Node | None = None

    @cached_property
    def key(self) -> str:
        """Equal for equal summands."""
        around = [[node.key for node in nodes] for nodes in (self.conditions, self.groups)]
        weights = [(node.key, bits) for node, bits in self.weights]
        return repr((around, weights, self.steps, None if self.value is None else self.value.key))

    @property
    def counts(self) -> bool:
        """Whether rows are counted by attributes."""
        return self.value is None and not self.weights and bool(self.conditions or self.groups)

    @property
    def masked(self) -> bool:
        """Whether all rows are summed, those that do not count times 0: taking rows of columns costs more."""
        parts = self.value.parts if isinstance(self.value, Vector) else (self.value,)
        return not self.groups and all(isinstance(part, Leaf) for part in parts)

    def only(self, condition: Node) -> Summand:
        known = {node.key for node in self.conditions}
        return self if condition.key in known else replace(self, conditions=(*self.conditions, condition))

    def by(self, choice: Node) -> Summand:
        parts = choice.parts if isinstance(choice, Cross) else (choice,)
        return replace(self, groups=(*self.groups, *parts))

    def size(self, scope: Scope) -> int:
        """How many groups there are."""
        return prod(scope.code(choice).size for choice in self.groups)

    def width(self, scope: Scope) -> int:
        return self.size(scope) * (1 if self.value is None else scope.number(self.value).width)

    def breadth(self, scope: Scope) -> int:
        """The most numbers a row that summing builds on its way."""
        beside = [*self.conditions, *self.groups, *(weight for weight, _ in self.weights)]
        widest = max([1, *(node.densest(scope) for node in beside)])
        if self.value is None:
            return widest
        one_by_one = self.groups and not self._condensed(scope)
        return max(widest, self.value.densest(scope) if one_by_one else self.value.breadth(scope))

    def sums(self, batch: Batch) -> Floats:
        """The sums over a block of rows where the conditions hold, or over all rows if they are masked."""
        weight = self._weight(batch)
        if not self.groups:
            return self._sums(batch, weight)
        size, code = self.size(batch.scope), self._code(batch)
        if self._condensed(batch.scope) and batch.rows * self.width(batch.scope) > FEW_NUMBERS * size:
            order = np.argsort(code.astype(np.uint8), kind="stable")
            members = np.split(order, np.cumsum(np.bincount(code, minlength=size))[:-1])
            return np.concatenate(
                [self._sums(batch.at(rows), None if weight is None else weight[rows]) for rows in members]
            )
        columns = self._columns(batch, weight)
        if columns is None:
            return np.bincount(code, minlength=size).astype(np.float64)
        if size <= GROUPS_BY_PRODUCT:
            return loops.product(loops.Members(code, size), columns).ravel()
        sums = [np.bincount(code, weights=column, minlength=size) for column in columns]
        return np.stack(sums, axis=1, dtype=np.float64).ravel()

    def _sums(self, batch: Batch, weight: Floats | None) -> Floats:
        if self.value is not None:
            return self.value.sums(batch, self.steps, weight)
        return np.array([batch.rows if weight is None else weight.sum()], dtype=np.float64)

    def _columns(self, batch: Batch, weight: Floats | None) -> Any:
        """The value's coordinates one by one, as they are to be added up; None if rows are counted."""
        if self.value is None:
            return weight if weight is None else [weight]
        if not self.steps and weight is None:
            return self.value.coordinates(batch, batch.scope.number(self.value).bits)
        values = stepped(batch.number(self.value), self.steps)
        return list(values if weight is None else values * weight)

    def _condensed(self, scope: Scope) -> bool:
        """Whether each group is summed on its own, because that takes less room than all of its values."""
        if self.value is None or self.size(scope) > MOST_GROUPS:
            return False
        return self.value.breadth(scope) < scope.number(self.value).width

    def _weight(self, batch: Batch) -> Floats | None:
        numbers = [batch.number(node, bits)[0] for node, bits in self.weights]
        if self.masked:
            numbers += [batch.condition(condition).astype(np.float64) for condition in self.conditions]
        return np.asarray(prod(numbers[1:], start=numbers[0])) if numbers else None

    def _code(self, batch: Batch) -> Values:
        if len(self.groups) == 1:
            return batch.code(self.groups[0])
        return Cross(self.groups).value(batch)


@dataclass(frozen=True)
class Apart:
    """The sum of an expression, taken apart.

    Args:
        summands: The simple sums it is made of, by key.
        recipe: How it is made of them.
        breadth: The most numbers a row that summing any of them builds on its way.
    """

    summands: dict[str, Summand]
    recipe: Recipe
    breadth: int

    def total(self, sums: Sums) -> NDArray[np.object_]:
        """The expression's sum from those of the summands."""
        return _whole_numbers(self.recipe(sums).ravel())


def apart(part: Node, scope: Scope) -> Apart:
    """The sum of an expression, taken apart; worked out once for each scope."""

    def work_out() -> Apart:
        summands: dict[str, Summand] = {}
        recipe = _Taking(scope, summands).apart(part, Summand())
        return Apart(summands, recipe, max(summand.breadth(scope) for summand in summands.values()))

    return scope.remember((part.key, "apart"), work_out)


@dataclass(frozen=True)
class _Taking:
    """Takes expressions apart and keeps the summands."""

    scope: Scope
    summands: dict[str, Summand]

    def apart(self, node: Node, around: Summand) -> Recipe:
        """How to sum a node that is surrounded by conditions, groups, weights and steps."""
        facts = self.scope.number(node)
        if (facts.low == facts.high).all():
            return self._constant(facts, around)
        match node:
            case Add() if not around.steps:
                return self._added(node, facts, around)
            case Multiply():
                return self._multiplied(node, around)
            case Only():
                return self.apart(node.inner, around.only(node.condition))
            case Where() if facts.width > 1 or self._constant_side(node):
                return self._either(node, facts, around)
            case Clip():
                return self._clipped(node, around)
            case Vector() if facts.width > len(node.parts):
                parts = [self._on(part, facts.bits, around) for part in node.parts]
                return lambda sums: np.concatenate([part(sums) for part in parts], axis=1)
            case Outer(left=OneHot() as groups):
                return self._grouped(groups, node.right, node._factors(self.scope)[1], around)
            case OneHot():
                return self._grouped(node, _ONE, self.scope.number(_ONE), around)
            case _ if facts.flag:
                return self.apart(_ONE, around.only(node))
        return self._whole(replace(around, value=node))

    def _whole(self, summand: Summand) -> Recipe:
        self.summands[summand.key] = summand
        key, size = summand.key, summand.size(self.scope)
        return lambda sums: sums[key].reshape(size, -1)

    def _constant(self, facts: Number, around: Summand) -> Recipe:
        constant = stepped(facts.low.astype(np.float64), around.steps)
        counted = self._whole(replace(around, steps=(), value=None))
        return _times(counted, [int(x) for x in constant])

    def _on(self, node: Node, bits: int, around: Summand, factor: int = 1) -> Recipe:
        """A node on another grid, times a factor: rows take a step to a coarser one, and none to a finer."""
        shift = bits - self.scope.number(node).bits
        if shift > 0:
            factor <<= min(shift, 64)  # more only where all is zero, as in `regridded`
        if around.steps:
            first, *others = around.steps
            around = replace(around, steps=(first._replace(factor=first.factor * factor), *others))
            factor = 1
        if shift < 0:
            around = replace(around, steps=(Step(2.0 ** max(shift, -64)), *around.steps))
        return _times(self.apart(node, around), [factor])

    def _added(self, node: Add, facts: Number, around: Summand) -> Recipe:
        left, right = (self._on(side, facts.bits, around) for side in (node.left, node.right))
        return lambda sums: _whole_numbers(left(sums)) + _whole_numbers(right(sums))

    def _multiplied(self, node: Multiply, around: Summand) -> Recipe:
        left, right = node._factors(self.scope)
        sides = [(node.left, left, node.right, right), (node.right, right, node.left, left)]
        for _, own, other, on in sides:
            if (own.low == own.high).all():
                if (own.low == own.low[0]).all() and on.width >= own.width:
                    return self._on(other, on.bits, around, int(own.low[0]))
                # Beside a factor of 0 a coordinate may be so large that no weight can be multiplied with it.
                if not around.steps and own.low.all():
                    return _times(self._on(other, on.bits, around), [int(x) for x in own.low])
        for factor, own, other, on in sides:
            if own.flag and self.scope.number(factor).flag:
                return self._on(other, on.bits, around.only(factor))
        for factor, own, other, on in sides:
            if own.width == 1 < on.width and isinstance(other, OneHot):
                return self._grouped(other, factor, own, around)
            if own.width == 1 < on.width and not around.steps:
                return self._on(
                    other, on.bits, replace(around, weights=(*around.weights, (factor, own.bits)))
                )
        return self._whole(replace(around, value=node))

    def _constant_side(self, node: Where) -> bool:
        sides = map(self.scope.number, (node.then, node.otherwise))
        return any((side.low == side.high).all() for side in sides)

    def _either(self, node: Where, facts: Number, around: Summand) -> Recipe:
        then = self._on(node.then, facts.bits, around.only(node.condition))
        otherwise = self._on(node.otherwise, facts.bits, around.only(Not(node.condition)))
        return lambda sums: _whole_numbers(then(sums)) + _whole_numbers(otherwise(sums))

    def _clipped(self, node: Clip, around: Summand) -> Recipe:
        inner = self.scope.number(node.inner)
        low, high = node._bounds(self.scope)
        if low <= inner.low.min() and inner.high.max() <= high:
            return self.apart(node.inner, around)
        if low <= 0 <= high and node.inner.breadth(self.scope) < inner.width:
            step = Step(1.0, float(low), float(high))
            return self.apart(node.inner, replace(around, steps=(step, *around.steps)))
        return self._whole(replace(around, value=node))

    def _grouped(self, groups: OneHot, value: Node, facts: Number, around: Summand) -> Recipe:
        """A single 1 times a value is that value in one of the groups."""
        size = around.size(self.scope)
        inner = self._on(value, facts.bits, around.by(groups.choice))
        return lambda sums: inner(sums).reshape(size, -1)


def _times(recipe: Recipe, factors: list[int]) -> Recipe:
    """A sum times public whole numbers: one for all its coordinates, or one for each."""
    if factors == [1]:
        return recipe
    row = np.array(factors, dtype=object)
    return lambda sums: _whole_numbers(recipe(sums)) * row


def _whole_numbers(sums: NDArray[Any]) -> NDArray[np.object_]:
    """Python's integers, which have no limit."""
    return np.asarray(sums, dtype=object)
