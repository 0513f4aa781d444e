"""What ρ means as (ε, δ): valid, tight, monotone, and the three directions agree."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise

import pytest

from sulq.errors import SulqError
from sulq.privacy.conversion import delta_of, epsilon_of, rho_of

RHOS = [1e-9, 1e-4, 0.01, 0.1, 0.5, 2.0, 30.0]
DELTAS = [1e-300, 1e-15, 1e-6, 1e-2, 0.4]
EPSILONS = [1e-3, 0.1, 0.5, 1.0, 3.0, 10.0, 50.0]


def normal_cdf(x: float) -> float:
    return math.erfc(-x / math.sqrt(2)) / 2


def gaussian_delta(rho: float, epsilon: float) -> float:
    """The exact δ of the Gaussian mechanism that is ρ-zCDP: Balle and Wang, 2018, Theorem 8, with μ = Δ/σ."""
    mu = math.sqrt(2 * rho)
    return normal_cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * normal_cdf(-mu / 2 - epsilon / mu)


def log_delta_at_order(rho: float, epsilon: float, alpha: float) -> float:
    """The logarithm of Proposition 12 of Canonne, Kamath and Steinke, term by term as it is printed."""
    return (alpha - 1) * (alpha * rho - epsilon) - math.log(alpha - 1) + alpha * math.log(1 - 1 / alpha)


@pytest.mark.parametrize("rho", RHOS)
def test_the_conversion_never_promises_more_than_the_gaussian_mechanism_keeps(rho: float) -> None:
    for epsilon in EPSILONS:
        assert gaussian_delta(rho, epsilon) <= delta_of(rho, epsilon)


@pytest.mark.parametrize("rho", RHOS)
@pytest.mark.parametrize("delta", DELTAS)
def test_the_conversion_is_never_worse_than_the_textbook(rho: float, delta: float) -> None:
    textbook = rho + 2 * math.sqrt(rho * math.log(1 / delta))
    assert epsilon_of(rho, delta) < textbook
    assert rho_of(textbook, delta) > rho


@pytest.mark.parametrize("rho", [0.01, 0.1, 0.5, 2.0])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_the_best_order_is_found(rho: float, epsilon: float) -> None:
    orders = [1 + 10 ** (i / 1000 - 4) for i in range(7000)]
    best = math.exp(min(log_delta_at_order(rho, epsilon, alpha) for alpha in orders))
    assert best * (1 - 1e-3) <= delta_of(rho, epsilon) <= min(1, best * (1 + 1e-9))


@pytest.mark.parametrize("rho", RHOS)
def test_delta_is_never_rounded_below_the_optimum(rho: float) -> None:
    """The optimum in fifty digits, at the zero of the derivative (2a + 1)ρ − ε − ln(1 + 1/a)."""
    with localcontext() as context:
        context.prec = 50
        r = Decimal(rho)
        for e in map(Decimal, EPSILONS):
            low, high = Decimal("1e-30"), (e + 1) / r + 1
            for _ in range(200):
                a = (low * high).sqrt()
                low, high = (a, high) if (2 * a + 1) * r - e < (1 + 1 / a).ln() else (low, a)
            optimum = (a * ((a + 1) * r - e) + a * a.ln() - (a + 1) * (a + 1).ln()).exp()
            claimed = Decimal(delta_of(rho, float(e)))
            assert optimum <= claimed <= optimum * (1 + Decimal("1e-9")) + Decimal("1e-320")


def test_delta_falls_with_epsilon_and_grows_with_rho() -> None:
    for rho in RHOS:
        assert all(a >= b for a, b in pairwise(delta_of(rho, epsilon) for epsilon in EPSILONS))
    for epsilon in EPSILONS:
        assert all(a <= b for a, b in pairwise(delta_of(rho, epsilon) for rho in RHOS))


@pytest.mark.parametrize("rho", RHOS)
@pytest.mark.parametrize("delta", DELTAS)
def test_the_directions_are_inverse_and_each_rounds_against_the_claimant(rho: float, delta: float) -> None:
    epsilon = epsilon_of(rho, delta)
    assert delta_of(rho, epsilon) <= delta
    if epsilon == 0:
        return
    assert delta_of(rho, epsilon * (1 - 1e-9)) > delta
    back = rho_of(epsilon, delta)
    assert delta_of(back, epsilon) <= delta
    assert float(back) == pytest.approx(rho, rel=1e-9)


def test_spending_nothing_means_nothing() -> None:
    assert delta_of(0, 0) == delta_of(Fraction(0), 1) == 0
    assert epsilon_of(0, 1e-6) == 0


def test_a_rho_too_small_for_a_float_still_has_a_positive_delta() -> None:
    assert delta_of(Fraction(1, 10**400), 0) > 0


@pytest.mark.parametrize("bad", [-1, math.nan, math.inf])
def test_numbers_that_make_no_sense_are_refused(bad: float) -> None:
    with pytest.raises(SulqError, match="rho"):
        delta_of(bad, 1)
    with pytest.raises(SulqError, match="epsilon"):
        delta_of(1, bad)
    with pytest.raises(SulqError, match="delta"):
        epsilon_of(1, bad)


@pytest.mark.parametrize("delta", [0, 1, 1e-310, Fraction(1, 10**400)])
def test_delta_is_a_probability_that_a_float_can_hold(delta: float | Fraction) -> None:
    with pytest.raises(SulqError, match="delta"):
        rho_of(1, delta)


def test_an_epsilon_of_zero_has_no_rho() -> None:
    with pytest.raises(SulqError, match="epsilon"):
        rho_of(0, 1e-6)


def test_opendp_converts_alike() -> None:
    """OpenDP minimises over the same family, so the two ε differ by no more than its search tolerance."""
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    for rho in (0.01, 0.1, 2.0):
        space = dp.atom_domain(T="i64"), dp.absolute_distance(T="i64")
        gaussian = dp.m.make_gaussian(*space, scale=1 / math.sqrt(2 * rho))
        theirs = dp.c.make_zCDP_to_approxDP(gaussian).map(1)
        for delta in (1e-12, 1e-6):
            assert epsilon_of(rho, delta) == pytest.approx(theirs.epsilon(delta), rel=1e-4)
