"""Frames and arrays in memory, as Arrow tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from sulq.errors import SchemaError, SulqError

LONGEST = 10**400
"""Integers beyond are read as this: no bound is as large, and Python writes out only so many digits."""


def collected(data: Any) -> Any:
    """The rows of a Polars frame, which may be lazy and fail."""
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
    try:
        return _arrow(values)
    except pa.ArrowException:
        pass  # what it says may quote a row
    kind = getattr(values, "dtype", type(values).__name__)
    raise SchemaError(
        f"column {name!r} of {kind} cannot be read: give one dimension of numbers, booleans or text"
    )


def _arrow(values: Any) -> pa.Array:
    """A pandas or NumPy column in Arrow. Columns of Python objects are read as text, one value at a time."""
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    dtype = str(getattr(values, "dtype", "object"))
    if dtype == "category":
        levels = _arrow(np.asarray(values.cat.categories, dtype=object))
        codes = np.asarray(values.cat.codes)
        return pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), levels)
    if dtype == "object" or dtype.startswith(("<U", ">U", "|S")):
        return pa.array([_text(value) for value in values], pa.large_string())
    array = pa.array(values, from_pandas=True)
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def _text(value: object) -> str | None:
    """A Python value as text; what is not a number or a text, or cannot be one, is missing."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, float | np.floating):
        return None if value != value else repr(float(value)).removesuffix(".0")
    if isinstance(value, int):
        return str(max(-LONGEST, min(value, LONGEST)))
    if isinstance(value, str | np.integer) or type(value).__name__ == "Decimal":
        return str(value).encode("utf-8", "backslashreplace").decode()
    return None
