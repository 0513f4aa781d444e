"""What noise costs: calibrations and conversions, held against losses that are added up here once more."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from fractions import Fraction

import sulq.privacy.calibration as calibrations
from sulq.audits.findings import AuditFinding, Check, Effort, all_of, exact
from sulq.errors import QueryError
from sulq.privacy.budget import ZCDP, ApproxDP, PureDP, cost_of_pure
from sulq.privacy.conversion import delta_of, epsilon_of, rho_of
from sulq.privacy.noise import DiscreteGaussian, DiscreteLaplace, Noise
from sulq.privacy.selection import ExponentialMechanism, PermuteAndFlip
from sulq.privacy.sulq import SulqGaussian, SulqLaplace
from sulq.privacy.terms import Contest, Pure, Settled, SumFacts, Terms, Way

WAYS: tuple[Way, ...] = ("usual", "permute-and-flip", "exponential", "pure")


def loss_of_sum(noise: Noise | None, moves1: Fraction, moves2: Fraction) -> Fraction:
    """What a sum costs, in the unit of its noise, if one person moves it so far, in steps of its grid."""
    if noise is None:
        return Fraction(10**12) if moves1 else Fraction(0)
    if isinstance(noise, DiscreteLaplace):
        return moves1 / noise.scale
    return moves2 / (2 * noise.variance)


def loss_of_contest(settled: Settled | None, contest: Contest, unit: str) -> Fraction:
    """What a choice costs in ε or in ρ: Theorem 6 of McSherry and Talwar, and Cesar and Rogers' ε²/8."""
    if settled is None:
        return Fraction(10**12) if contest.moves else Fraction(0)
    if isinstance(settled, Pure):
        return cost_in(settled.epsilon, unit)
    epsilon = (
        settled.epsilon
        * contest.moves
        / settled.sensitivity
        * (2 if settled.monotone and not contest.monotone else 1)
    )
    if unit == "rho" and isinstance(settled, ExponentialMechanism):
        # The logarithms of the ratios lie in a range of ε.
        return epsilon**2 / 8
    return cost_in(epsilon, unit)


def cost_in(epsilon: Fraction, unit: str) -> Fraction:
    return epsilon if unit == "epsilon" else epsilon**2 / 2


def _facts(dice: random.Random, tolerances: bool) -> SumFacts:
    step, width = Fraction(1, dice.choice([1, 4, 2**20])), dice.choice([1, 3, 50])
    size = Fraction(dice.randint(1, 1000), dice.choice([1, 7, 1000]))
    # A row adds at most `size` to one coordinate, or to several.
    moves1 = size * dice.randint(1, 2 * width)
    moves2, reach = moves1**2 / dice.choice([1, width]), min(moves1, 2 * size)
    if dice.random() < 0.1:
        moves1 = moves2 = reach = Fraction(0)
    stated = (
        (Fraction(dice.randint(1, 10**4)) * size, Fraction(1, dice.randint(3, 1000)))
        if tolerances
        else (None, None)
    )
    return SumFacts(step, width, moves1, moves2, size, reach, Fraction(dice.randint(1, 9), 3), *stated)


def _contest(dice: random.Random) -> Contest:
    moves = dice.randint(0, 9)
    return Contest(
        moves, dice.random() < 0.5, dice.randint(1, 9), Fraction(dice.randint(1, 9), 3), dice.choice(WAYS)
    )


def _loss(terms: Terms, sums: Sequence[SumFacts], contests: Sequence[Contest], unit: str) -> Fraction:
    noisy = [
        loss_of_sum(noise, facts.moves1 / facts.step, facts.moves2 / facts.step**2)
        for noise, facts in zip(terms.noises, sums, strict=True)
    ]
    chosen = [
        loss_of_contest(each, contest, unit)
        for each, contest in zip(terms.selections, contests, strict=False)
    ]
    return sum([*noisy, *chosen], Fraction(0))


def calibration(effort: Effort) -> Iterator[AuditFinding]:
    """Random rounds under every calibration."""
    dice = random.Random(22)
    tight: list[calibrations.Calibration] = [
        calibrations.Laplace(PureDP(1)),
        calibrations.Gaussian(ZCDP("1/8")),
        calibrations.Gaussian(ApproxDP(1, "1e-6")),
    ]
    for promised in tight:
        failures, tried, nearest = [], 0, 0.0
        for _ in range(100 if effort == "quick" else 20_000):
            by_tolerance = dice.random() < 0.15
            sums = [_facts(dice, by_tolerance) for _ in range(dice.randint(1, 4))]
            contests = [] if by_tolerance else [_contest(dice) for _ in range(dice.randint(0, 2))]
            share = Fraction(1, dice.choice([1, 3, 10, 10**6]))
            try:
                terms = (
                    promised.for_tolerances(sums)
                    if by_tolerance
                    else promised.for_cost(sums, contests, share * promised.total)
                )
            except QueryError:
                continue  # refused: too little noise or too much to draw exactly
            tried += 1
            loss = _loss(terms, sums, contests, promised.unit)
            nearest = max(nearest, float(loss / terms.cost) if terms.cost else 0.0)
            if loss > terms.cost * (1 + Fraction(1, 2**30)) or (
                not by_tolerance and terms.cost > share * promised.total
            ):
                failures.append(
                    f"{len(sums)} sums and {len(contests)} choices lose {float(loss):.6g} for "
                    f"{float(terms.cost):.6g}"
                )
        yield all_of(
            f"{promised.describe()}: random rounds",
            f"none loses more than it costs (nearest: {nearest:.4f} of it)",
            failures,
            tried,
        )
    yield from _papers()


def _papers() -> Iterator[AuditFinding]:
    """The SuLQ paper's own calibrations: T answers, each moved by its reach, have noise for all of them."""
    for promised in (SulqLaplace(1, 100), SulqGaussian(1, "1e-6", 100)):
        facts = SumFacts(Fraction(1, 4), 2, Fraction(6), Fraction(18), Fraction(3), Fraction(3), Fraction(1))
        [noise] = promised.for_cost([facts], [], None).noises
        each = (
            loss_of_sum(noise, facts.reach / facts.step, (facts.reach / facts.step) ** 2) * promised.queries
        )
        if isinstance(promised, SulqLaplace):
            claim, lost = float(promised.epsilon), float(each)
        else:
            claim, lost = float(promised.delta), delta_of(each, promised.epsilon)
        yield exact(
            f"{promised.describe()}: all of its queries",
            f"{claim:.6g}",
            f"{lost:.6g}",
            "any excess",
            lost <= claim,
        )


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
    yield exact(
        "mechanisms in ρ",
        "ε²/8 and ε²/2",
        f"{ExponentialMechanism(1, 1).rho()} and {PermuteAndFlip(1, 1).rho()}",
        "any difference",
        (ExponentialMechanism(1, 1).rho(), PermuteAndFlip(1, 1).rho()) == (Fraction(1, 8), Fraction(1, 2)),
    )


CHECKS = (
    Check(
        "calibration",
        "How much noise for how much budget",
        "Random rounds of sums and choices under every calibration: what they lose is added up from the "
        "mechanisms, and must not be more than what they cost.",
        calibration,
        ("Laplace", "Gaussian", "SulqLaplace", "SulqGaussian", "Pure"),
    ),
    Check(
        "conversion",
        "What ρ means in ε and δ",
        "The δ of exact Gaussian noise is summed, and Rényi's bound is worked out again.",
        conversion,
    ),
)
