"""Exact sums against a mere scan of the same columns: time as a ratio, and peak memory.

The scan is DuckDB reading the same columns of the same Parquet file and touching every value: `sum(x)` of
numbers, `sum(strlen(c))` of text, on as many threads. Scans and passes alternate in one process, and the
medians are compared. Memory is measured in processes of their own, which do nothing else.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np

import sulq

DATA = Path(__file__).parent / "data"
STATUS = Path("/proc/self/status")
THREADS = 2
NUMBERS = [f"x{i}" for i in range(32)]
ATTRIBUTES = {f"c{i}": 3 + i % 8 for i in range(14)}
GOALS = {"gram": (2.5, 0.6), "kmeans": (2.5, 0.6), "tables": (2.5, 0.5)}
NAMES = {
    "gram": "Gram matrix, 32 floats",
    "kmeans": "k-means step, k = 8, 32 floats",
    "tables": "14 attributes × label, contingency tables",
}
SMALL_MEMORY = "100MB"
SPILLED_GOAL = 1.5


def section(rows: int = 10_000_000, repetitions: int = 7) -> str:
    """The section of RESULTS.md."""
    lines = [
        "## Exact sums against a scan",
        "",
        f"{rows:,} rows, {THREADS} threads, median of {repetitions}; ratios to a scan of the same columns of the same",
        "Parquet file by DuckDB in the same run (`sum(x)`, or `sum(strlen(c))` for text: every value is touched).",
        "The first pass reads and cleans the columns and answers; later passes answer from the encoded columns.",
        f"On disk: with {SMALL_MEMORY} allowed for encoded columns, so that most of them lie in temporary files.",
        "",
        "| pass | scan, s | first pass | goal | later | goal | later, on disk | goal | scan, scan, …: spread |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for what in NAMES:
        t = _child("times", what, rows, repetitions)
        first, later = GOALS[what]
        lines.append(
            f"| {NAMES[what]} | {t['scan']:.2f} | {_mark(t['first'], first)} | {first} | {_mark(t['later'], later)} "
            f"| {later} | {_mark(t['spilled'], SPILLED_GOAL)} | {SPILLED_GOAL} | {t['spread']:.2f} |"
        )
    lines += [
        "",
        "Peak memory of a process that opens the file and asks three times, in MB (a process that only imports sulq: "
        f"{_child('memory', 'nothing', 0, 0)['peak']:.0f}):",
        "",
        f"| pass | {rows // 10:,} rows | {rows:,} rows | {rows // 10:,} rows, on disk | {rows:,} rows, on disk |",
        "|---|---|---|---|---|",
    ]
    for what in NAMES:
        peaks = [
            _child(kind, what, n, 3)["peak"]
            for kind in ("memory", "spilled memory")
            for n in (rows // 10, rows)
        ]
        lines.append(f"| {NAMES[what]} | " + " | ".join(f"{peak:.0f}" for peak in peaks) + " |")
    return "\n".join(lines) + "\n"


def times(what: str, rows: int, repetitions: int) -> dict[str, float]:
    """Median ratios of first, later and spilled passes to the scan."""
    path, schema, round_, scan_sql = _case(what, rows)
    connection = duckdb.connect(config={"threads": THREADS})

    def scan() -> None:
        connection.execute(scan_sql).fetchall()

    def passes(memory: str | None) -> tuple[list[float], list[float]]:
        firsts: list[float] = []
        laters: list[float] = []
        for _ in range(repetitions):
            source = sulq.open(path, schema, threads=THREADS, memory=memory)
            for ratios in (firsts, laters, laters):
                asked = _seconds(lambda: source.exact().ask(round_))  # noqa: B023
                ratios.append(asked / _seconds(scan))
            source.close()
        return firsts, laters

    scan()
    warm = sulq.open(path, schema, threads=THREADS)
    warm.exact().ask(round_)
    warm.close()
    scans = [_seconds(scan) for _ in range(repetitions)]
    firsts, laters = passes(None)
    _, spilled = passes(SMALL_MEMORY)
    return {
        "scan": statistics.median(scans),
        "spread": max(scans) / min(scans),
        "first": statistics.median(firsts),
        "later": statistics.median(laters),
        "spilled": statistics.median(spilled),
    }


def peak(what: str, rows: int, repetitions: int, memory: str | None) -> dict[str, float]:
    """The most memory that opening and asking takes."""
    if what != "nothing":
        path, schema, round_, _ = _case(what, rows)
        source = sulq.open(path, schema, threads=THREADS, memory=memory)
        for _ in range(repetitions):
            source.exact().ask(round_)
    return {"peak": most_memory()}


def most_memory() -> float:
    """The most memory this process ever held, in MB."""
    # Not getrusage: what it says of a process that was just started includes its parent.
    [held] = [line.split()[1] for line in STATUS.read_text().splitlines() if line.startswith("VmHWM")]
    return int(held) * 1024 / 1e6


def _case(what: str, rows: int) -> tuple[Path, sulq.Schema, sulq.Round, str]:
    if what == "tables":
        path = _made("categories", rows, _category_columns())
        columns = {
            name: sulq.Category([f"v{j}" for j in range(size)], missing="v0")
            for name, size in ATTRIBUTES.items()
        }
        schema = sulq.Schema({**columns, "y": sulq.Category(["y0", "y1"], missing="y0")})
        scan = ", ".join(f"sum(strlen({name}))" for name in schema)
        return (
            path,
            schema,
            sulq.Round([sulq.count(by=[name, "y"]) for name in columns]),
            f"SELECT {scan} FROM '{path}'",
        )
    path = _made("floats", rows, ", ".join(f"random() * 200 - 100 AS {name}" for name in NUMBERS))
    schema = sulq.Schema({name: sulq.Real(-100, 100) for name in NUMBERS})
    point = sulq.features(*NUMBERS)
    centres = np.random.default_rng(0).uniform(-1, 1, (8, len(NUMBERS))).tolist()
    near = sulq.nearest(point, centres)
    round_ = {
        "gram": sulq.Round([sulq.total(sulq.gram(point))]),
        "kmeans": sulq.Round([sulq.count(by=near), sulq.total(point, by=near)]),
    }[what]
    return path, schema, round_, f"SELECT {', '.join(f'sum({name})' for name in NUMBERS)} FROM '{path}'"


def _category_columns() -> str:
    attributes = [f"'v' || floor(random() * {size})::INT AS {name}" for name, size in ATTRIBUTES.items()]
    return ", ".join([*attributes, "'y' || floor(random() * 2)::INT AS y"])


def _made(name: str, rows: int, columns: str) -> Path:
    path = DATA / f"{name}-{rows}.parquet"
    if not path.exists():
        DATA.mkdir(exist_ok=True)
        part = path.with_suffix(".part")
        duckdb.connect().execute(f"COPY (SELECT {columns} FROM range({rows})) TO '{part}' (FORMAT parquet)")
        part.rename(path)
    return path


def _child(kind: str, what: str, rows: int, repetitions: int) -> dict[str, float]:
    if what != "nothing":
        _case(what, rows)
    command = [sys.executable, __file__, kind, what, str(rows), str(repetitions)]
    found: dict[str, float] = json.loads(
        subprocess.run(command, capture_output=True, text=True, check=True).stdout
    )
    print(f"· {kind}, {what}, {rows:,} rows: { {k: round(v, 2) for k, v in found.items()} }", flush=True)
    return found


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _mark(value: float, goal: float) -> str:
    return f"{value:.2f}" if value <= goal else f"**{value:.2f}** (missed)"


if __name__ == "__main__":
    kind, what, rows, repetitions = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    if kind == "times":
        print(json.dumps(times(what, rows, repetitions)))
    else:
        print(json.dumps(peak(what, rows, repetitions, SMALL_MEMORY if kind == "spilled memory" else None)))
