"""Histograms and the cells of a grid: what can be made of noisy counts of them, at no further cost."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sulq.learners.estimates import Floats
from sulq.simplex import nearest_distribution

RESTARTS = 8
SWEEPS = 40


def cleaned(counts: Floats, rows: float | None = None) -> Floats:
    """The nearest counts that are not negative and add up to the number of rows, if that is at least one.

    Args:
        counts: how many rows there are in each place, noise and all.
        rows: how many rows there are, if that is known; by default as many as the counts add up to.
    """
    return nearest_distribution(counts, max(float(counts.sum()) if rows is None else rows, 1.0))


def moments(columns: Sequence[Floats]) -> tuple[Floats, Floats]:
    """The mean of every column by its histogram, and its standard deviation."""
    middles = _fine_middles(len(columns[0]))
    shares = np.stack([column / column.sum() for column in columns])
    means = shares @ middles
    return means, np.sqrt(np.maximum(shares @ middles**2 - means**2, 0.0))


def cuts(columns: Sequence[Floats], cells: float) -> list[list[int]]:
    """Where to cut each column: again and again where it takes most variance for the cells it adds."""
    size = len(columns[0])
    middles = _fine_middles(size)
    sums = [np.stack([np.r_[0, np.cumsum(c * middles**p)] for p in range(3)], axis=1) for c in columns]

    def scatter(j: int, a: Any, b: Any) -> Any:
        # Of the rows between two edges, or between each of several pairs of edges.
        n, x, xx = (sums[j][b] - sums[j][a]).T
        return xx - x * x / np.maximum(n, 1e-12)

    def best(j: int, a: int, b: int) -> tuple[float, int]:
        if b - a < 2:
            return 0.0, a
        at = np.arange(a + 1, b)
        gains = scatter(j, a, b) - scatter(j, a, at) - scatter(j, at, b)
        return float(gains.max()), int(at[gains.argmax()])

    made = [[0, size] for _ in columns]
    options = [{(0, size): best(j, 0, size)} for j in range(len(columns))]
    while True:
        now = math.prod(len(at) - 1 for at in made)
        rate, j, ends = max(
            (max(o.values())[0] / math.log(1 + 1 / (len(at) - 1)), j, max(o, key=lambda e: o[e]))
            if now * len(at) / (len(at) - 1) <= cells
            else (0.0, j, (0, 0))
            for j, (o, at) in enumerate(zip(options, made, strict=True))
        )
        if rate <= 1e-9:
            return made
        _, at = options[j].pop(ends)
        made[j] = sorted([*made[j], at])
        for part in ((ends[0], at), (at, ends[1])):
            options[j][part] = best(j, *part)


def places(columns: Sequence[Floats], cuts: Sequence[Sequence[int]], means: Floats) -> Floats:
    """Where the rows of each cell are thought to be.

    In a column that is cut, where its histogram has them; in one that is not, at its mean.
    """
    sides = []
    for column, at, mean in zip(columns, cuts, means, strict=True):
        some, starts = column + 1e-6, list(at[:-1])
        inside = np.add.reduceat(some * _fine_middles(len(column)), starts) / np.add.reduceat(some, starts)
        sides.append(inside if len(starts) > 1 else np.array([mean]))
    # Cells are numbered with the last column's part the fastest.
    later = np.cumprod([1, *(len(side) for side in sides[:0:-1])])[::-1]
    cells = np.arange(math.prod(len(side) for side in sides))
    return np.stack(
        [side[cells // each % len(side)] for side, each in zip(sides, later, strict=True)], axis=1
    )


def within(columns: Sequence[Floats], cuts: Sequence[Sequence[int]]) -> Floats:
    """The variance in each column of the rows between two cuts, around their mean; one of a bin at least."""
    variances = []
    for column, at in zip(columns, cuts, strict=True):
        size, middles, starts = len(column), _fine_middles(len(column)), list(at[:-1])
        n, x, xx = (np.add.reduceat((column + 1e-6) * middles**p, starts) for p in range(3))
        variances.append(float((xx - x * x / n).sum() / n.sum()) + (2 / size) ** 2 / 12)
    return np.array(variances)


def clustered(places: Floats, counts: Floats, k: int, within: Floats) -> tuple[Floats, Floats]:
    """k-means of weighted points, the best of several starts: the centres, and the spread around them.

    Args:
        places: where the points are, one in each line.
        counts: how many rows are at each point.
        k: how many centres.
        within: the variance of the rows of a cell around its place, in each coordinate.
    """
    points, weights = places[counts > 0], counts[counts > 0]
    rng = np.random.default_rng(0)
    outcomes = [_settled(points, weights, _seeds(points, weights, k, rng)) for _ in range(RESTARTS)]
    _, centres, nearest = min(outcomes, key=lambda outcome: outcome[0])
    return centres, np.sqrt(weights @ (points - centres[nearest]) ** 2 / weights.sum() + within)


def _settled(points: Floats, weights: Floats, centres: Floats) -> tuple[float, Floats, NDArray[np.intp]]:
    """Where centres come to rest: the inertia then, the centres, and which is nearest to each point."""
    k = len(centres)
    for _ in range(SWEEPS):
        nearest, _ = _assigned(points, centres)
        sizes = np.bincount(nearest, weights, k)[:, np.newaxis]
        sums = np.stack([np.bincount(nearest, weights * x, k) for x in points.T], axis=1)
        before, centres = centres, np.where(sizes > 0, sums / np.maximum(sizes, 1e-12), centres)
        if np.abs(centres - before).max() < 1e-4:
            break
    nearest, squares = _assigned(points, centres)
    return float(squares @ weights), centres, nearest


def _seeds(points: Floats, weights: Floats, k: int, rng: np.random.Generator) -> Floats:
    """Greedy k-means++: each next centre the best of a few points drawn in proportion to their cost."""
    chosen = [points[rng.choice(len(points), p=weights / weights.sum())]]
    near = ((points - chosen[0]) ** 2).sum(axis=1)
    while len(chosen) < k:
        cost = near * weights
        if cost.sum() <= 0:
            chosen.append(rng.uniform(-1, 1, points.shape[1]))
            continue
        tried = points[rng.choice(len(points), 3 + int(math.log(k)), p=cost / cost.sum())]
        each = np.minimum(near, ((points - tried[:, np.newaxis]) ** 2).sum(axis=2))
        first = int((each @ weights).argmin())
        chosen.append(tried[first])
        near = each[first]
    return np.array(chosen)


def _assigned(points: Floats, centres: Floats) -> tuple[NDArray[np.intp], Floats]:
    """The nearest centre of each point, and the square of how far it is."""
    scores = (centres**2).sum(axis=1) - 2 * points @ centres.T
    nearest = scores.argmin(axis=1)
    return nearest, np.maximum(scores[np.arange(len(points)), nearest] + (points**2).sum(axis=1), 0.0)


def _fine_middles(size: int) -> Floats:
    return np.asarray((np.arange(size) + 0.5) * 2 / size - 1)
