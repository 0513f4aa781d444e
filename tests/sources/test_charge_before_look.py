"""A charge is on disk before a cell is looked at, whatever the source; before it, rows are counted at most."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
from sulq.ledger.ledger import Ledger
from sulq.plans.rehearsal import _MadeUp
from sulq.sources import readers
from sulq.sources.csv_files import CsvFiles
from sulq.sources.encoding import Encoder
from sulq.sources.loading import Columns

ROWS = 100
COLUMNS = {"sick": sulq.Boolean(), "age": sulq.Integer(0, 99)}
FRAME = pd.DataFrame(
    {"sick": np.arange(ROWS) % 2 == 0, "age": np.arange(ROWS), "who": [f"p{i // 2}" for i in range(ROWS)]}
)


def as_csv(folder: Path) -> Any:
    FRAME.to_csv(folder / "people.csv", index=False)
    return folder / "people.csv"


def as_parquet(folder: Path) -> Any:
    pq.write_table(pa.Table.from_pandas(FRAME), folder / "people.parquet")
    return folder / "people.parquet"


def as_duckdb(_: Path) -> Any:
    connection = duckdb.connect()
    connection.register("frame", pa.Table.from_pandas(FRAME))
    connection.execute("CREATE TABLE people AS SELECT * FROM frame")
    return connection.table("people")


WAYS: dict[str, Callable[[Path], Any]] = {
    "csv": as_csv,
    "parquet": as_parquet,
    "duckdb": as_duckdb,
    "pandas": lambda _: FRAME,
    "polars": lambda _: pl.from_pandas(FRAME),
}


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[list[str]]]:
    """Which columns were read, and whether a cell was cleaned, as it happens."""
    seen: list[list[str]] = []
    for reader in (CsvFiles, readers.Parquet, readers.Relation, readers.MemoryTable, _MadeUp):

        def parts(self: Any, columns: Any, many: int, whole: Any = reader.parts) -> Any:
            seen.append(list(columns))
            return whole(self, columns, many)

        monkeypatch.setattr(reader, "parts", parts)

    def clean(self: Any, array: Any, out: Any, whole: Any = Encoder.__call__) -> None:
        seen.append(["(cells)"])
        whole(self, array, out)

    monkeypatch.setattr(Encoder, "__call__", clean)
    yield seen


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
@pytest.mark.parametrize("rows", [None, 1, 2])
@pytest.mark.parametrize("way", WAYS)
def test_no_cell_is_read_before_its_charge(
    way: str, rows: int | None, neighbours: Any, tmp_path: Path, looks: list[list[str]], monkeypatch: Any
) -> None:
    unit = None if rows is None else sulq.Unit("who", rows=rows)
    source = sulq.open(WAYS[way](tmp_path), sulq.Schema(COLUMNS, unit))
    assert looks == []
    curator = source.curator(epsilon=1, neighbours=neighbours, ledger=tmp_path / "ledger")
    asked = sulq.Round([sulq.count(where=sulq.col("sick")), sulq.mean(sulq.col("age"))], share=0.5)
    curator.error(asked, beta=0.05)
    assert looks == []
    charged = []
    fill = Columns._fill

    def watched(self: Any, *arguments: Any) -> Any:
        with Ledger.read(tmp_path / "ledger") as ledger:
            charged.append(ledger.spent)
        return fill(self, *arguments)

    monkeypatch.setattr(Columns, "_fill", watched)
    curator.ask(asked)
    assert looks
    assert charged
    assert set(charged) == {curator.spent}
    assert curator.spent > 0


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("limit", [1, 2, 3])
def test_rows_are_counted_as_they_are_read(way: str, limit: int, tmp_path: Path) -> None:
    schema = sulq.Schema(COLUMNS, sulq.Unit("who", rows=limit))
    data = WAYS[way](tmp_path)
    counted, read = (sulq.open(data, schema) for _ in range(2))
    assert counted.rows == len(read.values(sulq.col("sick"))) == read.rows == min(limit, 2) * ROWS // 2
    assert len(counted.values(sulq.col("age"))) == counted.rows


@pytest.mark.parametrize("change", ["INSERT INTO t VALUES (true, 1, 10)", "DELETE FROM t WHERE who > 5"])
def test_a_table_with_other_rows_than_were_counted_is_refused(change: str) -> None:
    """Their number was taken for public before they were read."""
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t AS SELECT true AS sick, 1 AS age, range AS who FROM range(10)")
    source = sulq.open(connection.table("t"), sulq.Schema(COLUMNS))
    assert source.rows == 10
    connection.execute(change)
    with pytest.raises(sulq.SulqError, match="it says it has"):
        source.values(sulq.col("sick"))
