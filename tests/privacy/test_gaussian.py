"""Exact Gaussian accounting: the δ itself, and discrete noise as rounded continuous noise."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from sulq.errors import SulqError
from sulq.privacy.conversion import delta_of, rho_of
from sulq.privacy.gaussian import ROUNDING_VARIANCE, gaussian_delta, gaussian_total
from sulq.privacy.noise import DiscreteGaussian

GRID = [(0.01, 1e-5), (0.1, 1e-6), (1, 1e-6), (1, 1e-12), (3, 1e-3), (10, 1e-6), (100, 1e-9), (400, 1e-100)]


def integrated(g: float, epsilon: float) -> float:
    """E[(1 − e^(ε − Y))₊] for Y from N(g, 2g), by the trapezoid rule in a range where it counts."""
    high = max(epsilon, g) + 40 * math.sqrt(2 * g)
    y = np.linspace(epsilon, high, 200_001)
    density = np.exp(-((y - g) ** 2) / (4 * g)) / math.sqrt(4 * math.pi * g)
    return float(np.trapezoid(-np.expm1(epsilon - y) * density, y))


@pytest.mark.parametrize(("epsilon", "delta"), GRID)
def test_the_formula_is_the_mean_that_it_stands_for_and_is_rounded_up(epsilon: float, delta: float) -> None:
    g = float(rho_of(epsilon, delta))
    true = integrated(g, epsilon)
    assert true * (1 - 1e-5) <= gaussian_delta(g, epsilon) <= true * (1 + 1e-4)
    assert gaussian_delta(g, epsilon) <= delta_of(g, epsilon)


@pytest.mark.parametrize(("epsilon", "delta"), GRID)
def test_the_total_keeps_the_promise_and_one_that_is_a_little_larger_does_not(
    epsilon: float, delta: float
) -> None:
    total = gaussian_total(Fraction(epsilon), Fraction(delta))
    assert integrated(float(total), epsilon) <= delta * (1 + 1e-5)
    assert integrated(float(total) * 1.0001, epsilon) > delta
    assert total > rho_of(epsilon, delta)


def test_sigma_is_5_to_8_percent_smaller_than_by_zcdp_alone() -> None:
    for epsilon in ("1/10", "1/2", "1", "3", "10"):
        e, delta = Fraction(epsilon), Fraction(1, 10**6)
        assert 0.915 < math.sqrt(rho_of(e, delta) / gaussian_total(e, delta)) < 0.95


def rounded(variance: float, r: float, k: int) -> float:
    """The chance of k, if continuous noise of this variance is rounded as the proof has it."""
    y = np.linspace(-60, 60, 12_001)
    theta = sum(np.exp(-((j - y) ** 2) / (2 * r * r)) for j in range(-80, 81))
    density = np.exp(-(y**2) / (2 * variance)) / math.sqrt(2 * math.pi * variance)
    return float(np.trapezoid(density * np.exp(-((k - y) ** 2) / (2 * r * r)) / theta, y))


@pytest.mark.parametrize("variance", [4.5, 9.0, 30.0])
def test_discrete_noise_is_continuous_noise_of_a_smaller_variance_rounded(variance: float) -> None:
    noise = DiscreteGaussian(Fraction(variance))
    for k in (0, 1, 4, 9):
        ratio = rounded(variance - ROUNDING_VARIANCE, math.sqrt(ROUNDING_VARIANCE), k) / noise.pmf(k)
        assert ratio == pytest.approx(1, abs=1e-9)
    # A rounding of less than the smoothing parameter would not do.
    assert abs(rounded(variance - 0.09, 0.3, 0) / noise.pmf(0) - 1) > 1e-4


def test_what_floats_cannot_tell_is_refused() -> None:
    for epsilon, delta in ((Fraction(1, 2**21), Fraction(1, 10**6)), (Fraction(513), Fraction(1, 10**6))):
        with pytest.raises(SulqError, match="from 2\\^-20 to 512"):
            gaussian_total(epsilon, delta)
    with pytest.raises(SulqError, match="a delta from 1e-250, got 1 and 1e-260"):
        gaussian_total(Fraction(1), Fraction(1, 10**260))
