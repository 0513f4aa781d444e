"""The ρ of pure mechanisms and of the exponential mechanism: never too small, never above the printed forms."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest

from sulq.privacy.coins import decimal
from sulq.privacy.concentrated import (
    epsilon_of_exponential,
    epsilon_of_pure,
    rho_of_exponential,
    rho_of_pure,
)

EPSILONS = [Fraction(1, 10**9), Fraction(1, 100), Fraction(1, 16), Fraction(1, 3), 1, 2, 5, 10, 40, 300]


def pure_exactly(epsilon: Fraction) -> Decimal:
    e = decimal(epsilon)
    return e * (1 - (-e).exp()) / (1 + (-e).exp())


def exponential_exactly(epsilon: Fraction) -> Decimal:
    e = decimal(epsilon)
    u = e / (1 - (-e).exp())
    return u - 1 - u.ln()


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_rho_is_rounded_up_by_little_and_never_above_the_printed_form(epsilon: Fraction) -> None:
    with localcontext() as context:
        context.prec = 60
        e = Fraction(epsilon)
        for rho, exactly, printed in (
            (rho_of_pure(e), pure_exactly(e), e**2 / 2),
            (rho_of_exponential(e), exponential_exactly(e), e**2 / 8),
        ):
            assert exactly * (1 - Decimal("1e-30")) <= decimal(rho) <= exactly * Decimal("1.0001")
            assert rho <= printed


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0, 12.0])
def test_randomized_response_has_no_larger_divergence_and_reaches_it(epsilon: float) -> None:
    p = 1 / (1 + math.exp(-epsilon))
    rho = float(rho_of_pure(Fraction(epsilon)))

    def per_order(alpha: float) -> float:
        one, other = (alpha * math.log(x) + (1 - alpha) * math.log(1 - x) for x in (p, 1 - p))
        larger = max(one, other)
        return (larger + math.log(math.exp(one - larger) + math.exp(other - larger))) / (alpha - 1) / alpha

    ratios = [per_order(1 + 10 ** (power / 20)) / rho for power in range(-60, 60)]
    assert max(ratios) <= 1 + 1e-9
    assert ratios[0] > 0.998  # near order 1 it is met: a smaller rho would be wrong


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0, 12.0])
def test_two_losses_that_are_epsilon_apart_have_no_larger_divergence_and_reach_it(epsilon: float) -> None:
    """All that the exponential mechanism can do, by the log-odds b of the larger loss."""
    rho = float(rho_of_exponential(Fraction(epsilon)))

    def soft(x: float) -> float:
        return max(x, 0.0) + math.log1p(math.exp(-abs(x)))

    worst = 0.0
    for step in range(-300, 301):
        b = epsilon / 2 + step / 50
        for power in range(-40, 40):
            a = 10 ** (power / 20)
            c = soft(b + a * epsilon) - soft(b) - a * (soft(b) - soft(b - epsilon))
            worst = max(worst, c / (a * (a + 1)))
    assert 0.995 * rho < worst <= rho * (1 + 1e-9)


@pytest.mark.parametrize("rho", [Fraction(1, 10**12), Fraction(1, 100), Fraction(1, 8), 1, 20, 500])
def test_the_largest_epsilon_for_a_rho_costs_it_and_no_more(rho: Fraction) -> None:
    for largest, cost, square in (
        (epsilon_of_pure, rho_of_pure, 2),
        (epsilon_of_exponential, rho_of_exponential, 8),
    ):
        epsilon = largest(Fraction(rho))
        assert cost(epsilon) <= rho < cost(epsilon * Fraction(1_000_001, 1_000_000))
        assert epsilon >= math.sqrt(square * rho) * (1 - 1e-9)
