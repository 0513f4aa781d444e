"""A small table made by a recipe without chance, and expressions of every kind to add up over it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa

import sulq
from sulq.queries.node import Node
from sulq.queries.routes import Route
from sulq.queries.vectors import Only

ROWS = 997
SCHEMA = sulq.Schema(
    {
        "x": sulq.Real(-10, 10),
        "y": sulq.Real(0, 1e6, missing=0),
        "age": sulq.Integer(0, 120),
        "serial": sulq.Integer(0, 2**62),
        "smokes": sulq.Boolean(),
        "plan": sulq.Category(["free", "25%", "50 %, with comma"]),
        "grade": sulq.Category([1, 2, 3], missing=1),
    }
)
PLANS = ["free", "25%", "50 %, with comma", "Gold", None]
ODD = [math.nan, math.inf, -math.inf, -0.0, 0.1, 10.0, 1e308, 5e-324]


def table(rows: int = ROWS) -> pa.Table:
    """The first rows of the table; some cells are missing, strange or out of range."""
    places = range(rows)
    columns: dict[str, list[Any]] = {
        "x": [ODD[i // 31 % 8] if i % 31 == 0 else (i * 7919 % 2003 - 1000) / 97 for i in places],
        "y": [i * i * 1.25 + i % 7 / 8 for i in places],
        "age": [None if i % 17 == 3 else i * 31 % 135 - 5 for i in places],
        "serial": [i * 0x9E3779B97F4A7C15 % 2**62 for i in places],
        "smokes": [i * i % 7 == 2 for i in places],
        "plan": [PLANS[i * 3 % 11 % 5] for i in places],
        "grade": [i * 5 % 13 % 5 for i in places],
    }
    types = {
        "x": pa.float64(),
        "y": pa.float64(),
        "age": pa.int64(),
        "smokes": pa.bool_(),
        "plan": pa.string(),
    }
    return pa.table({name: pa.array(cells, types.get(name)) for name, cells in columns.items()})


def _expressions() -> list[Node]:
    col, x, age = sulq.col, sulq.col("x"), sulq.col("age")
    smokes, free = sulq.col("smokes"), sulq.col("plan") == "free"
    pair = sulq.vector("x", "age")
    features = sulq.features("x", "y", "age", norm=1)
    centres = [[0.1, 0.2, -0.3], [-0.5, 0.1, 0.4], [0.3, 0.3, 0.3]]
    ranges = sulq.bins(x, [-1, 0, 2.5])
    return [
        x,
        col("y"),
        age,
        col("serial"),
        smokes,
        ~smokes,
        free,
        x + 1,
        x * 0.5,
        x * age,
        x - age,
        age * -3,
        x >= 0.1,
        (age >= 65) & smokes,
        (x < 0) | free,
        col("plan").isin("free", "25%"),
        sulq.where(smokes, x, age),
        sulq.clip(x, -1, 1),
        sulq.one_hot("plan"),
        sulq.one_hot("grade"),
        sulq.one_hot(sulq.cross("plan", "grade")),
        sulq.one_hot(sulq.cross("plan", "smokes")),
        sulq.one_hot(ranges),
        sulq.one_hot(sulq.nearest(features, centres)),
        sulq.lookup("plan", [0.5, -1, 2.25, 7]),
        sulq.parity([smokes, free], [1, 1]),
        pair,
        pair * 0.5,
        features,
        sulq.clip_norm(pair, 3),
        Only(smokes, pair),
        Only(free, sulq.one_hot("grade")),
        sulq.dot(features, features),
        sulq.dot(features, [1, -2, 0.5]),
        sulq.gram(features),
        sulq.gram(features) * 0.5,
        sulq.outer(pair, features),
        sulq.outer(sulq.one_hot("plan"), features),
        sulq.outer(sulq.one_hot(ranges), age),
        sulq.outer(sulq.one_hot(sulq.nearest(features, centres)), sulq.vector(1, features)),
        sulq.one_hot(Route((smokes, free), ((0, 1, 2), (1, 3, 4), (0,), (1,), (2,)), 3)),
        sulq.row_function(lambda rows: np.floor(rows["x"] / 2), ["x"], -5, 5),
    ]


EXPRESSIONS = _expressions()


def canonical_sums(source: sulq.Source) -> list[list[int]]:
    """The sums of all expressions, as plain whole numbers."""
    return [[int(number) for number in sums] for sums in source.sums(EXPRESSIONS)]
