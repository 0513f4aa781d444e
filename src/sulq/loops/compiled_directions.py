"""Directions and reports of them by the loops that were compiled from `directions.c`, if they were.

What `plain_directions` says, these do, to the last bit.
"""

from __future__ import annotations

import ctypes
import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sulq.loops.matrices import at
from sulq.loops.plain_directions import LARGEST, Floats, Key, pool_of

PATH = Path(__file__).with_name("directions.so")


def _loaded() -> ctypes.CDLL | None:
    try:
        library = ctypes.CDLL(str(PATH))
    except OSError:
        return None
    address, whole, real = ctypes.c_void_p, ctypes.c_int64, ctypes.c_double
    begins = [address, ctypes.c_uint64]
    takes: dict[str, list[Any]] = {
        "normals": [*begins, whole, whole, address],
        "aimed": [*begins, address, *[whole] * 4, real, real, address],
        "met": [*begins, real, *[whole] * 3, *[address] * 5, whole],
    }
    for name, arguments in takes.items():
        function = getattr(library, name)
        function.argtypes, function.restype = arguments, ctypes.c_uint64
    return library


LIBRARY: Any = _loaded()


def normals(key: Key, group: int, d: int, n: int) -> tuple[Floats, int]:
    rows = np.empty((d + d % 2, n))
    return rows[:d], LIBRARY.normals(at(key), group, d, n, at(rows))


def aimed(key: Key, group: int, rows: Floats, norm: float) -> tuple[Floats, int]:
    n, d = rows.shape
    if d < 2:
        raise ValueError("vectors of two numbers or more can be aimed at")
    if rows.dtype != np.float64 or any(step % 8 for step in rows.strides):
        rows = np.ascontiguousarray(rows, dtype=np.float64)
    made, (down, across) = np.empty((d, n)), (step // 8 for step in rows.strides)
    where = rows.ctypes.data
    used = LIBRARY.aimed(at(key), group, where, down, across, n, d, norm or math.inf, LARGEST, at(made))
    return made, used


def met(
    key: Key, group: int, threshold: float, towards: Floats, outside: NDArray[np.bool_], out: Floats
) -> int:
    d, n = out.shape
    towards, outside = np.require(towards, np.float64, ["C"]), np.require(outside, np.bool_, ["C"])
    if towards.shape != (d, n) or outside.shape != (n,):
        raise ValueError(f"{towards.shape} and {outside.shape} do not fit {d} rows of {n}")
    if out.dtype != np.float64 or out.strides[1] != 8 or out.strides[0] % 8:
        raise ValueError("there is no room for a row of numbers for each coordinate")
    most = min(pool_of(d), max(n, 1))
    room, places = np.empty((2 * d + 4) * most), np.empty(4 * most, dtype=np.int64)
    about = (threshold, d, n, most, at(towards), at(outside), at(room), at(places))
    used: int = LIBRARY.met(at(key), group, *about, out.ctypes.data, out.strides[0] // 8)
    return used
