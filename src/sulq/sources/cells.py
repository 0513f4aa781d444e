"""Cells as they came, read by the public rules of their column: as numbers, truth values or listed values.

No cell has an error. Where one cannot be read, there is NaN or a null.
"""

from __future__ import annotations

import datetime
import math
import re
import threading

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sulq.schema import Category, Date, Integer, Real

VIEWS = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}
"""Of these, which are only another way to lay out texts, Arrow cannot decode dictionaries."""
BLANKS = (" ", "\t", "\u00a0", "\u2009", "\u202f")
"""What a blank in a number can be: also the no-break and thin ones that programs put between thousands."""
EPOCH = datetime.date(1970, 1, 1)
PER_DAY = {"s": 86_400, "ms": 86_400 * 10**3, "us": 86_400 * 10**6, "ns": 86_400 * 10**9}
"""Of the parts in which Arrow counts time, how many are a day."""
LONGEST_NUMBER = 2**20
"""No text of more bytes is read as a number: DuckDB fails on one of 4 GB."""


def numbers(kind: Real | Integer, array: pa.Array) -> NDArray[np.float64]:
    """A column of numbers as float64, NaN where there is no number."""
    return floats(plainly_written(kind, plain(array)))


def plainly_written(kind: Real | Integer, array: pa.Array) -> pa.Array:
    """Texts as programs write numbers, instead of as the rules say; null where a text breaks a rule."""
    if kind.written_plainly or not is_text(array.type):
        return array
    texts = _as_bytes(array)
    if kind.strip:
        around = _one_of(*kind.strip, *BLANKS)
        texts = pc.replace_substring_regex(texts, f"^(?:{around})*([+-]?)(?:{around})*", r"\1")
        texts = pc.replace_substring_regex(texts, f"(?:{around})+$", "")
    point = re.escape(kind.decimal)
    if kind.thousands is not None:
        gap = _one_of(*(BLANKS if kind.thousands == " " else kind.thousands))
        grouped = f"^ *[+-]?[0-9]{{1,3}}(?:(?:{gap})[0-9]{{2,3}})*(?:{gap})[0-9]{{3}}(?:{point}[0-9]*)? *$"
        anywhere = f"[0-9](?:{gap})+[0-9]" if kind.thousands == " " else gap
        # A sign that does not stand between thousands makes no number: 1,5 is not 15.
        wrong = pc.and_not(
            pc.match_substring_regex(texts, anywhere), pc.match_substring_regex(texts, grouped)
        )
        texts = pc.replace_substring_regex(pc.if_else(wrong, None, texts), f"([0-9])(?:{gap})", r"\1")
    if kind.decimal != ".":
        texts = pc.if_else(pc.match_substring(texts, "."), None, texts)
        texts = pc.replace_substring(texts, kind.decimal, ".")
    return _as_texts(texts)


def _as_bytes(texts: pa.Array) -> pa.Array:
    """Texts as bytes, of which there are none that a pattern fails on."""
    return texts.cast(pa.large_string()).cast(pa.large_binary())


def _as_texts(cells: pa.Array) -> pa.Array:
    """Bytes as texts again, whether they are in UTF-8 or not."""
    present, ends, letters = cells.buffers()
    return pa.LargeStringArray.from_buffers(len(cells), ends, letters, present, offset=cells.offset)


def _one_of(*texts: str) -> str:
    return "|".join(re.escape(text) for text in texts)


def floats(array: pa.Array) -> NDArray[np.float64]:
    """Any column as float64, NaN where there is no number."""
    if is_text(array.type):
        array = parsed(array, "TRY_CAST(x AS DOUBLE)")
    if array.null_count == 0 and pa.types.is_float64(array.type):
        return np.asarray(array)
    if pa.types.is_float16(array.type):
        array = array.cast(pa.float32())
    return np.asarray(pc.cast(array, pa.float64(), safe=False).fill_null(math.nan))


_thread = threading.local()


def parsed(array: pa.Array, sql: str) -> pa.Array:
    """Text read as an SQL expression of `x` reads it, null where it cannot."""
    if not hasattr(_thread, "duckdb"):
        _thread.duckdb = duckdb.connect(config={"threads": 1})
    texts = array.cast(pa.large_string())
    if texts.nbytes > LONGEST_NUMBER:
        texts = pc.if_else(pc.less_equal(pc.binary_length(texts), LONGEST_NUMBER), texts, None)
    column = _thread.duckdb.from_arrow(pa.table({"x": texts}))
    return column.project(f"{sql} AS y").to_arrow_table()["y"].combine_chunks()


def days(kind: Date, array: pa.Array) -> NDArray[np.float64]:
    """A column of dates as days since the first, NaN where there is none. Numbers are such days already."""
    array = plain(array)
    if is_number(array.type):
        return floats(array)
    if is_text(array.type):
        read = "TRY_CAST(x AS DATE)"
        if kind.format is not None:
            format = kind.format.replace("'", "''")
            read = f"CAST(try_strptime(x, '{format}') AS DATE)"
            # DuckDB's own trim fails on what is not in UTF-8, and with it all that is asked later.
            array = _as_texts(pc.replace_substring_regex(_as_bytes(array), "^ +| +$", ""))
        array = parsed(array, read)
    elif pa.types.is_timestamp(array.type) and array.type.tz is not None:
        array = pc.local_timestamp(array)
    if pa.types.is_timestamp(array.type) or pa.types.is_date64(array.type):
        # Not as Arrow's own days, which have 32 bits: a time far off would come round at the other end.
        parts = np.asarray(array.cast(pa.int64()).fill_null(0))
        whole = parts // PER_DAY[array.type.unit if pa.types.is_timestamp(array.type) else "ms"]
        since_1970 = np.where(np.asarray(array.is_null()), math.nan, whole.astype(np.float64))
    else:
        since_1970 = floats(array.cast(pa.date32()).cast(pa.int32()))
    return np.asarray(since_1970 - (kind.first - EPOCH).days)


def truths(array: pa.Array) -> pa.Array:
    """Any column as truth values, null where a cell has none."""
    if is_text(array.type):
        number = "TRY_CAST(x AS DOUBLE)"
        array = parsed(
            array, f"COALESCE(TRY_CAST(x AS BOOLEAN), CASE WHEN NOT isnan({number}) THEN {number} <> 0 END)"
        )
    if pa.types.is_boolean(array.type):
        return array
    values = floats(array)
    return pa.array(values != 0, mask=np.isnan(values))


def places(kind: Category, array: pa.Array) -> pa.Array:
    """The place of each cell's value in the list of values, null where a cell has none of them."""
    listed = pc.index_in(*_comparable(kind, array))
    if kind.written_plainly or listed.null_count == array.null_count:
        return listed
    # A cell that is a value as it stands keeps it by every rule, so only the others have to be looked at.
    cells = _as_bytes(array)
    others = pc.if_else(listed.is_null(), cells, None).dictionary_encode()
    spellings = [spelling.decode("utf-8", "replace") for spelling in others.dictionary.to_pylist()]
    values = [kind.meant(spelling) for spelling in spellings]
    by_rule = pa.array([None if value is None else kind.values.index(value) for value in values], pa.int32())
    return pc.coalesce(listed, by_rule.take(others.indices))


def _comparable(kind: Category, array: pa.Array) -> tuple[pa.Array, pa.Array]:
    """The values and the declared ones in a form in which equal ones are equal: numbers, or else text."""
    try:
        numbers = [float(value) for value in kind.values]
    except ValueError:
        numbers = []
    if numbers and all(map(math.isfinite, numbers)) and not pa.types.is_boolean(array.type):
        return pa.array(floats(array) + 0.0), pa.array(numbers, pa.float64())
    if pa.types.is_boolean(array.type):
        array = array.cast(pa.string())
        return array, pa.array([value.lower() for value in kind.values], pa.string())
    return array.cast(pa.large_string()), pa.array(kind.values, pa.large_string())


def plain(array: pa.Array) -> pa.Array:
    return decoded(array) if pa.types.is_dictionary(array.type) else array


def decoded(array: pa.DictionaryArray) -> pa.Array:
    """The values that the entries of a dictionary stand for."""
    values = array.type.value_type
    if values in VIEWS:
        array = pa.DictionaryArray.from_arrays(array.indices, array.dictionary.cast(VIEWS[values]))
    return array.cast(array.type.value_type)


def is_text(type_: pa.DataType) -> bool:
    if pa.types.is_dictionary(type_):
        type_ = type_.value_type
    return bool(
        pa.types.is_string(type_) or pa.types.is_large_string(type_) or pa.types.is_string_view(type_)
    )


def is_number(type_: pa.DataType) -> bool:
    if pa.types.is_dictionary(type_):
        type_ = type_.value_type
    return bool(pa.types.is_integer(type_) or pa.types.is_floating(type_) or pa.types.is_decimal(type_))


def is_day(type_: pa.DataType) -> bool:
    if pa.types.is_dictionary(type_):
        type_ = type_.value_type
    return bool(pa.types.is_date(type_) or pa.types.is_timestamp(type_))
