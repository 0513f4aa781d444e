"""Bounds are promises: no row ever breaks one, and no neighbour moves a sum further than claimed.

Each example is one random expression or round with random rows; a run tries at least 1,200.
"""

from __future__ import annotations

from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
from hypothesis import HealthCheck, given, settings

import sulq
from sulq.queries.node import Node
from sulq.queries.scope import Batch, Scope
from tests.effort import examples
from tests.queries.random_expressions import SCHEMA, batch_of, queries, row, scalars, vectors

many = settings(
    max_examples=examples(200),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
rows_of_a_table = st.lists(row, min_size=2, max_size=6)


def exact_values(expression: Node, batch: Batch) -> list[list[int]]:
    """Each row's value as exact integers."""
    values = batch.number(expression)
    assert np.array_equal(values, np.trunc(values)), "every value is an integer on its grid"
    return [[int(x) for x in column] for column in values.T]


@many
@given(st.one_of(scalars(3), vectors(2)), rows_of_a_table)
def test_every_value_lies_within_its_bounds(expression: Node, rows: list[dict[str, object]]) -> None:
    scope = Scope(SCHEMA)
    facts = scope.number(expression)
    batch = batch_of(scope, rows)
    values = exact_values(expression, batch)
    for value in values:
        assert all(low <= x <= high for low, x, high in zip(facts.low, value, facts.high, strict=True))
        assert sum(map(abs, value)) <= facts.norm1
        assert sum(x * x for x in value) <= facts.square
    for one in values:
        for other in values:
            difference = [a - b for a, b in zip(one, other, strict=True)]
            assert sum(map(abs, difference)) <= facts.spread1
            assert sum(x * x for x in difference) <= facts.spread_square
    alone = [exact_values(expression, batch_of(scope, [r]))[0] for r in rows]
    assert alone == values, "a row's value does not depend on its company"
    assert [int(x) for x in expression.sums(batch)] == [sum(column) for column in zip(*values, strict=True)]


@many
@given(st.lists(queries(), min_size=1, max_size=3), row, row)
def test_no_neighbour_moves_the_sums_further_than_claimed(
    asked: list[sulq.Query], one: dict[str, object], other: dict[str, object]
) -> None:
    scope = Scope(SCHEMA)
    round_ = sulq.Round(asked)
    parts = [part for query in asked for part in query.parts]
    batch = batch_of(scope, [one, other])
    by_row = [[], []]
    for part in parts:
        unit = scope.number(part).unit
        for mine, value in zip(by_row, exact_values(part, batch), strict=True):
            mine.extend(x * unit for x in value)
    replaced = [a - b for a, b in zip(*by_row, strict=True)]
    for neighbours, moves in (("replace", [replaced]), ("add-remove", by_row)):
        one_norm = round_.sensitivity(scope, 1, neighbours)
        two_norm = round_.sensitivity(scope, 2, neighbours)
        for move in moves:
            assert sum(map(abs, move)) <= one_norm
            assert sum((x * x for x in move), Fraction(0)) <= two_norm**2
