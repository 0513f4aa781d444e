"""Numbers of few digits: costs and noise rounded up, ε rounded down."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

COST_STEP = Fraction(1, 10**12)
SIGNIFICANT = 40
"""Numbers are kept to so many significant bits, so that fractions stay short."""
USUAL = 2**128 * 3**16 * 5**16 * 7**4 * math.prod((11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47))
"""The denominators of charges divide this number."""


def cost_up(cost: Fraction) -> Fraction:
    """A cost, in whole steps.

    >>> cost_up(Fraction(1, 3))
    Fraction(166666666667, 500000000000)
    """
    return math.ceil(cost / COST_STEP) * COST_STEP


def up(value: Fraction) -> Fraction:
    """The number, a little larger if it has too many digits.

    >>> up(Fraction(1, 2)), up(Fraction(10**20, 3)) > Fraction(10**20, 3)
    (Fraction(1, 2), True)
    """
    return _significant(value, math.ceil)


def down(value: Fraction) -> Fraction:
    """The number, a little smaller if it has too many digits."""
    return _significant(value, math.floor)


def root_down(square: Fraction) -> Fraction:
    """The root of a number, rounded down.

    >>> root_down(Fraction(9, 4))
    Fraction(3, 2)
    """
    scale = 1 << max(0, SIGNIFICANT + square.denominator.bit_length() - square.numerator.bit_length() // 2)
    return down(Fraction(math.isqrt(math.floor(square * scale * scale)), scale))


def _significant(value: Fraction, rounded: Callable[[Fraction], int]) -> Fraction:
    if value.denominator.bit_length() <= SIGNIFICANT and value.numerator.bit_length() <= SIGNIFICANT:
        return value
    shift = SIGNIFICANT - value.numerator.bit_length() + value.denominator.bit_length()
    scale = Fraction(2) ** shift
    return rounded(value * scale) / scale
