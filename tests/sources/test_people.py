"""At most so many rows of a person count, and nobody's presence moves another's."""

from __future__ import annotations

import decimal
from pathlib import Path
from typing import Any

import duckdb
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

COLUMNS = {"x": sulq.Integer(0, 1000), "c": sulq.Category(["a", "b"])}
row = st.tuples(
    st.sampled_from(["ann", "bob", "cy", None]), st.integers(0, 1000), st.sampled_from(["a", "b", None])
)


def opened(rows: list[tuple[Any, ...]], limit: int, **settings: Any) -> sulq.Source:
    table = pa.table(
        {
            "who": pa.array([r[0] for r in rows], pa.string()),
            "x": pa.array([r[1] for r in rows], pa.int64()),
            "c": pa.array([r[2] for r in rows], pa.string()),
        }
    )
    return sulq.open(table, sulq.Schema(COLUMNS, sulq.Unit("who", rows=limit)), **settings)


def counts(source: sulq.Source) -> np.ndarray[Any, Any]:
    """A histogram of (x, c): which rows count, whatever their order."""
    return np.asarray(source.sums([sulq.one_hot(sulq.cross(sulq.col("x"), sulq.col("c")))])[0], dtype=int)


@settings(max_examples=examples(50))
@given(st.lists(row, max_size=25), st.integers(1, 4), st.randoms())
def test_nobody_moves_anothers_rows(rows: list[tuple[Any, ...]], limit: int, random: Any) -> None:
    everyone = counts(opened(rows, limit))
    alone = [counts(opened([r for r in rows if r[0] == name], limit)) for name in ("ann", "bob", "cy")]
    assert (everyone == sum(alone)).all(), "the table is the sum of its people; rows of nobody do not count"
    for name, own in zip(("ann", "bob", "cy"), alone, strict=True):
        assert own.sum() == min(limit, sum(r[0] == name for r in rows))
    shuffled = random.sample(rows, len(rows))
    assert (counts(opened(shuffled, limit)) == everyone).all(), "the order of the table does not matter"


def test_another_salt_picks_other_rows() -> None:
    rows = [("ann", x, "a") for x in range(200)]
    picks = set()
    for salt in ("one", "two", "three"):
        table = pd.DataFrame(rows, columns=["who", "x", "c"])
        source = sulq.open(table, sulq.Schema(COLUMNS, sulq.Unit("who", rows=5, salt=salt)))
        picks.add(tuple(np.flatnonzero(counts(source))))
    assert len(picks) == 3


def test_people_are_told_apart_by_any_type_of_column() -> None:
    for ids in ([1, 1, 2], [1.5, 1.5, 2.5], ["a", "a", "b"]):
        frame = pd.DataFrame({"who": ids, "x": [1, 2, 3], "c": ["a", "a", "b"]})
        assert sulq.open(frame, sulq.Schema(COLUMNS, sulq.Unit("who", rows=1))).rows == 2
    nobody = pd.DataFrame({"who": [np.nan, np.nan, 2.0], "x": [1, 2, 3], "c": ["a", "a", "b"]})
    assert sulq.open(nobody, sulq.Schema(COLUMNS, sulq.Unit("who", rows=1))).rows == 1
    table = pa.table({"who": pa.array([np.nan, 2.0]), "x": [1, 2], "c": ["a", "b"]})
    assert sulq.open(table, sulq.Schema(COLUMNS, sulq.Unit("who", rows=1))).rows == 1


def test_the_person_may_also_be_a_column_to_ask_about() -> None:
    frame = pd.DataFrame({"x": [1, 1, 2]})
    source = sulq.open(frame, sulq.Schema({"x": sulq.Integer(0, 5)}, sulq.Unit("x", rows=1)))
    assert source.exact().ask(sulq.Round([sulq.count(by="x")]))[0].value.tolist() == [0, 1, 1, 0, 0, 0]


def test_it_works_with_columns_on_disk_and_with_no_rows() -> None:
    rows = [("ann", 5, "a"), ("ann", 6, "b"), ("bob", 7, "a")]
    assert (counts(opened(rows, 1, memory=0)) == counts(opened(rows, 1))).all()
    assert counts(opened([], 2)).sum() == 0


def test_a_missing_person_column_is_refused() -> None:
    with pytest.raises(sulq.errors.SchemaError, match="no column 'who'"):
        sulq.open(pd.DataFrame({"x": [1], "c": ["a"]}), sulq.Schema(COLUMNS, sulq.Unit("who", rows=1)))


SAME: list[tuple[str, list[Any]]] = [
    ("zeros", [0.0, -0.0, 1.5, float("nan"), -0.0, 1.5]),
    ("whole numbers", [7, 8, 7, None, 2**53, 2**53 + 1]),
    ("texts", ["ann", "bob", "ann", None, "", "Ann"]),
    ("numbers in texts", ["1", "01", "1.0", "1e0", " 1 ", "2"]),
    (
        "long numbers in texts",
        ["9007199254740993", "9007199254740992", "1e30", "1" + "0" * 30, "1e-3", "0.001"],
    ),
    ("words", ["inf", "Infinity", "true", "True", "NaN", "-inf"]),
    ("truths", [True, False, True, None, False, True]),
    ("bytes", [b"ann", b"ann", b"\xff", b"\xfe", None, b"1"]),
]
PEOPLE = {
    "zeros": [0, 0, 1, -1, 0, 1],
    "whole numbers": [0, 1, 0, -1, 2, 3],
    "texts": [0, 1, 0, -1, -1, 2],
    "numbers in texts": [0, 0, 0, 0, 0, 1],
    "long numbers in texts": [0, 1, 2, 2, 3, 3],
    "words": [0, 0, 1, 1, -1, 2],
    "truths": [0, 1, 0, -1, 1, 0],
    "bytes": [0, 0, 1, 2, -1, 3],
}
"""Who each of the values above names; -1 for nobody."""


def ways_in(values: list[Any], folder: Path) -> dict[str, Any]:
    """The same values from every source."""
    column = pa.array(values, from_pandas=False)
    table = pa.table({"who": column, "x": np.arange(len(values))})
    pq.write_table(table, folder / "plain.parquet", use_dictionary=False)
    pq.write_table(table, folder / "groups.parquet", row_group_size=2)
    objects = np.empty(len(values), dtype=object)
    objects[:] = values
    twice = pa.concat_arrays([column, column])  # a dictionary that lists every value twice
    indices = pa.array([i + len(values) * (i % 2) for i in range(len(values))])
    connection = duckdb.connect()
    connection.register("t", table)
    connection.execute("CREATE TABLE people AS SELECT * FROM t")
    ways = {
        "arrow": table,
        "dictionary": table.set_column(0, "who", pa.DictionaryArray.from_arrays(indices, twice)),
        "parquet": folder / "plain.parquet",
        "row groups": folder / "groups.parquet",
        "polars": pl.from_arrow(table),
        "pandas": table.to_pandas(),
        "objects": pd.DataFrame({"who": objects, "x": np.arange(len(values))}),
        "lists": {"who": values, "x": list(range(len(values)))},
        "duckdb": connection.table("people"),
    }
    if not isinstance(values[0], bytes):
        table.to_pandas().to_csv(folder / "pandas.csv", index=False)
        pl.DataFrame(ways["polars"]).write_csv(folder / "polars.csv")
        ways |= {"pandas csv": folder / "pandas.csv", "polars csv": folder / "polars.csv"}
    return ways


@pytest.mark.parametrize(("name", "values"), SAME, ids=[name for name, _ in SAME])
def test_every_source_knows_the_same_people(name: str, values: list[Any], tmp_path: Path) -> None:
    """With one row each, as many rows count as there are people, and of everyone the same."""
    schema = sulq.Schema({"x": sulq.Integer(0, 9)}, sulq.Unit("who", rows=1))
    expected = len(set(PEOPLE[name]) - {-1})
    kept = {}
    for way, data in ways_in(values, tmp_path).items():
        if name == "whole numbers" and way in ("pandas", "pandas csv"):
            continue  # pandas itself makes floats of whole numbers where one is missing
        source = sulq.open(data, schema, threads=1)
        kept[way] = source.values(sulq.col("x")).tolist()
        assert [PEOPLE[name][int(row)] for row in kept[way]] == [
            *dict.fromkeys(PEOPLE[name][int(row)] for row in kept[way])
        ], way
        assert source.rows == expected, way
    assert len({tuple(rows) for rows in kept.values()}) == 1


def test_values_that_are_the_same_in_several_types_are_one_person() -> None:
    kinds = {"x": sulq.Integer(0, 9)}
    schema = sulq.Schema(kinds, sulq.Unit("who", rows=2))
    mixed = [
        1,
        "1",
        b"1",
        1.0,
        np.int64(1),
        np.float64(1),
        decimal.Decimal("1.00"),
        np.str_("1"),
        np.bytes_("1"),
    ]
    frames = [
        pd.DataFrame({"who": pd.Series(mixed, dtype=object), "x": range(9)}),
        pd.DataFrame({"who": pd.Categorical([1, "1", b"1"], categories=[1, "1", b"1"]), "x": range(3)}),
        {"who": mixed, "x": list(range(9))},
        pa.table({"who": pa.array([b"alice"] * 3).dictionary_encode().dictionary_encode(), "x": range(3)}),
    ]
    for frame in frames:
        assert sulq.open(frame, schema).rows == 2


@pytest.mark.parametrize(
    "column",
    [
        pa.array([0, 0, 1], pa.timestamp("ns", "UTC")),
        pa.array([0, 0, 1], pa.date32()),
        pa.array([0, 0, 1], pa.time64("us")),
        pa.array([0.0, -0.0, 1.0], pa.float16()),
        pa.array([0.0, -0.0, 1.0], pa.float32()),
        pa.array([2**64 - 1, 2**64 - 1, 1], pa.uint64()),
        pa.array([decimal.Decimal(1), decimal.Decimal("1.0"), decimal.Decimal(2)], pa.decimal256(60, 2)),
        pa.array([decimal.Decimal(1), decimal.Decimal("1.0"), decimal.Decimal(2)], pa.decimal32(5, 2)),
        pa.array(["1", "01", "2"], pa.string_view()),
        pa.array([b"1", b"01", b"2"], pa.binary_view()),
        pa.array([b"1.0", b"001", b"002"], pa.binary(3)),
        pa.array([b"0123456789abcdef"] * 2 + [b"\xff" * 16], pa.uuid()),
        pa.array(["1", "01", "2"]).dictionary_encode(),
        pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), pa.array(["1", "01", "2"], pa.string_view())),
    ],
    ids=lambda column: str(column.type),
)
def test_people_are_told_apart_in_every_type_of_arrow(column: pa.Array, tmp_path: Path) -> None:
    schema = sulq.Schema({"x": sulq.Integer(0, 9)}, sulq.Unit("who", rows=1))
    table = pa.table({"who": column, "x": [1, 2, 3]})
    assert sulq.open(table, schema).rows == 2


@pytest.mark.parametrize(
    "column",
    [
        pa.array([[1], [1]]),
        pa.array([{"a": 1}, {"a": 1}]),
        pa.RunEndEncodedArray.from_arrays(pa.array([2]), pa.array(["a"])),
    ],
    ids=lambda column: str(column.type),
)
def test_types_that_name_nobody_are_refused_before_a_row_is_read(column: pa.Array) -> None:
    schema = sulq.Schema({"x": sulq.Integer(0, 9)}, sulq.Unit("who", rows=1))
    with pytest.raises(sulq.errors.SchemaError, match="names people but holds"):
        sulq.open(pa.table({"who": column, "x": [1, 2]}), schema)


@pytest.mark.parametrize(
    "names",
    [[2**70, float(2**70)], [1, True], [0, False], ["INF", "Infinity", float("inf"), "+inf"]],
    ids=repr,
)
def test_equal_numbers_are_one_person_in_a_column_of_objects(names: list[object]) -> None:
    rows = {"id": np.array(names, dtype=object), "a": np.arange(len(names))}
    assert sulq.open(rows, sulq.Schema({"a": sulq.Integer(0, 9)}, sulq.Unit("id", rows=1))).rows == 1
