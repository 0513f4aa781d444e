"""The inner loops compiled from `loops.c`, if they were when sulq was installed.

What they cannot take (more than 256 centres, long lists of codes) is done by `plain`.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sulq.loops import compiled_directions, plain
from sulq.loops.compiled_directions import aimed as aimed
from sulq.loops.compiled_directions import met as met
from sulq.loops.compiled_directions import normals as normals
from sulq.loops.matrices import Laid, addresses, at
from sulq.loops.plain import Bytes, Cleaning, Cut, Floats, Integers, Matrix, Step, Words

LINE = 64
LANES, LINES = 4, 2**13
IN_CACHE = 2**17
"""How many numbers of rows that are grouped lie beside each other."""
WIDEST = 1024
PATH = Path(__file__).with_name("loops.so")


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
        "product": [Laid, Laid, whole, address, address, address],
        "stepped_product": [Laid, Laid, whole, address, address, whole, address, address],
        "grouped_product": [
            Laid,
            Laid,
            whole,
            address,
            whole,
            *[address] * 2,
            *[whole] * 2,
            address,
            whole,
            address,
        ],
        "combined": [Laid, whole, address, address, address],
        "nearest": [Laid, whole, address, address, whole, address, address],
        "echelon": [address, whole, whole, whole, address],
        "cut_csv": [address, whole, ctypes.c_uint8, *[whole] * 2, address, *[whole] * 2, *[address] * 3],
        "written": [Laid, whole, address, address],
        "gather_csv": [address, address, address, whole, address, address, address],
    }
    for name, arguments in takes.items():
        function = getattr(library, name)
        function.argtypes, function.restype = arguments, None
    library.echelon.restype = library.cut_csv.restype = whole
    return library


LIBRARY: Any = None if compiled_directions.LIBRARY is None else _loaded()
STRIP = 0 if LIBRARY is None else ctypes.c_int64.in_dll(LIBRARY, "strip_rows").value
"""How many rows of a matrix are worked on at once, as the library was compiled."""


def real_steps(values: Floats, cleaning: Cleaning, out: NDArray[np.int32]) -> None:
    values = np.ascontiguousarray(values, dtype=np.float64)
    _check(out, values, np.int32)
    c = cleaning
    LIBRARY.real_steps(at(values), len(values), c.low, c.high, c.scale, c.missing, at(out))


def real_features(
    values: Floats, cleaning: Cleaning, middle: float, stretch: float, out: NDArray[np.int16]
) -> None:
    values = np.ascontiguousarray(values, dtype=np.float64)
    _check(out, values, np.int16)
    c = cleaning
    numbers = (c.low, c.high, c.scale, c.missing, middle, stretch)
    LIBRARY.real_features(at(values), len(values), *numbers, at(out))


def codes_of_entries(entries: NDArray[Any], table: NDArray[Any], out: NDArray[Any]) -> None:
    if entries.dtype != np.int32 or table.dtype != np.uint8:
        plain.codes_of_entries(entries, table, out)
        return
    _check(out, entries, np.uint8)
    LIBRARY.codes_of_entries(at(entries), len(entries), at(table), len(table) - 1, at(out))


def joint_counts(codes: Sequence[NDArray[Any]], sizes: Sequence[int]) -> Integers:
    cells = math.prod(sizes)
    if cells > 2**16 or max(sizes) > 2**8:
        return plain.joint_counts(codes, sizes)
    narrow = [np.ascontiguousarray(code, dtype=np.uint8) for code in codes]
    # One for every number of 16 bits: no code, however wrong, can be counted outside.
    counts = np.zeros(2**16, dtype=np.int64)
    steps = np.array(sizes, dtype=np.uint16)
    LIBRARY.joint_counts(addresses(narrow), at(steps), len(sizes), len(codes[0]), at(counts))
    return counts[:cells]


def product(left: Matrix, right: Matrix, steps: Sequence[Step] = (), weight: Floats | None = None) -> Floats:
    a, b = Laid.of(left), Laid.of(right)
    if _thin(a) or _thin(b):
        return plain.product(left, right, steps, weight)
    return _product(a, b, steps, weight)


def gram(matrix: Matrix, steps: Sequence[Step] = (), weight: Floats | None = None) -> Floats:
    same = Laid.of(matrix)
    return plain.gram(matrix, steps, weight) if _thin(same) else _product(same, same, steps, weight)


def grouped_product(
    left: Matrix,
    right: Matrix,
    code: NDArray[Any],
    size: int,
    steps: Sequence[Step] = (),
    weight: Floats | None = None,
) -> Floats:
    a = Laid.of(left)
    b = a if right is left else Laid.of(right)
    if _thin(a) or _thin(b):
        return plain.grouped_product(left, right, code, size, steps, weight)
    codes, numbers = np.ascontiguousarray(code, dtype=np.uint32), _numbers(tuple(steps))
    if len(codes) != a.rows or (a.rows and codes.max() >= size):
        raise ValueError(f"{len(codes)} codes do not say in which of {size} groups {a.rows} rows are")
    wide = -(-b.width // LANES) * LANES
    tall = 0 if b is a else a.width
    at_once = max(STRIP, min(LINES, IN_CACHE // (wide + tall)) // STRIP * STRIP)
    room = _room(a.width + b.width + (wide + tall) * at_once // STRIP)
    sums, weights = np.zeros((size, a.width, wide)), _weights(weight)
    about = (at(codes), size, None if weights is None else at(weights), at(numbers), len(numbers), at_once)
    LIBRARY.grouped_product(a, b, a.rows, *about, at(room), wide, at(sums))
    return sums[:, :, : b.width]


def written(matrix: Matrix, out: Floats) -> Floats:
    seen = Laid.of(matrix)
    if _thin(seen):
        return plain.written(matrix, out)
    if out.shape != (seen.width, seen.rows) or out.dtype != np.float64 or not out.flags.c_contiguous:
        raise ValueError(f"{seen.width} columns of {seen.rows} rows do not fit {out.shape} of {out.dtype}")
    room = _room(seen.width)
    LIBRARY.written(seen, seen.rows, at(room), at(out))
    return out


def combined(matrix: Matrix, weights: Floats) -> Floats:
    seen = Laid.of(matrix)
    if _thin(seen):
        return plain.combined(matrix, weights)
    if len(weights) != seen.width:
        raise ValueError(f"{len(weights)} weights do not fit {seen.width} columns")
    each, sums, room = np.ascontiguousarray(weights, dtype=np.float64), np.empty(seen.rows), _room(seen.width)
    LIBRARY.combined(seen, seen.rows, at(each), at(room), at(sums))
    return sums


def nearest(points: Sequence[NDArray[Any]], centres: Floats) -> NDArray[Any]:
    if len(centres) > 2**8:
        return plain.nearest(points, centres)
    matrix = Laid.of(points)
    if _thin(matrix):
        return plain.nearest(points, centres)
    weights, norms = np.ascontiguousarray(-2.0 * centres), (centres * centres).sum(axis=1)
    codes = np.empty(matrix.rows, dtype=np.uint8)
    room = _room(matrix.width)
    LIBRARY.nearest(matrix, matrix.rows, at(weights), at(norms), len(centres), at(room), at(codes))
    return codes


def echelon(rows: Words, columns: int) -> tuple[Words, Integers]:
    rows = np.array(rows, dtype=np.uint64, order="C")
    if columns > 64 * rows.shape[1]:
        raise ValueError(f"rows of {rows.shape[1]} words do not have {columns} columns")
    pivots = np.empty(len(rows), dtype=np.int64)
    rank = LIBRARY.echelon(at(rows), *rows.shape, columns, at(pivots))
    return rows[:rank], pivots[:rank]


def cut_csv(text: Bytes, delimiter: int, across: bool, last: bool, wanted: Sequence[int], room: int) -> Cut:
    text = np.ascontiguousarray(text, dtype=np.uint8)
    fields = np.array(wanted, dtype=np.int64)
    room = min(room, len(text))  # a row has a line end, or is the last and not empty
    starts, lengths = np.empty((2, len(fields), room), dtype=np.int64)
    consumed = ctypes.c_int64()
    settings = (delimiter, across, last, at(fields), len(fields), room)
    rows = LIBRARY.cut_csv(
        at(text), len(text), *settings, at(starts), at(lengths), ctypes.addressof(consumed)
    )
    return Cut(starts[:, :rows], lengths[:, :rows], consumed.value)


def gather_csv(text: Bytes, starts: Integers, lengths: Integers) -> tuple[Integers, Bytes, NDArray[np.bool_]]:
    text, starts, lengths = map(np.ascontiguousarray, (text, starts, lengths))
    offsets = np.empty(len(starts) + 1, dtype=np.int64)
    data = np.empty(int(np.maximum(lengths, 0).sum()), dtype=np.uint8)
    present = np.empty(len(starts), dtype=np.bool_)
    places = (at(starts), at(lengths), len(starts), at(offsets), at(data), at(present))
    LIBRARY.gather_csv(at(text), *places)
    return offsets, data[: offsets[-1]], present


def _check(out: NDArray[Any], values: NDArray[Any], dtype: type[np.generic]) -> None:
    """Refuse to write where there is no room for a number of this type for each value."""
    if out.dtype != dtype or len(out) != len(values):
        raise ValueError(f"{len(values)} of {dtype.__name__} do not fit {len(out)} of {out.dtype}")


def _thin(matrix: Laid) -> bool:
    """Whether there are so many columns that strips of them leave the cache, or no strip is filled."""
    return matrix.width > WIDEST or (matrix.width > matrix.rows and matrix.rows < STRIP)


def _product(left: Laid, right: Laid, steps: Sequence[Step], weight: Floats | None) -> Floats:
    sums = np.zeros((left.width, right.width))
    room = _room(left.width + right.width)
    weights = _weights(weight)
    each = None if weights is None else at(weights)
    numbers = _numbers(tuple(steps))
    if len(numbers):
        LIBRARY.stepped_product(left, right, left.rows, each, at(numbers), len(numbers), at(room), at(sums))
    else:
        LIBRARY.product(left, right, left.rows, each, at(room), at(sums))
    return sums


@lru_cache
def _numbers(steps: tuple[Step, ...]) -> Floats:
    """Steps as the loops take them: with bounds after the last one alone.

    A step keeps the order of numbers, or turns it round, and so does its rounding. So it makes no difference
    whether numbers are brought between bounds before it, or between what becomes of those bounds after it.
    What lies beyond the bounds may become too large to be exact, but it stays beyond them.
    """
    ends, factors = np.array([-math.inf, math.inf]), []
    for factor, low, high in steps:
        ends = np.sort(plain.stepped(ends, [Step(factor)])).clip(low, high)
        factors += [factor] if factor != 1 else []
    if not factors and np.isinf(ends).all():
        return np.zeros((0, 3))
    free = [(factor, -math.inf, math.inf) for factor in factors or [1.0]]
    return np.array([*free[:-1], (free[-1][0], *ends)])


def _weights(weight: Floats | None) -> Floats | None:
    return None if weight is None else np.ascontiguousarray(weight, dtype=np.float64)


def _room(strips: int) -> Floats:
    """Working memory that begins on a cache line."""
    room = np.empty(strips * STRIP + LINE // 8)
    return room[-at(room) % LINE // 8 :]
