"""Rounds that learners and users ask, each with a plain round: what `cliffs.py` compares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

import sulq
from sulq.queries.expressions import col
from sulq.queries.query import Query
from written_forms import CENTRES, CODES, HALVES, LABEL, NAMES, OTHER, SOME

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
