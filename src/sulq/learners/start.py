"""Where k-means starts: the centres of the cells of a grid, whose rows were counted privately.

One round asks for the histogram of every column by itself. Where that says that it matters, the columns are
cut, and one more round counts the rows in every cell of the grid so made. From there on clustering the cells
costs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from sulq.learners.cells import cleaned, clustered, cuts, moments, places, within
from sulq.learners.estimates import Floats, shrunk
from sulq.learners.lloyd import moved, on_grid, reach_of, step
from sulq.queries.codes import Bins, bins
from sulq.queries.query import count
from sulq.queries.rounds import Round
from sulq.queries.vectors import features
from sulq.talk.answers import Answer
from sulq.talk.oracle import Rounds

FINEST = 64
"""The most bins of a column by itself, in the first round."""
MOST_CELLS, FOR_A_CLUSTER = 2**14, 8
"""The most cells of the grid, and into how many parts each column is cut for each of k clusters, at most."""
CELLS = 0.75
"""How many cells there are for every row, over the noise in a cell: more place rows better, and add noise."""
ROWS_WEIGHT = Fraction(1, 100)
"""How precisely the number of rows is asked for beside them: where it is public, it costs nothing."""
UNSURE = 0.1
"""How unsure of a column's mean, on a scale from −1 to 1, its histogram may leave us."""


@dataclass(frozen=True)
class Shares:
    """How the budget is divided.

    Args:
        columns: what the round of the columns' histograms gets.
        cells: what the round of the grid's cells gets.
        steps: what all steps get.
        iterations: over how many steps that is divided, in equal parts.

    >>> Shares.of(Fraction(1), 2).step
    Fraction(3, 20)
    """

    columns: Fraction
    cells: Fraction
    steps: Fraction
    iterations: int

    @classmethod
    def of(cls, share: Fraction, iterations: int) -> Shares:
        """What each round gets of a share."""
        return cls(share * Fraction(3, 20), share * Fraction(11, 20), share * Fraction(3, 10), iterations)

    @property
    def step(self) -> Fraction:
        """What one step gets."""
        return self.steps / self.iterations

    def without_mean(self) -> tuple[Fraction, Shares]:
        """Half of what cells and steps get, for the mean of all rows; and what is left for them."""
        half = (self.cells + self.steps) / 2
        return half, replace(self, cells=self.cells / 2, steps=self.steps / 2)


@dataclass(frozen=True)
class Histograms:
    """What is known of the columns after the first round.

    Args:
        columns: the rows in every bin of every column: not negative, and drawn towards each other.
        noise: one standard deviation of a count.
        known: how many rows there are, if that is public.
    """

    columns: list[Floats]
    noise: float
    known: float | None = None

    @classmethod
    def of(cls, answers: Sequence[Answer], counted: Answer) -> Histograms:
        noise = float(answers[0].deviation)
        tables = shrunk(np.array([answer.value for answer in answers]), noise)
        known = float(counted.value) if counted.deviation == 0 else None
        return cls([cleaned(table, known) for table in tables], noise, known)

    @cached_property
    def rows(self) -> float:
        """About how many rows there are."""
        return max(1.0, float(np.mean([column.sum() for column in self.columns])))

    @property
    def doubt(self) -> float:
        """How unsure the histograms leave the mean of a column."""
        # The bins' middles, over [−1, 1], have a mean square of a third.
        return self.noise * math.sqrt(len(self.columns[0]) / 3) / self.rows

    @property
    def unsure(self) -> bool:
        return self.doubt > UNSURE

    @property
    def around(self) -> Floats:
        """How far around its mean a column's rows may be, if the mean is as unsure as it is."""
        return np.hypot(moments(self.columns)[1], self.doubt / math.sqrt(len(self.columns)))

    def cuts(self, k: int, shares: Shares) -> list[list[int]]:
        """Where to cut the columns: into no more cells than the noise in their counts allows."""
        columns = len(self.columns)
        noise, most = self.noise * float(shares.columns / shares.cells) / columns, most_cells(k, columns)
        return cuts(self.columns, most if noise == 0 else min(most, max(1.0, CELLS * self.rows / noise)))

    def within(self, at: Sequence[Sequence[int]]) -> Floats:
        """The variance of the rows of a cell, in each column."""
        # Histograms that do not know their own means say nothing of the spread around them either: then the
        # columns that were not cut stay at the mean of all rows, as far as a bin is wide.
        return np.full(len(self.columns), (2 / FINEST) ** 2 / 12) if self.unsure else within(self.columns, at)


def edges(columns: int) -> list[float]:
    """Where the histograms' bins meet, on a scale from −1 to 1.

    Noise in a column's bins grows with the number of columns: of many columns ask for fewer bins.
    """
    size = max(8, min(FINEST, 6 * FINEST // columns))
    return [float(edge) for edge in np.linspace(-1, 1, size + 1)[1:-1]]


def most_cells(k: int, columns: int) -> int:
    """How many cells the grid has at most: more of them would start k-means no nearer to its end.

    Args:
        k: how many centres.
        columns: how many columns span the space.

    >>> most_cells(2, 1), most_cells(2, 2), most_cells(2, 10)
    (16, 128, 16384)
    """
    bins = len(edges(columns)) + 1
    most: int = min(MOST_CELLS, k * FOR_A_CLUSTER**columns, bins**columns)
    return most


def most_to_start(k: int, columns: int) -> int:
    """How many numbers the start asks for at most: histograms, the mean of all rows, and cells.

    Args:
        k: how many centres.
        columns: how many columns span the space.
    """
    return columns * (len(edges(columns)) + 1) + 1 + columns + most_cells(k, columns)


def start(names: Sequence[str], k: int, shares: Shares) -> Rounds[tuple[Floats, Floats, Shares]]:
    """The centres to start from, how far around them rows count in full, and the shares that are left.

    Of many columns and few rows the histograms say little. Then half of what is left goes to one step with a
    single centre: the mean of all rows, which no centre leaves again unless it is worth it.

    Args:
        names: the columns that span the space.
        k: how many centres.
        shares: how the budget is divided.
    """
    fine = edges(len(names))
    histograms = [count(by=bins(features(name), fine)) for name in names]
    *answers, counted = yield Round([*histograms, count(weight=ROWS_WEIGHT)], shares.columns)
    seen = Histograms.of(answers, counted)
    means, _ = moments(seen.columns)
    if seen.unsure:
        middle, reach = on_grid(means[np.newaxis]), reach_of(seen.around, math.inf)
        half, shares = shares.without_mean()
        answers = yield Round(step(names, middle, reach), half)
        [means], _ = moved(middle, reach, *answers)
    at = seen.cuts(k, shares)
    weights, grid = np.array([seen.rows]), _grid(names, fine, at)
    if grid:
        [cells] = yield Round([count(by=grid)], shares.cells)
        weights = cleaned(np.ravel(cells.value), seen.known)
    centres, spread = clustered(places(seen.columns, at, means), weights, k, seen.within(at))
    noise = seen.noise * float(shares.columns / shares.step) * k / seen.rows
    return on_grid(centres), reach_of(spread, noise), shares


def _grid(names: Sequence[str], fine: Sequence[float], at: Sequence[Sequence[int]]) -> list[Bins]:
    """The columns that are cut, by their edges."""
    return [
        bins(features(name), [fine[i - 1] for i in places[1:-1]])
        for name, places in zip(names, at, strict=True)
        if len(places) > 2
    ]
