"""A group and a vector in a box, together: for sums of vectors by group, as k-means needs them.

The value is one_hot(group) ⊗ v, k·d numbers of which d are not 0. A person is given one coordinate j, drawn
without looking at the value; v_j is rounded at random to an end of its interval; and group and end are told
as one of 2k possibilities. Every report says something about its group's size, those with coordinate j also
about the sum of v_j there.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sulq.local.coordinates import box
from sulq.local.draws import PARTS, position, rounded, uniform_below
from sulq.local.formed import FormedRandomizer
from sulq.local.frequencies import NumberedReport
from sulq.local.kary import MOST_POSSIBILITIES
from sulq.local.onehot import numbered_response
from sulq.local.randomizer import codes
from sulq.local.tails import Bounded, by_frequency, people
from sulq.local.tally import Tallied, Tally, histogram_of
from sulq.numbers import Numeric, whole

Floats = NDArray[np.float64]


@dataclass(frozen=True, init=False)
class KeyedReport(Tallied, FormedRandomizer):
    """One of k groups and a vector with lows ≤ v ≤ highs, reported as one whole number.

    Values are pairs: the groups, and a row of d numbers for each.

    Args:
        groups: how many groups there are: k.
        lows: the smallest value of each coordinate of the vector.
        highs: the largest value of each coordinate of the vector.
        epsilon: what is promised to the person who reports.

    >>> report = KeyedReport(2, [0, 0], [1, 4], epsilon=2)
    >>> groups = np.arange(100_000) % 2
    >>> reports = report.sample((groups, np.array([[1, 2], [0, 4]])[groups]))
    >>> error = report.estimate(reports) - [[0.5, 1], [0, 2]]           # a row for each group
    >>> bool(abs(error).max() < report.radius(100_000, beta=1e-9))
    True
    >>> bool(abs(report.sizes(reports) - 0.5).max() < 0.1)
    True
    """

    wire = "keyed"

    groups: int
    lows: tuple[float, ...]
    highs: tuple[float, ...]
    inner: NumberedReport
    """Reports 2·group + end."""

    def __init__(self, groups: int, lows: ArrayLike, highs: ArrayLike, epsilon: Numeric) -> None:
        object.__setattr__(self, "groups", whole("the number of groups", groups, 1, MOST_POSSIBILITIES // 2))
        for name, value in zip(("lows", "highs"), box(lows, highs), strict=True):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "inner", numbered_response(2 * self.groups, epsilon))

    @property
    def ratio(self) -> Fraction:
        return self.inner.ratio

    @property
    def exponent(self) -> None:
        return None

    @property
    def epsilon(self) -> float:
        return self.inner.epsilon

    def sample(self, values: tuple[ArrayLike, ArrayLike]) -> NDArray[np.int64]:
        """A whole number for each person."""
        groups, vectors = codes(values[0], self.groups), np.asarray(values[1], dtype=np.float64)
        which = uniform_below(len(self.lows), groups.size)
        lows, highs = np.array(self.lows)[which], np.array(self.highs)[which]
        ends = rounded(position(vectors[np.arange(groups.size), which], lows, highs, 1))
        return which * self.inner.reports + self.inner.sample(2 * groups + ends)

    def pmf(self, report: int, value: tuple[int, ArrayLike]) -> Fraction:
        which, kind = divmod(int(report), self.inner.reports)
        number = np.asarray(value[1], dtype=np.float64)[which : which + 1]
        base, part = position(number, self.lows[which], self.highs[which], 1)
        up = Fraction(int(base[0]) * PARTS + int(part[0]), PARTS)
        group = min(max(int(value[0]), 0), self.groups - 1)
        low, high = (self.inner.pmf(kind, 2 * group + end) for end in (0, 1))
        return (up * high + (1 - up) * low) / len(self.lows)

    def tally(self, reports: ArrayLike, item: str = "") -> Tally:
        """How many reports there are of each kind, coordinate by coordinate."""
        received = codes(reports, self._kinds)
        return Tally(item, len(received), np.bincount(received, minlength=self._kinds))

    def estimate_of(self, tally: Tally) -> Floats:
        """The mean of one_hot(group) ⊗ v over all people: k rows of d numbers, the sums by group over n."""
        supporting, n = self._supporting(tally)
        contrast = float(self.inner.support.contrast)
        ends = (supporting[:, 1::2] - supporting[:, 0::2]) / (n * contrast)
        sizes = self._sizes(supporting, n)
        return np.outer(sizes, self._middles) + (len(self.lows) * self._halves[:, np.newaxis] * ends).T

    def sizes(self, reports: ArrayLike) -> Floats:
        """The fraction of the people in each group."""
        return self._sizes(*self._supporting(self.tally(reports)))

    def variance(self, n: int) -> float:
        """Of one number, at most: people may all be in its group, or none."""
        return float(max(max(pair) for pair in self._variances)) / people(n)

    @property
    def tails(self) -> Bounded:
        absent, present = (max(pair[i] for pair in self._variances) for i in (0, 1))
        variances, copies = by_frequency(self.groups, absent, present)
        d = len(self.lows)
        extremes = [self._extremes(j) for j in range(d)]
        return Bounded(
            variances,
            tuple(d * copy for copy in copies),
            above=max(high - min(0.0, self.lows[j]) for j, (_, high) in enumerate(extremes)),
            below=max(max(0.0, self.highs[j]) - low for j, (low, _) in enumerate(extremes)),
            span=max(high - low for low, high in extremes),
        )

    def radius(self, n: int, beta: float) -> float:
        return self.tails.radius(n, beta)

    def influence(self, n: int) -> float:
        return max(high - low for low, high in map(self._extremes, range(len(self.lows)))) / people(n)

    @property
    def _middles(self) -> Floats:
        return (np.array(self.lows) + self.highs) / 2

    @property
    def _halves(self) -> Floats:
        return (np.array(self.highs) - self.lows) / 2

    @property
    def _kinds(self) -> int:
        """How many different reports there are."""
        return len(self.lows) * self.inner.reports

    def _supporting(self, tally: Tally) -> tuple[NDArray[np.int64], int]:
        """How many reports about each coordinate support each of the 2k possibilities, and how many there
        are."""
        histogram = histogram_of(tally, self._kinds)
        return self.inner.supporting(histogram.reshape(len(self.lows), -1)), people(tally.reports)

    def _sizes(self, supporting: NDArray[np.int64], n: int) -> Floats:
        cells = self.inner.support.frequencies(supporting.sum(axis=0), n)
        return np.asarray(cells[0::2] + cells[1::2])

    def _extremes(self, j: int) -> tuple[float, float]:
        """The least and the most that a report can count for a number of coordinate j."""
        other, contrast = float(self.inner.support.other), float(self.inner.support.contrast)
        middle, half = float(self._middles[j]), float(self._halves[j])
        counts = [
            (middle * (low + high - 2 * other) + about * len(self.lows) * half * (high - low)) / contrast
            for low, high, about in product((0, 1), repeat=3)
        ]
        return min(counts), max(counts)

    @property
    def _variances(self) -> list[tuple[float, float]]:
        """The variance of a person's contribution to a number of each coordinate: of one who is not in the
        group, and at most of one who is.

        With supports I₀, I₁ of the group's two possibilities, whose chances are a and b and both's is c, the
        contribution is middle·(I₀ + I₁ − 2·other) + half·d·[j is drawn]·(I₁ − I₀), over the contrast. The
        second part's square has the expectation half²·d·(a + b − 2c); the product of the two parts has
        middle·half·(1 − 2·other)·(b − a), since (I₀ + I₁)(I₁ − I₀) = I₁ − I₀.
        """
        p, q = float(self.inner.support.own), float(self.inner.support.other)
        with_own, least, most = (float(p) for p in self.inner.both)
        contrast, d = p - q, len(self.lows)
        variances = []
        for middle, half in zip(self._middles, self._halves, strict=True):
            # What else a person tells, by the coordinate drawn, may change c: the first part is for all of
            # them, the second for this one.
            of_all, of_this = 2 * q + 2 * most - 4 * q**2, 2 * q - 2 * least
            absent = middle**2 * of_all + half**2 * d * of_this
            sum_ = p * (1 - p) + q * (1 - q) + 2 * (with_own - p * q)
            # The product of the parts less that of their expectations, where the number is an end.
            cross = 2 * abs(middle * half) * contrast * abs(1 - 2 * q - contrast)
            present = middle**2 * sum_ + half**2 * d * (p + q - 2 * with_own) + cross
            variances.append((absent / contrast**2, present / contrast**2))
        return variances
