"""Opening: clear refusals, made before a row is read."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sulq
from sulq.queries.scope import Scope
from sulq.sources import readers
from sulq.sources.loading import Columns
from sulq.sources.readers import MemoryTable
from sulq.sources.table import TableSource

SCHEMA = {"x": sulq.Real(0, 10)}


@pytest.mark.parametrize(
    ("data", "settings", "complaint"),
    [
        ("nowhere.csv", {}, "no file 'nowhere.csv'"),
        (3, {}, "cannot open a int"),
        (np.zeros((2, 2)), {}, "shape"),
        (np.zeros((2, 1, 1)), {}, "shape"),
        ({"y": [1]}, {}, "no column 'x'"),
        ({"x": np.zeros(2)}, {"threads": 0}, "threads"),
        ({"x": np.zeros(2)}, {"memory": "lots"}, "memory is a number of bytes"),
        ({"x": np.zeros(2)}, {"memory": -1}, "memory is a number of bytes"),
        ({"x": np.zeros(2)}, {"table": "t"}, "table="),
        ({"x": np.zeros(2)}, {"quoted_newlines": True}, "quoted_newlines= is about CSV"),
    ],
)
def test_bad_input_is_refused(data: Any, settings: dict[str, Any], complaint: str) -> None:
    with pytest.raises(sulq.errors.SchemaError, match=complaint):
        sulq.open(data, SCHEMA, **settings)


def test_bad_files_are_refused(tmp_path: Path) -> None:
    for name, content, complaint in (
        ("a.parquet", b"not parquet", "not a readable Parquet file"),
        ("b.csv", b"", "must name the columns"),
        ("c.csv", b"x,x\n1,2\n", "each once"),
        ("d.csv", b"y\n1\n", "no column 'x'; it has y"),
        ("e.xlsx", b"", "neither Parquet"),
        ("f.csv", b"\xff\xfe\n", "is not in UTF-8"),
        ("g.csv", b"x\r1\r2\r", "carriage return"),
        ("h.csv.gz", b"\x1f\x8bx\n1\n", "cannot be read"),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(sulq.errors.SchemaError, match=complaint):
            sulq.open(tmp_path / name, SCHEMA)
    (tmp_path / "i1.csv").write_text("x\n1\n")
    (tmp_path / "i2.csv").write_text("y\n1\n")
    with pytest.raises(sulq.errors.SchemaError, match="different headers"):
        sulq.open(tmp_path / "i*.csv", SCHEMA)
    with pytest.raises(sulq.errors.SchemaError, match="several kinds"):
        sulq.open(tmp_path / "*", SCHEMA)
    pl.DataFrame({"x": [1]}).write_parquet(tmp_path / "h1.parquet")
    pl.DataFrame({"x": ["1"]}).write_parquet(tmp_path / "h2.parquet")
    with pytest.raises(sulq.errors.SchemaError, match="other columns or types"):
        sulq.open(str(tmp_path / "h*.parquet"), SCHEMA)


def total(source: sulq.Source) -> Any:
    return source.exact().ask(sulq.Round([sulq.total(sulq.col("x"))]))[0].value


def test_every_kind_of_input_opens(tmp_path: Path) -> None:
    database = tmp_path / "people.duckdb"
    with duckdb.connect(str(database)) as connection:
        connection.execute("CREATE TABLE people AS SELECT 2.5 AS x UNION ALL SELECT 1.0")
    with pytest.raises(sulq.errors.SchemaError, match="which table="):
        sulq.open(database, SCHEMA)
    with pytest.raises(sulq.errors.SchemaError, match="no table 'nobody'"):
        sulq.open(database, SCHEMA, table="nobody")
    (tmp_path / "t.tsv").write_text("other\tx\na\t2.5\nb\t1\n")
    with gzip.open(tmp_path / "t.csv.gz", "wt") as file:
        file.write("x\n2.5\n1\n")
    structured = np.array([(2.5, 1), (1.0, 2)], dtype=[("x", float), ("z", int)])
    frame = pl.DataFrame({"x": [2.5, 1.0]})
    for data in (
        tmp_path / "t.tsv",
        tmp_path / "t.csv.gz",
        structured,
        np.array([[2.5], [1.0]]),
        np.array([2.5, 1]),
        frame.lazy(),
        frame.to_arrow().to_batches()[0],
        {"x": [2.5, 1]},
    ):
        assert total(sulq.open(data, SCHEMA)) == 3.5
    assert total(sulq.open(database, SCHEMA, table="people")) == 3.5


def test_files_larger_than_memory_are_read_in_pieces(tmp_path: Path) -> None:
    pl.DataFrame({"x": np.full(300_000, 0.5)}).write_parquet(tmp_path / "a.parquet")
    pl.DataFrame({"x": np.full(200_000, 0.25)}).write_parquet(tmp_path / "b.parquet")
    source = sulq.open(tmp_path / "*.parquet", SCHEMA, memory="1kB")
    assert source.rows == 500_000
    assert total(source) == 200_000


def test_data_with_fewer_rows_than_it_says_is_refused() -> None:
    """Memory that was set aside for the others holds whatever was there before."""
    short = MemoryTable(pa.table({"age": [31, 64, 70]}))
    short.rows = 5
    scope = Scope(sulq.Schema({"age": sulq.Integer(0, 120)}))
    people = TableSource(Columns(short, scope, memory=10**6, threads=1))
    with pytest.raises(sulq.SulqError, match="as many rows as it says"):
        people.exact().ask(sulq.Round([sulq.total(sulq.col("age"))]))
    assert people.columns._storage.used == 0


def test_a_damaged_file_and_one_that_is_gone_are_refused_plainly(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"x": np.arange(1000) / 1000}), path, row_group_size=100)
    whole = sulq.open(path, SCHEMA)
    assert total(whole) == pytest.approx(499.5)
    whole.close()
    damaged = path.read_bytes()
    path.write_bytes(damaged[:4] + bytes(2000) + damaged[2004:])
    source = sulq.open(path, SCHEMA)
    with pytest.raises(sulq.SulqError, match="damaged"):
        total(source)
    path.unlink()
    with pytest.raises(sulq.SulqError, match="has changed since"):
        total(source)


def test_what_duckdb_says_of_a_row_is_not_repeated() -> None:
    bad = duckdb.sql("SELECT CAST(v AS DOUBLE) AS x FROM (VALUES ('1'), ('secret')) AS t(v)")
    for look, relation in ((total, bad), (lambda source: source.rows, bad.filter("x > 0"))):
        source = sulq.open(relation, SCHEMA)
        with pytest.raises(sulq.SulqError, match="DuckDB cannot read this to its end") as caught:
            look(source)
        assert caught.value.__context__ is None
        assert "secret" not in str(caught.value)


def test_what_polars_says_of_a_row_is_not_repeated() -> None:
    def fails(text: str) -> float:
        raise ValueError(text)

    texts, x = pl.LazyFrame({"x": ["1", "secret"]}), pl.col("x")
    for made in (x.cast(pl.Float64), x.map_elements(fails, return_dtype=pl.Float64)):
        with pytest.raises(sulq.SulqError, match="Polars cannot collect this") as caught:
            sulq.open(texts.with_columns(made), SCHEMA)
        assert caught.value.__context__ is None


def test_who_a_row_is_about_may_be_asked_too(tmp_path: Path) -> None:
    pq.write_table(pa.table({"x": [1.0, 2.0, 3.0], "who": ["a", "b", "a"]}), tmp_path / "x.parquet")
    kinds = {"x": sulq.Real(0, 10), "who": sulq.Category(["a", "b"])}
    source = sulq.open(tmp_path / "x.parquet", sulq.Schema(kinds, unit=sulq.Unit("who", 1)))
    assert source.exact().ask(sulq.Round([sulq.count(by="who")]))[0].value[:2].tolist() == [1, 1]


@pytest.mark.parametrize("order", [["a.b", "a"], ["a", "a.b"]])
def test_a_name_with_a_dot_is_no_path(tmp_path: Path, order: list[str]) -> None:
    table = pa.table({"a.b": [1.0, 2.0], "a": [{"b": 7.0}, {"b": 8.0}]})
    pq.write_table(table.select(order), tmp_path / "x.parquet")
    source = sulq.open(tmp_path / "x.parquet", {"a.b": sulq.Real(0, 10)})
    assert source.exact().ask(sulq.Round([sulq.total(sulq.col("a.b"))]))[0].value == 3


@pytest.mark.parametrize(
    "values",
    [
        np.array([1 + 2j]),
        np.zeros((2, 2)),
        pd.Series([1, 0], dtype="Sparse[int]"),
    ],
)
def test_columns_that_arrow_has_no_type_for_are_named(values: Any) -> None:
    for data in ({"x": values}, *([pd.DataFrame({"x": values})] if values.ndim == 1 else [])):
        with pytest.raises(sulq.errors.SchemaError, match="cannot be read: give one dimension") as caught:
            sulq.open(data, SCHEMA)
        assert caught.value.__context__ is None


def test_lists_name_nobody() -> None:
    nested = pa.table({"x": [1.0], "who": [[1, 2]]})
    with pytest.raises(sulq.errors.SchemaError, match="names people but holds list"):
        sulq.open(nested, sulq.Schema(dict(SCHEMA), unit=sulq.Unit("who", 1)))


@pytest.mark.parametrize("large", [2, 3])
@pytest.mark.parametrize("runs", [1, 64])
@pytest.mark.parametrize("groups", [1, 2, 31, 150])
def test_parquet_files_have_all_their_row_groups_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, groups: int, runs: int, large: int
) -> None:
    """Threads take them in turn, several at once; large ones are read a piece at a time."""
    monkeypatch.setattr(readers, "RUNS", runs)
    monkeypatch.setattr(readers, "LARGE_GROUP", large)
    monkeypatch.setattr(readers, "PIECE", 2)
    rows = 3 * groups - 1
    numbers = np.arange(2 * rows)
    names = np.where(numbers % 7 == 0, "seventh", "other")
    table = pa.table({"n": numbers, "name": names})
    for i in (0, 1):
        pq.write_table(table.slice(i * rows, rows), tmp_path / f"{i}.parquet", row_group_size=3)
    kinds = {"n": sulq.Integer(0, 1000), "name": sulq.Category(["other", "seventh"])}
    paths = sorted(tmp_path.glob("*.parquet"))
    [part] = readers.Parquet(paths, ["name"]).parts(["n", "name"], 1)
    assert max(len(array) for _, _, array in part) <= large
    for threads in (1, 2, 5):
        source = sulq.open(tmp_path / "*.parquet", kinds, threads=threads)
        assert (source.values(sulq.col("n")) == numbers).all()
        assert (source.values(sulq.col("name")) == (names == "seventh")).all()


@pytest.mark.parametrize("different", [5, 300])
@pytest.mark.parametrize("runs", [1, 64])
@pytest.mark.parametrize(
    "values", [["a", "b", "10"], ["10", "11", "12"], ["", "a", "b"], [f"v{i}" for i in range(-150, 150)]]
)
def test_every_row_group_may_have_a_dictionary_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, values: list[str], runs: int, different: int
) -> None:
    monkeypatch.setattr(readers, "RUNS", runs)
    rng = np.random.default_rng(different)
    known = [*values[:2], values[-1], None, "10.0", "é"]
    some = [known[i] for i in rng.integers(0, len(known), 3000)]
    rare = [f"x{rng.integers(different)}" for _ in range(3000)]
    names = [
        text if use else other for text, other, use in zip(some, rare, rng.random(3000) < 0.8, strict=True)
    ]
    table = pa.table({"c": names})
    with pq.ParquetWriter(tmp_path / "c.parquet", table.schema) as file:
        for start, rows in ((0, 400), (400, 700), (1100, 0), (1100, 1), (1101, 999), (2100, 900)):
            file.write_table(table.slice(start, rows))
    for kind in (sulq.Category(values), sulq.Category(values, missing=values[1])):
        read, given = (
            sulq.open(data, {"c": kind}, threads=2).values(sulq.col("c"))
            for data in (tmp_path / "c.parquet", table)
        )
        assert (read == given).all()
        assert len(set(read)) > 2


def test_a_refusal_lists_so_many_columns_and_stays_on_one_line(tmp_path: Path) -> None:
    path = tmp_path / "wide.parquet"
    pq.write_table(pa.table({"two\nlines": [1], **{f"c{place}": [1] for place in range(1599)}}), path)
    with pytest.raises(sulq.errors.SchemaError, match=r"it has 'two\\nlines', c0, .*c48 and 1550 more$"):
        sulq.open(path, {"age": sulq.Integer(0, 9)})


@pytest.mark.parametrize(
    ("data", "settings", "says"),
    [
        ({"age": [1]}, {"engine": 3}, "engine= is a session of Spark, a client of Dask"),
        ({"age": [1]}, {"engine": "spark://head:7077"}, "goes with the path of Parquet files"),
        (
            "people.parquet",
            {"engine": "spark://head:7077", "memory": "1GB"},
            "memory=: the engine decides this",
        ),
        ("spark://head:7077", {}, "say which table="),
    ],
)
def test_what_makes_no_sense_for_spark_is_refused_without_starting_it(
    data: Any, settings: dict[str, Any], says: str
) -> None:
    with pytest.raises(sulq.SulqError, match=says):
        sulq.open(data, {"age": sulq.Integer(0, 120)}, **settings)
