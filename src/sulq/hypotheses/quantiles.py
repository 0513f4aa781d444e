"""Quantiles from noisy counts between public edges, with intervals that hold at a stated confidence."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sulq.hypotheses.consistency import Floats, summed
from sulq.hypotheses.figures import CellFigures, bounded
from sulq.simplex import nearest_distribution
from sulq.talk.combined import Term, one_sided
from sulq.talk.laws import PlainLaw

SLACK = 1e-12
"""Rounding changes a part of the rows by no more than this part of them."""


@dataclass(frozen=True)
class Histogram:
    """How many rows of each cell fall between public edges, for quantiles.

    Args:
        cells: the counts; the last axis is that of the intervals.
        law: the law of their errors.
        edges: the public edges, with the column's own bounds as the first and the last.
        integers: whether the column holds whole numbers only.
    """

    cells: Floats
    law: PlainLaw
    edges: tuple[float, ...]
    integers: bool

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
        many = self.cells.shape[-1]
        parts = summed(self.cells, axes, last=1)
        below = np.cumsum(parts, axis=-1)[..., :-1] - level * parts.sum(axis=-1, keepdims=True)
        off = np.array([self._off(level, j, parts.size // many, beta) for j in range(1, many)])
        slack = SLACK * (1 + np.abs(parts).sum(axis=-1, keepdims=True))
        early = below + off <= slack - level if interpolated else below + off < -slack
        late = below - off >= (1 - level if interpolated else 0) - slack
        first = np.logical_and.accumulate(early, axis=-1).sum(axis=-1)
        last = many - np.logical_and.accumulate(late[..., ::-1], axis=-1).sum(axis=-1)
        edges = np.array(self.edges)
        low, high = edges[first], edges[last]
        if self.integers:  # what is below a whole number is at most the one before
            high = np.where(last < many, high - 1, high)
        inside = self._between if interpolated else self._inside
        value = np.array([inside(cell, level) for cell in parts.reshape(-1, many)])
        return bounded(
            np.clip(value.reshape(low.shape), low, high), low, high, (float(edges[0]), float(edges[-1]))
        )

    def _off(self, level: float, edge: int, cells: int, beta: float) -> float:
        """How far off the rows below an edge are, less this part of all rows, to one side."""
        many = self.cells.shape[-1]
        each = self.cells.size / many / max(1, cells)
        weights = [(1 - level, each * edge), (level, each * (many - edge))]
        terms = [Term(self.law, number * weight**2, weight, number * weight) for weight, number in weights]
        together = Term(
            self.law,
            sum(term.squares for term in terms),
            max(level, 1 - level),
            sum(term.absolute for term in terms),
        )
        return one_sided([together], beta / 2 / cells)

    def _between(self, parts: Floats, level: float) -> float:
        """About where an interpolated quantile is: of whole numbers with an edge at each, between two."""
        rows = float(parts.sum())
        single = self.integers and len(parts) == self.edges[-1] - self.edges[0] + 1
        if not single or rows < 1:
            return self._inside(parts, level)
        ordered = np.cumsum(nearest_distribution(parts, rows))
        place = (rows - 1) * level
        lower, upper = (
            self.edges[0]
            + min(int(np.searchsorted(ordered, number + 1 - SLACK * (1 + rows))), len(parts) - 1)
            for number in (math.floor(place), math.ceil(place))
        )
        return lower + (upper - lower) * (place - math.floor(place))

    def _inside(self, parts: Floats, level: float) -> float:
        """About where a quantile is: as if the rows of an interval were spread evenly in it."""
        rows = float(parts.sum())
        if not rows > 0:
            return self.edges[0] / 2 + self.edges[-1] / 2
        near = np.cumsum(nearest_distribution(parts, rows))
        place = min(int(np.searchsorted(near, level * rows * (1 - 1e-12))), len(parts) - 1)
        before = 0.0 if place == 0 else float(near[place - 1])
        within = float(near[place]) - before
        start, end = self.edges[place], self.edges[place + 1]
        inside = start + (end - start) * (level * rows - before) / within if within > 0 else start
        if not self.integers:
            return inside
        return float(min(math.floor(inside), end if place == len(parts) - 1 else end - 1))
