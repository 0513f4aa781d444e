"""What the randomizers for one of k possibilities have in common: reports that support some of them."""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sulq.local.formed import FormedRandomizer
from sulq.local.randomizer import codes, logarithm
from sulq.local.support import Support
from sulq.local.tally import Tallied, Tally, histogram_of
from sulq.local.two_coins import TwoCoins


class FrequencyReport(Tallied, FormedRandomizer):
    """A report about one of 0, …, k − 1, from which the k frequencies are estimated."""

    k: int

    @property
    @abstractmethod
    def ratio(self) -> Fraction: ...

    @property
    @abstractmethod
    def support(self) -> Support:
        """How likely a report is to support one's own possibility, and another."""

    @abstractmethod
    def sample(self, values: ArrayLike) -> NDArray[Any]:
        """A report for each number from 0 to k − 1."""

    @abstractmethod
    def pmf(self, report: Any, value: int) -> Fraction:
        """How likely this report is for this value."""

    def possible(self, value: int) -> int:
        """The possibility that `sample` takes a value for: what is outside counts as the nearest."""
        return min(max(int(value), 0), self.k - 1)

    @property
    def exponent(self) -> None:
        return None

    @property
    def epsilon(self) -> float:
        return logarithm(self.ratio)

    def variance(self, n: int, frequency: float | None = None) -> float:
        """Of one frequency, exactly; the largest possible if it is not known."""
        return self.support.variance(n, frequency)

    @property
    def tails(self) -> TwoCoins:
        return self.support.contributions(self.k)

    def radius(self, n: int, beta: float) -> float:
        return self.tails.radius(n, beta)

    def influence(self, n: int) -> float:
        return self.support.influence(n)


class NumberedReport(FrequencyReport):
    """One whose report is a single number: 0, …, reports − 1."""

    @property
    @abstractmethod
    def reports(self) -> int:
        """How many different reports there are: 0, …, reports − 1."""

    @abstractmethod
    def sample(self, values: ArrayLike) -> NDArray[np.int64]:
        """A number from 0 to reports − 1 for each number from 0 to k − 1."""

    @property
    @abstractmethod
    def both(self) -> tuple[Fraction, Fraction, Fraction]:
        """The chance to support possibilities a and a + 1: if one is one's own, and at least and at most if
        neither is."""

    @abstractmethod
    def supporting(self, histogram: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many reports support each possibility, from how many there are of each kind (last axis)."""

    def tally(self, reports: ArrayLike, item: str = "") -> Tally:
        """How many reports there are of each kind."""
        received = codes(reports, self.reports)
        return Tally(item, len(received), np.bincount(received, minlength=self.reports))

    def estimate_of(self, tally: Tally) -> NDArray[np.float64]:
        """The k frequencies."""
        return self.support.frequencies(self.supporting(histogram_of(tally, self.reports)), tally.reports)
