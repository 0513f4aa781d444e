"""Logarithms of whole numbers in whole numbers, with proven bounds."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from sulq.privacy.coins import arithmetic, decimal

_LEADING = 8
"""So many binary digits are looked up."""


def log(x: int, bits: int) -> tuple[int, int]:
    """Between which whole numbers 2^bits·ln x lies, for a whole number x ≥ 1 and at least 64 bits.

    With c the leading 8 digits of x, and so c·2^e ≤ x < (1 + 2^-7)·c·2^e, there is z between 0 and 2^-8 with

        ln x = ln c + e·ln 2 + 2·artanh(z),  z = (x − c·2^e)/(x + c·2^e),  artanh(z) = z + z³/3 + z⁵/5 + …

    In units of 2^-bits, all is rounded down: z, its square and its powers lose less than 2, each term less
    than 3, and the terms left out less than 1. There are fewer than bits/16 + 2 terms, as each power is less
    than 2^-16 of the one before. ln c and ln 2 lose less than 2. In all, that is less than 2e + bits − 1. Of
    x, the leading bits + 8 digits are looked at: those after them change ln x by less than 2^-bits.

    >>> low, high = log(10, bits=100)
    >>> low / 2**100 == high / 2**100 == math.log(10)
    True
    """
    e = max(0, x.bit_length() - _LEADING)
    if e > bits:
        x >>= e - bits
    c = x >> min(e, bits)
    least = c << min(e, bits)
    power = (x - least << bits) // (x + least)
    square, odd, artanh = power * power >> bits, 1, 0
    while power:
        artanh += power // odd
        power, odd = power * square >> bits, odd + 2
    low = log_of_few(c, bits) + e * log_of_few(2, bits) + 2 * artanh
    return low, low + 2 * e + bits


@lru_cache(maxsize=2**12)
def log_of_few(c: int, bits: int) -> int:
    """2^bits·ln c for a number of 8 digits at most, rounded down, or less by 1 more.

    >>> log_of_few(2, bits=64) == math.floor(2**64 * Fraction(math.log(2)))
    False
    """
    digits = 10 + bits // 3
    with arithmetic(digits):
        near = Fraction(decimal(Fraction(c)).ln())  # correctly rounded, and below 10
    return math.floor((near - Fraction(10, 10**digits)) * 2**bits) if c > 1 else 0
