"""The paper's way with a vector: every number of it is a query of its own, put to people of their own.

Theorem 5.7 of the full version. Which of the m numbers a person is asked for is drawn without looking at the
value, and the answer is the Laplace report of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sulq.local.draws import uniform_below
from sulq.local.formed import FormedRandomizer
from sulq.local.laplace import LaplaceReport
from sulq.local.randomizer import codes
from sulq.local.received import numbers
from sulq.local.shapes import Ball, Box, Keyed, OneOf
from sulq.local.tails import STEPS, LaplaceMeans, people
from sulq.local.tally import Tallied, Tally, exact_sums, sums_of
from sulq.numbers import Numeric

Floats = NDArray[np.float64]


@dataclass(frozen=True, init=False)
class PaperReport(Tallied, FormedRandomizer):
    """A pair of whole numbers: which number of the vector, and its Laplace report on the scale of its bounds.

    Args:
        shape: what a value may be.
        epsilon: what is promised to the person who reports.

    >>> report = PaperReport(Box((0, -1), (1, 1)), epsilon=4)
    >>> points = np.tile([0.5, 0.5], (100_000, 1))
    >>> bool(abs(report.estimate(report.sample(points)) - 0.5).max() < report.radius(100_000, beta=1e-9))
    True
    """

    wire = "paper"

    shape: OneOf | Box | Ball | Keyed
    inner: LaplaceReport

    def __init__(self, shape: OneOf | Box | Ball | Keyed, epsilon: Numeric) -> None:
        object.__setattr__(self, "shape", shape)
        object.__setattr__(self, "inner", LaplaceReport(0, 1, epsilon))

    @property
    def ratio(self) -> Fraction:
        return self.inner.ratio

    @property
    def exponent(self) -> Fraction:
        return self.inner.exponent

    @property
    def epsilon(self) -> float:
        return self.inner.epsilon

    def sample(self, values: Any) -> NDArray[np.int64]:
        """A row of two numbers for each value."""
        lows, highs = self._bounds
        count = len(values[0]) if isinstance(self.shape, Keyed) else len(values)
        which = uniform_below(lows.size, count)
        numbers = _numbers(self.shape, values, which)
        return np.column_stack([which, self.inner.sample(_scaled(numbers, lows[which], highs[which]))])

    def pmf(self, report: Any, value: Any) -> Fraction:
        """To fifty digits: the law is irrational."""
        lows, highs = self._bounds
        which = np.array([int(report[0])])
        one = tuple(np.asarray(part)[np.newaxis] for part in value) if isinstance(self.shape, Keyed) else None
        number = _numbers(self.shape, one or np.asarray(value)[np.newaxis], which)
        scaled = _scaled(number, lows[which], highs[which])
        return self.inner.pmf(int(report[1]), float(scaled[0])) / lows.size

    def tally(self, reports: ArrayLike, item: str = "") -> Tally:
        """Of each number, the sum of how far the reports of it are off the middle, in half steps."""
        lows, _ = self._bounds
        first, second = numbers(reports, width=2).T
        which, steps = codes(first, lows.size), self.inner.within(second)
        return Tally(item, len(steps), exact_sums(which, 2 * steps - STEPS, lows.size))

    def estimate_of(self, tally: Tally) -> Floats:
        """The mean vector; for groups and vectors, a row for each group."""
        lows, highs = self._bounds
        farthest = STEPS + 2 * self.inner.margin
        off_middle = sums_of(tally, lows.size, -farthest, farthest).astype(np.float64) / (2 * STEPS)
        means = (lows + highs) / 2 + (highs - lows) * off_middle * lows.size / people(tally.reports)
        return means.reshape(self.shape.size, -1) if isinstance(self.shape, Keyed) else means

    def variance(self, n: int) -> float:
        """Of the widest number, where it is at an end: there, being asked or not matters most."""
        lows, highs = self._bounds
        each = self.inner.variance(1) + 0.25 * (1 - 1 / lows.size)
        return float(((highs - lows) ** 2).max() * lows.size * each) / people(n)

    @property
    def tails(self) -> LaplaceMeans:
        lows, highs = self._bounds
        return LaplaceMeans(self.inner.exponent, lows.size, float((highs - lows).max()))

    def radius(self, n: int, beta: float) -> float:
        return self.tails.radius(n, beta)

    def influence(self, n: int) -> float:
        lows, highs = self._bounds
        farthest = self.inner.influence(1)
        # Another number may be named as well, which takes the report from one and gives it to another.
        return float((highs - lows).max()) * lows.size * farthest / people(n)

    @property
    def _bounds(self) -> tuple[Floats, Floats]:
        """Bounds for each of the m numbers."""
        match self.shape:
            case OneOf(size):
                return np.zeros(size), np.ones(size)
            case Ball(size, norm):
                return np.full(size, -float(norm)), np.full(size, float(norm))
            case Box(lows, highs):
                return np.array(lows, dtype=np.float64), np.array(highs, dtype=np.float64)
            case Keyed(size, box):
                return np.tile(np.minimum(box.lows, 0.0), size), np.tile(np.maximum(box.highs, 0.0), size)


def _numbers(shape: OneOf | Box | Ball | Keyed, values: Any, which: NDArray[np.int64]) -> Floats:
    """Of each person's value, the number that they are asked for."""
    everyone = np.arange(which.size)
    match shape:
        case OneOf(size):
            return np.asarray(codes(values, size) == which, dtype=np.float64)
        case Keyed(size, box):
            group, number = np.divmod(which, len(box.lows))
            vectors = np.asarray(values[1], dtype=np.float64)
            inside = np.fmin(
                np.fmax(vectors[everyone, number], np.array(box.lows)[number]), np.array(box.highs)[number]
            )
            return np.where(codes(values[0], size) == group, inside, 0.0)
        case _:
            return np.asarray(values, dtype=np.float64)[everyone, which]


def _scaled(numbers: Floats, lows: Floats, highs: Floats) -> Floats:
    """From its interval to [0, 1]."""
    return np.asarray((numbers - lows) / np.where(highs > lows, highs - lows, 1.0))
