"""Caps of a sphere: how likely they are, and which is the best to report from."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from sulq.errors import QueryError
from sulq.local.draws import ONE
from sulq.local.randomizer import chance_to_lie

MASSES = 2**24
"""Masses of caps are told in multiples of 2^-24."""
MARGIN = 2.0**-20
"""By which part of it a cap's mass is taken to be smaller than it is."""
LEAST_MASS = 1 / 64
"""Smaller caps would be better for large ε, and take longer to be met: 32 directions in the mean."""
STEPS = 64
"""γ is a multiple of 1/(64·√d)."""


class Cap(NamedTuple):
    """A cap, and how often reports are from outside of it.

    Args:
        threshold: γ, where the cap begins.
        mass: its mass, in steps of 2^-24, rounded down.
        lies: how often a report is from outside, in steps of 2^-64.
    """

    threshold: float
    mass: int
    lies: int


class CapMoments(NamedTuple):
    """How far along a unit vector the reports on it are.

    Args:
        mean: the expectation of that.
        square: the expectation of its square.
    """

    mean: float
    square: float


def cap_mass(d: int, threshold: float) -> float:
    """How likely a uniform unit vector of d numbers is to be at least `threshold` along a given one.

    That is (1 − F)/2 for the chance F to be less than that far along it or its opposite. From d to d + 2, F
    grows by a positive term, and each term follows from the one before: ∫ cos^n, by parts.

    Args:
        d: how many coordinates there are.
        threshold: from 0 to less than 1.

    >>> [round(cap_mass(d, 0.5), 6) for d in (2, 3, 8)]
    [0.333333, 0.25, 0.085235]
    """
    if d == 1:
        return 0.5
    square = 1 - threshold * threshold
    if d % 2:
        begins, first, term = threshold, 3, threshold * square / 2
    else:
        term = 2 * threshold * math.sqrt(square) / math.pi
        begins, first = 2 * math.asin(threshold) / math.pi, 2
    orders = np.arange(first, d - 3, 2, dtype=np.float64)
    if d - 2 < first:
        return (1 - begins) / 2
    factors = np.concatenate([[term], square * orders / (orders + 1)])
    return (1 - begins - float(np.multiply.accumulate(factors).sum())) / 2


def stated_mass(d: int, threshold: float) -> int:
    """The largest mass of a cap that may be stated, in steps of 2^-24.

    Args:
        d: how many coordinates there are.
        threshold: where the cap begins.

    >>> stated_mass(3, 0.0) / MASSES, stated_mass(3, 0.5) < MASSES / 4
    (0.5, True)
    """
    if threshold == 0:
        return MASSES // 2
    return math.floor(cap_mass(d, threshold) * (1 - MARGIN) * MASSES)


def refuse_cap(d: int, threshold: float, mass: int) -> None:
    """Refuse a cap that nobody meets in time, or whose mass is said to be larger than it is.

    Args:
        d: how many coordinates there are.
        threshold: where the cap begins.
        mass: its mass as it is stated, in steps of 2^-24.
    """
    if not 0 <= threshold < 1 or (d == 1 and threshold > 0):
        raise QueryError(f"a cap begins between 0 and 1, in one dimension at 0, not at {threshold!r}")
    # Half of the margin is for those who computed it elsewhere.
    most = MASSES / 2 if threshold == 0 else cap_mass(d, threshold) * (1 - MARGIN / 2) * MASSES
    if not LEAST_MASS / 2 * MASSES <= mass <= most:
        raise QueryError("the mass of this cap is not what is stated, or the cap is too small")


@lru_cache(maxsize=1024)
def best_cap(d: int, epsilon: Fraction) -> Cap:
    """The cap whose reports have the largest mean along the vector; that has one maximum in γ.

    Args:
        d: how many coordinates there are.
        epsilon: what is promised.

    >>> cap = best_cap(1000, Fraction(4))
    >>> round(cap.mass / MASSES, 4), round(1 - cap.lies / ONE, 4)
    (0.0648, 0.791)
    """
    place = 0
    for step in (128, 64, 32, 16, 8, 4, 2, 1):
        # The nearer one first, so that of caps that are alike the larger is taken.
        place = max((place, place - step, place + step), key=lambda each: _mean(d, _cap(d, each, epsilon)))
    best = _cap(d, place, epsilon)
    assert best is not None
    return best


def _cap(d: int, place: int, epsilon: Fraction) -> Cap | None:
    """The cap at a place, None where it would be too small."""
    threshold = place / (STEPS * math.sqrt(d))
    if not 0 <= threshold < 1 or (d == 1 and place > 0):
        return None
    mass = stated_mass(d, threshold)
    if mass < LEAST_MASS * MASSES:
        return None
    return Cap(threshold, mass, chance_to_lie(epsilon, Fraction(MASSES - mass, mass)))


def _mean(d: int, cap: Cap | None) -> float:
    return -1.0 if cap is None else moments_of(d, cap.threshold, cap.lies).mean


@lru_cache(maxsize=1024)
def moments_of(d: int, threshold: float, lies: int) -> CapMoments:
    """How far along a unit vector the reports on it are.

    Args:
        d: how many coordinates there are.
        threshold: where the cap begins.
        lies: how often a report is from outside, in steps of 2^-64.

    >>> round(moments_of(3, 0.0, ONE // 4).mean, 6)
    0.25
    """
    mass, inside = cap_mass(d, threshold), 1 - Fraction(lies, ONE)
    if d == 1:
        return CapMoments(float(2 * inside - 1), 1.0)
    half = (d - 1) / 2
    log_first = half * math.log1p(-threshold * threshold) + math.lgamma(d / 2) - math.lgamma(half)
    first = math.exp(log_first - math.log(math.pi) / 2) / (d - 1)
    square = ((d - 1) * threshold * first + mass) / d
    p = float(inside)
    # At γ = 0 both are near one half, and their difference may be as small as ε.
    above = float(inside - Fraction(1, 2)) if threshold == 0 else p - mass
    mean = first * above / (mass * (1 - mass))
    return CapMoments(mean, p * square / mass + (1 - p) * (1 / d - square) / (1 - mass))
