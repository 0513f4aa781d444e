"""One bit about a real number: round it to an end of its interval at random, and tell that end, mostly.

Duchi, Jordan and Wainwright, "Minimax Optimal Procedures for Locally Private Estimation", 2018, in one
dimension. What the rounding does is known to nobody, and what is told of it has randomized response's ratio.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sulq.local.draws import PARTS, position, rounded
from sulq.local.formed import FormedRandomizer
from sulq.local.randomizer import interval
from sulq.local.response import RandomizedResponse
from sulq.local.tails import Bounded, Counted, people
from sulq.local.tally import Tallied, Tally
from sulq.numbers import Numeric


@dataclass(frozen=True, init=False)
class OneBitReport(Tallied, FormedRandomizer):
    """A number from `low` to `high`, reported as one bit. The best there is for small ε.

    Args:
        low: the smallest value that is possible.
        high: the largest value that is possible.
        epsilon: what is promised to the person who reports.

    >>> report = OneBitReport(0, 100, epsilon=1)
    >>> ages = np.linspace(20, 60, 100_000)
    >>> bool(abs(report.estimate(report.sample(ages)) - 40)[0] < report.radius(100_000, beta=1e-9))
    True
    """

    wire = "one bit"

    low: float
    high: float
    bit: RandomizedResponse

    def __init__(self, low: float, high: float, epsilon: Numeric) -> None:
        for name, bound in zip(("low", "high"), interval(low, high), strict=True):
            object.__setattr__(self, name, bound)
        object.__setattr__(self, "bit", RandomizedResponse(epsilon))

    @property
    def ratio(self) -> Fraction:
        return self.bit.ratio

    @property
    def exponent(self) -> None:
        return None

    @property
    def epsilon(self) -> float:
        return self.bit.epsilon

    def sample(self, values: ArrayLike) -> NDArray[np.bool_]:
        """A bit for each number: which end."""
        numbers = np.asarray(values, dtype=np.float64)
        return self.bit.sample(rounded(position(numbers, self.low, self.high, 1)))

    def pmf(self, report: bool, value: float) -> Fraction:
        base, part = position(np.array([value]), self.low, self.high, 1)
        up = Fraction(int(base[0]) * PARTS + int(part[0]), PARTS)
        return up * self.bit.pmf(report, True) + (1 - up) * self.bit.pmf(report, False)

    def tally(self, reports: ArrayLike, item: str = "") -> Tally:
        """How many reports are the upper end."""
        return self.bit.tally(reports, item)

    def estimate_of(self, tally: Tally) -> NDArray[np.float64]:
        """The mean of the numbers, as an array of one."""
        return self.low + (self.high - self.low) * self.bit.estimate_of(tally)

    def variance(self, n: int, value: float | None = None) -> float:
        """If everyone has this value, exactly; if it is not known, the largest possible: the middle's."""
        off = 0.0 if value is None else value - (self.low + self.high) / 2
        return (self._reach**2 - off**2) / people(n)

    @property
    def tails(self) -> Counted:
        width = self.high - self.low
        beyond = self._reach + width / 2
        bounded = Bounded((self.variance(1),), (1,), beyond, beyond, 2 * self._reach)
        return self.bit.support.counted(bounded, width)

    def radius(self, n: int, beta: float) -> float:
        return self.tails.radius(n, beta)

    def influence(self, n: int) -> float:
        return 2 * self._reach / people(n)

    @property
    def _reach(self) -> float:
        """A report counts as this far above or below the middle."""
        return (self.high - self.low) / 2 / float(self.bit.support.contrast)
