from __future__ import annotations

import json
import subprocess
import sys

import pytest
from hypothesis import given, settings

import sulq
from sulq.queries.expressions import Node
from sulq.queries.scope import Scope
from tests.queries.random_expressions import SCHEMA, queries, scalars, vectors

col = sulq.col


@settings(max_examples=200, deadline=None)
@given(scalars(3), vectors(2))
def test_expressions_survive_the_wire(scalar: Node, vector: Node) -> None:
    for expression in (scalar, vector):
        copy = sulq.queries.canonical.parse(json.loads(json.dumps(expression.form)))
        assert copy.key == expression.key
        ours, theirs = Scope(SCHEMA).number(expression), Scope(SCHEMA).number(copy)
        assert (ours.norm1, ours.square, ours.bits) == (theirs.norm1, theirs.square, theirs.bits)


@settings(max_examples=100, deadline=None)
@given(queries(), queries())
def test_rounds_survive_the_wire(one: sulq.Query, other: sulq.Query) -> None:
    round_ = sulq.Round([one, other])
    copy = sulq.queries.canonical.parse_round(round_.canonical)
    assert copy.key == round_.key
    assert copy == round_
    assert copy != sulq.Round([one])
    assert copy.sensitivity(SCHEMA, 1) == round_.sensitivity(SCHEMA, 1)


def test_equal_questions_are_recognised_and_others_told_apart() -> None:
    assert (col("age") + 1).key == (col("age") + 1.0).key
    assert (col("age") + 1).key != (col("age") + 2).key
    assert (col("age") + 1).key != (1 + col("age")).key
    assert sulq.nearest(col("age"), [[1]]).key == sulq.nearest(col("age"), [(1.0,)]).key


def test_the_hash_is_the_same_in_every_process() -> None:
    code = "import sulq; print(sulq.features('age', 'pay', norm=0.1).key)"
    elsewhere = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert elsewhere.stdout.strip() == sulq.features("age", "pay", norm=0.1).key


def test_what_is_no_question_is_refused() -> None:
    for form in ({}, {"node": "Evil"}, {"node": "Column"}, {"node": "Column", "name": "x", "more": 1}, [], 7):
        with pytest.raises(sulq.QueryError):
            sulq.queries.canonical.parse(form)  # type: ignore[arg-type]
    for text in ("", "{}", "[]", '{"queries": []}', '{"queries": [{"statistic": "count"}]}'):
        with pytest.raises(sulq.QueryError):
            sulq.queries.canonical.parse_round(text)
