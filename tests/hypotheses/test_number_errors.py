"""Errors of a number: every figure lies between its bounds, whatever the noise was."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pandas as pd
import pytest

import sulq
from sulq.hypotheses.number_errors import NumberErrors
from sulq.talk.answers import Answer
from sulq.talk.laws import Exactly, Noise, PlainLaw

LAWS = {
    "exact": Exactly(),
    "little": Noise("laplace", Fraction(1, 10), Fraction(1, 1000), numbers=1),
    "much": Noise("laplace", Fraction(40), Fraction(1), numbers=1),
}


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_every_figure_lies_between_its_bounds(law: PlainLaw) -> None:
    values = (-900.0, 0.0, 2.0, 900.0)
    for given in itertools.product(values, repeat=5):
        for metric in NumberErrors(*(Answer(value, law) for value in given)).metrics().values():
            assert metric.low <= metric.value <= metric.high, given
            assert math.isfinite(metric.value), given


def test_no_rows_that_noise_hides_make_no_mean_larger_than_its_sum() -> None:
    law = LAWS["little"]
    errors = NumberErrors(*(Answer(value, law) for value in (-50.0, 20.0, 12.0, 90.0, 10.0)))
    assert errors.mean_squared.low <= errors.mean_squared.value == 20


def test_what_is_not_computed_is_not_said_to_be_nothing() -> None:
    people = sulq.open({"a": [0, 1] * 20, "x": [1.0, 3.0] * 20}, {"a": sulq.Boolean(), "x": sulq.Real(0, 4)})
    evaluation = sulq.Evaluate(sulq.Additive("x", ["a"]).learn(people.exact())).learn(people.exact())
    assert [metric.sampling for metric in evaluation.metrics().values()] == [None] * 3
    assert pd.isna(evaluation.to_frame("pandas")["sampling"]).all()
    assert evaluation.to_frame("polars")["sampling"].null_count() == 3
