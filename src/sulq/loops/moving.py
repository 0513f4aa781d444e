"""Rows that move and shrink, in NumPy: columns plus public offsets, vectors brought to a public length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Finish:
    """What integers in columns become after they moved: squared, stretched about a middle, on another grid.

    Args:
        squared: for each column, whether it is squared.
        middle: what is then subtracted from each column.
        stretch: what each column is then multiplied by, to be rounded to the nearest integer.
        grid: what each column is multiplied by at last, to be truncated towards zero.
    """

    squared: NDArray[np.bool_]
    middle: Floats
    stretch: Floats
    grid: Floats

    @classmethod
    def nothing(cls, width: int) -> Finish:
        """That integers stay what they are."""
        return cls(np.zeros(width, dtype=np.bool_), np.zeros(width), np.ones(width), np.ones(width))

    def of(self, values: Floats) -> Floats:
        """What becomes of integers, with a row for each column.

        >>> one = np.ones(2)
        >>> finish = Finish(np.array([True, False]), np.array([0.0, 0.5]), np.array([1.0, 2.0]), 0.5 * one)
        >>> finish.of(np.array([[3.0], [3.0]]))
        array([[4.],
               [2.]])
        """
        values = np.where(self.squared[:, np.newaxis], values * values, values)
        values = np.rint((values - self.middle[:, np.newaxis]) * self.stretch[:, np.newaxis])
        return np.trunc(values * self.grid[:, np.newaxis])


@dataclass(frozen=True)
class Moves:
    """How integers in columns move: times a factor, plus an offset, between bounds, and to a coarser grid.

    Args:
        factors: one for each column.
        offsets: for each column, one for each code that a row can have; or a single one for all rows.
        low: what each column is raised to where it is less.
        high: what each column is lowered to where it is more.
        coarser: what each column is then multiplied by, to be truncated towards zero.
        finish: what becomes of them at last, if anything.
    """

    factors: Floats
    offsets: Floats
    low: Floats
    high: Floats
    coarser: Floats
    finish: Finish | None = None


class Norm(NamedTuple):
    """A vector times `factor`, truncated towards zero, and shortened where it is longer than `limit`."""

    factor: float
    order: int
    limit: float


@dataclass(frozen=True)
class Moved(Sequence[Floats]):
    """The columns of a matrix whose rows first move, and are then shortened to one norm after the other.

    Args:
        columns: the columns as they are.
        moves: how they move, if they do.
        code: the code of each row, where offsets depend on one.
        weight: what each row is multiplied by after it moved, if there is anything.
        norms: the norms, the first one first.

    >>> one, offsets = np.ones(2), np.array([[0.0, 1.0], [0.0, 2.0]])
    >>> moves = Moves(one, offsets, low=0 * one, high=9 * one, coarser=one)
    >>> columns, code = [np.array([3.0, 2.0]), np.array([4.0, 77.0])], np.array([0, 1])
    >>> Moved(columns, moves, code).rows
    array([[3., 3.],
           [4., 9.]])
    >>> Moved(columns, moves, code, norms=[Norm(2.0, 1, 7.0)]).rows
    array([[3., 1.],
           [4., 5.]])
    """

    columns: Sequence[NDArray[Any]]
    moves: Moves | None = None
    code: NDArray[Any] | None = None
    weight: Floats | None = None
    norms: Sequence[Norm] = ()

    def __len__(self) -> int:
        return len(self.columns)

    def __getitem__(self, number: Any) -> Any:
        return self.rows[number]

    @cached_property
    def rows(self) -> Floats:
        """The matrix on its side."""
        values: Floats = np.array(self.columns, dtype=np.float64)
        if (moves := self.moves) is not None:
            values *= moves.factors[:, np.newaxis]
            values += moves.offsets if self.code is None else moves.offsets.take(self.code, axis=1)
            np.clip(values, moves.low[:, np.newaxis], moves.high[:, np.newaxis], out=values)
            values *= moves.coarser[:, np.newaxis]
            np.trunc(values, out=values)
            if moves.finish is not None:
                values = moves.finish.of(values)
        if self.weight is not None:
            values *= self.weight
        for factor, order, limit in self.norms:
            if factor != 1:
                values *= factor
                np.trunc(values, out=values)
            absolute = order == 1
            length = (
                np.abs(values).sum(axis=0) if absolute else np.sqrt(np.einsum("ij,ij->j", values, values))
            )
            values *= np.where(length > limit, limit / np.maximum(length, 1.0), 1.0)
            np.trunc(values, out=values)
        return values
