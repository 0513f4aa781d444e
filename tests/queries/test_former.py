"""Questions that version 0 wrote are recognised, byte for byte."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings

import sulq
from sulq.queries.former import NAMES, former_form, upgraded_round
from sulq.queries.node_forms import NODES
from sulq.queries.question import Question
from sulq.queries.reading import parse, parse_round
from sulq.wire import canonical
from tests.effort import examples
from tests.forms import check_reader, refusal, tampered
from tests.queries.former_rounds import ROUNDS, TEXTS
from tests.queries.test_reading import rounds


@pytest.mark.parametrize(("round_", "text"), [*zip(ROUNDS, TEXTS, strict=True)])
def test_a_round_has_the_form_that_version_0_gave_it(round_: sulq.Round, text: str) -> None:
    assert canonical(former_form(round_)) == text
    assert parse_round(text) == round_
    assert "round" in refusal(sulq.Round.from_json, text)


def test_expressions_of_version_0_are_read() -> None:
    seen = set()
    for round_, text in zip(ROUNDS, TEXTS, strict=True):
        for query, form in zip(round_.queries, json.loads(text)["queries"], strict=True):
            for today, former in zip(_nodes(query.form), _nodes(form), strict=True):
                assert parse(former).form == today
                seen.add(former["node"])
    assert seen == set(NAMES.values()) - {"Function"}
    since = {"bucket", "date part", "fold", "known", "logistic", "sign", "years at"}
    assert set(NAMES) == {*NODES, "function"} - since, (
        "a kind made after version 0 has no name there: leave it out"
    )


def _nodes(form: Any) -> list[Any]:
    """All forms of expressions inside, ordered by the keys that lead to them."""
    below = (
        [form[key] for key in sorted(form)]
        if isinstance(form, dict)
        else form
        if isinstance(form, list)
        else []
    )
    if isinstance(form, dict) and ("candidates" in form or "choose" in form):
        below = [form["by"], form.get("candidates", form.get("choose")), form["label"]]
    found = [node for each in below for node in _nodes(each)]
    return [form, *found] if isinstance(form, dict) and "node" in form else found


@settings(max_examples=examples(40), suppress_health_check=list(HealthCheck))
@given(rounds)
def test_the_former_form_is_read_as_the_same_round(round_: sulq.Round) -> None:
    former = former_form(round_)
    assume(former is not None)
    assert parse_round(canonical(former)) == round_
    assert upgraded_round(former) == round_.form


@settings(max_examples=examples(80), suppress_health_check=list(HealthCheck))
@given(tampered(rounds.map(former_form).filter(lambda form: form is not None)))
def test_whatever_comes_as_a_round_of_version_0_is_read_or_refused(form: Any) -> None:
    check_reader(parse_round, lambda round_: round_.form, form)


def test_what_version_0_did_not_know_has_no_former_form() -> None:
    class Guess(Question):
        parts = ()
        form = {"query": "guess", "about": {"node": "column", "name": "b"}}  # noqa: RUF012

    class Newer(Question):
        parts = ()
        form = {"query": "total", "value": {"node": "median"}}  # noqa: RUF012

    for question in (Guess(), Newer()):
        assert former_form(sulq.Round([sulq.count(), question])) is None
