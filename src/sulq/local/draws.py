"""Exact draws for many people at once, from the operating system's random bytes.

Every probability here is a multiple of 2^-64 or of 2^-53, or uniform on a range of whole numbers: a rational
number, met exactly by comparing random integers with integers. Bytes are drawn until they decide. How many
that takes depends on the bytes, never on anyone's value: noise is drawn first, and meets the values after.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sulq.privacy.coins import random_bytes

ONE = 2**64
"""The threshold of certainty: chances are told in multiples of 2^-64."""

PARTS = 2**53
"""The steps between two neighbouring grid points that a real number is rounded to one of, at random."""

# Random bytes are asked for and used up in pieces that stay in the processor's cache.
_PIECE = 2**18
_DIVIDED = np.uint16(2**8)
# Tables that stay in the processor's cache.
_MOST_CELLS = 2**12


def below(threshold: int, size: int) -> NDArray[np.bool_]:
    """`size` independent coins, true with probability threshold·2^-64, for a threshold from 0 to 2^64.

    >>> below(0, 3).tolist(), below(ONE, 3).tolist()
    ([False, False, False], [True, True, True])
    """
    if threshold == ONE:
        return np.ones(size, dtype=bool)
    drawn = random_bytes(size)
    byte = threshold >> 56
    true = drawn < byte
    tied = np.flatnonzero(drawn == byte)
    for shift in range(48, -8, -8):
        if not tied.size:
            break
        byte = threshold >> shift & 0xFF
        drawn = random_bytes(tied.size)
        true[tied] = drawn < byte
        tied = tied[drawn == byte]
    return true


def packed_bits(threshold: int, size: int) -> NDArray[np.uint8]:
    """`size` bytes of eight independent bits, each 1 with probability threshold·2^-64.

    Eight bits are drawn at once, by finding where a uniform number lies among the 256 patterns. Sixteen
    random bits nearly always tell; 64 settle the rest but for one case in 2^56, and 512 settle everything,
    because the probability of a pattern is a multiple of 2^-512.

    >>> packed_bits(0, 2).tolist(), packed_bits(ONE, 2).tolist()
    ([0, 0], [255, 255])
    """
    patterns = _patterns(threshold)
    bits = np.empty(size, dtype=np.uint8)
    for start in range(0, size, _PIECE):
        part = bits[start : start + _PIECE]
        drawn = random_bytes(2 * part.size).view(np.uint16)
        looked_up = patterns.table.take(drawn)
        part[:] = looked_up & 0xFF
        undecided = np.flatnonzero(looked_up >= _DIVIDED)
        part[undecided] = _settled(patterns, drawn[undecided])
    return bits


def uniform_below(sizes: int | NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """`count` independent draws, each from 0, …, size − 1, all equally likely; a size is at most 2^31.

    The high half of size·W, for a uniform 32-bit W, takes each value equally often once the W whose low half
    is below 2^32 mod size are drawn anew (Lemire, "Fast random integer generation in an interval", 2019).

    >>> sorted(set(uniform_below(3, 1000).tolist()))
    [0, 1, 2]
    """
    bounds = np.broadcast_to(np.asarray(sizes, dtype=np.uint64), count)
    products = random_bytes(4 * count).view(np.uint32) * bounds
    # The remainder is less than the size, and computed only where that does not settle it.
    uneven = np.flatnonzero((products & 0xFFFFFFFF) < bounds)
    uneven = uneven[(products[uneven] & 0xFFFFFFFF) < 2**32 % bounds[uneven]]
    while uneven.size:
        products[uneven] = random_bytes(4 * uneven.size).view(np.uint32) * bounds[uneven]
        uneven = uneven[(products[uneven] & 0xFFFFFFFF) < 2**32 % bounds[uneven]]
    return (products >> 32).astype(np.int64)


class Position(NamedTuple):
    """Numbers on the way from one grid point to the next: `part` of 2^53 steps beyond `base`."""

    base: NDArray[np.int64]
    part: NDArray[np.int64]


def position(
    values: NDArray[np.float64],
    low: float | NDArray[np.float64],
    high: float | NDArray[np.float64],
    steps: int,
) -> Position:
    """Where numbers lie on a grid of `steps` equal steps from low to high; what is outside counts as the end.

    The same function says what is drawn and how likely it was, so a float's rounding costs accuracy (some
    2^-52 of the interval), never truth. What is not a number counts as low.

    >>> position(np.array([0.0, 2.5, 99.0]), 0.0, 10.0, 2)
    Position(base=array([0, 0, 2]), part=array([               0, 4503599627370496,                0]))
    """
    at = _at(values, low, high, steps)
    base = np.floor(at)
    return Position(base.astype(np.int64), ((at - base) * PARTS).astype(np.int64))


@dataclass(frozen=True)
class Marks:
    """Uneven marks on the way from one number to another: whole numbers in order, of which the first is 0.

    Args:
        at: the marks; the last stands for the upper end.
    """

    at: NDArray[np.int64]

    def position(self, values: NDArray[np.float64], low: float, high: float) -> Position:
        """Where numbers lie among the marks; what is outside counts as the end, and what is no number as low.

        Args:
            values: the numbers.
            low: the number of the first mark.
            high: the number of the last mark.

        >>> Marks(np.array([0, 5, 10])).position(np.array([0.0, 5.5, 10.0]), 0.0, 10.0)
        Position(base=array([0, 1, 2]), part=array([              0, 900719925474099,               0]))
        """
        steps = _at(values, low, high, int(self.at[-1]))
        place = self._before(steps)
        beyond = (steps - self.at.take(place)) / self._gaps.take(place)
        return Position(place, (beyond * PARTS).astype(np.int64))

    def _before(self, steps: NDArray[np.float64]) -> NDArray[np.int64]:
        """The last mark that is not above each number. Marks are whole, so that whole parts tell it."""
        if self._cells is None:
            return np.searchsorted(self.at, steps, side="right") - 1
        whole = steps.astype(np.int64)
        place = self._cells.take(whole >> self._shift)
        place += whole >= self._next.take(place)
        return place

    @cached_property
    def _gaps(self) -> NDArray[np.int64]:
        return np.append(np.diff(self.at), 1)

    @cached_property
    def _next(self) -> NDArray[np.int64]:
        """The mark after each; none comes after the last."""
        return np.append(self.at[1:], self.at[-1] + 1)

    @cached_property
    def _shift(self) -> int:
        """Cells of 2^shift steps have at most one mark each: no two marks are nearer to each other."""
        return int(self._gaps[:-1].min()).bit_length() - 1

    @cached_property
    def _cells(self) -> NDArray[np.int64] | None:
        """The last mark that is not above the beginning of each cell, where there are not too many cells."""
        cells = (int(self.at[-1]) >> self._shift) + 1
        if cells > _MOST_CELLS:
            return None
        return np.searchsorted(self.at, np.arange(cells) << self._shift, side="right") - 1


def rounded(where: Position) -> NDArray[np.int64]:
    """One of the two grid points around each number, at random, so that the expectation is the number.

    >>> rounded(position(np.array([0.0, 10.0]), 0.0, 10.0, 1)).tolist()
    [0, 1]
    """
    words = random_bytes(8 * where.part.size).view(np.uint64) >> 11
    return where.base + (words.reshape(where.part.shape).astype(np.int64) < where.part)


def rounded_by_leading_bits(where: Position) -> NDArray[np.int64]:
    """The same law with fewer bits: 16 nearly always tell; for one number in 2^16, 37 more do.

    >>> rounded_by_leading_bits(position(np.array([0.0, 10.0]), 0.0, 10.0, 1)).tolist()
    [0, 1]
    """
    leading = where.part >> 37
    drawn = random_bytes(2 * where.part.size).view(np.uint16)
    further = drawn < leading
    undecided = np.flatnonzero(drawn == leading)
    if undecided.size:
        words = random_bytes(8 * undecided.size).view(np.uint64) >> 27
        further[undecided] = words.astype(np.int64) < where.part[undecided] & (2**37 - 1)
    return where.base + further


def _at(
    values: NDArray[np.float64],
    low: float | NDArray[np.float64],
    high: float | NDArray[np.float64],
    steps: int,
) -> NDArray[np.float64]:
    """How many steps above low numbers are."""
    width = np.where(np.asarray(high) > low, np.asarray(high) - low, 1.0)
    inside = np.fmin(np.fmax(np.asarray(values, dtype=np.float64), low), high)
    return np.asarray(np.minimum((inside - low) / width * steps, steps))


class _Patterns(NamedTuple):
    """The 256 patterns of eight bits side by side on [0, 1), each as wide as it is likely."""

    edges: list[int]
    """Where each but the first begins, times 2^512."""
    leading: NDArray[np.uint64]
    """The first 64 bits of the edges."""
    table: NDArray[np.uint16]
    """The pattern in which each cell of width 2^-16 begins, marked if an edge lies inside the cell."""


@lru_cache(maxsize=64)
def _patterns(threshold: int) -> _Patterns:
    edges, edge = [], 0
    for pattern in range(255):
        ones = pattern.bit_count()
        edge += threshold**ones * (ONE - threshold) ** (8 - ones)
        edges.append(edge)
    cells = [cell << 496 for cell in range(2**16 + 1)]
    begins = np.array([bisect_right(edges, cell) for cell in cells[:-1]], dtype=np.uint16)
    ends = np.array([bisect_right(edges, cell - 1) for cell in cells[1:]], dtype=np.uint16)
    # An edge at the very end of [0, 1) stands for patterns of no width; no number reaches it.
    leading = np.array([min(edge >> 448, ONE - 1) for edge in edges], dtype=np.uint64)
    return _Patterns(edges, leading, begins + _DIVIDED * (begins != ends).astype(np.uint16))


def _settled(patterns: _Patterns, drawn: NDArray[np.uint16]) -> NDArray[np.uint8]:
    """The patterns of numbers whose first 16 bits do not decide."""
    more = random_bytes(8 * drawn.size).view(np.uint64) >> 16
    words = drawn.astype(np.uint64) << 48 | more
    settled = np.searchsorted(patterns.leading, words, side="right")
    for i in np.flatnonzero((settled > 0) & (patterns.leading[settled - 1] == words)):
        rest = int.from_bytes(random_bytes(56).tobytes())
        settled[i] = bisect_right(patterns.edges, int(words[i]) << 448 | rest)
    return settled.astype(np.uint8)
