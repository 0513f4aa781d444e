"""No cliffs: what a written form of an expression costs beside the expression itself, as a ratio in one run.

`python benchmarks/run.py cliffs` makes the section of RESULTS.md. Every cell is one round of sums, timed in turns with the
round it is compared with; the least times are compared.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import sulq
from measure import say, table
from sulq.queries.query import Query
from sulq.sources.source import Source
from sums import THREADS
from written_forms import CODES, DYADIC, FLAGS, FORMS, NAMES, OTHER, VALUES
from written_rounds import LEARNERS, USERS

GOAL = 3.0


def section(rows: int = 1_000_000, repetitions: int = 5) -> str:
    """The section of RESULTS.md."""
    people = _people(rows)
    lines: list[list[str]] = []
    lost: list[str] = []

    def cell(name: str, written: Sequence[Query], plain: Sequence[Query], rate: str | None) -> str:
        fastest = _fastest(people, written, plain, rate, repetitions)
        ratio = fastest[0] / fastest[1]
        if ratio > GOAL:
            lost.append(name)
        return f"{ratio:.1f}" if ratio <= GOAL else f"**{ratio:.1f}** (lost)"

    for name, (value, other) in VALUES.items():
        alone, _ = _fastest(people, [sulq.total(value)], [sulq.total(value)], None, repetitions)
        cells = [
            cell(f"{written} of {name}", form.written(value, other), form.plain(value, other), form.rate)
            for written, form in FORMS.items()
        ]
        lines.append([name, f"{alone * 1e9 / rows:.1f}", *cells])
        say(f"{name}: {', '.join(cells)}")
    learners = [[name, cell(name, *rounds)] for name, rounds in LEARNERS.items()]
    users = [
        [name, cell(name, _several(written), _several(plain), None)]
        for name, (written, plain) in USERS.items()
    ]
    verdict = f"Lost: {'; '.join(lost)}." if lost else "No cell is lost."
    return "\n".join(
        [
            "## Written forms against plain ones",
            "",
            f"{rows:,} rows, {THREADS} threads, the least of {repetitions}. Each cell is the processor time of a written form as a ratio to that of",
            f"its plain form, the total of the value itself, in turns in one run; goal: at most {GOAL:.0f}. The second column is the",
            "plain form's time, in nanoseconds a row. v − w is compared with both totals in one round, and what is asked of labels",
            f"that are wrong at a rate of {DYADIC} or {OTHER} with the totals where the label is true and where it is false.",
            "",
            *table(["v", "ns", *FORMS], lines),
            "",
            "What learners ask, as a ratio to a plain form:",
            "",
            *table(["round", "ratio"], learners),
            "",
            "What users ask, of dates, known cells, texts, groups, rows that are centred and clipped, as a ratio to a plain form:",
            "",
            *table(["question", "ratio"], users),
            "",
            verdict,
            "",
        ]
    )


def _several(queries: Query | Sequence[Query]) -> Sequence[Query]:
    return [queries] if isinstance(queries, Query) else queries


def _people(rows: int) -> Source:
    rng = np.random.default_rng(0)
    columns: dict[str, Any] = {name: rng.uniform(-100, 100, rows) for name in NAMES}
    columns |= {name: rng.integers(0, size, rows) for name, size in CODES.items()}
    columns |= {name: rng.random(rows) < 0.5 for name in FLAGS}
    kinds: dict[str, Any] = {name: sulq.Real(-100, 100) for name in NAMES}
    kinds |= {name: sulq.Integer(0, size - 1) for name, size in CODES.items()}
    kinds |= {name: sulq.Boolean() for name in FLAGS}
    towns = [f"town {i}" for i in range(12)]
    columns |= {
        "born": np.datetime64("1940-01-01") + rng.integers(0, 25_000, rows).astype("timedelta64[D]"),
        "city": np.array(towns)[rng.integers(0, len(towns), rows)],
        "cost": np.where(rng.random(rows) < 0.2, np.nan, rng.uniform(0, 1000, rows)),
        "n": rng.integers(0, 1000, rows),
    }
    kinds |= {
        "born": sulq.Date("1940-01-01", "2010-12-31"),
        "city": sulq.Category(towns),
        "cost": sulq.Real(0, 1000, drop_missing=True),
        "n": sulq.Integer(0, 999),
    }
    return sulq.open(columns, kinds, threads=THREADS)


def _seconds(work: Callable[[], object]) -> float:
    """Processor time, of all threads: other programs change it less than the time on the clock."""
    started = time.process_time()
    work()
    return time.process_time() - started


def _fastest(
    people: Source, written: Sequence[Query], plain: Sequence[Query], rate: str | None, repetitions: int
) -> tuple[float, float]:
    """The least time of each of two rounds that are asked in turns."""
    oracle = people.exact()
    asked, beside = sulq.Round(written), sulq.Round(plain)
    if rate is not None:
        asked = oracle.denoised("label", rate).inside(asked)
    times = []
    for repetition in range(repetitions + 1):
        pair = [_seconds(lambda: oracle.ask(asked)), _seconds(lambda: oracle.ask(beside))]
        if repetition:  # the first time, columns are read
            times.append(pair)
    first, second = (min(own) for own in zip(*times, strict=True))
    return first, second
