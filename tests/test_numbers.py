"""Numbers as people write them: read in one place, refused in one line."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sulq
from sulq.errors import SchemaError
from sulq.numbers import fraction, rational, whole


@pytest.mark.parametrize("value", [True, 2.0, "2", None, np.bool_(True), np.float64(2)])
def test_what_is_no_integer_is_no_whole_number(value: Any) -> None:
    with pytest.raises(sulq.QueryError, match="k must be a whole number from 1, got"):
        whole("k", value, 1)


def test_whole_numbers_of_numpy_become_pythons() -> None:
    assert type(whole("k", np.int64(2), 1, 2)) is int


@pytest.mark.parametrize("value", [0, 4])
def test_a_whole_number_beyond_its_bounds_is_refused_with_the_bounds(value: int) -> None:
    with pytest.raises(SchemaError, match=f"k must be a whole number from 1 to 3, got {value}"):
        whole("k", value, 1, 3, error=SchemaError)


@pytest.mark.parametrize("value", [0, 1, -1, "nan", "inf", "much", "1/0", "1e9999"])
def test_a_chance_lies_above_0_and_is_less_than_1(value: Any) -> None:
    with pytest.raises(sulq.QueryError, match="beta must lie above 0 and be less than 1, got"):
        rational("beta", value, below=1)


@pytest.mark.parametrize("value", ["nan", "much", "1/0", "1e9999"])
def test_what_says_no_number_is_no_fraction(value: str) -> None:
    with pytest.raises(sulq.QueryError, match="rate must be a number, got"):
        fraction("rate", value)


def test_a_fraction_may_be_nothing_or_negative() -> None:
    assert [fraction("rate", value) for value in (0, -0.1, "1/3")] == [0, Fraction(-1, 10), Fraction(1, 3)]
