"""However a question comes about, what makes no sense is refused before it has a price."""

from __future__ import annotations

import copy
import json
import pickle
from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import sulq
from sulq.privacy.calibration import Gaussian, Laplace
from sulq.privacy.terms import Contest, SumFacts, Terms
from sulq.queries import facts as facts_module
from sulq.queries.choose import Choice
from sulq.queries.expressions import Column
from sulq.queries.facts import _sum_of_squares, exact_sum, number
from sulq.queries.node import MOST_DEPTH, Node
from sulq.queries.node_forms import NODES
from sulq.queries.query import Query
from sulq.queries.scope import Scope
from tests.effort import examples, long
from tests.oracles.losses import loss
from tests.queries.random_expressions import SCHEMA, queries, scalars, vectors
from tests.queries.test_no_rows import EVERY_NODE

col = sulq.col
BAD_WEIGHTS: list[Any] = [
    0,
    -1,
    Fraction(-1, 2),
    float("nan"),
    float("inf"),
    "0",
    "-1",
    "1/0",
    "1e999999999",
    None,
    "x",
]
COUNT = sulq.count(where=col("b"))
CHOICE = sulq.choose(["b", "c"], label="d")


@pytest.mark.parametrize("weight", BAD_WEIGHTS)
def test_a_weight_is_positive_in_every_query_however_it_was_made(weight: Any) -> None:
    for query in (COUNT, CHOICE):
        with pytest.raises(sulq.QueryError, match="weight must be a positive, finite number"):
            replace(query, weight=weight)
        form = json.loads(sulq.Round([query], share=1).canonical)
        form["queries"][0]["weight"] = weight if isinstance(weight, str) else str(weight)
        with pytest.raises(sulq.QueryError):
            sulq.queries.reading.parse_round(json.dumps(form))


@pytest.mark.parametrize(
    "changes",
    [
        {"statistic": "median"},
        {"statistic": "count", "value": col("r")},
        {"value": "r"},
        {"where": "b"},
        {"by": ["c"]},
        {"by": ("c",)},
        {"tolerance": 1},
        {"beta": Fraction(1, 20)},
        {"tolerance": 0, "beta": 1},
        {"tolerance": 1, "beta": 2},
        {"tolerance": -1, "beta": "0.1"},
    ],
)
def test_a_query_is_refused_for_each_of_its_fields(changes: dict[str, Any]) -> None:
    with pytest.raises(sulq.QueryError):
        replace(sulq.total("r"), **changes)
    settings_ = {field.name: getattr(sulq.total("r"), field.name) for field in fields(Query)}
    with pytest.raises(sulq.QueryError):
        Query(**settings_ | changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"candidates": ()},
        {"candidates": [col("b")]},
        {"candidates": ("b",)},
        {"label": "d"},
        {"label": None, "by": (col("c"),)},
        {"by": [col("c")]},
        {"score": "best"},
    ],
)
def test_a_choice_is_refused_for_each_of_its_fields(changes: dict[str, Any]) -> None:
    with pytest.raises(sulq.QueryError):
        replace(CHOICE, **changes)


def test_a_round_is_checked_when_it_is_replaced() -> None:
    for changes in ({"share": 0}, {"share": -1}, {"share": 2}, {"queries": ()}, {"queries": ["count"]}):
        with pytest.raises(sulq.QueryError):
            replace(sulq.Round([COUNT], share=1), **changes)


@pytest.mark.parametrize("expression", EVERY_NODE, ids=lambda node: type(node).__name__)
def test_an_expression_takes_expressions_where_it_needs_them(expression: Node) -> None:
    if type(expression).__name__ == "Function":
        return
    for field in fields(expression):  # type: ignore[arg-type]
        for bad in (None, object(), b"b", 1.5 if field.name == "name" else [None], (1, "x", None)):
            with pytest.raises(sulq.QueryError):
                scope = Scope(SCHEMA)
                changed = replace(expression, **{field.name: bad})  # type: ignore[type-var]
                scope.facts(changed)


@settings(max_examples=examples(150))
@given(st.one_of(scalars(2), vectors(2)), queries())
def test_copies_are_equal_and_made_anew(expression: Node, query: sulq.Query) -> None:
    _ = expression.key, Scope(SCHEMA).number(expression)
    round_ = sulq.Round([query], share="1/3")
    for copied in (lambda x: pickle.loads(pickle.dumps(x)), copy.copy, copy.deepcopy):
        assert copied(expression).key == expression.key
        assert copied(round_) == round_
        assert "key" not in vars(copied(expression)), "what was worked out of it is not copied"


def test_what_is_unpickled_was_checked() -> None:
    """A pickle that was tampered with holds arguments of the constructor, and that refuses them."""
    good = pickle.dumps(COUNT, protocol=0)
    weight = b"(I1\nI1\n" if b"(I1\nI1\n" in good else b"(V1\n"
    assert weight in good
    with pytest.raises(sulq.QueryError, match="weight"):
        pickle.loads(good.replace(weight, weight.replace(b"1", b"-1", 1)))


def test_a_replaced_row_function_is_another_question() -> None:
    narrow = sulq.row_function(lambda rows: rows["r"], ["r"], 0, 1)
    wide = replace(narrow, high=1000)
    assert narrow.key != wide.key
    scope = Scope(SCHEMA)
    assert scope.number(narrow).high[0] * scope.number(narrow).unit == 1
    assert scope.number(wide).high[0] * scope.number(wide).unit == 1000
    for changes in (
        {"width": 0},
        {"width": 1.5},
        {"low": 2},
        {"columns": ()},
        {"columns": ["r"]},
        {"function": 7},
    ):
        with pytest.raises(sulq.SulqError):
            replace(narrow, **changes)


def test_expressions_are_not_deeper_than_can_be_read() -> None:
    expression: Node = col("r")
    with pytest.raises(sulq.QueryError, match=f"at most {MOST_DEPTH} deep"):
        for _ in range(MOST_DEPTH):
            expression = expression + 1
    assert expression.depth == MOST_DEPTH
    Scope(SCHEMA).number(expression)
    form: dict[str, Any] = col("b").form
    for _ in range(5000):
        form = {"node": "not", "inner": form}
    with pytest.raises(sulq.QueryError, match="at most 120 deep"):
        sulq.queries.reading.parse(form)
    deep = '{"queries": ' + "[" * 100_000 + "]" * 100_000 + ', "share": null}'
    with pytest.raises(sulq.QueryError):
        sulq.queries.reading.parse_round(deep)


def test_a_category_can_be_one_of_very_many_values() -> None:
    towns = [f"town {i}" for i in range(1_500)]
    schema = sulq.Schema({"town": sulq.Category(towns)})
    people = sulq.open({"town": ["town 3", "town 1499", "elsewhere"]}, schema)
    assert people.values(col("town").isin(*towns)).tolist() == [True, True, False]


# Nothing is sold below its price


@settings(max_examples=examples(80), suppress_health_check=list(HealthCheck))
@given(
    st.lists(queries(), min_size=1, max_size=3),
    st.sampled_from([1, 3]),
    st.sampled_from(["replace", "add-remove"]),
    st.sampled_from(["tight", "gaussian", "sulq-laplace", "sulq-gaussian"]),
    st.sampled_from(["1", "1/7", "1e-3"]),
    st.lists(st.sampled_from(["1", "1000", "1e-6", "7/3"]), min_size=3, max_size=3),
)
def test_no_round_is_cheaper_than_its_noise(
    asked: list[sulq.Query], rows: int, neighbours: Any, calibration: str, share: str, weights: list[str]
) -> None:
    """ε of all sums, by the noise they really get, is at most what is charged; in ρ and queries likewise."""
    if calibration.startswith("sulq") and neighbours == "add-remove":
        return
    unit = None if rows == 1 else sulq.Unit("person", rows)
    schema = sulq.Schema(dict(SCHEMA), unit)
    empty: dict[str, Any] = {name: np.zeros(0) for name in SCHEMA} | {"person": np.zeros(0)}
    empty["t"] = np.zeros(0, "datetime64[D]")
    people = sulq.open(empty, schema)
    budgets: dict[str, dict[str, Any]] = {
        "tight": {"epsilon": 2},
        "gaussian": {"rho": "1/2"},
        "sulq-laplace": {"epsilon": 2, "calibration": "sulq-laplace", "queries": 10_000},
        "sulq-gaussian": {"epsilon": 2, "delta": "1e-6", "calibration": "sulq-gaussian", "queries": 10_000},
    }
    curator = people.curator(**budgets[calibration], neighbours=neighbours, ledger=":memory:")
    weighted = [replace(query, weight=weight) for query, weight in zip(asked, weights, strict=False)]
    close = [
        replace(query, tolerance=weight, beta="1/20")
        for query, weight in zip(asked, weights, strict=False)
        if query.statistic != "mean"
    ]
    for round_ in [sulq.Round(weighted, share=share), *([sulq.Round(close)] if close else [])]:
        try:
            cost = curator.cost(round_)
        except sulq.QueryError as refusal:
            reasons = (
                "for exact noise",
                "emulated",
                "too many repetitions",
                "takes at most 4,294,967,296 repetitions",
            )
            assert any(reason in str(refusal) for reason in reasons), "noise that cannot be drawn is refused"
        else:
            assert loss(curator, round_) <= cost
            assert (cost == 0) == (all(noise is None for noise in curator.offer.terms(round_).noises))


ONE = Fraction(1)
PIECE = SumFacts(ONE, 1, moves1=ONE, moves2=ONE, size=ONE, reach=ONE, weight=ONE)


@pytest.mark.parametrize(
    "changes",
    [
        {"weight": Fraction(0)},
        {"weight": -ONE},
        {"moves1": -ONE},
        {"moves1": Fraction(0)},
        {"moves2": Fraction(0)},
        {"reach": Fraction(0)},
        {"size": -ONE},
        {"step": Fraction(0)},
        {"width": 0},
    ],
)
def test_a_calibration_is_not_told_contradictions(changes: dict[str, Any]) -> None:
    with pytest.raises(sulq.QueryError):
        replace(PIECE, **changes)


def test_a_calibration_sells_nothing_for_nothing() -> None:
    for changes in ({"weight": Fraction(0)}, {"weight": -ONE}, {"moves": -1}, {"size": 0}):
        with pytest.raises(sulq.QueryError):
            replace(Contest(1, False, 1, ONE), **changes)
    for calibration in (Laplace(sulq.PureDP(1)), Gaussian(sulq.ZCDP(1))):
        for cost in (Fraction(0), -ONE):
            with pytest.raises(sulq.QueryError, match="more than nothing"):
                calibration.for_cost([PIECE], [], cost)
    with pytest.raises(sulq.QueryError, match="exactly"):
        Terms(ONE, (None,)).check([PIECE], [])
    with pytest.raises(sulq.QueryError, match="exactly"):
        Terms(ONE, (), (None,)).check([], [Contest(1, False, 1, ONE)])


@long
def test_bounds_of_very_wide_vectors_are_sums_without_end() -> None:
    """2^25 coordinates from −2^37 to 2^37: 64 bits do not hold the sum, which was negative, and cheap."""
    low, high = (np.broadcast_to(np.int64(side), 2**25) for side in (-(2**37), 2**37))
    facts = number(0, low, high, norm1=2**61, rounded=False)
    assert (facts.norm1, facts.spread1) == (2**61, 2**62)
    assert facts.square == 2**37 * 2**61
    assert facts.spread_square == 2**38 * 2**62


@settings(max_examples=examples(100))
@given(st.lists(st.integers(0, 2**38), min_size=1, max_size=20), st.integers(1, 5), st.sampled_from([0, 16]))
def test_sums_of_many_integers_are_exact(values: list[int], at_once: int, few: int) -> None:
    array = np.array(values, dtype=np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(facts_module, "_AT_ONCE", at_once)
        patch.setattr(facts_module, "_FEW", few)
        assert exact_sum(array) == sum(values)
        assert _sum_of_squares(array) == sum(value * value for value in values)


def test_every_kind_of_node_is_walked() -> None:
    assert {type(node) for node in EVERY_NODE} | {Column} >= set(NODES.values()) - {
        NODES["feature"],
        NODES["scaled"],
        NODES["constant"],
    }
    assert isinstance(CHOICE, Choice)
