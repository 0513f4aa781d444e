"""Which parameters noise can have, and which chances can be asked for."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

from sulq.errors import QueryError
from sulq.numbers import Numeric, fraction, rational

# Below 2^-40 the noise is never seen; squares of what is above 2^400 come near the end of the floats' range.
LOWEST, HIGHEST = Fraction(1, 2**40), Fraction(2**400)

SMALLEST_BETA = 1e-300  # tails below it are lost in float underflow


def in_range(name: str, value: Numeric, low: Fraction, high: Fraction) -> Fraction:
    """A parameter of noise, or a refusal.

    >>> in_range("scale", "7/2", LOWEST, HIGHEST)
    Fraction(7, 2)
    """
    number = rational(name, value)
    if not low <= number <= high:
        bounds = f"between {float(low):.3g} and {float(high):.3g}"
        raise QueryError(f"{name} must lie {bounds} for exact noise, got {float(number):.6g}")
    return number


def checked_sensitivity(value: Fraction | int) -> Fraction:
    """How far one person moves a sum, or a refusal.

    >>> checked_sensitivity(2)
    Fraction(2, 1)
    """
    if value < 0:
        raise QueryError(f"a sensitivity is at least 0, got {value}")
    return Fraction(value)


def checked_beta(beta: Numeric) -> Fraction:
    """The chance of an error, or a refusal.

    >>> checked_beta(0.05)
    Fraction(1, 20)
    >>> checked_beta(2)
    Traceback (most recent call last):
    sulq.errors.QueryError: beta must be at least 1e-300 and less than 1, got 2
    """
    number = fraction("beta", beta)
    if not 0 < number < 1 or float(number) < SMALLEST_BETA:
        raise QueryError(f"beta must be at least {SMALLEST_BETA} and less than 1, got {beta}")
    return number


def chance(beta: Numeric) -> float:
    """The chance of an error as a float, or a refusal."""
    return float(checked_beta(beta))


def rounded_up(probability: Decimal) -> float:
    """A float that is not below a probability.

    >>> rounded_up(Decimal("0.1")) > 0.1
    True
    """
    return min(1.0, math.nextafter(float(probability), math.inf))
