"""Numbers of vector noise that one float does not settle: in pairs of floats, and in whole numbers at last.

A number of the noise is round(s·√V·|N|), where N is a normal number and V is −2·ln(U_1·…·U_k), for even w and
one more normal number and its square (`spherical.py`). All are known by digits of which there are always more
to draw (`digits.py`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sulq.privacy.digits import WORD, Numbers
from sulq.privacy.logarithms import log, log_of_few
from sulq.privacy.normals import normals

Floats = NDArray[np.float64]
Words = NDArray[np.uint64]

_FACTORS = 8
"""So many numbers are multiplied, and so many such products, before a logarithm is taken."""
_COARSE = 2**112
"""If s²·(w + 1)³ is less, the first 64 digits of all numbers nearly always settle a whole vector."""


@dataclass(frozen=True)
class Vectors:
    """What so many vectors of noise are made of.

    Args:
        sizes: the sizes of normal numbers: w for each vector, one vector after the other, and for an even w
            one more for each.
        chances: uniform numbers, ⌊(w + 1)/2⌋ rows of one for each vector.
        many: how many vectors.
        width: w.
        scale: s.
    """

    sizes: Numbers
    chances: Numbers
    many: int
    width: int
    scale: Fraction

    @classmethod
    def drawn(cls, many: int, width: int, scale: Fraction) -> Vectors:
        """So many independent ones."""
        pairs, odd = divmod(width + 1, 2)
        return cls(normals(many * (width + odd)), Numbers.uniform(many * pairs), many, width, scale)

    @cached_property
    def inverses(self) -> list[float]:
        """The sum of 1/m for each vector, or a little more; m is the first 64 digits of a uniform number."""
        with np.errstate(divide="ignore"):
            sums = np.sum(1 / self.chances.first.reshape(-1, self.many), axis=0)
        return list((sums * (1 + 2.0**-40)).tolist())


def settled(
    vectors: Vectors, steps: NDArray[np.int64], unsure: NDArray[np.bool_]
) -> NDArray[np.int64] | NDArray[np.object_]:
    """The noise without its signs, a row for each vector.

    Args:
        vectors: what it is made of.
        steps: what is sure already.
        unsure: where nothing is.
    """
    words = 1 if vectors.scale**2 * (vectors.width + 1) ** 3 < _COARSE else 2
    if words > 1:
        vectors.sizes.draw_second()
        vectors.chances.draw_second()
    rows, columns = np.nonzero(unsure)
    there = np.flatnonzero(unsure.any(axis=1))
    fine = [FineVector(vectors, row) for row in there.tolist()]
    which = np.searchsorted(there, rows)
    spreads = np.array([vector.spread(words) for vector in fine]).T[:, which]
    finer, is_sure = in_pairs(spreads, vectors.sizes.taken(rows * vectors.width + columns))
    left = np.flatnonzero(~is_sure).tolist()
    if left or finer.dtype == object:
        exact, finer = steps.astype(object), finer.astype(object)
        finer[left] = [fine[which[i]].number(int(columns[i])) for i in left]
    else:
        exact = steps
    exact[rows, columns] = finer
    return exact


def in_pairs(
    spreads: Floats, numbers: Numbers
) -> tuple[NDArray[np.int64] | NDArray[np.object_], NDArray[np.bool_]]:
    """⌊s·√V·|N| + 1/2⌋ in pairs of floats, and whether it is sure.

    A product of two floats is a float and another one (Dekker, "A floating-point technique for extending the
    available precision", 1971). Of the whole, less than 2^-98 is lost, and of |N| less than 2^-102.

    Args:
        spreads: s·√V as two floats, and how far it is off, for each number.
        numbers: |N| of each.
    """
    high, low, unknown = spreads
    top = numbers.whole + (numbers.first >> np.uint64(32)) * 2.0**-32
    rest = (numbers.first & np.uint64(2**32 - 1)) * 2.0**-64
    size = top + rest
    rest += top - size
    unseen = 2.0**-64
    if numbers.second is not None:
        rest += numbers.second * 2.0**-128
        unseen = 2.0**-102
    product = high * size
    (a, b), (c, d) = _halves(high), _halves(size)
    more = ((a * c - product) + a * d + b * c) + b * d
    more += high * rest + low * size
    below = np.floor(product)
    part = (product - below) + more
    step = np.floor(part + 0.5)
    off = unknown * size + high * unseen + product * 2.0**-98 + 2.0**-40
    sure = np.abs(part - step) < 0.5 - off
    below, step = np.where(sure, below, 0.0), np.where(sure, step, 0.0)
    if below.max(initial=0) < 2.0**62:
        return below.astype(np.int64) + step.astype(np.int64), sure
    wide = [int(one) + int(other) for one, other in zip(below.tolist(), step.tolist(), strict=True)]
    return np.array(wide, dtype=object), sure


def _halves(numbers: Floats) -> tuple[Floats, Floats]:
    """The leading 26 bits of each, and the rest (Veltkamp)."""
    wide = numbers * (2.0**27 + 1)
    leading = wide - (wide - numbers)
    return leading, numbers - leading


class FineVector:
    """One vector in whole numbers: digits are drawn until a coordinate is settled."""

    def __init__(self, vectors: Vectors, row: int) -> None:
        self.vectors, self.row = vectors, row
        self.squares: dict[int, tuple[int, int]] = {}
        """Between which whole numbers 4·s²·V lies, times 4^(64·words), by the number of words."""

    def spread(self, words: int) -> tuple[float, float, float]:
        """s·√V from below, as two floats, and by how much more it may be.

        Args:
            words: how many words of digits are looked at.
        """
        low, high = (math.isqrt(square << 2 * WORD) for square in self._squares(words))
        near = float(low)
        unit = 2.0 ** (-WORD * words - WORD - 1)
        return near * unit, float(low - int(near)) * unit, float(high + 1 - low) * unit * (1 + 2.0**-50)

    def number(self, column: int) -> int:
        """⌊s·√V·|N| + 1/2⌋."""
        words = 1
        while True:
            size = self.vectors.sizes.of(self.row * self.vectors.width + column, words)
            ends = zip((size, size + 1), self._squares(words), strict=True)
            # ⌊2y⌋ for y = s·√V·|N|, and so ⌊y + 1/2⌋ = ⌊(⌊2y⌋ + 1)/2⌋.
            low, high = ((math.isqrt(one**2 * square >> 4 * WORD * words) + 1) // 2 for one, square in ends)
            if low == high:
                return low
            words += 1

    def _squares(self, words: int) -> tuple[int, int]:
        if words not in self.squares:
            many, width, scale = self.vectors.many, self.vectors.width, self.vectors.scale
            low, high = self._from_chances(words)
            if width % 2 == 0:
                size = self.vectors.sizes.of(many * width + self.row, words)
                low, high = low + size**2, high + (size + 1) ** 2
            over, under = 4 * scale.numerator**2, scale.denominator**2
            self.squares[words] = low * over // under, -(-high * over // under)
        return self.squares[words]

    def _from_chances(self, words: int) -> tuple[int, int]:
        """Between which whole numbers −2·ln(U_1·…·U_k) lies, times 4^(64·words).

        If m ≤ 2^d·U < m + 1, ln U is between ln m − d·ln 2 and 1/m more. Of numbers that begin with so many
        zeros that m = 0, more digits are drawn.
        """
        column, seen = slice(self.row, None, self.vectors.many), words
        while 0 in (chances := self.vectors.chances.several(column, seen)):
            seen += 1
        bits = WORD * words + WORD // 2
        logs = [log(product, bits) for product in _products(_products(chances))]
        low, high = (sum(ends) for ends in zip(*logs, strict=True))
        high += self._unseen(chances, seen, bits)
        digits = WORD * seen * len(chances)
        ends = digits * log_of_few(2, bits) - high, digits * (log_of_few(2, bits) + 2) - low
        low, high = (max(0, end) << 2 * WORD * words - bits + 1 for end in ends)
        return low, high

    def _unseen(self, chances: list[int], seen: int, bits: int) -> int:
        """At least Σ 2^bits/m."""
        inverses = self.vectors.inverses[self.row]
        if inverses < math.inf:
            return math.ceil(inverses * 2.0 ** (bits - WORD * (seen - 1)))
        return sum((1 << bits) // chance + 1 for chance in chances)


def _products(numbers: list[int]) -> list[int]:
    return [math.prod(numbers[at : at + _FACTORS]) for at in range(0, len(numbers), _FACTORS)]
