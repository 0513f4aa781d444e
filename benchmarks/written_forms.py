"""Forms in which a value may be written, and the values: what `cliffs.py` compares with plain totals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

import sulq
from sulq.queries.expressions import col
from sulq.queries.node import Node
from sulq.queries.query import Query

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
