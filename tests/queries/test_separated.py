"""Expressions over columns in different hands are the sums of products that they are taken apart into."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sulq
from sulq.queries.node import Node
from sulq.queries.routes import Route
from sulq.queries.scope import scope_of
from sulq.queries.separated import Separation
from sulq.queries.vectors import Only

col = sulq.col
KINDS: dict[str, Any] = {
    "a": sulq.Boolean(),
    "c": sulq.Category(["u", "v", "w"], missing="u"),
    "x": sulq.Integer(-4, 4),
    "b": sulq.Boolean(),
    "d": sulq.Category(["no", "yes"], missing="no"),
    "y": sulq.Integer(0, 8),
    "z": sulq.Integer(0, 3),
}
HANDS = [["a", "c", "x"], ["b", "d", "y"], ["z"]]
SCHEMA = sulq.Schema(KINDS)
VECTOR = sulq.vector("x", 1, "y", col("x") * col("x"), "z")
ROUTE = Route(
    (col("a"), col("c"), col("b"), col("z")),
    ((0, 1, 2), (1, 3, 4, 4), (2, 3, 5), (0,), (3, 5, 6, 6, 6), (1,), (2,)),
    3,
)
INSIDE = sulq.lookup(Route(ROUTE.attributes, ROUTE.steps, 3), [0, 1, 0.5]) > 0.2
OTHER = Route((col("z"), col("a")), ((0, 1, 1, 2, 2), (1, 2, 3), (0,), (1,)), 2)
SEPARABLE: dict[str, Node] = {
    "one hand": col("x") * 2 + 1,
    "a constant": sulq.vector(1, 2.5),
    "product": col("x") * col("y"),
    "product of three": col("x") * col("y") * col("z"),
    "shifted": (col("x") - 2) * (3 - col("y")),
    "sum": col("x") + col("y"),
    "square of a sum": (col("x") + col("y")) * (col("x") + col("y")),
    "vector": VECTOR,
    "vector times a number": VECTOR * col("y"),
    "vectors": VECTOR * sulq.vector("z", "x", "y", 1, 2),
    "and": col("a") & col("b"),
    "and not": col("a") & ~col("b"),
    "not and": ~(col("a") & col("b")),
    "not or": ~(col("a") | col("b")),
    "not a chain": ~(col("a") & col("b") & (col("x") > 0) & ~((col("y") > 3) | (col("x") < 2))),
    "not or of and": ~((col("a") & col("b")) | (col("b") & (col("z") > 1)) | ~(col("d") == "yes")),
    "not a choice of conditions": ~sulq.where("a", col("b"), col("z") > 1) & col("a") & col("b"),
    "or": col("a") | col("b") | (col("z") > 1),
    "same hand twice": col("a") & (col("x") > 0) & col("b") & col("a"),
    "only": Only(col("a") & col("b"), sulq.vector("x", "y")),
    "where": sulq.where("a", col("y"), col("z")),
    "dot": sulq.dot(sulq.vector("x", "y"), sulq.vector("y", "z")),
    "weights": sulq.dot(VECTOR, [1, 2, 3, 4, 5]),
    "outer": sulq.outer(sulq.vector("x", "y"), sulq.vector("y", 1, "z")),
    "outer of one hot": sulq.outer(sulq.one_hot("c"), sulq.vector("y", "x")),
    "gram": sulq.gram(VECTOR),
    "gram of sums": sulq.gram(sulq.vector(col("x") + col("y"), "z")),
    "one hot": sulq.one_hot(sulq.cross("c", "d")),
    "one hot, mixed": sulq.one_hot(sulq.cross("c", "d", "a", sulq.bins("y", [2, 5]))),
    "route": sulq.one_hot(ROUTE),
    "route and label": sulq.one_hot(sulq.cross(ROUTE, "d")),
    "number of a route": sulq.lookup(ROUTE, [1, -2, 0.5]),
    "vector of a cross": sulq.lookup(sulq.cross("a", "b"), [(0, 1), (2, 0), (0, 0), (1.5, 3)]),
    "ends of a route": INSIDE,
    "some ends of a route": Only(INSIDE, sulq.one_hot(ROUTE)),
    "other ends than those of a route": Only(~INSIDE, sulq.one_hot(sulq.cross(OTHER, "d", "c"))),
    "numbers at ends of a route": Only(INSIDE & col("b"), sulq.vector("x", "y")),
    "one hot of an or": sulq.one_hot(sulq.cross("c", col("a") | col("b"))),
    "one hot of a flag": sulq.one_hot(sulq.cross(col("a") & col("b"), "c")),
    "clipped in each hand": sulq.gram(
        sulq.vector(sulq.clip_norm(sulq.vector("x", "a"), 2), sulq.clip_norm(sulq.vector("y", "b"), 3))
    ),
}


def rows() -> dict[str, Any]:
    rng = np.random.default_rng(7)
    return {
        "a": rng.random(200) < 0.5,
        "c": rng.choice(["u", "v", "w"], 200),
        "x": rng.integers(-4, 5, 200),
        "b": rng.random(200) < 0.3,
        "d": rng.choice(["no", "yes"], 200),
        "y": rng.integers(0, 9, 200),
        "z": rng.integers(0, 4, 200),
    }


@pytest.mark.parametrize("expression", SEPARABLE.values(), ids=SEPARABLE)
def test_products_add_up_to_the_expression_in_every_row(expression: Node) -> None:
    people, scope = sulq.open(rows(), SCHEMA), scope_of(SCHEMA)
    separate = Separation(scope, HANDS)
    width = scope.number(expression).width
    total = np.zeros((200, width))
    for products in separate(expression):
        each = np.broadcast_to(products.weights, (200, len(products.places))).copy()
        for hand, factor in products.factors.items():
            assert separate.hands_of(factor) <= {hand}
            each *= people.values(factor).reshape(200, -1)[:, products.at[hand]]
        np.add.at(total, (slice(None), products.places), each)
    true = people.values(expression).reshape(200, width)
    assert np.allclose(total, true, atol=1e-3)


def keys(expression: Node) -> list[tuple[list[tuple[int, str]], list[float]]]:
    each = Separation(scope_of(SCHEMA), HANDS)(expression)
    return [(sorted((h, node.key) for h, node in p.factors.items()), p.weights.tolist()) for p in each]


def test_not_is_about_the_same_people_as_what_it_denies() -> None:
    a, b, z = col("a"), col("b"), col("z") > 1
    assert keys(~(a | b)) == keys(~a & ~b)
    assert keys(~(a & b)) == keys(~a | ~b)
    assert keys(~(~a | ~b)) == keys(a & b)
    assert keys(~((a & b) | z)) == keys(~(z | (a & b))) == keys(~z & (~a | ~b))
    every = [~(a & b), ~(a | b), ~((a & b) | z), ~sulq.where("a", b, z), sulq.one_hot(a & b)]
    assert all(factors for each in every for factors, _ in keys(each))  # no product is of no hand's


def test_the_conditions_of_one_hand_are_denied_together() -> None:
    a, b, x = col("a"), col("b"), col("x") > 0
    assert keys(~(a & b & x)) == keys(~(a & x) | ~b)
    assert keys(~(a | b | x)) == keys(~(a | x) & ~b)


@pytest.mark.parametrize(
    "expression",
    [
        col("x") < col("y"),
        sulq.clip_norm(sulq.vector("x", "y"), 1),
        sulq.nearest(sulq.vector("x", "y"), [[0, 0], [1, 1]]),
        sulq.clip(col("x") + col("y"), 0, 1),
        sulq.logistic(col("x") + col("y")),
        sulq.parity(["a", "b"], [1, 1]),
    ],
    ids=lambda node: type(node).__name__,
)
def test_what_is_no_product_is_refused_by_its_form(expression: Node) -> None:
    separate = Separation(scope_of(SCHEMA), HANDS)
    asked = sulq.one_hot(expression) if isinstance(expression, type(sulq.nearest("x", [[0]]))) else expression
    with pytest.raises(sulq.QueryError, match="looks at columns of several parties"):
        separate(asked)


def test_parts_of_one_hand_stay_together_so_that_they_are_sketched_once() -> None:
    separate = Separation(scope_of(SCHEMA), HANDS)
    factors = {
        hand: node
        for each in separate(sulq.features("x", "y", "a", "b"))
        for hand, node in each.factors.items()
    }
    assert {hand: scope_of(SCHEMA).number(node).width for hand, node in factors.items()} == {0: 2, 1: 2}
    [counts] = separate(sulq.one_hot(sulq.cross("c", "d", "a")))
    assert counts.factors[0].key == sulq.one_hot(sulq.cross("c", "a")).key


def test_some_ends_of_a_route_are_the_products_of_all_its_ends_but_for_those_left_out() -> None:
    """No product is of ways that contradict each other, which would only add noise."""
    separate = Separation(scope_of(SCHEMA), HANDS)
    every = separate(sulq.one_hot(sulq.cross(ROUTE, "d", "c")))
    some = separate(Only(INSIDE, sulq.one_hot(sulq.cross(ROUTE, "d", "c"))))
    assert {n.key for p in some for n in p.factors.values()} <= {
        n.key for p in every for n in p.factors.values()
    }
    inside = [int((p.places // 6 >= 1).sum()) for p in every]
    assert [len(p.places) for p in some] == [many for many in inside if many]
