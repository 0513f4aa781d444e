"""The inner loops in NumPy and Python: what each of them computes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sulq.loops.moving import Moved
from sulq.loops.plain_csv import NEWLINE as NEWLINE
from sulq.loops.plain_csv import QUOTE as QUOTE
from sulq.loops.plain_csv import Bytes as Bytes
from sulq.loops.plain_csv import Cut as Cut
from sulq.loops.plain_csv import csv_cells as csv_cells
from sulq.loops.plain_csv import cut_csv as cut_csv
from sulq.loops.plain_csv import gather_csv as gather_csv
from sulq.loops.plain_directions import aimed as aimed
from sulq.loops.plain_directions import met as met
from sulq.loops.plain_directions import normals as normals

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Words = NDArray[np.uint64]


@dataclass(frozen=True)
class Members:
    """For each of at most 256 groups a column that is 1 for its members: the rows with its code."""

    code: NDArray[Any]
    size: int


class Taken(Sequence[NDArray[Any]]):
    """Columns of which only the rows at some places are looked at; taken one by one where needed."""

    def __init__(self, columns: Sequence[NDArray[Any]], places: NDArray[np.intp]) -> None:
        self.columns = columns
        self.places = places

    def __len__(self) -> int:
        return len(self.columns)

    def __getitem__(self, number: Any) -> Any:
        return self.columns[number].take(self.places)


Matrix = Sequence[NDArray[Any]] | Members
"""The columns of a matrix of integers, in any type that holds them."""


class Step(NamedTuple):
    """A number multiplied by `factor`, truncated towards zero, and brought between two bounds."""

    factor: float
    low: float = -math.inf
    high: float = math.inf


def stepped(values: Floats, steps: Sequence[Step]) -> Floats:
    """Integers that take steps.

    >>> stepped(np.array([7.0, -7.0]), [Step(0.5), Step(1.0, low=-2.0)])
    array([ 3., -2.])
    """
    for factor, low, high in steps:
        if factor != 1:
            values = values * factor
            np.trunc(values, out=values)
        if low > -math.inf or high < math.inf:
            values = np.clip(values, low, high)
    return values


@dataclass(frozen=True)
class Cleaning:
    """How a number becomes an integer on its column's grid: clamped, scaled, truncated.

    What is not a number becomes `missing`.
    """

    low: float
    high: float
    scale: float
    missing: float


def real_steps(values: Floats, cleaning: Cleaning, out: NDArray[np.int32]) -> None:
    """Clean numbers, in steps of their grid."""
    out[:] = _clean(values, cleaning)


def real_features(
    values: Floats, cleaning: Cleaning, middle: float, stretch: float, out: NDArray[np.int16]
) -> None:
    """Clean numbers, with their public interval scaled to 16 bits."""
    out[:] = np.rint((_clean(values, cleaning) - middle) * stretch)


def codes_of_entries(entries: NDArray[Any], table: NDArray[Any], out: NDArray[Any]) -> None:
    """The code of each entry of a dictionary; the table's last is for all that is beyond."""
    last = len(table) - 1
    out[:] = table[np.where((entries < 0) | (entries > last), last, entries)]


def joint_counts(codes: Sequence[NDArray[Any]], sizes: Sequence[int]) -> Integers:
    """How often each combination of several choices occurs, the last varying fastest."""
    cells = math.prod(sizes)
    joint: NDArray[Any] = codes[0].astype(np.uint16 if cells < 2**16 else np.int64)
    for code, size in zip(codes[1:], sizes[1:], strict=True):
        np.multiply(joint, size, out=joint)
        np.add(joint, code, out=joint, casting="unsafe")
    return np.bincount(joint, minlength=cells)


def product(left: Matrix, right: Matrix, steps: Sequence[Step] = (), weight: Floats | None = None) -> Floats:
    """leftᵀ · right, of products that first take their steps on every row and then count with its weight."""
    down, across = _rows(left), _rows(right)
    if not steps:
        return (down if weight is None else down * weight) @ across.T
    weights = np.ones(across.shape[1]) if weight is None else weight
    return np.array([stepped(column * across, steps) @ weights for column in down])


def gram(matrix: Matrix, steps: Sequence[Step] = (), weight: Floats | None = None) -> Floats:
    """matrixᵀ · matrix, at least on and above the diagonal."""
    rows = _rows(matrix)
    return rows @ rows.T if not steps and weight is None else product(list(rows), list(rows), steps, weight)


def grouped_product(
    left: Matrix,
    right: Matrix,
    code: NDArray[Any],
    size: int,
    steps: Sequence[Step] = (),
    weight: Floats | None = None,
) -> Floats:
    """leftᵀ · right of the rows with each code; of a matrix with itself, at least on and above the diagonal.

    Args:
        left: a matrix.
        right: a matrix of as many rows.
        code: the group of each row.
        size: how many groups there are.
        steps: what the products take on every row.
        weight: what each row counts with after that.

    >>> grouped_product([np.array([1, 2, 3])], [np.array([5, 6, 7])], np.array([1, 0, 1]), 2).tolist()
    [[[12.0]], [[26.0]]]
    """
    down, across = _rows(left), _rows(right)
    if len(down) > 1:
        order = np.argsort(code, kind="stable")
        groups = np.split(order, np.cumsum(np.bincount(code, minlength=size))[:-1])
        weights = [None if weight is None else weight[rows] for rows in groups]
        pairs = zip(groups, weights, strict=True)
        return np.array(
            [product(list(down[:, rows]), list(across[:, rows]), steps, each) for rows, each in pairs]
        )
    values = stepped(down * across, steps)
    values = values if weight is None else values * weight
    sums = [np.bincount(code, weights=row, minlength=size) for row in values]
    return np.stack(sums, axis=1, dtype=np.float64)[:, np.newaxis]


def written(matrix: Matrix, out: Floats) -> Floats:
    """Write the columns of a matrix to `out`."""
    out[:] = _rows(matrix)
    return out


def combined(matrix: Matrix, weights: Floats) -> Floats:
    """For each row the sum of its numbers, each times the weight of its column.

    >>> combined([np.array([1, 2]), np.array([5, 6])], np.array([1.0, 10.0])).tolist()
    [51.0, 62.0]
    """
    return np.asarray(weights @ _rows(matrix))


def nearest(points: Sequence[NDArray[Any]], centres: Floats) -> NDArray[Any]:
    """The centre nearest to each point; of several equally near, the first."""
    scores = (-2.0 * centres) @ _rows(points) + (centres * centres).sum(axis=1)[:, np.newaxis]
    numbers: NDArray[Any] = scores.argmin(axis=0).astype(np.min_scalar_type(len(centres) - 1))
    return numbers


def echelon(rows: Words, columns: int) -> tuple[Words, Integers]:
    """Equations over GF(2) in reduced echelon form: those that are left, and the pivot of each.

    Bit j of a row is bit j mod 64 of word j div 64; `columns` bits count. A pivot is a column that one of the
    rows alone has a 1 in.
    """
    rows = np.array(rows, dtype=np.uint64)
    pivots: list[int] = []
    for column in range(columns):
        rank = len(pivots)
        if rank == len(rows):
            break
        word, bit = divmod(column, 64)
        ones = (rows[:, word] >> np.uint64(bit)).astype(np.uint8) & 1 == 1
        pivot = rank + int(ones[rank:].argmax())
        if not ones[pivot]:
            continue
        if pivot != rank:
            rows[[rank, pivot]] = rows[[pivot, rank]]
            ones[pivot] = ones[rank]
        ones[rank] = False
        # Left of its column the pivot's row is empty.
        rows[ones, word:] ^= rows[rank, word:]
        pivots.append(column)
    return rows[: len(pivots)], np.array(pivots, dtype=np.int64)


def _clean(values: Floats, cleaning: Cleaning) -> Floats:
    steps = np.trunc(np.clip(values, cleaning.low, cleaning.high) * cleaning.scale)
    return np.where(np.isnan(values), cleaning.missing, steps)


def _rows(matrix: Matrix) -> Floats:
    """The matrix on its side."""
    if isinstance(matrix, Members):
        members = matrix.code == np.arange(matrix.size)[:, np.newaxis]
        return np.asarray(members, dtype=np.float64)
    if isinstance(matrix, Moved):
        return matrix.rows
    return np.array(matrix, dtype=np.float64)
