"""Randomized response: tell the truth, mostly.

Warner, "Randomized Response: A Survey Technique for Eliminating Evasive Answer Bias", 1965.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sulq.local.draws import ONE, below
from sulq.local.formed import FormedRandomizer
from sulq.local.randomizer import chance_to_lie, codes, logarithm, usable_epsilon
from sulq.local.support import Support
from sulq.local.tally import Tallied, Tally, counts_of
from sulq.local.two_coins import TwoCoins
from sulq.numbers import Numeric


@dataclass(frozen=True, init=False)
class RandomizedResponse(Tallied, FormedRandomizer):
    """A truth value, reported with the probability e^ε/(1 + e^ε) as it is, and else as the other one.

    Args:
        epsilon: what is promised to the person who reports.

    >>> warner = RandomizedResponse(epsilon=1)
    >>> warner.epsilon, float(warner.pmf(True, True))
    (1.0, 0.7310585786300049)
    >>> reports = warner.sample([True] * 30_000 + [False] * 70_000)
    >>> abs(warner.estimate(reports)[0] - 0.3) < warner.radius(100_000, beta=1e-9)
    np.True_
    """

    wire = "response"

    lies: int
    """How often the report is a lie, in steps of 2^-64."""

    def __init__(self, epsilon: Numeric) -> None:
        object.__setattr__(self, "lies", chance_to_lie(usable_epsilon(epsilon)))

    @property
    def support(self) -> Support:
        return Support(Fraction(ONE - self.lies, ONE), Fraction(self.lies, ONE))

    @property
    def ratio(self) -> Fraction:
        return Fraction(ONE - self.lies, self.lies)

    @property
    def exponent(self) -> None:
        return None

    @property
    def epsilon(self) -> float:
        return logarithm(self.ratio)

    def sample(self, values: ArrayLike) -> NDArray[np.bool_]:
        """A truth value for each truth value."""
        truths = np.asarray(values, dtype=bool)
        return np.asarray(below(self.lies, truths.size).reshape(truths.shape) ^ truths)

    def pmf(self, report: bool, value: bool) -> Fraction:
        return self.support.own if bool(report) == bool(value) else self.support.other

    def tally(self, reports: ArrayLike, item: str = "") -> Tally:
        """How many reports are true."""
        received = codes(reports, 2)
        return Tally(item, len(received), np.array([np.count_nonzero(received)]))

    def estimate_of(self, tally: Tally) -> NDArray[np.float64]:
        """The fraction of people whose value is true, as an array of one number."""
        return self.support.frequencies(counts_of(tally, 1), tally.reports)

    def variance(self, n: int) -> float:
        """e^ε/(e^ε − 1)²/n, whatever the values are."""
        return self.support.variance(n, None)

    @property
    def tails(self) -> TwoCoins:
        return self.support.contributions(1)

    def radius(self, n: int, beta: float) -> float:
        return self.tails.radius(n, beta)

    def influence(self, n: int) -> float:
        return self.support.influence(n)
