"""Models of a million rows of 14 columns, from a file: the first pass in scans of the file, and the seconds beyond it.

Machines are shared, so processor time is measured. What two threads do in passes over the rows takes half as long on two
cores; all else is taken to run on one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

import sulq
from data_sets import load
from measure import ABSENT, DATA, say, table
from sulq.schema import Kind

ROWS, RUNS, THREADS = 1_000_000, 3, 2
SCANS, SECONDS = 4.0, 2.0
"""The goals of additive models: scans of the file for the first pass, and seconds beyond it."""

HEAD = f"""## Fitting models to a million rows

{ROWS:,} rows of 14 columns in a Parquet file, (ε, δ) = (1, 1e-5), {THREADS} threads, the least processor time of {RUNS} runs. *Scan*: DuckDB
touches every value of the file once. *First pass*: the first round, which reads and cleans the columns, as a ratio to it.
*Beyond*: all of the run but that, on two cores: the processor time of passes over the rows counts half, and all else in full.
Adult is drawn again and again; of the other table eight columns are numbers with many digits. Goals are those of `Additive`.
"""


@dataclass(frozen=True)
class Table:
    """A file to fit models to.

    Args:
        name: what it is called in the results.
        path: where it is.
        schema: what is public about its columns.
        label: the class to predict.
        target: the number to predict.
    """

    name: str
    path: Path
    schema: sulq.Schema
    label: str
    target: str

    @property
    def learners(self) -> dict[str, Any]:
        return {
            "Additive": sulq.Additive(self.label),
            "Additive, a number": sulq.Additive(self.target),
            "Pairs": sulq.Pairs(label=self.label),
            "NaiveBayes": sulq.NaiveBayes(self.label),
            "LogisticRegression": sulq.LogisticRegression(self.label),
            "LinearRegression": sulq.LinearRegression(self.target),
        }


def section() -> str:
    """The section of RESULTS.md."""
    tables = [each for each in (_adult(), _made()) if each is not None]
    lines = [_line(each, name) for each in tables for name in each.learners]
    head = [
        "table",
        "model",
        "scan, s",
        "first pass",
        "goal",
        "beyond, s",
        "goal",
        "all, s of processor time",
    ]
    return "\n".join([HEAD, *table(head, lines), *([] if len(tables) == 2 else ["", f"Adult: {ABSENT}"]), ""])


def _line(each: Table, name: str) -> list[object]:
    say("fits,", each.name, name)
    runs = [_run(each, name) for _ in range(RUNS)]
    scan, first, beyond, whole = (min(figures) for figures in zip(*runs, strict=True))
    goals = name.startswith("Additive")
    return [
        each.name,
        f"`{name}`" if "," not in name else name.replace("Additive", "`Additive`"),
        f"{scan:.3f}",
        _against(first / scan, SCANS if goals else None),
        SCANS if goals else "",
        _against(beyond, SECONDS if goals else None),
        SECONDS if goals else "",
        f"{whole:.2f}",
    ]


def _against(figure: float, goal: float | None) -> str:
    return f"{figure:.2f}" if goal is None or figure <= goal else f"**{figure:.2f}** (missed)"


def _run(each: Table, name: str) -> tuple[float, float, float, float]:
    """Processor seconds of a scan, of the first pass, of what is beyond it on two cores, and of all."""
    values = ", ".join(
        f"sum(strlen({column}))" if isinstance(kind, sulq.Category) else f"sum({column})"
        for column, kind in each.schema.items()
    )
    with duckdb.connect() as connection:
        connection.execute(f"SET threads = {THREADS}")
        scan = _processor(lambda: connection.execute(f"SELECT {values} FROM '{each.path}'").fetchall())
    people = sulq.open(each.path, each.schema, threads=THREADS)
    passes: list[float] = []
    sums = people.sums

    def timed(parts: Any) -> Any:
        answers: list[Any] = []
        passes.append(_processor(lambda: answers.extend(sums(parts))))
        return answers

    people.sums = timed  # type: ignore[method-assign]
    curator = people.curator(epsilon=1, delta="1e-5", ledger=":memory:")
    whole = _processor(lambda: each.learners[name].learn(curator))
    people.close()
    return scan, passes[0], whole - sum(passes) + sum(passes[1:]) / THREADS, whole


def _processor(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def _adult() -> Table | None:
    adult = load("adult")
    if adult is None:
        return None
    path = DATA / f"adult-{ROWS}.parquet"
    if not path.exists():
        drawn = np.random.default_rng(0).integers(0, len(adult.rows), ROWS)
        _write(adult.rows[list(adult.schema)].iloc[drawn].reset_index(drop=True), path)
    return Table("Adult", path, adult.schema, "income", "hours_per_week")


def _made() -> Table:
    kinds: dict[str, Kind] = {f"x{i}": sulq.Real(-5, 5) for i in range(8)}
    kinds |= {f"c{i}": sulq.Category([f"v{j}" for j in range(10)], missing="v0") for i in range(5)}
    schema = sulq.Schema(kinds | {"y": sulq.Boolean()})
    path = DATA / f"numbers-{ROWS}.parquet"
    if not path.exists():
        rng = np.random.default_rng(0)
        rows = pd.DataFrame({f"x{i}": rng.normal(0, 1, ROWS) for i in range(8)})
        codes = {f"c{i}": rng.integers(0, 10, ROWS) for i in range(5)}
        for name, code in codes.items():
            rows[name] = np.array([f"v{j}" for j in range(10)], dtype=object)[code]
        rows["y"] = rows["x0"] + codes["c1"] / 10 + rng.normal(0, 1, ROWS) > 0.5
        _write(rows, path)
    return Table("numbers", path, schema, "y", "x1")


def _write(rows: pd.DataFrame, path: Path) -> None:
    DATA.mkdir(exist_ok=True)
    pq.write_table(pa.Table.from_pandas(rows, preserve_index=False), path)
