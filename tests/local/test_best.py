"""The best randomizer is the one with the least variance, and the paper's can be had by name."""

from __future__ import annotations

import math
from typing import Any

import pytest

from sulq.errors import QueryError
from sulq.local.best import best_randomizer
from sulq.local.blocks import DesignResponse
from sulq.local.hadamard import HadamardResponse
from sulq.local.kary import KaryResponse
from sulq.local.laplace import LaplaceReport
from sulq.local.onebit import OneBitReport
from sulq.local.paper import PaperReport
from sulq.local.piecewise import PiecewiseReport
from sulq.local.shapes import Ball, Box, Flag, Interval, Keyed, OneOf, Shape
from sulq.local.unary import UnaryResponse
from sulq.local.window import WindowReport

SHAPES: list[Shape] = [
    Flag(),
    OneOf(1),
    OneOf(2),
    OneOf(300),
    Interval(-1, 1),
    Interval(2, 2),
    Box((0, 0), (1, 5)),
    Ball(4, 2.5),
    Keyed(1, Box((-1,), (1,))),
    Keyed(6, Box((0, 0), (1, 5))),
]
EPSILONS: list[Any] = ["1/10", 1, 2, 5]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_best_keeps_to_epsilon_and_is_better_than_the_papers(shape: Shape, epsilon: Any) -> None:
    best, paper = (best_randomizer(shape, epsilon, method) for method in ("best", "paper"))
    asked = float(epsilon) if epsilon != "1/10" else 0.1
    assert 0.999 * asked <= best.epsilon <= asked
    assert paper.epsilon == asked
    assert best.variance(1) <= paper.variance(1) or isinstance(shape, Keyed)


@pytest.mark.parametrize("k", [2, 4, 20, 128, 3000])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_no_other_response_is_clearly_better_for_rare_possibilities(k: int, epsilon: Any) -> None:
    best: Any = best_randomizer(OneOf(k), epsilon)
    others = [make(k, epsilon) for make in (KaryResponse, HadamardResponse, DesignResponse, UnaryResponse)]
    others.append(UnaryResponse(k, epsilon, optimised=True))
    assert best.variance(1, 0) <= 1.06 * min(other.variance(1, 0) for other in others)


@pytest.mark.parametrize("epsilon", ["1/10", 1, "1.2", "1.4", 3, 6])
def test_a_number_is_reported_in_the_way_with_the_least_worst_variance(epsilon: Any) -> None:
    best, printed = (best_randomizer(Interval(-2, 2), epsilon, method) for method in ("best", "printed"))
    ways = [way(-2, 2, epsilon) for way in (OneBitReport, PiecewiseReport, LaplaceReport)]
    assert printed.variance(1) == min(way.variance(1) for way in ways)
    # One bit stays where a window would be better by less than a twentieth.
    assert best.variance(1) <= printed.variance(1)
    assert isinstance(best, OneBitReport if epsilon == "1/10" else WindowReport)


def test_the_variances_are_the_ones_in_the_literature() -> None:
    """Of numbers in [−1, 1], worst case; with a = e^(ε/2), c = e^ε."""
    for epsilon in (0.5, 1.0, 3.0):
        a, c = math.exp(epsilon / 2), math.exp(epsilon)
        assert OneBitReport(-1, 1, epsilon).variance(1) == pytest.approx(((c + 1) / (c - 1)) ** 2)
        assert PiecewiseReport(-1, 1, epsilon).variance(1) == pytest.approx(
            4 * a / (3 * (a - 1) ** 2), rel=2e-3
        )
        assert LaplaceReport(-1, 1, epsilon).variance(1) == pytest.approx(8 / epsilon**2, rel=1e-6)
        assert best_randomizer(Flag(), epsilon).variance(1) == pytest.approx(c / (c - 1) ** 2)


def test_the_piecewise_report_varies_with_the_value_as_in_the_literature() -> None:
    """x²/(a − 1) + (a + 3)/(3(a − 1)²), a = e^(ε/2)."""
    report, a = PiecewiseReport(-1, 1, 2), math.e
    for x in (0.0, 0.3, -0.8, 1.0):
        expected = x * x / (a - 1) + (a + 3) / (3 * (a - 1) ** 2)
        assert report.variance(1, x) == pytest.approx(expected, rel=2e-3)


def test_a_single_possibility_is_told_as_one_of_two() -> None:
    response = best_randomizer(OneOf(1), 1)
    assert response.estimate(response.sample([0] * 100)).shape == (2,)


def test_several_coordinates_share_a_large_epsilon() -> None:
    box = Box((0.0,) * 10, (1.0,) * 10)
    few, many = (best_randomizer(box, epsilon) for epsilon in (1, 8))
    assert (few.bits, many.bits) == (1, 4)  # type: ignore[attr-defined]


def test_the_papers_report_of_a_vector_asks_for_one_of_its_numbers() -> None:
    assert isinstance(best_randomizer(Ball(3, 1.0), 1, "paper"), PaperReport)
    assert isinstance(best_randomizer(Flag(), 1, "paper"), LaplaceReport)


def test_a_method_that_there_is_not_is_refused() -> None:
    with pytest.raises(QueryError, match="a method is best, printed or paper, not 'worst'"):
        best_randomizer(Flag(), 1, "worst")  # type: ignore[arg-type]
