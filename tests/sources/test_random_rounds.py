"""Random rounds over random rows: every engine has the integers of a frame, also of people with several rows."""

from __future__ import annotations

import datetime
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings

import sulq
from sulq.sources import kept_groups
from tests.effort import either, examples
from tests.postgres import PostgresServer
from tests.queries.random_expressions import ARROW, SCHEMA, queries
from tests.sources.test_postgres import address
from tests.spark import SparkCluster

ROWS = 900
POOLS: dict[str, list[Any]] = {
    **{
        name: [None, -0.0, 0.1, 2e-3, 11.2, math.inf, -math.inf, math.nan, 2.0**60, 3.3, -2.5, 1e8]
        for name in ("r", "big", "tiny", "fixed")
    },
    "i": [None, *range(-9, 12), 2**62],
    "long": [None, 0, 1, 2**50, 2**49 + 1, -(2**63), 2**63 - 1],
    "b": [None, True, False],
    "c": [None, "u", "v", "w", "x", ""],
    "d": [None, "no", "yes", "maybe"],
    "t": [None, *(datetime.date(2019, 6, 1) + datetime.timedelta(37 * day) for day in range(55))],
    "person": [None, "", "1", "1.0", *(f"p{number}" for number in range(200))],
}
SQL = {"r": "float8", "big": "float8", "tiny": "float8", "fixed": "float8", "i": "int8", "long": "int8"}
SQL |= {"b": "boolean", "c": "text", "d": "text", "t": "date", "person": "text"}
SCHEMAS = {
    "rows": SCHEMA,
    "people with several rows": sulq.Schema(SCHEMA, unit=sulq.Unit("person", rows=2)),
}
Opened = Callable[[sulq.Schema], sulq.Source]
numbers = itertools.count()


def rows() -> pa.Table:
    rng = np.random.default_rng(7)
    columns = {name: [pool[at] for at in rng.integers(0, len(pool), ROWS)] for name, pool in POOLS.items()}
    types = {**ARROW, "person": pa.string()}
    return pa.table({name: pa.array(cells, types.get(name, pa.float64())) for name, cells in columns.items()})


TABLE = rows()


@pytest.fixture(params=SCHEMAS)
def schema(request: pytest.FixtureRequest) -> sulq.Schema:
    return SCHEMAS[request.param]


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(kept_groups, "ROWS_AT_ONCE", 1)
    pq.write_table(TABLE, tmp_path / "people.parquet", row_group_size=130)
    return tmp_path / "people.parquet"


def check(source: sulq.Source, schema: sulq.Schema, tries: int, many: int) -> None:
    """Random queries, several at a time, because each pass takes an engine a while."""
    here = sulq.open(TABLE, schema)
    assert source.rows == here.rows

    @settings(max_examples=tries, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(queries(), min_size=1, max_size=many))
    def same(asked: Sequence[sulq.Query]) -> None:
        parts = [part for query in asked for part in query.parts]
        assert [list(map(int, each)) for each in source.sums(parts)] == [
            list(map(int, each)) for each in here.sums(parts)
        ]

    same()
    source.close()


def test_postgres_has_the_integers_of_a_frame(postgres: PostgresServer, schema: sulq.Schema) -> None:
    name = f"random_{next(numbers)}"
    with postgres.connect() as connection, connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE {name} ({', '.join(f'{each} {type_}' for each, type_ in SQL.items())})")
        with cursor.copy(f"COPY {name} ({', '.join(SQL)}) FROM STDIN") as copy:
            for row in TABLE.select(list(SQL)).to_pylist():
                copy.write_row(list(row.values()))
    check(sulq.open(address(postgres), schema, table=name), schema, examples(50), 5)


@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize("way", ["frame", "files"])
def test_spark_has_the_integers_of_a_frame(
    cluster: SparkCluster, schema: sulq.Schema, file: Path, way: str
) -> None:
    if way == "files":
        source = sulq.open(file, schema, engine=cluster.session)
    else:
        source = sulq.open(cluster.session.read.parquet(str(file)).repartition(5), schema)
    check(source, schema, 12, 12)


@pytest.fixture(scope="module")
def workers() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed", reason="no Dask here: `make dask` installs it")
    with distributed.Client(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
    ) as client:
        yield client


@pytest.mark.xdist_group("dask")
def test_dask_has_the_integers_of_a_frame(workers: Any, schema: sulq.Schema, file: Path) -> None:
    check(sulq.open(file, schema, engine=workers), schema, either(2, 30), 8)
