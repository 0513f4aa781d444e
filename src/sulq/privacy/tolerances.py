"""The widest noise that still keeps a tolerance."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import TypeVar

from sulq.errors import QueryError
from sulq.privacy.noise import DiscreteGaussian
from sulq.privacy.rounding import SIGNIFICANT, down
from sulq.privacy.terms import SumFacts
from sulq.privacy.vector_noise import PureNoise

N = TypeVar("N", PureNoise, DiscreteGaussian)


def per_number(beta: Fraction | float, numbers: int) -> float:
    """The chance each of several independent numbers may miss by, so that together they miss by β.

    1 − (1 − β)^(1/k), rounded down.

    >>> round(per_number(0.1, 2), 4)
    0.0513
    """
    if not 0 < beta < 1:
        raise QueryError(f"beta must lie strictly between 0 and 1, not {beta!r}")
    each = -math.expm1(math.log1p(-float(beta)) / numbers)
    return max(each * (1 - 2.0**-40), float(beta) / numbers * (1 - 2.0**-40))


def widest_within(facts: SumFacts, law: Callable[[int, Fraction], N]) -> N:
    """The widest noise that keeps all of a sum within its tolerance but for a chance of β."""
    assert facts.tolerance is not None
    assert facts.beta is not None
    # Numbers of one vector are not independent.
    chance = per_number(facts.beta, facts.width // facts.block) / facts.block
    noise: N = _widest(law, facts.block, chance, math.floor(facts.tolerance / facts.step))
    return noise


@lru_cache(maxsize=1024)
def _widest(law: Callable[[int, Fraction], N], block: int, chance: float, reach: int) -> N:
    """The widest noise whose radius is so small.

    The radius grows with the scale, so bisection finds the widest scale (or variance) that still fits.
    """
    low, high = Fraction(1, 2**20), Fraction(2)
    while law(block, high).radius(chance) <= reach:
        low, high = high, high * 4
    for _ in range(SIGNIFICANT):
        middle = (low + high) / 2
        low, high = (middle, high) if law(block, middle).radius(chance) <= reach else (low, middle)
    return law(block, down(low))
