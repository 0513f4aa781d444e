"""Spark and Postgres: passes on a real cluster and a real server, as ratios to their own scan of the same columns.

Spark is a master and two workers with one core each on this machine; its scan writes the columns to `noop`. The scan
of Postgres reads the same columns as Arrow and does nothing with them. Times are processor time of all processes that
take part, and the clock's beside it; scans and passes alternate in one run.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.postgres import PostgresServer
from tests.spark import SparkCluster, children

import sulq
from sums import NAMES, _case

FIRST, LATER, STREAM = 3.0, 1.0, 1.5
COLUMNS = 8


def section(rows: int = 10_000_000, repetitions: int = 3) -> str:
    """The section of RESULTS.md."""
    return (
        "\n".join(
            [
                "## Spark and Postgres",
                "",
                *_spark(rows, repetitions),
                "",
                *_growth(rows // 10),
                "",
                *_postgres(rows // 10, repetitions),
            ]
        )
        + "\n"
    )


def _spark(rows: int, repetitions: int) -> list[str]:
    lines = [
        f"Spark: {rows:,} rows of Parquet, a master and two workers with one core each, median of {repetitions}. Ratios of",
        "processor time (in brackets: of the clock) to Spark's own scan of the same columns (`noop`). Row groups: the",
        "executors read the files themselves; the goals are for that. Rows: they are taken from Spark's DataFrame, and the way",
        "of every value through Spark into Python costs several times as much.",
        "",
        "| pass | scan, processor s | row groups: first | goal | later | goal | rows: first | later |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for what in NAMES:
        lines.append(_row(what, rows, repetitions))
        print(lines[-1], flush=True)
    return lines


def _row(what: str, rows: int, repetitions: int) -> str:
    path, schema, round_, _ = _case(what, rows)
    with cluster() as spark:
        frame = spark.read.parquet(str(path)).select(*schema)
        noop = frame.write.format("noop").mode("overwrite")
        scan = _median([_cost(noop.save) for _ in range(repetitions + 1)][1:])
        groups = _passes(lambda: sulq.open(path, schema, engine=spark), round_, repetitions)
        taken = _passes(lambda: sulq.open(frame, schema), round_, 1)
    return (
        f"| {NAMES[what]} | {scan[0]:.1f} | {_ratio(groups[0], scan, FIRST)} | {FIRST} | "
        f"{_ratio(groups[1], scan, LATER)} | {LATER} | {_ratio(taken[0], scan)} | {_ratio(taken[1], scan)} |"
    )


def _growth(rows: int) -> list[str]:
    """Copies of one file, up to a hundred: what grows is the work, and the driver's memory should not."""
    import pyarrow.parquet as pq

    path, schema, _, _ = _case("gram", rows)
    chosen = sulq.Schema({name: schema[name] for name in list(schema)[:COLUMNS]})
    round_ = sulq.Round([sulq.total(sulq.gram(sulq.features(*chosen)))])
    lines = [
        f"Growth: a Gram matrix of {COLUMNS} floats on row groups, the same cluster, one run. Seconds are of processors, brackets have",
        "the ratio to Spark's scan. Driver: the most memory that its Python held, and what its JVM held after the passes.",
        "",
        "| rows | scan | first pass | later pass | later, ns a row | driver, Python | driver, JVM |",
        "|---|---|---|---|---|---|---|",
    ]
    rows_of_one = pq.read_table(path, columns=list(chosen))
    with tempfile.TemporaryDirectory(dir=path.parent) as folder, cluster() as spark:
        _cost(lambda: sulq.open(path, chosen, engine=spark).exact().ask(round_))  # workers start
        for times in (1, 10, 100):
            for number in range(times):
                copy = Path(folder, f"{number}.parquet")
                if not copy.exists():
                    pq.write_table(rows_of_one, copy)
            frame = spark.read.parquet(folder).select(*chosen)
            scan = _cost(frame.write.format("noop").mode("overwrite").save)
            Path("/proc/self/clear_refs").write_text("5")  # the high-water mark begins anew
            source = sulq.open(f"{folder}/*.parquet", chosen, engine=spark)
            first, later = (_cost(lambda: source.exact().ask(round_)) for _ in range(2))  # noqa: B023
            source.close()
            lines.append(
                f"| {rows * times:,} | {scan[0]:.1f} | {first[0]:.1f} ({first[0] / scan[0]:.2f}) | "
                f"{later[0]:.1f} ({later[0] / scan[0]:.2f}) | {later[0] / rows / times * 1e9:.0f} | "
                f"{_memory(os.getpid(), 'VmHWM')} MB | {_memory(_jvm(), 'VmRSS')} MB |"
            )
            print(lines[-1], flush=True)
    return lines


def _memory(pid: int, name: str) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split(f"{name}:")[1].split()[0]) // 1024


def _jvm() -> int:
    """The driver's JVM."""
    return next(
        pid for pid in children(os.getpid()) if b"SparkSubmit" in Path(f"/proc/{pid}/cmdline").read_bytes()
    )


def _postgres(rows: int, repetitions: int) -> list[str]:
    path, schema, round_, _ = _case("gram", rows)
    server = PostgresServer(shared_buffers="512MB")
    try:
        address = f"postgresql://postgres@/postgres?host={server.folder}"
        _fill(server, path, list(schema))
        scans, firsts = [], []
        for _ in range(repetitions + 1):
            scans.append(_cost(lambda: _stream(address, list(schema)), server.process.pid))
            firsts.append(_cost(lambda: _asked(address, schema, round_), server.process.pid))
        scan, first = _median(scans[1:]), _median(firsts[1:])
    finally:
        server.stop()
    return [
        f"Postgres: {rows:,} rows, {NAMES['gram']}; the first pass against reading the same columns as Arrow and doing nothing,",
        f"client and server together, median of {repetitions}: {_ratio(first, scan, STREAM)}, goal {STREAM}; the stream alone takes",
        f"{scan[0]:.1f} s of processor time. Later passes read nothing from Postgres.",
    ]


@contextmanager
def cluster() -> Iterator[Any]:
    """A session on a cluster of its own."""
    started = SparkCluster(memory="3g")
    try:
        yield started.session
    finally:
        started.stop()


def _passes(
    opened: Callable[[], Any], round_: sulq.Round, repetitions: int
) -> tuple[tuple[float, float], tuple[float, float]]:
    firsts: list[tuple[float, float]] = []
    laters: list[tuple[float, float]] = []
    for _ in range(repetitions):
        source = opened()
        for costs in (firsts, laters, laters):
            costs.append(_cost(lambda: source.exact().ask(round_)))  # noqa: B023
        source.close()
    return _median(firsts), _median(laters)


def _fill(server: PostgresServer, path: Path, names: list[str]) -> None:
    import adbc_driver_postgresql.dbapi as dbapi
    import pyarrow.parquet as pq

    with dbapi.connect(f"postgresql://postgres@/postgres?host={server.folder}") as connection:
        with connection.cursor() as cursor:
            cursor.adbc_ingest("people", pq.read_table(path, columns=names))
        connection.commit()


def _stream(address: str, names: list[str]) -> None:
    import adbc_driver_postgresql.dbapi as dbapi

    with dbapi.connect(address) as connection, connection.cursor() as cursor:
        cursor.execute(f"SELECT {', '.join(names)} FROM people")
        for _ in cursor.fetch_record_batch():
            pass


def _asked(address: str, schema: sulq.Schema, round_: sulq.Round) -> None:
    source = sulq.open(address, schema, table="people")
    source.exact().ask(round_)
    source.close()


def _cost(work: Callable[[], object], *others: int) -> tuple[float, float]:
    """Processor time of this process, of all that it started and of others; and the clock's."""
    before, started = _processor(*others), time.perf_counter()
    work()
    return _processor(*others) - before, time.perf_counter() - started


def _processor(*others: int) -> float:
    pids = {os.getpid(), *children(os.getpid()), *others, *(pid for each in others for pid in children(each))}
    total = 0
    for pid in pids:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        total += sum(int(field) for field in fields[11:15])
    return total / os.sysconf("SC_CLK_TCK")


def _median(costs: list[tuple[float, float]]) -> tuple[float, float]:
    return statistics.median(each[0] for each in costs), statistics.median(each[1] for each in costs)


def _ratio(cost: tuple[float, float], scan: tuple[float, float], goal: float | None = None) -> str:
    ratio = cost[0] / scan[0]
    shown = f"{ratio:.2f} ({cost[1] / scan[1]:.2f})"
    return shown if goal is None or ratio <= goal else f"**{shown}** (missed)"


if __name__ == "__main__":
    print(section(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000))
