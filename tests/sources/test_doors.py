"""The doors from a source to its oracles: a budget is given as one thing, or by its numbers, but once."""

from __future__ import annotations

from typing import Any

import pytest

import sulq

PEOPLE = sulq.open({"sick": [True, False] * 50}, {"sick": sulq.Boolean()})


@pytest.mark.parametrize(
    ("budget", "numbers"),
    [
        (sulq.PureDP(1), {"epsilon": 1}),
        (sulq.ZCDP("0.1"), {"rho": "0.1"}),
        (sulq.ApproxDP(1, "1e-6"), {"epsilon": 1, "delta": "1e-6"}),
    ],
)
def test_a_budget_may_be_given_as_one_thing(budget: Any, numbers: dict[str, Any]) -> None:
    one, other = PEOPLE.curator(budget), PEOPLE.curator(**numbers)
    assert (one.promise, one.offer.calibration, one.ledger.total) == (
        other.promise,
        other.offer.calibration,
        other.ledger.total,
    )


def test_a_number_in_the_place_of_a_budget_is_an_epsilon() -> None:
    assert PEOPLE.curator(1).promise == PEOPLE.curator(epsilon=1).promise == "ε = 1 (pure)"
    assert PEOPLE.curator(1, "1e-6").promise == "(ε, δ) = (1, 1e-06)"


@pytest.mark.parametrize(
    ("given", "numbers", "complaint"),
    [
        (sulq.PureDP(1), {"epsilon": 1}, r"give ε = 1 \(pure\) alone, without epsilon"),
        (sulq.PureDP(1), {"delta": "1e-6"}, "alone, without delta"),
        (sulq.ZCDP(1), {"epsilon": 1, "rho": 1}, "alone, without epsilon and rho"),
        (1, {"epsilon": 2}, "epsilon is stated twice: 1 and 2; give it once"),
        (None, {}, "got nothing"),
    ],
)
def test_a_budget_is_stated_once(given: Any, numbers: dict[str, Any], complaint: str) -> None:
    with pytest.raises(sulq.SulqError, match=complaint):
        PEOPLE.curator(given, **numbers)


def test_the_papers_calibrations_take_budgets_too() -> None:
    by_budget = PEOPLE.curator(sulq.PureDP(1), calibration="sulq-laplace", queries=10)
    assert by_budget.promise == PEOPLE.curator(epsilon=1, calibration="sulq-laplace", queries=10).promise
    with pytest.raises(sulq.QueryError, match="needs epsilon"):
        PEOPLE.curator(sulq.ZCDP(1), calibration="sulq-gaussian", queries=10)


@pytest.mark.parametrize("method", ["bad", None, ["best"]], ids=str)
def test_a_crowd_refuses_at_once_a_method_that_there_is_not(method: Any) -> None:
    with pytest.raises(sulq.QueryError, match="a method is best, printed or paper, not"):
        PEOPLE.crowd(epsilon=1, method=method)


def test_a_crowd_takes_a_pure_budget_and_no_other() -> None:
    assert PEOPLE.crowd(sulq.PureDP("1/2")).epsilon == PEOPLE.crowd("1/2").epsilon
    for budget in (sulq.ZCDP(1), sulq.ApproxDP(1, "1e-6")):
        with pytest.raises(sulq.SulqError, match=r"this promise is pure: give a number, or PureDP\(…\)"):
            PEOPLE.crowd(budget)
