"""No cliffs: what a written form of an expression costs beside the expression itself, as a ratio in one run.

`python benchmarks/run.py cliffs` makes the section of RESULTS.md. Every cell is one round of sums, timed in turns with the
round it is compared with; the least times are compared.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

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
VALUES: Mapping[str, tuple[Node, ...]] = {
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
BINNED = [sulq.bins(name, np.linspace(-100, 100, 33)[1:-1].tolist()) for name in NAMES[:6]]
PAIRS = [sulq.count(by=list(pair)) for pair in combinations(BINNED, 2)]
EFFECTS = np.random.default_rng(1).uniform(-1, 1, (len(BINNED), 32)).tolist()
SCORE: Any = sum(sulq.lookup(each, effect) for each, effect in zip(BINNED, EFFECTS, strict=True)) + 0.25
RESIDUAL = LABEL - sulq.logistic(SCORE)
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
    "Additive: tables of 15 pairs of binned columns, to 15 totals of those columns by bins of another": (
        PAIRS,
        [sulq.total(a.inner, by=b) for a, b in combinations(BINNED, 2)],
        None,
    ),
    "Additive: what is not explained, by bins of each of 6 columns, to one of those columns by the same bins": (
        [sulq.total(RESIDUAL, by=each) for each in BINNED],
        [sulq.total("x7", by=each) for each in BINNED],
        None,
    ),
}

BORN, CITY, AMOUNT = col("born"), col("city"), col("x0")
AGE = BORN.years_at("2024-01-01")
CENTRE = sulq.vector(*CENTRES[0])
SIGN = 2 * LABEL - 1
LEFT, RIGHT = (sulq.features(*half) for half in HALVES)
GRAM, OUTER = sulq.gram(POINT), sulq.outer(LEFT, RIGHT)
ERROR = sulq.clip(SIDE, -1, 1) - SIGN
TENTHS, HUNDREDTHS = (sulq.bins("n", [1000 * i / groups for i in range(1, groups)]) for groups in (10, 100))
USERS: Mapping[str, tuple[Query | Sequence[Query], Query | Sequence[Query]]] = {
    "a total since a day, to a total": (sulq.total(AMOUNT, where=BORN >= "1980-01-01"), sulq.total(AMOUNT)),
    "ages added up, to a whole number": (sulq.total(AGE), sulq.total("n")),
    "a total of those of age, to one where a flag is set": (
        sulq.total(AMOUNT, where=AGE >= 18),
        sulq.total(AMOUNT, where=SOME),
    ),
    "counts by month, to counts by a code": (sulq.count(by=BORN.month()), sulq.count(by="c")),
    "averages by weekday, to those by a code": (
        sulq.mean(AMOUNT, by=BORN.weekday()),
        sulq.mean(AMOUNT, by="c"),
    ),
    "totals by month and city, to those by code and city": (
        sulq.total(AMOUNT, by=[BORN.month(), "city"]),
        sulq.total(AMOUNT, by=["c", "city"]),
    ),
    "counts by bins of ages, to counts by a code": (
        sulq.count(by=sulq.bins(AGE, [18, 30, 50, 65])),
        sulq.count(by="e"),
    ),
    "counts by bins of a real, to counts by a code": (
        sulq.count(by=sulq.bins(AMOUNT, [-50, 0, 50])),
        sulq.count(by="d"),
    ),
    "a lookup of bins, to a lookup of a code": (
        sulq.total(sulq.lookup(sulq.bins("n", [10, 100, 500]), [0, 1, 0.5, 2])),
        sulq.total(sulq.lookup("d", [0, 1, 0.5, 2])),
    ),
    "the average of what is known, to one where a flag is set": (
        sulq.mean("cost", where=sulq.known("cost")),
        sulq.mean("cost", where=SOME),
    ),
    "a total in some cities, to one where a flag is set": (
        sulq.total(AMOUNT, where=CITY.isin("town 3", "town 4", "town 7")),
        sulq.total(AMOUNT, where=SOME),
    ),
    "a total where a number is positive, to one where a flag is set": (
        sulq.total("x1", where=AMOUNT > 0),
        sulq.total("x1", where=SOME),
    ),
    "counts of three codes together, to counts of one": (
        sulq.total(sulq.one_hot(sulq.cross("c", "d", "e"))),
        sulq.total(sulq.one_hot("c")),
    ),
    "features by three codes, to features by one": (
        sulq.total(POINT, by=["c", "d", "e"]),
        sulq.total(POINT, by="c"),
    ),
    "features by a thousand groups, to features by eight": (
        sulq.total(POINT, by="n"),
        sulq.total(POINT, by="c"),
    ),
    "a Gram matrix for each city, to one": (sulq.total(GRAM, by="city"), sulq.total(GRAM)),
    "a Gram matrix for each of 160 groups, to one": (sulq.total(GRAM, by=["c", "d", "e"]), sulq.total(GRAM)),
    "a Gram matrix for each of 10 groups, to one": (sulq.total(GRAM, by=TENTHS), sulq.total(GRAM)),
    "a Gram matrix for each of 100 groups, to one": (sulq.total(GRAM, by=HUNDREDTHS), sulq.total(GRAM)),
    "a Gram matrix for each of 1,000 groups, to one": (sulq.total(GRAM, by="n"), sulq.total(GRAM)),
    "the Gram matrix of rows on one side of a halfspace, to that of rows where a flag is set": (
        sulq.total(GRAM, where=SIDE > 0),
        sulq.total(GRAM, where=SOME),
    ),
    "the Gram matrix of eight numbers and a code, one-hot, to that of sixteen numbers": (
        sulq.total(sulq.gram(sulq.vector(LEFT, sulq.one_hot("c")))),
        sulq.total(GRAM),
    ),
    "the product of three columns, to a column": (
        sulq.total(sulq.features("x0") * sulq.features("x1") * sulq.features("x2")),
        sulq.total(AMOUNT),
    ),
    "one of three columns, by nested conditions, to three columns": (
        sulq.total(sulq.where(SOME, "x0", sulq.where("p", "x1", sulq.where("q", "x2", 0)))),
        [sulq.total("x0"), sulq.total("x1"), sulq.total("x2")],
    ),
    "a number or nothing, in groups, to a number in groups": (
        sulq.total(sulq.where(SOME, AMOUNT, 0), by="c"),
        sulq.total(AMOUNT, by="c"),
    ),
    "one number or another, in groups of two codes, to both in groups of one": (
        sulq.total(sulq.where(SOME, "x0", "x1"), by=["c", "d"]),
        [sulq.total("x0", by="c"), sulq.total("x1", by="c")],
    ),
    "averages by two codes, to averages by one": (
        sulq.mean(AMOUNT, by=["c", "d"]),
        sulq.mean(AMOUNT, by="c"),
    ),
    "averages by two codes of some rows, to averages by one": (
        sulq.mean(AMOUNT, by=["c", "d"], where=SOME),
        sulq.mean(AMOUNT, by="c"),
    ),
    "counts for quantiles, of 256 bins, to counts of 8": (
        sulq.count(by=sulq.bins(AMOUNT, np.linspace(-100, 100, 257)[1:-1].tolist())),
        sulq.count(by=sulq.bins(AMOUNT, np.linspace(-100, 100, 9)[1:-1].tolist())),
    ),
    "counts for quantiles by a code, to counts for quantiles": (
        sulq.count(by=["c", sulq.bins(AMOUNT, np.linspace(-100, 100, 257)[1:-1].tolist())]),
        sulq.count(by=sulq.bins(AMOUNT, np.linspace(-100, 100, 257)[1:-1].tolist())),
    ),
    "an outer product, clipped, of some rows, in groups, to an outer product": (
        sulq.total(sulq.clip(OUTER, -0.3, 0.3), where=SOME, by="c"),
        sulq.total(OUTER),
    ),
    "a Gram matrix clipped, scaled and clipped, to a Gram matrix": (
        sulq.total(sulq.clip(0.1 * sulq.clip(GRAM, -0.3, 0.3), -0.02, 0.02)),
        sulq.total(GRAM),
    ),
    "the Gram matrix of halved rows, to that of rows": (sulq.total(sulq.gram(0.5 * POINT)), sulq.total(GRAM)),
    "the Gram matrix of clipped rows, to that of rows": (
        sulq.total(sulq.gram(sulq.clip(POINT, -0.5, 0.5))),
        sulq.total(GRAM),
    ),
    "the Gram matrix of rows and a 1, to that of rows": (
        sulq.total(sulq.gram(sulq.vector(POINT, 1))),
        sulq.total(GRAM),
    ),
    "the Gram matrix of rows or zeros, to that of rows": (
        sulq.total(sulq.gram(sulq.where(SOME, POINT, 0))),
        sulq.total(GRAM),
    ),
    "the Gram matrix of rows minus their group's centre, to that of rows": (
        sulq.total(sulq.gram(POINT - sulq.lookup("label", CENTRES))),
        sulq.total(GRAM),
    ),
    "rows times labels, shortened, to shortened rows": (
        sulq.total(sulq.clip_norm(SIGN * POINT, 1)),
        sulq.total(ROW),
    ),
    "rows or their opposites, shortened, to shortened rows": (
        sulq.total(sulq.clip_norm(sulq.where(LABEL, POINT, -POINT), 1)),
        sulq.total(ROW),
    ),
    "gradients of a linear model, shortened, to shortened rows": (
        sulq.total(sulq.clip_norm(ERROR * POINT, 1)),
        sulq.total(ROW),
    ),
    "rows minus others, shortened, to both of them shortened": (
        sulq.total(sulq.clip_norm(POINT - sulq.features(*NAMES[::-1]), 1)),
        [sulq.total(ROW), sulq.total(sulq.features(*NAMES[::-1], norm=1))],
    ),
    "rows minus a centre, clipped, to rows": (
        sulq.total(sulq.clip(POINT - CENTRE, -0.5, 0.5)),
        sulq.total(POINT),
    ),
    "a column minus a number, clipped, to the column": (
        sulq.total(sulq.clip(AMOUNT - 3.7, -10, 10)),
        sulq.total(AMOUNT),
    ),
    "a column minus a number, squared, to the column": (
        sulq.total((AMOUNT - 3.7) * (AMOUNT - 3.7)),
        sulq.total(AMOUNT),
    ),
    "columns minus a number, to columns": (
        sulq.total(sulq.vector(*(col(name) - 3.7 for name in NAMES))),
        sulq.total(sulq.vector(*NAMES)),
    ),
    "squares of columns, to columns": (
        sulq.total(sulq.vector(*(col(name) * col(name) for name in NAMES))),
        sulq.total(sulq.vector(*NAMES)),
    ),
    "features of clipped columns, to features": (
        sulq.total(sulq.features(*(sulq.clip(name, -50, 50) for name in NAMES))),
        sulq.total(POINT),
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
