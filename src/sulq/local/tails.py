"""How far the mean of n reports strays, for finite n: no normal approximation.

A number of an estimate is a mean of n independent contributions. Of each it is known how far above and below
its expectation it can be, how wide its range is, and the variance on average. Two of Hoeffding's bounds
("Probability Inequalities for Sums of Bounded Random Variables", 1963) hold at once, and the smaller counts:

- Theorem 3: Pr[mean − expectation ≥ t] ≤ exp(−n·KL(a ‖ b)), b = v/(u² + v), a = (v + ut)/(u² + v), for
  variance v and contributions at most u above their expectation. No exponential bound from v and u alone is
  better: it is Chernoff's, at its minimum, for the worst such law.
- Theorem 2: Pr[mean − expectation ≥ t] ≤ exp(−2nt²/w²), for a range of width w.

Both directions and all numbers of the estimate are summed (union bound), and t is found by bisection.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sulq.errors import QueryError


@dataclass(frozen=True)
class Contributions:
    """What is known of one person's contribution to each number of an estimate.

    `variances[i]` bounds the variance, on average over the people, in `copies[i]` of the numbers.
    """

    variances: tuple[float, ...]
    copies: tuple[int, ...]
    above: float
    below: float
    span: float


def radius(n: int, beta: float, contributions: Contributions) -> float:
    """The smallest t for which the bounds promise that no number is off by more than t, but for chance beta.

    >>> coin = Contributions(variances=(0.25,), copies=(1,), above=0.5, below=0.5, span=1.0)
    >>> round(radius(10_000, 0.05, coin), 4)
    0.0136
    """
    people(n)
    chance(beta)
    low, high = 0.0, max(contributions.above, contributions.below)
    # Beyond `high` nothing can be; sixty halvings leave less than the rounding that is added in the end.
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if beyond(n, middle, contributions) <= beta else (middle, high)
    return high * (1 + 1e-9)


def people(n: int) -> int:
    """How many reports there are: at least one."""
    if not n >= 1:
        raise QueryError(f"an estimate needs at least one report, got {n}")
    return n


def chance(beta: float) -> float:
    """A chance of failure."""
    if not 1e-300 <= beta < 1:
        raise QueryError(f"beta must be at least 1e-300 and less than 1, got {beta}")
    return float(beta)


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


def beyond(n: int, t: float, c: Contributions) -> float:
    """The bound on the probability that some number is off by more than t."""
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
