"""The exact radius of counts of reports holds for every data set, and is as narrow as that allows."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest
from numpy.typing import NDArray

import sulq
from sulq.local import HadamardResponse, KaryResponse, RandomizedResponse, UnaryResponse
from sulq.local.two_coins import TwoCoins

Floats = NDArray[np.float64]
EPSILONS = (0.5, 1, 2, 4, 8)


def binomial(n: int, p: float) -> Floats:
    places = np.arange(1, n + 1)
    ways = np.concatenate([[0], np.cumsum(np.log((n + 1 - places) / places))])
    return np.exp(ways + np.arange(n + 1) * math.log(p) + np.arange(n, -1, -1) * math.log1p(-p))


def errors(coins: TwoCoins, n: int, a: int) -> tuple[Floats, Floats]:
    """How likely each count of reports is if a people have the possibility, by convolution; and its error."""
    law = np.convolve(binomial(a, coins.own), binomial(n - a, coins.other))
    mean = a * coins.own + (n - a) * coins.other
    return law, np.abs(np.arange(n + 1) - mean) / n / (coins.own - coins.other)


def least_radius(coins: TwoCoins, n: int, a: int, beta: float) -> float:
    """The smallest radius that holds for these people."""
    law, off = errors(coins, n, a)
    order = np.argsort(-off)
    return float(off[order][np.searchsorted(np.cumsum(law[order]), beta, side="right")])


def some(n: int) -> list[int]:
    """Data sets: all of them if there are few, else none, all, half and others."""
    return list(range(n + 1)) if n <= 100 else sorted({0, 1, n // 100, n // 10, n // 3, n // 2, n - 1, n})


@pytest.mark.parametrize("beta", [0.3, 0.05, 1e-6])
@pytest.mark.parametrize("n", [1, 2, 10, 100, 1000])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_no_data_set_strays_beyond_the_radius_more_often_than_is_said(
    epsilon: float, n: int, beta: float
) -> None:
    coins = RandomizedResponse(epsilon).tails
    radius = coins.radius(n, beta)
    for a in some(n):
        law, off = errors(coins, n, a)
        assert law[off > radius].sum() <= beta * (1 + 1e-9)


@pytest.mark.parametrize("beta", [0.3, 0.05, 1e-6])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_a_radius_is_the_narrowest_that_holds_for_every_data_set(epsilon: float, beta: float) -> None:
    """Of 100 people to the last digits where each data set is looked at, else to half a step of a count."""
    coins = RandomizedResponse(epsilon).tails
    least = max(least_radius(coins, 100, a, beta) for a in range(101))
    half_a_step = 0.5 / 100 / (coins.own - coins.other)
    assert (
        least <= coins.radius(100, beta) * (1 + 1e-9) <= least * 1.011 + (half_a_step if epsilon < 1 else 0)
    )


@pytest.mark.parametrize(("epsilon", "before"), [(0.5, 1.05), (1, 1.17), (2, 1.41), (4, 1.50), (8, 2.02)])
def test_a_thousand_people_have_the_error_bars_of_two_binomials(epsilon: float, before: float) -> None:
    """Bars by one binomial of the same mean were wider than these data sets need by what stands here as `before`."""
    coins = RandomizedResponse(epsilon).tails
    least = max(least_radius(coins, 1000, a, 0.05) for a in range(501))  # of the others by symmetry
    radius = coins.radius(1000, 0.05)
    assert least <= radius * (1 + 1e-9) < 1.02 * least
    counted = RandomizedResponse(epsilon).support.counted(coins.bounded).radius(1000, 0.05)
    assert counted > before * 0.95 * least


@pytest.mark.parametrize("n", [10**5, 10**7, 10**9, 10**12])
@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1, 4])
def test_the_radius_of_many_people_is_a_normal_law_s(epsilon: float, n: int) -> None:
    response = RandomizedResponse(epsilon)
    normal = NormalDist().inv_cdf(0.975) * math.sqrt(response.variance(n))
    half_a_step = 0.5 / n / float(response.support.contrast)
    assert normal * 0.9999 < response.radius(n, 0.05) < normal * 1.0003 + half_a_step


@pytest.mark.parametrize("start", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("epsilon", [0.5, 4])
def test_a_hundred_thousand_people_stray_as_rarely_as_is_said(epsilon: float, start: float) -> None:
    """By binomials' laws on the places that count, so that their convolution is short."""
    n, coins = 10**5, RandomizedResponse(epsilon).tails
    a = int(n * start)
    size = 2**13
    turns = np.exp(2j * np.pi * np.arange(size) / size)
    of_errors = np.fft.ifft(
        ((1 - coins.own + coins.own / turns) ** a) * ((1 - coins.other + coins.other / turns) ** (n - a))
    ).real
    mean = a * coins.own + (n - a) * coins.other
    base = math.floor(mean) - size // 2
    at = base + (np.arange(size) - base) % size
    off = np.abs(at - mean) / n / (coins.own - coins.other)
    for beta in (0.3, 0.05, 1e-6):
        radius = coins.radius(n, beta)
        assert of_errors[off > radius].sum() <= beta < of_errors[off > 0.99 * radius].sum()


@pytest.mark.parametrize("beta", [0.999999, 0.5, 1e-9, 1e-100, 1e-300])
@pytest.mark.parametrize("epsilon", [0.01, 1, 16, 44])
def test_radii_of_every_chance_are_numbers_that_no_error_can_pass(epsilon: float, beta: float) -> None:
    coins = RandomizedResponse(epsilon).tails
    most = max(coins.bounded.above, coins.bounded.below)
    for n in (1, 2, 17, 1000, 10**6, 2**50):
        radius = coins.radius(n, beta)
        assert 0 < radius <= most * (1 + 1e-8)
        assert radius <= coins.radius(n, max(beta / 2, 1e-300)) * (1 + 1e-3)


@pytest.mark.parametrize("kind", [KaryResponse, UnaryResponse, HadamardResponse])
@pytest.mark.parametrize("epsilon", [0.5, 3])
def test_all_frequencies_together_stray_as_rarely_as_is_said(kind: type, epsilon: float) -> None:
    """The j-th largest frequency is at most 1/j; what it may stray is bounded by all a up to there."""
    k, n, beta = 5, 60, 0.1
    report = kind(k, epsilon)
    radius = report.radius(n, beta)
    coins = report.tails
    alone = [float((law[off > radius]).sum()) for law, off in (errors(coins, n, a) for a in range(n + 1))]
    for people in ([n, 0, 0, 0, 0], [30, 30, 0, 0, 0], [12] * 5, [20, 20, 20, 0, 0], [50, 4, 3, 2, 1]):
        assert sum(alone[a] for a in people) <= beta
    assert radius <= report.support.counted(coins.bounded).radius(n, beta)


def test_a_crowd_of_all_people_says_how_exact_it_is_as_its_reports_are() -> None:
    """At ε = 4 the bars of 2,000 people were 1.7 times as wide: nobody of 300 strayed beyond them.

    400 answers: at 5 % and fewer, 40 are beyond once in 10^5, and 1 or none once in 10^5 if 3 % are.
    """
    rows = {"a": np.arange(2000) % 10 < 3}
    people = sulq.open(rows, {"a": sulq.Boolean()})
    asked = sulq.Round([sulq.mean("a")], share=1)
    crowd = people.crowd(epsilon=4)
    stated = crowd.error(asked, 0.05)[0]
    off = []
    for _ in range(400):
        [answer] = people.crowd(epsilon=4).ask(asked)
        off.append(abs(answer.value - 0.3))
    assert answer.radius(0.05) == pytest.approx(stated, rel=1e-12)
    assert 1 < sum(each > stated for each in off) < 40
