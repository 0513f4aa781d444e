"""Randomized response among k possibilities: the truth, or any other, all equally likely."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sulq.local.draws import ONE, below, uniform_below
from sulq.local.frequencies import NumberedReport
from sulq.local.randomizer import chance_to_lie, codes, usable_epsilon
from sulq.local.support import Support
from sulq.numbers import Numeric, whole

MOST_POSSIBILITIES = 2**20


@dataclass(frozen=True, init=False)
class KaryResponse(NumberedReport):
    """One of 0, …, k − 1, reported with the probability e^ε/(e^ε + k − 1) as it is. Best where k < 3e^ε + 2.

    Args:
        k: how many possibilities there are.
        epsilon: what is promised to the person who reports.

    >>> response = KaryResponse(4, epsilon=2)
    >>> [float(round(response.pmf(report, 1), 3)) for report in range(4)]
    [0.096, 0.711, 0.096, 0.096]
    >>> reports = response.sample(np.arange(100_000) % 2)
    >>> bool(abs(response.estimate(reports) - [0.5, 0.5, 0, 0]).max() < response.radius(100_000, beta=1e-9))
    True
    """

    wire = "kary"

    k: int
    lies: int
    """How often the report is a lie, in steps of 2^-64."""

    def __init__(self, k: int, epsilon: Numeric) -> None:
        object.__setattr__(self, "k", whole("the number of possibilities", k, 2, MOST_POSSIBILITIES))
        object.__setattr__(self, "lies", chance_to_lie(usable_epsilon(epsilon), self.k - 1))

    @property
    def reports(self) -> int:
        """How many different reports there are: 0, …, reports − 1."""
        return self.k

    @property
    def support(self) -> Support:
        """A report supports the possibility that it names."""
        return Support(Fraction(ONE - self.lies, ONE), Fraction(self.lies, ONE * (self.k - 1)))

    @property
    def both(self) -> tuple[Fraction, Fraction, Fraction]:
        """The chance to support possibilities a and a + 1: if one is one's own, and at least and at most if
        neither is. A report supports only one."""
        return Fraction(0), Fraction(0), Fraction(0)

    @property
    def ratio(self) -> Fraction:
        return self.support.own / self.support.other

    def sample(self, values: ArrayLike) -> NDArray[np.int64]:
        """A number from 0 to k − 1 for each such number."""
        truths = codes(values, self.k)
        step = below(self.lies, truths.size) * (1 + uniform_below(self.k - 1, truths.size))
        moved = truths + step
        return moved - self.k * (moved >= self.k)

    def pmf(self, report: int, value: int) -> Fraction:
        return self.support.own if int(report) == self.possible(value) else self.support.other

    def supporting(self, histogram: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many reports support each possibility, from how many there are of each kind (last axis)."""
        return histogram
