"""One table, many ways in: the same question has bit for bit the same sum."""

from __future__ import annotations

import math
from collections.abc import Callable
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
from sulq.queries import kernel
from sulq.sources import passes, readers
from tests.sources.fixed_table import SCHEMA

FEATURES = sulq.features("x", "y", "age", norm=1)
CENTRES = [[0.1, 0.2, -0.3], [-0.5, 0.1, 0.4], [0.3, 0.3, 0.3]]
ROUND = sulq.Round(
    [
        sulq.count(),
        sulq.count(by=["plan", "grade"]),
        sulq.count(by=["plan", "smokes"]),
        sulq.count(where=sulq.col("x") >= 0.1, by="smokes"),
        sulq.total(sulq.col("y"), where=sulq.col("plan") == "free"),
        sulq.total(sulq.col("serial")),
        sulq.total(sulq.gram(FEATURES)),
        sulq.total(FEATURES, by=sulq.nearest(FEATURES, CENTRES)),
        sulq.mean(sulq.col("age"), by=sulq.bins(sulq.col("x"), [-1, 0, 2.5])),
    ]
)
PARTS = [part for query in ROUND.queries for part in query.parts]


def table(rows: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    x = rng.normal(0, 6, rows)
    special = np.array([math.nan, math.inf, -math.inf, -0.0, 0.1, 10, 1e308, 5e-324])
    spots = rng.choice(rows, min(rows, 200), replace=False)
    x[spots] = rng.choice(special, len(spots))
    maybe = rng.random(rows) < 0.1
    return pd.DataFrame(
        {
            "x": x,
            "y": rng.exponential(1e5, rows),
            "age": pd.array(np.where(maybe, pd.NA, rng.integers(-3, 130, rows)), dtype="Int64"),
            "serial": rng.integers(0, 2**62, rows) | 1,
            "smokes": rng.random(rows) < 0.3,
            "plan": rng.choice(["free", "25%", "50 %, with comma", "Gold", None], rows),
            "grade": rng.integers(0, 5, rows),
            "unasked": "x",
        }
    )


def totals(source: sulq.Source) -> list[list[int]]:
    return [list(sums) for sums in source.sums(PARTS)]


def as_csv(frame: pd.DataFrame, folder: Path) -> Any:
    half = len(frame) // 2
    frame[:half].to_csv(folder / "a.csv", index=False)
    frame[half:].to_csv(folder / "b.csv", index=False)
    return folder / "*.csv"


def as_parquet(frame: pd.DataFrame, folder: Path) -> Any:
    frame.to_parquet(folder / "t.parquet", row_group_size=777)
    return folder / "t.parquet"


def as_duckdb(frame: pd.DataFrame, folder: Path) -> Any:
    connection = duckdb.connect()
    connection.register("frame", pa.Table.from_pandas(frame))
    connection.execute("CREATE TABLE people AS SELECT * FROM frame")
    return connection.table("people")


def as_arrays(frame: pd.DataFrame, folder: Path) -> Any:
    return {name: frame[name].to_numpy(dtype=object) for name in frame}


WAYS: dict[str, Callable[[pd.DataFrame, Path], Any]] = {
    "csv": as_csv,
    "parquet": as_parquet,
    "duckdb": as_duckdb,
    "pandas": lambda frame, _: frame,
    "polars": lambda frame, _: pl.from_pandas(frame),
    "arrow": lambda frame, _: pa.Table.from_pandas(frame),
    "numpy": as_arrays,
}


@pytest.fixture(scope="module")
def truth() -> list[list[int]]:
    return totals(sulq.open(table(5000), SCHEMA, threads=1))


@pytest.mark.parametrize("way", WAYS)
def test_every_way_in_gives_the_same_integers(way: str, truth: list[list[int]], tmp_path: Path) -> None:
    assert totals(sulq.open(WAYS[way](table(5000), tmp_path), SCHEMA)) == truth


@pytest.mark.parametrize("way", WAYS)
def test_any_order_of_rows_gives_the_same_integers(way: str, truth: list[list[int]], tmp_path: Path) -> None:
    shuffled = table(5000).sample(frac=1, random_state=7)
    assert totals(sulq.open(WAYS[way](shuffled, tmp_path), SCHEMA)) == truth


@pytest.mark.parametrize("block", [1, 7, 4096])
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_any_batches_and_threads_give_the_same_integers(
    block: int, threads: int, truth: list[list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Blocked(kernel.Kernel):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            self.block = block

    monkeypatch.setattr("sulq.sources.passes.Kernel", Blocked)
    monkeypatch.setattr(readers, "PIECE", 997)
    frame = table(5000) if block > 1 else table(60)
    source = sulq.open(frame, SCHEMA, threads=threads)
    expected = truth if block > 1 else totals(sulq.open(pa.Table.from_pandas(table(60)), SCHEMA))
    assert totals(source) == expected


@pytest.mark.parametrize("way", ["csv", "parquet", "polars"])
def test_columns_on_disk_give_the_same_integers(way: str, truth: list[list[int]], tmp_path: Path) -> None:
    data = WAYS[way](table(5000), tmp_path)
    with_no_memory = sulq.open(data, SCHEMA, memory=0)
    with_little = sulq.open(data, SCHEMA, memory="60kB")
    assert totals(with_no_memory) == truth
    assert totals(with_little) == truth
    assert totals(with_little) == truth, "and so does a second pass"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("rows", [0, 1])
def test_empty_tables_and_single_rows_have_answers(way: str, rows: int, tmp_path: Path) -> None:
    frame = table(1)[:rows]
    if way == "csv":
        frame.to_csv(tmp_path / "t.csv", index=False)
        source = sulq.open(tmp_path / "t.csv", SCHEMA)
    else:
        source = sulq.open(WAYS[way](frame, tmp_path), SCHEMA)
    answers = source.exact().ask(ROUND)
    assert answers[0].value == rows
    assert np.asarray(answers[1].value).shape == (4, 3)
    assert np.asarray(answers[1].value).sum() == rows


def test_the_sums_are_those_plain_python_finds() -> None:
    """A second opinion, computed row by row with exact fractions of the declared grids."""
    frame = table(400)
    source = sulq.open(frame, SCHEMA)
    asked = sulq.Round([sulq.total(sulq.col("age")), sulq.total(sulq.col("y")), sulq.count(by="grade")])
    age, y, grade = source.exact().ask(asked)
    assert age.value == sum(60 if pd.isna(a) else min(max(int(a), 0), 120) for a in frame["age"])
    step = 2.0**-10  # 1e6 needs 20 of a real's 30 bits
    assert y.value == sum(math.floor(min(max(v, 0), 1e6) / step) * step for v in frame["y"])
    assert list(grade.value) == [
        int(((frame["grade"] == g) | ((g == 1) & ~frame["grade"].isin([1, 2, 3]))).sum()) for g in (1, 2, 3)
    ]


def test_a_parquet_file_that_changes_is_refused(tmp_path: Path) -> None:
    path = as_parquet(table(100), tmp_path)
    source = sulq.open(path, SCHEMA)
    source.sums([sulq.one_hot(sulq.col("plan"))])
    pq.write_table(pa.Table.from_pandas(table(101)), path)
    with pytest.raises(sulq.SulqError, match="changed"):
        source.sums([sulq.one_hot(sulq.col("grade"))])


def test_a_table_of_one_block_is_summed_without_starting_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    source = sulq.open(table(100), SCHEMA)
    expected = totals(source)

    def refuse(*_: object) -> None:
        raise AssertionError("a thread was asked for")

    monkeypatch.setattr(passes, "ThreadPoolExecutor", refuse)
    assert totals(source) == expected
