"""The noise has exactly the law it claims, and the claims about the law are exact.

The statistical tests compare counts in cells with their expectations. A chi-square variable of d degrees of
freedom exceeds d + 2√(dx) + 2x with probability at most e^-x (Laurent and Massart, 2000, Lemma 1); with
x = 20 that is 2e-9 a test, and less than 1e-6 for all the tests of this file together.
"""

from __future__ import annotations

import math
import os
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal, Inexact, localcontext
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from sulq.errors import QueryError, SulqError
from sulq.privacy import noise
from sulq.privacy.coins import Coin
from sulq.privacy.noise import DiscreteGaussian, DiscreteLaplace, Noise
from tests.effort import either, long

DRAWS = 200_000
FEWEST = 50
SCALES = [Fraction(1, 3), Fraction(1), Fraction(7, 2), Fraction(1000, 3), 2**20 + Fraction(1, 3)]


def laplace(scale: Fraction) -> Noise:
    return DiscreteLaplace(scale)


def gaussian(sigma: Fraction) -> Noise:
    return DiscreteGaussian(sigma**2)


LAWS = [laplace, gaussian]


def cdf(law: Noise, t: int) -> float:
    """Pr[X ≤ t], from the tail: the laws are symmetric."""
    return 1 - law.tail(t) / 2 if t >= 0 else law.tail(-t - 1) / 2


def excess(observed: NDArray[np.int64], expected: NDArray[np.float64]) -> float:
    """How far the chi-square statistic is above the threshold that is passed with probability 2e-9."""
    statistic = float(((observed - expected) ** 2 / expected).sum())
    freedom, x = len(expected) - 1, 20
    return statistic - (freedom + 2 * math.sqrt(freedom * x) + 2 * x)


def misfit(law: Noise, draws: NDArray[np.int64]) -> float:
    """The excess of `draws` over some fifty cells of `law`, zero a cell of its own where likely enough."""
    n = draws.size
    radii = {law.radius(beta) for beta in [j / 24 for j in range(1, 24)] + [1e-2, 1e-3]} | {0}
    radii = {r for r in radii if n * law.tail(r) / 2 >= FEWEST}
    cuts = sorted(radii | {-r - 1 for r in radii if r > 0 or n * law.pmf(0) >= FEWEST})
    heights = [0.0, *(cdf(law, t) for t in cuts), 1.0]
    expected = n * np.array([b - a for a, b in pairwise(heights)])
    assert len(expected) >= 3
    assert expected.min() >= FEWEST / 2
    observed = np.bincount(np.searchsorted(cuts, draws), minlength=len(expected))
    return excess(observed, expected)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_draws_follow_the_law_and_the_test_would_notice_another_scale(
    law: Callable[[Fraction], Noise], scale: Fraction
) -> None:
    """n = 200,000; false alarm 2e-9. It notices a scale that is 0.85 or 1.2 of the right one (asserted)."""
    assert misfit(law(scale), law(scale).sample(DRAWS)) < 0
    for factor in (Fraction(85, 100), Fraction(12, 10)):
        assert misfit(law(scale), law(scale * factor).sample(DRAWS)) > 0


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("scale", [Fraction(1000, 3), 2**20 + Fraction(1, 3), Fraction(2**50)], ids=str)
def test_the_last_digits_are_uniform_where_the_scale_is_large(
    law: Callable[[Fraction], Noise], scale: Fraction
) -> None:
    """n = 200,000, 64 residues; false alarm 2e-9. It notices a digit that is off by about 1%.

    By Poisson summation a residue's probability is within 1e-3 of 1/64, relatively, at these scales.
    """
    observed = np.bincount(law(scale).sample(DRAWS) % 64, minlength=64)
    assert excess(observed, np.full(64, DRAWS / 64)) < 0


@pytest.mark.parametrize("law", LAWS)
def test_draws_are_independent_of_their_neighbours(law: Callable[[Fraction], Noise]) -> None:
    """n = 100,000 pairs in 3 × 3 cells; false alarm 2e-9. It notices a correlation of about 3%."""
    scale = Fraction(2)
    p = [cdf(law(scale), -1), law(scale).pmf(0), 1 - cdf(law(scale), 0)]
    signs = np.sign(law(scale).sample(DRAWS)) + 1
    observed = np.bincount(3 * signs[0::2] + signs[1::2], minlength=9)
    assert excess(observed, DRAWS / 2 * np.outer(p, p).ravel()) < 0


@pytest.mark.parametrize("sigma", [Fraction(1, 3), Fraction(1), Fraction(7, 2), Fraction(1000, 3)], ids=str)
def test_the_exact_comparison_follows_the_law_when_it_decides_every_acceptance(
    sigma: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    """n = 8,000, thorough 20,000; false alarm 2e-9. With no digit of the clock drawn ahead, the rational path is the
    rule."""
    monkeypatch.setattr(noise, "_CLOCK_DIGITS", 0)
    assert misfit(gaussian(sigma), gaussian(sigma).sample(either(8_000, 20_000))) < 0


@pytest.mark.parametrize(
    "variance", [Fraction(1, 2**80), Fraction(1, 9), Fraction(49, 4), 10**30 + Fraction(1, 7)]
)
def test_floating_point_knows_how_wrong_it_may_be(variance: Fraction) -> None:
    """For 300 proposals near and far from the centre, the error is at most a third of the slack."""
    law = DiscreteGaussian(variance)
    sigma = max(1, math.isqrt(math.floor(variance)))
    proposed = np.array([(-1) ** j * (j * sigma // 20 + j * j) for j in range(300)])
    deadlines, slacks = law._deadlines(proposed)
    t = sigma + 1 if variance >= 1 else 1
    for y, deadline, slack in zip(proposed, deadlines, slacks, strict=True):
        gamma = (abs(int(y)) - variance / t) ** 2 / (2 * variance)
        assert abs(Fraction(float(deadline)) - gamma * 2**16) <= Fraction(float(slack)) / 3


@long
@pytest.mark.parametrize("scale", [1.0, 3.5])
def test_opendp_draws_the_same_laws(scale: float) -> None:
    """n = 40,000 of OpenDP's own draws meet our cells; false alarm 2e-9 each."""
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    vectors = dp.vector_domain(dp.atom_domain(T="i64"))
    zeros = [0] * 40_000
    theirs = dp.m.make_laplace(vectors, dp.l1_distance(T="i64"), scale=scale)(zeros)
    assert misfit(DiscreteLaplace(scale), np.array(theirs)) < 0
    theirs = dp.m.make_gaussian(vectors, dp.l2_distance(T="f64"), scale=scale)(zeros)
    assert misfit(gaussian(Fraction(scale)), np.array(theirs)) < 0


def exact_weights(law: Noise, beyond: int) -> list[Decimal]:
    """exp(−|k|/s) or exp(−k²/2σ²) for k = 0, 1, …, to fifty digits, one by one."""
    with localcontext() as context:
        context.prec = 50
        if isinstance(law, DiscreteLaplace):
            exponents = [-k / law.scale for k in range(beyond)]
        else:
            exponents = [-(k**2) / (2 * law.variance) for k in range(beyond)]
        return [(Decimal(x.numerator) / x.denominator).exp() for x in exponents]


SUMMED = [
    (DiscreteLaplace(Fraction(1, 3)), 100),
    (DiscreteLaplace(1), 200),
    (DiscreteLaplace(Fraction(7, 2)), 600),
    (DiscreteLaplace(30), 5000),
    (DiscreteGaussian(Fraction(1, 9)), 100),
    (DiscreteGaussian(1), 100),
    (DiscreteGaussian(Fraction(49, 4)), 200),
    (DiscreteGaussian(4095), 1500),
]


@pytest.mark.parametrize(("law", "beyond"), SUMMED, ids=str)
def test_probabilities_tails_radii_and_deviation_agree_with_brute_force(law: Noise, beyond: int) -> None:
    weights = exact_weights(law, beyond)
    whole = weights[0] + 2 * sum(weights[1:])
    tails = [2 * sum(weights[t + 1 :]) / whole for t in range(60)]
    for t, tail in enumerate(tails):
        assert law.pmf(t) == law.pmf(-t) == pytest.approx(float(weights[t] / whole), rel=1e-14)
        assert Decimal(law.tail(t)) * (1 + Decimal("1e-20")) >= tail
        assert law.tail(t) == pytest.approx(float(tail), rel=1e-15)
    for beta in (0.9, 0.5, 0.05, 1e-3, 1e-9):
        smallest = next((t for t, tail in enumerate(tails) if tail <= beta), None)
        if smallest is not None:
            assert law.radius(beta) == smallest
    squares = sum(2 * k * k * w for k, w in enumerate(weights)) / whole
    assert law.std == pytest.approx(math.sqrt(squares), rel=1e-12)
    assert math.fsum(law.pmf(k) for k in range(-beyond, beyond + 1)) == pytest.approx(1, abs=1e-12)
    assert law.tail(-1) == 1


@pytest.mark.parametrize("variance", [4096, 10_000])
def test_the_tail_of_a_wide_gaussian_is_bounded_closely(variance: int) -> None:
    law = DiscreteGaussian(variance)
    weights = [math.exp(-k * k / (2 * variance)) for k in range(40 * math.isqrt(variance))]
    whole = weights[0] + 2 * math.fsum(weights[1:])
    for t in (0, 1, 30, 63, 64, 65, 99, 100, 200, 500, 1000):
        tail = 2 * math.fsum(weights[t + 1 :]) / whole
        assert tail * (1 - 1e-13) <= law.tail(t) <= tail * 1.02
    for beta in (0.9, 0.5, 0.1, 1e-3, 1e-9):
        r = law.radius(beta)
        assert 2 * math.fsum(weights[r + 1 :]) / whole <= beta < 2 * math.fsum(weights[r - 1 :]) / whole


@pytest.mark.parametrize("scale", [Fraction(2**55), Fraction(10**12, 7), Fraction(2**90 + 1, 3)], ids=str)
def test_the_radius_of_a_huge_laplace_is_the_smallest(scale: Fraction) -> None:
    """Neighbouring tails differ in the seventeenth digit: they are compared in a hundred."""
    r = DiscreteLaplace(scale).radius(1e-6)
    with localcontext() as context:
        context.prec = 100
        p = (Decimal(-scale.denominator) / scale.numerator).exp()
        assert 2 * p ** (r + 1) / (1 + p) <= Decimal("1e-6") < 2 * p**r / (1 + p)


def chances(law: DiscreteLaplace, true_sum: int, low: int, high: int) -> NDArray[np.float64]:
    """The law of the noisy sum when it is clamped to [low, high]: the ends carry the mass beyond them."""
    inner = [law.pmf(k - true_sum) for k in range(low + 1, high)]
    return np.array([cdf(law, low - true_sum), *inner, cdf(law, true_sum - high)])


@pytest.mark.parametrize("sensitivity", [1, 3])
@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1), Fraction(7, 2), Fraction(20)], ids=str)
def test_neighbours_are_at_most_e_to_the_epsilon_apart_and_reach_it(
    scale: Fraction, sensitivity: int
) -> None:
    law = DiscreteLaplace(scale)
    bound = math.exp(law.epsilon(sensitivity))
    outputs = range(-25, 26)
    for a in range(-5, 6):
        for b in range(a - sensitivity, a + sensitivity + 1):
            ratios = [law.pmf(k - a) / law.pmf(k - b) for k in outputs]
            assert max(ratios) <= bound * (1 + 1e-12)
            if abs(a - b) == sensitivity:
                assert max(ratios) >= bound * (1 - 1e-12)
            clamped = chances(law, a, -4, 4) / chances(law, b, -4, 4)
            assert clamped.max() <= bound * (1 + 1e-9)


@pytest.mark.parametrize("variance", [Fraction(1, 9), Fraction(1), Fraction(49, 4)], ids=str)
@pytest.mark.parametrize("shift", [1, 3])
def test_the_gaussian_keeps_its_rho_at_every_order_and_reaches_it(variance: Fraction, shift: int) -> None:
    """Rényi divergence by direct summation, at most αρ; with an integer ασ-shift it is exactly that."""
    law = DiscreteGaussian(variance)
    rho = float(law.rho(shift**2))
    whole = sum(exact_weights(law, 300)[1:]) * 2 + 1
    for alpha in (Fraction(3, 2), Fraction(2), Fraction(5)):
        with localcontext() as context:
            context.prec = 50
            total = Decimal(0)
            for k in range(-200, 201):
                x = -(alpha * k**2 - (alpha - 1) * (k - shift) ** 2) / (2 * variance)
                total += (Decimal(x.numerator) / x.denominator).exp()
            divergence = float((total / whole).ln()) / float(alpha - 1)
        assert divergence <= float(alpha) * rho * (1 + 1e-12)
        if (alpha * shift).denominator == 1:
            assert divergence == pytest.approx(float(alpha) * rho, rel=1e-12)


def test_the_costs_are_exact() -> None:
    assert DiscreteLaplace("10/3").epsilon(1) == Fraction(3, 10)
    assert DiscreteLaplace("10/3").epsilon(Fraction(2, 3)) == Fraction(1, 5)
    assert DiscreteGaussian(5).rho(2) == Fraction(1, 5)
    assert DiscreteLaplace(1).epsilon(0) == DiscreteGaussian(1).rho(0) == 0
    for cost in (DiscreteLaplace(1).epsilon, DiscreteGaussian(1).rho):
        with pytest.raises(QueryError, match="sensitivity"):
            cost(-1)


WIDE: list[Noise] = [DiscreteLaplace(2**40), DiscreteGaussian(2**80)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("law", WIDE, ids=str)
def test_a_forked_child_draws_noise_of_its_own(law: Noise) -> None:
    """At this scale two honest sets of 64 draws share a value with probability below 2^-27."""
    law.sample(64)
    outlet, inlet = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(inlet, law.sample(64).tobytes())
        os._exit(0)
    os.waitpid(child, 0)
    theirs = np.frombuffer(os.read(outlet, 4096), dtype=np.int64)
    os.close(outlet)
    os.close(inlet)
    assert theirs.size == 64
    assert not set(theirs.tolist()) & set(law.sample(64).tolist())


@pytest.mark.parametrize("law", WIDE, ids=str)
def test_threads_draw_noise_of_their_own(law: Noise) -> None:
    """Eight threads, 512 draws: some two are equal by chance with probability below 2^-23."""
    with ThreadPoolExecutor(8) as pool:
        drawn = np.concatenate(list(pool.map(lambda _: law.sample(64), range(8))))
    assert len(set(drawn.tolist())) == 512


def test_no_seed_reaches_the_noise() -> None:
    drawn = []
    for _ in range(2):
        random.seed(1)
        np.random.seed(1)
        drawn.append(DiscreteLaplace(2**40).sample(8).tolist())
    assert drawn[0] != drawn[1]


def test_the_caller_s_decimal_settings_change_nothing() -> None:
    def facts() -> list[float]:
        noise._gaussian_weight.cache_clear()
        Coin.bias.cache_clear()
        laws: list[Noise] = [DiscreteLaplace("7/2"), DiscreteGaussian(3), DiscreteGaussian(10**6)]
        return [
            x
            for law in laws
            for x in (law.pmf(2), law.tail(2), law.radius(0.01), law.std, law.sample(9).size)
        ]

    expected = facts()
    with localcontext() as context:
        context.prec = 3
        context.traps[Inexact] = True
        assert facts() == expected


@pytest.mark.parametrize("law", LAWS)
def test_samples_have_the_size_asked_for(law: Callable[[Fraction], Noise]) -> None:
    for size in (0, 1, 1000):
        drawn = law(Fraction(3)).sample(size)
        assert drawn.shape == (size,)
        assert drawn.dtype == np.int64


def test_the_smallest_and_largest_scales_work() -> None:
    for law in (DiscreteLaplace(Fraction(1, 2**40)), DiscreteGaussian(Fraction(1, 2**80))):
        assert not law.sample(100).any()
        assert law.tail(0) < 1e-300
        assert law.radius(1e-300) == 0
    wide = (
        DiscreteLaplace(2**55),
        DiscreteLaplace(2**400),
        DiscreteGaussian(2**108),
        DiscreteGaussian(2**798),
    )
    for law in wide:
        assert abs(float(np.median(np.abs(law.sample(1000)))) / law.radius(0.5) - 1) < 0.5
        parameter = law.scale**2 * 2 if isinstance(law, DiscreteLaplace) else law.variance
        assert law.std == pytest.approx(math.sqrt(parameter))


def test_draws_beyond_64_bits_have_the_law_of_those_within() -> None:
    """The same share beyond every radius, and every low digit 1 half of the time: n = 20,000, 7 deviations."""
    law = DiscreteLaplace(2**90)
    drawn = np.abs(law.sample(20_000))
    assert drawn.dtype == object
    for beta in (0.9, 0.5, 0.1, 0.01):
        beyond = float((drawn > law.radius(beta)).mean())
        assert abs(beyond - beta) <= 7 * math.sqrt(beta * (1 - beta) / 20_000)
    for place in (0, 1, 34, 35, 36, 37, 60, 80):
        digits = np.array([int(each) >> place & 1 for each in drawn])
        assert abs(digits.mean() - 0.5) <= 3.5 / math.sqrt(20_000)


@pytest.mark.parametrize("make", [DiscreteLaplace, DiscreteGaussian])
def test_scales_without_exact_noise_are_refused(make: Callable[[Fraction], Noise]) -> None:
    for scale in (Fraction(2**799), Fraction(1, 2**81)):
        with pytest.raises(QueryError, match="must lie between"):
            make(scale)
    with pytest.raises(QueryError):
        DiscreteLaplace(2**400 + 1)
    for bad in (0, -1, math.nan, True, "abc"):
        with pytest.raises(SulqError, match="positive"):
            make(bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("beta", [0, 1, -0.1, 2, 1e-310])
@pytest.mark.parametrize("law", [DiscreteLaplace(1), DiscreteGaussian(1)], ids=str)
def test_a_radius_needs_a_probability(law: Noise, beta: float) -> None:
    with pytest.raises(SulqError, match="beta must be"):
        law.radius(beta)
