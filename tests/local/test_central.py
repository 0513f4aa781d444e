"""Bounds by the normal law hold: against exact laws of sums, of all people and of people drawn by lot."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from sulq.local import WindowReport, randomizer_of
from sulq.local.central import FIRST, NearlyNormal, _hazard, _normal
from sulq.local.tails import Bounded, beyond


def small(values: list[int], window: int) -> WindowReport:
    """A window report whose counts are so small that the law of a sum can be listed."""
    read = randomizer_of(WindowReport(-1, 1, 1).form | {"values": values, "window": window})
    assert isinstance(read, WindowReport)
    return read


def law_of_sum(report: WindowReport, places: dict[int, int]) -> NDArray[np.float64]:
    """The law of what the reports of so many people at each place count together, from the least on."""
    most = max(report.values)
    n = sum(places.values())
    size = 2 * most * n + 1
    product = np.ones(size // 2 + 1, dtype=np.complex128)
    for place, people in places.items():
        one = np.zeros(2 * most + 1)
        for cell, count in enumerate(report.counts.tolist()):
            one[count + most] += float(report._chance(cell, place))
        product *= np.fft.rfft(one, size) ** people
    return np.fft.irfft(product, size)


MIXES = {
    "all in the middle": {2: 1000},
    "half at each end": {0: 500, 4: 500},
    "all at an end": {4: 1000},
    "mixed": {0: 100, 1: 500, 2: 50, 4: 350},
}


@pytest.mark.parametrize("mix", MIXES)
def test_no_error_of_independent_reports_is_likelier_than_the_bound(mix: str) -> None:
    report, places, n = small([5, 4, 3, 1], 4), MIXES[mix], 1000
    law = law_of_sum(report, places)
    counts = np.arange(len(law)) - max(report.values) * n
    mean = sum(people * report._places[place] for place, people in places.items()) / n
    errors = np.abs(report._unit * counts / n - mean)
    radii = np.linspace(0.02, 0.4, 40)
    for t in radii:
        assert law[errors > t].sum() <= beyond(n, t, report.tails) + 1e-12
    assert law[errors > report.radius(n, 0.1)].sum() <= 0.1


@pytest.mark.parametrize("mix", MIXES)
def test_no_error_to_one_side_is_likelier_than_the_bound_under_weights(mix: str) -> None:
    """Of fewer people, too, and far out: where this bound is the smallest one."""
    report = small([5, 4, 3, 1], 4)
    for part in (1, 5, 10):
        places = {place: people // part for place, people in MIXES[mix].items()}
        n = sum(places.values())
        law = law_of_sum(report, places)
        mean = sum(people * report._places[place] for place, people in places.items()) / n
        errors = report._unit * (np.arange(len(law)) - max(report.values) * n) / n - mean
        for t in np.linspace(0.02, 1, 50):
            one_side = report.tails._weighted(n, t) + 1e-12
            assert law[errors > t].sum() <= one_side
            assert law[errors < -t].sum() <= one_side


@pytest.mark.parametrize(("epsilon", "n", "most"), [(1, 1000, 1.17), (1, 10_000, 1.06), (4, 10_000, 1.16)])
def test_of_a_thousand_people_a_radius_is_not_much_wider_than_that_of_a_normal_law(
    epsilon: float, n: int, most: float
) -> None:
    """Without weights these were 1.41, 1.08 and 1.42 times as wide."""
    report = WindowReport(-1, 1, epsilon)
    assert report.radius(n, 0.05) < most * 1.96 * math.sqrt(report.variance(n))


@pytest.mark.parametrize("population", [2000, 4000, 40_000])
def test_no_error_of_people_drawn_by_lot_is_likelier_than_the_bound(population: int) -> None:
    """Half of the people at each end, reports that are bits: the law is a mixture of binomials' sums."""
    report, n = small([1], 1), 1000
    inside, outside = (float(chance) for chance in report.each)
    log = [0.0, *np.cumsum(np.log(np.arange(1, population + 1)))]

    def ways(k: int, of: int) -> float:
        return log[of] - log[k] - log[of - k]

    total = np.zeros(n + 1)
    half = population // 2
    for up in range(max(0, n - half), min(n, half) + 1):
        weight = math.exp(ways(up, half) + ways(n - up, half) - ways(n, population))
        if weight > 1e-16:
            bits = np.fft.rfft([outside, inside], n + 1) ** up * np.fft.rfft([inside, outside], n + 1) ** (
                n - up
            )
            total += weight * np.fft.irfft(bits, n + 1)
    assert total.sum() == pytest.approx(1)
    errors = np.abs(report._unit * (2 * np.arange(n + 1) - n) / n)
    span = 2 * report._reach
    bounded = Bounded((report.variance(1) + 1,), (1,), span, span, span)
    tails = replace(report.tails, bounded=bounded, width=2.0)
    for t in np.linspace(0.02, 0.4, 40):
        assert total[errors > t].sum() <= tails.beyond(n, t) + 1e-12
    # The bound is worth something: it is near what a normal law of both variances would have.
    many = 10**8
    normal = 1.96 * math.sqrt((report.variance(1) + 1) / many)
    assert normal < tails.radius(many, 0.05) < 1.06 * normal


def test_tangents_to_the_tail_are_above_one_where_they_have_to_be() -> None:
    """At 0 and below, for every place from which one is taken: the claim of the module's text."""
    for a in np.linspace(FIRST, 20, 500):
        assert math.log(_normal(a)) + _hazard(a) * a > 0
    below = 1.3
    assert math.log(_normal(below)) + _hazard(below) * below < 0


def test_all_asked_is_the_limit_of_people_drawn_by_lot_who_are_alike() -> None:
    tails = WindowReport(-1, 1, 1).tails
    alike = replace(tails, width=1e-6)
    for n in (10**4, 10**6):
        assert tails.radius(n, 0.01) == pytest.approx(alike.radius(n, 0.01), rel=1e-3)


def test_with_many_people_a_radius_is_that_of_a_normal_law() -> None:
    report = WindowReport(-1, 1, 1)
    assert report.radius(10**10, 0.05) == pytest.approx(1.96 * math.sqrt(report.variance(10**10)), rel=1e-3)
    assert isinstance(report.tails.single, NearlyNormal)


def test_reports_that_vary_much_less_than_people_do_have_a_radius() -> None:
    """With a large ε, who was drawn by lot decides nearly alone: a tangent's exponent leaves the floats."""
    drawn = Bounded((1 / 12,), (1,), above=1.0, below=1.0, span=1.0)
    for reports in (1e-4, 1e-9, 1e-300):
        nearly = NearlyNormal(drawn, third=1.0, reports=reports, width=1.0)
        for beta in (0.5, 1e-9):
            assert 0 < nearly.radius(500, beta) <= drawn.radius(500, beta) * (1 + 1e-6)
