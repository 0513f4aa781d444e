"""Where nobody is, nothing fails: an error for an empty selection would tell that it is empty."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import sulq
from sulq.queries.facts import Code
from sulq.queries.kernel import Kernel
from sulq.queries.node import Node
from sulq.queries.node_forms import NODES
from sulq.queries.routes import Route
from sulq.queries.scope import Scope
from sulq.queries.vectors import Only
from tests.effort import either, examples
from tests.queries.random_expressions import SCHEMA, batch_of, choices, conditions, row, scalars, vectors

col = sulq.col
X = sulq.vector("r", "i")
NEVER = col("r") >= 99
EVERY_NODE: list[Node] = [
    col("r"),
    sulq.features("r", "i"),
    sulq.vector(1, col("r")),
    sulq.known("t"),
    sulq.fold(["r", "i"], 3),
    sulq.bucket("i", 8),
    sulq.sign("i", 3, 8),
    col("t").month(),
    col("t").weekday(),
    col("t").years_at("2021-07-01"),
    col("t") >= "2021-07-01",
    col("r") + 1,
    col("r") * col("i"),
    col("r") >= 1,
    (col("r") >= 1) & col("b"),
    (col("r") >= 1) | col("b"),
    ~col("b"),
    sulq.where("b", X, X * 2),
    sulq.clip("r", 0, 1),
    sulq.bins("r", [0, 1]),
    sulq.nearest(X, [[0, 0], [1, 1]]),
    sulq.cross("c", "d"),
    sulq.one_hot("c"),
    sulq.logistic(col("r")),
    sulq.lookup("c", [1, 2, 3, 4]),
    sulq.parity(["b", col("d") == "yes"], [1, 0]),
    sulq.features(col("r") + 1),
    sulq.clip_norm(X, 1),
    Only(col("b"), X),
    sulq.dot(X, X),
    sulq.dot(X, [1, 2]),
    sulq.outer(X, X),
    sulq.outer(sulq.one_hot("c"), X),
    sulq.gram(X),
    Route((col("b"),), ((0, 1, 2), (0,), (1,)), 2),
    sulq.row_function(lambda rows: rows["r"] + 0 * rows["r"][0], ["r"], 0, 1),  # fails on no rows
]
AROUND: dict[str, Any] = {
    "times": lambda inner: inner * 2,
    "plus": lambda inner: inner + 1,
    "vector": lambda inner: sulq.vector(inner, inner),
    "dot": lambda inner: sulq.dot(inner, inner),
    "outer": lambda inner: sulq.outer(inner, inner),
    "gram": lambda inner: sulq.gram(inner),
    "norm": lambda inner: sulq.clip_norm(inner, 1),
    "where": lambda inner: sulq.where("b", inner, inner * -1),
    "only": lambda inner: Only(col("b"), inner),
    "scaled": lambda inner: sulq.features(inner),
}


def kinds(expression: Node) -> set[str]:
    """The names of an expression's node and of all inside it."""

    def names(form: Any) -> set[str]:
        inside = form.values() if isinstance(form, dict) else form if isinstance(form, list) else []
        own = {form["node"]} if isinstance(form, dict) and "node" in form else set()
        return own.union(*map(names, inside))

    return names(expression.form)


def check_without_rows(expression: Node) -> None:
    scope = Scope(SCHEMA)
    batch = batch_of(scope, [])
    facts = scope.facts(expression)
    if isinstance(facts, Code):
        assert batch.code(expression).shape == (0,)
        return
    assert batch.number(expression).shape == (facts.width, 0)
    for summed in (expression, Only(NEVER, expression)):
        assert summed.sums(batch_of(scope, [])).tolist() == [0.0] * facts.width
    kernel = Kernel([expression], scope, 0)
    [total] = kernel.totals(kernel.nothing())
    assert total.tolist() == [0] * facts.width


def test_the_list_of_expressions_is_complete() -> None:
    found = set().union(*map(kinds, EVERY_NODE))
    assert found == {*NODES, "function"}


@pytest.mark.parametrize("expression", EVERY_NODE, ids=lambda node: type(node).__name__)
def test_every_expression_has_a_value_on_no_rows(expression: Node) -> None:
    check_without_rows(expression)


@pytest.mark.parametrize("around", AROUND)
def test_and_inside_every_other(around: str) -> None:
    """With the quick effort, each has a third of all expressions inside; any three in a row have all."""
    apart = either(3, 1)
    for expression in EVERY_NODE[list(AROUND).index(around) % apart :: apart]:
        code = isinstance(Scope(SCHEMA).facts(expression), Code)
        check_without_rows(AROUND[around](sulq.one_hot(expression) if code else expression))


@settings(max_examples=examples(150), suppress_health_check=list(HealthCheck))
@given(
    st.one_of(scalars(3), vectors(2), choices(2), conditions(2)),
    conditions(1),
    st.lists(row, max_size=4),
)
def test_no_random_expression_fails_where_few_or_none_are_selected(
    expression: Node, condition: Node, rows: list[dict[str, object]]
) -> None:
    check_without_rows(expression)
    scope = Scope(SCHEMA)
    numbers = sulq.one_hot(expression) if isinstance(scope.facts(expression), Code) else expression
    batch = batch_of(scope, rows)
    chosen = batch.condition(condition)
    alone = batch.number(numbers)[:, chosen].sum(axis=1)
    assert Only(condition, numbers).sums(batch_of(scope, rows)).tolist() == alone.tolist()
    assert np.isfinite(alone).all()
