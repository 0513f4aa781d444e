"""Random row expressions and random rows, for property tests."""

from __future__ import annotations

import datetime
import math
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa

import sulq
from sulq.queries.buckets import Identifier
from sulq.queries.expressions import Column, Known
from sulq.queries.node import Leaf, Node
from sulq.queries.scope import Batch, Scope
from sulq.queries.vectors import Feature, Only
from sulq.sources.encoding import Encoder, dtype_of_leaf

SCHEMA = sulq.Schema(
    {
        "r": sulq.Real(-3.7, 11.2),
        "big": sulq.Real(0, 1e9),
        "tiny": sulq.Real(-1e-3, 2e-3),
        "fixed": sulq.Real(2.5, 2.5),
        "i": sulq.Integer(-5, 9),
        "long": sulq.Integer(0, 2**50),
        "b": sulq.Boolean(),
        "c": sulq.Category(["u", "v", "w"]),
        "d": sulq.Category(["no", "yes"], missing="no"),
        "t": sulq.Date("2019-12-30", "2024-03-01", drop_missing=True),
    }
)
NUMERIC = ["r", "big", "tiny", "fixed", "i", "long", "b", "t"]

constants = st.one_of(
    st.integers(-20, 20),
    st.floats(-1e6, 1e6, allow_nan=False).filter(lambda x: x == 0 or abs(x) > 1e-9),
    st.sampled_from([0.1, -0.5, 1e12, 1e-12, 1 / 3]),
)
cells: dict[str, st.SearchStrategy[Any]] = {
    name: st.one_of(
        st.floats(-20, 20),
        st.floats(allow_nan=True, allow_infinity=True),
        st.sampled_from([None, -0.0, math.inf, -math.inf, math.nan, 2.0**60, 0.1, 2e-3, 11.2]),
    )
    for name in ("r", "big", "tiny", "fixed")
}
cells |= {
    name: st.one_of(st.none(), st.integers(-10, 10), st.integers(-(2**63), 2**63 - 1))
    for name in ("i", "long")
}
cells["b"] = st.one_of(st.none(), st.booleans())
cells["c"] = st.sampled_from([None, "u", "v", "w", "x", ""])
cells["d"] = st.sampled_from([None, "no", "yes", "maybe"])
dates = st.dates(datetime.date(2019, 1, 1), datetime.date(2025, 1, 1))
cells["t"] = st.one_of(st.none(), dates)
row = st.fixed_dictionaries(cells)
ARROW = {
    "i": pa.int64(),
    "long": pa.int64(),
    "b": pa.bool_(),
    "c": pa.string(),
    "d": pa.string(),
    "t": pa.date32(),
}


def batch_of(scope: Scope, rows: list[dict[str, Any]]) -> Batch:
    """Raw rows, cleaned and encoded."""
    leaves: list[Leaf] = [
        leaf(name) for name in SCHEMA for leaf in (Column, Feature) if leaf is Column or name in NUMERIC
    ]
    leaves += [Known("t"), Identifier("i")]
    columns = {leaf.key: np.empty(len(rows), dtype_of_leaf(leaf, SCHEMA)) for leaf in leaves}
    for leaf in leaves:
        cells = pa.array([r[leaf.name] for r in rows], ARROW.get(leaf.name, pa.float64()))
        Encoder(leaf, scope)(cells, columns[leaf.key])
    return Batch(scope, columns, len(rows))


@st.composite
def conditions(draw: st.DrawFn, depth: int) -> Node:
    match draw(st.integers(0, 3 if depth == 0 else 8)):
        case 0:
            return draw(st.sampled_from([sulq.col("b"), sulq.known("t")]))
        case 1:
            return sulq.col("c") == draw(st.sampled_from(["u", "v", "w", "(other)"]))
        case 2:
            return sulq.col(draw(st.sampled_from(NUMERIC))) >= draw(constants)
        case 3:
            bits = [sulq.col("b"), sulq.col("d") == "yes", sulq.col("i") > 0]
            return sulq.parity(bits, draw(st.lists(st.integers(0, 1), min_size=3, max_size=3)))
        case 4:
            return draw(conditions(depth - 1)) & draw(conditions(depth - 1))
        case 5:
            return draw(conditions(depth - 1)) | draw(conditions(depth - 1))
        case 6:
            return ~draw(conditions(depth - 1))
        case 7:
            return draw(scalars(depth - 1)) < draw(scalars(depth - 1))
        case _:
            return draw(scalars(depth - 1)) == draw(scalars(depth - 1))


@st.composite
def choices(draw: st.DrawFn, depth: int) -> Node:
    match draw(st.integers(0, 5)):
        case 5:
            values = [draw(scalars(max(depth - 1, 0))), draw(st.sampled_from([*map(sulq.col, "cdib")]))]
            return sulq.fold(values, draw(st.integers(2, 5)), draw(st.text(max_size=3)))
        case 0:
            return draw(
                st.sampled_from([*map(sulq.col, "cdib"), sulq.col("t").weekday(), sulq.col("t").month()])
            )
        case 1:
            edges = draw(st.lists(st.integers(-40, 40), min_size=1, max_size=4, unique=True))
            return sulq.bins(draw(scalars(max(depth - 1, 0))), sorted(edge / 4 for edge in edges))
        case 2:
            unit = st.integers(-1000, 1000).map(lambda x: x / 1000)
            centres = draw(st.lists(st.tuples(unit, unit), min_size=1, max_size=5))
            return sulq.nearest(sulq.features("r", "i"), centres)
        case 3:
            return draw(conditions(max(depth - 1, 0)))
        case _:
            return sulq.cross(draw(choices(0)), draw(choices(0))) if depth else sulq.col("c")


@st.composite
def scalars(draw: st.DrawFn, depth: int) -> Node:
    match draw(st.integers(0, 1 if depth == 0 else 12)):
        case 0:
            return sulq.col(draw(st.sampled_from(NUMERIC)))
        case 1:
            return sulq.col("b") * 0 + draw(constants)
        case 2:
            return draw(conditions(depth - 1))
        case 3:
            return draw(scalars(depth - 1)) + draw(scalars(depth - 1))
        case 4:
            return draw(scalars(depth - 1)) - draw(scalars(depth - 1))
        case 5:
            return draw(scalars(depth - 1)) * draw(scalars(depth - 1))
        case 6:
            inner = draw(scalars(depth - 1))
            return inner * inner
        case 7:
            return sulq.where(draw(conditions(depth - 1)), draw(scalars(depth - 1)), draw(scalars(depth - 1)))
        case 8:
            return sulq.clip(sulq.col("r"), draw(st.floats(-5, 0.5)), draw(st.floats(0.5, 20)))
        case 9:
            vector = draw(vectors(depth - 1))
            weights = [draw(constants) for _ in range(Scope(SCHEMA).number(vector).width)]
            return sulq.dot(vector, draw(st.sampled_from([vector, weights])))
        case 11:
            return sulq.logistic(draw(scalars(depth - 1)))
        case 10:
            born = sulq.col("t")
            return draw(st.sampled_from([born.year(), born.month(), born.years_at("2021-07-01")]))
        case _:
            return sulq.lookup(sulq.col("c"), [draw(constants) for _ in range(4)])


@st.composite
def vectors(draw: st.DrawFn, depth: int) -> Node:
    match draw(st.integers(0, 3 if depth == 0 else 13)):
        case 0:
            return sulq.vector(*draw(st.lists(scalars(depth), min_size=1, max_size=4)))
        case 1:
            return sulq.features(
                *draw(st.lists(st.sampled_from(NUMERIC), min_size=1, max_size=4, unique=True))
            )
        case 2:
            return sulq.one_hot(draw(choices(depth)))
        case 3:
            return sulq.lookup(sulq.col("c"), [(draw(constants), draw(constants)) for _ in range(4)])
        case 4:
            return sulq.outer(draw(vectors(depth - 1)), draw(vectors(depth - 1)))
        case 5:
            inner = draw(vectors(depth - 1))
            return sulq.outer(inner, inner)
        case 6:
            return sulq.outer(sulq.one_hot(draw(choices(0))), draw(vectors(depth - 1)))
        case 7:
            return sulq.gram(draw(vectors(depth - 1)))
        case 8:
            return sulq.gram(sulq.clip_norm(draw(vectors(depth - 1)), 1.5))
        case 9:
            bound, order = draw(st.sampled_from([0.01, 0.7, 3, 1e5])), draw(st.sampled_from([1, 2]))
            return sulq.clip_norm(draw(vectors(depth - 1)), bound, order)
        case 10:
            return Only(draw(conditions(0)), draw(vectors(depth - 1)))
        case 12:
            return sulq.logistic(draw(vectors(depth - 1)))
        case 11:
            inner = draw(vectors(depth - 1))
            return sulq.where(draw(conditions(0)), inner, inner * -2)
        case _:
            return sulq.vector(draw(vectors(depth - 1)), draw(vectors(depth - 1)))


@st.composite
def queries(draw: st.DrawFn) -> sulq.Query:
    where = draw(st.one_of(st.none(), conditions(1)))
    by = draw(st.one_of(st.none(), choices(0), st.lists(choices(0), min_size=1, max_size=2)))
    value = draw(st.one_of(scalars(2), vectors(1)))
    ask = draw(st.sampled_from([sulq.total, sulq.mean, lambda _, **groups: sulq.count(**groups)]))
    return ask(value, where=where, by=by)
