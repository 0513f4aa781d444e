"""A browser's ledger and memo: the person's ε is kept whoever asks, and the same item has the same report for ever."""

from __future__ import annotations

import json
import os
from fractions import Fraction
from typing import Any

import pytest

import sulq
from sulq.local import Item, Report, item_of
from sulq.queries.scope import Scope
from tests.survey.device.engine import Engine, RefusedError, written

SCHEMA = sulq.Schema({"sick": sulq.Boolean(), "age": sulq.Integer(0, 120)})
SCOPE = Scope(SCHEMA)
PERSON = json.dumps(written({"sick": True, "age": 44}))


def thresholds(count: int, epsilon: Fraction = Fraction(1)) -> list[Item]:
    return [item_of(sulq.col("age") >= 1 + i, SCOPE, epsilon) for i in range(count)]


def survey(epsilon: str = "2", **changes: Any) -> str:
    return json.dumps({"survey": 1, "id": "s", "epsilon": epsilon, "schema": SCHEMA.form()} | changes)


def round_of(items: list[Item], number: int = 1, /, **changes: Any) -> str:
    entries = [{"item": item.form(), "people": 10} for item in items]
    form = {
        "round-open": 1,
        "survey": "s",
        "number": number,
        "items": entries,
        "asks": "all",
        "state": "open",
    }
    return json.dumps(form | changes)


@pytest.fixture
def engine() -> Engine:
    engine = Engine()
    engine.open_device("d", "here", survey(), os.urandom(20_000).hex())
    return engine


def draw(engine: Engine, round_: str, name: str = "d") -> list[Any]:
    return [each["report"] for each in engine.wait("draw_round", name, round_, PERSON)]


def test_the_same_item_has_the_same_report_for_ever_and_costs_once(engine: Engine) -> None:
    items = thresholds(20, Fraction(1, 10))
    first = draw(engine, round_of(items))
    assert [report["item"] for report in first] == [item.key for item in items]
    engine.open_device("reopened", "here", survey(), os.urandom(1000).hex())
    assert draw(engine, round_of(items, 2), "reopened") == first
    assert engine.wait("record_of", "d")["spent"] == "2"


def test_beyond_its_epsilon_a_device_refuses_all_of_a_round(engine: Engine) -> None:
    before = draw(engine, round_of(thresholds(1)))
    with pytest.raises(RefusedError) as refused:
        draw(engine, round_of(thresholds(3), 2))
    assert refused.value.code == "budget"
    record = engine.wait("record_of", "d")
    assert record["spent"] == "1" and list(record["memo"].values()) == before


def test_the_epsilon_that_was_met_first_stays(engine: Engine) -> None:
    draw(engine, round_of(thresholds(2)))
    engine.open_device("later", "here", survey("100"), os.urandom(1000).hex())
    with pytest.raises(RefusedError) as refused:
        draw(engine, round_of(thresholds(3), 2), "later")
    assert refused.value.code == "budget"


def test_an_item_that_is_asked_twice_at_once_is_paid_for_once(engine: Engine) -> None:
    [item] = thresholds(1)
    first, second = draw(engine, round_of([item, item]))
    assert first == second and engine.wait("record_of", "d")["spent"] == "1"


def test_one_item_is_drawn_by_lot_and_stays_drawn(engine: Engine) -> None:
    """All of 40 lots fall on one of two items with a chance of 2·2^-40."""
    items = thresholds(2, Fraction(1, 100))
    drawn = [draw(engine, round_of(items, number, asks="one")) for number in range(40)]
    assert all(len(reports) == 1 for reports in drawn)
    assert {reports[0]["item"] for reports in drawn} == {item.key for item in items}
    assert [draw(engine, round_of(items, number, asks="one")) for number in range(40)] == drawn


def test_what_is_sent_is_the_report_and_nothing_else(engine: Engine) -> None:
    drawn = draw(engine, round_of(thresholds(2), 7))
    sent = json.loads(engine.wait("sending_of", "d", 7, "token"))
    assert sent == {"reports-sent": 1, "survey": "s", "round": 7, "invitation": "token", "reports": drawn}
    assert [Report.of(report).form() for report in sent["reports"]] == drawn


def test_a_round_remembers_how_far_it_has_come(engine: Engine) -> None:
    draw(engine, round_of(thresholds(1)))
    engine.wait("mark_round", "d", 1, "sent")
    draw(engine, round_of(thresholds(1)))
    assert engine.wait("record_of", "d")["rounds"]["1"]["state"] == "sent"


@pytest.mark.parametrize(
    "changes",
    [
        {"survey": "another"},
        {"round-open": 2},
        {"asks": "some"},
        {"items": []},
        {"items": [{"item": {}, "people": 1}]},
        {"items": [{"item": thresholds(1)[0].form(), "people": 0}]},
        {"number": "1"},
    ],
    ids=["survey", "version", "asks", "no items", "no item", "nobody", "number"],
)
def test_a_round_that_is_none_is_refused_and_costs_nothing(engine: Engine, changes: dict[str, Any]) -> None:
    with pytest.raises(RefusedError):
        draw(engine, round_of(thresholds(1), **changes))
    assert engine.wait("record_of", "d")["spent"] == "0"


@pytest.mark.parametrize(
    "changes", [{"survey": 2}, {"id": 3}, {"id": "answers s"}, {"schema": {"columns": {}}}], ids=str
)
def test_a_survey_that_is_none_is_refused(engine: Engine, changes: dict[str, Any]) -> None:
    with pytest.raises(RefusedError):
        engine.open_device("x", "there", survey(**changes), "00")


def test_what_surveys_under_other_names_were_told_is_added_up(engine: Engine) -> None:
    draw(engine, round_of(thresholds(2)))
    for name in ("t", "u"):
        engine.open_device(name, "here", survey(id=name), os.urandom(1000).hex())
        draw(engine, round_of(thresholds(1, Fraction(1, 3)), survey=name), name)
    assert [engine.wait("elsewhere_of", name) for name in ("d", "t", "u")] == ["2/3", "7/3", "7/3"]


@pytest.mark.parametrize("epsilon", ["0", "-1", "x", 2, None])
def test_a_survey_without_an_epsilon_gets_no_report(engine: Engine, epsilon: Any) -> None:
    engine.open_device("x", "there", survey(epsilon), "00" * 100)
    with pytest.raises(RefusedError):
        draw(engine, round_of(thresholds(1)), "x")


def test_the_odds_are_those_of_the_randomizer(engine: Engine) -> None:
    [told] = engine.wait("draw_round", "d", round_of([item_of(sulq.col("sick"), SCOPE, Fraction(1))]), PERSON)
    assert told["odds"] == pytest.approx({"truth": 0.7310585786, "times": 2.718}, abs=1e-9)
