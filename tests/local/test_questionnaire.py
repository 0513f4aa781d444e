"""Questionnaires: what devices are asked is plain data, and says all that a device needs to know."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sulq
from sulq.errors import QueryError
from sulq.local import Ball, Box, Flag, Interval, Item, Keyed, OneOf, Questionnaire, item_of
from sulq.local.item import fits
from sulq.local.reading import randomizer_of, shape_of
from sulq.local.shapes import Shape
from sulq.queries.scope import Scope
from tests.oracles.test_crowd import PEOPLE, QUERIES, SCHEMA

SCOPE = Scope(SCHEMA)
PARTS = {f"{name} {i}": part for name, query in QUERIES.items() for i, part in enumerate(query.parts)}
ITEMS = [
    item_of(part, SCOPE, Fraction(epsilon), rows, method)
    for part in PARTS.values()
    for epsilon, rows, method in (("1/3", 1, "best"), ("2", 1, "paper"), ("5/2", 4, "best"))  # type: ignore[misc]
]
ITEM = item_of(sulq.col("age"), SCOPE, Fraction(1))
SHAPES: list[Shape] = [Flag(), OneOf(7), Interval(-0.1, 3), Box((0, -1e-300), (0.1, 1e300)), Ball(4, 0.3)]
SHAPES += [Keyed(3, Box((0.0,), (1 / 3,)))]


def test_every_item_is_the_same_after_json_and_after_pickling() -> None:
    for item in ITEMS:
        for again in (Item.from_json(item.to_json()), Item.of(item.form()), pickle.loads(pickle.dumps(item))):
            assert again == item and again.key == item.key and hash(again) == hash(item)
            assert again.randomizer == item.randomizer
            assert (again.rows, again.method, again.width) == (item.rows, item.method, item.width)
    assert len({item.key for item in ITEMS}) == len({item.to_json() for item in ITEMS}) > len(PARTS)


def test_items_that_differ_in_anything_have_other_names() -> None:
    some = sulq.count(where=sulq.col("sick"), by="town").parts[0]
    others = sulq.count(where=~sulq.col("sick"), by="town").parts[0]
    one = Fraction(1)
    items = [item_of(some, SCOPE, one), item_of(others, SCOPE, one), item_of(some, SCOPE, one / 2)]
    items += [item_of(some, SCOPE, one, 2), item_of(some, SCOPE, one, 1, "paper")]
    assert len(set(items)) == 5


def test_another_process_draws_by_the_same_randomizers() -> None:
    """Randomizers follow from shape, ε and method: they are not sent."""
    code = (
        "import json, sys; from sulq.local import Item\n"
        "print(json.dumps([repr(Item.of(form).randomizer) for form in json.load(sys.stdin)]))"
    )
    sent = json.dumps([item.form() for item in ITEMS])
    answer = subprocess.run(
        [sys.executable, "-c", code], input=sent, text=True, capture_output=True, check=True
    )
    assert json.loads(answer.stdout) == [repr(item.randomizer) for item in ITEMS]


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_an_item_has_as_many_numbers_as_the_expression_and_fits_its_schema(part: sulq.Node) -> None:
    for method in ("best", "paper"):
        item = item_of(part, SCOPE, Fraction(1), method=method)  # type: ignore[arg-type]
        assert item.width == SCOPE.number(part).width
        assert fits(item, SCOPE)
        assert randomizer_of(item.form()["randomizer"]) == item.randomizer


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_shape_is_the_same_after_json(shape: Shape) -> None:
    assert shape_of(json.loads(json.dumps(shape.form))) == shape


WRONG_SHAPES: list[Any] = [
    None,
    "flag",
    {},
    {"is": "cube"},
    {"is": "flag", "size": 2},
    {"is": "one of"},
    {"is": "one of", "size": 0},
    {"is": "one of", "size": True},
    {"is": "one of", "size": 2.0},
    {"is": "interval", "low": "0", "high": 1},
    {"is": "interval", "low": 0, "high": 1, "middle": 0},
    {"is": "box", "lows": 0, "highs": 1},
    {"is": "box", "lows": [None], "highs": [1]},
    {"is": "box", "lows": [False], "highs": [1]},
    {"is": "ball", "size": -1, "norm": 1},
    {"is": "keyed", "size": 2, "box": {"is": "flag"}},
]


@pytest.mark.parametrize("form", WRONG_SHAPES, ids=str)
def test_what_is_no_shape_is_refused(form: Any) -> None:
    with pytest.raises(QueryError, match=r"shape|box|size|low|high|norm"):
        shape_of(form)


SICK = sulq.col("sick").form
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"item": 2}, "version"),
    ({"epsilon": 1}, "epsilon is an exact number as a text"),
    ({"item": None}, "version"),
    ({"more": 1}, "an item has"),
    ({"epsilon": "0"}, "epsilon must be"),
    ({"epsilon": None}, "epsilon is an exact number as a text"),
    ({"epsilon": "1e-30"}, "says nothing"),
    ({"rows": 0}, "number of rows"),
    ({"schema": 7}, "hash of a schema"),
    ({"rows": True}, "number of rows"),
    ({"method": "worst"}, "known are best, paper, tight"),
    ({"method": "printed"}, "known are best, paper, tight"),
    ({"method": []}, "known are best, paper, tight"),
    ({"randomizer": "nothing at all"}, "is reported by a window of cells here"),
    ({"shape": {"is": "flag"}, "method": "best"}, "is reported by a randomized response here"),
    ({"shape": {"is": "flag"}}, "'tight' is not a known method; known are best, paper"),
    ({"shape": {"is": "interval", "low": 1, "high": 0}}, "bounds in order"),
    ({"shape": {"is": "one of", "size": 3}, "method": "best"}, "groups"),
    ({"shape": {"is": "ball", "size": 10**9, "norm": 1}}, "size"),
    ({"shape": 5}, "shape"),
    ({"value": None}, "a value to report"),
    ({"value": "age"}, "row expression"),
    ({"value": {"node": "Nonsense"}}, "row expression"),
    ({"group": SICK}, "groups"),
    ({"condition": SICK}, "only such has a condition"),
]


@pytest.mark.parametrize(("change", "refusal"), WRONG, ids=lambda value: str(value)[:40])
def test_what_is_no_item_is_refused_in_one_line(change: dict[str, Any], refusal: str) -> None:
    with pytest.raises(QueryError, match=refusal):
        Item.from_json(json.dumps(ITEM.form() | change))
    with pytest.raises(QueryError, match="not the JSON of an item"):
        Item.from_json("[" * 100_000)


def test_a_python_function_is_not_sent() -> None:
    old = sulq.row_function(lambda rows: rows["age"] > 50, ["age"], low=0, high=1)
    item = item_of(old, SCOPE, Fraction(1))
    with pytest.raises(QueryError, match="in the process that made it"):
        Item.from_json(item.to_json())


def test_the_questionnaire_of_a_round_says_whom_it_needs_and_is_the_same_after_json() -> None:
    crowd = PEOPLE.crowd(epsilon=2)
    round_ = sulq.Round(list(QUERIES.values()), share="1/2")
    questionnaire = crowd.questionnaire(round_)
    assert sum(questionnaire.people) == crowd.cost(round_)
    assert len(questionnaire.items) == len(PARTS) - 2, "whether a row is a row needs nobody"
    assert crowd.left == PEOPLE.rows, "nobody was asked"
    for again in (
        Questionnaire.from_json(questionnaire.to_json()),
        Questionnaire.of(questionnaire.form()),
        pickle.loads(pickle.dumps(questionnaire)),
    ):
        assert again == questionnaire


WRONG_QUESTIONNAIRES: list[tuple[Any, str]] = [
    ({"questionnaire": 2, "items": [], "people": []}, "version"),
    ({"questionnaire": 1, "items": []}, "a questionnaire has"),
    ({"questionnaire": 1, "items": {}, "people": []}, "a list of items"),
    ({"questionnaire": 1, "items": [ITEM.form()], "people": []}, "for each the number of people"),
    ({"questionnaire": 1, "items": [ITEM.form()], "people": [0]}, "the number of people must be"),
    ({"questionnaire": 1, "items": [ITEM.form()], "people": ["9"]}, "the number of people must be"),
    ({"questionnaire": 1, "items": [5], "people": [9]}, "version"),
]


@pytest.mark.parametrize(("form", "refusal"), WRONG_QUESTIONNAIRES, ids=lambda value: str(value)[:60])
def test_what_is_no_questionnaire_is_refused_in_one_line(form: Any, refusal: str) -> None:
    with pytest.raises(QueryError, match=refusal):
        Questionnaire.from_json(json.dumps(form))


def test_a_tally_or_a_report_on_another_item_is_refused() -> None:
    other = item_of(sulq.col("visits"), SCOPE, Fraction(1))
    tally = other.randomizer.tally(np.array([True]), other.key)
    with pytest.raises(QueryError, match="of another item"):
        ITEM.estimate(tally)
