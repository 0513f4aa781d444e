"""Frames and arrays in memory, as Arrow tables.

A column is refused for its type alone. Columns of Python objects are read one cell at a time, and there is no
cell that fails: one that is neither a number nor a text is missing.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from sulq.errors import SchemaError, SulqError

LONGEST = 10**400
"""Integers beyond are read as this: no bound is as large, and Python writes out only so many digits."""


CELL_BY_CELL = ("object", "int128", "uint128")
"""Types of columns that Arrow does not have."""


def of_polars(data: Any, columns: Sequence[str]) -> pa.Table:
    """Some columns of a Polars frame, which may be lazy and fail."""
    frame = _collected(data)
    names = [name for name in frame.columns if name in columns]
    objects = [name for name in names if str(frame[name].dtype).lower() in CELL_BY_CELL]
    try:
        others = frame.select([name for name in names if name not in objects]).to_arrow()
    except pa.ArrowException:
        types = ", ".join(f"{name!r} of {frame[name].dtype}" for name in names)
        raise SchemaError(f"Arrow has no type for one of the columns {types}: convert it") from None
    read = {name: _texts(frame[name].to_list()) for name in objects}
    return pa.table({name: read[name] if name in read else others[name] for name in names})


def _collected(data: Any) -> Any:
    try:
        return data.lazy().collect()
    except Exception:
        pass  # what it says may quote a row
    raise SulqError("Polars cannot collect this frame: its query fails, perhaps on some row")


def named(array: np.ndarray[Any, Any], columns: Sequence[str]) -> dict[str, Any]:
    """The columns of an array by name: its own names, or those given, in order."""
    if array.dtype.names:
        return {name: array[name] for name in array.dtype.names if name in columns}
    if array.ndim == 1:
        array = array[:, np.newaxis]
    if array.ndim != 2 or array.shape[1] != len(columns):
        raise SchemaError(
            f"an array of shape {array.shape} does not have the schema's {len(columns)} columns"
        )
    return {name: array[:, i] for i, name in enumerate(columns)}


def table(columns: Mapping[str, Any]) -> pa.Table:
    """Columns of pandas, NumPy or Python, as one table."""
    arrays = {name: _column(name, values) for name, values in columns.items()}
    if len({len(array) for array in arrays.values()}) > 1:
        raise SchemaError("the columns have different lengths")
    return pa.table(arrays)


def _column(name: str, values: Any) -> pa.Array:
    """A pandas, NumPy, Polars or Python column in Arrow."""
    if isinstance(values, pa.ChunkedArray):
        return values.combine_chunks()
    if isinstance(values, pa.Array):
        return values
    dtype = str(getattr(values, "dtype", "object"))
    if dtype == "category":
        return _category(getattr(values, "cat", values))
    if dtype.lower() in CELL_BY_CELL or dtype.startswith(("<U", ">U", "|S")):
        return _texts(values)
    _check_type_of(name, values, dtype)
    try:
        array = pa.array(values, from_pandas=True)
    except Exception:  # a text that is not Unicode, in a column of texts
        return _texts(values)
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def _check_type_of(name: str, values: Any, dtype: str) -> None:
    """Refuse a column that Arrow cannot take, were it empty: so no row has a part in it."""
    try:
        pa.array(values[:0], from_pandas=True)
        return
    except Exception:
        pass
    raise SchemaError(
        f"column {name!r} of {dtype} cannot be read: give one dimension of numbers, booleans or text"
    )


def _category(values: Any) -> pa.Array:
    codes = np.asarray(values.codes)
    levels = _texts(np.asarray(values.categories, dtype=object))
    return pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), levels)


def _texts(cells: Iterable[object]) -> pa.Array:
    return pa.array([_text(cell) for cell in cells], pa.large_string())


def _text(cell: object) -> str | None:
    """A Python value as text; what is not a number or a text, or cannot be one, is missing."""
    try:
        return _written(cell)
    except Exception:  # a value may have methods of its own
        return None


def _written(cell: object) -> str | None:
    if isinstance(cell, bytes):
        return cell.decode("utf-8", "backslashreplace")
    if isinstance(cell, bool | np.bool_):
        return "true" if cell else "false"
    if isinstance(cell, float | np.floating):
        number = float(cell)
        # A whole number is written as an integer is, however large it is.
        return None if number != number else str(int(number)) if number.is_integer() else repr(number)
    if isinstance(cell, int):
        return str(max(-LONGEST, min(cell, LONGEST)))
    if isinstance(cell, datetime.date):
        return cell.isoformat()
    if isinstance(cell, str | np.integer | Decimal):
        return str(cell).encode("utf-8", "backslashreplace").decode()
    return None
