"""Neighbouring tables to try on a black box that nothing is known about: where could one row count for much?

A table is an array of numbers, one row a person, or a pair of such an array and an array of labels. It is a
test table: its bounds are taken as public.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sulq.errors import QueryError
from sulq.queries.query import Neighbours

Matrix: TypeAlias = NDArray[np.float64]
Pair: TypeAlias = tuple[str, Any, Any]
"""What the two tables are, in words, and the tables."""
TABLE = (
    "a test table is an array of numbers with a row for each person and a column at least, "
    "or a pair of one and of as many labels"
)


def pairs(data: Any, neighbours: Neighbours) -> Iterator[Pair]:
    """Pairs of neighbouring tables of the size of the test table, from ordinary ones to extreme ones.

    Args:
        data: an array of numbers, or a pair of an array and labels.
        neighbours: "replace" or "add-remove".

    >>> [words for words, _, _ in pairs(np.array([[0.0, 1], [1, 0], [1, 1]]), "replace")][0]
    'the test table and its first row at the lowest corner'
    """
    rows, labels = _read(data)
    for words, one, other in _rows(rows):
        first = labels if labels is None else labels.copy()
        yield _pair(words, one, first, other, first, neighbours)
    if labels is None:
        return
    kinds = np.unique(labels)
    for words, one_label, other_label in (
        ("one row has another label", kinds[0], kinds[-1]),
        ("one row is the only one with its label", _fresh(kinds), kinds[0]),
    ):
        first, second = labels.copy(), labels.copy()
        first[0], second[0] = one_label, other_label
        yield _pair(f"the test table, where {words}", rows, first, rows, second, neighbours)
        extreme = rows.copy()
        extreme[0] = rows.max(axis=0)
        yield _pair(f"{words}, and lies in a corner", extreme, first, extreme, second, neighbours)


def _read(data: Any) -> tuple[Matrix, NDArray[Any] | None]:
    """The rows of a test table, and their labels."""
    labelled = isinstance(data, tuple) and len(data) == 2
    try:
        rows = np.array(data[0] if labelled else data, dtype=np.float64)
        labels = np.array(data[1]) if labelled else None
    except (TypeError, ValueError):
        raise QueryError(TABLE) from None
    if rows.ndim != 2 or not rows.size or (labels is not None and len(labels) != len(rows)):
        raise QueryError(TABLE)
    return rows, labels


def _fresh(kinds: NDArray[Any]) -> Any:
    return kinds.max() + 1 if kinds.dtype.kind in "iuf" else f"{kinds.max()} and more"


def _rows(rows: Matrix) -> Iterator[tuple[str, Matrix, Matrix]]:
    """Tables of rows alone: each is given with its first row exchanged."""
    low, high = rows.min(axis=0), rows.max(axis=0)
    middle = (low + high) / 2
    for words, corner in (("lowest", low), ("highest", high)):
        yield f"the test table and its first row at the {words} corner", rows, _with(rows, corner)
    lowest = np.tile(low, (len(rows), 1))
    yield "all rows at the lowest corner, one at the highest", lowest, _with(lowest, high)
    central = np.tile(middle, (len(rows), 1))
    yield "all rows in the middle, one at the highest corner", central, _with(central, high)
    if rows.shape[1] > 1:
        # Two directions, with as many rows each, one more or less: a tie that one row breaks.
        axes = np.tile(np.clip(0.0, low, high), (2, 1))
        axes[[0, 1], [0, 1]] = np.clip(high[:2].min(), low[:2], high[:2])
        second = np.arange(len(rows)) >= (len(rows) + 1) // 2
        halves = axes[second.astype(int)]
        yield "half of the rows along one axis, half along another, one moved", halves, _with(halves, axes[1])
        if len(rows) % 2:
            even = halves.copy()
            even[1] = np.clip(0.0, low, high)
            words = "as many rows along one axis as along another, one at 0, one moved"
            yield words, even, _with(even, axes[1])


def _with(rows: Matrix, first: Matrix) -> Matrix:
    other = rows.copy()
    other[0] = first
    return other


def _pair(
    words: str, one: Matrix, labels: Any, other: Matrix, other_labels: Any, neighbours: Neighbours
) -> Pair:
    gone = neighbours == "add-remove"
    if gone:
        words, other, other_labels = (
            f"{words}; the row is there or not",
            other[1:],
            None if labels is None else labels[1:],
        )
        one = _with(one, one.max(axis=0)) if labels is None else one
    if labels is None:
        return words, one, other
    return words, (one, labels), (other, other_labels)
