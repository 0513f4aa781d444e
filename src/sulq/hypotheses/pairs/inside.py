"""Where inside of a bin the rows are: by finer counts, as far as noise lets them be seen.

Finer counts differ from an even spread. Differences that noise explains are taken back, as in the tables. At
both ends of a column, intervals that together show no more than noise are taken for empty: a few rows that
noise puts near a bound that is far away would move every average.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sulq.effects.layout import Floats
from sulq.hypotheses.pairs.positive import shrunk

UNLIKELY = 0.001
"""Rows are seen where noise would show as many anywhere in a column with less than this chance."""
NEXT = 8
"""A bin whose rows are not seen inside of it has them in so many intervals, next to those that are seen."""


def rows_inside(
    counts: Floats, groups: NDArray[np.intp], margin: Floats, widths: Floats, noise: float, bound: float
) -> Floats:
    """For each finer interval how many rows it has, the bins' rows being known.

    Args:
        counts: how many rows each interval has, noise and all.
        groups: to which bin each interval belongs: the first ones to 0, and so on.
        margin: how many rows each bin has, all positive.
        widths: how wide the intervals are.
        noise: one standard deviation of the noise in a count.
        bound: what the noise of no count exceeds, with all but the chance `UNLIKELY`.

    >>> counts, groups = np.array([30.0, 10.0, 1.0, -1.0]), np.array([0, 0, 1, 1])
    >>> rows_inside(counts, groups, np.array([40.0, 4.0]), np.ones(4), 1.0, 4.0).round(1).tolist()
    [29.9, 10.1, 4.0, 0.0]
    """
    blocks = seen_blocks(counts, bound)
    first, last = (blocks[0][0], blocks[-1][1] - 1) if blocks else (0, len(counts) - 1)
    even = np.zeros(len(counts))
    bins = [np.flatnonzero(groups == group) for group in range(len(margin))]
    for rows, inside in zip(margin, bins, strict=True):
        near = inside[(inside >= first) & (inside <= last)]
        if not len(near):
            near = inside[:NEXT] if inside[0] > last else inside[-NEXT:]
        # Edges are close together where numbers are small: without any sight of the rows, only widths count.
        even[near] = rows * (1 / len(near) if blocks else widths[near] / widths[near].sum())
    known = shrunk(counts, even, noise).clip(min=0.0)
    sums = np.bincount(groups, weights=known)
    scale = np.divide(margin, sums, out=np.zeros(len(margin)), where=sums > 0)
    return np.asarray(np.where((sums > 0)[groups], known * scale[groups], even))


def seen_blocks(counts: Floats, bound: float) -> list[tuple[int, int]]:
    """Runs of intervals, as (start, end), that have more rows than noise would show; as short as can be.

    Tried are runs of 1, 2, 4, … intervals. One that is seen is left out if half of it is seen already.

    Args:
        counts: how many rows each interval has, noise and all.
        bound: what the noise of no count exceeds.

    >>> seen_blocks(np.array([1.0, 50.0, 6.0, 5.0, 3.0]), 6.0)
    [(1, 2), (2, 4)]
    """
    blocks: list[tuple[int, int]] = []
    covered, length = np.zeros(len(counts), dtype=bool), 1
    while length < 2 * len(counts):
        for start in range(0, len(counts), length):
            end = min(start + length, len(counts))
            rows = counts[start:end].sum()
            if rows > bound * (end - start) ** 0.5 and not covered[start:end].any():
                blocks.append((start, end))
                covered[start:end] = True
        length *= 2
    return sorted(blocks)
