"""Numbers of vector noise that one float does not settle: in pairs of floats, and in whole numbers at last.

A number of the noise is round(s·√V·|N|), where V is the sum of the squares of w + 1 normal numbers and N is
another one (`spherical.py`). All are known by digits of which there are always more to draw (`normals.py`).
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from sulq.privacy.normals import WORD, Normals

Floats = NDArray[np.float64]
Words = NDArray[np.uint64]


def settled(
    normals: Normals, scale: Fraction, steps: NDArray[np.int64], unsure: NDArray[np.bool_]
) -> NDArray[np.int64] | NDArray[np.object_]:
    """The noise without its signs, a row for each vector.

    Args:
        normals: the normal numbers, 2w + 1 for each vector.
        scale: s.
        steps: what is sure already.
        unsure: where nothing is.
    """
    many, w = steps.shape
    each = 2 * w + 1
    rows = np.flatnonzero(unsure.any(axis=1))
    digits = [numbers.reshape(many, each)[rows] for numbers in (normals.whole.view(np.uint64), normals.first)]
    squares = squares_of(*(numbers[:, w:] for numbers in digits))
    vectors = [
        NoiseVector(normals, row * each, w, scale, square)
        for row, square in zip(rows.tolist(), squares, strict=True)
    ]
    # Which vector and which of its numbers.
    where = np.nonzero(unsure[rows])
    spreads = np.array([vector.spread for vector in vectors])[where[0]].T
    finer, is_sure = in_pairs(spreads, *(numbers[:, :w][where] for numbers in digits))
    steps[rows[where[0]], where[1]] = finer
    if is_sure.all():
        return steps
    exact = steps.astype(object)
    for vector, place in np.transpose(where)[~is_sure].tolist():
        exact[rows[vector], place] = vectors[vector].number(place)
    return exact


def squares_of(whole: Words, first: Words) -> list[tuple[int, int]]:
    """Rows of numbers k + x: their squares' sums, times 4^64, from the first 64 digits of x, and not above.

    Args:
        whole: k of each, below 2^32.
        first: the first 64 digits of each x.

    >>> squares_of(np.array([[1, 2]], np.uint64), np.array([[0, 2**63]], np.uint64))[0][0] / 2**128
    7.25
    """
    width, half = whole.shape[1], np.uint64(32)
    low = np.uint64(2**32 - 1)
    limbs = {64: whole, 32: first >> half, 0: first & low}
    sums = {
        (one, other): [(a * b >> half).sum(axis=1).tolist(), (a * b & low).sum(axis=1).tolist()]
        for (one, a), (other, b) in combinations_with_replacement(limbs.items(), 2)
    }
    lengths = [limbs[place].sum(axis=1).tolist() for place in limbs]
    found = []
    for row in range(len(whole)):
        square = 0
        for (one, other), (high, rest) in sums.items():
            square += ((high[row] << 32) + rest[row]) << (one + other + (one != other))
        length = sum(each[row] << place for place, each in zip(limbs, lengths, strict=True))
        found.append((square, square + 2 * length + width))
    return found


def in_pairs(spreads: Floats, whole: Words, first: Words) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """⌊s·√V·|N| + 1/2⌋ in pairs of floats, and whether it is sure.

    A product of two floats is a float and another one (Dekker, "A floating-point technique for extending the
    available precision", 1971). Of the whole, less than 2^-98 is lost.

    Args:
        spreads: s·√V as two floats, and how far it is off, for each number.
        whole: k of each.
        first: the first 64 digits of x of each.
    """
    high, low, unknown = spreads
    top = whole + (first >> np.uint64(32)) * 2.0**-32
    rest = (first & np.uint64(2**32 - 1)) * 2.0**-64
    size = top + rest
    product = high * size
    (a, b), (c, d) = _halves(high), _halves(size)
    more = ((a * c - product) + a * d + b * c) + b * d
    more += high * ((top - size) + rest) + low * size
    below = np.floor(product)
    part = (product - below) + more
    step = np.floor(part + 0.5)
    off = unknown * size + high * 2.0**-64 + product * 2.0**-98 + 2.0**-40
    sure = (np.abs(part - step) < 0.5 - off) & (product < 2.0**62)
    return np.where(sure, below, 0.0).astype(np.int64) + np.where(sure, step, 0.0).astype(np.int64), sure


def _halves(numbers: Floats) -> tuple[Floats, Floats]:
    """The leading 26 bits of each, and the rest (Veltkamp)."""
    wide = numbers * (2.0**27 + 1)
    leading = wide - (wide - numbers)
    return leading, numbers - leading


class NoiseVector:
    """One vector in whole numbers: digits of its normal numbers are drawn until a coordinate is settled."""

    def __init__(
        self, normals: Normals, start: int, width: int, scale: Fraction, squares: tuple[int, int]
    ) -> None:
        self.normals, self.start, self.width, self.scale = normals, start, width, scale
        self.squares = {1: self._scaled(*squares)}
        """Between which whole numbers 4·s²·V lies, times 4^(64·words), by the number of words."""

    @property
    def spread(self) -> tuple[float, float, float]:
        """s·√V from below, as two floats, and by how much more it may be."""
        low, high = (math.isqrt(square << 2 * WORD) for square in self.squares[1])
        near = float(low)
        unit = 2.0 ** (-2 * WORD - 1)
        return near * unit, float(low - int(near)) * unit, float(high + 1 - low) * unit * (1 + 2.0**-50)

    def number(self, place: int) -> int:
        """⌊s·√V·|N| + 1/2⌋."""
        words = 1
        while True:
            size, shift = self.normals.digits(self.start + place, words), 4 * WORD * words
            ends = zip((size, size + 1), self._squares(words), strict=True)
            # ⌊2y⌋ for y = s·√V·|N|, and so ⌊y + 1/2⌋ = ⌊(⌊2y⌋ + 1)/2⌋.
            low, high = ((math.isqrt(one**2 * square >> shift) + 1) // 2 for one, square in ends)
            if low == high:
                return low
            words += 1

    def _squares(self, words: int) -> tuple[int, int]:
        if words not in self.squares:
            first = self.start + self.width
            sizes = [self.normals.digits(place, words) for place in range(first, first + self.width + 1)]
            self.squares[words] = self._scaled(
                sum(size**2 for size in sizes), sum((size + 1) ** 2 for size in sizes)
            )
        return self.squares[words]

    def _scaled(self, low: int, high: int) -> tuple[int, int]:
        over, under = 4 * self.scale.numerator**2, self.scale.denominator**2
        return low * over // under, -(-high * over // under)
