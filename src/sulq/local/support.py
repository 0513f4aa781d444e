"""Frequencies from reports that support some possibilities and not others.

A report supports the reporter's own possibility with probability `own`, and each other one with probability
`other`. If c of n reports support a possibility, (c/n − other)/(own − other) is its frequency, without bias:
Wang, Blocki, Li and Jha, "Locally Differentially Private Protocols for Frequency Estimation", 2017.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sulq.local.tails import Bounded, Counted, by_frequency, people
from sulq.local.two_coins import TwoCoins


@dataclass(frozen=True)
class Support:
    """How likely a report is to support one's own possibility, and another.

    >>> from fractions import Fraction
    >>> support = Support(own=Fraction(3, 4), other=Fraction(1, 4))
    >>> support.frequencies(np.array([50, 75]), 100).tolist()
    [0.5, 1.0]
    >>> support.variance(100, frequency=0), support.influence(100)
    (0.0075, 0.02)
    """

    own: Fraction
    other: Fraction

    @property
    def contrast(self) -> Fraction:
        return self.own - self.other

    def frequencies(self, supporting: NDArray[np.int64], n: int) -> NDArray[np.float64]:
        """The frequency of each possibility, from how many of n reports support it."""
        return np.asarray((supporting / people(n) - float(self.other)) / float(self.contrast))

    def variance(self, n: int, frequency: float | None) -> float:
        """The variance of a frequency, exactly; the largest there can be if it is not known."""
        absent, present = _variances(self.own, self.other)
        each = max(absent, present) if frequency is None else absent + frequency * (present - absent)
        return each / people(n)

    def contributions(self, k: int) -> TwoCoins:
        """One person's contributions to the frequencies of k possibilities, if it is known who is asked."""
        variances, copies = by_frequency(k, self.variance(1, 0), self.variance(1, 1))
        bounded = Bounded(
            variances,
            copies,
            above=float(max(1 - self.other, 1 - self.own) / self.contrast),
            below=float(max(self.other, self.own) / self.contrast),
            span=float(1 / self.contrast),
        )
        return TwoCoins(bounded, float(self.own), float(self.other), _shares(bounded))

    def counted(self, bounded: Bounded, width: float = 1.0) -> Counted:
        """The same of people drawn by lot, or of bits whose chances are between the two.

        Args:
            bounded: what else is known of one person's contributions, as `by_frequency` orders them.
            width: what an estimate is if everyone has the possibility, less what it is if nobody has.
        """
        return Counted(bounded, float(self.own), float(self.other), _shares(bounded), width)

    def influence(self, n: int) -> float:
        """How far one report among n can move a frequency."""
        return float(1 / self.contrast) / people(n)


def _shares(bounded: Bounded) -> tuple[float, ...]:
    """Which part of the people has a possibility at most, in the order of `by_frequency`."""
    return tuple(0.5**place for place in range(len(bounded.copies)))


@lru_cache(maxsize=1024)
def _variances(p: Fraction, q: Fraction) -> tuple[float, float]:
    """Of the frequency of a possibility that nobody has, and of one that everybody has, from one report."""
    absent, present = (float(chance * (1 - chance) / (p - q) ** 2) for chance in (q, p))
    return absent, present
