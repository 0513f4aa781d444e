"""The paper's own report: R_g(u) = g(u) + Lap(2b/ε) for a query g with values in [−b, b].

Section 5.1.1 of the full version. A Laplace variable cannot be drawn exactly, so both g(u) and the noise lie
on a grid: the number is rounded at random to one of 4097 points from low to high, and discrete Laplace noise
of scale 4096/ε steps is added, which is Lap((high − low)/ε). Two values are at most 4096 steps apart, so the
ratio is e^ε, exactly. Reports more than 64 scales outside the interval, of which there is less than one in
10^27, are brought back to there, so that a made-up report cannot count for more.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sulq.local.draws import PARTS, position, rounded
from sulq.local.formed import FormedRandomizer
from sulq.local.randomizer import interval, rounded_up, usable_epsilon
from sulq.local.received import within
from sulq.local.tails import STEPS, LaplaceMeans, people
from sulq.local.tally import Tallied, Tally, exact_sum, sums_of
from sulq.numbers import Numeric
from sulq.privacy.coins import arithmetic, exp
from sulq.privacy.noise import DiscreteLaplace

FARTHEST = 64


@dataclass(frozen=True, init=False)
class LaplaceReport(Tallied, FormedRandomizer):
    """A number from `low` to `high` plus noise, in steps of the grid from low on.

    Args:
        low: the smallest value that is possible.
        high: the largest value that is possible.
        epsilon: what is promised to the person who reports.

    >>> report = LaplaceReport(0, 100, epsilon=1)
    >>> ages = np.linspace(20, 60, 100_000)
    >>> bool(abs(report.estimate(report.sample(ages)) - 40)[0] < report.radius(100_000, beta=1e-9))
    True
    """

    wire = "laplace"

    low: float
    high: float
    exponent: Fraction
    """ε, exactly: the logarithm of the ratio."""

    def __init__(self, low: float, high: float, epsilon: Numeric) -> None:
        for name, bound in zip(("low", "high"), interval(low, high), strict=True):
            object.__setattr__(self, name, bound)
        object.__setattr__(self, "exponent", usable_epsilon(epsilon))

    @property
    def noise(self) -> DiscreteLaplace:
        return DiscreteLaplace(STEPS / self.exponent)

    @property
    def ratio(self) -> Fraction:
        """e^ε, rounded up in the 58th digit."""
        with arithmetic():
            return Fraction(exp(self.exponent)) * (1 + (self.exponent + 2) / 10**59)

    @property
    def epsilon(self) -> float:
        return rounded_up(self.exponent)

    def sample(self, values: ArrayLike) -> NDArray[np.int64]:
        """A whole number of steps for each number."""
        numbers = np.asarray(values, dtype=np.float64)
        on_grid = rounded(position(numbers, self.low, self.high, STEPS))
        return self.within(on_grid + self.noise.sample(on_grid.size))

    def pmf(self, report: int, value: float) -> Fraction:
        """To fifty digits: the law is irrational."""
        base, part = position(np.array([value]), self.low, self.high, STEPS)
        near, far = (self._chance(int(report), int(base[0]) + step) for step in (0, 1))
        return near + (far - near) * Fraction(int(part[0]), PARTS)

    def tally(self, reports: ArrayLike, item: str = "") -> Tally:
        """The sum of all steps."""
        received = self.within(reports)
        return Tally(item, len(received), np.array([exact_sum(received)], dtype=object))

    def estimate_of(self, tally: Tally) -> NDArray[np.float64]:
        """The mean of the numbers, as an array of one. Its bias is below 10^-25 of the noise."""
        [total] = sums_of(tally, 1, -self.margin, STEPS + self.margin).tolist()
        return np.array([self.low + self._step * float(total) / people(tally.reports)])

    def variance(self, n: int) -> float:
        """The noise's, and a quarter of a squared step for the rounding."""
        return self._step**2 * (self.noise.std**2 + 0.25) / people(n)

    @property
    def tails(self) -> LaplaceMeans:
        return LaplaceMeans(self.exponent, 1, self.high - self.low)

    def radius(self, n: int, beta: float) -> float:
        return self.tails.radius(n, beta)

    def influence(self, n: int) -> float:
        return self._step * (STEPS + 2 * self.margin) / people(n)

    @property
    def _step(self) -> float:
        return (self.high - self.low) / STEPS

    @property
    def margin(self) -> int:
        """How many steps outside the interval a report is, at most."""
        return math.ceil(FARTHEST * self.noise.scale)

    def within(self, reports: ArrayLike) -> NDArray[np.int64]:
        """Reports, none of them too far out."""
        return within(reports, -self.margin, STEPS + self.margin)

    def _chance(self, report: int, on_grid: int) -> Fraction:
        """Pr[on_grid + noise = report]; at the ends also all beyond: p^|k|/(1 + p), and in between
        (1 − p)/(1 + p)·p^|k|."""
        if not -self.margin <= report <= STEPS + self.margin:
            return Fraction(0)
        at_end = report in (-self.margin, STEPS + self.margin)
        p, far = (_power(-Fraction(k) / self.noise.scale) for k in (1, abs(report - on_grid)))
        with arithmetic():
            return Fraction(far * (1 if at_end else 1 - p) / (1 + p))


@lru_cache(maxsize=2**12)
def _power(exponent: Fraction) -> Decimal:
    with arithmetic():
        return exp(exponent)
