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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sulq.loops.plain import Step, stepped
from sulq.queries.arithmetic import Add, Multiply, Not
from sulq.queries.cases import Clip, Where
from sulq.queries.codes import OneHot
from sulq.queries.expressions import Constant
from sulq.queries.facts import Number
from sulq.queries.node import Node
from sulq.queries.products import Outer
from sulq.queries.scope import Scope
from sulq.queries.summands import Summand
from sulq.queries.vectors import Only, Vector

_ONE = Constant(1)

Sums = Mapping[str, NDArray[Any]]
Recipe = Callable[[Sums], NDArray[Any]]
"""Makes a sum out of simpler ones, as a table with a row for each group."""


@dataclass(frozen=True)
class Apart:
    """The sum of an expression, taken apart.

    Args:
        summands: the simple sums it is made of, by key.
        recipe: how it is made of them.
        breadth: the most numbers a row that summing any of them builds on its way.
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
        return Apart(summands, recipe, max([1, *(summand.breadth(scope) for summand in summands.values())]))

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
            case Where():
                return self._either(node, facts, around)
            case Clip():
                return self._clipped(node, around)
            case Vector() if facts.width > len(node.parts):
                parts = [self._on(part, facts.bits, around) for part in node.parts]
                return lambda sums: np.concatenate([part(sums) for part in parts], axis=1)
            case Outer(left=OneHot() as groups):
                return self._grouped(groups, node.right, node.factors_of(self.scope)[1], around)
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
        if not constant.any():
            size = around.size(self.scope)
            return lambda sums: np.zeros((size, len(constant)), dtype=np.int64)
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
        for _, times, other, on in sides:
            if (times.low == times.high).all():
                if (times.low == times.low[0]).all() and on.width >= times.width:
                    return self._on(other, on.bits, around, int(times.low[0]))
                # Beside a factor of 0 a coordinate may be so large that no weight can be multiplied with it.
                if not around.steps and times.low.all():
                    return _times(self._on(other, on.bits, around), [int(x) for x in times.low])
        for factor, times, other, on in sides:
            if times.flag and self.scope.number(factor).flag:
                return self._on(other, on.bits, around.only(factor))
        for factor, times, other, on in sides:
            if times.width == 1 < on.width and isinstance(other, OneHot):
                return self._grouped(other, factor, times, around)
            if times.width == 1 < on.width and not around.steps:
                return self._on(
                    other, on.bits, replace(around, weights=(*around.weights, (factor, times.bits)))
                )
        return self._whole(replace(around, value=node))

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
