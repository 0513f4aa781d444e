"""From the same noise, every learner learns the same, whichever engine adds up."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sulq
from sulq.errors import QueryError
from sulq.privacy import coins
from tests.effort import EFFORT
from tests.oracles import test_remote_learners as remote
from tests.postgres import PostgresServer
from tests.sources.fixed_table import SCHEMA
from tests.sources.test_postgres import address
from tests.sources.test_same_sums import table
from tests.spark import SparkCluster

FRAME = table(2000)
numbers = itertools.count()
LEARNERS: dict[str, sulq.Learner[Any]] = {
    "tree": sulq.ID3("smokes", ["x", "age", "plan"], depth=3),
    "classifier": sulq.Classifier("smokes", ["x", "age"]),
    "additive": sulq.Additive("smokes", ["x", "plan"], refinements=1),
    "linear": sulq.LinearRegression("age", ["x", "y"]),
    "logistic": sulq.LogisticRegression("smokes", ["x", "y"], steps=1),
    "bayes": sulq.NaiveBayes("smokes", ["x", "plan"]),
    "list": sulq.DecisionList("smokes", ["x", "plan"], length=2),
    "pairs": sulq.Pairs(["smokes", "plan", "age"]),
    "clusters": sulq.KMeans(2, ["x", "age"]),
    "components": sulq.PCA(2, ["x", "y", "age"]),
    "halfspace": sulq.Perceptron("smokes", ["x", "age"], iterations=2),
    "table": sulq.Table(["plan"], means=["age"], medians=["x"]),
}


def fixed_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same bytes, again and again: no noise at all for privacy, and all there is to compare."""
    rng = np.random.default_rng(12)
    # Others draw from the system too, such as names of jobs: only the coins are fixed.
    monkeypatch.setattr(coins, "os", SimpleNamespace(**vars(os) | {"urandom": rng.bytes}))


def learned(learner: sulq.Learner[Any], rows: sulq.Source, monkeypatch: pytest.MonkeyPatch) -> str:
    fixed_noise(monkeypatch)
    hypothesis = learner.learn(rows.curator(epsilon=4, delta="1e-6", ledger=":memory:"), run="same")
    return hypothesis.to_json()


def tables() -> list[tuple[pa.Table, sulq.Schema, dict[str, sulq.Learner[Any]]]]:
    """Tables, and who learns from them: together all learners there are."""
    tried = {type(learner) for learner in LEARNERS.values()}
    others = {name: each for name, each in remote.LEARNERS.items() if type(each) not in tried}
    found = [(pa.Table.from_pandas(FRAME, preserve_index=False), SCHEMA, LEARNERS)]
    for masked in (False, True):
        some = {
            name: each
            for name, each in others.items()
            if isinstance(each, sulq.theory.MaskedParity) is masked
        }
        columns, schema = remote.table_for(next(iter(some.values())))
        found.append((pa.table(columns), sulq.Schema.of(schema), some))
    return found


def check_same(
    opened: Callable[[pa.Table, sulq.Schema], sulq.Source],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    only_sums: bool = False,
) -> None:
    for rows, schema, learners in tables():
        pq.write_table(rows, tmp_path / "here.parquet", row_group_size=300)
        file, source = sulq.open(tmp_path / "here.parquet", schema), opened(rows, schema)
        for name, learner in learners.items():
            if only_sums and isinstance(learner, sulq.Select | sulq.Parity | sulq.Compress):
                with pytest.raises(QueryError, match="looks at single rows"):
                    learned(learner, source, monkeypatch)
                continue
            here = learned(learner, file, monkeypatch)
            if EFFORT == "thorough":
                assert here == learned(learner, file, monkeypatch), name
            assert here == learned(learner, source, monkeypatch), name
        source.close()


def files(folder: Path, table: pa.Table) -> Path:
    """A Parquet file of its own with these rows."""
    path = folder / f"{next(numbers)}.parquet"
    pq.write_table(table, path, row_group_size=300)
    return path


def test_rows_in_postgres_teach_what_a_file_does(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import adbc_driver_postgresql.dbapi as dbapi

    def opened(table: pa.Table, schema: sulq.Schema) -> sulq.Source:
        name = f"noise_{next(numbers)}"
        with dbapi.connect(address(postgres)) as connection:
            with connection.cursor() as cursor:
                cursor.adbc_ingest(name, table)
            connection.commit()
        return sulq.open(address(postgres), schema, table=name)

    check_same(opened, monkeypatch, tmp_path)


@pytest.mark.xdist_group("spark")
def test_rows_on_spark_teach_what_a_file_does(
    cluster: SparkCluster, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    check_same(
        lambda table, schema: sulq.open(files(tmp_path, table), schema, engine=cluster.session),
        monkeypatch,
        tmp_path,
        only_sums=True,
    )
