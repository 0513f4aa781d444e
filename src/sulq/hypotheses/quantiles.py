"""Quantiles from noisy counts between public edges, with intervals that hold at a stated confidence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np

from sulq.errors import QueryError
from sulq.hypotheses.consistency import Floats, summed
from sulq.hypotheses.count_tree import CountTree
from sulq.hypotheses.figures import CellFigures, bounded
from sulq.simplex import nearest_distribution
from sulq.talk.combined import Term, one_sided_each
from sulq.talk.laws import Exactly, Noise, PlainLaw

SLACK = 1e-12
"""Rounding changes a part of the rows by no more than this part of them."""


@dataclass(frozen=True)
class IntervalCounts:
    """How many rows of each cell of a table fall between public edges.

    Args:
        axes: the axes of the table that are kept, in increasing order.
        cells: the counts, with an axis for each of those, and a last one for the intervals.
        law: the law of their errors.
        edges: the edges between the intervals; none where all rows of a cell are counted.
        many: how many answered numbers each of the counts is the sum of.
    """

    axes: tuple[int, ...]
    cells: Floats
    law: PlainLaw
    edges: tuple[float, ...] = ()
    many: float = 1

    @property
    def variance(self) -> float:
        """The variance of each of the counts."""
        return self.many * float(self.law.deviation) ** 2

    def summed(self, axes: tuple[int, ...]) -> IntervalCounts:
        """The same, summed over all axes but these."""
        cells = summed(self.cells, tuple(self.axes.index(axis) for axis in axes), last=1)
        many = self.many * self.cells.size / max(1, cells.size)
        return IntervalCounts(axes, cells, self.law, self.edges, many)


@dataclass(frozen=True)
class NestedCounts:
    """Counts between nested edges, for quantiles.

    Args:
        rows: how many rows the cells have, as it was answered for all axes, and for some of them.
        levels: the counts between edges, from coarse to fine. The edges of each are among those of the next.
        bounds: the bounds of the column.
        integers: whether the column holds whole numbers only.

    >>> counts = IntervalCounts((), np.array([1.0, 4.0, 2.0]), Exactly(), (10.0, 20.0))
    >>> rows = IntervalCounts((), np.array([7.0]), Exactly())
    >>> median = NestedCounts((rows,), (counts,), (0.0, 30.0), integers=False).quantiles(0.5, (), 0.05)
    >>> float(median.low), float(median.value), float(median.high)
    (10.0, 16.25, 20.0)
    """

    rows: tuple[IntervalCounts, ...]
    levels: tuple[IntervalCounts, ...]
    bounds: tuple[float, float]
    integers: bool

    def __post_init__(self) -> None:
        nested = all(set(coarse.edges) < set(fine.edges) for coarse, fine in pairwise(self.levels))
        low, high = self.bounds
        if not nested or not all(low < edge <= high for edge in self.levels[-1].edges):
            raise QueryError("quantiles are found between nested edges that are within the column's bounds")

    def quantiles(
        self, level: float, axes: tuple[int, ...], beta: float, interpolated: bool = False
    ) -> CellFigures:
        """The smallest number that at least this part of a cell's rows does not exceed.

        If it is interpolated, and the n rows are in order and numbered from 0, then it is the number at
        the place (n − 1)·level, which may lie between those of two rows. The lower of the two is at an edge
        or above if no more than (n − 1)·level rows are below that edge; the upper one is below an edge if
        (n − 1)·level + 1 rows are, or more.

        Whether fewer rows than that lie below an edge is tested at one edge after the other, from the lowest
        until a test fails; and likewise from the highest. Only the test at the first edge beyond the truth
        can do harm, so each side needs the confidence of a single test, however many edges there are.

        Args:
            level: the part of the rows: 0.5 for the median.
            axes: the axes that are kept.
            beta: the chance that one of the figures is not within its bounds.
            interpolated: whether a quantile may lie between two values.
        """
        levels = [self._all_rows(axes), *(each.summed(axes) for each in self.levels)]
        tree = _tree(levels)
        parts = tree.agreed([each.cells for each in levels])
        many = parts.shape[-1]
        below = np.cumsum(parts, axis=-1)[..., :-1] - level * parts.sum(axis=-1, keepdims=True)
        laws = tuple((each.law, each.many) for each in levels)
        off = _off(tree, laws, level, beta / 2 / max(1, levels[0].cells.size))
        slack = SLACK * (1 + np.abs(parts).sum(axis=-1, keepdims=True))
        early = below + off <= slack - level if interpolated else below + off < -slack
        late = below - off >= (1 - level if interpolated else 0) - slack
        first = np.logical_and.accumulate(early, axis=-1).sum(axis=-1)
        last = many - np.logical_and.accumulate(late[..., ::-1], axis=-1).sum(axis=-1)
        nobody = parts.sum(axis=-1) <= 0  # then any number would do
        first, last = np.where(nobody, 0, first), np.where(nobody, many, last)
        edges = np.array(self._edges)
        low, high = edges[first], edges[last]
        if self.integers:  # what is below a whole number is at most the one before
            high = np.where(last < many, high - 1, high)
        inside = self._between if interpolated else self._inside
        value = np.array([inside(cell, level, tree) for cell in parts.reshape(-1, many)])
        return bounded(np.clip(value.reshape(low.shape), low, high), low, high, self.bounds)

    @property
    def _edges(self) -> tuple[float, ...]:
        return (self.bounds[0], *self.levels[-1].edges, self.bounds[1])

    def _all_rows(self, axes: tuple[int, ...]) -> IntervalCounts:
        """How many rows the cells have: as answered, or as the sum of cells where that is more certain."""
        known = [each.summed(axes) for each in self.rows if set(axes) <= set(each.axes)]
        return min(known, key=lambda each: each.variance)

    def _between(self, parts: Floats, level: float, tree: CountTree) -> float:
        """About where an interpolated quantile is: of whole numbers with an edge at each, between two."""
        rows, edges = float(parts.sum()), self._edges
        single = self.integers and len(parts) == edges[-1] - edges[0] + 1
        if not single or rows < 1:
            return self._inside(parts, level, tree)
        ordered = np.cumsum(nearest_distribution(parts, rows))
        place = (rows - 1) * level
        lower, upper = (
            edges[0] + min(int(np.searchsorted(ordered, number + 1 - SLACK * (1 + rows))), len(parts) - 1)
            for number in (math.floor(place), math.ceil(place))
        )
        return lower + (upper - lower) * (place - math.floor(place))

    def _inside(self, parts: Floats, level: float, tree: CountTree) -> float:
        """About where a quantile is: from coarse to fine, and in the end as if rows were spread evenly.

        At each step the counts inside of an interval are made such as counts can be: not below 0, and adding
        up to what the interval holds.
        """
        rows = float(parts.sum())
        if not rows > 0:
            return self.bounds[0] / 2 + self.bounds[1] / 2
        wanted, place, depth = level * rows, 0, 0
        while rows > 0 and depth < len(tree.starts):
            children = tree.children(depth, place)
            near = nearest_distribution(
                [parts[tree.span(depth + 1, child)].sum() for child in children], rows
            )
            up_to = np.cumsum(near)
            chosen = min(int(np.searchsorted(up_to, wanted * (1 - 1e-12))), len(near) - 1)
            rows, place = float(near[chosen]), children[chosen]
            wanted -= float(up_to[chosen]) - rows
            depth += 1
        span = tree.span(depth, place)
        start, end = self._edges[span.start], self._edges[span.stop]
        inside: float = start + (end - start) * min(1.0, max(0.0, wanted / rows)) if rows > 0 else start
        if not self.integers:
            return inside
        return float(min(math.floor(inside), end if span.stop == len(parts) else end - 1))


def _tree(levels: Sequence[IntervalCounts]) -> CountTree:
    independent = all(isinstance(each.law, Noise | Exactly) for each in levels)
    starts = []
    for coarse, fine in pairwise(levels):
        place = {edge: number for number, edge in enumerate(fine.edges, start=1)}
        starts.append((0, *(place[edge] for edge in coarse.edges)))
    variances = tuple(each.variance for each in levels) if independent else None
    return CountTree(tuple(starts), variances, len(levels[-1].edges) + 1)


@lru_cache(maxsize=256)
def _off(tree: CountTree, laws: tuple[tuple[PlainLaw, float], ...], level: float, beta: float) -> Floats:
    """How far off the rows below each edge are, less this part of all rows, to one side."""
    terms = []
    for (law, many), contributions in zip(laws, tree.contributions, strict=True):
        squares, largest, absolute = contributions.balanced(level)
        terms.append(Term(law, many * squares, largest, many * absolute))
    return one_sided_each(terms, beta)
