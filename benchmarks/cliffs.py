"""No cliffs: what a written form of an expression costs beside the expression itself, as a ratio in one run.

`python benchmarks/run.py cliffs` makes the section of RESULTS.md. Every cell is one round of sums, timed in turns with the
round it is compared with; the least times are compared.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

import sulq
from measure import say, table
from sulq.queries.expressions import col
from sulq.queries.node import Node
from sulq.queries.query import Query
from sulq.sources.source import Source
from sums import THREADS

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


POINT, ROW = sulq.features(*NAMES), sulq.features(*NAMES, norm=1)
SIDE = sulq.dot(POINT, CENTRES[0])
WRONG = (LABEL & (SIDE <= 0)) | (~LABEL & (SIDE >= 0))
NEAR = sulq.nearest(POINT, CENTRES)
MISTAKES = [sulq.count(where=WRONG), sulq.total(sulq.where(LABEL, ROW, -ROW), where=WRONG)]
TABLES = [sulq.count(by=[name, "label"]) for name in CODES]
CENTRED = sulq.clip_norm(POINT - sulq.vector(*CENTRES[0]), 1)
MOVED = sulq.vector(
    *(
        sulq.clip(sulq.features(name) - sulq.lookup(NEAR, list(at)), -0.5, 0.5)
        for name, at in zip(NAMES, zip(*CENTRES, strict=True), strict=True)
    )
)
LEARNERS: Mapping[str, tuple[Sequence[Query], Sequence[Query], str | None]] = {
    "Perceptron: the sum of corrections, to the sum of rows": (MISTAKES, [sulq.total(ROW)], None),
    f"Perceptron, denoised at {OTHER}, to itself": (MISTAKES, MISTAKES, OTHER),
    f"ID3: tables with the label, denoised at {OTHER}, to themselves": (TABLES, TABLES, OTHER),
    "PrivatePCA: the Gram matrix of centred rows, clipped twice, to that of rows clipped once": (
        [sulq.total(sulq.gram(sulq.clip_norm(CENTRED, 2, order=1))), sulq.count()],
        [sulq.total(sulq.gram(ROW))],
        None,
    ),
    "KMeans: how far clusters move, clipped thrice, to sums of points": (
        [sulq.count(by=NEAR), sulq.total(sulq.clip_norm(sulq.clip_norm(MOVED, 1), 2, order=1), by=NEAR)],
        [sulq.count(by=NEAR), sulq.total(POINT, by=NEAR)],
        None,
    ),
}


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
