"""Rows on a real cluster of Spark: the same integers as from anywhere else, whatever happens to executors."""

from __future__ import annotations

import itertools
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sulq
from sulq.classes import Thresholds
from sulq.errors import LedgerError, QueryError, SchemaError
from sulq.reporting import listening
from sulq.sources import kept_groups, spark_jobs
from sulq.sources import spark as module
from sulq.sources.engine import BlockLayout
from tests.sources.fixed_table import SCHEMA
from tests.sources.test_same_sums import table, totals
from tests.spark import SparkCluster

ROOT = Path(__file__).parents[2]
ROWS = 20_000
FRAME = table(ROWS)
AGE = {"age": sulq.Integer(0, 120)}
pytestmark = pytest.mark.xdist_group("spark")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rows") / "people.parquet"
    pq.write_table(pa.Table.from_pandas(FRAME, preserve_index=False), path, row_group_size=3000)
    return path


@pytest.fixture(scope="module")
def truth() -> list[list[int]]:
    return totals(sulq.open(FRAME, SCHEMA))


def test_any_partitions_in_any_order_give_the_same_integers(
    cluster: SparkCluster, file: Path, truth: list[list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Empty partitions and one that has nearly all rows are among them."""
    rows = cluster.session.read.parquet(str(file))
    cluster.session.conf.set("spark.sql.adaptive.enabled", "false")
    ways = [rows, rows.repartition(7), rows.coalesce(1).orderBy("y"), rows.repartition(12, "smokes")]
    for frame in ways:
        source = sulq.open(frame, SCHEMA)
        assert source.rows == ROWS
        assert totals(source) == truth
        assert totals(source) == truth, "and so do the blocks that are kept"
        source.close()
        assert totals(source) == truth, "and blocks that are made anew"
        source.close()
    cluster.session.conf.unset("spark.sql.adaptive.enabled")
    monkeypatch.setattr(module, "MOST_NUMBERS", 0)
    merged = sulq.open(rows.repartition(30), SCHEMA)
    assert totals(merged) == truth, "and so do sums that tasks have merged"
    merged.close()


def test_row_groups_that_executors_read_themselves_give_the_same_integers(
    cluster: SparkCluster, file: Path, truth: list[list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the executors have encoded lies in files of theirs, until the source is closed."""
    monkeypatch.setattr(kept_groups, "ROWS_AT_ONCE", 4000)
    source = sulq.open(file, SCHEMA, engine=cluster.session)
    assert source.rows == ROWS
    assert totals(source) == totals(source) == truth
    assert list(cluster.folder.rglob("sulq-*/*/c0"))
    source.close()
    assert not list(cluster.folder.rglob("sulq-*/*/c0"))
    assert totals(source) == truth, "and files that are made anew"
    cluster.kill_an_executor()
    assert totals(source) == truth
    source.close()
    monkeypatch.setattr(module, "MOST_TASKS", 2)
    few = sulq.open(file, SCHEMA, engine=cluster.session)
    assert totals(few) == truth, "and tasks that read several row groups"
    few.close()


@pytest.mark.parametrize("what", ["file", "table"])
def test_people_with_several_rows_are_counted_as_from_a_frame(
    cluster: SparkCluster, what: str, tmp_path: Path
) -> None:
    frame = FRAME.copy()
    drawn = np.random.default_rng(2).integers(0, 4000, ROWS)
    frame["person"] = [f"{each}.0" if each % 2 else str(each) if each else None for each in drawn]
    schema = sulq.Schema(SCHEMA, unit=sulq.Unit("person", rows=2))
    frame.to_parquet(tmp_path / "people.parquet", row_group_size=3000)
    if what == "file":
        source = sulq.open(tmp_path / "people.parquet", schema, engine=cluster.session)
    else:
        cluster.session.read.parquet(str(tmp_path / "people.parquet")).createOrReplaceTempView("visits")
        source = sulq.open(cluster.session, schema, table="visits")
    here = sulq.open(frame, schema)
    assert source.rows == here.rows
    assert totals(source) == totals(here)
    source.close()


def test_executors_that_are_killed_between_rounds_change_nothing(
    cluster: SparkCluster, file: Path, truth: list[list[int]]
) -> None:
    source = sulq.open(cluster.session.read.parquet(str(file)).repartition(6), SCHEMA)
    assert totals(source) == truth
    for _ in range(2):
        cluster.kill_an_executor()
        assert totals(source) == truth
    source.close()


def test_an_executor_that_is_killed_in_the_middle_of_a_pass_changes_nothing(
    cluster: SparkCluster, file: Path, truth: list[list[int]]
) -> None:
    rows = cluster.session.read.parquet(str(file)).repartition(6)

    def slowly(batches: Any) -> Any:
        time.sleep(1)
        yield from batches

    source = sulq.open(rows.mapInArrow(slowly, rows.schema), SCHEMA)
    assert source.rows == ROWS
    killer = threading.Timer(1.0, cluster.kill_an_executor)
    killer.start()
    assert totals(source) == truth
    killer.join()
    source.close()


def test_tasks_that_fail_or_run_twice_are_counted_once(
    cluster: SparkCluster, file: Path, truth: list[list[int]], tmp_path: Path
) -> None:
    """Each partition fails at first; one takes long, so that Spark starts it a second time beside the first."""
    rows = cluster.session.read.parquet(str(file)).repartition(6)
    folder = str(tmp_path)

    def stumbling(batches: Any) -> Any:
        from pyspark import TaskContext

        context = TaskContext.get()
        partition, attempt = context.partitionId(), context.attemptNumber()
        Path(folder, f"{partition}-{attempt}-{context.taskAttemptId()}").touch()
        if attempt == 0:
            raise OSError("a disk that cannot be read")
        if partition == 5:
            time.sleep(6)
        yield from batches

    source = sulq.open(rows.mapInArrow(stumbling, rows.schema), SCHEMA)
    assert totals(source) == truth
    source.close()
    tried = [path.name.split("-")[0] for path in tmp_path.iterdir()]
    assert set(tried) == set("012345") and len(tried) >= 12
    runs_of_the_slow = sorted(path.name for path in tmp_path.glob("5-*"))
    assert len(runs_of_the_slow) >= 3, "it failed, it ran, and it ran a second time"


def test_an_empty_table_has_answers(cluster: SparkCluster, file: Path) -> None:
    nobody = sulq.open(cluster.session.read.parquet(str(file)).where("false"), SCHEMA)
    assert nobody.rows == 0
    assert totals(nobody) == totals(sulq.open(FRAME[:0], SCHEMA))


def test_times_count_on_their_day_in_utc_whatever_the_zone_of_the_session(
    cluster: SparkCluster, tmp_path: Path
) -> None:
    times = pa.array([0, 86_400_000_000 - 1, None], pa.timestamp("us", "UTC"))
    pq.write_table(pa.table({"at": times}), tmp_path / "times.parquet")
    schema = {"at": sulq.Date("1969-12-01", "1970-12-31")}
    here = sulq.open(tmp_path / "times.parquet", schema).sums([sulq.col("at")])
    cluster.session.conf.set("spark.sql.session.timeZone", "Pacific/Auckland")
    frame = cluster.session.read.parquet(str(tmp_path / "times.parquet"))
    there = sulq.open(frame, schema).sums([sulq.col("at")])
    cluster.session.conf.unset("spark.sql.session.timeZone")
    assert list(here[0]) == list(there[0])


def test_every_kind_of_learner_learns_the_same_as_from_a_frame(cluster: SparkCluster, file: Path) -> None:
    source, here = sulq.open(file, SCHEMA, engine=cluster.session), sulq.open(FRAME, SCHEMA)
    learners: list[Any] = [
        sulq.ID3("smokes", depth=2),
        sulq.KMeans(2, ["x", "y"]),
        sulq.PCA(2, ["x", "y", "age"]),
        sulq.Table(by=["plan"]),
    ]
    for learner in learners:
        assert learner.learn(source.exact()) == learner.learn(here.exact())
    source.close()


def test_what_looks_at_single_rows_is_refused_by_name(cluster: SparkCluster, file: Path) -> None:
    source = sulq.open(cluster.session.read.parquet(str(file)), SCHEMA)
    with pytest.raises(QueryError, match="a crowd looks at single rows"):
        source.crowd(1)
    with pytest.raises(QueryError, match="looks at single rows"):
        source.sample()
    curator = source.curator(1, ledger=":memory:")
    with pytest.raises(QueryError, match="looks at single rows"):
        sulq.Select(Thresholds("x", [0.0, 1.0]), "smokes").learn(curator)
    assert curator.spent == 0


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("SELECT 1 AS shoe", "no column 'age'"),
        ("SELECT array(1) AS age", "declared integer but holds struct<array"),
    ],
)
def test_a_frame_without_the_columns_is_refused_before_a_job_runs(
    cluster: SparkCluster, query: str, says: str
) -> None:
    with pytest.raises(SchemaError, match=says):
        sulq.open(cluster.session.sql(query), AGE)


def test_a_cell_that_the_query_fails_on_is_not_repeated(cluster: SparkCluster) -> None:
    failing = cluster.session.sql(
        "SELECT CAST(said AS INT) AS age FROM VALUES ('1'), ('my secret') AS t(said)"
    )
    with pytest.raises(sulq.SulqError) as failed:
        sulq.open(failing, AGE).sums([sulq.col("age")])
    assert str(failed.value) == spark_jobs.FAILS
    assert failed.value.__context__ is None


def test_executors_with_another_sulq_are_named_as_such(cluster: SparkCluster, file: Path) -> None:
    source = sulq.open(cluster.session.read.parquet(str(file)), SCHEMA)
    source._layout = BlockLayout(source.schema, "0" * 64)
    with pytest.raises(sulq.SulqError, match="have another sulq than this one: install the same"):
        source.sums([sulq.col("x")])


def test_files_that_changed_are_refused(cluster: SparkCluster, tmp_path: Path) -> None:
    path = tmp_path / "people.parquet"
    pq.write_table(pa.table({"age": [1, 2, 3]}), path)
    source = sulq.open(path, AGE, engine=cluster.session)
    pq.write_table(pa.table({"age": list(range(1000))}), path)
    with pytest.raises(sulq.SulqError, match="the files have changed"):
        source.sums([sulq.col("age")])


def test_a_table_that_grew_is_refused_and_not_counted_twice(cluster: SparkCluster, tmp_path: Path) -> None:
    path = tmp_path / "growing"
    cluster.session.range(100).selectExpr("CAST(id AS INT) AS age").write.parquet(str(path))
    source = sulq.open(cluster.session.read.parquet(str(path)), AGE)
    assert source.rows == 100
    source._frame = cluster.session.range(150).selectExpr("CAST(id AS INT) AS age")
    with pytest.raises(sulq.SulqError, match="as many rows"):
        source.sums([sulq.col("age")])


def test_somebody_who_listens_hears_how_far_the_work_is(cluster: SparkCluster, file: Path) -> None:
    heard: list[tuple[str, int]] = []

    class Listener:
        def __init__(self, what: str, total: int | None) -> None:
            self.what = what

        def __enter__(self) -> Any:
            return lambda done: heard.append((self.what, done))

        def __exit__(self, *_: object) -> None: ...

    source = sulq.open(file, SCHEMA, engine=cluster.session)
    with listening(Listener):
        source.sums([sulq.col("x")])
    assert heard[-1] == ("summing", ROWS)
    source.close()


def test_an_interrupt_cancels_the_job(cluster: SparkCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    def slowly(batches: Any) -> Any:
        for batch in batches:
            time.sleep(300)
            yield batch

    numbers = cluster.session.range(4).selectExpr("CAST(id AS INT) AS age")
    source = sulq.open(numbers.mapInArrow(slowly, "age int"), AGE)
    waited, tries = spark_jobs.wait, itertools.count()

    def interrupted(*arguments: Any) -> Any:
        if next(tries) == 30:
            raise KeyboardInterrupt
        return waited(*arguments)

    monkeypatch.setattr(spark_jobs, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        source.sums([sulq.col("age")])
    assert not cluster.session.sparkContext.statusTracker().getActiveJobsIds()


def test_a_ledger_must_be_named(cluster: SparkCluster, file: Path) -> None:
    with pytest.raises(LedgerError, match="no ledger beside them"):
        sulq.open(cluster.session.read.parquet(str(file)), SCHEMA).curator(1)


def test_spark_connect_gives_the_same_integers(cluster: SparkCluster, file: Path) -> None:
    """In a process of its own: one process has classic Spark or Connect."""
    script = f"""
import sulq
from pyspark.sql import SparkSession
from tests.sources.fixed_table import SCHEMA
from tests.sources.test_same_sums import table, totals
spark = SparkSession.builder.remote("local[2]").getOrCreate()
source = sulq.open(spark.read.parquet({str(file)!r}).repartition(5), SCHEMA)
truth = totals(sulq.open(table({ROWS}), SCHEMA))
assert source.rows == {ROWS} and totals(source) == truth and totals(source) == truth
groups = sulq.open({str(file)!r}, SCHEMA, engine=spark)
assert totals(groups) == truth
failing = spark.sql("SELECT CAST(said AS INT) AS age FROM VALUES ('my secret') AS t(said)")
try:
    sulq.open(failing, {{"age": sulq.Integer(0, 9)}}).sums([sulq.col("age")])
except sulq.SulqError as error:
    assert "secret" not in str(error) and "cannot do this" in str(error), error
source.close()
print("the same")
spark.stop()
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.stdout.strip().endswith("the same"), done.stderr[-3000:]
