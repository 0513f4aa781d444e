from __future__ import annotations

import json
import pickle
import subprocess
import sys
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

import sulq
from sulq.queries.functions import Function
from sulq.queries.node import Node
from sulq.queries.node_forms import NODES
from sulq.queries.question import QUESTIONS, Question
from sulq.queries.reading import from_json, parse, parse_round, to_json
from sulq.queries.scope import Scope
from tests.effort import examples
from tests.forms import check_reader, json_values, plain, refusal, tampered
from tests.queries.random_expressions import SCHEMA, choices, queries, scalars, vectors
from tests.queries.test_no_rows import EVERY_NODE

col = sulq.col
WIRE = {
    "Add": "add",
    "And": "and",
    "Bins": "bins",
    "Bucket": "bucket",
    "Clip": "clip",
    "ClipNorm": "clip norm",
    "Column": "column",
    "Compare": "compare",
    "Constant": "constant",
    "Cross": "cross",
    "DatePart": "date part",
    "Dot": "dot",
    "Feature": "feature",
    "Function": "function",
    "Gram": "gram",
    "Known": "known",
    "Fold": "fold",
    "Logistic": "logistic",
    "Lookup": "lookup",
    "Multiply": "multiply",
    "Nearest": "nearest",
    "Not": "not",
    "OneHot": "one hot",
    "Only": "only",
    "Or": "or",
    "Outer": "outer",
    "Route": "route",
    "Scaled": "scaled",
    "Sign": "sign",
    "Vector": "vector",
    "Where": "where",
    "Xor": "xor",
    "YearsAt": "years at",
}
"""What is on the wire in version 1: ledgers and files of others hold these names."""


@st.composite
def asked(draw: st.DrawFn) -> Question:
    """A query or a choice."""
    if draw(st.booleans()):
        return draw(queries())
    if draw(st.booleans()):
        return sulq.choose([sulq.total(draw(scalars(1))), sulq.count(where="b")], weight="2/3")
    candidates = draw(st.lists(choices(1), min_size=1, max_size=3))
    return sulq.choose(
        candidates,
        label="d",
        by=draw(choices(0)),
        score=draw(st.sampled_from(["majority", "purity", (1, 9)])),
    )


rounds = st.builds(
    sulq.Round, st.lists(asked(), min_size=1, max_size=3), st.sampled_from([None, 1, "1/3", 0.1])
)


def test_the_names_on_the_wire_are_those_of_version_1() -> None:
    assert {cls.__name__: name for name, cls in NODES.items()} == WIRE
    assert {cls.__name__: cls.wire for cls in NODES.values()} == WIRE
    assert {"count", "total", "mean", "choose"} <= set(QUESTIONS)


def test_renaming_a_class_changes_no_form() -> None:
    questions = [sulq.total(col("r")), sulq.choose(["b", "c"], label="d")]
    for thing in [*EVERY_NODE, *questions, sulq.Round(questions, share=1)]:
        if not isinstance(thing, Function):  # the form of each is its own
            made, arguments = thing.__reduce__()
            renamed = type("Renamed", (made,), {})(*arguments)
            assert type(renamed).__name__ == "Renamed" and renamed.form == thing.form


@settings(max_examples=examples(80))
@given(st.one_of(scalars(3), vectors(2), choices(2)))
def test_expressions_survive_the_wire(expression: Node) -> None:
    assert plain(expression.form)
    read = parse(json.loads(json.dumps(expression.form)))
    for copy in (read, from_json(to_json(expression)), pickle.loads(pickle.dumps(expression))):
        assert copy.key == expression.key and copy.form == expression.form
        assert str(Scope(SCHEMA).facts(copy)) == str(Scope(SCHEMA).facts(expression))


def test_every_expression_but_a_python_function_survives_the_wire() -> None:
    for node in EVERY_NODE:
        if isinstance(node, Function):
            assert "process that made it" in refusal(from_json, to_json(node))
        else:
            assert from_json(to_json(node)).key == node.key


@settings(max_examples=examples(50))
@given(rounds)
def test_rounds_survive_the_wire(round_: sulq.Round) -> None:
    assert plain(round_.form)
    for copy in (
        sulq.Round.of(round_.form),
        sulq.Round.from_json(round_.to_json()),
        parse_round(json.dumps(round_.form)),
        pickle.loads(pickle.dumps(round_)),
    ):
        assert copy == round_ and copy.key == round_.key and copy.form == round_.form
        assert copy.sensitivity(SCHEMA, 1) == round_.sensitivity(SCHEMA, 1)
        assert copy != sulq.Round([*round_.queries, sulq.count()])


@settings(max_examples=examples(40))
@given(asked())
def test_queries_and_choices_survive_the_wire(query: Question) -> None:
    for copy in (QUESTIONS[query.form["query"]](query.form), pickle.loads(pickle.dumps(query))):
        assert type(copy) is type(query) and copy.form == query.form


def test_a_round_says_what_it_is_in_which_version_and_what_it_asks() -> None:
    assert sulq.Round([sulq.count(where="b")], share=0.1).form == {
        "round": 1,
        "queries": [
            {
                "query": "count",
                "value": {"node": "constant", "constant": 1},
                "where": {"node": "column", "name": "b"},
                "by": [],
                "weight": "1",
                "tolerance": None,
                "beta": None,
            }
        ],
        "share": "1/10",
    }


def test_equal_questions_are_recognised_and_others_told_apart() -> None:
    assert (col("age") + 1).key == (col("age") + 1.0).key
    assert (col("age") + 1).key != (col("age") + 2).key
    assert (col("age") + 1).key != (1 + col("age")).key
    assert sulq.nearest(col("age"), [[1]]).key == sulq.nearest(col("age"), [(1.0,)]).key


def test_the_hash_is_the_same_in_every_process() -> None:
    code = "import sulq; print(sulq.features('age', 'pay', norm=0.1).key)"
    elsewhere = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert elsewhere.stdout.strip() == sulq.features("age", "pay", norm=0.1).key


COLUMN = {"node": "column", "name": "x"}
COUNT = sulq.count().form


@pytest.mark.parametrize(
    ("form", "said"),
    [
        (
            {},
            "None is not a known row expression; known are add, and, bins, bucket, clip, clip norm, column,",
        ),
        ([], "None is not a known row expression"),
        (7, "None is not a known row expression"),
        ({"node": "median"}, "'median' is not a known row expression; known are add,"),
        ({"node": ["column"]}, "['column'] is not a known row expression"),
        ({"node": "column"}, "the row expression 'column' has node, name: name is missing"),
        (COLUMN | {"more": 1}, "the row expression 'column' has node, name: 'more' is not known"),
        ({"node": "column", "nmae": "x"}, "name is missing, 'nmae' is not known"),
        ({"node": "column", "name": 3}, "a column's name or a row expression is needed here, not 3"),
        ({"node": "not", "inner": "b"}, "None is not a known row expression"),
        ({"node": "vector", "parts": COLUMN}, "the parts of 'vector' are a list, not {"),
        ({"node": "constant", "constant": float("nan")}, "the constant nan must be finite"),
        ({"node": "constant", "constant": 10**5000}, "must be finite and at most 1e200 in size"),
        (
            {"node": "constant", "constant": None},
            "a number, a text or a list of them is needed here, not None",
        ),
        ({"node": "clip", "inner": COLUMN, "low": "a", "high": "b"}, "cannot clip between 'a' and 'b'"),
        ({"node": "lookup", "choice": COLUMN, "table": [[[[[1]]]]]}, "is needed here, not"),
        ({"node": "compare", "relation": "~", "left": COLUMN, "right": COLUMN}, "unknown comparison '~'"),
        ({"node": "Not", "inner": COLUMN}, "'column' is not a known row expression of version 0"),
        (
            {"node": "not", "inner": {"node": "Column", "name": "b"}},
            "'Column' is not a known row expression;",
        ),
    ],
)
def test_what_is_no_expression_is_refused_in_one_line(form: Any, said: str) -> None:
    assert said in refusal(parse, form)
    assert len(refusal(parse, form)) < 500


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "this is not the JSON of a round"),
        ("[" * 100_000, "this is not the JSON of a round"),
        ('{"round": 1, "queries": NaN, "share": null}', "this is not the JSON of a round"),
        ('{"round": 1, "queries": [1e999], "share": null}', "this is not the JSON of a round"),
        ("[]", "this is not the form of a round: it does not say 'round' and the version, 1"),
        ('{"round": 2}', "this is a round of version 2, and version 1 is the one that is known here"),
        ('{"round": true}', "this is a round of version True, and version 1 is the one"),
        ('{"round": 1, "queries": []}', "a round has round, queries, share: share is missing"),
        ('{"round": 1, "queries": [], "share": null}', "a round is a list of at least one query"),
        ('{"round": 1, "queries": {}, "share": null}', "the queries of a round are a list, not {}"),
        (
            '{"round": 1, "queries": [5], "share": null}',
            "None is not a known query; known are choose, count,",
        ),
        (
            '{"round": 1, "queries": [{"query": "count"}], "share": null}',
            "value is missing, where is missing",
        ),
        (
            json.dumps({"round": 1, "queries": [COUNT], "share": 0.5}),
            "a share is an exact number as a text, like",
        ),
        (
            json.dumps({"round": 1, "queries": [COUNT], "share": "2"}),
            "share must be a positive, finite number",
        ),
        (
            json.dumps({"round": 1, "queries": [COUNT | {"weight": 1}], "share": None}),
            "a weight is an exact number",
        ),
        (
            json.dumps({"round": 1, "queries": [COUNT | {"by": None}], "share": None}),
            "groups of a query are a list",
        ),
        (
            '{"queries": [{"statistic": "median"}], "share": null}',
            "a query of version 0 is a choice or one of count",
        ),
    ],
)
def test_what_is_no_round_is_refused_in_one_line(text: str, said: str) -> None:
    assert said in refusal(parse_round, text)
    if '"round"' in text:
        assert said in refusal(sulq.Round.from_json, text)


def test_a_text_that_is_too_long_is_not_even_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sulq.wire.LONGEST", 10)
    assert "may have 10 letters, not 11" in refusal(sulq.Round.from_json, " " * 11)
    assert "is a text, not 7" in refusal(sulq.Round.from_json, 7)


@settings(max_examples=examples(120), suppress_health_check=list(HealthCheck))
@given(st.one_of(json_values, tampered(st.one_of(scalars(2), vectors(1)).map(lambda node: node.form))))
def test_whatever_comes_as_an_expression_is_read_or_refused(form: Any) -> None:
    check_reader(lambda text: parse(json.loads(text)), lambda node: node.form, form)
    envelope = {"expression": 1, "is": form}
    check_reader(from_json, lambda node: {"expression": 1, "is": node.form}, envelope)


@settings(max_examples=examples(120), suppress_health_check=list(HealthCheck))
@given(st.one_of(json_values, tampered(rounds.map(lambda round_: round_.form))))
def test_whatever_comes_as_a_round_is_read_or_refused(form: Any) -> None:
    for read in (sulq.Round.from_json, parse_round):
        check_reader(read, lambda round_: round_.form, form)


def test_a_kind_of_question_made_elsewhere_is_read_and_refused_where_only_sums_are_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Guess(Question):
        parts = ()
        form = {"query": "guess"}  # noqa: RUF012

    assert "'guess' is not a known query" in refusal(sulq.Round.of, sulq.Round([Guess()]).form)
    monkeypatch.setitem(QUESTIONS, "guess", lambda form: Guess())
    round_ = sulq.Round.of(sulq.Round([Guess(), sulq.count()], share=1).form)
    assert isinstance(round_.queries[0], Guess)
    people = sulq.randhie()
    for oracle in (people.exact(), people.curator(epsilon=1), people.crowd(epsilon=1)):
        assert "can" in refusal(oracle.ask, round_) and "answered here" in refusal(oracle.ask, round_)
