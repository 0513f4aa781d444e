"""No cliffs: what a written form of an expression costs beside the expression itself, as a ratio in one run.

`python benchmarks/run.py cliffs` makes the section of RESULTS.md. Every cell is one round of sums, timed in turns with the
round it is compared with; the medians of the ratios are shown.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

import sulq
from measure import say, table
from sulq.queries.expressions import Node, col
from sulq.queries.query import Query
from sulq.sources.source import Source
from sums import THREADS, _seconds

GOAL = 3.0
WIDTH = 16
NAMES = [f"x{i}" for i in range(WIDTH)]
CODES = {"c": 8, "d": 4, "e": 5}
FLAGS = ["label", "some", "p", "q"]
DYADIC, OTHER = "0.25", "0.2"
"""Rates of wrong labels: the factors of the rewritten queries are 1.5 and 0.5, or 4/3 and 1/3, which is on no grid."""


@dataclass(frozen=True)
class Form:
    """A way of writing a value, and what it is compared with."""

    written: Callable[[Node, Node], Sequence[Query]]
    """Takes a value and another of its kind."""
    plain: Callable[[Node, Node], Sequence[Query]] = lambda value, other: [sulq.total(value)]
    rate: str | None = None
    """Of wrong labels, where the round is rewritten as for those."""


SOME = col("some")
LABEL = col("label")
FORMS = {
    "0.5·v": Form(lambda v, w: [sulq.total(0.5 * v)]),
    "0.1·v": Form(lambda v, w: [sulq.total(0.1 * v)]),
    "−v": Form(lambda v, w: [sulq.total(-v)]),
    "v + 1": Form(lambda v, w: [sulq.total(v + 1)]),
    "v − w": Form(lambda v, w: [sulq.total(v - w)], lambda v, w: [sulq.total(v), sulq.total(w)]),
    "where=": Form(lambda v, w: [sulq.total(v, where=SOME)]),
    "mean, where=": Form(lambda v, w: [sulq.mean(v, where=SOME)]),
    "some·v": Form(lambda v, w: [sulq.total(SOME * v)]),
    "where(some, v, 0)": Form(lambda v, w: [sulq.total(sulq.where(SOME, v, 0))]),
    "where(some, v, −v)": Form(lambda v, w: [sulq.total(sulq.where(SOME, v, -v))]),
    "by=": Form(lambda v, w: [sulq.total(v, by="e")]),
    "0.5·v, by=": Form(lambda v, w: [sulq.total(0.5 * v, by="e")]),
    "0.5·(v − ¼·where(some, v, 0))": Form(
        lambda v, w: [sulq.total(0.5 * (v - 0.25 * sulq.where(SOME, v, 0)))]
    ),
    "clip(v)": Form(lambda v, w: [sulq.total(sulq.clip(v, -0.3, 0.3))]),
    "y·v": Form(lambda v, w: [sulq.total((2 * LABEL - 1) * v)]),
    f"denoised, {DYADIC}": Form(
        lambda v, w: [sulq.total(v, where=LABEL)],
        lambda v, w: [sulq.total(v, where=LABEL), sulq.total(v, where=~LABEL)],
        DYADIC,
    ),
    f"denoised, {OTHER}": Form(
        lambda v, w: [sulq.total(v, where=LABEL)],
        lambda v, w: [sulq.total(v, where=LABEL), sulq.total(v, where=~LABEL)],
        OTHER,
    ),
}
HALVES = NAMES[: WIDTH // 2], NAMES[WIDTH // 2 :]
CENTRES = np.random.default_rng(0).uniform(-1, 1, (2, WIDTH)).tolist()
VALUES: Mapping[str, tuple[Node, Node]] = {
    "gram(features)": (sulq.gram(sulq.features(*NAMES)), sulq.gram(sulq.features(*NAMES[::-1]))),
    "gram(clip_norm)": (
        sulq.gram(sulq.features(*NAMES, norm=1)),
        sulq.gram(sulq.features(*NAMES[::-1], norm=1)),
    ),
    "outer": tuple(sulq.outer(sulq.features(*a), sulq.features(*b)) for a, b in (HALVES, HALVES[::-1])),
    "one_hot": (
        sulq.one_hot("c"),
        sulq.one_hot(sulq.nearest(sulq.features("x0"), np.linspace(-1, 1, 8)[:, None].tolist())),
    ),
    "one_hot(cross)": (
        sulq.one_hot(sulq.cross("c", "d", "label")),
        sulq.one_hot(sulq.cross("d", "c", "label")),
    ),
    "dot": tuple(sulq.dot(sulq.features(*NAMES), centre) for centre in CENTRES),
    "lookup": tuple(sulq.lookup("c", [(float(i), i * s) for i in range(CODES["c"])]) for s in (0.5, 0.25)),
    "parity": (sulq.parity(FLAGS, [1, 1, 1, 0]), sulq.parity(FLAGS, [1, 0, 1, 1])),
    "vector": (sulq.vector(*NAMES), sulq.vector(*NAMES[::-1])),
    "features": (sulq.features(*NAMES), sulq.features(*NAMES[::-1])),
    "clip_norm": (sulq.features(*NAMES, norm=1), sulq.features(*NAMES[::-1], norm=1)),
    "column": (col("x0"), col("x1")),
}


def section(rows: int = 3_000_000, repetitions: int = 7) -> str:
    """The section of RESULTS.md."""
    people = _people(rows)
    lines, lost = [], []
    for name, (value, other) in VALUES.items():
        plain = _median(people, [sulq.total(value)], repetitions)
        cells = []
        for written, form in FORMS.items():
            ratio = _ratio(people, form, value, other, repetitions)
            if ratio > GOAL:
                lost.append(f"{written} of {name}")
            cells.append(f"{ratio:.1f}" if ratio <= GOAL else f"**{ratio:.1f}** (lost)")
        lines.append([name, f"{plain * 1e9 / rows:.1f}", *cells])
        say(f"{name}: {', '.join(cells)}")
    verdict = f"Lost: {', '.join(lost)}." if lost else "No cell is lost."
    return "\n".join(
        [
            "## Written forms against plain ones",
            "",
            f"{rows:,} rows, {THREADS} threads, median of {repetitions}. Each cell is the time of a written form as a ratio to that of",
            f"its plain form, the total of the value itself, in turns in one run; goal: at most {GOAL:.0f}. The second column is the",
            "plain form's time, in nanoseconds a row. v − w is compared with both totals in one round, and what is asked of labels",
            f"that are wrong at a rate of {DYADIC} or {OTHER} with the totals where the label is true and where it is false.",
            "",
            *table(["v", "ns", *FORMS], lines),
            "",
            verdict,
            "",
        ]
    )


def _people(rows: int) -> Source:
    rng = np.random.default_rng(0)
    columns = {name: rng.uniform(-100, 100, rows) for name in NAMES}
    columns |= {name: rng.integers(0, size, rows) for name, size in CODES.items()}
    columns |= {name: rng.random(rows) < 0.5 for name in FLAGS}
    kinds = {name: sulq.Real(-100, 100) for name in NAMES}
    kinds |= {name: sulq.Integer(0, size - 1) for name, size in CODES.items()}
    kinds |= {name: sulq.Boolean() for name in FLAGS}
    return sulq.open(columns, kinds, threads=THREADS)


def _ratio(people: Source, form: Form, value: Node, other: Node, repetitions: int) -> float:
    oracle = people.exact()
    asked = sulq.Round(form.written(value, other))
    if form.rate is not None:
        asked = oracle.denoised("label", form.rate).inside(asked)
    plain = sulq.Round(form.plain(value, other))
    for round_ in (asked, plain):
        oracle.ask(round_)
    return statistics.median(
        _seconds(lambda: oracle.ask(asked)) / _seconds(lambda: oracle.ask(plain)) for _ in range(repetitions)
    )


def _median(people: Source, queries: Sequence[Query], repetitions: int) -> float:
    oracle, plain = people.exact(), sulq.Round(queries)
    oracle.ask(plain)
    return statistics.median(_seconds(lambda: oracle.ask(plain)) for _ in range(repetitions))
