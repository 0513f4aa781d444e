"""Cleaning: a column as it came, made into the small integers the kernel works on.

Every value has an outcome here and none has an error: out of range is clamped, NaN, missing and unreadable
become the schema's public constant, an unknown category its own level. What depends on a column's type
alone, and so on no row, may refuse.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sulq import loops
from sulq.errors import SchemaError
from sulq.queries.buckets import Identifier, check_identifier
from sulq.queries.expressions import Known, col, column_grid
from sulq.queries.node import Leaf
from sulq.queries.scope import Scope
from sulq.queries.vectors import Feature, scaled, scaling
from sulq.schema import Boolean, Category, Date, Integer, Kind, Real, Schema
from sulq.sources.cells import (
    days,
    floats,
    is_day,
    is_number,
    is_text,
    numbers,
    parsed,
    places,
    plain,
    plainly_written,
    truths,
)
from sulq.sources.people import identities

Encoded = NDArray[Any]
SHORT_DICTIONARY = 256
MOST_KNOWN = 2**12
"""Of how many texts the codes are remembered, whatever a column holds."""


def dtype_of(kind: Kind) -> np.dtype[Any]:
    """The smallest type that holds every clean value of a column."""
    if isinstance(kind, Boolean):
        return np.dtype(bool)
    if isinstance(kind, Category):
        return np.min_scalar_type(len(kind.levels) - 1)
    if isinstance(kind, Real):
        return np.dtype(np.int32)
    _, low, high = column_grid(kind)
    return np.promote_types(np.min_scalar_type(low), np.min_scalar_type(high))


def dtype_of_leaf(leaf: Leaf, schema: Schema) -> np.dtype[Any]:
    if isinstance(leaf, Known):
        return np.dtype(bool)
    if isinstance(leaf, Identifier):
        check_identifier(schema, leaf.name)
        return np.dtype(np.uint64)
    return np.dtype(np.int16) if isinstance(leaf, Feature) else dtype_of(schema[leaf.name])


class Encoder:
    """Cleans a column piece by piece, on the scale its leaf asks for."""

    def __init__(self, leaf: Leaf, scope: Scope) -> None:
        self._whose = isinstance(leaf, Identifier)  # who may be named in a column that is not in the schema
        self._kind = Boolean() if self._whose else scope.schema[leaf.name]
        self._facts = scope.number(col(leaf.name)) if isinstance(leaf, Feature) else None
        self._dtype = dtype_of_leaf(leaf, scope.schema)
        self._whether_known = isinstance(leaf, Known)
        self._known: dict[str | None, int] = {}

    def __call__(self, array: pa.Array, out: Encoded) -> None:
        """Write a piece to `out`; from any thread."""
        kind = self._kind
        if self._whose:
            out[:] = identities(array)
        elif self._whether_known and isinstance(kind, Real | Integer):
            out[:] = ~np.isnan(days(kind, array) if isinstance(kind, Date) else numbers(kind, array))
        elif self._whether_known:
            out[:] = np.asarray(truths(plain(array)).is_valid())
        elif isinstance(kind, Category) and isinstance(array, pa.DictionaryArray):
            _look_up(array, self._codes_of(kind, array.dictionary), out)
        elif self._facts is None:
            _encode(kind, array, out)
        elif isinstance(kind, Real):
            [middle], [stretch] = scaling(self._facts)
            loops.real_features(numbers(kind, array), _cleaning(kind), middle, stretch, out)
        else:
            out[:] = scaled(_encoded(kind, array)[np.newaxis], self._facts)[0]

    def _codes_of(self, kind: Category, entries: pa.Array) -> Encoded:
        """The codes of a dictionary: most pieces of a column have the same few entries, in any order."""
        if len(entries) > SHORT_DICTIONARY or self._dtype != np.uint8 or not is_text(entries.type):
            return _codes_of(kind, entries)
        try:
            texts = [*entries.to_pylist(), None]
        except UnicodeDecodeError:  # a file's text may not be valid
            return _codes_of(kind, entries)
        try:
            return np.frombuffer(bytes([self._known[text] for text in texts]), dtype=np.uint8)
        except KeyError:
            codes = _codes_of(kind, entries)
            known = self._known if len(self._known) < MOST_KNOWN else {}
            self._known = known | dict(zip(texts, codes.tolist(), strict=True))
            return codes


def encoded(cells: pa.Array, leaf: Leaf, scope: Scope) -> Encoded:
    """A column, or a piece of it, as the kernel wants it.

    Args:
        cells: what the rows hold, of any type that `check_type` lets pass.
        leaf: the column, and the scale on which it is asked for.
        scope: expressions read against the schema.

    >>> import sulq
    >>> schema = sulq.Schema({"age": sulq.Integer(0, 120), "plan": sulq.Category(["free", "paid"])})
    >>> encoded(pa.array([31, -1, None]), col("age"), Scope(schema))
    array([31,  0, 60], dtype=uint8)
    >>> encoded(pa.array(["paid", "gold"]), col("plan"), Scope(schema))
    array([1, 2], dtype=uint8)
    """
    out = np.empty(len(cells), dtype=dtype_of_leaf(leaf, scope.schema))
    Encoder(leaf, scope)(cells, out)
    return out


def check_type(name: str, kind: Kind, type_: pa.DataType) -> None:
    """Refuse a column whose type cannot be read as the schema says."""
    if isinstance(kind, Date):
        if not (is_text(type_) or is_day(type_) or pa.types.is_null(type_)):
            raise SchemaError(
                f"column {name!r} is declared date but holds {type_}: convert it to dates, timestamps or text"
            )
        return
    if not (is_text(type_) or is_number(type_) or pa.types.is_boolean(type_) or pa.types.is_null(type_)):
        raise SchemaError(
            f"column {name!r} is declared {kind.type} but holds {type_}: convert it to numbers, "
            "booleans or text"
        )


def _encode(kind: Kind, array: pa.Array, out: Encoded) -> None:
    """Write a piece of a column to `out`, clean: integers on its grid, codes of levels, or truth values."""
    if isinstance(kind, Category):
        out[:] = np.asarray(places(kind, array).fill_null(_unknown(kind)))
    elif isinstance(kind, Boolean):
        out[:] = _boolean(kind, plain(array))
    elif isinstance(kind, Date):
        out[:] = _clamped_floats(days(kind, array), kind.low, kind.high, int(_set(kind.missing)))
    elif isinstance(kind, Integer):
        out[:] = _integer(kind, plainly_written(kind, plain(array)))
    else:
        loops.real_steps(numbers(kind, array), _cleaning(kind), out)


def _encoded(kind: Kind, array: pa.Array) -> Encoded:
    clean = np.empty(len(array), dtype=dtype_of(kind))
    _encode(kind, array, clean)
    return clean


@lru_cache(maxsize=1024)
def _cleaning(kind: Real) -> loops.Cleaning:
    scale = 2.0 ** column_grid(kind)[0]
    return loops.Cleaning(kind.low, kind.high, scale, math.trunc(_set(kind.missing) * scale))


def _integer(kind: Integer, array: pa.Array) -> Encoded:
    bits, _, _ = column_grid(kind)
    missing = int(_set(kind.missing))
    if is_text(array.type):
        # A double holds whole numbers up to 2^53; beyond, the exact 64-bit reading counts where there is one.
        doubles, whole = floats(array), parsed(array, "TRY_CAST(x AS BIGINT)")
        values = _clamped_floats(doubles, kind.low, kind.high, missing)
        large = np.abs(doubles) >= 2.0**53
        exact = np.asarray(large & ~np.asarray(whole.is_null()))
        values = np.where(exact, np.clip(_filled(whole, 0), kind.low, kind.high), values)
    elif pa.types.is_integer(array.type):
        values = _filled(array, 0)
        limits = np.iinfo(values.dtype)
        values = np.clip(values, max(kind.low, limits.min), min(kind.high, limits.max))
        values = np.clip(values.astype(np.int64, copy=False), kind.low, kind.high)
        values = np.where(np.asarray(array.is_null()), missing, values)
    else:
        values = _clamped_floats(floats(array), kind.low, kind.high, missing)
    if bits < 0:
        values = np.sign(values) * (np.abs(values) >> -bits)
    return values


def _clamped_floats(values: NDArray[np.float64], low: int, high: int, missing: int) -> NDArray[np.int64]:
    """Truncated towards zero and clamped without passing through a float that a bound does not fit."""
    inside = np.where((values > low) & (values < high), values, 0.0).astype(np.int64)
    clamped = np.where(values <= low, low, np.where(values >= high, high, inside))
    return np.where(np.isnan(values), missing, np.clip(clamped, low, high))


def _boolean(kind: Boolean, array: pa.Array) -> Encoded:
    return np.asarray(truths(array).fill_null(kind.missing))


def _look_up(array: pa.DictionaryArray, codes: Encoded, out: Encoded) -> None:
    """The code of each row's entry in a dictionary."""
    loops.codes_of_entries(_filled(_wide(array.indices), len(codes) - 1), codes, out)


def _wide(indices: pa.Array) -> pa.Array:
    """The indices in a type that can hold one more than there are entries, for a missing value."""
    if indices.type == pa.int32():
        return indices
    return indices.cast(pa.int32() if indices.type.bit_width < 32 else pa.int64())


def _codes_of(kind: Category, entries: pa.Array) -> Encoded:
    """The code of each entry of a dictionary, and last that of a missing one."""
    return np.append(_encoded(kind, entries), _unknown(kind)).astype(dtype_of(kind))


def _unknown(kind: Category) -> int:
    """The code of what is missing or unknown."""
    return len(kind.levels) - 1 if kind.missing is None else kind.values.index(kind.missing)


def _filled(array: pa.Array, with_: int) -> NDArray[Any]:
    return np.asarray(array.fill_null(with_) if array.null_count else array)


def _set(value: float | None) -> float:
    """A schema's `missing`, which is always set once the schema is made."""
    assert value is not None
    return value
