"""A few bits about a vector in a box: some coordinates, drawn without looking at the vector, one bit each.

To spend all of ε on one coordinate of d, and count it d times, is better than ε/d on each: Wang et al., 2019,
section IV. At larger ε a few neighbouring coordinates (the last has the first as its neighbour) share it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sulq.errors import QueryError
from sulq.local.draws import PARTS, position, rounded, uniform_below
from sulq.local.formed import FormedRandomizer
from sulq.local.randomizer import codes, interval, logarithm, usable_epsilon
from sulq.local.response import RandomizedResponse
from sulq.local.tails import Bounded, people
from sulq.local.tally import Tallied, Tally, sums_of
from sulq.numbers import Numeric, whole

MOST_COORDINATES = 2**20
MOST_BITS = 16


@dataclass(frozen=True, init=False)
class CoordinateReport(Tallied, FormedRandomizer):
    """A vector with lows ≤ v ≤ highs, reported as first·2^bits + the bits of that and the next coordinates.

    Args:
        lows: the smallest value of each coordinate.
        highs: the largest value of each coordinate.
        epsilon: what is promised to the person who reports.
        bits: how many coordinates a person reports one bit about; ε is divided among them.

    >>> report = CoordinateReport([0, 0, -1], [1, 2, 1], epsilon=1)
    >>> points = np.tile([0.5, 0.5, 0.5], (100_000, 1))
    >>> bool(abs(report.estimate(report.sample(points)) - 0.5).max() < report.radius(100_000, beta=1e-9))
    True
    """

    wire = "coordinates"

    lows: tuple[float, ...]
    highs: tuple[float, ...]
    bits: int
    bit: RandomizedResponse
    """Each bit is randomized with an equal part of ε."""

    def __init__(self, lows: ArrayLike, highs: ArrayLike, epsilon: Numeric, bits: int = 1) -> None:
        bounds = box(lows, highs)
        for name, value in zip(("lows", "highs"), bounds, strict=True):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "bits", whole("bits", bits, 1, min(len(self.lows), MOST_BITS)))
        object.__setattr__(self, "bit", RandomizedResponse(usable_epsilon(epsilon) / self.bits))

    @property
    def ratio(self) -> Fraction:
        return self.bit.ratio**self.bits

    @property
    def exponent(self) -> None:
        return None

    @property
    def epsilon(self) -> float:
        return logarithm(self.ratio)

    def sample(self, values: ArrayLike) -> NDArray[np.int64]:
        """A whole number for each row of d numbers."""
        vectors = np.asarray(values, dtype=np.float64)
        lows, highs = np.array(self.lows), np.array(self.highs)
        people_, first = np.arange(len(vectors)), uniform_below(len(lows), len(vectors))
        reports = first
        for i in range(self.bits):
            which = (first + i) % len(lows)
            at = position(vectors[people_, which], lows[which], highs[which], 1)
            reports = 2 * reports + self.bit.sample(rounded(at))
        return reports

    def pmf(self, report: int, value: ArrayLike) -> Fraction:
        first, sent = divmod(int(report), 2**self.bits)
        ends = position(np.asarray(value, dtype=np.float64), np.array(self.lows), np.array(self.highs), 1)

        def chance(i: int) -> Fraction:
            which, bit = (first + i) % len(self.lows), sent >> (self.bits - 1 - i) & 1
            up = Fraction(int(ends.base[which]) * PARTS + int(ends.part[which]), PARTS)
            return up * self.bit.pmf(bool(bit), True) + (1 - up) * self.bit.pmf(bool(bit), False)

        return prod((chance(i) for i in range(self.bits)), start=Fraction(1, len(self.lows)))

    def tally(self, reports: ArrayLike, item: str = "") -> Tally:
        """Of each coordinate, how many bits are 1 less how many are 0."""
        d = len(self.lows)
        received = codes(reports, d << self.bits)
        first, balance = received >> self.bits, np.zeros(d)
        for i in range(self.bits):
            up = 2.0 * (received >> (self.bits - 1 - i) & 1) - 1
            balance += np.bincount((first + i) % d, weights=up, minlength=d)
        return Tally(item, len(received), balance.astype(np.int64))

    def estimate_of(self, tally: Tally) -> NDArray[np.float64]:
        """The mean vector."""
        balance = sums_of(tally, len(self.lows), -1, 1).astype(np.float64)
        return (np.array(self.lows) + self.highs) / 2 + self._reach * balance / people(tally.reports)

    def variance(self, n: int) -> float:
        """Of the mean of the widest coordinate, if that is the middle, where the variance is largest."""
        return float((self._reach**2).max() * self.bits / len(self.lows)) / people(n)

    @property
    def tails(self) -> Bounded:
        reach = float(self._reach.max())
        beyond = reach + float((np.array(self.highs) - self.lows).max()) / 2
        variances = self._reach**2 * self.bits / len(self.lows)
        each, copies = np.unique(variances, return_counts=True)
        return Bounded(tuple(each.tolist()), tuple(copies.tolist()), beyond, beyond, 2 * reach)

    def radius(self, n: int, beta: float) -> float:
        return self.tails.radius(n, beta)

    def influence(self, n: int) -> float:
        return 2 * float(self._reach.max()) / people(n)

    @property
    def _reach(self) -> NDArray[np.float64]:
        """A bit counts as this far above or below the middle, for each coordinate."""
        halves = (np.array(self.highs) - self.lows) / 2
        return halves * len(self.lows) / self.bits / float(self.bit.support.contrast)


def box(lows: ArrayLike, highs: ArrayLike) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Public bounds of a vector."""
    pairs = list(zip(np.ravel(lows).tolist(), np.ravel(highs).tolist(), strict=False))
    if not np.shape(lows) == np.shape(highs) == (len(pairs),) or not 1 <= len(pairs) <= MOST_COORDINATES:
        raise QueryError("a box needs as many lower as upper bounds, at least one of each")
    bounds = [interval(low, high) for low, high in pairs]
    return tuple(low for low, _ in bounds), tuple(high for _, high in bounds)
