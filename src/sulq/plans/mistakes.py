"""How likely it is that a decision made from an answer comes out wrong: exact tails, or Chernoff's minimised.

Rows are independent draws. A decision compares an answer with a bound, and is wrong if what the rows add up
to, together with the noise, is on the wrong side: if Σ uᵢ + N ≥ 0, for uᵢ the value of a row less the bound
(or the bound less the value). No tolerance is divided between rows and noise: their sum is bounded as one.

Where rows have two values, how many have the second is binomial, and the chance is the sum over that number
of its probability times the noise's tail. Else, for every s ≥ 0 for which the moments exist,

    Pr[Σ uᵢ + N ≥ 0] ≤ E[exp(s·u)]^n · E[exp(s·N)].

One Laplace variable on a grid has, with p = e^(−1/scale), Pr[N ≥ x] = p^x/(1 + p) for x > 0; for x ≤ 0 it is
at most that with any smaller exponent, plus p/(1 + p). So its moments are not needed:

    Pr[Σ uᵢ + N ≥ 0] ≤ 1/(1 + p) · min over s ≤ 1/scale of E[exp(s·u)]^n + p/(1 + p) · min over s of the same.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sulq.privacy.noise import DiscreteLaplace

Law = tuple[tuple[float, float], ...]
"""Values of a row, each with its probability."""
Floats = NDArray[np.float64]
BINS = 2**14
"""Numbers of rows to sum over, together with noise; more are put into so many bins."""
MOST_SUMMED = 2**14
"""Terms of a binomial tail before the rest is bounded by a geometric series."""


@dataclass(frozen=True)
class Case:
    """Rows whose values have a law, and an answer that is wrong on one side of a bound.

    Args:
        law: the values of a row, each with its probability.
        bound: what the answer is compared with.
        above: whether the answer is wrong above the bound; else it is wrong below.
        exact: whether the law is the worst there can be for the chance itself, and not only for its moments.

    >>> case = Case(law=((0.0, 0.9), (1.0, 0.1)), bound=0.2, above=True)
    >>> case.mean, f"{wrong(100, case):.4f}", f"{wrong(200, case):.5f}"
    (0.1, '0.0020', '0.00002')
    """

    law: Law
    bound: float
    above: bool
    exact: bool = True

    @property
    def mean(self) -> float:
        return sum(value * chance for value, chance in self.law)

    @property
    def variance(self) -> float:
        return sum(value**2 * chance for value, chance in self.law) - self.mean**2

    @property
    def excess(self) -> Law:
        """How far a row's value is on the wrong side, for all values that there can be."""
        sign = 1 if self.above else -1
        return tuple((sign * (value - self.bound), chance) for value, chance in self.law if chance)


@dataclass(frozen=True)
class Blur:
    """Noise on a sum, in natural units: one or two independent draws, each a multiple of `step`."""

    noise: DiscreteLaplace
    step: float
    copies: Literal[1, 2] = 1

    def beyond(self, x: Floats) -> Floats:
        """Pr[N ≥ x] at most: on the steps exactly, and between them it falls as from step to step."""
        steps = x / self.step - np.abs(x / self.step) * 1e-12
        # Below 0 it is 1 − Pr[N ≥ 1 − x], because the law is symmetric.
        out = np.where(steps >= 0, steps, 1 - steps)
        p, q = math.exp(-self._rate), -math.expm1(-self._rate)
        tail = np.exp(-out * self._rate) / (1 + p)
        if self.copies == 2:
            # Pr[N = k] = (q/(1 + p))²·p^|k|·(|k| + (1 + p²)/(1 − p²)), summed from x on.
            middle = (1 + p * p) / (q * (1 + p))
            tail *= q**2 / (1 + p) * ((out + middle) / q + p / q**2)
        return np.where(steps >= 0, np.minimum(tail, 1.0), 1 - tail)

    def log_moments(self, s: float) -> float:
        """ln E[exp(s·N)], for s < `steepest`."""
        both = math.expm1(s * self.step - self._rate) * math.expm1(-s * self.step - self._rate)
        return self.copies * (2 * math.log(-math.expm1(-self._rate)) - math.log(both))

    @property
    def steepest(self) -> float:
        """From this s on there are no moments."""
        return self._rate / self.step

    @property
    def _rate(self) -> float:
        return 1 / float(self.noise.scale)


@lru_cache(maxsize=1024)
def wrong(n: int, case: Case, blur: Blur | None = None) -> float:
    """The chance, or a bound on it, that the answer from n rows is on the wrong side.

    >>> nothing = Case(law=((0.0, 1.0),), bound=0.01, above=True)
    >>> wrong(1000, nothing), round(wrong(1000, nothing, Blur(DiscreteLaplace(2), step=1.0)), 5)
    (0.0, 0.00419)
    """
    law = case.excess
    if case.exact and len(law) <= 2:
        return _counted(n, law) if blur is None else _summed(n, law, blur)
    rows = _moments(n, law)
    alone = math.exp(min(0.0, least(rows, math.inf)))
    if blur is None:
        return alone
    if blur.copies == 1:
        p = math.exp(-1 / float(blur.noise.scale))
        together = math.exp(min(0.0, least(rows, blur.steepest)))
        return (together + p * alone) / (1 + p)
    return math.exp(min(0.0, least(lambda s: rows(s) + blur.log_moments(s), blur.steepest)))


def binomial_beyond(n: int, p: float, k: float, above: bool) -> float:
    """Pr[B ≥ k] for B of n trials of chance p, at most; with `above=False`, Pr[B ≤ k].

    Where k is no whole number it is not rounded up, so that with k growing as n does, more trials are never
    worse. Of very many terms the last are a geometric series: each is at most r times the one before it,
    r = (n − k)p/((k + 1)(1 − p)).

    >>> round(binomial_beyond(100, 0.5, 65, above=True), 5), round(binomial_beyond(100, 0.5, 35, False), 5)
    (0.00176, 0.00176)
    """
    if not above:
        return binomial_beyond(n, 1 - p, n - k, above=True)
    if k > n:
        return 0.0
    first = n if k > n - 1 else k
    if first <= n * p:
        return 1.0
    numbers = first + np.arange(min(MOST_SUMMED, math.floor(n - first) + 1), dtype=np.float64)
    terms = binomial_masses(n, p, numbers)
    last = float(numbers[-1])
    shrink = (n - last) * p / ((last + 1) * (1 - p))
    rest = float(terms[-1]) * shrink / (1 - shrink) if n - last >= 1 else 0.0
    return min(1.0, float(terms.sum()) + rest)


def least(f: Callable[[float], float], steepest: float) -> float:
    """The least of a convex function of s over 0 ≤ s < steepest; any s gives a bound.

    >>> least(lambda s: s * s - 2 * s, math.inf)
    -1.0
    """
    end = steepest * (1 - 1e-9)
    high = min(1.0, end)
    # Without an end, look for one: the function falls from 0 to its least, and rises from there on.
    while high < end and high < 1e12 and f(min(2 * high, end)) < f(high):
        high = min(2 * high, end)
    low, high = 0.0, min(2 * high, end)
    for _ in range(100):
        left, right = (2 * low + high) / 3, (low + 2 * high) / 3
        low, high = (low, right) if f(left) <= f(right) else (left, high)
    return min(f((low + high) / 2), f(high))


def _moments(n: int, law: Law) -> Callable[[float], float]:
    """n·ln E[exp(s·u)]; where a value overflows, it is no bound."""

    def log_moments(s: float) -> float:
        largest = max(value for value, _ in law)
        if s * largest > 600:
            return math.inf
        above = sum(chance * math.expm1(s * value) for value, chance in law)
        if above > -0.5:
            return n * math.log1p(above)
        mean = sum(chance * math.exp(s * value) for value, chance in law)
        return n * math.log(max(mean, sys.float_info.min))

    return log_moments


def _counted(n: int, law: Law) -> float:
    """The chance without noise, for rows of at most two values."""
    if len(law) == 1:
        return float(law[0][0] >= 0)
    (first, _), (second, p) = law
    return binomial_beyond(n, p, n * first / (first - second), above=second > first)


def _summed(n: int, law: Law, blur: Blur) -> float:
    """The chance for rows of at most two values: over how many have the second."""
    if len(law) == 1:
        return float(blur.beyond(np.array([-n * law[0][0]]))[0])
    (first, _), (second, p) = law
    variance = n * p * (1 - p)
    reach = 9 * math.sqrt(variance) + 50
    low, high = max(0, math.floor(n * p - reach)), min(n, math.ceil(n * p + reach))
    ends = binomial_bins(n, p, low, high, BINS)
    tails = [blur.beyond(-(n * first + numbers * (second - first))) for numbers in (ends.first, ends.last)]
    summed = float(ends.masses @ np.maximum(*tails))
    # Bernstein, for the numbers left out.
    left_out = 2 * math.exp(-(reach**2) / (2 * variance + 2 * reach / 3)) if high - low < n else 0.0
    return min(1.0, summed + left_out)


@dataclass(frozen=True)
class BinMasses:
    """The first and the last number of each bin, and how likely its numbers are, from above."""

    first: Floats
    last: Floats
    masses: Floats


def binomial_bins(n: int, p: float, low: int, high: int, most: int) -> BinMasses:
    """The numbers from `low` to `high` of n trials of chance p, in at most so many bins.

    The logarithm of a mass is concave. So a number j away from the middle of a bin has at most the middle's
    mass times e^(g·j), g its slope there, and w numbers at most w·cosh(g·(w − 1)/2) times the middle's mass.
    With Pr[B = x] by the Gamma function, ln(x + 1/2) < ψ(x + 1) < ln(x + 1) bounds the slope.

    >>> bins = binomial_bins(10**12, 0.5, 499_995_000_000, 500_005_000_000, 1000)
    >>> bins.first.size, f"{bins.masses.sum():.4f}"
    (1000, '1.0001')
    """
    width = -(-(high - low + 1) // most)
    first = np.arange(low, high + 1, width, dtype=np.float64)
    last = np.minimum(first + (width - 1), high)
    middle, wide = (first + last) / 2, last - first + 1
    odds = math.log(p) - math.log1p(-p)
    rises = np.log((n - middle + 1) / (middle + 0.5)) + odds
    falls = np.log((middle + 1) / (n - middle + 0.5)) - odds
    slope = np.maximum(rises, falls)
    return BinMasses(first, last, binomial_masses(n, p, middle) * wide * np.cosh(slope * (wide - 1) / 2))


def binomial_masses(n: int, p: float, k: Floats) -> Floats:
    """Pr[B = k], from above by less than one in a thousand: Stirling's formula with Robbins' bounds."""
    inside = (k > 0) & (k < n)
    at = np.where(inside, k, 0.5 * n)
    share = at / n
    away = share - p
    with np.errstate(over="ignore"):  # of a chance near the smallest float nothing is left
        divergence = share * np.log1p(away / p) + (1 - share) * np.log1p(-away / (1 - p))
    stirling = 1 / (12 * n) - 1 / (12 * at + 1) - 1 / (12 * (n - at) + 1)
    stirlings = np.exp(-n * divergence + stirling) * np.sqrt(n / (2 * math.pi * at * (n - at)))
    ends = np.exp(n * (math.log1p(-p) if p < 1 else -math.inf)), np.exp(n * math.log(p))
    return np.asarray(np.where(inside, stirlings, np.where(k <= 0, *ends)))
