"""How far the mean of n reports strays, for finite n: no normal approximation.

A number of an estimate is a mean of n independent contributions. Of each it is known how far above and below
its expectation it can be, how wide its range is, and the variance on average. Two of Hoeffding's bounds
("Probability Inequalities for Sums of Bounded Random Variables", 1963) hold at once, and the smaller counts:

- Theorem 3: Pr[mean − expectation ≥ t] ≤ exp(−n·KL(a ‖ b)), b = v/(u² + v), a = (v + ut)/(u² + v), for
  variance v and contributions at most u above their expectation. No exponential bound from v and u alone is
  better: it is Chernoff's, at its minimum, for the worst such law.
- Theorem 2: Pr[mean − expectation ≥ t] ≤ exp(−2nt²/w²), for a range of width w.

Both directions and all numbers of the estimate are summed (union bound), and t is found by bisection.

Where a number is a count S of reports that support it, more is known (`Counted`; and all of it, if nobody is
drawn by lot and a report has one of two chances: `two_coins.py`):

- S is a sum of n independent bits, whoever reports. With the people fixed that is so by itself. If they are
  drawn by lot, without replacement, the generating function of S is a mean over all cohorts of Π(1 − p_i +
  p_i·z): an elementary symmetric polynomial in linear forms with coefficients that are not negative. Those
  are stable, so all its zeros are real and at most 0, and that makes it the generating function of a sum of
  independent bits.
- Beyond one step from its mean n·p, such a sum has lighter tails than Binomial(n, p): Hoeffding, "On the
  Distribution of the Number of Successes in Independent Trials", 1956.
- Pr[Binomial(n, p) ≥ k] ≤ Φ(−√(2n·KL((k − 1)/n ‖ p))) for k − 1 > np: Zubkov and Serov, "A complete proof of
  universal inequalities for the distribution function of the binomial law", 2013. That is a normal tail,
  where Chernoff's bound lacks the factor that makes it one.
- Which p it is nobody knows. KL(p + y ‖ p) is convex in p and has its least between (1 − y)/2 and 1/2, where
  it is at least 2y² (Pinsker); an interval of p that lies on one side of these has it at its end.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sulq.errors import QueryError
from sulq.privacy.noise import DiscreteLaplace
from sulq.privacy.ranges import chance

MANY = 1000
"""From so many people on, one step of a count is nothing beside its deviation."""
STEPS = 2**12
"""The grid of reports with Laplace noise: rounding to it adds at most 2^-26 of the interval's square."""


@dataclass(frozen=True)
class Bounded:
    """What is known of one person's contribution to each number of an estimate, where it has bounds.

    Args:
        variances: bounds on the variance, on average over the people.
        copies: how many numbers each of these variances is for.
        above: how far above its expectation a contribution can be.
        below: how far below.
        span: how wide the range of a contribution is.

    >>> coin = Bounded(variances=(0.25,), copies=(1,), above=0.5, below=0.5, span=1.0)
    >>> round(coin.radius(10_000, 0.05), 4)
    0.0136
    """

    variances: tuple[float, ...]
    copies: tuple[int, ...]
    above: float
    below: float
    span: float

    @property
    def variance(self) -> float:
        """The largest variance of one person's contribution to a number."""
        return max(self.variances)

    @property
    def single(self) -> Bounded:
        """The same of one number alone, that with the largest variance."""
        return replace(self, variances=(self.variance,), copies=(1,))

    def radius(self, n: int, beta: float) -> float:
        """The smallest t for which the bounds promise that no number is off by more, but for chance beta."""
        people(n)
        chance(beta)
        low, high = 0.0, max(self.above, self.below)
        # Beyond `high` nothing can be; sixty halvings leave less than the rounding that is added in the end.
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (low, middle) if beyond(n, middle, self) <= beta else (middle, high)
        return high * (1 + 1e-9)


@dataclass(frozen=True)
class LaplaceMeans:
    """One person's contribution where it has no bounds: a report, with Laplace noise, of one of m numbers.

    A number c off the middle contributes m·(c + noise) with the chance 1/m, else 0. The logarithm of
    E[exp(s·(contribution − c))] is convex in c, so the largest is that of an end, c = ±1/2. Chernoff's bound
    is minimised over s.

    Args:
        epsilon: the ε of a report, exactly.
        numbers: m, of how many numbers a person reports one.
        width: the length of the widest number's interval.
    """

    epsilon: Fraction
    numbers: int
    width: float

    @property
    def variance(self) -> float:
        """Of the widest number, where it is at an end: there, being asked or not matters most."""
        noise = (self.noise.std**2 + 0.25) / STEPS**2
        return self.width**2 * self.numbers * (noise + 0.25 * (1 - 1 / self.numbers))

    @property
    def single(self) -> LaplaceMeans:
        """The same: for one number alone the bound is a little wider than it need be."""
        return self

    @property
    def noise(self) -> DiscreteLaplace:
        return DiscreteLaplace(STEPS / self.epsilon)

    def radius(self, n: int, beta: float) -> float:
        m, log_odds = self.numbers, math.log(2 * self.numbers / chance(beta)) / people(n)

        def reach(s: float) -> float:
            # In units of the interval; a number's own report is multiplied by m.
            log_moments = self._log_moments(s)
            up, down = (math.log1p(math.expm1(log_moments + s * c) / m) - s * c / m for c in (0.5, -0.5))
            return m * (max(up, down) + log_odds) / s

        return self.width * least(reach, float(self.epsilon))

    def _log_moments(self, s: float) -> float:
        """ln E[exp(s·error)] at most, for an error in units of the interval and 0 < s < ε.

        The noise, in steps, has (1 − p)²/((1 − p·e^s)(1 − p·e^-s)), p = e^(−1/scale). A rounding by less than
        a step has at most e^(s²/8) (Hoeffding's lemma).
        """
        per_step, rate = s / STEPS, 1 / float(self.noise.scale)
        of_noise = 2 * math.log(-math.expm1(-rate)) - math.log(
            math.expm1(per_step - rate) * math.expm1(-per_step - rate)
        )
        return of_noise + per_step**2 / 8


@dataclass(frozen=True)
class Counted:
    """Numbers of an estimate that are counts of reports: as good as normal tails, for every n.

    Args:
        bounded: what else is known of one person's contribution.
        own: how likely a report is to support the possibility that its sender has.
        other: how likely it is to support another.
        shares: for each variance of `bounded`, which part of the people has such a possibility at most.
        width: what an estimate is if everyone has the possibility, less what it is if nobody has.

    >>> coin = Bounded(variances=(1.0,), copies=(1,), above=1.5, below=1.5, span=2.0)
    >>> bits = Counted(coin, own=0.75, other=0.25, shares=(1.0,), width=1.0)
    >>> round(coin.radius(10_000, 0.05), 4), round(bits.radius(10_000, 0.05), 4)
    (0.0272, 0.0198)
    """

    bounded: Bounded
    own: float
    other: float
    shares: tuple[float, ...]
    width: float

    @property
    def variance(self) -> float:
        """The largest variance of one person's contribution to a number."""
        return self.bounded.variance

    @property
    def single(self) -> Counted:
        """The same of one number alone."""
        return replace(self, bounded=self.bounded.single, shares=(max(self.shares),))

    def radius(self, n: int, beta: float) -> float:
        """The smallest t for which the bounds promise that no number is off by more, but for chance beta."""
        chance(beta)
        # With many people and no smaller variance, normal tails are the shorter ones.
        widest = (self.width / (self.own - self.other)) ** 2 / 4
        normal = people(n) >= MANY and self.variance >= widest * (1 - 1e-9)
        low = 0.0
        high = max(self.bounded.above, self.bounded.below) if normal else self.bounded.radius(n, beta)
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (low, middle) if self.beyond(n, middle) <= beta else (middle, high)
        return high * (1 + 1e-9)

    def beyond(self, n: int, t: float) -> float:
        """The bound on the probability that some number is off by more than t."""
        step = t * (self.own - self.other) / self.width - 1 / n
        if step <= 0:
            return 1.0
        chance_of_any = 0.0
        for share, copies in zip(self.shares, self.bounded.copies, strict=True):
            most = self.other + (self.own - self.other) * share
            up, down = _normal(n, step, self.other, most), _normal(n, step, 1 - most, 1 - self.other)
            chance_of_any += copies * (up + down)
        return chance_of_any


class Refined(Protocol):
    """Contributions that have bounds, and of which more is known."""

    @property
    def bounded(self) -> Bounded:
        """What their bounds and variances are."""

    def beyond(self, n: int, t: float) -> float:
        """Another bound on the probability that some number is off by more than t."""


def least(reach: Callable[[float], float], steepest: float) -> float:
    """The least of (ln E[exp(s·error)] + constant)/s over 0 < s < steepest, a trifle rounded up.

    That is convex in 1/s, so there is one minimum; every s is a bound, so how near the search comes to it
    decides how good the bound is, and not whether it holds.

    >>> round(least(lambda s: s + 1 / s, 5), 6)
    2.0
    """
    low, high = 0.0, steepest
    for _ in range(80):
        left, right = (2 * low + high) / 3, (low + 2 * high) / 3
        low, high = (low, right) if reach(left) <= reach(right) else (left, high)
    return reach((low + high) / 2) * (1 + 1e-9)


def people(n: int) -> int:
    """How many reports there are: at least one."""
    if not n >= 1:
        raise QueryError(f"an estimate needs at least one report, got {n}")
    return n


def by_frequency(k: int, absent: float, present: float) -> tuple[tuple[float, ...], tuple[int, ...]]:
    """Variances of k frequencies' contributions, where one of frequency f has (1 − f)·absent + f·present.

    Frequencies add up to 1, so the j-th largest is at most 1/j; here for j in steps of powers of two.

    >>> by_frequency(7, absent=1.0, present=3.0)
    ((3.0, 2.0, 1.5), (1, 2, 4))
    """
    variances, copies, first = [], [], 1
    while first <= k:
        variances.append(absent + max(present - absent, 0.0) / first)
        copies.append(min(first, k + 1 - first))
        first *= 2
    return tuple(variances), tuple(copies)


def beyond(n: int, t: float, c: Bounded | Refined) -> float:
    """The bound on the probability that some number is off by more than t."""
    if not isinstance(c, Bounded):
        return min(beyond(n, t, c.bounded), c.beyond(n, t))
    variances = np.array(c.variances)
    both = _tail(n, t, variances, c.above, c.span) + _tail(n, t, variances, c.below, c.span)
    return float(both @ np.array(c.copies, dtype=np.float64))


def _tail(n: int, t: float, v: NDArray[np.float64], u: float, w: float) -> NDArray[np.float64]:
    if t >= u:
        return np.zeros_like(v)
    a = (v + u * t) / (u * u + v)
    with np.errstate(divide="ignore"):
        divergence = a * np.log1p(u * t / v) + (1 - a) * math.log1p(-t / u)
    return np.asarray(np.exp(-n * np.maximum(divergence, 2 * (t / w) ** 2)))


def _normal(n: int, y: float, low: float, high: float) -> float:
    """How likely Binomial(n, p) is above n·(p + y) by a step, at most, for every p between low and high."""
    # Pinsker's bound holds everywhere, and rounding cannot make it negative.
    least = 2 * y * y
    if high <= (1 - y) / 2:
        least = max(least, _divergence(high + y, high))
    elif low >= 0.5:
        least = max(least, _divergence(low + y, low))
    return math.erfc(math.sqrt(n * least)) / 2


def _divergence(a: float, b: float) -> float:
    if a >= 1:
        return math.inf if a > 1 else -math.log(b)
    return a * math.log(a / b) + (1 - a) * math.log((1 - a) / (1 - b))
