"""Conjunctions of few conditions: all of them, each once, with the mistakes that it makes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import sulq
from sulq.classes.base import Setting, check_size
from sulq.classes.boolean import Conjunctions, MonotoneConjunctions
from sulq.classes.small import SmallConjunctions, _Sums
from tests.classes.test_classes import SCHEMA, SETTING, people

col = sulq.col
EDGES: dict[str, list[float]] = {"age": [20, 40, 65], "income": [0.0]}
MIXED: list[Any] = ["a", "plan", "age", col("income") >= 1.5]
CLASSES: dict[str, tuple[SmallConjunctions, int]] = {
    "one condition": (SmallConjunctions(1, MIXED, edges={"age": [20, 40, 65]}), 1 + 2 + 6 + 6 + 2),
    "one condition, either way": (
        SmallConjunctions(1, MIXED, opposites=True, edges={"age": [20, 40, 65]}),
        2 + 2 + 6 + 6 + 2,
    ),
    # Within one feature two conditions add intervals: 3 of age, and nothing to three values.
    "two conditions": (
        SmallConjunctions(2, MIXED, edges={"age": [20, 40, 65]}),
        17 + 3 + 2 * 6 + 2 * 6 + 2 * 2 + 6 * 6 + 6 * 2 + 6 * 2,
    ),
    "no negations": (SmallConjunctions(2, [*"abc"], negations=False), 1 + 3 + 3),
    "no negations of numbers": (SmallConjunctions(3, ["age", "a"], negations=False, edges={"age": [50]}), 4),
    "all of three bits": (SmallConjunctions(3, [*"abc"]), 27),
    "bins": (SmallConjunctions(1, ["age", "rank"], bins=4), 1 + 2 * (3 + 2)),
    "every column": (SmallConjunctions(1, bins=2), 1 + 2 * 4 + 2 + 2 + 6 + 2),
    "three conditions and their opposites": (
        SmallConjunctions(3, ["a", "plan", "age"], opposites=True, edges={"age": [20, 65]}),
        # Conjunctions: (1 + a) · (1 + plan) · (1 + age), by conditions 1: 2, 6 and 4, age with 2: 1.
        (n := 1 + (2 + 6 + 4) + (12 + 8 + 24 + 1) + (48 + 2 + 6)) + n - (2 + 6 + 5 - 1),
    ),
}


@pytest.mark.parametrize("name", CLASSES)
def test_mistakes_are_those_that_each_hypothesis_makes(name: str) -> None:
    listed, size = CLASSES[name]
    source = people()
    truth = source.values(col("y"))
    assert listed.size(SETTING) == size
    members = [listed.hypothesis(i, SETTING) for i in range(size)]
    expected = [np.count_nonzero(source.values(member.expression) != truth) for member in members]
    assert listed.mistakes(source.values, truth, SETTING).tolist() == expected
    for member in members[:: max(1, size // 7)]:
        again = type(member).from_json(member.to_json())
        assert again == member
        assert again.describe() == member.describe() != ""


@pytest.mark.parametrize("name", CLASSES)
def test_no_two_hypotheses_are_the_same(name: str) -> None:
    listed, size = CLASSES[name]
    source = people(4000)
    said = {source.values(listed.hypothesis(i, SETTING).expression).tobytes() for i in range(size)}
    assert len(said) == size


def test_blocks_of_rows_are_added_up(monkeypatch: pytest.MonkeyPatch) -> None:
    listed, _ = CLASSES["three conditions and their opposites"]
    source = people(1000)
    truth = source.values(col("y"))
    whole = listed.mistakes(source.values, truth, SETTING)
    add, blocks = _Sums.add, []

    def counted(self: _Sums, codes: Any, labels: Any) -> None:
        blocks.append(len(labels))
        add(self, codes, labels)

    monkeypatch.setattr("sulq.classes.small.AT_ONCE", 1)
    monkeypatch.setattr(_Sums, "add", counted)
    assert (listed.mistakes(source.values, truth, SETTING) == whole).all()
    assert blocks == [256, 256, 256, 232]


def test_with_as_many_conditions_as_features_they_are_all_conjunctions() -> None:
    for small, whole in (
        (SmallConjunctions(4, [*"abcd"], negations=False), MonotoneConjunctions("abcd")),
        (SmallConjunctions(4, [*"abcd"]), Conjunctions("abcd")),
    ):
        names = [
            {"".join(sorted(listed.hypothesis(i, SETTING).describe())) for i in range(listed.size(SETTING))}
            for listed in (small, whole)
        ]
        assert names[0] == names[1]


def test_the_size_is_known_without_listing_them() -> None:
    schema = sulq.Schema({f"x{i}": sulq.Boolean() for i in range(200)} | {"y": sulq.Boolean()})
    expected = sum(math.comb(200, k) * 2**k for k in range(6))
    assert SmallConjunctions(5).size(Setting(schema, col("y"))) == expected
    with pytest.raises(sulq.QueryError, match=f"SmallConjunctions are {expected} hypotheses here"):
        check_size(SmallConjunctions(5), Setting(schema, col("y")))


def test_the_column_that_says_whose_row_it_is_is_not_asked_about() -> None:
    schema = sulq.Schema(dict(SCHEMA), sulq.Unit("rank", 2))
    listed, setting = SmallConjunctions(1, bins=2), Setting(schema, col("y"))
    told = {listed.hypothesis(i, setting).describe() for i in range(listed.size(setting))}
    assert any("age" in said for said in told)
    assert not any("rank" in said for said in told)


def test_a_category_of_one_value_has_nothing_to_ask() -> None:
    schema = sulq.Schema(dict(SCHEMA) | {"plan": sulq.Category(["free"], missing="free")})
    setting = Setting(schema, col("y"))
    assert SmallConjunctions(2, ["plan", "a"]).size(setting) == 3
    with pytest.raises(sulq.QueryError, match="no features"):
        SmallConjunctions(2, ["plan"]).size(setting)


@pytest.mark.parametrize(
    ("listed", "message"),
    [
        (SmallConjunctions(0), "most must be a whole number from 1"),
        (SmallConjunctions(10**9), "most must be a whole number from 1 to 64"),
        (SmallConjunctions(bins=10**9), "bins must be a whole number from 1 to 8192"),
        (SmallConjunctions(True), "most must be a whole number from 1"),
        (SmallConjunctions(bins=0), "bins must be a whole number from 1"),
        (SmallConjunctions(2, []), "no features"),
        (SmallConjunctions(2, ["rank"], bins=1), "no columns"),
        (SmallConjunctions(2, ["a", "a"]), "named twice"),
        (SmallConjunctions(2, ["a", "y"]), "own features"),
        (SmallConjunctions(2, ["a", ~col("y")]), "own features"),
        (SmallConjunctions(2, [col("age") + 1]), "not true or false"),
        (SmallConjunctions(2, ["a"], edges={"age": [3]}), "'age' is none"),
        (SmallConjunctions(2, ["plan"], edges={"plan": [3]}), "'plan' is none"),
        (SmallConjunctions(2, ["age"], edges={"age": [3, 2]}), "increasing"),
        (SmallConjunctions(2, ["age"], bins=1000), "hypotheses: ask for smaller"),
    ],
)
def test_what_makes_no_sense_is_refused(listed: SmallConjunctions, message: str) -> None:
    wide = sulq.Schema(dict(SCHEMA) | {"age": sulq.Integer(0, 10**6)})
    with pytest.raises(sulq.QueryError, match=message):
        check_size(listed, Setting(wide, col("y")))


def test_the_best_is_chosen_under_a_curator() -> None:
    """It makes no mistakes on 8000 rows and every other hundreds: another has a chance below 1e-20."""
    rng = np.random.default_rng(3)
    age, plan = rng.integers(0, 100, 8000), rng.choice(["free", "paid"], 8000)
    plans = sulq.Category(["free", "paid"], missing="free")
    kinds = {"age": sulq.Integer(0, 100), "plan": plans, "y": sulq.Boolean()}
    both = (age >= 25) & (plan == "paid")
    for label, said in ((both, "age >= 25 and plan == paid"), (~both, "not (age >= 25 and plan == paid)")):
        rows = sulq.open({"age": age, "plan": plan, "y": label}, kinds)
        learner = sulq.Select(SmallConjunctions(2, opposites=True, edges={"age": [25, 50, 75]}), "y")
        assert learner.learn(rows.curator(epsilon=1)).describe() == said
