"""Numbers of vector noise that one float does not settle: in pairs of floats, and in whole numbers at last.

A number of the noise is round(s·√V·|N|), where N is a normal number and V is −2·ln(U_1·…·U_k), for even w and
one more normal number and its square (`spherical.py`). All are known by digits of which there are always more
to draw (`digits.py`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sulq.privacy.digits import WORD, Numbers
from sulq.privacy.logarithms import log, log_of_few
from sulq.privacy.normals import normals

Floats = NDArray[np.float64]
Words = NDArray[np.uint64]

_FACTORS = 16
"""So many numbers are multiplied before a logarithm is taken."""


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


def settled(
    vectors: Vectors, steps: NDArray[np.int64], unsure: NDArray[np.bool_]
) -> NDArray[np.int64] | NDArray[np.object_]:
    """The noise without its signs, a row for each vector.

    Args:
        vectors: what it is made of.
        steps: what is sure already.
        unsure: where nothing is.
    """
    rows, columns = np.nonzero(unsure)
    there, which = np.unique(rows, return_inverse=True)
    fine = [FineVector(vectors, row) for row in there.tolist()]
    spreads = np.array([vector.spread for vector in fine]).T[:, which]
    numbers = vectors.sizes.taken(rows * vectors.width + columns)
    finer, is_sure = in_pairs(spreads, numbers.whole.view(np.uint64), numbers.first)
    steps[rows, columns] = finer
    if is_sure.all():
        return steps
    exact = steps.astype(object)
    for i in np.flatnonzero(~is_sure).tolist():
        exact[rows[i], columns[i]] = fine[which[i]].number(int(columns[i]))
    return exact


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


class FineVector:
    """One vector in whole numbers: digits are drawn until a coordinate is settled."""

    def __init__(self, vectors: Vectors, row: int) -> None:
        self.vectors, self.row = vectors, row
        self.squares: dict[int, tuple[int, int]] = {}
        """Between which whole numbers 4·s²·V lies, times 4^(64·words), by the number of words."""

    @property
    def spread(self) -> tuple[float, float, float]:
        """s·√V from below, as two floats, and by how much more it may be."""
        low, high = (math.isqrt(square << 2 * WORD) for square in self._squares(1))
        near = float(low)
        unit = 2.0 ** (-2 * WORD - 1)
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
        logs = [log(math.prod(chances[at : at + _FACTORS]), bits) for at in range(0, len(chances), _FACTORS)]
        low, high = (sum(ends) for ends in zip(*logs, strict=True))
        high += sum((1 << bits) // chance + 1 for chance in chances)
        digits = WORD * seen * len(chances)
        ends = digits * log_of_few(2, bits) - high, digits * (log_of_few(2, bits) + 2) - low
        low, high = (max(0, end) << 2 * WORD * words - bits + 1 for end in ends)
        return low, high
