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
from sulq.privacy.pairs_of_floats import Floats, Pair, added, ln_2, logarithm, pair_of, plus, root, times

_FACTORS = 16
"""So many numbers are multiplied before a logarithm is taken."""
_EACH, _FEW = 30, 600
"""Few vectors of few numbers are faster one by one: each counts as so many numbers more."""


@dataclass(frozen=True)
class Spreads:
    """s·√V of so many vectors.

    Args:
        chances: uniform numbers, ⌊(w + 1)/2⌋ rows of one for each vector.
        sizes: of normal numbers, one for each vector if w is even, or none.
        many: how many vectors.
        scale: s.
    """

    chances: Numbers
    sizes: Numbers
    many: int
    scale: Fraction

    def taken(self, rows: NDArray[np.intp]) -> Spreads:
        """Those of some vectors, in order."""
        chances = (np.arange(0, len(self.chances.first), self.many)[:, np.newaxis] + rows).ravel()
        sizes = self.sizes.taken(rows) if len(self.sizes.first) else self.sizes
        return Spreads(self.chances.taken(chances), sizes, len(rows), self.scale)

    def in_pairs(self) -> tuple[Pair, Floats]:
        """All of them, and by which part they may be off beside 2^-100; infinity where nothing is known."""
        if _EACH * self.many + len(self.chances.first) < _FEW:
            high, low, unknown = np.array([FineSpread(self, row).pair for row in range(self.many)]).T
            return (high, low), unknown
        return self._at_once()

    def _at_once(self) -> tuple[Pair, Floats]:
        """The same, by pairs of floats from the beginning on.

        U is known but for 2^-105, and so ln U but for 2^-105/U, and U is at least its first 64 digits. V is
        −2 times the logarithm of a product of k such numbers: products, the logarithm and a square lose less
        than 2^-98·(k + 1) of it, and less than a part 2^-101. Of √V that is no larger a part than of V.
        """
        first = self.chances.first.reshape(-1, self.many)
        sure = (first >= 2**11).all(axis=0)
        high, low = (np.where(sure, part.reshape(-1, self.many), 0.5) for part in _known(self.chances))
        product, powers = _product((high, low))
        high, low = plus(logarithm(product), times((powers, np.zeros(self.many)), ln_2()))
        squares = -2 * high, -2 * low
        if len(self.sizes.first):
            size = _known(self.sizes)
            squares = plus(squares, times(size, size))
        sure &= squares[0] > 2.0**-40
        squares = np.where(sure, squares[0], 1.0), np.where(sure, squares[1], 0.0)
        unknown = 2.0**-40 * np.sum(1 / np.maximum(first, 1), axis=0) + 2.0**-98 * (len(first) + 1)
        return times(root(squares), pair_of(self.scale)), np.where(sure, unknown / squares[0], np.inf)


def drawn(many: int, width: int, scale: Fraction) -> tuple[Numbers, Spreads]:
    """What so many vectors of noise are made of: the sizes of w normal numbers for each, and s·√V."""
    pairs, odd = divmod(width + 1, 2)
    sizes, more = normals(many * (width + odd)).divided(many * width)
    return sizes, Spreads(Numbers.uniform(many * pairs), more, many, scale)


def settled(
    sizes: Numbers, spreads: Spreads, steps: NDArray[np.int64], unsure: NDArray[np.bool_]
) -> NDArray[np.int64] | NDArray[np.object_]:
    """The noise without its signs, a row for each vector.

    Args:
        sizes: |N|, of one vector after the other.
        spreads: s·√V of each.
        steps: what is sure already.
        unsure: where nothing is.
    """
    some = unsure.any(axis=1)
    spreads = spreads.taken(np.flatnonzero(some))
    places = np.flatnonzero(unsure)
    rows = (np.cumsum(some) - 1)[places // unsure.shape[1]]
    sizes = sizes.taken(places)
    for numbers in (sizes, spreads.sizes, spreads.chances):
        numbers.draw_second()
    finer, is_sure = in_pairs(sizes, spreads, rows)
    left = np.flatnonzero(~is_sure).tolist()
    if left:
        finer = finer.astype(object)
        fine = {row: FineSpread(spreads, row) for row in set(rows[left].tolist())}
        finer[left] = [fine[rows[i]].times(sizes, i) for i in left]
    result = steps.astype(object) if finer.dtype == object else steps
    result[unsure] = finer
    return result


def in_pairs(
    sizes: Numbers, spreads: Spreads, rows: NDArray[np.intp]
) -> tuple[NDArray[np.int64] | NDArray[np.object_], NDArray[np.bool_]]:
    """⌊s·√V·|N| + 1/2⌋ in pairs of floats, and whether it is sure.

    Of |N|, the scale, a root and two products less than a part 2^-100 is lost, and of |N| less than 2^-116.
    What is rounded of parts of a step is below 2^-50 of it.

    Args:
        sizes: |N| of each.
        spreads: s·√V of vectors.
        rows: of which vector a number is.
    """
    spread, unknown = spreads.in_pairs()
    high, low, unknown = (part[rows] for part in (*spread, unknown))
    product, more = times((high, low), _known(sizes))
    below = np.floor(product)
    part = (product - below) + more
    step = np.floor(part + 0.5)
    off = product * (unknown + 2.0**-98) + high * 2.0**-101 + 2.0**-40
    sure = np.abs(part - step) < 0.5 - off
    below, step = np.where(sure, below, 0.0), np.where(sure, step, 0.0)
    if below.max(initial=0) < 2.0**62:
        return below.astype(np.int64) + step.astype(np.int64), sure
    wide = [int(one) + int(other) for one, other in zip(below.tolist(), step.tolist(), strict=True)]
    return np.array(wide, dtype=object), sure


def _known(numbers: Numbers) -> Pair:
    """The 128 digits that were drawn of each, but for less than a part 2^-106 and 2^-116."""
    assert numbers.second is not None
    large: Floats = (numbers.first >> np.uint64(32)) * np.float64(2.0**-32) + numbers.whole
    small: Floats = (numbers.first & np.uint64(2**32 - 1)) * np.float64(2.0**-WORD)
    high, low = added(large, small)
    return added(high, low + numbers.second * 2.0 ** (-2 * WORD))


def _product(factors: Pair) -> tuple[Pair, Floats]:
    """The products of columns, divided by powers of 2 so that they lie from 1/2 to 1, and which powers."""
    high, low = factors
    powers = np.zeros(high.shape[1])
    while True:
        high, more = np.frexp(high)
        low = np.ldexp(low, -more)
        powers += more.sum(axis=0)
        if len(high) == 1:
            return (high[0], low[0]), powers
        half, odd = divmod(len(high), 2)
        rest = high[len(high) - odd :], low[len(low) - odd :]
        both = times((high[:half], low[:half]), (high[half : 2 * half], low[half : 2 * half]))
        high, low = (np.concatenate(parts) for parts in zip(both, rest, strict=True))


class FineSpread:
    """s·√V of one vector in whole numbers."""

    def __init__(self, spreads: Spreads, row: int) -> None:
        self.spreads, self.row = spreads, row
        self.squares: dict[int, tuple[int, int]] = {}
        """Between which whole numbers 4·s²·V lies, times 4^(64·words), by the number of words."""

    @property
    def pair(self) -> tuple[float, float, float]:
        """It in 128 digits, as two floats, and by which part it may be more."""
        low, high = (math.isqrt(square) for square in self._squares(2))
        near, unit = float(low), 2.0 ** (-2 * WORD - 1)
        part = (high + 1 - low) / low if low else math.inf
        return near * unit, float(low - int(near)) * unit, part

    def times(self, sizes: Numbers, place: int) -> int:
        """⌊s·√V·|N| + 1/2⌋ for one of the sizes |N|: digits are drawn until it is settled."""
        words = 2
        while True:
            size = sizes.of(place, words)
            ends = zip((size, size + 1), self._squares(words), strict=True)
            # ⌊2y⌋ for y = s·√V·|N|, and so ⌊y + 1/2⌋ = ⌊(⌊2y⌋ + 1)/2⌋.
            low, high = ((math.isqrt(one**2 * square >> 4 * WORD * words) + 1) // 2 for one, square in ends)
            if low == high:
                return low
            words += 1

    def _squares(self, words: int) -> tuple[int, int]:
        if words not in self.squares:
            scale = self.spreads.scale
            low, high = self._from_chances(words)
            if len(self.spreads.sizes.first):
                size = self.spreads.sizes.of(self.row, words)
                low, high = low + size**2, high + (size + 1) ** 2
            over, under = 4 * scale.numerator**2, scale.denominator**2
            self.squares[words] = low * over // under, -(-high * over // under)
        return self.squares[words]

    def _from_chances(self, words: int) -> tuple[int, int]:
        """Between which whole numbers −2·ln(U_1·…·U_k) lies, times 4^(64·words).

        If m ≤ 2^d·U < m + 1, ln U is between ln m − d·ln 2 and 1/m more. Of numbers that begin with so many
        zeros that m = 0, more digits are drawn.
        """
        column, seen = slice(self.row, None, self.spreads.many), words
        while 0 in (chances := self.spreads.chances.several(column, seen)):
            seen += 1
        bits = WORD * words + WORD // 2
        logs = [log(math.prod(chances[at : at + _FACTORS]), bits) for at in range(0, len(chances), _FACTORS)]
        low, high = (sum(ends) for ends in zip(*logs, strict=True))
        high += sum((1 << bits) // chance + 1 for chance in chances)
        digits = WORD * seen * len(chances)
        ends = digits * log_of_few(2, bits) - high, digits * (log_of_few(2, bits) + 2) - low
        low, high = (max(0, end) << 2 * WORD * words - bits + 1 for end in ends)
        return low, high
