"""Matrices as the compiled loops see them: where their columns lie, and what becomes of their rows."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sulq.loops.moving import Finish, Moved
from sulq.loops.plain import Matrix, Members, Taken

DOUBLES, SHORTS, MEMBERS, INTS = range(4)
KINDS: dict[Any, int] = {np.dtype(np.int16): SHORTS, np.dtype(np.int32): INTS, np.dtype(np.float64): DOUBLES}


class Movement(ctypes.Structure):
    """What becomes of the rows of a matrix."""

    _fields_ = (
        ("moves", ctypes.c_void_p),
        ("code", ctypes.c_void_p),
        ("offsets", ctypes.c_void_p),
        ("codes", ctypes.c_int64),
        ("weight", ctypes.c_void_p),
        ("norms", ctypes.c_void_p),
        ("many", ctypes.c_int64),
    )

    @classmethod
    def of(cls, moved: Moved) -> tuple[Movement, list[NDArray[Any]]]:
        """What becomes of rows, and the arrays that it points to."""
        kept = [np.array(moved.norms, dtype=np.float64)]
        movement = cls(None, None, None, 1, None, at(kept[0]), len(moved.norms))
        if (m := moved.moves) is not None:
            width, codes = m.offsets.shape
            # One for every number of 8 bits: no code, however wrong, can be looked up outside.
            offsets = np.zeros((width, 2**8))
            offsets[:, :codes] = m.offsets
            end = Finish.nothing(width) if m.finish is None else m.finish
            moves = (m.factors, m.low, m.high, m.coarser, end.squared, end.middle, end.stretch, end.grid)
            each = np.stack(moves, axis=1, dtype=np.float64)
            kept += [each, offsets]
            movement.moves, movement.offsets, movement.codes = at(each), at(offsets), codes
        if moved.code is not None:
            kept.append(np.ascontiguousarray(moved.code, dtype=np.uint8))
            movement.code = at(kept[-1])
        if moved.weight is not None:
            kept.append(np.ascontiguousarray(moved.weight, dtype=np.float64))
            movement.weight = at(kept[-1])
        return movement, kept


class Laid(ctypes.Structure):
    """A matrix, as it lies in memory."""

    _fields_ = (
        ("columns", ctypes.c_void_p),
        ("width", ctypes.c_int64),
        ("kind", ctypes.c_int64),
        ("places", ctypes.c_void_p),
        ("movement", ctypes.c_void_p),
    )

    columns: int | None
    width: int
    kind: int
    places: int | None
    movement: int | None
    rows: int
    kept: tuple[object, ...]
    """What `columns` and the others point to, and what that points to, so that they live as long."""

    @classmethod
    def of(cls, matrix: Matrix) -> Laid:
        if isinstance(matrix, Moved):
            seen = cls.of(matrix.columns)
            how, kept = Movement.of(matrix)
            seen.movement = ctypes.addressof(how)
            seen.kept = (*seen.kept, how, kept)
            return seen
        places = None
        if isinstance(matrix, Members):
            columns, width, kind = [np.ascontiguousarray(matrix.code, dtype=np.uint8)], matrix.size, MEMBERS
        else:
            whole = matrix.columns if isinstance(matrix, Taken) else matrix
            width, dtype = len(whole), _shared_dtype(whole)
            if isinstance(matrix, Taken) and dtype is not None:
                places = np.ascontiguousarray(matrix.places, dtype=np.int64)
            else:
                whole = list(matrix)
            dtype = np.dtype(np.float64) if dtype is None else dtype
            columns, kind = [np.ascontiguousarray(column, dtype=dtype) for column in whole], KINDS[dtype]
        lie = addresses(columns)
        seen = cls(
            ctypes.cast(lie, ctypes.c_void_p),
            width,
            kind,
            None if places is None else at(places),
            None,
        )
        seen.rows = len(columns[0] if places is None else places)
        seen.kept = (lie, columns if places is None else [*columns, places])
        return seen


def at(array: NDArray[Any]) -> int:
    """Where an array lies; it must be contiguous. Takes a fifth of the time of `array.ctypes.data`."""
    return int(pa.py_buffer(array).address)


def addresses(columns: Sequence[NDArray[Any]]) -> ctypes.Array[ctypes.c_void_p]:
    return (ctypes.c_void_p * len(columns))(*map(at, columns))


def _shared_dtype(columns: Sequence[NDArray[Any]]) -> np.dtype[Any] | None:
    """The type of all columns, if the loops can read it."""
    first = columns[0].dtype
    return first if first in KINDS and all(column.dtype == first for column in columns) else None
