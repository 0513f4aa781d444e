"""Which rows of a person count, when a person has several."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sulq.errors import SchemaError
from sulq.queries.buckets import NOBODY
from sulq.queries.folds import row_hashes
from sulq.schema import Unit
from sulq.sources.cells import VIEWS, decoded, is_number, is_text

NUMBER = r"[ \t\r\n]*([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]{1,18}))?[ \t\r\n]*"
"""A number as programs write them. Something without a digit before the exponent fits too, and is none."""
SHORT = r"0|-?[1-9][0-9]{0,17}"
"""A whole number in the form in which it is compared."""
WHOLE = 10**18
"""Whole numbers below this have at most 18 digits."""
WORDS: dict[bytes, bytes | None] = {
    b"": None,
    **{sign + word: None for sign in (b"", b"-", b"+") for word in (b"nan", b"NaN", b"NAN", b"Nan")},
    **dict.fromkeys((b"true", b"True", b"TRUE"), b"1"),
    **dict.fromkeys((b"false", b"False", b"FALSE"), b"0"),
    **{
        sign + word: sign.replace(b"+", b"") + b"inf"
        for sign in (b"", b"-", b"+")
        for word in (b"inf", b"Inf", b"INF", b"infinity", b"Infinity", b"INFINITY")
    },
}
"""Texts that stand for nobody, or that programs write in several ways."""


def counted_rows(
    unit: Unit, people: pa.ChunkedArray, columns: Iterable[NDArray[np.generic]]
) -> NDArray[np.intp]:
    """The rows that count: of every person, those `unit.rows` with the smallest hash of their own values.

    A row's hash depends on that row's clean values and the public salt alone, and rows are compared only
    with rows of the same person: nobody's presence moves another's rows, nor does the order of the table.
    Rows of one person with equal hashes are equal rows (or, once in 2^64, fall to the table's order).
    """
    whose = people_of(people)
    hashes = row_hashes(unit.salt, len(whose), columns)
    order = np.lexsort((hashes, whose))
    sorted_people = whose[order]
    first = np.r_[True, sorted_people[1:] != sorted_people[:-1]] if len(order) else np.zeros(0, bool)
    started = np.maximum.accumulate(np.where(first, np.arange(len(order)), 0))
    rank = np.arange(len(order)) - started
    return np.sort(order[(rank < unit.rows) & (sorted_people >= 0)])


def check_person_type(name: str, type_: pa.DataType) -> None:
    """Refuse a column by whose type people cannot be told apart."""
    plain = _plain_type(type_)
    told = (is_text, _is_bytes, is_number, pa.types.is_boolean, pa.types.is_temporal, pa.types.is_null)
    if not any(is_type(plain) for is_type in told):
        raise SchemaError(
            f"column {name!r} names people but holds {type_}: convert it to text, numbers or dates"
        )


def people_of(column: pa.ChunkedArray) -> NDArray[np.int64]:
    """A number for each row, the same for the same person, and -1 for nobody.

    Equal values are one person, however they are written: 0.0 and -0.0; a text that a dictionary lists twice;
    a text and its bytes; and of texts, those that read as the same number, as 1, 1.0, 01 and 1e0 do, because
    one program writes them so and another otherwise. Other texts are compared exactly. What is missing, empty
    or not a number (NaN) is nobody. To take two people for one costs rows and no privacy, so where a text
    could be both, that is the side to err on.
    """
    column = _plain(column)
    if is_text(column.type) or _is_bytes(column.type):
        entries = column.cast(pa.large_binary()).combine_chunks().dictionary_encode()
        codes = _codes(_canonical_texts(entries.dictionary))
        whose: NDArray[np.int64] = np.append(codes, -1)[np.asarray(entries.indices.fill_null(-1))]
        return whose
    return _codes(_canonical_values(column))


def person_keys(column: pa.ChunkedArray) -> pa.Array:
    """Bytes for each row, the same for the same person in all columns of one type, and null for nobody.

    By these the rows of a person are brought together, if they lie on several machines.
    """
    column = _plain(column)
    if is_text(column.type) or _is_bytes(column.type):
        entries = column.cast(pa.large_binary()).combine_chunks().dictionary_encode()
        return _canonical_texts(entries.dictionary).take(entries.indices)
    return _canonical_values(column).cast(pa.large_string()).cast(pa.large_binary())


def identities(cells: pa.Array) -> NDArray[np.uint64]:
    """A 64-bit hash of whom each row names: the same for the same person in columns of all types; 0: nobody.

    People are told apart as in `people_of`, and a number and the text of it are one person as well. A whole
    number of up to 18 digits is mixed as a number, which is fast; anything else is hashed as a text.

    >>> import pyarrow as pa
    >>> one, other = identities(pa.array([7, None])), identities(pa.array(["007", ""]))
    >>> one.tolist() == other.tolist(), int(one[1])
    (True, 0)
    """
    column = _plain(pa.chunked_array([cells]))
    if pa.types.is_integer(column.type) and column.type != pa.uint64():
        values = column.cast(pa.int64()).combine_chunks()
        small = pc.less(pc.abs(values), WHOLE) if len(values) else None
        if small is None or pc.all(small).as_py() is not False:
            return _mixed(np.asarray(values.fill_null(0)), np.asarray(values.is_null()))
    texts = column if _is_bytes(column.type) else column.cast(pa.large_string())
    entries = texts.cast(pa.large_binary()).combine_chunks().dictionary_encode()
    each = np.append(_identities_of_texts(_canonical_texts(entries.dictionary)), np.uint64(NOBODY))
    return np.asarray(each[np.asarray(entries.indices.fill_null(-1))])


def _identities_of_texts(texts: pa.Array) -> NDArray[np.uint64]:
    """The hashes of texts that are in their one form; null is nobody."""
    whole = np.asarray(pc.match_substring_regex(texts, f"^(?:{SHORT})$").fill_null(False))
    hashes = np.zeros(len(texts), dtype=np.uint64)
    numbers = texts.filter(pa.array(whole)).cast(pa.large_string()).cast(pa.int64())
    hashes[whole] = _mixed(np.asarray(numbers), np.zeros(len(numbers), dtype=bool))
    for place in np.flatnonzero(~whole).tolist():
        text = texts[place].as_py()
        if text is not None:
            hashes[place] = max(1, int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little"))
    return hashes


def _mixed(numbers: NDArray[np.int64], nobody: NDArray[np.bool_]) -> NDArray[np.uint64]:
    hashes = row_hashes("identifier", len(numbers), [numbers])
    return np.where(nobody, np.uint64(NOBODY), np.maximum(hashes, np.uint64(1)))


def _canonical_values(column: pa.ChunkedArray) -> pa.Array:
    """Values that are no texts, each in one form of all that are equal; null for nobody."""
    if pa.types.is_floating(column.type):
        column = pc.add(column.cast(pa.float64()), 0.0)
        column = pc.if_else(pc.is_nan(column), None, column)
    elif pa.types.is_decimal(column.type) and column.type.bit_width < 128:
        column = column.cast(pa.decimal128(38, column.type.scale))
    return column.combine_chunks()


def _codes(values: pa.Array) -> NDArray[np.int64]:
    return np.asarray(values.dictionary_encode().indices.fill_null(-1)).astype(np.int64)


def _canonical_texts(texts: pa.Array) -> pa.Array:
    """Each text in one form of all that are the same; null for nobody."""
    number = pc.match_substring_regex(texts, f"^(?:{NUMBER})$")
    short = pc.match_substring_regex(texts, f"^(?:{SHORT})$")
    words = pc.is_in(texts, pa.array(list(WORDS), pa.large_binary()))
    several = pc.or_(pc.and_not(number, short), words)
    forms = [_canonical(text) for text in texts.filter(several).to_pylist()]
    return pc.replace_with_mask(texts, several, pa.array(forms, pa.large_binary()))


def _canonical(text: bytes) -> bytes | None:
    """A word or a number in its one form: no sign of plus, no needless zero, a short whole number in full."""
    if text in WORDS:
        return WORDS[text]
    found = re.fullmatch(NUMBER.encode(), text)
    assert found is not None
    sign, whole, fraction, power = (part or b"" for part in found.groups())
    if not whole + fraction:
        return text
    digits = (whole + fraction).lstrip(b"0")
    leading = digits.rstrip(b"0")
    zeros = int(power or 0) - len(fraction) + len(digits) - len(leading)
    if not leading:
        return b"0"
    if zeros >= 0 and len(leading) + zeros <= 18:
        return sign.replace(b"+", b"") + leading + b"0" * zeros
    return sign.replace(b"+", b"") + leading + b"e%d" % zeros


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The values themselves, not what stands for them."""
    while (type_ := column.type) != _plain_type(type_):
        if isinstance(type_, pa.BaseExtensionType):
            storage = [chunk.storage for chunk in column.chunks]
            column = pa.chunked_array(storage, type_.storage_type)
        else:
            values = VIEWS.get(type_.value_type, type_.value_type)
            column = pa.chunked_array([decoded(chunk) for chunk in column.chunks], values)
    return column


def _plain_type(type_: pa.DataType) -> pa.DataType:
    while pa.types.is_dictionary(type_) or isinstance(type_, pa.BaseExtensionType):
        type_ = type_.value_type if pa.types.is_dictionary(type_) else type_.storage_type
    return type_


def _is_bytes(type_: pa.DataType) -> bool:
    return bool(
        pa.types.is_binary(type_)
        or pa.types.is_large_binary(type_)
        or pa.types.is_fixed_size_binary(type_)
        or pa.types.is_binary_view(type_)
    )
