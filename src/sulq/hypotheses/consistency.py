"""Counts of one table that were asked for several times, made to agree: the cells, and sums of them.

Let x be the cells, and y = A x + noise the answer to one question about sums of them, over the axes it does
not keep. Least squares, weighted by the variances, solves (Σ w AᵀA) x = Σ w Aᵀy. AᵀA is m times the average
over the axes that the question does not keep, m being how many cells it adds up. All of these averages
commute: their common eigenspaces are the effects of sets of axes, as in the analysis of variance. On the
effect of a set the matrix is the number λ = Σ w m, over the questions that keep all of the set. So x is
found by taking the right side apart into effects and dividing each by its λ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sulq.talk.combined import Term
from sulq.talk.laws import PlainLaw

Floats = NDArray[np.float64]
CERTAIN = 1e-12
"""What is exact gets the weight of this part of the largest variance, so that weights stay finite."""
ROUNDING = 1e-9
"""What a sum has of a noisy number beside an exact one that says it all."""


@dataclass(frozen=True)
class MarginalSums:
    """Noisy sums of the cells of a table.

    Args:
        axes: the axes that are kept, in increasing order; over the others it is summed.
        values: the sums, with an axis for each that is kept.
        law: the law of their errors.
    """

    axes: tuple[int, ...]
    values: Floats
    law: PlainLaw


@dataclass(frozen=True)
class Consistent:
    """The cells of a table that fit all sums best.

    Args:
        shape: how many places each axis of the table has.
        sums: what was answered; the cells themselves are among it.

    >>> from fractions import Fraction
    >>> from sulq.talk.laws import Exactly, Noise
    >>> cells = MarginalSums((0,), np.array([4.0, 7.0]), Noise("laplace", Fraction(3), Fraction(1), 2))
    >>> Consistent((2,), (cells, MarginalSums((), np.array(10.0), Exactly()))).cells.round(6).tolist()
    [3.5, 6.5]
    """

    shape: tuple[int, ...]
    sums: tuple[MarginalSums, ...]

    @property
    def cells(self) -> Floats:
        """The cells. Any sum of them is the best estimate of that sum."""
        if len(self.sums) == 1 or not max(self._variances) > 0:
            return next(each.values for each in self.sums if len(each.axes) == len(self.shape))
        # One after the other: what is exact has a weight beside which the rest would be lost to rounding.
        return sum(
            (
                self._solved(weight * self._spread(each), each.axes)
                for weight, each in zip(self._weights, self.sums, strict=True)
            ),
            np.zeros(self.shape),
        )

    def over(self, axes: tuple[int, ...]) -> Floats:
        """The best estimates of the sums over all axes but these; exact answers stay as they are.

        Args:
            axes: the axes that are kept.
        """
        for each in self.sums:
            if each.axes == axes and each.law.deviation == 0:
                return each.values
        return summed(self.cells, axes)

    def terms(self, axes: tuple[int, ...]) -> list[Term]:
        """What errs in a sum of the cells, that over all axes but these: the same for all such sums."""
        if len(self.sums) == 1 or not max(self._variances) > 0:
            many = math.prod(size for axis, size in enumerate(self.shape) if axis not in axes)
            return [Term(self.sums[0].law, many, 1, many)]
        first = np.zeros(self.shape)
        first[tuple(0 if axis in axes else slice(None) for axis in range(len(self.shape)))] = 1
        effect = self._solved(first, tuple(range(len(self.shape))))
        terms = []
        for weight, each in zip(self._weights, self.sums, strict=True):
            row = np.abs(weight * summed(effect, each.axes))
            row = np.where(row < ROUNDING, 0.0, row)
            largest = float(row.max())
            terms.append(Term(each.law, float((row**2).sum()), largest, float(row.sum())))
        return terms

    @cached_property
    def _variances(self) -> list[float]:
        return [float(each.law.deviation) ** 2 for each in self.sums]

    @cached_property
    def _weights(self) -> list[float]:
        least = CERTAIN * max(self._variances)
        return [least / max(variance, least) for variance in self._variances]

    def _spread(self, each: MarginalSums) -> Floats:
        """Aᵀy: every sum in the place of each of its cells."""
        places = tuple(size if axis in each.axes else 1 for axis, size in enumerate(self.shape))
        return np.broadcast_to(each.values.reshape(places), self.shape)

    def _solved(self, right: Floats, axes: tuple[int, ...]) -> Floats:
        """The solution for a right side that only varies along these axes."""
        effects: dict[tuple[int, ...], Floats] = {(): right}
        for axis, _ in enumerate(self.shape):
            split: dict[tuple[int, ...], Floats] = {}
            for kept, part in effects.items():
                average = np.broadcast_to(part.mean(axis=axis, keepdims=True), self.shape)
                split[kept] = average
                if axis in axes:
                    split[(*kept, axis)] = part - average
            effects = split
        return np.asarray(sum((part / self._eigenvalue(kept) for kept, part in effects.items())))

    def _eigenvalue(self, effect: tuple[int, ...]) -> float:
        return sum(
            weight * math.prod(size for axis, size in enumerate(self.shape) if axis not in each.axes)
            for weight, each in zip(self._weights, self.sums, strict=True)
            if set(effect) <= set(each.axes)
        )


def summed(cells: Floats, axes: tuple[int, ...], last: int = 0) -> Floats:
    """Cells, summed over all axes but these and but the last few.

    Args:
        cells: the cells.
        axes: the axes that are kept.
        last: how many axes at the end are kept as well.

    >>> summed(np.array([[1.0, 2.0], [3.0, 4.0]]), (1,)).tolist()
    [4.0, 6.0]
    """
    gone = tuple(axis for axis in range(cells.ndim - last) if axis not in axes)
    return np.asarray(cells.sum(axis=gone))
