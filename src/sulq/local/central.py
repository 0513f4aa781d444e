"""Means of many independent reports are nearly normal, and how nearly is known.

Berry and Esseen: if contributions are independent, with variances that add up to s² and third absolute
moments that add up to r, the distribution function of their sum is nowhere further than 0.56·r/s³ from the
normal one (Shevtsova, "An improvement of convergence rate estimates in the Lyapunov theorem", 2010). With
many reports that is a narrower bound than Hoeffding's, which hold as well; the smaller one counts.

If n people are drawn by lot, their reports are independent once it is known who they are. Their mean M of
values strays from that of all people, and the probability of an error of t is the expectation of Q((t −
M)/σ), Q the normal tail and σ the deviation of a mean of n reports. ln Q is concave, so that its tangent at
a bounds it: Q((t − M)/σ) ≤ Q(a)·exp(h·(M/σ − t/σ + a)), h = −Q′(a)/Q(a). The right side is convex in M, and
for such functions drawing without replacement is no worse than with (Hoeffding, 1963, Theorem 4); values in
an interval of width w then have E[exp(h·M/σ)] ≤ exp(h²·w²/(8n·σ²)). From a = 1.4 on, the tangent is above 1
where M is beyond t, so that it bounds the probability there too, whatever the variances of those people's
reports are.

With fewer reports, Chernoff's bound lacks a factor, and Berry and Esseen's theorem has that, if it is used
under the weights e^(sS) (Bahadur and Rao's way). S is the sum of n reports less their expectations, none
further than b from it, with variances that add up to V and third absolute moments of at most c each; y is any
number. Let L(s) = ln E[e^(sS)], and let v and r be the variance of S and the sum of third moments under the
weights. S lies in an interval of length x with a chance of at most x/√(2πv) + 2·0.56·r/v^(3/2) there, so that

    Pr[S ≥ y] = e^(L − sy)·∫ s·e^(−sx)·Pr_s[y ≤ S ≤ y + x] dx ≤ e^(L − sy)·(1/(s·√(2πv)) + 1.12·r/v^(3/2)).

- L ≤ s²V/2 + n·s³·c·e^(sb)/6, from e^z ≤ 1 + z + z²/2 + |z|³·e^max(z,0)/6. Of one report it is at most l.
- v ≥ V·e^(−sb − l): the weight e^(sX) of a report's error X is at least e^(−sb), and on average at most e^l.
- r ≤ n·e^(sb)·(c^(1/3) + m)³, m = s·w·e^(sb), w the largest variance: X has an expectation from 0 to m.

The logarithm of the bound is convex in V, so one of the two ends of V is the worst. If people are drawn by
lot, y is n(t − M), and the bound grows by E[exp(snM)] ≤ exp(s²·n·w²/8) for values in an interval of width w.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TypeAlias

from sulq.local.tails import Bounded, Counted, LaplaceMeans, beyond, people
from sulq.local.two_coins import TwoCoins
from sulq.privacy.ranges import chance

BERRY_ESSEEN = 0.56
FIRST, LAST = 1.4, 36.0
"""Between which places a tangent is looked for: beyond, floats have no tail left."""


@dataclass(frozen=True)
class NearlyNormal:
    """One person's contribution to a number of an estimate, where reports of people are independent.

    Args:
        bounded: what is known of a contribution besides: bounds, and its variance, that by who is drawn
            included.
        third: the largest third absolute moment of a report about its expectation, over the smallest variance
            to the power 3/2, whatever people's values are.
        reports: the largest variance of a report.
        width: how far apart two people's values can be, if people are drawn by lot; 0 if all are asked.
        least: the smallest variance of a report; 0 if it is not known.

    >>> coin = Bounded(variances=(0.25,), copies=(1,), above=0.5, below=0.5, span=1.0)
    >>> nearly = NearlyNormal(coin, third=1.0, reports=0.25)
    >>> round(coin.radius(10**6, 0.05), 6), round(nearly.radius(10**6, 0.05), 6)
    (0.001358, 0.000985)
    """

    bounded: Bounded
    third: float
    reports: float
    width: float = 0.0
    least: float = 0.0

    @property
    def variance(self) -> float:
        """The largest variance of one person's contribution to a number."""
        return self.bounded.variance

    @property
    def single(self) -> NearlyNormal:
        """The same of one number alone."""
        return replace(self, bounded=self.bounded.single)

    def radius(self, n: int, beta: float) -> float:
        """The smallest t for which the bounds promise that no number is off by more, but for chance beta."""
        low, high = 0.0, self.bounded.radius(n, chance(beta))
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (low, middle) if beyond(n, middle, self) <= beta else (middle, high)
        return high * (1 + 1e-9)

    def beyond(self, n: int, t: float) -> float:
        """The bound on the probability that some number is off by more than t, by the normal law."""
        off = BERRY_ESSEEN * self.third / math.sqrt(people(n))
        if self.reports == 0:
            return 1.0
        normal = self._tail(t / math.sqrt(self.reports / n)) + off
        return 2 * sum(self.bounded.copies) * min(normal, self._weighted(n, t))

    def _weighted(self, n: int, t: float) -> float:
        """The bound on the chance of an error of t, to one side, by the normal law under weights."""
        spread = self.reports + self.width**2 / 4
        s = (t + math.sqrt(t * t + 4 * spread / n)) / (2 * spread)
        far = s * max(self.bounded.above, self.bounded.below)
        if self.least == 0 or far > 1:
            return 1.0
        third = self.third * math.sqrt(self.least) ** 3
        skew = s**3 * third * math.exp(far) / 6
        shrunk = math.exp(-far - skew - s * s * self.reports / 2)
        thirds = math.exp(far) * (math.cbrt(third) + s * self.reports * math.exp(far)) ** 3
        bounds = []
        for each in (self.least, self.reports):
            variance = n * each * shrunk
            within = (
                1 / (s * math.sqrt(2 * math.pi * variance))
                + 2 * BERRY_ESSEEN * n * thirds / math.sqrt(variance) ** 3
            )
            bounds.append(within * math.exp(n * (s * s * (each / 2 + self.width**2 / 8) + skew - s * t)))
        return min(1.0, max(bounds))

    def _tail(self, z: float) -> float:
        """The bound on the chance of an error of z deviations of the mean of reports, to one side."""
        drawn = self.width**2 / (4 * self.reports)
        if drawn == 0:
            return _normal(z)
        low, high = FIRST, max(FIRST, min(z, LAST))
        # Every tangent is a bound, and the best is that at a where z − a = h·drawn.
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (middle, high) if z - middle > _hazard(middle) * drawn else (low, middle)
        h = _hazard(low)
        # No tail here is below e^-700: what is cut off is a bound above 1 anyway.
        return min(1.0, _normal(low) * math.exp(min(h * h * drawn / 2 - h * (z - low), 700.0)))


Tails: TypeAlias = Bounded | Counted | LaplaceMeans | NearlyNormal | TwoCoins
"""How far the mean of n reports strays, as plain data: its `radius(n, beta)` and one report's `variance`."""


def _normal(z: float) -> float:
    return math.erfc(z / math.sqrt(2)) / 2


def _hazard(z: float) -> float:
    return math.exp(-z * z / 2) / math.sqrt(2 * math.pi) / _normal(z)
