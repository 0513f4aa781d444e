"""What is charged for what, by every accounting of (ε, δ)."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from sulq.errors import QueryError, SulqError
from sulq.privacy.budget import ZCDP, ApproxDP
from sulq.privacy.calibrated import calibrated
from sulq.privacy.calibration import Gaussian
from sulq.privacy.conversion import rho_of
from sulq.privacy.finer import FinerGaussian
from sulq.privacy.noise import DiscreteGaussian
from sulq.privacy.prices import HALF_PI, Accounting, Prices
from sulq.privacy.selection import ExponentialMechanism
from sulq.privacy.terms import Contest, SumFacts

ONE = Fraction(1)
ALL: list[Accounting] = ["tight", "gaussian", "zcdp"]


def inverse_normal(chance: float) -> float:
    low, high = -40.0, 40.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if math.erfc(-middle / math.sqrt(2)) / 2 < chance else (low, middle)
    return low


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 2.0, 8.0])
def test_a_choice_is_told_apart_no_better_than_gaussian_noise_at_its_price(epsilon: float) -> None:
    assert float(HALF_PI) > math.pi / 2
    most = math.sqrt(2 * float(HALF_PI) * epsilon**2 / 8)
    for step in range(-100, 101):
        b = epsilon / 2 + step / 20  # the log-odds of one candidate on one of the tables
        p, q = (1 / (1 + math.exp(-x)) for x in (b, b - epsilon))
        assert inverse_normal(p) - inverse_normal(q) <= most * (1 + 1e-9)
    if epsilon < 0.1:  # where the bound is met
        corner = 1 / (1 + math.exp(-epsilon / 2))
        assert 2 * inverse_normal(corner) > 0.999 * most


@pytest.mark.parametrize("accounting", ALL)
@pytest.mark.parametrize("step", [ONE, Fraction(1, 3), Fraction(1, 2**15)])
def test_what_a_tolerance_costs_would_buy_noise_of_the_same_variance(
    accounting: Accounting, step: Fraction
) -> None:
    calibration = Gaussian(ApproxDP(1, "1e-6", accounting))
    facts = SumFacts(step, 1, ONE, ONE, ONE, ONE, ONE, tolerance=Fraction(40), beta=Fraction(1, 20))
    terms = calibration.for_tolerances([facts])
    again = calibration.for_cost([facts], [], terms.cost)
    assert isinstance(terms.noises[0], DiscreteGaussian)
    assert isinstance(again.noises[0], DiscreteGaussian)
    assert float(again.noises[0].variance) == pytest.approx(float(terms.noises[0].variance), rel=1e-6)


@pytest.mark.parametrize("accounting", ALL)
def test_noise_and_choices_cost_no_less_than_their_rho(accounting: Accounting) -> None:
    """So whatever the accounting, what is spent in all is the ρ of a zCDP promise too."""
    calibration = Gaussian(ApproxDP(1, "1e-6", accounting))
    facts = SumFacts(ONE, 1, ONE, ONE, ONE, ONE, ONE)
    for share in (ONE, Fraction(1, 10), Fraction(1, 1000)):
        terms = calibration.for_cost([facts], [Contest(1, False, 1, ONE)], share * calibration.total)
        [noise], [settled] = terms.noises, terms.selections
        assert isinstance(noise, DiscreteGaussian | FinerGaussian)
        assert isinstance(settled, ExponentialMechanism)
        assert noise.rho(1) + settled.rho() <= terms.cost


def test_a_tight_budget_has_less_noise_and_choices_that_are_little_weaker() -> None:
    before, now = (Gaussian(ApproxDP(1, "1e-6", name)) for name in ("zcdp", "tight"))
    facts, contest = SumFacts(Fraction(1, 100), 1, ONE, ONE, ONE, ONE, ONE), Contest(1, False, 1, ONE)
    noises = [each.for_cost([facts], [], each.total / 10).noises[0] for each in (before, now)]
    choices = [each.for_cost([], [contest], each.total / 10).selections[0] for each in (before, now)]
    stds = [noise.std for noise in noises if noise is not None]
    assert 0.96 < stds[1] / stds[0] < 0.972
    epsilons = [float(choice.epsilon) for choice in choices if choice is not None]
    assert 0.95 < epsilons[1] / epsilons[0] < 0.96


def test_zcdp_budgets_are_spent_as_before() -> None:
    facts = SumFacts(ONE, 1, ONE, ONE, ONE, ONE, ONE)
    [noise] = Gaussian(ZCDP("1/8")).for_cost([facts], [], Fraction(1, 8)).noises
    assert noise == DiscreteGaussian(4)


@pytest.mark.parametrize(("epsilon", "delta"), [("1e-9", "1e-6"), ("1000", "1e-6"), ("1", "1e-299")])
def test_where_floats_cannot_tell_zcdp_alone_counts(epsilon: str, delta: str) -> None:
    promise = ApproxDP(epsilon, delta)
    assert promise.prices == Prices(rho_of(promise.epsilon, promise.delta))
    with pytest.raises(SulqError, match="exact Gaussian accounting takes"):
        ApproxDP(epsilon, delta, "gaussian")


def test_noise_too_small_to_be_rounded_is_refused_by_the_accounting_that_needs_it() -> None:
    facts = SumFacts(ONE, 1, ONE, ONE, ONE, ONE, ONE, tolerance=ONE, beta=Fraction(1, 3))
    with pytest.raises(QueryError, match="use calibration='tight'"):
        Gaussian(ApproxDP(1, "1e-6", "gaussian")).for_tolerances([facts])
    assert Gaussian(ApproxDP(1, "1e-6")).for_tolerances([facts]).cost > 0


@pytest.mark.parametrize("accounting", ["tight", "gaussian"])
@pytest.mark.parametrize("delta", ["1e-3", "1e-6", "1e-9"])
def test_exact_accounting_makes_no_noise_wider_that_can_be_seen(delta: str, accounting: Accounting) -> None:
    """Below a standard deviation of 0.6 steps noise is 0 nearly always, and that of whole steps most often."""
    facts = SumFacts(ONE, 1, ONE, ONE, ONE, ONE, ONE)
    for epsilon in ("0.1", "1", "3", "10", "20", "50"):
        before, now = (Gaussian(ApproxDP(epsilon, delta, each)) for each in ("zcdp", accounting))
        for share in ("1", "1/2", "1/10", "1/100", "1/1000"):
            stds = []
            for calibration in (before, now):
                [noise] = calibration.for_cost([facts], [], Fraction(share) * calibration.total).noises
                assert isinstance(noise, DiscreteGaussian | FinerGaussian)
                stds.append(noise.std)
            assert stds[1] < (
                stds[0] if stds[0] >= 0.6 else stds[0] + (0.04 if accounting == "tight" else 0.25)
            )


@pytest.mark.parametrize("accounting", ["tight", "gaussian"])
def test_what_rounds_noise_takes_a_quarter_of_the_gain_at_most(accounting: Accounting) -> None:
    prices = Prices.of(accounting, ONE, Fraction(1, 10**6))
    for continuous in (Fraction(3, 10), ONE, Fraction(9), Fraction(60), Fraction(10**4)):
        bits, most = prices.bits(continuous), prices.gain * continuous / 4
        assert 4 / Fraction(4**bits) <= most and (bits == 0 or 4 / Fraction(4 ** (bits - 1)) > most)
    assert prices.bits(Fraction(10**4)) == 0 == Prices(ONE).bits(ONE)


def test_a_tolerance_of_few_steps_costs_little_more_than_by_rho() -> None:
    for tolerance in (1, 3, 6, 12, 20, 60):
        facts = SumFacts(ONE, 1, ONE, ONE, ONE, ONE, ONE, tolerance=Fraction(tolerance), beta=Fraction(1, 20))
        calibrations = [Gaussian(ApproxDP(1, "1e-6", each)) for each in ("tight", "zcdp")]
        now, by_rho = (float(each.for_tolerances([facts]).cost / each.total) for each in calibrations)
        assert now < by_rho * (1.102 if tolerance < 18 else 1)


def test_an_accounting_is_for_epsilon_with_delta() -> None:
    assert calibrated(1, "1e-6", None, "gaussian", None) == Gaussian(ApproxDP(1, "1e-6", "gaussian"))
    for epsilon, rho in ((1, None), (None, 1)):
        with pytest.raises(QueryError, match="calibration='zcdp' is for epsilon with delta"):
            calibrated(epsilon, None, rho, "zcdp", None)
