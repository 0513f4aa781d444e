"""Numbers of few values are told by one bit where that is best, and all others by windows."""

from __future__ import annotations

from fractions import Fraction

import pytest

import sulq
from sulq.local import OneBitReport, WindowReport
from sulq.local.few_values import takes_few_values
from sulq.local.item import item_of
from sulq.queries.scope import Scope

SCHEMA = sulq.Schema(
    {
        "y": sulq.Boolean(),
        "town": sulq.Category(["a", "b"]),
        "age": sulq.Integer(0, 120),
        "pay": sulq.Real(0, 9),
    }
)
SCOPE = Scope(SCHEMA)
Y, AGE, PAY = sulq.col("y"), sulq.col("age"), sulq.col("pay")
FEW = [2 * Y - 1, 1.75 * (Y & (AGE > 5)) - 0.75 * (~Y & (AGE > 5)), 3 * (sulq.col("town") == "a") + Y]
MANY = [AGE, AGE - PAY, sulq.where(Y, AGE, 0), AGE * Y, 2 * Y + PAY]


@pytest.mark.parametrize("number", FEW, ids=str)
def test_numbers_made_of_truth_values_are_told_by_one_bit_up_to_where_windows_are_better(
    number: sulq.Node,
) -> None:
    assert takes_few_values(number, SCOPE)
    assert isinstance(item_of(number, SCOPE, Fraction(1)).randomizer, OneBitReport)
    assert item_of(number, SCOPE, Fraction(1)).form()["method"] == "best"
    assert isinstance(item_of(number, SCOPE, Fraction(2)).randomizer, WindowReport)


@pytest.mark.parametrize("number", MANY, ids=str)
def test_other_numbers_are_told_by_windows(number: sulq.Node) -> None:
    assert not takes_few_values(number, SCOPE)
    for epsilon in (1, 2):
        assert isinstance(item_of(number, SCOPE, Fraction(epsilon)).randomizer, WindowReport)


def test_the_plan_with_wrong_labels_needs_no_more_people_than_one_bit_does() -> None:
    schema = sulq.Schema({name: sulq.Boolean() for name in ("x0", "x1", "x2", "x3", "y")})
    learner = sulq.Conjunction("y", error=Fraction(1, 10))
    assert sulq.plan(learner, schema, epsilon=1, model="crowd", noise_rate=0.3).rows.tight == 913_324
