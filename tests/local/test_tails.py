"""The radius holds for laws whose tails can be summed exactly, and is not much wider than it must be."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sulq.errors import QueryError
from sulq.local.tails import Bounded, by_frequency


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
