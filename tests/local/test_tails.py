"""The radius holds for laws whose tails can be summed exactly, and is not much wider than it must be."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import sulq
from sulq.errors import QueryError
from sulq.local import WindowReport
from sulq.local.central import NearlyNormal
from sulq.local.tails import Bounded, Counted, by_frequency


def strays(n: int, p: float, t: float) -> float:
    """The probability that the mean of n coins of bias p is off by more than t."""
    return math.fsum(math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1) if abs(k / n - p) > t)


def coin(p: float) -> Bounded:
    return Bounded((p * (1 - p),), (1,), above=1 - p, below=p, span=1.0)


@pytest.mark.parametrize("n", [1, 7, 100, 500])
@pytest.mark.parametrize("p", [0.01, 0.27, 0.5, 0.9])
@pytest.mark.parametrize("beta", [0.3, 0.05, 1e-6])
def test_the_mean_of_coins_strays_as_rarely_as_promised(n: int, p: float, beta: float) -> None:
    assert strays(n, p, coin(p).radius(n, beta)) <= beta


@pytest.mark.parametrize("p", [0.1, 0.27, 0.5])
def test_a_radius_two_thirds_as_wide_would_break_the_promise(p: float) -> None:
    assert strays(500, p, coin(p).radius(500, 0.05) * 0.66) > 0.05


def test_more_numbers_need_a_wider_radius_and_nothing_is_farther_than_it_can_be() -> None:
    one, many = (Bounded((0.25,), (copies,), 0.5, 0.5, 1.0) for copies in (1, 1000))
    assert one.radius(100, 0.05) < many.radius(100, 0.05)
    assert one.radius(1, 1e-200) == pytest.approx(0.5)


def test_a_small_variance_makes_a_small_radius() -> None:
    wide, narrow = (Bounded((v,), (1,), 1.0, 1.0, 2.0) for v in (1.0, 0.01))
    assert narrow.radius(10_000, 0.01) < 0.15 * wide.radius(10_000, 0.01)


@pytest.mark.parametrize("k", [1, 2, 5, 64, 100])
def test_no_frequencies_have_more_variance_than_is_counted(k: int) -> None:
    rng = np.random.default_rng(k)
    variances, copies = by_frequency(k, absent=1.0, present=4.0)
    assert sum(copies) == k
    counted = np.repeat(variances, copies)
    for sharpness in (0.05, 1.0, 20.0):
        for _ in range(20):
            frequencies = np.sort(rng.dirichlet(np.full(k, sharpness)))[::-1]
            assert (1 + 3 * frequencies <= counted + 1e-12).all()


def test_where_the_frequent_vary_less_the_rare_ones_count() -> None:
    assert set(by_frequency(10, absent=2.0, present=1.0)[0]) == {2.0}


@pytest.mark.parametrize(("n", "beta"), [(0, 0.1), (-1, 0.1), (5, 0.0), (5, 1.0), (5, math.nan)])
def test_what_has_no_radius_is_refused(n: int, beta: float) -> None:
    with pytest.raises(QueryError):
        coin(0.5).radius(n, beta)


def bits(own: float, other: float, shares: tuple[float, ...] = (1.0,)) -> Counted:
    contrast = own - other
    copies = tuple(2**place for place in range(len(shares)))
    bounded = Bounded((0.25 / contrast**2,) * len(shares), copies, 1 / contrast, 1 / contrast, 1 / contrast)
    return Counted(bounded, own, other, shares, width=1.0)


@pytest.mark.parametrize("beta", [0.3, 0.05, 1e-6])
@pytest.mark.parametrize("n", [30, 100, 1000])
@pytest.mark.parametrize(("own", "other"), [(0.73, 0.27), (0.5, 0.1), (0.3, 0.01), (0.999, 0.9)])
def test_counts_of_bits_stray_beyond_their_radius_as_rarely_as_is_said(
    n: int, beta: float, own: float, other: float
) -> None:
    """Binomial tails, summed, for chances between the two; a radius a fifth narrower breaks the promise for some."""
    law = bits(own, other)
    chances = [other + (own - other) * place / 40 for place in range(41)]

    def worst(radius: float) -> float:
        return max(strays(n, p, radius * (own - other)) for p in chances)

    radius = law.radius(n, beta)
    assert worst(radius) <= beta
    if n == 1000:
        assert worst(0.8 * radius) > beta


def test_people_of_different_chances_stray_less_than_binomial_tails() -> None:
    """Half report with one chance and half with the other, by convolution; and a cohort of them drawn by lot."""
    n, own, other = 60, 0.9, 0.1
    law = bits(own, other)

    def count(trials: int, p: float) -> np.ndarray[Any, Any]:
        return np.array([math.comb(trials, k) * p**k * (1 - p) ** (trials - k) for k in range(trials + 1)])

    def beyond(chances: np.ndarray[Any, Any], radius: float) -> float:
        away = np.abs(np.arange(n + 1) / n - 0.5) > radius * (own - other)
        return float(chances[away].sum())

    fixed = np.convolve(count(n // 2, own), count(n // 2, other))
    drawn = sum(
        math.comb(n, k)
        * math.comb(n, n - k)
        / math.comb(2 * n, n)
        * np.convolve(count(k, own), count(n - k, other))
        for k in range(n + 1)
    )
    for beta in (0.2, 0.05, 1e-3):
        assert beyond(fixed, law.radius(n, beta)) <= beta
        assert beyond(drawn, law.radius(n, beta)) <= beta


def test_a_crowd_s_error_bars_are_as_narrow_as_a_normal_law_s() -> None:
    """At 1e6 people and a chance of 0.05: Chernoff's were 1.39 times as wide."""
    law = bits(0.73, 0.27)
    normal = 1.959964 * math.sqrt(law.variance / 10**6)
    assert normal < law.radius(10**6, 0.05) < 1.002 * normal
    assert law.bounded.radius(10**6, 0.05) == pytest.approx(1.386 * normal, rel=1e-3)
    assert law.radius(10**6, 0.05) == law.single.radius(10**6, 0.05)
    assert bits(0.73, 0.27, (1.0, 0.5)).radius(100, 0.05) > law.radius(100, 0.05)


@pytest.mark.parametrize("beta", [0.9, 0.3, 0.05, 1e-6, 1e-12])
@pytest.mark.parametrize("people", [1, 2, 5, 30, 1000, 10**5, 10**8])
def test_no_radius_is_wider_than_chernoff_s(people: int, beta: float) -> None:
    """So there is no setting for the former ones: they are a looser bound of the same error."""
    laws: list[Counted | NearlyNormal] = [
        bits(own, other, shares)
        for own, other in ((0.73, 0.27), (0.5, 0.1), (0.3, 0.01), (0.999, 0.9))
        for shares in ((1.0,), (1.0, 0.5))
    ]
    laws += [WindowReport(-1, 1, epsilon).tails for epsilon in (0.2, 1, 4)]
    for law in laws:
        assert law.radius(people, beta) <= law.bounded.radius(people, beta) * (1 + 2e-9)


@pytest.mark.parametrize("people", [1, 2, 7])
@pytest.mark.parametrize("share", [1.0, 0.5, 0.25])
def test_a_step_above_the_mean_has_a_chance_for_every_few_people(people: int, share: float) -> None:
    """Where the distance is next to nothing, rounding made the divergence negative."""
    for own, other in ((0.62, 0.38), (0.7, 0.2), (0.55, 0.11), (0.9, 0.05)):
        counted = bits(own, other, (share,))
        for tiny in (2.0**-power for power in range(20, 52)):
            off = (1 / people + tiny) / (own - other)
            assert 0 < counted.beyond(people, off) <= 1 + 1e-9
        assert 0 < counted.radius(people, 0.999) <= counted.radius(people, 0.2)


def test_few_people_in_groups_have_error_bars() -> None:
    rows = {"a": [True, False], "c": ["u", "v"]}
    people = sulq.open(rows, {"a": sulq.Boolean(), "c": sulq.Category(["u", "v", "w"])})
    for _ in range(50):
        [answer] = people.crowd(epsilon=0.5).ask(sulq.Round([sulq.mean("a", by="c")], share=1))
        assert (np.asarray(answer.radius(0.2)) > 0).all()
