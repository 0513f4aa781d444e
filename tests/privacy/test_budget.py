"""Budgets are exact rational numbers, and refuse what is not one."""

from __future__ import annotations

import pickle
from fractions import Fraction
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sulq.errors import QueryError, SulqError
from sulq.numbers import rational
from sulq.privacy.budget import ZCDP, ApproxDP, Budget, PureDP, budget, budget_of
from sulq.privacy.composition import cost_of_pure, parallel, sequential
from sulq.privacy.conversion import delta_of
from sulq.privacy.prices import Accounting

BAD = [
    0,
    -1,
    0.0,
    -0.5,
    float("nan"),
    float("inf"),
    "abc",
    "",
    "0",
    "nan",
    "1/0",
    "-1/3",
    True,
    None,
    [1],
    1j,
]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"epsilon": "1e-500"}, "epsilon must be at least 1e-50, got '1e-500'"),
        ({"rho": "1e-51"}, "rho must be at least 1e-50, got '1e-51'"),
        ({"epsilon": "1e-500", "delta": "1e-6"}, "epsilon must be at least 1e-50, got '1e-500'"),
        ({"epsilon": 1, "delta": "1e-400"}, "delta must be at least 1e-300, got '1e-400'"),
        (
            {"epsilon": "1e-50", "delta": "1e-300"},
            r"no share of \(ε, δ\) = \(1e-50, 1e-300\) buys an answer: take a larger epsilon or delta",
        ),
    ],
)
def test_a_budget_so_small_that_no_share_of_it_buys_an_answer_is_refused_at_once(
    given: dict[str, Any], says: str
) -> None:
    with pytest.raises(QueryError, match=f"^{says}$"):
        budget(**given)


@pytest.mark.parametrize(
    ("given_as", "number"),
    [
        (1, Fraction(1)),
        (0.1, Fraction(1, 10)),
        ("0.1", Fraction(1, 10)),
        ("1/3", Fraction(1, 3)),
        ("1e-6", Fraction(1, 10**6)),
        (1e-6, Fraction(1, 10**6)),
        (Fraction(2, 7), Fraction(2, 7)),
        (np.float64(0.1), Fraction(1, 10)),
        (np.int64(3), Fraction(3)),
    ],
)
def test_a_number_means_what_it_says(given_as: object, number: Fraction) -> None:
    assert PureDP(given_as).epsilon == number  # type: ignore[arg-type]
    assert ZCDP(given_as).rho == number  # type: ignore[arg-type]


@given(st.floats(min_value=1e-300, max_value=1e300))
def test_a_float_is_its_shortest_decimal_and_comes_back(value: float) -> None:
    number = rational("x", value)
    assert number == Fraction(repr(value))
    assert float(number) == value


@pytest.mark.parametrize("bad", BAD)
def test_a_budget_that_is_no_positive_number_is_refused_by_name(bad: object) -> None:
    for name, make in [("epsilon", PureDP), ("rho", ZCDP)]:
        with pytest.raises(SulqError, match=f"{name} must be a positive, finite number, got") as refusal:
            make(bad)  # type: ignore[arg-type]
        assert repr(bad) in str(refusal.value)


@pytest.mark.parametrize("bad", [*BAD, 1, 1.5, "1"])
def test_delta_lies_strictly_between_zero_and_one(bad: object) -> None:
    with pytest.raises(SulqError, match="delta must be"):
        ApproxDP(1, bad)  # type: ignore[arg-type]


def test_numbers_too_large_for_a_float_are_refused() -> None:
    with pytest.raises(SulqError, match="finite"):
        PureDP(10**400)


def test_ten_tenths_make_one() -> None:
    assert sequential([rational("epsilon", 0.1)] * 10) == PureDP(1).total
    assert reduce(add, [0.1] * 10) != 1.0


def test_disjoint_parts_cost_the_dearest() -> None:
    assert parallel([Fraction(1, 3), Fraction(1, 2), Fraction(1, 6)]) == Fraction(1, 2)
    assert sequential([]) == parallel([]) == 0


def test_a_pure_mechanism_costs_less_than_half_its_square_in_rho() -> None:
    assert cost_of_pure(Fraction(1, 3), "epsilon") == Fraction(1, 3)
    assert cost_of_pure(Fraction(1, 3), "rho", printed=True) == Fraction(1, 18)
    assert cost_of_pure(Fraction(1, 3), "rho") < Fraction(1, 18)


@pytest.mark.parametrize(
    ("made", "unit", "words"),
    [
        (PureDP(1), "epsilon", "ε = 1 (pure)"),
        (PureDP("1/3"), "epsilon", "ε = 1/3 (pure)"),
        (PureDP(Fraction(10**20 + 1, 3 * 10**20)), "epsilon", "ε = 0.333333 (pure)"),
        (ZCDP(0.1), "rho", "ρ = 0.1 (zCDP)"),
        (ApproxDP(1, 1e-6), "rho", "(ε, δ) = (1, 1e-06)"),
    ],
)
def test_a_budget_knows_its_unit_and_describes_itself(made: Budget, unit: str, words: str) -> None:
    assert made.unit == unit
    assert made.describe() == words


def test_the_total_of_an_approximate_budget_keeps_its_promise_and_wastes_little() -> None:
    promise = ApproxDP("1/2", "1e-9", "zcdp")
    assert delta_of(promise.total, promise.epsilon) <= promise.delta
    assert delta_of(promise.total * Fraction(1001, 1000), promise.epsilon) > promise.delta


def test_a_budget_without_an_accounting_in_its_form_is_of_an_earlier_version() -> None:
    form = {"is": "approximate", "epsilon": "1", "delta": "1/1000000"}
    assert budget_of(form) == ApproxDP(1, "1e-6", "zcdp") != ApproxDP(1, "1e-6")
    assert ApproxDP(1, "1e-6", "zcdp").form == form
    assert ApproxDP(1, "1e-6").form == form | {"accounting": "tight"}


@pytest.mark.parametrize("accounting", ["tight", "gaussian", "zcdp"])
def test_every_accounting_comes_back_from_its_form(accounting: Accounting) -> None:
    made = ApproxDP(1, "1e-6", accounting)
    assert budget_of(made.form) == made
    assert budget_of(made.form).total == made.total


def test_an_unknown_accounting_is_refused() -> None:
    with pytest.raises(SulqError, match="accounting is one of tight, gaussian, zcdp, not 'renyi'"):
        ApproxDP(1, "1e-6", "renyi")  # type: ignore[arg-type]
    with pytest.raises(SulqError, match="accounting is one of tight, gaussian, zcdp"):
        budget_of({"is": "approximate", "epsilon": "1", "delta": "1/8", "accounting": ["tight"]})


def test_keywords_name_the_budget() -> None:
    assert budget(epsilon=0.5) == PureDP("1/2")
    assert budget(rho=0.5) == ZCDP("1/2")
    assert budget(epsilon=1, delta=1e-6) == ApproxDP(1, "1e-6")


@pytest.mark.parametrize(
    ("keywords", "given_words"),
    [
        ({}, "nothing"),
        ({"delta": 0.1}, "delta"),
        ({"epsilon": 1, "rho": 1}, "epsilon and rho"),
        ({"delta": 0.1, "rho": 1}, "delta and rho"),
        ({"epsilon": 1, "delta": 0.1, "rho": 1}, "epsilon and delta and rho"),
    ],
)
def test_other_combinations_of_keywords_are_refused(keywords: dict[str, float], given_words: str) -> None:
    with pytest.raises(SulqError, match=f"got {given_words}$"):
        budget(**keywords)


@pytest.mark.parametrize("made", [PureDP(0.1), ZCDP(0.1), ApproxDP(1, 1e-6)])
def test_a_budget_is_a_value(made: Budget) -> None:
    again = pickle.loads(pickle.dumps(made))
    assert again == made
    assert hash(again) == hash(made)
    assert again.total == made.total
    with pytest.raises(AttributeError):
        made.total = Fraction(10)  # type: ignore[misc]
