"""Budgets and calibrations are plain data too: an offer tells them to whoever asks."""

from __future__ import annotations

import json
import pickle
from fractions import Fraction
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

import sulq
from sulq.privacy.budget import BUDGETS, budget_of
from sulq.privacy.calibration import Gaussian, Laplace
from sulq.privacy.reading import CALIBRATIONS, calibration_of
from sulq.privacy.sulq import SulqGaussian, SulqLaplace
from tests.effort import examples
from tests.forms import check_reader, json_values, plain, refusal, tampered

positive = st.fractions(Fraction(1, 1000), 100)
budgets = st.one_of(
    st.builds(sulq.PureDP, positive),
    st.builds(sulq.ZCDP, positive),
    st.builds(sulq.ApproxDP, positive, st.fractions(Fraction(1, 10**9), Fraction(1, 2))),
)
calibrations = st.one_of(
    budgets.map(lambda budget: (Laplace if budget.unit == "epsilon" else Gaussian)(budget)),
    st.builds(SulqLaplace, positive, st.integers(1, 10**6)),
    st.builds(SulqGaussian, st.sampled_from(["1/3", 1]), st.just("1e-6"), st.integers(1, 10**6)),
)


@settings(max_examples=examples(60))
@given(budgets)
def test_budgets_survive_the_wire(budget: Any) -> None:
    assert plain(budget.form)
    for again in (budget_of(json.loads(json.dumps(budget.form))), pickle.loads(pickle.dumps(budget))):
        assert again == budget and again.total == budget.total and again.unit == budget.unit


@settings(max_examples=examples(60))
@given(calibrations)
def test_calibrations_survive_the_wire(calibration: Any) -> None:
    assert plain(calibration.form)
    for again in (
        calibration_of(json.loads(json.dumps(calibration.form))),
        pickle.loads(pickle.dumps(calibration)),
    ):
        assert again == calibration and again.describe() == calibration.describe()
        assert (again.total, again.unit) == (calibration.total, calibration.unit)


def test_the_calibration_of_a_curator_survives_the_wire() -> None:
    people = sulq.randhie()
    for settings_ in ({"epsilon": 1}, {"rho": "1/8"}, {"epsilon": 1, "delta": "1e-6"}):
        calibration = people.curator(**settings_).offer.calibration
        assert calibration_of(calibration.form) == calibration


def test_the_names_on_the_wire_are_those_of_version_1() -> None:
    assert set(BUDGETS) == {"pure", "zcdp", "approximate"}
    assert set(CALIBRATIONS) == {"laplace", "gaussian", "sulq laplace", "sulq gaussian"}
    assert sulq.PureDP("1/3").form == {"is": "pure", "epsilon": "1/3"}
    assert Laplace(sulq.PureDP(1)).form == {"is": "laplace", "budget": {"is": "pure", "epsilon": "1"}}


@pytest.mark.parametrize(
    ("form", "said"),
    [
        (None, "None is not a known calibration; known are gaussian, laplace, sulq gaussian, sulq laplace"),
        (
            {"is": "laplace"},
            "the calibration 'laplace' has is, budget: budget is missing",
        ),
        # What is promised in words follows from what may be spent: a form cannot say one and mean another.
        (
            {"is": "laplace", "budget": {"is": "pure", "epsilon": "100"}, "promise": "ε = 1 (pure)"},
            "the calibration 'laplace' has is, budget: 'promise' is not known",
        ),
        (
            {"is": "laplace", "budget": {"is": "zcdp", "rho": "1"}},
            "ρ = 1 (zCDP) is spent in rho, and this calibration spends epsilon",
        ),
        ({"is": "gaussian", "budget": {"is": "pure", "epsilon": "1"}}, "is spent in epsilon"),
        (
            {"is": "laplace", "budget": {"is": "pure", "epsilon": 1}},
            'epsilon is an exact number as a text, like "1/3", not 1',
        ),
        (
            {"is": "sulq laplace", "epsilon": "1", "queries": 0},
            "must be a whole number from 1, got 0",
        ),
    ],
)
def test_what_is_no_calibration_is_refused_in_one_line(form: Any, said: str) -> None:
    assert said in refusal(calibration_of, form)


@settings(max_examples=examples(150))
@given(st.one_of(json_values, tampered(st.one_of(budgets, calibrations).map(lambda made: made.form))))
def test_whatever_comes_is_read_or_refused(form: Any) -> None:
    for read in (budget_of, calibration_of):
        check_reader(lambda text, read=read: read(json.loads(text)), lambda made: made.form, form)
