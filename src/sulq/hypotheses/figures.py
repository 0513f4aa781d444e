"""The figures of a table: what was measured in each cell, and between which bounds the truth is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sulq.hypotheses.consistency import ROUNDING, Consistent, Floats, summed
from sulq.simplex import nearest_distribution
from sulq.talk.combined import Term, combined
from sulq.talk.laws import PlainLaw

TELLING = 0.5
"""An average or a quantile tells something if its interval is less than this part of the column's bounds."""


@dataclass(frozen=True)
class CellFigures:
    """One measure, cell by cell.

    Args:
        value: the estimates.
        radius: how far each is from the truth at most, but for the stated chance for all of them at once.
        low: the truth is not below.
        high: the truth is not above.
        telling: whether a figure says more than its noise does.
    """

    value: Floats
    radius: Floats
    low: Floats
    high: Floats
    telling: NDArray[np.bool_]

    @property
    def within_noise(self) -> str:
        """How many figures say no more than their noise does, of how many; empty if there are none."""
        quiet = self.telling.size - int(self.telling.sum())
        return f"{quiet:,} of {self.telling.size:,}" if quiet else ""


def counts(table: Consistent, axes: tuple[int, ...], beta: float, whole: bool = False) -> CellFigures:
    """How many rows there are in each cell.

    Args:
        table: the counts as they were answered.
        axes: the axes that are kept; over the others it is summed.
        beta: the chance that one of the figures is not within its bounds.
        whole: whether the counts are made whole numbers from 0, that add up.
    """
    estimate = table.over(axes)
    off = combined(table.terms(axes), beta, estimate.size)
    value = summed(whole_numbers(table.cells), axes) if whole else estimate
    moved = np.abs(value - estimate)
    radius = off + np.where(moved > ROUNDING * (1 + np.abs(estimate)), moved, 0.0)
    low = np.maximum(0, value - radius)
    telling = estimate > off if off > 0 else np.ones(estimate.shape, dtype=bool)
    return CellFigures(value, radius, low, np.maximum(low, value + radius), np.asarray(telling))


def sums(cells: Floats, law: PlainLaw, axes: tuple[int, ...], beta: float) -> CellFigures:
    """The sum of a number over the rows of each cell.

    Args:
        cells: the sums as they were answered.
        law: the law of their errors.
        axes: the axes that are kept.
        beta: the chance that one of the figures is not within its bounds.
    """
    value = summed(cells, axes)
    many = cells.size / max(1, value.size)
    off = combined([Term(law, many, 1, many)], beta, value.size)
    radius = np.full(value.shape, off)
    telling = np.abs(value) > off if off > 0 else np.ones(value.shape, dtype=bool)
    return CellFigures(value, radius, value - radius, value + radius, np.asarray(telling))


def ratios(
    of_sums: CellFigures, of_counts: CellFigures, bounds: tuple[float, float], middle: float = 0.0
) -> CellFigures:
    """An average in each cell: a sum over a count, both of which may be off.

    Args:
        of_sums: the sums of what is averaged, less the middle.
        of_counts: the counts, which are not made whole.
        bounds: the average is between these, as the schema says.
        middle: what was taken off every number before it was added up.
    """
    least, most = bounds
    fewest, many = of_counts.value - of_counts.radius, of_counts.value + of_counts.radius
    with np.errstate(all="ignore"):
        # Divided last: of exact sums, this is the average to the last bit.
        ends = [
            (total + middle * rows) / rows for total in (of_sums.low, of_sums.high) for rows in (fewest, many)
        ]
        average = (of_sums.value + middle * of_counts.value) / of_counts.value
    known = fewest > 0
    low = np.where(known, np.clip(np.min(ends, axis=0), least, most), least)
    high = np.where(known, np.clip(np.max(ends, axis=0), least, most), most)
    sound = np.isfinite(average) & (of_counts.value > 0)
    value = np.clip(np.where(sound, average, low / 2 + high / 2), low, high)
    return bounded(value, low, high, bounds)


def bounded(value: Floats, low: Floats, high: Floats, bounds: tuple[float, float]) -> CellFigures:
    """Figures whose bounds are known, of something that the schema bounds as well."""
    least, most = bounds
    telling = (high - low < TELLING * (most - least)) | (high == low)
    return CellFigures(value, np.maximum(high - value, value - low), low, high, np.asarray(telling))


def whole_numbers(cells: Floats) -> Floats:
    """The whole numbers from 0 that are nearest to noisy counts and add up to what those do, rounded.

    >>> whole_numbers(np.array([5.4, -1.3, 2.4, 0.7])).tolist()
    [5.0, 0.0, 2.0, 0.0]
    """
    all_rows = round(float(cells.sum()))
    if all_rows <= 0:
        return np.zeros(cells.shape)
    near = nearest_distribution(cells.ravel(), all_rows)
    down = np.floor(near)
    missing = all_rows - int(down.sum())
    down[np.argsort(down - near, kind="stable")[:missing]] += 1
    return down.reshape(cells.shape)
