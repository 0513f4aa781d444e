"""Chances of wrong decisions against sums over all that can happen."""

from __future__ import annotations

import math
from itertools import pairwise, product

import numpy as np
import pytest

from sulq.plans.mistakes import Blur, Case, binomial_beyond, binomial_bins, least, wrong
from sulq.privacy.noise import DiscreteLaplace


def binomial(n: int, p: float, k: int) -> float:
    """By logarithms: powers of a chance are soon too small for floats, although this is not."""
    choices = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return math.exp(choices + k * math.log(p) + (n - k) * math.log1p(-p))


@pytest.mark.parametrize(("n", "p"), [(1, 0.3), (7, 0.01), (40, 0.5), (300, 0.9), (900, 0.002)])
def test_a_binomial_tail_is_bounded_from_above_and_closely(n: int, p: float) -> None:
    for k in {min(n, math.ceil(n * p) + extra) for extra in (1, 2, 5, 20)}:
        exact = math.fsum(binomial(n, p, j) for j in range(k, n + 1))
        found = binomial_beyond(n, p, k, above=True)
        assert exact * (1 - 1e-9) <= found
        assert found <= 1.01 * exact
        assert binomial_beyond(n, 1 - p, n - k, above=False) == pytest.approx(found, rel=1e-6)
    assert binomial_beyond(n, p, n + 1, above=True) == 0


def test_more_trials_are_never_worse() -> None:
    found = [binomial_beyond(n, 0.1, 0.137 * n, above=True) for n in range(10, 600)]
    assert all(more <= fewer for fewer, more in pairwise(found))


@pytest.mark.parametrize(("n", "p"), [(40, 0.5), (300, 0.9), (900, 0.002), (1_000, 0.3)])
@pytest.mark.parametrize("most", [7, 50, 2000])
def test_bins_of_numbers_weigh_at_least_as_much_as_their_numbers(n: int, p: float, most: int) -> None:
    low, high = math.floor(n * p * 0.8), n
    bins = binomial_bins(n, p, low, high, most)
    assert bins.first.size <= most
    assert bins.first[0] == low and bins.last[-1] == high
    assert bins.first[1:].tolist() == (bins.last[:-1] + 1).tolist()
    for first, last, mass in zip(bins.first, bins.last, bins.masses, strict=True):
        exact = math.fsum(binomial(n, p, k) for k in range(int(first), int(last) + 1))
        assert exact * (1 - 1e-9) <= mass + 1e-300
    if most == 2000:
        assert bins.masses.sum() == pytest.approx(
            math.fsum(binomial(n, p, k) for k in range(low, high + 1)), rel=1e-2
        )


def test_fine_bins_of_many_numbers_weigh_little_more_than_one() -> None:
    """From nine deviations below the mean to nine above it."""
    n, p = 10**14, 0.01
    mean, reach = 10**12, 9 * math.isqrt(10**12)
    assert 1 - 1e-9 < binomial_bins(n, p, mean - reach, mean + reach, 1000).masses.sum() < 1.001


def test_numbers_of_rows_beyond_memory_are_summed_with_noise() -> None:
    """Rows stray by 10^6 or more, so noise of some thousand changes little; a normal law bounds what is left."""
    n = 4 * 10**13
    case = Case(((0.0, 0.5), (1.0, 0.5)), bound=0.5 + 3 * math.sqrt(0.25 / n), above=True)
    found = wrong(n, case, Blur(DiscreteLaplace(2000), step=1.0))
    assert found == pytest.approx(math.erfc(3 / math.sqrt(2)) / 2, rel=0.02)


@pytest.mark.parametrize("copies", [1, 2])
@pytest.mark.parametrize("scale", [0.7, 3, 40])
def test_the_tail_of_noise_is_its_own(copies: int, scale: float) -> None:
    noise = DiscreteLaplace(scale)
    far = math.ceil(60 * scale)
    law = {k: noise.pmf(k) for k in range(-far, far + 1)}
    if copies == 2:
        twice: dict[int, float] = {}
        for a, b in product(law, law) if scale < 10 else []:
            twice[a + b] = twice.get(a + b, 0.0) + law[a] * law[b]
        law = twice
    blur = Blur(noise, step=0.5, copies=copies)  # type: ignore[arg-type]
    for steps in (1, 2, 7, math.ceil(4 * scale)):
        exact = math.fsum(chance for k, chance in law.items() if k >= steps)
        if law:
            assert blur.beyond(np.array([0.5 * steps]))[0] == pytest.approx(exact, rel=1e-6)
    moments = math.fsum(math.exp(0.1 / scale * k) * noise.pmf(k) for k in range(-far, far + 1))
    single = Blur(noise, step=1.0)
    assert single.log_moments(0.1 / scale) == pytest.approx(math.log(moments), rel=1e-6)


@pytest.mark.parametrize("above", [True, False])
def test_rows_and_noise_together_are_summed_exactly(above: bool) -> None:
    """Against the double sum over rows and noise."""
    n, p, scale = 60, 0.2, 2.0
    case = Case(((0.0, 1 - p), (1.0, p)), bound=0.35 if above else 0.05, above=above)
    noise = DiscreteLaplace(scale)
    exact = math.fsum(
        binomial(n, p, k) * noise.pmf(x)
        for k in range(n + 1)
        for x in range(-80, 81)
        if (k + x >= 21 if above else k + x <= 3)
    )
    found = wrong(n, case, Blur(noise, step=1.0))
    assert exact * (1 - 1e-9) <= found <= 1.002 * exact


@pytest.mark.parametrize("scale", [None, 0.5, 3.0])
def test_chernoffs_bound_is_one(scale: float | None) -> None:
    """For three values, and for two that are the worst for moments only: above the truth, and not by far."""
    n, law = 30, ((-0.75, 0.5), (0.0, 0.2), (1.75, 0.3))
    mean = sum(value * chance for value, chance in law)
    case = Case(law, bound=mean + 0.6, above=True)
    blur = None if scale is None else Blur(DiscreteLaplace(scale), step=0.25)
    exact = 0.0
    for a in range(n + 1):
        for b in range(n + 1 - a):
            c = n - a - b
            chance = math.comb(n, a) * math.comb(n - a, b) * 0.5**a * 0.2**b * 0.3**c
            short = n * case.bound - (-0.75 * a + 1.75 * c)
            if blur is None:
                exact += chance * (short <= 0)
            else:
                noise = DiscreteLaplace(scale or 1)
                first = math.ceil(short / 0.25)
                tail = noise.tail(first - 1) / 2 if first > 0 else 1 - noise.tail(-first) / 2
                exact += chance * tail
    assert exact <= wrong(n, case, blur) <= 12 * exact


def test_the_least_of_a_convex_function_is_found_at_ends_as_well() -> None:
    assert least(lambda s: (s - 300) ** 2, math.inf) == pytest.approx(0, abs=1e-9)
    assert least(lambda s: -s, 0.25) == pytest.approx(-0.25)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("rare", [0.0, 5e-324, 1e-300, 1e-17])
def test_chances_at_the_ends_of_the_floats_have_bounds_that_hold(rare: float) -> None:
    """A value that is never seen changes nothing; one that is seen next to never, next to nothing."""
    alone = (0.0, 1.0)
    for exact in (True, False):
        for blur in (None, Blur(DiscreteLaplace(2), step=1.0)):
            least_likely = Case((alone, (1.0, rare)), 0.2, above=True, exact=exact)
            never = Case((alone,), 0.2, above=True, exact=exact)
            assert wrong(1000, never, blur) <= wrong(1000, least_likely, blur) * (1 + 1e-9) + 1e-12 <= 1.001
            assert wrong(1000, least_likely, blur) < 1e-9
