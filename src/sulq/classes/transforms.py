"""Sums over very many parts of a table, all at once.

A class whose hypotheses are made axis by axis (this feature or not; true, false or any; from this bin to that
one) has scores

    G[i₁, …, iₖ] = Σₓ M₁[i₁, x₁] ··· Mₖ[iₖ, xₖ] · table[x],

where each M holds an axis' patterns. One axis is summed after the other. With [[1, 1], [1, −1]] on every axis
this is the Walsh–Hadamard transform, with [[1, 1], [0, 1]] the sum over supersets.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.signedinteger[Any]]
Floats = NDArray[np.float64]

HADAMARD = np.array([[1.0, 1.0], [1.0, -1.0]])
SUPERSETS = np.array([[1.0, 1.0], [0.0, 1.0]])
LITERALS = np.array([[1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
"""What a conjunction may say of a feature: nothing, that it is true, that it is false."""

TOGETHER = 64
"""Axes of so few possibilities in all are summed as one: that is work for BLAS."""
BLOCK = 2**17
"""How many numbers are summed at once, to stay in a core's cache."""


def transformed(table: Integers, patterns: Sequence[Floats]) -> Integers:
    """All the sums, the last axis varying fastest; the table may be overwritten.

    Patterns hold 0, 1 and −1 only, so in float64 all is exact as long as the table's magnitudes add up to
    less than 2^53; they must add up to what the table's own type can hold.

    >>> transformed(np.array([1, 0, 0, 2], dtype=np.int32), [SUPERSETS, SUPERSETS]).tolist()
    [3, 2, 2, 2]
    """
    values, before = table.ravel(), 1
    groups = _grouped(patterns)
    after = math.prod(group.shape[1] for group in groups)
    for group in groups:
        after //= group.shape[1]
        values = _summed(values.reshape(before, group.shape[1], after), group)
        before *= group.shape[0]
    return values.ravel()


def rising(table: Integers) -> Integers:
    """The sum from each place of a table to its end, and of nothing.

    >>> rising(np.array([1, 2, 3])).tolist()
    [6, 5, 3, 0]
    """
    sums = np.zeros(len(table) + 1, dtype=table.dtype)
    np.cumsum(table[::-1], out=sums[-2::-1])
    return sums


def stretched(table: Integers) -> Integers:
    """The sums over all boxes of a table: for each axis a stretch from one place to before another.

    The stretches of an axis are in the order of `stretches`, and those of the last axis vary fastest.

    >>> stretched(np.array([1, 2, 3])).tolist()
    [1, 3, 6, 2, 5, 3]
    """
    sums = table
    for axis in range(table.ndim):
        starts, stops = stretches(table.shape[axis])
        nothing = np.zeros_like(sums.take([0], axis=axis))
        until = np.concatenate([nothing, np.cumsum(sums, axis=axis, dtype=sums.dtype)], axis=axis)
        sums = until.take(stops, axis=axis)
        sums -= until.take(starts, axis=axis)
    return sums.ravel()


def stretches(size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where each stretch of `size` places starts, and the place after its last.

    >>> [places.tolist() for places in stretches(2)]
    [[0, 0, 1], [1, 2, 2]]
    """
    starts, stops = np.triu_indices(size + 1, k=1)
    return starts, stops


def _grouped(patterns: Sequence[Floats]) -> list[Floats]:
    """Neighbouring axes taken together; from the last on, so that it is not the last that is left small."""
    groups: list[Floats] = []
    for pattern in reversed(patterns):
        if groups and pattern.shape[1] * groups[0].shape[1] <= TOGETHER:
            groups[0] = np.kron(pattern, groups[0]).astype(np.float64)
        else:
            groups.insert(0, pattern)
    return groups


def _summed(values: Integers, patterns: Floats) -> Integers:
    """The middle axis summed against the patterns, in place if there are as many of them as possibilities."""
    before, possibilities, after = values.shape
    number = len(patterns)
    sums = values if number == possibilities else np.empty((before, number, after), dtype=values.dtype)
    wide = min(after, max(1, BLOCK // max(number, possibilities)))
    tall = max(1, BLOCK // (wide * max(number, possibilities)))
    for i in range(0, before, tall):
        for j in range(0, after, wide):
            piece = values[i : i + tall, :, j : j + wide].astype(np.float64)
            # One product of matrices where the axis is the last, one for each outer place where it is not.
            sums[i : i + tall, :, j : j + wide] = (
                (piece[:, :, 0] @ patterns.T)[:, :, np.newaxis] if after == 1 else patterns @ piece
            )
    return sums
