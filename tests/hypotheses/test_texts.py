"""The text of a hypothesis says what it is, in which version; texts without a version are still read."""

from __future__ import annotations

import json
import pickle
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

import sulq
from sulq.hypotheses import Nothing, Rule, Tree
from sulq.hypotheses.hypothesis import KINDS as NAMED
from tests.effort import examples
from tests.forms import check_reader, json_values, plain, refusal, tampered
from tests.hypotheses.kinds import FORMER, KINDS, ORIGIN, SCHEMA

WIRE = {
    "AdditiveModel": "additive",
    "Centres": "centres",
    "ChosenModel": "chosen model",
    "Components": "components",
    "Evaluation": "evaluation",
    "LogisticModel": "logistic model",
    "DependenceTree": "dependence tree",
    "Halfspace": "halfspace",
    "LinearModel": "linear",
    "Nothing": "nothing",
    "RuleList": "rule list",
    "MaskedParityRule": "masked parity",
    "PairsRelease": "pairs",
    "ParityRule": "parity",
    "ResultSet": "result set",
    "Rule": "rule",
    "Selected": "selected",
    "Tabulation": "table",
    "Tree": "tree",
}
"""What is in texts of version 1: files of others hold these names."""
RULE = KINDS["rule"].form


def test_the_names_in_texts_are_those_of_version_1() -> None:
    assert {cls.__name__: name for name, cls in NAMED.items() if cls.__module__.startswith("sulq.")} == WIRE
    assert {type(hypothesis).__name__ for hypothesis in KINDS.values()} | {"Nothing"} == set(WIRE)


def test_nothing_is_a_hypothesis_too() -> None:
    nothing = Nothing(SCHEMA, ORIGIN, "parity", 0.05)
    read = sulq.Hypothesis.from_json(nothing.to_json())
    assert (read, type(read), bool(read)) == (nothing, Nothing, False)
    with pytest.raises(sulq.QueryError, match="nothing to predict with"):
        read.predict({"old": [True]})


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_survives_the_wire(name: str) -> None:
    hypothesis = KINDS[name]
    form = hypothesis.form
    assert list(form)[:4] == ["hypothesis", "is", "schema", "origin"] and plain(form)
    assert (form["hypothesis"], form["is"]) == (1, WIRE[type(hypothesis).__name__])
    for again in (
        sulq.Hypothesis.from_json(hypothesis.to_json()),
        type(hypothesis).from_json(hypothesis.to_json()),
        sulq.Hypothesis.of(form),
        pickle.loads(pickle.dumps(hypothesis)),
    ):
        assert type(again) is type(hypothesis)
        assert again == hypothesis and hash(again) == hash(hypothesis)
        assert again.form == form and again.describe() == hypothesis.describe()
        assert again.expression.key == hypothesis.expression.key
        assert not any(isinstance(value, list) for value in vars(again).values()), "lists are tuples again"


@pytest.mark.parametrize("name", FORMER)
def test_what_version_0_wrote_is_read_by_its_kind_and_by_no_other(name: str) -> None:
    hypothesis, text = KINDS[name], FORMER[name].read_text()
    assert type(hypothesis).from_json(text) == hypothesis
    for other in NAMED.values():
        if other is not type(hypothesis):
            assert f"a hypothesis of kind {other.wire!r} has schema, origin" in refusal(other.from_json, text)
    assert "does not say 'hypothesis' and the version, 1" in refusal(sulq.Hypothesis.from_json, text)


def test_names_of_python_classes_are_read_in_texts_of_version_0_alone() -> None:
    former = json.loads(FORMER["rule"].read_text())
    said = refusal(Rule.from_json, json.dumps({"hypothesis": 1, "is": "rule"} | former))
    assert said.startswith("'Column' is not a known row expression; known are add,")
    mixed = former | {"literals": RULE["literals"]}
    assert "'column' is not a known row expression of version 0" in refusal(Rule.from_json, json.dumps(mixed))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"hypothesis": 2}, "this is a hypothesis of version 2, and version 1 is the one that is known here"),
        ({"is": "forest"}, "'forest' is not a known kind of hypothesis; known are additive, centres,"),
        ({"is": "tree"}, "this is a tree, not a rule: sulq.Hypothesis.from_json reads every kind"),
        ({"is": None}, "None is not a known kind of hypothesis"),
        ({"more": 1}, "literals: 'more' is not known"),
        ({"schema": "schema.toml"}, "the schema of a hypothesis is an object with its columns"),
        ({"schema": {"columns": {"old": "text"}}}, "column 'old' needs a type"),
        ({"origin": {"learner": "ID3"}}, "origin has learner, promise, run, rounds: promise is missing"),
        ({"literals": None}, "literals are a list, not None"),
        ({"literals": [{"node": "column", "name": "weight"}]}, "no column 'weight'; the schema has old,"),
    ],
)
def test_what_is_no_rule_is_refused_in_one_line(changes: dict[str, Any], said: str) -> None:
    assert said in refusal(Rule.from_json, json.dumps(RULE | changes))


def test_a_missing_field_is_named() -> None:
    form = dict(KINDS["tree"].form)
    del form["root"]
    assert refusal(Tree.of, form).endswith("label, questions, root: root is missing")
    for text in ("", "{}", "[]", "null", "7", "[" * 100_000, '{"hypothesis": NaN}'):
        assert "\n" not in refusal(sulq.Hypothesis.from_json, text)


@settings(max_examples=examples(120), suppress_health_check=list(HealthCheck))
@given(st.one_of(json_values, tampered(st.sampled_from([kind.form for kind in KINDS.values()]))))
def test_whatever_comes_as_a_hypothesis_is_read_or_refused(form: Any) -> None:
    check_reader(sulq.Hypothesis.from_json, lambda hypothesis: hypothesis.form, form)


@settings(max_examples=examples(80), suppress_health_check=list(HealthCheck))
@given(st.sampled_from(sorted(FORMER)), st.data())
def test_whatever_comes_as_a_text_of_version_0_is_read_or_refused(name: str, data: st.DataObject) -> None:
    form = data.draw(tampered(st.just(json.loads(FORMER[name].read_text()))))
    check_reader(type(KINDS[name]).from_json, lambda hypothesis: hypothesis.form, form)


def test_two_kinds_cannot_have_one_name() -> None:
    with pytest.raises(sulq.QueryError, match="Tree is the kind of hypothesis 'tree' already"):
        type("Oak", (sulq.Hypothesis,), {"wire": "tree"})
    assert NAMED["tree"] is Tree


def test_a_kind_without_a_name_says_that_it_needs_one() -> None:
    class Always(Rule.__base__):  # type: ignore[misc, name-defined]
        expression = property(lambda self: sulq.col("old") | ~sulq.col("old"))
        describe = lambda self: "always"  # noqa: E731

    always = Always(KINDS["rule"].schema, None)
    assert always == Always(KINDS["rule"].schema, None)
    with pytest.raises(sulq.QueryError, match="Always has no name for its texts"):
        always.to_json()
