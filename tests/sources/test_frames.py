"""Whatever object a cell of a frame is, only its own row is another, and nothing is raised."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings

import sulq
from tests.effort import examples

KINDS: dict[str, Any] = {
    "r": sulq.Real(-1, 1),
    "i": sulq.Integer(0, 9),
    "w": sulq.Integer(-(2**62), 2**62),
    "b": sulq.Boolean(),
    "c": sulq.Category(["a", "b"]),
    "n": sulq.Category([0, 1]),
}


class Hostile:
    """Fails at whatever one does with it."""

    def fails(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("a secret")

    __str__ = __repr__ = __float__ = __int__ = __bool__ = __len__ = __iter__ = __array__ = __index__ = fails  # type: ignore[assignment]
    __eq__ = __ne__ = __lt__ = __gt__ = fails  # type: ignore[assignment]
    __hash__ = object.__hash__


class HostileText(str):
    __str__ = __repr__ = encode = Hostile.fails  # type: ignore[assignment]


class HostileWhole(int):
    __str__ = __repr__ = __lt__ = __gt__ = Hostile.fails  # type: ignore[assignment]


class HostileReal(float):
    __ne__ = __float__ = __repr__ = Hostile.fails  # type: ignore[assignment]


class HostileBytes(bytes):
    decode = Hostile.fails  # type: ignore[assignment]


Decimal = type("Decimal", (Hostile,), {})
ODD: list[Any] = [
    None, pd.NA, pd.NaT, np.ma.masked, Hostile(), HostileText("1"), HostileWhole(1), HostileReal(1),
    HostileBytes(b"1"), Decimal(), object, slice(1), np.array([1, 2]), np.void(b"ab"), {1}, (1,), [1, [2]], {"a": 1},
    np.datetime64("NaT", "ns"), datetime.datetime.max, datetime.timedelta(1), pd.Timestamp.max, np.float16(1),
    np.longdouble("1e4000"), np.uint64(2**64 - 1), np.complex64(1), 10**5000, -(10**400), b"\xff", "\ud800",
    decimal.Decimal("1e999999"), decimal.Decimal("sNaN"), decimal.Decimal("-0"), "x" * 3_000_000,
]  # fmt: skip
TEXT = st.text(st.characters(exclude_categories=()))
"""Lone surrogates too, which pandas and NumPy take for text."""
CELLS = st.one_of(
    st.sampled_from(ODD),
    st.floats(),
    st.integers(),
    st.booleans(),
    st.binary(),
    TEXT,
    st.complex_numbers(),
    st.decimals(),
    st.recursive(st.none() | TEXT, lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner)),
)


def objects(values: list[Any]) -> np.ndarray[Any, Any]:
    array = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):
        array[place] = value
    return array


FRAMES: dict[str, Callable[[list[Any]], Any]] = {
    "pandas": lambda values: pd.DataFrame(dict.fromkeys(KINDS, pd.Series(objects(values), dtype=object))),
    "polars": lambda values: pl.DataFrame(
        [pl.Series(name, objects(values), dtype=pl.Object) for name in KINDS]
    ),
    "lists": lambda values: dict.fromkeys(KINDS, values),
    "arrays": lambda values: dict.fromkeys(KINDS, objects(values)),
    "one array": lambda values: np.stack([objects(values)] * len(KINDS), axis=1),
}


def table(data: Any) -> list[list[float]]:
    source = sulq.open(data, KINDS, threads=1)
    one_hot = [sulq.one_hot(sulq.col(name)) for name in "cn"]
    source.sums([*(sulq.col(name) for name in "riwb"), *one_hot])  # which reads all columns at once
    return [source.values(sulq.col(name)).tolist() for name in KINDS]


@cache
def usual(way: str) -> list[list[float]]:
    return table(FRAMES[way]([1, 0.5, "a"]))


@pytest.mark.parametrize("way", FRAMES)
def test_odd_cells_leave_the_others_alone(way: str) -> None:
    for before, after in zip(usual(way), table(FRAMES[way]([1, *ODD, "a"])), strict=True):
        assert len(after) == len(ODD) + 2
        assert (after[0], after[-1]) == (before[0], before[-1])


@pytest.mark.parametrize("way", FRAMES)
@settings(max_examples=examples(20))
@given(cell=CELLS)
def test_whatever_a_cell_is_only_its_row_is_another(way: str, cell: Any) -> None:
    other = table(FRAMES[way]([1, cell, "a"]))
    for before, after in zip(usual(way), other, strict=True):
        assert len(after) == 3
        assert (after[0], after[2]) == (before[0], before[2])


def test_whatever_a_category_is_only_its_rows_are_others() -> None:
    for cell in (b"\xff", "\ud800", 10**5000, object(), (1,), HostileText("?"), datetime.date.max, 1 + 2j):
        levels = pd.Index(objects([1, cell, "a"]), dtype=object)
        column = pd.Categorical.from_codes([0, 1, 2], categories=levels)
        for before, after in zip(
            usual("lists"), table(pd.DataFrame(dict.fromkeys(KINDS, column))), strict=True
        ):
            assert (after[0], after[2]) == (before[0], before[2])


@settings(max_examples=examples(15))
@given(TEXT)
def test_whatever_a_text_is_only_its_row_is_another(text: str) -> None:
    for make in (
        lambda texts: pd.Series(texts, dtype=pd.StringDtype("python")),
        lambda texts: np.array(texts),
        lambda texts: pd.Series(texts, dtype=object),
    ):
        found = table(dict.fromkeys(KINDS, make(["1", text + "\ud800", "a"])))
        for before, after in zip(usual("lists"), found, strict=True):
            assert (after[0], after[2]) == (before[0], before[2])


BROKEN = pa.Array.from_buffers(pa.string(), 3, pa.array([b"1", b"\xff\xfe", b"a"]).buffers())
"""What says that it is text, and is not."""


@pytest.mark.parametrize(
    "column",
    [
        BROKEN,
        pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), BROKEN),
        pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), pa.array(["1", None, "a"])),
        pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), pa.array(["1", "?", "a"], pa.string_view())),
        pa.array(["1", "0" * 2_000_000 + "1", "a"]),
        pa.array(["1", "\0", "a"], pa.string_view()),
    ],
    ids=lambda column: str(column.type),
)
def test_texts_of_arrow_and_parquet_have_an_outcome(column: pa.Array, tmp_path: Path) -> None:
    usual = [[values[0], values[2]] for values in table({name: ["1", "?", "a"] for name in KINDS})]
    data = pa.table(dict.fromkeys(KINDS, column))
    ways: list[Any] = [data]
    with suppress(
        pa.ArrowNotImplementedError
    ):  # Parquet has neither views nor dictionaries of missing values
        pq.write_table(data, tmp_path / "t.parquet")
        ways.append(tmp_path / "t.parquet")
    for way in ways:
        assert [[values[0], values[2]] for values in table(way)] == usual


@pytest.mark.parametrize(
    "column",
    [
        pa.array([decimal.Decimal(10) ** 70, decimal.Decimal("0.5")], pa.decimal256(76, 2)),
        pa.array([decimal.Decimal(100), decimal.Decimal("0.5")], pa.decimal32(5, 2)),
        pa.array([100, 0.5], pa.float16()),
        pl.Series([2**100, 0], dtype=pl.Int128),
        pa.array([2**64 - 1, 0], pa.uint64()),
    ],
    ids=lambda column: str(getattr(column, "type", None) or column.dtype),
)
def test_numbers_of_every_width_are_clamped(column: Any) -> None:
    frame = column.to_frame("r") if isinstance(column, pl.Series) else pa.table({"r": column})
    kind = {"r": sulq.Real(0, 1)}
    expected = [1.0, 0.0 if column[1] == 0 or str(column[1]) == "0" else 0.5]
    for data in (frame, {"r": column}):
        assert sulq.open(data, kind).values(sulq.col("r")).tolist() == expected


@pytest.mark.parametrize(
    "values",
    [np.array([1 + 2j]), np.array([1], np.longdouble), pd.Series(pd.interval_range(0, 1)), np.array(1.0)],
)
def test_a_column_is_refused_for_its_type_alone(values: Any) -> None:
    for some in (values, *([values[:0]] if values.ndim else [])):
        with pytest.raises(sulq.errors.SchemaError) as caught:
            sulq.open({"x": some}, {"x": sulq.Real(0, 1)})
        assert caught.value.__context__ is None


def test_a_categorical_needs_no_series() -> None:
    column = pd.Categorical(["b", None, "a"])
    assert sulq.open({"c": column}, {"c": sulq.Category(["a", "b"])}).values(sulq.col("c")).tolist() == [
        1,
        2,
        0,
    ]
