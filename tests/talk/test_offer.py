"""An offer: what a curator is without rows and without a ledger."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sulq
from sulq.classes.base import CLASSES
from sulq.classes.pick import Pick
from sulq.classes.shortest import Shortest
from sulq.classes.solve import Solve
from sulq.privacy.calibration import Laplace
from sulq.queries.query import Neighbours
from sulq.talk.offer import Offer
from tests.effort import examples
from tests.forms import check_reader, json_values, refusal, tampered

A, B, Y = sulq.col("a"), sulq.col("b"), sulq.col("y")
SCHEMA = sulq.Schema(
    {"a": sulq.Boolean(), "b": sulq.Boolean(), "y": sulq.Boolean(), "age": sulq.Integer(0, 99)}
)
MADE: dict[str, Any] = {
    "listed": sulq.classes.Hypotheses([A, ~B, "y"]),
    "parities": sulq.classes.Parities(["a", B]),
    "monotone conjunctions": sulq.classes.MonotoneConjunctions(),
    "conjunctions": sulq.classes.Conjunctions((A, B)),
    "labelings": sulq.classes.Labelings(["a", "b"], np.eye(4, dtype=bool)),
    "halfspaces": sulq.classes.Halfspaces(["a", "b"]),
    "thresholds": sulq.classes.Thresholds("age", [18, 65.5]),
    "intervals": sulq.classes.Intervals(sulq.col("age"), (18,)),
    "rectangles": sulq.classes.Rectangles([("age", [18, 65])]),
    "stumps": sulq.classes.Stumps(["age"], bins=4, edges={"age": [30]}),
    "small conjunctions": sulq.classes.SmallConjunctions(2, ["a", "age"], bins=3),
}
QUESTIONS: list[Any] = [
    *(Pick(each, Y) for each in MADE.values()),
    Pick(MADE["stumps"], Y, Fraction(2), "exponential", Fraction(1, 20), Fraction(1, 7)),
    Solve((A, B), Y, Fraction(1, 3), Fraction(1, 5), "paper", "test set", Fraction(3)),
    Shortest((MADE["parities"], MADE["conjunctions"]), Y, weight=Fraction(1, 2)),
]


def curators() -> list[sulq.Curator]:
    people = sulq.open({name: [0, 1] * 50 for name in SCHEMA}, SCHEMA)
    chunks = people.curator(epsilon=1, answering="chunks", queries=5)
    return [
        people.curator(epsilon="1/3"),
        people.curator(rho="0.01", neighbours="add-remove"),
        people.curator(epsilon=1, delta="1e-6", truncate=True),
        people.curator(epsilon=1, calibration="sulq-laplace", queries=9),
        people.curator(epsilon=1, delta="1e-6", calibration="sulq-gaussian", queries=9),
        people.curator(epsilon=1).part("2/7"),
        chunks,
    ]


@pytest.mark.parametrize("number", range(7))
def test_an_offer_survives_json_and_pickle_and_says_the_same(number: int) -> None:
    curator = curators()[number]
    share = None if curator.offer.unit == "queries" else "1/8"
    round_ = sulq.Round([sulq.count(by=["a", "y"]), sulq.total(sulq.col("age"))], share)
    for copy in (Offer.from_json(curator.offer.to_json()), pickle.loads(pickle.dumps(curator.offer))):
        assert copy == curator.offer and copy.promise == curator.promise
        assert copy.cost(round_) == curator.offer.cost(round_)
        assert copy.error(round_, 0.05) == curator.offer.error(round_, 0.05)


def test_whoever_has_the_offer_reads_what_was_released() -> None:
    people = sulq.open({name: [0, 1] * 50 for name in SCHEMA}, SCHEMA)
    curator = people.curator(epsilon=60)
    round_ = sulq.Round(
        [sulq.mean(Y), sulq.choose(["a", "b"], label="y"), Pick(MADE["stumps"], Y), Solve((A, B), Y)], 1
    )
    answers = curator.ask(round_)
    [stored] = [entry.answer for entry in curator.ledger.entries() if entry.kind == "answer"]
    offer = Offer.from_json(curator.offer.to_json())
    for answer, again in zip(
        answers, offer.read(round_, offer.terms(round_), json.loads(stored or "")), strict=True
    ):
        assert np.array_equal(answer.value, again.value) and answer.law == again.law
    assert curator.spent == offer.cost(round_) == 60


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"offer": 2}, "version 2"),
        ({"rows": -1}, "rows must be a whole number"),
        ({"rows": 10, "neighbours": "add-remove"}, "public only where"),
        ({"neighbours": "both"}, "neighbours are"),
        ({"allowance": "2"}, "allowance must be"),
        ({"allowance": 0.5}, "exact number as a text"),
        ({"truncate": 1}, "truncate is true or false"),
        ({"schema": []}, "schema of an offer"),
        ({"calibration": {"is": "hope"}}, "not a known calibration"),
        ({"more": 1}, "'more' is not known"),
    ],
)
def test_what_is_no_offer_is_refused_in_one_line(change: dict[str, Any], complaint: str) -> None:
    form = curators()[0].offer.form
    assert complaint in refusal(Offer.of, form | change)


@settings(max_examples=examples(60), suppress_health_check=list(HealthCheck))
@given(st.one_of(json_values, tampered(st.sampled_from([each.offer.form for each in curators()]))))
def test_whatever_comes_as_an_offer_is_read_or_refused(form: Any) -> None:
    check_reader(Offer.from_json, lambda offer: offer.form, form)


def test_there_is_an_example_of_every_class() -> None:
    assert {each.wire for each in MADE.values()} == set(CLASSES)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: str(question.form)[:60])
def test_questions_that_need_rows_survive_json_and_pickle(question: Any) -> None:
    round_ = sulq.Round([question, sulq.count()], "1/2")
    for copy in (sulq.Round.from_json(round_.to_json()), pickle.loads(pickle.dumps(round_))):
        assert copy == round_ and copy.queries[0].form == question.form
        assert copy.key == round_.key
    offer = replace(curators()[1].offer, neighbours="replace", rows=10**9)
    assert offer.cost(sulq.Round.from_json(round_.to_json())) == offer.cost(round_)


@settings(max_examples=examples(80), suppress_health_check=list(HealthCheck))
@given(tampered(st.sampled_from([sulq.Round([question], 1).form for question in QUESTIONS])))
def test_whatever_comes_as_such_a_question_is_read_or_refused(form: Any) -> None:
    check_reader(sulq.Round.from_json, lambda round_: round_.form, form)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: str(question.form)[:60])
def test_what_a_curator_is_asked_it_refuses_from_public_facts_or_answers(question: Any) -> None:
    """Every budget, unit and kind of neighbours: a refusal spends nothing, and an answer costs its price."""
    rng = np.random.default_rng(0)
    rows = {name: rng.random(300) < 0.5 for name in ("a", "b", "y")} | {"age": rng.integers(0, 99, 300)}
    rows["who"] = np.arange(300) // 2
    for unit in (None, sulq.Unit("who", 2)):
        people = sulq.open(rows, sulq.Schema(dict(SCHEMA), unit=unit))
        for budget in ({"epsilon": 9}, {"rho": 9}, {"epsilon": 9, "delta": "1e-9"}):
            for neighbours in ("replace", "add-remove"):
                curator = people.curator(**budget, neighbours=neighbours)
                round_ = sulq.Round([question, sulq.count(where="a")], "1/3")
                try:
                    answers = curator.ask(round_)
                except sulq.QueryError:
                    assert curator.spent == 0
                else:
                    assert curator.spent == curator.offer.cost(round_) == curator.offer.total / 3
                    assert answers[0].radius(0.05) >= 0 and len(answers) == 2


@pytest.mark.parametrize("first", ["replace", "add-remove"])
def test_what_one_person_moves_is_remembered_apart_for_each_kind_of_neighbours(first: Neighbours) -> None:
    """A schema's facts are worked out once; with another kind of neighbours they are others."""
    schema = sulq.Schema({"sick": sulq.Boolean(), f"x {first}": sulq.Real(-1, 1)})
    round_ = sulq.Round([sulq.mean(f"x {first}", where="sick"), sulq.count(by="sick")], share=1)
    fresh = sulq.Schema({"sick": sulq.Boolean(), f"another x {first}": sulq.Real(-1, 1)})
    alike = sulq.Round([sulq.mean(f"another x {first}", where="sick"), sulq.count(by="sick")], share=1)
    second: Neighbours = "add-remove" if first == "replace" else "replace"
    here = [Offer(schema, Laplace(sulq.PureDP(1)), way).terms(round_) for way in (first, second)]
    there = [Offer(fresh, Laplace(sulq.PureDP(1)), way).terms(alike) for way in (second, first)]
    assert here == there[::-1] and here[0] != here[1]
