"""Simple sums: of one value, over some of the rows, in groups. What all sums are made of (`apart.py`)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

import numpy as np

from sulq import loops
from sulq.loops.plain import Step, stepped
from sulq.queries.codes import Cross
from sulq.queries.node import Leaf, Node
from sulq.queries.products import Gram, Outer
from sulq.queries.scope import Batch, Floats, Scope, Values
from sulq.queries.vectors import Vector

GROUPS_BY_PRODUCT = 10
"""So few groups are summed as a product with their members."""
FEW_COLUMNS = 4
"""So few columns are summed one by one."""


@dataclass(frozen=True, eq=False)
class Summand:
    """A simple sum: a value, over the rows where all conditions hold, in groups.

    Args:
        conditions: truth values. A row counts where all of them hold.
        groups: choices. There is one sum for each combination of them.
        weights: single numbers that each row's value is multiplied by, each with the grid it is taken on.
        steps: what the value goes through on every row before it is multiplied and added up.
        value: what is added up; None stands for 1, so that rows are counted.
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
        """Whether all rows are summed, those that do not count times 0, because taking rows of columns costs
        more.
        """
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
        built = self.groups and not isinstance(self.value, Gram | Outer)
        return max(widest, self.value.densest(scope) if built else self.value.breadth(scope))

    def sums(self, batch: Batch) -> Floats:
        """The sums over a block of rows where the conditions hold, or over all rows if they are masked."""
        weight = self._weight(batch)
        if not self.groups:
            return self._sums(batch, weight)
        size, code = self.size(batch.scope), self._code(batch)
        if self.value is None:
            return np.bincount(code, weights=weight, minlength=size).astype(np.float64)
        if isinstance(self.value, Gram | Outer):
            return self.value.grouped_sums(batch, code, size, self.steps, weight)
        columns = self.value.coordinates(batch, batch.scope.number(self.value).bits)
        if size <= GROUPS_BY_PRODUCT:
            return loops.product(loops.Members(code, size), columns, self.steps, weight).ravel()
        if len(columns) > FEW_COLUMNS:
            everyone = loops.Members(np.zeros(batch.rows, dtype=np.uint8), 1)
            return loops.grouped_product(everyone, columns, code, size, self.steps, weight).ravel()
        values = [stepped(np.asarray(column, dtype=np.float64), self.steps) for column in columns]
        weighed = values if weight is None else [value * weight for value in values]
        sums = [np.bincount(code, weights=value, minlength=size) for value in weighed]
        return np.stack(sums, axis=1, dtype=np.float64).ravel()

    def _sums(self, batch: Batch, weight: Floats | None) -> Floats:
        if self.value is not None:
            return self.value.sums(batch, self.steps, weight)
        return np.array([batch.rows if weight is None else weight.sum()], dtype=np.float64)

    def _weight(self, batch: Batch) -> Floats | None:
        numbers = [batch.number(node, bits)[0] for node, bits in self.weights]
        if self.masked:
            numbers += [batch.condition(condition).astype(np.float64) for condition in self.conditions]
        return np.asarray(prod(numbers[1:], start=numbers[0])) if numbers else None

    def _code(self, batch: Batch) -> Values:
        if len(self.groups) == 1:
            return batch.code(self.groups[0])
        return Cross(self.groups).value(batch)
