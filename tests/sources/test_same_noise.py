"""From the same noise, every learner learns the same, whichever engine adds up."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import sulq
from sulq.privacy import coins
from tests.postgres import PostgresServer
from tests.sources.fixed_table import SCHEMA
from tests.sources.test_postgres import address, put
from tests.sources.test_same_sums import table
from tests.spark import SparkCluster

FRAME = table(2000)
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


def check_same(opened: Callable[[], sulq.Source], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    FRAME.to_parquet(tmp_path / "people.parquet", row_group_size=300)
    source, file = opened(), sulq.open(tmp_path / "people.parquet", SCHEMA)
    for name, learner in LEARNERS.items():
        here = learned(learner, file, monkeypatch)
        assert here == learned(learner, file, monkeypatch), name
        assert here == learned(learner, source, monkeypatch), name
    source.close()


def test_rows_in_postgres_teach_what_a_file_does(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    name = put(postgres, FRAME)
    check_same(lambda: sulq.open(address(postgres), SCHEMA, table=name), monkeypatch, tmp_path)


@pytest.mark.xdist_group("spark")
def test_rows_on_spark_teach_what_a_file_does(
    cluster: SparkCluster, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "spark").mkdir()
    FRAME.to_parquet(tmp_path / "spark" / "people.parquet", row_group_size=300)

    def opened() -> sulq.Source:
        return sulq.open(tmp_path / "spark" / "people.parquet", SCHEMA, engine=cluster.session)

    check_same(opened, monkeypatch, tmp_path)
