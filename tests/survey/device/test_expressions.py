"""Row expressions on a device: the JavaScript knows and works out what Python does, bit for bit."""

from __future__ import annotations

import datetime
import json
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import sulq
from sulq.errors import QueryError
from sulq.queries.expressions import Constant
from sulq.queries.facts import Code
from sulq.queries.lookups import lookup
from sulq.queries.node import NODES, Node
from sulq.queries.routes import Route
from sulq.queries.scope import Scope
from sulq.queries.vectors import Only, Scaled
from sulq.survey.devices import KNOWN
from tests.effort import either
from tests.queries.random_expressions import (
    SCHEMA,
    batch_of,
    choices,
    conditions,
    row,
    scalars,
    vectors,
)
from tests.survey.device.engine import Engine, RefusedError, written

SCHEMA_TEXT = json.dumps(SCHEMA.form())
SCOPE = Scope(SCHEMA)
TRIED = settings(
    max_examples=either(60, 10_000),
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize=False,
)


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine()


@st.composite
def more(draw: st.DrawFn) -> Node:
    """The expressions that no other strategy makes."""
    match draw(st.integers(0, 4)):
        case 4:
            return Only(draw(conditions(0)), draw(vectors(0)))
        case 0:
            return Scaled(draw(st.one_of(scalars(1), vectors(0))))
        case 1:
            asked = (sulq.col("d"), draw(choices(0)))
            size = SCOPE.code(asked[1]).size
            ends = [(draw(st.integers(0, 4)),) for _ in range(size + 1)]
            return Route(asked, ((0, 2, 1), (1, *range(3, 3 + size)), *ends), 5)
        case 2:
            return sulq.clip(draw(vectors(0)), -0.75, draw(st.sampled_from([0.5, 3, 1e9])))
        case _:
            compared = [sulq.col("t") >= "2021-05-05", sulq.bins("r", [0.5, 2]) == "0.5 to 2"]
            return draw(st.sampled_from([*compared, Constant(7) < sulq.col("i")]))


expressions = st.one_of(scalars(2), vectors(1), conditions(2), choices(1), more())


def known_of(expression: Node) -> Any:
    """The facts that a device needs, as the engine writes them; None where the expression makes no sense."""
    try:
        facts = SCOPE.facts(expression)
    except QueryError:
        return None
    if isinstance(facts, Code):
        return {"size": facts.size, "levels": None if facts.levels is None else list(facts.levels)}
    ends = {side: list(map(str, getattr(facts, side).tolist())) for side in ("low", "high")}
    norms = {"norm1": str(facts.norm1), "square": str(facts.square)}
    return {"bits": facts.bits} | ends | norms | {"rounded": bool(facts.rounded)}


def values_of(expression: Node, rows: list[dict[str, Any]]) -> list[Any]:
    """The value on each row in whole steps, as the engine writes it."""
    batch = batch_of(SCOPE, rows)
    value = np.asarray(batch.value(expression))
    if isinstance(SCOPE.facts(expression), Code):
        return [str(int(code)) for code in value]
    return [[str(int(each)) for each in of_row] for of_row in np.atleast_2d(value).T]


@TRIED
@given(expression=expressions, rows=st.lists(row, min_size=1, max_size=4))
def test_facts_and_values_are_pythons_bit_for_bit(
    engine: Engine, expression: Node, rows: list[dict[str, Any]]
) -> None:
    form, known = json.dumps(expression.form), known_of(expression)
    if known is None:
        with pytest.raises(RefusedError):
            engine.facts_of(SCHEMA_TEXT, form)
        return
    assert engine.facts_of(SCHEMA_TEXT, form) == known
    assert engine.values_of(SCHEMA_TEXT, form, json.dumps(list(map(written, rows)))) == values_of(
        expression, rows
    )


def kinds_in(form: Any) -> set[str]:
    if isinstance(form, dict):
        return {form["node"]}.union(*map(kinds_in, form.values())) if "node" in form else set()
    return set().union(*map(kinds_in, form)) if isinstance(form, list) else set()


EVERY = [
    sulq.where(sulq.col("b") | ~sulq.known("t"), sulq.features("r", "i"), sulq.vector("tiny", 0.1)),
    sulq.total(sulq.gram(sulq.clip_norm(sulq.features("r", "big"), 0.7)), where="b", by=["c", "d"]).parts[0],
    sulq.dot(sulq.vector("r", "i"), [0.1, 3]) * sulq.logistic(sulq.clip("r", -1, 2)) + sulq.col("i"),
    sulq.one_hot(sulq.cross(sulq.bins("r", [0, 1 / 3]), sulq.fold("i", 3, "é"), sulq.col("t").weekday())),
    sulq.lookup(sulq.nearest(sulq.vector("r", "i"), [(0, 0), (3, 0.1)]), [0.1, -1 / 3]),
    sulq.parity(["b", (sulq.col("t").years_at("2024-02-29") >= 2) & (sulq.col("t").year() < 2024)], [1, 1]),
    Route((sulq.col("b"), Scaled(sulq.col("b")) > 0), ((0, 1, 2), (0,), (1, 3, 4), (1,), (2,)), 3),
    sulq.outer(Scaled(sulq.col("long")), Only(sulq.col("b"), sulq.vector("big", "fixed"))),
]
"""Each kind of expression at least once."""
ROW = {
    "r": 0.1,
    "big": 123456.7,
    "tiny": -1e-4,
    "fixed": None,
    "i": 3,
    "long": 2**49 + 1,
    "b": True,
    "c": "v",
    "d": "yes",
    "t": datetime.date(2020, 2, 29),
}


def test_every_kind_of_expression_that_a_device_knows_is_worked_out(engine: Engine) -> None:
    assert set().union(*(kinds_in(expression.form) for expression in EVERY)) == KNOWN.nodes
    rows = [ROW, ROW | {"b": False, "t": None, "r": -2.5}]
    for expression in EVERY:
        form = json.dumps(expression.form)
        assert engine.facts_of(SCHEMA_TEXT, form) == known_of(expression) is not None
        worked_out = engine.values_of(SCHEMA_TEXT, form, json.dumps(list(map(written, rows))))
        assert worked_out == values_of(expression, rows)


def test_a_device_knows_what_its_list_says(engine: Engine) -> None:
    names = engine.known_names()
    assert set(names["nodes"]) == KNOWN.nodes
    assert set(names["randomizers"]) == KNOWN.randomizers
    # Buckets and their signs join tables in several hands by an identifier, and a survey's people have none.
    assert KNOWN.nodes == NODES.keys() - {"function", "bucket", "sign"}


@pytest.mark.parametrize(
    ("form", "why"),
    [
        ({"node": "function", "columns": ["r"], "serial": "x"}, "unknown"),
        ({"node": "median", "inner": {"node": "column", "name": "r"}}, "unknown"),
        ({"node": "column", "name": "nobody"}, "unknown"),
        ({"node": "column", "name": "r", "more": 1}, "form"),
        (
            {"node": "compare", "relation": "~", "left": sulq.col("r").form, "right": sulq.col("i").form},
            "form",
        ),
        ({"node": "known", "name": "r"}, "range"),
        (Scaled(sulq.col("c")).form, "range"),
        (lookup("c", [1, 2]).form, "range"),
    ],
)
def test_what_is_not_known_or_makes_no_sense_is_refused(
    engine: Engine, form: dict[str, Any], why: str
) -> None:
    with pytest.raises(RefusedError) as refused:
        engine.facts_of(SCHEMA_TEXT, json.dumps(form))
    assert refused.value.code == why


def test_a_very_deep_expression_is_refused(engine: Engine) -> None:
    form: dict[str, Any] = {"node": "column", "name": "b"}
    for _ in range(200):
        form = {"node": "not", "inner": form}
    with pytest.raises(RefusedError) as refused:
        engine.facts_of(SCHEMA_TEXT, json.dumps(form))
    assert refused.value.code in ("form", "json")
