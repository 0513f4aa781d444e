"""Devices: they refuse before they look, evaluate as a source does, and send nothing but a report."""

from __future__ import annotations

import itertools
import json
import pickle
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import sulq
from sulq.errors import QueryError
from sulq.local import (
    Device,
    Interval,
    Item,
    Keyed,
    OneOf,
    Report,
    directions,
    draws,
    hadamard,
    item_of,
)
from sulq.privacy import coins, noise, outcomes
from sulq.queries.node import Node
from sulq.queries.scope import Scope
from tests.local.test_randomizers import STRANGE
from tests.oracles.test_crowd import PEOPLE, QUERIES, SCHEMA

SCOPE = Scope(SCHEMA)
FEW = PEOPLE.only(np.arange(40))
PARTS = {f"{name} {i}": part for name, query in QUERIES.items() for i, part in enumerate(query.parts)}
ITEM = item_of(sulq.col("sick"), SCOPE, Fraction(1))


class Unseen:
    """Rows that nobody may look at."""

    def __init__(self, schema: sulq.Schema) -> None:
        self.scope = Scope(schema)

    def values(self, expression: Node) -> NDArray[Any]:
        raise AssertionError("a row was looked at")


def patched(monkeypatch: pytest.MonkeyPatch, random_bytes: Any) -> None:
    for module in (coins, directions, draws, hadamard, noise, outcomes):
        monkeypatch.setattr(module, "random_bytes", random_bytes, raising=False)


def stream(seed: int) -> Any:
    rng = np.random.default_rng(seed)
    return lambda size: rng.integers(0, 256, size, dtype=np.uint8)


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_what_is_reported_is_the_expression_itself(part: sulq.Node) -> None:
    """A group and a value in it stand for the vector that the expression is."""
    item = item_of(part, SCOPE, Fraction(1))
    values = Device(FEW, Fraction(1))._values(item)
    match item.shape:
        case OneOf(size):
            dense = np.eye(size)[values]
        case Keyed(size, _):
            dense = np.einsum("ig,id->igd", np.eye(size)[values[0]], values[1]).reshape(FEW.rows, -1)
        case _:
            dense = values.reshape(FEW.rows, -1)
    assert np.array_equal(dense[:, : item.width], FEW.values(part).reshape(FEW.rows, -1))


@pytest.mark.parametrize("method", ["best", "paper"])
def test_a_crowd_is_devices_and_tallies(method: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the same random bytes the crowd's answers are those of a questionnaire sent as JSON to devices,
    whose reports come as JSON and whose tallies are merged, to the last bit."""
    for query in QUERIES.values():
        round_ = sulq.Round([query], share=1)
        crowd = PEOPLE.crowd(epsilon=2, method=method)
        vars(crowd._cohorts)["_order"] = np.arange(PEOPLE.rows)
        questionnaire = sulq.local.Questionnaire.from_json(crowd.questionnaire(round_).to_json())
        patched(monkeypatch, stream(1))
        answers = crowd.ask(round_)
        patched(monkeypatch, stream(1))
        tallies, first = [], 0
        for item, people in zip(questionnaire.items, questionnaire.people, strict=True):
            cohort = PEOPLE.only(np.arange(first, first + people))
            report = Report.from_json(Device(cohort, Fraction(2)).report(item).to_json())
            halves = [Report(item.key, half) for half in np.array_split(report.numbers, 2)]
            tallies.append(item.tally(halves[1], people) + item.tally(halves[0], people))
            first += people
        for answer, by_hand in zip(answers, crowd.answers(round_, tallies), strict=True):
            assert answer.to_json() == by_hand.to_json()


def test_devices_one_by_one_report_as_all_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """If all random bytes are the same, every person draws the same, alone and among others."""
    compared = 0
    for part, byte in itertools.product(PARTS.values(), (20, 100, 180)):
        item = item_of(part, SCOPE, Fraction(2))
        if isinstance(
            item.randomizer, directions.DirectionReport
        ):  # draws its directions by a generator for all
            continue
        patched(monkeypatch, lambda size, byte=byte: np.full(size, byte, dtype=np.uint8))
        together = Device(FEW, Fraction(2)).report(item).numbers
        for i in range(10):
            alone = Device(PEOPLE.only(np.array([i])), Fraction(2)).report(item)
            assert np.array_equal(alone.numbers, together[i : i + 1])
            compared += 1
    assert compared > 300


@pytest.mark.parametrize("method", ["best", "paper"])
def test_a_device_refuses_what_costs_more_than_epsilon_and_looks_at_no_row(method: Any) -> None:
    device = Device(Unseen(SCHEMA), Fraction(1))
    for part in PARTS.values():
        for epsilon in (Fraction(1) + Fraction(1, 10**6), Fraction(3)):
            with pytest.raises(sulq.BudgetError, match="epsilon"):
                device.report(item_of(part, SCOPE, epsilon, method=method))
        with pytest.raises(AssertionError, match="looked at"):
            device.report(item_of(part, SCOPE, Fraction(1), method=method))


def test_a_person_with_several_rows_reports_on_each_with_a_part_of_epsilon() -> None:
    columns = {"who": np.zeros(3, dtype=int), "sick": [True, False, True]}
    schema = sulq.Schema({"sick": sulq.Boolean()}, unit=sulq.Unit("who", rows=4))
    person = sulq.open(columns, schema)
    item = item_of(sulq.col("sick"), person.scope, Fraction(1, 2), rows=4)
    report = Device(person, Fraction(2)).report(item)
    assert item.tally(report).reports == 3
    for epsilon in ("2", "1/2", "1/8"):
        dearer = item_of(sulq.col("sick"), person.scope, Fraction(epsilon) * Fraction(11, 40), rows=4)
        with pytest.raises(sulq.BudgetError):
            Device(Unseen(schema), Fraction(epsilon)).report(dearer)
    with pytest.raises(QueryError, match="for people with 1 row, and here they may have 4"):
        Device(Unseen(schema), Fraction(2)).report(item_of(sulq.col("sick"), person.scope, Fraction(1, 2)))


def test_an_item_made_for_another_schema_is_refused_and_no_row_is_looked_at() -> None:
    others = sulq.Schema({**SCHEMA, "age": sulq.Real(0, 99), "town": sulq.Category(["a", "b"])})
    for part in (
        sulq.col("age"),
        *sulq.count(by="town").parts,
        *sulq.total(sulq.col("age"), by="sick").parts,
    ):
        with pytest.raises(QueryError, match="for another schema"):
            Device(Unseen(others), Fraction(1)).report(item_of(part, SCOPE, Fraction(1)))
    forged = replace(item_of(sulq.col("age"), SCOPE, Fraction(1)), shape=Interval(0, 1))
    with pytest.raises(QueryError, match="for another schema"):
        Device(Unseen(SCHEMA), Fraction(1)).report(forged)


def test_a_report_holds_numbers_and_its_item_s_name_and_nothing_else() -> None:
    for part in PARTS.values():
        for method in ("best", "paper"):
            item = item_of(part, SCOPE, Fraction(2), method=method)  # type: ignore[arg-type]
            report = Device(FEW, Fraction(2)).report(item)
            form = json.loads(report.to_json())
            assert form.keys() == {"report", "item", "numbers"} and form["item"] == item.key
            assert all(type(number) in (int, float) for number in np.ravel(form["numbers"]).tolist())
            for again in (Report.from_json(report.to_json()), pickle.loads(pickle.dumps(report))):
                assert again == report and hash(again) == hash(report)
                assert item.tally(again, FEW.rows) == item.tally(report, FEW.rows)
                with pytest.raises(ValueError, match="read-only"):
                    again.numbers[0] = 0


def test_one_person_s_report_on_more_rows_than_they_may_have_is_refused() -> None:
    crowded = Report(ITEM.key, np.ones(1000, dtype=bool))
    with pytest.raises(QueryError, match="at most 1 row:"):
        ITEM.tally(crowded)
    assert ITEM.tally(crowded, people=1000).reports == 1000
    with pytest.raises(QueryError, match="on another item"):
        ITEM.tally(Report("another", np.ones(1, dtype=bool)))


def test_whatever_a_person_sends_is_a_report_or_a_refusal_and_counts_for_one() -> None:
    rest = ITEM.tally(Report(ITEM.key, np.ones(99, dtype=bool)), people=99)
    expected = [ITEM.estimate(rest + ITEM.tally(Report(ITEM.key, np.array([bit])))) for bit in (False, True)]
    for thing in STRANGE:
        if not isinstance(thing, str | int | float | list | dict | None):
            continue
        try:
            tally = ITEM.tally(Report.of({"report": 1, "item": ITEM.key, "numbers": [thing]}))
        except QueryError:
            assert isinstance(thing, list), "only an array of another shape is refused"
            continue
        assert tally.reports == 1 and ITEM.estimate(rest + tally) in expected


WRONG: list[tuple[Any, str]] = [
    ({"report": 2, "item": "x", "numbers": [1]}, "version"),
    ([], "version"),
    ({"report": 1, "item": "x"}, "a report has"),
    ({"report": 1, "item": "x", "numbers": [1], "age": 31}, "a report has"),
    ({"report": 1, "item": 7, "numbers": [1]}, "the name of its item"),
    ({"report": 1, "item": "x", "numbers": 1}, "a list of numbers"),
]


@pytest.mark.parametrize(("form", "refusal"), WRONG, ids=str)
def test_what_is_no_report_is_refused_in_one_line(form: Any, refusal: str) -> None:
    with pytest.raises(QueryError, match=refusal):
        Report.from_json(json.dumps(form))


@pytest.mark.parametrize("epsilon", [0, -1, "nan", None])
def test_a_device_has_no_senseless_epsilon(epsilon: Any) -> None:
    with pytest.raises(sulq.SulqError):
        Device(FEW, epsilon)


def test_an_item_can_be_asked_without_the_rest_of_the_library_knowing() -> None:
    """The names that a survey is built from are public."""
    assert {"Device", "Item", "Questionnaire", "Report", "Tally", "item_of"} <= set(sulq.local.__all__)
    assert isinstance(ITEM, Item)
