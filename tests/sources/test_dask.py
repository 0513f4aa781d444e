"""Parquet files on Dask: the same integers as from anywhere else, whatever happens to workers."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sulq
from sulq.errors import QueryError, SchemaError
from sulq.reporting import listening
from sulq.sources import dask as module
from sulq.sources import kept_groups
from sulq.sources.engine import BlockLayout
from tests.effort import either
from tests.sources import test_same_noise
from tests.sources.fixed_table import SCHEMA
from tests.sources.test_same_sums import table, totals

distributed = pytest.importorskip("distributed", reason="no Dask here: `make dask` installs it")
ROWS = either(6_000, 20_000)
FRAME = table(ROWS)
PROCESSES = either(False, True)
AGE = {"age": sulq.Integer(0, 120)}
pytestmark = pytest.mark.xdist_group("dask")


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Two workers: threads where there is little time, else processes, of which a test kills some."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=PROCESSES, dashboard_address=None, host="127.0.0.1", protocol="tcp://"
    ) as started, distributed.Client(started) as connected:  # fmt: skip
        yield connected


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(kept_groups, "ROWS_AT_ONCE", 1000)
    path = tmp_path / "people.parquet"
    pq.write_table(pa.Table.from_pandas(FRAME, preserve_index=False), path, row_group_size=700)
    return path


def test_row_groups_on_workers_give_the_same_integers(
    client: Any, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    truth = totals(sulq.open(FRAME, SCHEMA))
    source = sulq.open(file, SCHEMA, engine=client)
    assert source.rows == ROWS
    assert totals(source) == truth
    assert totals(source) == truth, "and so do the blocks that are kept"
    source.close()
    monkeypatch.setattr(module, "AT_ONCE", 2)
    assert totals(source) == truth, "and blocks that are made anew"
    source.close()


def test_people_with_several_rows_are_counted_as_from_a_frame(client: Any, tmp_path: Path) -> None:
    frame = FRAME.copy()
    drawn = np.random.default_rng(2).integers(0, 1000, ROWS)
    frame["person"] = [f"{each}.0" if each % 2 else str(each) if each else None for each in drawn]
    schema = sulq.Schema(SCHEMA, unit=sulq.Unit("person", rows=2))
    frame.to_parquet(tmp_path / "people.parquet", row_group_size=700)
    source, here = sulq.open(tmp_path / "people.parquet", schema, engine=client), sulq.open(frame, schema)
    assert source.rows == here.rows
    assert totals(source) == totals(here)


def test_a_worker_that_is_killed_between_rounds_changes_nothing(client: Any, file: Path) -> None:
    if not PROCESSES:
        pytest.skip("workers are threads here: `make test-all` has processes")
    truth = totals(sulq.open(FRAME, SCHEMA))
    source = sulq.open(file, SCHEMA, engine=client)
    assert totals(source) == truth
    for _ in range(2):
        nanny = next(iter(client.cluster.workers.values()))
        os.kill(nanny.pid, signal.SIGKILL)
        assert totals(source) == truth
    source.close()


def test_from_the_same_noise_every_learner_learns_the_same(
    client: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if not PROCESSES:
        pytest.skip("takes half a minute: `make test-all` does it")
    test_same_noise.check_same(
        lambda table, schema: sulq.open(test_same_noise.files(tmp_path, table), schema, engine=client),
        monkeypatch,
        tmp_path,
        only_sums=True,
    )


def test_an_empty_file_has_answers(client: Any, tmp_path: Path) -> None:
    pq.write_table(pa.Table.from_pandas(FRAME[:0], preserve_index=False), tmp_path / "nobody.parquet")
    nobody = sulq.open(tmp_path / "nobody.parquet", SCHEMA, engine=client)
    assert nobody.rows == 0
    assert totals(nobody) == totals(sulq.open(FRAME[:0], SCHEMA))


def test_what_looks_at_single_rows_is_refused_by_name(client: Any, file: Path) -> None:
    source = sulq.open(file, SCHEMA, engine=client)
    with pytest.raises(QueryError, match="a crowd looks at single rows"):
        source.crowd(1)


def test_workers_with_another_sulq_are_named_as_such(client: Any, file: Path) -> None:
    source = sulq.open(file, SCHEMA, engine=client)
    source._layout = BlockLayout(source.schema, "0" * 64)
    with pytest.raises(sulq.SulqError, match="have another sulq than this one: install the same"):
        source.sums([sulq.col("x")])


def test_files_that_changed_or_are_gone_are_refused_and_not_quoted(client: Any, tmp_path: Path) -> None:
    path = tmp_path / "people.parquet"
    pq.write_table(pa.table({"age": [1, 2, 3]}), path)
    source = sulq.open(path, AGE, engine=client)
    pq.write_table(pa.table({"age": list(range(1000))}), path)
    with pytest.raises(sulq.SulqError, match="the files have changed"):
        source.sums([sulq.col("age")])
    path.unlink()
    with pytest.raises(sulq.SulqError) as failed:
        source.sums([sulq.col("age")])
    assert str(failed.value) == module.FAILS
    assert failed.value.__context__ is None


def test_somebody_who_listens_hears_how_far_the_work_is(client: Any, file: Path) -> None:
    heard: list[tuple[str, int]] = []

    class Listener:
        def __init__(self, what: str, total: int | None) -> None:
            self.what = what

        def __enter__(self) -> Any:
            return lambda done: heard.append((self.what, done))

        def __exit__(self, *_: object) -> None: ...

    with listening(Listener):
        sulq.open(file, SCHEMA, engine=client).sums([sulq.col("x")])
    assert heard[-1] == ("summing", ROWS)


@pytest.mark.parametrize(
    ("data", "says"),
    [({"age": [1]}, "goes with the path of Parquet"), ("people.csv", "is for Parquet files")],
)
def test_only_parquet_files_go_to_dask(client: Any, data: Any, says: str, tmp_path: Path) -> None:
    if isinstance(data, str):
        data = tmp_path / data
        data.write_text("age\n1\n")
    with pytest.raises(SchemaError, match=says):
        sulq.open(data, AGE, engine=client)
