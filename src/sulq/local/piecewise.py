"""A report near the number, mostly: likelier by e^ε in a window around it than elsewhere.

Wang, Xiao, Yang, Zhao, Hui, Shin, Shin and Yu, "Collecting and Analyzing Multidimensional Data with Local
Differential Privacy", 2019, on a grid. Reports are cells 0, …, m − 1, and a window is w neighbouring ones. A
number is rounded at random to one of the m − w + 1 places of the window; the report is from the window with
a probability p and else from outside, uniformly. The expected cell is linear in the place of the window, so
that a linear function of the cell has the number itself as its expectation, exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sulq.local.draws import ONE, PARTS, below, position, rounded, uniform_below
from sulq.local.formed import FormedRandomizer
from sulq.local.randomizer import chance_to_lie, codes, interval, logarithm, usable_epsilon
from sulq.local.tails import Bounded, people
from sulq.local.tally import Tallied, Tally, sums_of
from sulq.numbers import Numeric
from sulq.privacy.coins import Coin

CELLS = 2**12
"""Rounding a number to the grid adds less than a millionth of the interval's square to the variance."""


@dataclass(frozen=True, init=False)
class PiecewiseReport(Tallied, FormedRandomizer):
    """A number from `low` to `high`, reported as a cell. Better than one bit from about ε = 1.3 on.

    The window has a share of 1/(e^(ε/2) + 1) of the cells, as in the paper.

    Args:
        low: the smallest value that is possible.
        high: the largest value that is possible.
        epsilon: what is promised to the person who reports.

    >>> report = PiecewiseReport(0, 100, epsilon=2)
    >>> ages = np.linspace(20, 60, 100_000)
    >>> bool(abs(report.estimate(report.sample(ages)) - 40)[0] < report.radius(100_000, beta=1e-9))
    True
    """

    wire = "piecewise"

    low: float
    high: float
    window: int
    lies: int
    """How often the report is from outside the window, in steps of 2^-64."""

    def __init__(self, low: float, high: float, epsilon: Numeric) -> None:
        for name, bound in zip(("low", "high"), interval(low, high), strict=True):
            object.__setattr__(self, name, bound)
        share = Fraction(Coin(1, 1, usable_epsilon(epsilon) / 2).bias(64), ONE)
        object.__setattr__(self, "window", max(1, round(CELLS * share)))
        weight = Fraction(CELLS - self.window, self.window)
        object.__setattr__(self, "lies", chance_to_lie(usable_epsilon(epsilon), weight))

    @property
    def ratio(self) -> Fraction:
        inside, outside = self._each
        return inside / outside

    @property
    def exponent(self) -> None:
        return None

    @property
    def epsilon(self) -> float:
        return logarithm(self.ratio)

    def sample(self, values: ArrayLike) -> NDArray[np.int64]:
        """A cell for each number."""
        numbers = np.asarray(values, dtype=np.float64)
        places = rounded(position(numbers, self.low, self.high, CELLS - self.window))
        outside = below(self.lies, places.size)
        drawn = uniform_below(np.where(outside, CELLS - self.window, self.window), places.size)
        # The cells outside are counted from the end of the window on, and round to its beginning.
        return (places + np.where(outside, self.window, 0) + drawn) & (CELLS - 1)

    def pmf(self, report: int, value: float) -> Fraction:
        base, part = position(np.array([value]), self.low, self.high, CELLS - self.window)
        near, far = (self._chance(int(report), int(base[0]) + step) for step in (0, 1))
        return near + (far - near) * Fraction(int(part[0]), PARTS)

    def tally(self, reports: ArrayLike, item: str = "") -> Tally:
        """The sum of all cells' numbers."""
        cells = codes(reports, CELLS)
        return Tally(item, len(cells), np.array([cells.sum()]))

    def estimate_of(self, tally: Tally) -> NDArray[np.float64]:
        """The mean of the numbers, as an array of one."""
        [total] = sums_of(tally, 1, 0, CELLS - 1).tolist()
        mean = float(total) / people(tally.reports)
        return np.array([self._middle + self._unit * (mean - (CELLS - 1) / 2)])

    def variance(self, n: int, value: float | None = None) -> float:
        """If everyone has this value, exactly; the largest possible, that of an end, if it is not known.

        Rounding to a place adds r(1 − r) squared steps for a number that is r of a step beyond one; of the
        unknown value it is taken to add a quarter.
        """
        steps = CELLS - self.window
        if value is None:
            places, r = np.array([0, steps]), np.array([0.5])
        else:
            base, part = position(np.array([value]), self.low, self.high, steps)
            places, r = np.array([base[0], min(base[0] + 1, steps)]), part / PARTS
        spread = self._spread(places)
        within = spread.max() if value is None else spread[0] * (1 - r[0]) + spread[1] * r[0]
        step = (self.high - self.low) / steps
        return float(within * self._unit**2 + r[0] * (1 - r[0]) * step**2) / people(n)

    @property
    def tails(self) -> Bounded:
        reach = self._unit * (CELLS - 1) / 2
        beyond = reach + (self.high - self.low) / 2
        return Bounded((self.variance(1),), (1,), beyond, beyond, 2 * reach)

    def radius(self, n: int, beta: float) -> float:
        return self.tails.radius(n, beta)

    def influence(self, n: int) -> float:
        return self._unit * (CELLS - 1) / people(n)

    @property
    def _each(self) -> tuple[Fraction, Fraction]:
        """The probability of a cell in the window, and of one outside."""
        return Fraction(ONE - self.lies, ONE * self.window), Fraction(self.lies, ONE * (CELLS - self.window))

    def _chance(self, cell: int, place: int) -> Fraction:
        inside, outside = self._each
        return inside if place <= cell < place + self.window else outside

    @property
    def _middle(self) -> float:
        return (self.low + self.high) / 2

    @property
    def _unit(self) -> float:
        """How much one cell more counts.

        Moving the window by one place swaps a cell for the one w further on, so the expected cell moves by
        w·(inside − outside), and the number by one of m − w steps.
        """
        inside, outside = self._each
        return (self.high - self.low) / (CELLS - self.window) / float(self.window * (inside - outside))

    def _spread(self, places: NDArray[np.int64]) -> NDArray[np.float64]:
        """The variance of the cell, for windows at these places."""
        inside, outside = (float(p) for p in self._each)
        cells = np.arange(CELLS) - (CELLS - 1) / 2
        first, second = (np.concatenate([[0], np.cumsum(cells**power)]) for power in (1, 2))
        ends = places + self.window
        mean, square = (
            outside * sums[-1] + (inside - outside) * (sums[ends] - sums[places]) for sums in (first, second)
        )
        return np.asarray(square - mean**2)
