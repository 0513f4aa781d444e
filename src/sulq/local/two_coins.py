"""How far a count of reports strays if it is known who is asked: the exact tails of two binomials' sum.

Of n people whose values are fixed, a have a possibility. The reports that support it are S = Binomial(a, own)
+ Binomial(n − a, other), with mean m. Nobody knows a. `TwoCoins` bounds the chance that |S − m| is more than
d, for every a up to a share of the people.

**One tail.** Let s > 0, k a whole number, and r = (S − k) mod M. If S ≥ k, then e^(s(S − k))·e^(−sr) ≥ 1, and
else it is positive. So its expectation is at least Pr[S ≥ k], whatever s and M are. By Fourier's series on
the whole numbers modulo M it is

    (1/M) Σ_j exp(L(z_j) − z_j·k)·(1 − e^(−sM))/(1 − e^(−z_j)),  z_j = s + 2πi·j/M,  L(z) = ln E[e^(zS)].

With s where L′(s) = k (the root of a quadratic) and M some deviations long, next to nothing is added. About
forty terms do, whatever n is: |exp(L(s + iθ))| ≤ exp(L(s) − v(1 − cos θ)), v the variance of S under the
weights e^(sS), so that beyond v(1 − cos θ) = 38 no float sees the terms.

**All a.** Where k is linear in a, so is each exponent, and the sum G has |G″| ≤ Σ |term|·|slope|². Between
two ends of a cell it is at most the larger end plus an eighth of that, times the length squared.

- Few cells: k = a + c, where c = ⌈m + d − a⌉ falls while a grows. In a cell of a the last c is the smallest,
  and so a bound; cells end where c changes. If all cells are of one a each, all this is exact.
- Many cells: k is m + d + y, and the lower tail ends at m − d − y′, for some y and y′ from 0 to 1. Both are
  whole numbers, so that y + y′ is f = ⌈2d⌉ − 2d or f + 1. In y, too, exponents are linear, and have the slope
  −z. So (0, f) and (f, 0) are the largest, but for what is added: a tail that begins one step farther is
  smaller.

The lower tail is the upper one of n − S.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from sulq.local.tails import Bounded, people
from sulq.privacy.ranges import chance

CELLS = 32
"""So many cells at least. Cells end where c changes if that makes at most five times as many."""
STEEPEST = 340.0
"""The largest s: the square of e^s is still a float."""
ROUNDED = 1e-6
"""What sums of floats are off by is less."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class TwoCoins:
    """Numbers of an estimate that are counts of reports of people who are fixed: their exact tails.

    Args:
        bounded: what else is known of one person's contribution.
        own: how likely a report is to support the possibility that its sender has.
        other: how likely it is to support another.
        shares: for each variance of `bounded`, which part of the people has such a possibility at most.

    >>> bounded = Bounded(variances=(0.75,), copies=(1,), above=1.5, below=1.5, span=2.0)
    >>> round(TwoCoins(bounded, own=0.75, other=0.25, shares=(1.0,)).radius(10_000, 0.05), 4)
    0.017
    """

    bounded: Bounded
    own: float
    other: float
    shares: tuple[float, ...]

    @property
    def variance(self) -> float:
        """The largest variance of one person's contribution to a number."""
        return self.bounded.variance

    @property
    def single(self) -> TwoCoins:
        """The same of one number alone."""
        return replace(self, bounded=self.bounded.single, shares=(max(self.shares),))

    def radius(self, n: int, beta: float) -> float:
        """The smallest t for which no number is off by more, but for chance beta."""
        return _radius(self, people(n), chance(beta))

    def beyond(self, n: int, t: float) -> float:
        """The bound on the probability that some number is off by more than t."""
        steps = t * n * (self.own - self.other)
        # A cell ends with each share, so that what is worst up to there is known.
        shared = np.floor(n * np.array(self.shares) + 1e-9).astype(np.int64)
        most = int(shared.max())
        evenly = np.linspace(0, most, CELLS + 1).astype(np.int64)
        drift = 1 - self.own + self.other
        fine = 2 * drift * most <= 4 * CELLS
        changes = [self._changes(n, side * steps, most) for side in (1, -1)] if fine else []
        last = np.unique(np.concatenate([evenly, shared, *changes]))
        at = np.stack([np.concatenate([[0], last[:-1] + 1]), last]).astype(np.float64)
        if fine:
            mean = n * self.other - at * drift
            above = np.ceil(mean[1] + steps - ROUNDED) - mean
            below = mean - np.floor(mean[0] - steps + ROUNDED)
            apart = None
        else:
            above = below = np.full_like(at, steps)
            apart = max(math.ceil(2 * steps - ROUNDED) - 2 * steps, 0.0)
        missed = max(1 - self.own, 2.0**-53)
        up, bent_up = _upper(n, self.own, self.other, at, above, apart)
        down, bent_down = _upper(n, missed, 1 - self.other, at, below, apart)
        ends = np.maximum(up[0] + down[-1], up[-1] + down[0]).max(axis=0)
        worst = np.maximum.accumulate(ends + bent_up + bent_down)
        each = worst[np.searchsorted(last, shared)]
        return float(each @ np.array(self.bounded.copies, dtype=np.float64)) * (1 + ROUNDED)

    def _changes(self, n: int, steps: float, most: int) -> NDArray[np.int64]:
        """The last a for each least whole number above the mean less a, plus `steps`."""
        drift = 1 - self.own + self.other
        top = n * self.other + steps
        whole = np.arange(math.floor(top - drift * most), math.ceil(top) + 1)
        before = np.ceil((top - whole) / drift - ROUNDED) - 1
        return np.asarray(np.clip(before, 0, most), dtype=np.int64)


@lru_cache(maxsize=4096)
def _radius(coins: TwoCoins, n: int, beta: float) -> float:
    most = max(coins.bounded.above, coins.bounded.below)
    smallest = most * 2.0**-60
    deviations = -NormalDist().inv_cdf(max(beta / 2 / sum(coins.bounded.copies), 1e-300))
    first = min(most, max(smallest, deviations * math.sqrt(coins.variance / n)))
    low = high = first
    wider = 1.05
    while high < most and not coins.beyond(n, high) <= beta:
        low, high, wider = high, min(most, high * wider), wider * wider
    while low == first and coins.beyond(n, low) <= beta and low > smallest:
        high, low = low, low / wider
        first, wider = low, wider * wider
    while high - low > 1e-4 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if coins.beyond(n, middle) <= beta else (middle, high)
    return high * (1 + 1e-9)


def _upper(
    n: int, own: float, other: float, at: Floats, above: Floats, apart: float | None
) -> tuple[list[Floats], Floats]:
    """Bounds on how likely a count is so far above its mean, at both ends of cells; and what to add between.

    Args:
        n: how many people report.
        own: how likely those with the possibility support it.
        other: how likely others support it.
        at: how many have it, at the first and last place of each cell.
        above: how far above the mean, there.
        apart: how much farther it may be in a second bound, if the tail may begin up to 1 farther.
    """
    s = _steepness(n, own, other, at, above).min(axis=0)
    variance = np.maximum(_tilted_variance(n, own, other, at, s).min(axis=0), 1e-300)
    length = 2 * np.ceil(4 * np.sqrt(variance) + 8 / s) + 9
    seen = np.arccos(np.maximum(1 - 38 / variance, -1.0)) / (2 * np.pi)
    place = np.arange(math.ceil((length * seen).max()) + 1)[:, np.newaxis]
    z = s + 2j * np.pi * place / length
    # Each place and its mirror image have the same real part.
    kernel = -np.where(place == 0, 1, 2) * (2 * place < length) / (length * np.expm1(-z))
    rise = np.expm1(z)
    with_it, without = (_log_one_more(p * rise) - p * z for p in (own, other))
    exponents = [a * with_it + (n - a) * without - u * z for a, u in zip(at, above, strict=True)]
    terms = np.stack([kernel * np.exp(exponent) for exponent in exponents])
    slopes = np.abs(exponents[1] - exponents[0]) ** 2
    bounds = [terms.real.sum(axis=1)]
    if apart is not None:
        slopes += np.abs(z) ** 2
        farther = [(terms * np.exp(-y * z)).real.sum(axis=1) for y in (apart, 1.0)]
        bounds = [np.maximum(bounds[0], farther[1]), farther[0]]
    bent = (np.abs(terms).max(axis=0) * slopes).sum(axis=0) / 8
    return [np.clip(bound, 0, 1) for bound in bounds], bent


def _steepness(n: int, own: float, other: float, at: Floats, above: Floats) -> Floats:
    """The s whose weights e^(sS) bring the mean of S to where the tail begins: e^s is a quadratic's root."""
    k = at * own + (n - at) * other + above
    two = own * other * (n - k)
    one = at * own * (1 - other) + (n - at) * other * (1 - own) - k * (own * (1 - other) + other * (1 - own))
    none = -k * (1 - own) * (1 - other)
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.sqrt(np.maximum(one * one - 4 * two * none, 0))
        ratio = np.where(one > 0, -2 * none / (one + root), (root - one) / (2 * two))
        s = np.where(k < n, np.log(np.maximum(ratio, 1e-300)), STEEPEST)
    deviation = np.sqrt(_tilted_variance(n, own, other, at, np.zeros_like(s)))
    return np.minimum(np.maximum(s, 1 / np.maximum(deviation, 1)), STEEPEST)


def _tilted_variance(n: int, own: float, other: float, at: Floats, s: Floats) -> Floats:
    """The variance of S under the weights e^(sS)."""
    chances = (1 / (1 + (1 - p) / p * np.exp(-s)) for p in (own, other))
    with_it, without = (p * (1 - p) for p in chances)
    return np.asarray(at * with_it + (n - at) * without)


def _log_one_more(w: NDArray[np.complex128]) -> NDArray[np.complex128]:
    """ln(1 + w): NumPy's is not exact for a small w that is complex."""
    x, y = w.real, w.imag
    return np.asarray(np.log1p(2 * x + x * x + y * y) / 2 + 1j * np.arctan2(y, 1 + x))
