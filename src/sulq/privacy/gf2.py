"""Linear equations over GF(2), 64 coefficients to a word.

An equation ⟨x, r⟩ = y is a row of bits: x, and y after it. Bit j of a row is bit j mod 64 of word j div 64.

There are usually many more equations than unknowns, and after some of them the others say nothing new. So a
random few are brought to reduced echelon form, and of the others only those are kept that these do not imply,
until nothing is left. Which equations follow from a reduced system is a product with a basis of its null
space, taken byte by byte from tables ("four Russians"). If m of N equations in d unknowns were drawn, at most
N·(d + 1)/m of the others are expected to be left over, whatever the equations are: an equation that does not
follow from m random others would, put among them, be one of the at most d + 1 that those m + 1 need.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from sulq import loops
from sulq.privacy.coins import random_bytes, uniform

Words = NDArray[np.uint64]
Bits = NDArray[np.bool_]

WORD = 64
FEW = 8
"""Up to so many null vectors are multiplied one by one: that takes less than making tables."""
AT_ONCE = 2**12
"""How many equations are multiplied at once, to stay in a core's cache."""


@dataclass(frozen=True, eq=False)
class Solutions:
    """The solutions of a system, as the equations that are left of it in reduced echelon form.

    Every pivot is a column that one of the rows alone has a 1 in. The system has no solution if that is the
    column after the unknowns, whose row then says 0 = 1.

    >>> x = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]], dtype=bool)
    >>> solve(equations(x.T, np.array([1, 0, 1], dtype=bool)), 3).rank
    2
    >>> solve(equations(x.T, np.array([1, 0, 0], dtype=bool)), 3).consistent
    False
    """

    unknowns: int
    pivots: NDArray[np.int64]
    rows: Words

    @property
    def consistent(self) -> bool:
        return self.unknowns not in self.pivots

    @property
    def rank(self) -> int:
        """How many independent equations there are; 2^(unknowns − rank) solutions, if any."""
        return len(self.pivots)

    def random(self) -> Bits:
        """One of the solutions, all equally likely, from the operating system's randomness."""
        assert self.consistent
        point = np.unpackbits(random_bytes(8 * self.rows.shape[1]), bitorder="little")
        point[self.pivots] = 0
        point[self.unknowns :] = 0
        point[self.unknowns] = 1  # stands for the right-hand sides
        point[self.pivots] = products(self.rows, packed_vector(point))
        return point[: self.unknowns].astype(bool)


def packed(columns: Iterable[Bits]) -> Words:
    """Columns of bits as rows of words.

    >>> packed([np.array([True, False]), np.array([True, True])]).tolist()
    [[3], [2]]
    """
    octets: list[NDArray[np.uint8]] = []
    for number, column in enumerate(columns):
        if number % 8 == 0:
            octets.append(np.zeros(len(column), dtype=np.uint8))
        octets[-1] |= np.asarray(column, dtype=bool).view(np.uint8) << (number % 8)
    rows = np.zeros((len(octets[0]), -(-len(octets) // 8) * 8), dtype=np.uint8)
    for number, octet in enumerate(octets):
        rows[:, number] = octet
    return rows.view("<u8").astype(np.uint64, copy=False)


def packed_vector(bits: NDArray[np.generic]) -> Words:
    """A vector of bits as words.

    >>> packed_vector(np.array([1, 1, 0, 1])).tolist()
    [11]
    """
    octets = np.zeros(-(-len(bits) // WORD) * 8, dtype=np.uint8)
    used = np.packbits(bits.astype(bool), bitorder="little")
    octets[: len(used)] = used
    return octets.view("<u8").astype(np.uint64, copy=False)


def equations(unknowns: Iterable[Bits], right: Bits) -> Words:
    """One equation a row, from a column for each unknown and the right-hand sides."""
    return packed(chain(unknowns, [right]))


def products(rows: Words, vector: Words) -> Bits:
    """The product of each row with a vector: whether they have an odd number of ones in common.

    >>> products(np.array([[3], [2]], dtype=np.uint64), np.array([3], dtype=np.uint64)).tolist()
    [False, True]
    """
    folded = np.bitwise_xor.reduce(rows & vector, axis=1)
    return np.asarray(np.bitwise_count(folded) & 1, dtype=bool)


def solve(given: Words, unknowns: int) -> Solutions:
    """The solutions of a system of equations, as `equations` makes them.

    >>> rows = equations(np.array([[True, True, False], [False, True, True]]), np.array([True, False, True]))
    >>> solve(rows, 2).random().tolist()
    [True, True]
    """
    enough = (unknowns + 1) * 3 // 2 + WORD
    kept = _reduced(given[:0], unknowns)
    while len(given) and kept.consistent:
        drawn = given if len(given) <= enough else given[uniform(len(given), enough)]
        kept = _reduced(np.concatenate([kept.rows, drawn]), unknowns)
        given = given[:0] if drawn is given else given[_news(kept, given)]
    return kept


def _reduced(rows: Words, unknowns: int) -> Solutions:
    left, pivots = loops.echelon(rows, unknowns + 1)
    return Solutions(unknowns, pivots, left)


def _news(known: Solutions, given: Words) -> Bits:
    """Which of the equations do not follow from those that are known."""
    null = _null_vectors(known)
    if null.shape[1] == 0:
        return np.zeros(len(given), dtype=bool)
    if null.shape[1] <= FEW:
        return np.asarray(np.any([products(given, vector) for vector in packed(null)], axis=0))
    tables = _tables(packed(null.T))
    news = np.empty(len(given), dtype=bool)
    for start in range(0, len(given), AT_ONCE):
        octets = given[start : start + AT_ONCE].astype("<u8", copy=False).view(np.uint8).T.copy()
        product = tables[0][octets[0]]
        addend = np.empty_like(product)
        # A word's last bytes may lie beyond the last table. Clipping, where nothing is, spares NumPy a copy.
        for table, octet in zip(tables[1:], octets[1:], strict=False):
            product ^= np.take(table, octet, axis=0, out=addend, mode="clip")
        news[start : start + AT_ONCE] = product.any(axis=1)
    return news


def _null_vectors(known: Solutions) -> Bits:
    """A basis of all v with ⟨row, v⟩ = 0 for every row: a row for each column of the system, v by v.

    A column that is no pivot gives one: it, and the pivots of the rows that have a 1 in it.
    """
    ones = np.unpackbits(known.rows.astype("<u8", copy=False).view(np.uint8), axis=1, bitorder="little")
    others = np.setdiff1d(np.arange(known.unknowns + 1), known.pivots)
    vectors = np.zeros((known.unknowns + 1, len(others)), dtype=bool)
    vectors[known.pivots] = ones[:, others]
    vectors[others, np.arange(len(others))] = True
    return vectors


def _tables(rows: Words) -> NDArray[np.uint64]:
    """For every eight rows, the sum of each subset of them, by the subset as a byte."""
    eights = -(-len(rows) // 8)
    full = np.zeros((eights * 8, rows.shape[1]), dtype=np.uint64)
    full[: len(rows)] = rows
    tables = np.zeros((eights, 256, rows.shape[1]), dtype=np.uint64)
    for i in range(8):
        tables[:, 1 << i : 2 << i] = tables[:, : 1 << i] ^ full[i::8, np.newaxis]
    return tables
