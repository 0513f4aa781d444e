"""A table as scikit-learn gives it, as columns that sulq can open, and what is public about them.

What is refused here depends on names, types and shapes, and on no row. scikit-learn's own checks of an array
quote the rows, so they are not made; the words are theirs where they quote nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from sulq.schema import Category, Kind, Real, text

PAIR = "a pair of numbers (low, high)"
FROM_X = "from X"
"""In place of a list of categories: the list that a column's type has is public."""
_UNTRUE = np.frompyfunc(lambda cell: int(cell) if isinstance(cell, bool | np.bool_) else cell, 1, 1)


def columns_of(estimator: Any, X: Any, *, reset: bool, least: int = 1) -> list[Any]:
    """The columns of X in order.

    Args:
        estimator: the estimator that X was given to.
        X: a table or an array.
        reset: whether the names and the number of columns are noted on the estimator; else they are compared
            with what was noted.
        least: how many rows X must have.
    """
    if not hasattr(X, "columns"):
        array = _array(X, type(estimator).__name__, least)
        validate_data(estimator, array, reset=reset, skip_check_array=True)
        return list(_native(array).T)
    # Polars as Arrow: not every scikit-learn knows the names of its columns.
    table = X.to_arrow() if hasattr(X, "to_arrow") else X
    names = [str(name) for name in (table.column_names if isinstance(table, pa.Table) else table.columns)]
    if len(set(names)) < len(names):
        raise ValueError(f"a column of X is named twice: {', '.join(names)}")
    validate_data(estimator, table, reset=reset, skip_check_array=True)
    if table.shape[0] < least or not names:
        raise ValueError(f"X has {table.shape[0]} row(s) and {len(names)} feature(s); it needs some of both")
    if isinstance(table, pa.Table):
        return list(table.columns)
    return [table.iloc[:, position] for position in range(len(names))]


def _array(X: Any, estimator: str, least: int) -> NDArray[Any]:
    """X as an array of rows and columns, or a refusal."""
    if hasattr(X, "tocsr"):
        raise TypeError(f"Sparse data was passed, and {estimator} needs dense data: give X.toarray()")
    array = _rows(X) if isinstance(X, list | tuple) else array_of(X, "X")
    if array.dtype == object and array.ndim == 1:
        # One row of another length makes such an array of lists out of a table.
        array = _rows(array.tolist())
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported")
    if array.ndim < 2:
        raise ValueError(
            f"Expected 2D array, got {'1D' if array.ndim else 'scalar'} array instead. Reshape your data "
            "either using array.reshape(-1, 1) if your data has a single feature or array.reshape(1, -1) if "
            "it contains a single sample."
        )
    if array.ndim > 2:
        raise ValueError(f"Found array with dim {array.ndim}, while dim <= 2 is required by {estimator}.")
    for number, needed, what in zip(array.shape, (least, 1), ("sample", "feature"), strict=True):
        if number < needed:
            raise ValueError(
                f"Found array with {number} {what}(s) (shape={array.shape}) while a minimum of {needed} is "
                f"required by {estimator}."
            )
    return array


def _rows(X: Sequence[Any]) -> NDArray[Any]:
    """A list of rows as an array of their cells, each as it is: one type for all would depend on all rows.

    The number of columns is the length of most rows. A row of another length has missing values only.
    """
    lengths = [_length(row) for row in X]
    width = Counter(lengths).most_common(1)[0][0] if lengths else None
    if width is None:
        return np.empty(len(X), dtype=object)
    array = np.full((len(X), width), None, dtype=object)
    for place, row in enumerate(X):
        if lengths[place] == width:
            for column, cell in enumerate(row):
                array[place, column] = cell
    return array


def _length(row: Any) -> int | None:
    """How many cells a row has; None of what is no row."""
    listed = isinstance(row, list | tuple) or (isinstance(row, np.ndarray) and row.ndim > 0)
    return len(row) if listed else None


def array_of(given: Any, name: str) -> NDArray[Any]:
    """An array of what is one already, or of what can be made one."""
    try:
        return np.asarray(given)
    except Exception:
        pass  # what it says may quote a row
    raise ValueError(f"{name} of type {type(given).__name__} cannot be read: give a table or an array")


def kinds(names: Sequence[str], columns: Sequence[Any], bounds: Any, booleans: Kind) -> dict[str, Kind]:
    """The schema that bounds declare. Columns whose type is a truth value are `booleans`."""
    declared = _categories(names, columns, bounds)
    types = {name: _type(column) for name, column in zip(names, columns, strict=True)}
    texts = [name for name, type_ in types.items() if type_ == "text" and name not in declared]
    if texts:
        raise ValueError(
            "columns of texts need their categories declared, as public facts: in bounds= by a list of them, "
            f"or by {FROM_X!r} where the column's type lists them and that list is public; or in a schema=. "
            f"Columns without: {', '.join(texts)}"
        )
    rest = {name: value for name, value in bounds.items() if name not in declared} if declared else bounds
    numbers = [name for name, type_ in types.items() if type_ != "boolean" and name not in declared]
    pairs = _pairs([name for name in names if name not in declared], numbers, rest)
    return {
        name: declared[name]
        if name in declared
        else booleans
        if name not in numbers
        else _real(name, pairs[name])
        for name in names
    }


def _categories(names: Sequence[str], columns: Sequence[Any], bounds: Any) -> dict[str, Kind]:
    """The columns whose categories are declared in place of bounds."""
    if not isinstance(bounds, Mapping):
        return {}
    declared: dict[str, Kind] = {}
    for name, column in zip(names, columns, strict=True):
        given = bounds.get(name)
        if isinstance(given, str):
            listed = getattr(getattr(column, "dtype", None), "categories", None)
            if given != FROM_X or listed is None:
                raise ValueError(
                    f"the categories of {name!r} are a list of texts, or {FROM_X!r} where the column's type "
                    "lists them: give it the type category, as pandas.CategoricalDtype([...])"
                )
            declared[name] = Category(tuple(text(each) for each in listed.tolist()))
        elif isinstance(given, list | tuple | np.ndarray) and any(isinstance(each, str) for each in given):
            declared[name] = Category(tuple(text(each) for each in given))
    return declared


def _pairs(names: Sequence[str], numbers: Sequence[str], bounds: Any) -> Mapping[str, Any]:
    """The bounds of each numeric column, however they were given."""
    if bounds is None:
        if not numbers:
            return {}
        raise ValueError(
            "numbers need bounds, public facts that are declared and never read off the data: give bounds="
            f"{PAIR} for all columns, a list or a dict of such pairs, or a schema=. Columns without: "
            f"{', '.join(numbers)}"
        )
    if isinstance(bounds, Mapping):
        different = sorted({*numbers} - {*bounds}) + sorted(map(repr, {*bounds} - {*names}))
        if different:
            raise ValueError(
                f"bounds must name each numeric column, and no others: see {', '.join(different)}"
            )
        return bounds
    if isinstance(bounds, str) or np.ndim(bounds) not in (1, 2):
        raise ValueError(f"bounds must be {PAIR}, a list of such pairs or a dict of them, not {bounds!r}")
    if np.ndim(bounds) == 1:
        return dict.fromkeys(numbers, bounds)
    if len(bounds) != len(names):
        raise ValueError(f"there are {len(bounds)} pairs of bounds for {len(names)} columns")
    return dict(zip(names, bounds, strict=True))


def _real(name: str, pair: Any) -> Real:
    try:
        low, high = (float(end) for end in pair)
    except (TypeError, ValueError):
        raise ValueError(f"the bounds of {name!r} must be {PAIR}, not {pair!r}") from None
    if not low <= high:
        raise ValueError(f"the bounds of {name!r} are reversed or not numbers: ({low}, {high})")
    return Real(low, high)


def _native(array: NDArray[Any]) -> NDArray[Any]:
    """An array as Arrow takes it. Truth values among Python objects become 0 and 1, which may be numbers."""
    if array.dtype == object:
        return np.asarray(_UNTRUE(array))
    with np.errstate(over="ignore"):
        kind = np.dtype(np.float64) if array.dtype.kind == "f" else array.dtype.newbyteorder("=")
        return array.astype(kind, copy=False)


def _type(column: Any) -> str:
    """What a column's type says that it holds. Columns of Python objects may hold numbers."""
    if isinstance(column, pa.ChunkedArray):
        if pa.types.is_boolean(column.type):
            return "boolean"
        return "text" if "string" in str(column.type) else "number"
    name = str(column.dtype)
    if name in ("bool", "boolean"):
        return "boolean"
    return "text" if any(word in name for word in ("str", "category", "dictionary", "<U", "|S")) else "number"
