"""What ρ means in ε and δ: held against exact sums over all outcomes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import get_args

import sulq.privacy.calibration as calibrations
from sulq.audits.findings import AuditFinding, Check, Effort, exact
from sulq.privacy.budget import ApproxDP
from sulq.privacy.composition import cost_of_pure
from sulq.privacy.conversion import epsilon_of, rho_of
from sulq.privacy.finer import FinerGaussian
from sulq.privacy.noise import DiscreteGaussian
from sulq.privacy.prices import Accounting
from sulq.privacy.selection import ExponentialMechanism, PermuteAndFlip
from sulq.privacy.terms import Contest, SumFacts

MANY = 64
"""So many choices make a budget for choices together."""


def conversion(effort: Effort) -> Iterator[AuditFinding]:
    """What a ρ means in (ε, δ): the δ of exact Gaussian noise, summed, never beats the claim."""
    for epsilon, delta in ((1.0, 1e-6), (0.1, 1e-5), (4.0, 1e-9), (0.5, 0.01)):
        rho = rho_of(epsilon, delta)
        variance = 1 / (2 * rho)
        noise = DiscreteGaussian(variance)
        reach = int(12 * noise.std)
        stride = max(1, reach // 4000)
        # Where one step is little, few steps stand for many: the loss is linear in k, the chance smooth.
        lost = stride * math.fsum(
            max(0.0, noise.pmf(k) - math.exp(epsilon) * noise.pmf(k + 1))
            for k in range(-reach, reach + 1, stride)
        )
        yield exact(
            f"ρ for ε = {epsilon:g}, δ = {delta:g}",
            f"δ = {delta:.4g}",
            f"δ = {lost:.4g} by Gaussian noise",
            "any excess",
            lost <= delta,
        )
        renyi = min(
            (a - 1) * (a * float(rho) - epsilon) + (a - 1) * math.log(a - 1) - a * math.log(a)
            for a in (1 + 10 ** (power / 500) for power in range(-1500, 2500))
        )
        yield exact(
            f"ρ for ε = {epsilon:g}, δ = {delta:g}: by Rényi divergence",
            f"δ = {delta:.6g}",
            f"δ = {math.exp(renyi):.6g} at best",
            "an excess of a thousandth",
            math.exp(renyi) <= delta * 1.001 and epsilon_of(rho, delta) <= epsilon * (1 + 1e-9),
        )
    for epsilon_ in (Fraction(1, 2), Fraction(3)):
        claim = cost_of_pure(epsilon_, "rho")
        # Randomized response loses the most of all that is ε-differentially private.
        p = math.exp(epsilon_) / (1 + math.exp(epsilon_))
        lost = max(
            math.log(p**a * (1 - p) ** (1 - a) + (1 - p) ** a * p ** (1 - a)) / (a - 1) / a
            for a in (1.01, 1.5, 2.0, 4.0)
        )
        yield exact(
            f"ε = {epsilon_} in ρ",
            f"{float(claim):.6g}",
            f"{lost:.6g} by randomized response",
            "any excess",
            lost <= claim,
        )
    printed = ExponentialMechanism(1, 1).rho(printed=True), PermuteAndFlip(1, 1).rho(printed=True)
    yield exact(
        "mechanisms in ρ, as printed",
        "ε²/8 and ε²/2",
        f"{printed[0]} and {printed[1]}",
        "any difference",
        printed == (Fraction(1, 8), Fraction(1, 2)),
    )
    for accounting in get_args(Accounting):
        yield from _together(ApproxDP(1, "1e-6", accounting))


def _together(promise: ApproxDP) -> Iterator[AuditFinding]:
    """The whole budget, for noise alone and for noise beside choices: every outcome is enumerated.

    What many small choices lose is nearly what Gaussian noise of their price loses, and little less.
    """
    calibration = calibrations.Gaussian(promise)
    one, contest = Fraction(1), Contest(1, False, 1, Fraction(1), "exponential")
    for grid, share, choices in (
        (1, one, 0),
        (16, one, 0),
        (16, Fraction(9, 10), 1),
        (4, Fraction(1, 2), 1),
        (16, Fraction(1, 4), MANY),
    ):
        facts = SumFacts(Fraction(1, grid), 1, one, one, one, one, one)
        [noise] = calibration.for_cost([facts], [], share * promise.total).noises
        if isinstance(noise, FinerGaussian):
            grid, noise = grid * noise.times, noise.noise
        assert isinstance(noise, DiscreteGaussian)
        odds = 0.0
        if choices:
            settled = calibration.for_cost([], [contest] * choices, (1 - share) * promise.total).selections[0]
            assert settled is not None
            odds = float(settled.epsilon) / 2
        chances = _chosen(choices, odds), _chosen(choices, -odds)
        reach, twice = int(12 * noise.std) + grid, float(2 * noise.variance)
        weights = {k: math.exp(-(k**2) / twice) for k in range(-reach - grid, reach + grid + 1)}
        whole = math.fsum(weights.values())
        lost = math.fsum(
            max(0.0, here * weights[k] - math.exp(promise.epsilon) * there * weights[k + grid]) / whole
            for here, there in zip(*chances, strict=True)
            for k in range(-reach, reach + 1)
        )
        several = "a choice" if choices == 1 else f"{choices} choices"
        beside = f", beside {several} for {float(1 - share):.0%} of the budget" if choices else ""
        yield exact(
            f"{promise.describe()}, {promise.accounting}: noise of {noise.std:.1f} steps{beside}",
            f"δ = {float(promise.delta):.4g}",
            f"δ = {lost:.4g}",
            "any excess",
            lost <= promise.delta,
        )


def _chosen(choices: int, odds: float) -> list[float]:
    """How likely it is that one of two candidates is chosen 0 times, once, …, every time.

    Args:
        choices: how often there is a choice between the two.
        odds: the logarithm of the odds of that candidate.
    """
    chance = 1 / (1 + math.exp(-odds))
    return [
        math.comb(choices, times) * chance**times * (1 - chance) ** (choices - times)
        for times in range(choices + 1)
    ]


CHECKS = (
    Check(
        "conversion",
        "What ρ means in ε and δ",
        "The δ of exact Gaussian noise is summed, alone and beside a choice, and Rényi's bound is worked out "
        "again.",
        conversion,
    ),
)
