"""The inner loops compiled from `loops.c`, if they were when sulq was installed.

What they cannot take (more than 256 centres, long lists of codes) is done by `plain`.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sulq.loops import plain
from sulq.loops.moving import Moved
from sulq.loops.plain import Bytes, Cleaning, Cut, Floats, Integers, Matrix, Members, Step, Taken, Words

LINE = 64
WIDEST = 1024
DOUBLES, SHORTS, MEMBERS, INTS = range(4)
KINDS: dict[Any, int] = {np.dtype(np.int16): SHORTS, np.dtype(np.int32): INTS, np.dtype(np.float64): DOUBLES}
PATH = Path(__file__).with_name("loops.so")


class _Movement(ctypes.Structure):
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
    def of(cls, moved: Moved) -> tuple[_Movement, list[NDArray[Any]]]:
        """What becomes of rows, and the arrays that it points to."""
        kept = [np.array(moved.norms, dtype=np.float64)]
        movement = cls(None, None, None, 1, None, _at(kept[0]), len(moved.norms))
        if (m := moved.moves) is not None:
            width, codes = m.offsets.shape
            # One for every number of 8 bits: no code, however wrong, can be looked up outside.
            offsets = np.zeros((width, 2**8))
            offsets[:, :codes] = m.offsets
            each = np.stack([m.factors, m.low, m.high, m.coarser], axis=1)
            kept += [each, offsets]
            movement.moves, movement.offsets, movement.codes = _at(each), _at(offsets), codes
        if moved.code is not None:
            kept.append(np.ascontiguousarray(moved.code, dtype=np.uint8))
            movement.code = _at(kept[-1])
        if moved.weight is not None:
            kept.append(np.ascontiguousarray(moved.weight, dtype=np.float64))
            movement.weight = _at(kept[-1])
        return movement, kept


class _Matrix(ctypes.Structure):
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
    def of(cls, matrix: Matrix) -> _Matrix:
        if isinstance(matrix, Moved):
            seen = cls.of(matrix.columns)
            how, kept = _Movement.of(matrix)
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
        addresses = _addresses(columns)
        seen = cls(
            ctypes.cast(addresses, ctypes.c_void_p),
            width,
            kind,
            None if places is None else _at(places),
            None,
        )
        seen.rows = len(columns[0] if places is None else places)
        seen.kept = (addresses, columns if places is None else [*columns, places])
        return seen


def _loaded() -> ctypes.CDLL | None:
    try:
        library = ctypes.CDLL(str(PATH))
    except OSError:
        return None
    address, whole, real = ctypes.c_void_p, ctypes.c_int64, ctypes.c_double
    takes: dict[str, list[Any]] = {
        "real_steps": [address, whole, *[real] * 4, address],
        "real_features": [address, whole, *[real] * 6, address],
        "codes_of_entries": [address, whole, address, ctypes.c_uint32, address],
        "joint_counts": [address, address, whole, whole, address],
        "grouped": [address, whole, address, address],
        "product": [_Matrix, _Matrix, whole, address, address, address],
        "stepped_product": [_Matrix, _Matrix, whole, address, address, whole, address, address],
        "nearest": [_Matrix, whole, address, address, whole, address, address],
        "echelon": [address, whole, whole, whole, address],
        "cut_csv": [address, whole, ctypes.c_uint8, *[whole] * 2, address, *[whole] * 2, *[address] * 3],
        "written": [_Matrix, whole, address, address],
        "gather_csv": [address, address, address, whole, address, address, address],
    }
    for name, arguments in takes.items():
        function = getattr(library, name)
        function.argtypes, function.restype = arguments, None
    library.echelon.restype = library.cut_csv.restype = whole
    return library


LIBRARY: Any = _loaded()
STRIP = 0 if LIBRARY is None else ctypes.c_int64.in_dll(LIBRARY, "strip_rows").value
"""How many rows of a matrix are worked on at once, as the library was compiled."""


def real_steps(values: Floats, cleaning: Cleaning, out: NDArray[np.int32]) -> None:
    values = np.ascontiguousarray(values, dtype=np.float64)
    _check(out, values, np.int32)
    c = cleaning
    LIBRARY.real_steps(_at(values), len(values), c.low, c.high, c.scale, c.missing, _at(out))


def real_features(
    values: Floats, cleaning: Cleaning, middle: float, stretch: float, out: NDArray[np.int16]
) -> None:
    values = np.ascontiguousarray(values, dtype=np.float64)
    _check(out, values, np.int16)
    c = cleaning
    numbers = (c.low, c.high, c.scale, c.missing, middle, stretch)
    LIBRARY.real_features(_at(values), len(values), *numbers, _at(out))


def codes_of_entries(entries: NDArray[Any], table: NDArray[Any], out: NDArray[Any]) -> None:
    if entries.dtype != np.int32 or table.dtype != np.uint8:
        plain.codes_of_entries(entries, table, out)
        return
    _check(out, entries, np.uint8)
    LIBRARY.codes_of_entries(_at(entries), len(entries), _at(table), len(table) - 1, _at(out))


def joint_counts(codes: Sequence[NDArray[Any]], sizes: Sequence[int]) -> Integers:
    cells = math.prod(sizes)
    if cells > 2**16 or max(sizes) > 2**8:
        return plain.joint_counts(codes, sizes)
    narrow = [np.ascontiguousarray(code, dtype=np.uint8) for code in codes]
    # One for every number of 16 bits: no code, however wrong, can be counted outside.
    counts = np.zeros(2**16, dtype=np.int64)
    steps = np.array(sizes, dtype=np.uint16)
    LIBRARY.joint_counts(_addresses(narrow), _at(steps), len(sizes), len(codes[0]), _at(counts))
    return counts[:cells]


def grouped(code: NDArray[Any], size: int) -> list[NDArray[np.intp]]:
    narrow = np.ascontiguousarray(code, dtype=np.uint8)
    places, after = np.empty(len(narrow), dtype=np.int64), np.empty(2**8, dtype=np.int64)
    LIBRARY.grouped(_at(narrow), len(narrow), _at(places), _at(after))
    return np.split(places, after[: size - 1])


def product(left: Matrix, right: Matrix, steps: Sequence[Step] = (), weight: Floats | None = None) -> Floats:
    a, b = _Matrix.of(left), _Matrix.of(right)
    if _thin(a) or _thin(b):
        return plain.product(left, right, steps, weight)
    return _product(a, b, steps, weight)


def gram(matrix: Matrix, steps: Sequence[Step] = (), weight: Floats | None = None) -> Floats:
    same = _Matrix.of(matrix)
    return plain.gram(matrix, steps, weight) if _thin(same) else _product(same, same, steps, weight)


def written(matrix: Matrix, out: Floats) -> Floats:
    seen = _Matrix.of(matrix)
    if _thin(seen):
        return plain.written(matrix, out)
    if out.shape != (seen.width, seen.rows) or out.dtype != np.float64 or not out.flags.c_contiguous:
        raise ValueError(f"{seen.width} columns of {seen.rows} rows do not fit {out.shape} of {out.dtype}")
    room = _room(seen.width)
    LIBRARY.written(seen, seen.rows, _at(room), _at(out))
    return out


def nearest(points: Sequence[NDArray[Any]], centres: Floats) -> NDArray[Any]:
    if len(centres) > 2**8:
        return plain.nearest(points, centres)
    matrix = _Matrix.of(points)
    if _thin(matrix):
        return plain.nearest(points, centres)
    weights, norms = np.ascontiguousarray(-2.0 * centres), (centres * centres).sum(axis=1)
    codes = np.empty(matrix.rows, dtype=np.uint8)
    room = _room(matrix.width)
    LIBRARY.nearest(matrix, matrix.rows, _at(weights), _at(norms), len(centres), _at(room), _at(codes))
    return codes


def echelon(rows: Words, columns: int) -> tuple[Words, Integers]:
    rows = np.array(rows, dtype=np.uint64, order="C")
    if columns > 64 * rows.shape[1]:
        raise ValueError(f"rows of {rows.shape[1]} words do not have {columns} columns")
    pivots = np.empty(len(rows), dtype=np.int64)
    rank = LIBRARY.echelon(_at(rows), *rows.shape, columns, _at(pivots))
    return rows[:rank], pivots[:rank]


def cut_csv(text: Bytes, delimiter: int, across: bool, last: bool, wanted: Sequence[int], room: int) -> Cut:
    text = np.ascontiguousarray(text, dtype=np.uint8)
    fields = np.array(wanted, dtype=np.int64)
    room = min(room, len(text))  # a row has a line end, or is the last and not empty
    starts, lengths = np.empty((2, len(fields), room), dtype=np.int64)
    consumed = ctypes.c_int64()
    settings = (delimiter, across, last, _at(fields), len(fields), room)
    rows = LIBRARY.cut_csv(
        _at(text), len(text), *settings, _at(starts), _at(lengths), ctypes.addressof(consumed)
    )
    return Cut(starts[:, :rows], lengths[:, :rows], consumed.value)


def gather_csv(text: Bytes, starts: Integers, lengths: Integers) -> tuple[Integers, Bytes, NDArray[np.bool_]]:
    text, starts, lengths = map(np.ascontiguousarray, (text, starts, lengths))
    offsets = np.empty(len(starts) + 1, dtype=np.int64)
    data = np.empty(int(np.maximum(lengths, 0).sum()), dtype=np.uint8)
    present = np.empty(len(starts), dtype=np.bool_)
    places = (_at(starts), _at(lengths), len(starts), _at(offsets), _at(data), _at(present))
    LIBRARY.gather_csv(_at(text), *places)
    return offsets, data[: offsets[-1]], present


def _check(out: NDArray[Any], values: NDArray[Any], dtype: type[np.generic]) -> None:
    """Refuse to write where there is no room for a number of this type for each value."""
    if out.dtype != dtype or len(out) != len(values):
        raise ValueError(f"{len(values)} of {dtype.__name__} do not fit {len(out)} of {out.dtype}")


def _at(array: NDArray[Any]) -> int:
    """Where an array lies; it must be contiguous. Takes a fifth of the time of `array.ctypes.data`."""
    return int(pa.py_buffer(array).address)


def _addresses(columns: Sequence[NDArray[Any]]) -> ctypes.Array[ctypes.c_void_p]:
    return (ctypes.c_void_p * len(columns))(*map(_at, columns))


def _shared_dtype(columns: Sequence[NDArray[Any]]) -> np.dtype[Any] | None:
    """The type of all columns, if the loops can read it."""
    first = columns[0].dtype
    return first if first in KINDS and all(column.dtype == first for column in columns) else None


def _thin(matrix: _Matrix) -> bool:
    """Whether there are so many columns that strips of them leave the cache, or no strip is filled."""
    return matrix.width > WIDEST or (matrix.width > matrix.rows and matrix.rows < STRIP)


def _product(left: _Matrix, right: _Matrix, steps: Sequence[Step], weight: Floats | None) -> Floats:
    sums = np.zeros((left.width, right.width))
    room = _room(left.width + right.width)
    weights = None if weight is None else np.ascontiguousarray(weight, dtype=np.float64)
    each = None if weights is None else _at(weights)
    if steps:
        numbers = np.array(steps, dtype=np.float64)
        LIBRARY.stepped_product(left, right, left.rows, each, _at(numbers), len(steps), _at(room), _at(sums))
    else:
        LIBRARY.product(left, right, left.rows, each, _at(room), _at(sums))
    return sums


def _room(strips: int) -> Floats:
    """Working memory that begins on a cache line."""
    room = np.empty(strips * STRIP + LINE // 8)
    return room[-_at(room) % LINE // 8 :]
