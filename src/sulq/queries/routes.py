"""Where a row ends up in a tree of questions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sulq.errors import QueryError
from sulq.queries.facts import Code
from sulq.queries.node import Node
from sulq.queries.room import most_cells
from sulq.queries.scope import Batch, Scope, Values, once
from sulq.wire import shown

MOST_WAYS = 2**16


@dataclass(frozen=True, eq=False)
class Route(Node):
    """The code at the end of a row's way through a public tree.

    Args:
        attributes: the choices that the tree asks about.
        steps: the nodes of the tree, the root first. An end is `(code,)`. Any other node is the number of the
            attribute it asks about, followed by the node to go on to for each possibility. That node comes
            later in the list, so every way ends.
        size: how many codes there are; several ends may share one.

    >>> import sulq
    >>> from sulq.queries.expressions import col
    >>> smokers = Route((col("smokes"), col("old")), ((0, 1, 2), (0,), (1, 3, 4), (1,), (2,)), 3)
    >>> rows = {"smokes": [False, True, True], "old": [True, False, True]}
    >>> sulq.open(rows, {name: sulq.Boolean() for name in rows}).values(smokers)
    array([0, 1, 2])
    """

    wire = "route"

    attributes: tuple[Node, ...]
    steps: tuple[tuple[int, ...], ...]
    size: int

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.steps, tuple) or not self.steps:
            raise QueryError("a route needs at least one step")
        if type(self.size) is not int or not 1 <= self.size <= most_cells():
            raise QueryError(
                f"a route leads to codes below a size from 1 to {most_cells()}, not {shown(self.size)}"
            )
        for place, step in enumerate(self.steps):
            whole = isinstance(step, tuple) and all(type(number) is int for number in step)
            first, onward = (step[:1], step[1:]) if whole else ((), ())
            within = self.size if not onward else len(self.attributes)
            if (
                not first
                or not 0 <= first[0] < within
                or any(not place < n < len(self.steps) for n in onward)
            ):
                raise QueryError(
                    f"step {place} of a route is neither a code nor an attribute and later steps"
                )

    def facts(self, scope: Scope) -> Code:
        sizes = [scope.code(attribute).size for attribute in self.attributes]
        for step in self.steps:
            if len(step) > 1 and len(step) - 1 != sizes[step[0]]:
                raise QueryError(
                    f"a route goes {len(step) - 1} ways where {self.attributes[step[0]].described()} has "
                    f"{sizes[step[0]]} possibilities"
                )
        return Code(self.size)

    def value(self, batch: Batch) -> Values:
        attribute_at, onward, ends, depth = self._arrays(batch.scope)
        at: NDArray[np.int64] = np.zeros(batch.rows, dtype=np.int64)
        if depth:
            codes = np.stack([batch.code(attribute) for attribute in self.attributes]).ravel()
            row, width = np.arange(batch.rows), onward.shape[1]
            flat = onward.ravel()
            for _ in range(depth):
                at = flat[at * width + codes[attribute_at[at] * batch.rows + row]]
        return np.asarray(ends[at])

    def ways(self) -> list[tuple[int, dict[int, int]]]:
        """Every way to an end: the code there, and the value of each attribute that was asked about.

        >>> from sulq.queries.expressions import col
        >>> Route((col("smokes"), col("old")), ((0, 1, 2), (0,), (1, 3, 4), (1,), (2,)), 3).ways()
        [(0, {0: 0}), (1, {0: 1, 1: 0}), (2, {0: 1, 1: 1})]
        """
        ends, open_ones = [], [(0, dict[int, int]())]
        while open_ones:
            place, values = open_ones.pop()
            first, *onward = self.steps[place]
            if not onward:
                ends.append((first, values))
            open_ones += [
                (step, values | {first: value})
                for value, step in reversed(list(enumerate(onward)))
                if values.get(first, value) == value
            ]
            if len(ends) + len(open_ones) > MOST_WAYS:
                raise QueryError(f"a route with more than {MOST_WAYS} ways cannot be taken apart")
        return ends

    def then(self, other: Route) -> Route:
        """Both routes as one, whose codes are those of `cross`: every way goes on as the other route does.

        Ways that contradict each other are none of its `ways`.

        >>> from sulq.queries.expressions import col
        >>> smokes = Route((col("smokes"),), ((0, 1, 2), (0,), (1,)), 2)
        >>> smokes.then(smokes).ways()
        [(0, {0: 0}), (3, {0: 1})]
        """
        attributes = {each.key: each for each in (*self.attributes, *other.attributes)}
        place = {key: number for number, key in enumerate(attributes)}
        ends = sorted({step[0] for step in self.steps if len(step) == 1})
        # The root of the other route stands in the place of each end, its other steps once for each code.
        later = {code: len(self.steps) + i * (len(other.steps) - 1) - 1 for i, code in enumerate(ends)}

        def onward(code: int, step: tuple[int, ...]) -> tuple[int, ...]:
            first, *rest = step
            if not rest:
                return (code * other.size + first,)
            return (place[other.attributes[first].key], *(later[code] + number for number in rest))

        steps = [
            onward(step[0], other.steps[0])
            if len(step) == 1
            else (place[self.attributes[step[0]].key], *step[1:])
            for step in self.steps
        ]
        steps += [onward(code, step) for code in ends for step in other.steps[1:]]
        return Route(tuple(attributes.values()), tuple(steps), self.size * other.size)

    def densest(self, scope: Scope) -> int:
        return max(len(self.attributes), super().densest(scope))

    @once
    def _arrays(self, scope: Scope) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], int]:
        """The attribute asked at each node, where to go from there, the code at each end, and the depth.

        An end goes on to itself whatever is asked, so all rows take as many steps as the longest way.
        """
        nodes = len(self.steps)
        attribute_at, ends = np.zeros(nodes, dtype=np.int64), np.zeros(nodes, dtype=np.int64)
        onward = np.repeat(np.arange(nodes)[:, np.newaxis], max(map(len, self.steps)), axis=1)
        depths = [0] * nodes
        for place in range(nodes):
            first, *rest = self.steps[place]
            if rest:
                attribute_at[place] = first
                onward[place, : len(rest)] = rest
                for child in rest:
                    depths[child] = max(depths[child], depths[place] + 1)
            else:
                ends[place] = first
        return attribute_at, onward, ends, max(depths)
