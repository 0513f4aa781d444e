"""Columns that move, made in one pass, are bit for bit what their expressions compute node by node."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import sulq
from sulq.errors import QueryError
from sulq.queries import node
from sulq.queries.expressions import col
from sulq.queries.kernel import Kernel
from sulq.queries.moves import MovedColumns
from sulq.queries.node import Node
from sulq.queries.scope import Batch, Scope
from tests.effort import examples
from tests.queries.random_expressions import SCHEMA, batch_of, row

MANY = settings(max_examples=examples(60), suppress_health_check=list(HealthCheck))
POINT = sulq.features("r", "i", "b")
numbers = st.sampled_from([0.5, -1, 0.1, 3, 2.0**-20, 0])


@st.composite
def moving(draw: st.DrawFn, depth: int = 4) -> Node:
    """Vectors of columns minus centres, scaled, chosen, clipped and shortened, in any order."""
    if depth == 0:
        return draw(st.sampled_from([POINT, sulq.vector("r", "i", "b"), sulq.vector("i", "b", "i")]))
    inner = draw(moving(depth - 1))
    centres = [[draw(numbers) for _ in range(3)] for _ in range(2)]
    match draw(st.integers(0, 13)):
        case 0:
            return inner - sulq.vector(*centres[0])
        case 1:
            return inner - sulq.lookup("b", centres)
        case 2:
            return sulq.clip(inner, -draw(st.sampled_from([0.3, 1, 7])), draw(st.sampled_from([0.2, 5])))
        case 3:
            return sulq.clip_norm(inner, draw(st.sampled_from([0.2, 1, 3.7])), draw(st.sampled_from([1, 2])))
        case 4:
            return draw(numbers) * inner
        case 5:
            return sulq.where("b", inner, draw(st.sampled_from([0, -inner, inner])))
        case 6:
            return (2 * col("b") - 1) * inner
        case 7:
            return sulq.vector(*(sulq.clip(col(name) - 0.3, -1, 1) for name in ("r", "i", "b")))
        case 8:
            return inner * inner
        case 9:
            return sulq.features(inner)
        case 10:
            return sulq.vector(col("r") * col("r"), sulq.features(sulq.clip(col("i") - 0.3, -1, 1)), "b")
        case 11:
            return sulq.vector(sulq.clip(col("r") - 0.3, -1, 1), sulq.one_hot("b"))
        case 12:
            return sulq.vector(sulq.lookup("b", [0.1, -3]), "i", draw(numbers))
        case _:
            return inner + draw(numbers)


def sums_of(parts: list[Node], batch: Batch, scope: Scope) -> Any:
    kernel = Kernel(parts, scope, batch.rows)
    running = kernel.nothing()
    running.add(kernel.sums({key: batch.columns[key] for key in kernel.leaves}, batch.rows, {}))
    return [total.tolist() for total in kernel.totals(running)]


def node_by_node() -> Any:
    return patch.object(MovedColumns, "column", classmethod(lambda cls, leaf: None))


@MANY
@given(moving(), st.lists(row, max_size=8))
def test_values_and_sums_are_those_of_the_nodes(value: Node, rows: list[Any]) -> None:
    batch = batch_of(Scope(SCHEMA), rows)
    parts = [value, sulq.outer(sulq.one_hot("b"), value), sulq.gram(value), sulq.where("b", value, 0)]
    try:
        for part in parts:
            Scope(SCHEMA).number(part)
    except QueryError:
        return
    scope = Scope(SCHEMA)
    with patch.object(node, "MANY_ROWS", 0):
        values = Batch(scope, batch.columns, batch.rows).number(value).copy()
        sums = sums_of(parts, batch, scope)
    with node_by_node():
        plain = Scope(SCHEMA)
        assert value.moved(plain) is None
        assert np.array_equal(values, Batch(plain, batch.columns, batch.rows).number(value))
        assert sums == sums_of(parts, batch, plain)


@pytest.mark.parametrize(
    "value",
    [
        POINT - sulq.vector(0.25, 0.5, -0.125),
        sulq.clip(POINT - sulq.lookup("b", [(0.25, 0.5, 0), (1, 0, 0.5)]), -0.5, 0.5),
        sulq.where("b", POINT, -POINT),
        sulq.where("b", 0, POINT),
        (2 * col("b") - 1) * POINT,
        -POINT,
        POINT * POINT,
        sulq.vector(*(col(name) * col(name) for name in ("r", "i", "b"))),
        sulq.features(*(sulq.clip(name, 0, 1) for name in ("r", "i", "b"))),
    ],
)
def test_what_learners_ask_of_vectors_is_made_in_one_pass(value: Node) -> None:
    scope = Scope(SCHEMA)
    moved = value.moved(scope)
    assert moved is not None
    assert [getattr(leaf, "name", None) for leaf in moved.leaves] == ["r", "i", "b"]


@pytest.mark.parametrize(
    "value",
    [
        sulq.vector(POINT, 1),
        sulq.vector("r", sulq.one_hot("c")),
        sulq.vector(sulq.lookup("b", [0.1, 7]), POINT - sulq.lookup("b", [(0, 0, 0), (1, 2, 3)]), -2.5),
    ],
)
def test_public_numbers_beside_columns_are_made_in_the_same_pass(value: Node) -> None:
    scope = Scope(SCHEMA)
    moved = value.moved(scope)
    assert moved is not None
    assert len(moved.leaves) == scope.number(value).width


@pytest.mark.parametrize(
    "value",
    [
        POINT + sulq.vector("r", "i", "b"),
        sulq.clip(sulq.where("b", POINT, -POINT), -0.1, 0.1),
        POINT - sulq.lookup("b", [(0, 0, 0), (1, 1, 1)]) - sulq.lookup("c", [(0, 0, 0)] * 4),
        sulq.vector("r", sulq.one_hot("c"), sulq.one_hot("b")),
        sulq.vector(1, sulq.one_hot("c")),
    ],
)
def test_what_is_more_than_moving_is_computed_node_by_node(value: Node) -> None:
    scope = Scope(SCHEMA)
    scope.number(value)
    assert value.moved(scope) is None


@pytest.mark.parametrize("rows", [500, 5000])
@pytest.mark.parametrize(
    "edges", [[0.001 * x for x in range(40)], [3], [-2.5, 0, 1.5, 7], [float(x) for x in range(-40, 40)]]
)
@pytest.mark.parametrize("inner", [col("i"), col("r"), 3 * col("i") - 7, 0.1 * col("r")])
def test_bins_are_those_of_a_search(inner: Node, edges: list[float], rows: int) -> None:
    rng = np.random.default_rng(0)
    drawn = rng.uniform(-9, 9, rows)
    # Some numbers lie exactly on an edge.
    table = {
        "i": rng.integers(-5, 30, rows),
        "r": np.where(rng.random(rows) < 0.5, np.rint(2 * drawn) / 2, drawn),
    }
    people = sulq.open(table, {"i": sulq.Integer(-5, 30), "r": sulq.Real(-9, 9)})
    codes = people.values(sulq.bins(inner, edges))
    reached = np.sum([people.values(inner >= edge) for edge in edges], axis=0)
    assert codes.tolist() == reached.tolist()


@pytest.mark.parametrize("kind", [sulq.Real(-9, 9), sulq.Integer(-9, 9)])
def test_a_number_on_an_edge_of_bins_belongs_to_the_right(kind: sulq.Real | sulq.Integer) -> None:
    edges = [-3.0, 0.0, 7.0]
    people = sulq.open({"x": edges}, {"x": kind})
    assert people.values(sulq.bins("x", edges)).tolist() == [1, 2, 3]
