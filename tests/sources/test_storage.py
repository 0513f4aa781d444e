from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

import sulq
from sulq.sources.storage import Storage, StoredColumn


def test_columns_go_to_disk_when_memory_is_used_up() -> None:
    storage = Storage(limit=100)
    small, large = storage.column(np.dtype(np.int32), 20), storage.column(np.dtype(np.int32), 20)
    values = np.arange(20, dtype=np.int32)
    for column in (small, large):
        column.write(10, values[10:])
        column.write(0, values[:10])
        assert (column.read(3, 17) == values[3:17]).all()
    assert storage.used == 80
    small.free()
    assert storage.used == 0


def test_a_growing_column_moves_to_disk_with_what_it_holds() -> None:
    storage = Storage(limit=1000)
    column = storage.column(np.dtype(np.int64))
    for start in range(0, 1000, 10):
        column.write(start, np.arange(start, start + 10))
    assert storage.used == 0
    assert (column.read(0, 1000) == np.arange(1000)).all()


@pytest.mark.parametrize("limit", [0, 1000])
def test_a_column_of_known_length_never_grows(limit: int) -> None:
    """Other threads may be writing where it lies."""
    column = Storage(limit).column(np.dtype(np.uint8), 3)
    with pytest.raises(sulq.SulqError, match="more rows than it says"):
        column.write(2, np.arange(2))


def test_what_is_begun_and_not_finished_gives_its_memory_back() -> None:
    storage = Storage(limit=1000)
    kept = storage.column(np.dtype(np.uint8), 100)
    with pytest.raises(KeyboardInterrupt), storage.all_or_nothing():
        lost = storage.column(np.dtype(np.uint8), 300)
        assert storage.used == 400
        raise KeyboardInterrupt
    assert storage.used == 100
    with storage.all_or_nothing():
        storage.column(np.dtype(np.uint8), 200)
    assert storage.used == 300
    kept.write(0, np.arange(100))
    with pytest.raises(sulq.SulqError, match="closed"):
        lost.read(0, 1)


def test_no_room_for_some_columns_is_no_room_for_any(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/nonexistent")
    kinds = {name: sulq.Real(0, 1) for name in "abc"}
    source = sulq.open({name: np.zeros(1000) for name in kinds}, kinds, memory=5000)
    with pytest.raises(sulq.SulqError, match="TMPDIR"):
        source.exact().ask(sulq.Round([sulq.total(sulq.col(name)) for name in kinds]))
    assert source.columns._storage.used == 0


@pytest.mark.parametrize("of_some", [False, True])
def test_an_answer_that_was_interrupted_is_right_the_next_time(
    monkeypatch: pytest.MonkeyPatch, of_some: bool
) -> None:
    asked = sulq.Round([sulq.total(sulq.features("x"))])
    source = sulq.open(duckdb.sql("SELECT 1.0 AS x FROM range(200_000)"), {"x": sulq.Real(-1, 1)})
    if of_some:
        source = source.only(np.arange(100))
    write = StoredColumn.write

    def interrupted(column: StoredColumn, start: int, values: np.ndarray[Any, Any]) -> None:
        if (start > 0 and not of_some) or len(values) == 100:
            raise KeyboardInterrupt
        write(column, start, values)

    assert source.rows in (100, 200_000)
    monkeypatch.setattr(StoredColumn, "write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        source.exact().ask(asked)
    monkeypatch.setattr(StoredColumn, "write", write)
    assert source.exact().ask(asked)[0].value == pytest.approx(source.rows, rel=1e-3)


def test_what_is_on_disk_has_no_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    column = Storage(limit=0).column(np.dtype(np.int64), 1000)
    column.write(0, np.arange(1000))
    assert list(tmp_path.iterdir()) == []


def test_no_room_for_a_temporary_file_is_said_plainly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/nonexistent")
    with pytest.raises(sulq.SulqError, match="TMPDIR"):
        Storage(limit=0).column(np.dtype(np.int64), 10)


def test_a_closed_source_reads_its_columns_anew() -> None:
    source = sulq.open({"x": np.array([1, 2])}, {"x": sulq.Integer(0, 5)}, memory=0)
    asked = sulq.Round([sulq.total(sulq.col("x"))])
    assert source.exact().ask(asked)[0].value == 3
    source.close()
    assert source.exact().ask(asked)[0].value == 3
