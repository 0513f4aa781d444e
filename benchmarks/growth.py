"""How time and memory grow with rows and with columns, beside a scan by DuckDB and beside NumPy.

Rows lie in Parquet files, and the scan is that of `sums.py`: the same columns of the same files, every value touched, in
turns with the passes, in one process. Columns lie in memory, where NumPy does the same without promising that sums are
exact. Memory is measured in processes of their own.
"""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
from threadpoolctl import threadpool_limits

import sulq
from sums import (
    ATTRIBUTES,
    DATA,
    NAMES,
    SMALL_MEMORY,
    THREADS,
    _case,
    _category_columns,
    _made,
    _seconds,
    most_memory,
)

# Processes of their own measure memory, so they import no more than they need.
if __name__ != "__main__":
    import matplotlib.pyplot as plt
    from matplotlib.ticker import NullFormatter

    from measure import say, table

PASSES = {**NAMES, "tree": "a tree's level, 12 nodes, 14 attributes"}
COUNTS = "tables"
PIECE = 10_000_000
"""More rows than this are made and kept in files of so many."""
ROOM = 8e9
"""Bytes that must be free on the disk before the most rows are made: they, and their encoded columns."""
WIDE = 100_000
"""How many rows there are while columns grow."""
FLAT = 1.2
"""Memory that grows by less than this while rows grow tenfold is called flat."""
BESIDE = {"gram": "Gram matrix", "tables": "attributes × label, contingency tables"}
Found = dict[str, float]


def section(
    rows: Sequence[int] = (10_000, 100_000, 1_000_000, 10_000_000),
    most: int = 100_000_000,
    columns: Sequence[int] = (4, 16, 64, 256),
    repetitions: int = 7,
    picture: Path = DATA.parents[1] / "docs" / "growth.png",
) -> str:
    """The section of RESULTS.md. The counts alone are taken of the most rows too."""
    by_rows = {(what, n): _measured(what, n, repetitions) for what in PASSES for n in rows}
    room = shutil.disk_usage(DATA).free
    if room >= ROOM:
        by_rows[COUNTS, most] = _measured(COUNTS, most, min(repetitions, 3), on_disk=True)
    by_columns = {(what, n): _child("columns", what, n, repetitions) for what in BESIDE for n in columns}
    draw(picture, by_rows, by_columns)
    lines = [
        "## Growth with rows and columns",
        "",
        f"{THREADS} threads, medians ± a standard error; ratios to a scan of the same columns of the same Parquet files by DuckDB in the",
        "same run. The first pass reads and cleans the columns and answers; later passes answer from the encoded columns. Peak",
        f"memory is that of a process which asks three times; on disk: with {SMALL_MEMORY} allowed for encoded columns, so that the",
        f"others lie in temporary files (a process that only imports sulq: {_child('memory', 'nothing', 0, 0)['peak']:.0f} MB). {most:,} rows are",
        "counted out of core only.",
        "",
        *_rows_table(by_rows),
        "",
        _flatness(by_rows, max(rows), most),
        "",
        f"With columns, {WIDE:,} rows in memory, in turns: passes over NumPy's time for the same numbers.",
        "NumPy is given what suits it: for the Gram matrix one array, scaled already, and the same number of threads; for the",
        "tables codes of one byte, counted by `bincount` on one. The first pass cleans the columns too.",
        "",
        *_columns_table(by_columns),
        "",
        "![Time and memory against rows and columns](../docs/growth.png)",
    ]
    return "\n".join(lines) + "\n"


def _measured(what: str, rows: int, repetitions: int, on_disk: bool = False) -> Found:
    """Times and peak memory; with `on_disk` out of core alone."""
    found = _child("times on disk" if on_disk else "times", what, rows, repetitions)
    kinds = {"spilled": "memory on disk"} if on_disk else {"peak": "memory", "spilled": "memory on disk"}
    return found | {name: _child(kind, what, rows, 3)["peak"] for name, kind in kinds.items()}


def times(what: str, rows: int, repetitions: int, memory: str | None) -> Found:
    """Median seconds of a scan, and median ratios of first and later passes to the scans beside them."""
    path, schema, round_, sql = case(what, rows)
    connection = duckdb.connect(config={"threads": THREADS})

    def scan() -> float:
        return _seconds(lambda: connection.execute(sql).fetchall())

    # Once for nothing: libraries set themselves up when they are first used.
    scan()
    sulq.open(path, schema, threads=THREADS, memory=memory).exact().ask(round_)
    scans, firsts, laters, seconds = [], [], [], []
    for _ in range(3):
        source = sulq.open(path, schema, threads=THREADS, memory=memory)
        first = _seconds(lambda: source.exact().ask(round_))  # noqa: B023
        scans.append(scan())
        firsts.append(first / scans[-1])
        for _ in range(max(1, repetitions // 2)):
            seconds.append(_seconds(lambda: source.exact().ask(round_)))  # noqa: B023
            scans.append(scan())
            laters.append(seconds[-1] / scans[-1])
        source.close()
    return _medians({"scan": scans, "first": firsts, "later": laters, "seconds": seconds})


def peak(what: str, rows: int, repetitions: int, memory: str | None) -> Found:
    """The most memory that opening and asking takes."""
    if what != "nothing":
        path, schema, round_, _ = case(what, rows)
        source = sulq.open(path, schema, threads=THREADS, memory=memory)
        for _ in range(repetitions):
            source.exact().ask(round_)
    return {"peak": most_memory()}


def case(what: str, rows: int) -> tuple[Path | str, sulq.Schema, sulq.Round, str]:
    """Where the rows are (made if they are not there), what is asked of them, and what a scan is."""
    if what == "tree":
        path, schema, _, sql = case(COUNTS, rows)
        return path, schema, _level(), sql
    if rows <= PIECE:
        return _case(what, rows)
    name = f"categories-{rows}-part"
    for number in range(rows // PIECE):
        _made(f"{name}{number}", PIECE, _category_columns())
    path = str(DATA / f"{name}*-{PIECE}.parquet")
    one, schema, round_, sql = _case(what, PIECE)
    return path, schema, round_, sql.replace(str(one), path)


def _level() -> sulq.Round:
    """What `ID3` asks about the nodes of a level: which attribute is best in each, and how large they are."""
    node = sulq.cross(sulq.col("c0"), sulq.col("c1"))
    chosen = sulq.choose([sulq.col(name) for name in ATTRIBUTES], "y", node)
    return sulq.Round([chosen, sulq.count(by=[node, "y"])])


def beside_numpy(what: str, columns: int, repetitions: int) -> Found:
    """Median seconds of a later pass and of NumPy, in turns, and ratios of passes to NumPy beside them."""
    rng = np.random.default_rng(0)
    names = [f"x{i}" for i in range(columns)]
    data: Any
    if what == "gram":
        data = rng.uniform(-100, 100, (WIDE, columns))
        schema = sulq.Schema(dict.fromkeys(names, sulq.Real(-100, 100)))
        round_ = sulq.Round([sulq.total(sulq.gram(sulq.features(*names)))])
        scaled = data / 100

        def theirs() -> object:
            return scaled.T @ scaled
    else:
        sizes = {name: 3 + i % 8 for i, name in enumerate(names)}
        codes = {name: rng.integers(0, size, WIDE, dtype=np.uint8) for name, size in sizes.items()}
        label = rng.integers(0, 2, WIDE, dtype=np.uint8)
        values = {name: [f"v{j}" for j in range(size)] for name, size in sizes.items()}
        texts = {name: pa.DictionaryArray.from_arrays(codes[name], own) for name, own in values.items()}
        data = pa.table({**texts, "y": label.astype(bool)})
        kinds = {name: sulq.Category(own, missing="v0") for name, own in values.items()}
        schema = sulq.Schema({**kinds, "y": sulq.Boolean()})
        round_ = sulq.Round([sulq.count(by=[name, "y"]) for name in names])

        def theirs() -> object:
            return [np.bincount(2 * own + label, minlength=2 * sizes[name]) for name, own in codes.items()]

    firsts, laters, ratios, others = [], [], [], []
    with threadpool_limits(THREADS):
        sulq.open(data, schema, threads=THREADS).exact().ask(round_)
        for _ in range(3):
            source = sulq.open(data, schema, threads=THREADS)
            first = _seconds(lambda: source.exact().ask(round_))  # noqa: B023
            firsts.append(first / _seconds(theirs))
            for _ in range(repetitions):
                laters.append(_seconds(lambda: source.exact().ask(round_)))  # noqa: B023
                others.append(_seconds(theirs))
                ratios.append(laters[-1] / others[-1])
    return _medians({"first": firsts, "later": ratios, "seconds": laters, "numpy": others})


def _medians(measured: Mapping[str, Sequence[float]]) -> Found:
    """Each with the standard error of the mean."""
    found = {name: statistics.median(values) for name, values in measured.items()}
    errors = {name: statistics.stdev(values) / len(values) ** 0.5 for name, values in measured.items()}
    return found | {f"{name} error": error for name, error in errors.items()}


def _with_error(found: Found, name: str) -> str:
    return f"{found[name]:.2f} ± {found[f'{name} error']:.2f}"


def _child(kind: str, what: str, size: int, repetitions: int) -> Found:
    if what != "nothing" and kind != "columns":
        case(what, size)
    command = [sys.executable, __file__, kind, what, str(size), str(repetitions)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: Found = json.loads(done.stdout)
    say("growth,", kind, what, f"{size:,}:", {name: float(f"{value:.3g}") for name, value in found.items()})
    return found


def _rows_table(found: Mapping[tuple[str, int], Found]) -> list[str]:
    lines = []
    for (what, rows), own in found.items():
        ratios = [_with_error(own, "first"), _with_error(own, "later"), f"{own['seconds']:.4f}"]
        held = f"{own['peak']:.0f}" if "peak" in own else "–"
        lines.append(
            [PASSES[what], f"{rows:,}", f"{own['scan']:.4f}", *ratios, held, f"{own['spilled']:.0f}"]
        )
    head = ["pass", "rows", "scan, s", "first / scan", "later / scan", "later, s", "peak, MB", "on disk, MB"]
    return table(head, lines)


def _flatness(found: Mapping[tuple[str, int], Found], many: int, most: int) -> str:
    if (COUNTS, most) not in found:
        return f"**{most:,} rows were not counted**: less than {ROOM / 1e9:.0f} GB are free on the disk."
    before, after = found[COUNTS, many]["spilled"], found[COUNTS, most]["spilled"]
    told = f"Out of core the memory of counts grows from {before:.0f} MB at {many:,} rows to {after:.0f} MB at {most:,}"
    return f"{told}: flat." if after < FLAT * before else f"{told}: **not flat** (missed)."


def _columns_table(found: Mapping[tuple[str, int], Found]) -> list[str]:
    lines = [
        [
            BESIDE[what],
            columns,
            f"{own['numpy']:.4f}",
            _with_error(own, "first"),
            _with_error(own, "later"),
        ]
        for (what, columns), own in found.items()
    ]
    return table(["pass", "columns", "NumPy, s", "first / NumPy", "later / NumPy"], lines)


# Okabe and Ito's colours, which the colour-blind can tell apart.
COLOURS = {"gram": "#0072B2", "kmeans": "#009E73", "tables": "#D55E00", "tree": "#CC79A7"}
MEGABYTES = (100, 200, 500, 1000)
SHORT = {"gram": "Gram matrix", "kmeans": "k-means step", "tables": "counts", "tree": "tree's level"}


def draw(
    path: Path, by_rows: Mapping[tuple[str, int], Found], by_columns: Mapping[tuple[str, int], Found]
) -> None:
    """Seconds and memory against rows, seconds against columns, all scales logarithmic."""
    figure, (time, memory, wide) = plt.subplots(1, 3, figsize=(12, 4), dpi=150)
    for what, colour in COLOURS.items():
        own = {rows: found for (name, rows), found in by_rows.items() if name == what}
        solid = {"color": colour, "marker": "o", "markersize": 3.5}
        faint = {"color": colour, "linestyle": ":", "linewidth": 1.2}
        time.plot(list(own), [found["seconds"] for found in own.values()], label=SHORT[what], **solid)
        time.plot(list(own), [found["scan"] for found in own.values()], **faint)
        memory.plot(list(own), [found["spilled"] for found in own.values()], label=SHORT[what], **solid)
        held = {rows: found["peak"] for rows, found in own.items() if "peak" in found}
        memory.plot(list(held), list(held.values()), **faint)
    for what in BESIDE:
        beside = {columns: found for (name, columns), found in by_columns.items() if name == what}
        solid = {"color": COLOURS[what], "marker": "o", "markersize": 3.5}
        wide.plot(list(beside), [found["seconds"] for found in beside.values()], label=SHORT[what], **solid)
        wide.plot(
            list(beside), [found["numpy"] for found in beside.values()], color=COLOURS[what], linestyle=":"
        )
    _dressed(time, "Seconds of a pass (dotted: DuckDB's scan)", "rows")
    _dressed(memory, "Peak memory on disk, MB (dotted: in memory)", "rows")
    _dressed(wide, f"Seconds, {WIDE:,} rows (dotted: NumPy)", "columns")
    memory.set_yticks(MEGABYTES, [str(each) for each in MEGABYTES])
    columns = sorted({columns for _, columns in by_columns})
    wide.set_xticks(columns, [str(each) for each in columns])
    figure.tight_layout()
    figure.savefig(path)
    plt.close(figure)


def _dressed(ax: Any, title: str, along: str) -> None:
    ax.set_xscale("log")
    ax.set_yscale("log")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_minor_formatter(NullFormatter())
    ax.set_title(title, loc="left", fontweight="bold", fontsize=9.5)
    ax.set_xlabel(along)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize=8.5, loc="upper left")


if __name__ == "__main__":
    kind, what, size, repetitions = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    allowed = SMALL_MEMORY if kind.endswith("on disk") else None
    if kind == "columns":
        print(json.dumps(beside_numpy(what, size, repetitions)))
    elif kind.startswith("times"):
        print(json.dumps(times(what, size, repetitions, allowed)))
    else:
        print(json.dumps(peak(what, size, repetitions, allowed)))
