"""Numbers as pairs of floats, with some 100 binary digits: sums, products, quotients, roots and logarithms.

A pair (x, y) stands for x + y, and y is at most half a unit in the last place of x. Dekker, "A floating-point
technique for extending the available precision", 1971; the bounds are those of Joldes, Muller and Popescu,
"Tight and rigorous error bounds for basic building blocks of double-word arithmetic", 2017: 3, 7 and 15 times
2^-106 for sums, products and quotients. They hold where nothing is below 2^-900 or above 2^900.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sulq.privacy.logarithms import log_of_few

Floats = NDArray[np.float64]
Pair = tuple[Floats, Floats]

_PLACES = 64
_FACTORS = 5
"""Factors of a series that are pairs' are 1/3 and 1/5; so many more are floats."""


def pair_of(number: Fraction) -> Pair:
    """A number as a pair, off by less than a part 2^-105.

    >>> high, low = pair_of(Fraction(1, 3))
    >>> abs(Fraction(float(high)) + Fraction(float(low)) - Fraction(1, 3)) < Fraction(1, 2**107)
    True
    """
    near = float(number)
    return np.array(near), np.array(float(number - Fraction(near)))


def added(x: Floats, y: Floats) -> Pair:
    """x + y exactly, where x is 0 or not smaller than y."""
    total = x + y
    return total, y - (total - x)


def multiplied(x: Floats, y: Floats) -> Pair:
    """x·y exactly.

    >>> high, low = multiplied(np.array([2.0**27 + 1]), np.array([2.0**27 + 1]))
    >>> Fraction(high[0]) + Fraction(low[0]) == (2**27 + 1) ** 2
    True
    """
    (a, b), (c, d) = _halves(x), _halves(y)
    product = x * y
    return product, ((a * c - product) + a * d + b * c) + b * d


def plus(x: Pair, y: Pair) -> Pair:
    """x + y, off by less than a part 2^-104."""
    high, low = _summed(x[0], y[0])
    more, rest = _summed(x[1], y[1])
    high, low = added(high, low + more)
    return added(high, low + rest)


def times(x: Pair, y: Pair) -> Pair:
    """x·y, off by less than a part 2^-103."""
    high, low = multiplied(x[0], y[0])
    return added(high, low + (x[0] * y[1] + x[1] * y[0]))


def divided(x: Pair, y: Pair) -> Pair:
    """x/y, off by less than a part 2^-102."""
    near = x[0] / y[0]
    high, low = multiplied(near, y[0])
    left, more = plus(x, added(-high, -(low + near * y[1])))
    return added(near, (left + more) / y[0])


def root(x: Pair) -> Pair:
    """√x of a positive number, off by less than a part 2^-102: a step of Newton's from the root of the float.

    If r is √x but for a part e < 2^-52, then r + (x − r²)/2r is √x but for e²/2 < 2^-105. The difference is
    rounded by less than a part 2^-50 of itself, and it is less than a part 2^-52 of r.
    """
    near = np.sqrt(x[0])
    high, low = multiplied(near, near)
    return added(near, ((x[0] - high) - low + x[1]) / (2 * near))


def logarithm(x: Pair) -> Pair:
    """ln x for x from 1/2 to 1, off by less than 2^-100.

    With c a middle of 32 parts, of that in which x lies, z = (x − c)/(x + c) is at most 2^-7, and

        ln x = ln c + 2·(z + z³·(1/3 + z²·(1/5 + z²·(1/7 + …)))).

    The series from 1/7 on is a float, off by less than 2^-53 with what is left out, and counts z⁷ times: that
    is 2^-101. Of z and what follows less than a part 2^-100 is lost, so 2^-106, and of ln c less than 2^-105.
    """
    place = np.minimum(np.floor(x[0] * _PLACES), _PLACES - 1)
    c = (place + 0.5) / _PLACES
    none = np.zeros_like(c)
    z = divided(plus(x, (-c, none)), plus(x, (c, none)))
    square = times(z, z)
    series = none
    for odd in range(5 + 2 * _FACTORS, 5, -2):
        series = series * square[0] + 1 / odd
    total = series, none
    for odd in (5, 3):
        total = plus(times(total, square), pair_of(Fraction(1, odd)))
    high, low = plus(z, times(z, times(total, square)))
    known = _logarithms()[:, place.astype(np.int64) - _PLACES // 2]
    return plus((known[0], known[1]), (2 * high, 2 * low))


@lru_cache(maxsize=1)
def ln_2() -> Pair:
    """ln 2, off by less than 2^-106."""
    return pair_of(Fraction(log_of_few(2, 160), 2**160))


@lru_cache(maxsize=1)
def _logarithms() -> Floats:
    """The pairs of ln c, in columns."""
    two = log_of_few(2, 160)
    middles = range(_PLACES + 1, 2 * _PLACES, 2)
    exponent = 2 * _PLACES
    logs = [log_of_few(middle, 160) - (exponent.bit_length() - 1) * two for middle in middles]
    return np.array([pair_of(Fraction(each, 2**160)) for each in logs]).T


def _summed(x: Floats, y: Floats) -> Pair:
    """x + y exactly."""
    total = x + y
    back = total - x
    return total, (x - (total - back)) + (y - back)


def _halves(numbers: Floats) -> Pair:
    """The leading 26 bits of each, and the rest (Veltkamp)."""
    wide = numbers * (2.0**27 + 1)
    leading = wide - (wide - numbers)
    return leading, numbers - leading
