"""The smallest number for which something holds that holds from there on."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

MOST_ROWS = 2**50
PER_DECADE = 900


def smallest_rows(enough: Callable[[int], bool]) -> int | None:
    """The smallest number of rows that is enough; None if none up to 2^50 is.

    >>> smallest_rows(lambda rows: rows**2 >= 50)
    8
    """
    low, high = 0, 1
    while not enough(high):
        low, high = high, 2 * high
        if high > MOST_ROWS:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def smallest_number(enough: Callable[[Fraction], bool], decades: range) -> Fraction | None:
    """The smallest number of three digits that is enough, between powers of ten; None if none is.

    >>> smallest_number(lambda x: x * x >= 2, range(-2, 2))
    Fraction(71, 50)
    """
    low, high = -1, PER_DECADE * len(decades)
    if not enough(_number(high - 1, decades)):
        return None
    high -= 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(_number(middle, decades)) else (middle, high)
    return _number(high, decades)


def _number(place: int, decades: range) -> Fraction:
    """1.00, 1.01, … 9.99, of every decade in turn."""
    decade, digits = divmod(place, PER_DECADE)
    return Fraction(100 + digits, 100) * Fraction(10) ** decades[decade]
