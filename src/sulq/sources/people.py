"""Which rows of a person count, when a person has several."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sulq.schema import Unit

Hashes = NDArray[np.uint64]


def counted_rows(
    unit: Unit, people: pa.ChunkedArray, columns: Iterable[NDArray[np.generic]]
) -> NDArray[np.intp]:
    """The rows that count: of every person, those `unit.rows` with the smallest hash of their own values.

    A row's hash depends on that row's clean values and the public salt alone, and rows are compared only
    with rows of the same person: nobody's presence moves another's rows, nor does the order of the table.
    Rows of one person with equal hashes are equal rows (or, once in 2^64, fall to the table's order).
    """
    if pa.types.is_floating(people.type):
        people = pc.if_else(pc.is_nan(people), None, people)
    named = people.combine_chunks().dictionary_encode()
    whose = np.asarray(named.indices.fill_null(-1)).astype(np.int64)
    hashes = row_hashes(unit.salt, len(whose), columns)
    order = np.lexsort((hashes, whose))
    sorted_people = whose[order]
    first = np.r_[True, sorted_people[1:] != sorted_people[:-1]] if len(order) else np.zeros(0, bool)
    started = np.maximum.accumulate(np.where(first, np.arange(len(order)), 0))
    rank = np.arange(len(order)) - started
    return np.sort(order[(rank < unit.rows) & (sorted_people >= 0)])


def row_hashes(salt: str, rows: int, columns: Iterable[NDArray[np.generic]]) -> Hashes:
    """A 64-bit hash of each row's encoded values; a bijective mix after every column."""
    seed = int.from_bytes(hashlib.sha256(salt.encode()).digest()[:8], "little")
    hashes = np.full(rows, seed, dtype=np.uint64)
    for values in columns:
        hashes ^= values.astype(np.int64).view(np.uint64)
        # Steele, Lea and Flood's finalizer of SplitMix64.
        hashes += np.uint64(0x9E3779B97F4A7C15)
        hashes = (hashes ^ (hashes >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        hashes = (hashes ^ (hashes >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        hashes ^= hashes >> np.uint64(31)
    return hashes
