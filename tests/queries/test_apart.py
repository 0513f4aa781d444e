"""Sums taken apart are bit for bit the sums of the rows' values, whatever way an expression is written."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import sulq
from sulq.queries import summands
from sulq.queries.apart import Apart, apart
from sulq.queries.expressions import col
from sulq.queries.facts import Number
from sulq.queries.kernel import Kernel
from sulq.queries.node import Node
from sulq.queries.scope import Batch, Scope
from sulq.queries.vectors import Only
from sulq.talk.denoised import Denoised
from tests.effort import examples
from tests.queries.random_expressions import (
    SCHEMA,
    batch_of,
    choices,
    conditions,
    constants,
    queries,
    row,
    scalars,
    vectors,
)

MANY = settings(max_examples=examples(80), suppress_health_check=list(HealthCheck))
TABLE = st.lists(row, max_size=8)
LABEL = col("b")


def plain_sums(part: Node, batch: Batch) -> list[int]:
    """The value on every row, added up as Python's integers."""
    return [sum(map(int, coordinate)) for coordinate in batch.number(part)]


def kernel_sums(parts: list[Node], batch: Batch, blocks: int = 2) -> list[list[int]]:
    """What a source computes, in several blocks that share their working memory."""
    kernel = Kernel(parts, batch.scope, batch.rows)
    running, room = kernel.nothing(), {}
    for rows in np.array_split(np.arange(batch.rows), blocks):
        columns = {key: batch.columns[key][rows] for key in kernel.leaves}
        running.add(kernel.sums(columns, len(rows), room))
    return [total.tolist() for total in kernel.totals(running)]


@st.composite
def written(draw: st.DrawFn, depth: int = 3) -> Node:
    """A value as somebody might write it: scaled, added, conditional, grouped, clipped, in any nesting."""
    if depth == 0:
        return draw(st.one_of(scalars(1), vectors(1), st.just(sulq.gram(sulq.features("r", "i", "b")))))
    inner = draw(written(depth - 1))
    match draw(st.integers(0, 11)):
        case 0:
            return draw(constants) * inner
        case 1:
            return -inner
        case 2:
            return inner + draw(st.one_of(constants, scalars(1), st.just(0.3 * inner)))
        case 3:
            return inner - draw(constants) * draw(st.just(inner))
        case 4:
            return Only(draw(conditions(0)), inner)
        case 5:
            return draw(conditions(0)) * inner
        case 6:
            return sulq.where(draw(conditions(0)), inner, draw(st.one_of(constants, st.just(-inner))))
        case 7:
            return sulq.outer(sulq.one_hot(draw(choices(0))), inner)
        case 8:
            facts = Scope(SCHEMA).number(inner)
            most = float(facts.magnitude * facts.unit)
            low, high = (draw(st.sampled_from([-1, -0.3, 0.01, 0.7])) * most for _ in range(2))
            return sulq.clip(inner, min(low, high), max(low, high)) if _meets(facts, low, high) else inner
        case 9:
            return draw(scalars(1)) * inner
        case 10:
            return sulq.vector(inner, draw(scalars(0)))
        case _:
            return sulq.vector(1, inner) if facts_of(inner).width > 1 else inner * inner


def facts_of(value: Node) -> Number:
    return Scope(SCHEMA).number(value)


def _meets(facts: Number, low: float, high: float) -> bool:
    least, most = (float(int(side) * facts.unit) for side in (facts.low.min(), facts.high.max()))
    return min(low, high) < most and max(low, high) > least


@MANY
@given(st.lists(written(), min_size=1, max_size=3), TABLE)
def test_however_a_value_is_written_its_sum_is_that_of_its_rows(
    parts: list[Node], rows: list[dict[str, Any]]
) -> None:
    batch = batch_of(Scope(SCHEMA), rows)
    assert kernel_sums(parts, batch) == [plain_sums(part, batch) for part in parts]


@MANY
@given(st.lists(queries(), min_size=1, max_size=3), st.sampled_from(["0.25", "0.2", "0.1"]), TABLE)
def test_the_queries_of_a_round_and_what_denoising_makes_of_them_have_the_sums_of_their_rows(
    asked: list[sulq.Query], rate: str, rows: list[dict[str, Any]]
) -> None:
    batch = batch_of(Scope(SCHEMA), rows)
    oracle = sulq.open({name: [] for name in SCHEMA}, SCHEMA).exact()
    for round_ in (sulq.Round(asked), Denoised(oracle, "b", rate).inside(sulq.Round(asked))):
        parts = [part for query in round_.queries for part in query.parts]
        assert kernel_sums(parts, batch) == [plain_sums(part, batch) for part in parts]


GRAM = sulq.gram(sulq.features("r", "i", "tiny"))
OUTER = sulq.outer(sulq.features("r", "i"), sulq.features("big", "tiny", "b"))
YES = col("d") == "yes"
AROUND = {
    "weighed": lambda value: col("i") * value,
    "weighed and truncated": lambda value: col("r") * (0.1 * value),
    "truncated twice": lambda value: 0.3 * (0.1 * value) + 1,
    "clipped": lambda value: sulq.clip(value, -0.2, 0.3),
    "clipped and scaled": lambda value: -0.1 * sulq.clip(value, -0.2, 0.3),
    "clipped away from zero": lambda value: sulq.clip(value, 0.1, 0.3),
    "grouped and chosen": lambda value: Only(YES, sulq.outer(sulq.one_hot("c"), 0.1 * value)),
    "grouped twice": lambda value: sulq.outer(sulq.one_hot("c"), sulq.outer(sulq.one_hot("b"), value)),
    "grouped and weighed": lambda value: sulq.outer(sulq.one_hot("c"), col("i") * value),
    "either": lambda value: sulq.where(YES, value, 2 - value),
    "beside others": lambda value: sulq.vector(value, "i", 0.1 * value),
    "times a vector": lambda value: value * sulq.vector(*range(1, Scope(SCHEMA).number(value).width + 1)),
}


def many_rows(rows: int = 700) -> Batch:
    rng = np.random.default_rng(5)
    numbers = {name: rng.uniform(-4, 12, rows) for name in ("r", "big", "tiny", "fixed")}
    whole = {name: rng.integers(-5, 10, rows) for name in ("i", "long")}
    codes = {name: rng.choice(["u", "v", "w", "yes", "no"], rows) for name in "cd"}
    dates = np.datetime64("2019-12-01") + rng.integers(0, 1600, rows)
    table = {**numbers, **whole, "b": rng.random(rows) < 0.5, **codes, "t": dates.astype(object)}
    return batch_of(Scope(SCHEMA), [{name: table[name][i] for name in SCHEMA} for i in range(rows)])


@pytest.mark.parametrize("value", [GRAM, OUTER, sulq.one_hot("c")], ids=["gram", "outer", "one-hot"])
@pytest.mark.parametrize("few", [0, 2**8], ids=["as tables", "as products with members"])
def test_products_and_counts_are_exact_in_every_surrounding(
    monkeypatch: pytest.MonkeyPatch, value: Node, few: int
) -> None:
    monkeypatch.setattr(summands, "GROUPS_BY_PRODUCT", few)
    batch = many_rows()
    parts = [around(value) for name, around in AROUND.items() if "away" not in name or value is not OUTER]
    assert kernel_sums(parts, batch) == [plain_sums(part, batch) for part in parts]


def taken_apart(value: Node) -> Apart:
    return apart(value, Scope(SCHEMA))


@pytest.mark.parametrize("value", [GRAM, OUTER, sulq.one_hot("c"), sulq.features("r", "i")])
def test_a_public_factor_asks_for_no_other_sums_than_the_plain_value(value: Node) -> None:
    plain = taken_apart(value).summands.keys()
    for written in (0.5 * value, -value, value - 0.25 * value, 2 * (value + value), value * 3 * -0.5):
        assert taken_apart(written).summands.keys() == plain


def test_a_factor_on_no_grid_leaves_the_truncation_on_the_rows() -> None:
    [summand] = taken_apart(0.1 * GRAM).summands.values()
    assert summand.value is not None
    assert summand.value.key == GRAM.key
    assert len(summand.steps) == 1


def test_conditions_and_groups_are_counted_in_one_table() -> None:
    counts = sulq.count(where=YES, by=["c", "b"]).parts
    scaled = sulq.total(0.5 * sulq.one_hot("c"), where=YES).parts
    kernel = Kernel([*counts, *scaled], Scope(SCHEMA), 700)
    assert len(kernel._joint) == 1
    assert not kernel._sums


def test_an_attribute_may_be_asked_for_twice() -> None:
    batch = many_rows()
    parts = [
        part
        for query in (
            sulq.count(by=["c", "b", "c"]),
            sulq.count(where="b", by=["c", "b"]),
            sulq.count(by="b"),
        )
        for part in query.parts
    ]
    assert kernel_sums(parts, batch) == [plain_sums(part, batch) for part in parts]
