"""What numbered reports support, one report at a time: every chance is added up exactly."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sulq.errors import QueryError
from sulq.local.blocks import DesignResponse
from sulq.local.frequencies import NumberedReport
from sulq.local.hadamard import HadamardResponse
from sulq.local.kary import KaryResponse
from sulq.local.onehot import numbered_response, one_hot_response
from sulq.local.unary import UnaryResponse

RESPONSES = [KaryResponse, HadamardResponse, DesignResponse]
Make = Callable[[int, Any], NumberedReport]


def supports(response: NumberedReport) -> Any:
    """Whether each report supports each possibility."""
    return response.supporting(np.eye(response.reports, dtype=np.int64)).astype(bool)


@pytest.mark.parametrize("make", RESPONSES)
@pytest.mark.parametrize("k", [2, 3, 8, 12])
@pytest.mark.parametrize("epsilon", ["1/4", 2])
def test_a_report_supports_possibilities_exactly_as_often_as_is_said(
    make: Make, k: int, epsilon: Any
) -> None:
    response = make(k, epsilon)
    supported = supports(response)
    assert supported.shape == (response.reports, k)
    own, least, most = response.both
    for value in range(k):
        chances = [response.pmf(report, value) for report in range(response.reports)]

        def chance(flags: Any, chances: list[Fraction] = chances) -> Fraction:
            return sum((chances[report] for report in np.flatnonzero(flags)), start=Fraction(0))

        for other in range(k):
            expected = response.support.own if other == value else response.support.other
            assert chance(supported[:, other]) == expected
        for first in range(0, k - 1, 2):
            together = chance(supported[:, first] & supported[:, first + 1])
            assert together == own if value in (first, first + 1) else least <= together <= most


def test_a_long_report_must_be_worth_it() -> None:
    """At ε = 1/2 and k = 128 the bits are 0.4 % better, at ε = 5 and k = 1000 by far; 20,000 are too many."""
    assert isinstance(one_hot_response(128, "1/2"), DesignResponse)
    assert isinstance(one_hot_response(1000, 5), UnaryResponse)
    assert isinstance(one_hot_response(20_000, 1), HadamardResponse)
    assert isinstance(numbered_response(20_000, 1), HadamardResponse)


@pytest.mark.parametrize("make", [*RESPONSES, UnaryResponse])
@pytest.mark.parametrize("k", [1, 0, -3, 2.0, True, 2**20 + 1])
def test_what_is_not_a_number_of_possibilities_is_refused(make: Callable[..., Any], k: Any) -> None:
    with pytest.raises(QueryError):
        make(k, 1)


def test_an_epsilon_at_which_reports_say_nothing_is_refused_in_a_line() -> None:
    for of in (one_hot_response, numbered_response):
        with pytest.raises(QueryError, match=r"a report of epsilon below .* says nothing"):
            of(4, "1e-30")
