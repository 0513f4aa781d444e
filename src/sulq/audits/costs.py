"""What noise costs: calibrations and conversions, held against losses that are added up here once more."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import get_args

import sulq.privacy.calibration as calibrations
from sulq.audits.findings import AuditFinding, Check, Effort, all_of, exact
from sulq.errors import QueryError
from sulq.privacy.budget import ZCDP, ApproxDP, PureDP
from sulq.privacy.conversion import delta_of
from sulq.privacy.finer import FinerGaussian
from sulq.privacy.noise import DiscreteLaplace
from sulq.privacy.prices import Accounting, Prices
from sulq.privacy.repeated import AddedNoise, RepeatedNoise
from sulq.privacy.selection import ExponentialMechanism
from sulq.privacy.spherical import SphericalLaplace
from sulq.privacy.sulq import SulqGaussian, SulqLaplace
from sulq.privacy.terms import Contest, Pure, Settled, SharedCondition, SumFacts, Terms, Way
from sulq.queries.exchanged import VectorMoves

BY_RHO = Prices(Fraction(0))
"""Every ρ is charged as it is."""
WAYS: tuple[Way, ...] = ("usual", "permute-and-flip", "exponential", "pure")


def loss_of_sum(
    noise: AddedNoise | None,
    moves1: Fraction,
    moves2: Fraction,
    lengths: Fraction = Fraction(0),
    prices: Prices = BY_RHO,
) -> Fraction:
    """What a sum costs, in the unit of its noise, if one person moves it so far, in steps of its grid.

    Args:
        noise: its noise.
        moves1: how far it moves in the 1-norm.
        moves2: the square of how far it moves in the 2-norm.
        lengths: the 2-norms of what moves in each vector, added up, where the noise is of vectors.
        prices: what is charged for what.
    """
    if noise is None:
        return Fraction(10**12) if moves1 else Fraction(0)
    if isinstance(noise, RepeatedNoise):
        # The tally is made of so many answers, each with noise of its own.
        return noise.times * loss_of_sum(noise.noise, moves1, moves2)
    if isinstance(noise, FinerGaussian):
        return loss_of_sum(noise.noise, moves1 * noise.times, moves2 * noise.times**2, prices=prices)
    if isinstance(noise, DiscreteLaplace):
        return moves1 / noise.scale
    if isinstance(noise, SphericalLaplace):
        return lengths / noise.scale
    by_rho = math.inf if prices.noise is None else prices.noise * moves2 / (2 * noise.variance)
    # The noise without what rounds it to the grid.
    rest = noise.variance - prices.rounding
    return Fraction(min(by_rho, moves2 / (2 * rest) if rest > 0 else math.inf))


def loss_of_contest(
    settled: Settled | None, contest: Contest, unit: str, prices: Prices = BY_RHO
) -> Fraction:
    """What a choice costs in ε or in ρ: Theorem 6 of McSherry and Talwar; Dong, Durfee and Rogers."""
    if settled is None:
        return Fraction(10**12) if contest.moves else Fraction(0)
    if isinstance(settled, Pure):
        return cost_in(settled.epsilon, unit, prices)
    epsilon = (
        settled.epsilon
        * contest.moves
        / settled.sensitivity
        * (2 if settled.monotone and not contest.monotone else 1)
    )
    if unit == "rho" and isinstance(settled, ExponentialMechanism):
        # The logarithms of the ratios lie in a range of ε, and the chances are the worst for that range.
        if not prices.concentrated:
            return prices.choice * epsilon**2 / 8
        u = float(epsilon) / -math.expm1(-float(epsilon))
        divergence = u - 1 - math.log(u) if epsilon > Fraction(1, 100) else float(epsilon**2 / 8)
        return prices.choice * Fraction(divergence)
    return cost_in(epsilon, unit, prices)


def cost_in(epsilon: Fraction, unit: str, prices: Prices) -> Fraction:
    """What a pure mechanism costs: the divergence of randomized response, or what hides it as a Gaussian."""
    if unit == "epsilon":
        return epsilon
    if not prices.concentrated:
        return prices.choice * epsilon**2 / 2
    return prices.choice * Fraction(float(epsilon) * math.tanh(float(epsilon) / 2))


def _facts(dice: random.Random, tolerances: bool) -> SumFacts:
    step, width = Fraction(1, dice.choice([1, 4, 2**20])), dice.choice([1, 3, 50])
    size = Fraction(dice.randint(1, 1000), dice.choice([1, 7, 1000]))
    # A row adds at most `size` to one coordinate, or to several.
    moves1 = size * dice.randint(1, 2 * width)
    moves2, reach = moves1**2 / dice.choice([1, width]), min(moves1, 2 * size)
    if dice.random() < 0.1:
        moves1 = moves2 = reach = Fraction(0)
    tolerance = Fraction(dice.randint(1, 10**4)) * size if tolerances else None
    beta = Fraction(1, dice.randint(3, 1000)) if tolerances else None
    shared = None
    if dice.random() < 0.5:
        inside, alone = ((moves1 / dice.randint(1, 3), moves2 / dice.randint(1, 9)) for _ in range(2))
        shared = SharedCondition(dice.choice(["this", "that"]), inside, alone)
    weight = Fraction(dice.randint(1, 9), 3)
    vectors = None
    if width > 1 and moves1 and dice.random() < 0.5:
        # Between the 1-norm, which is never shorter, and the 1-norm over the root of the width.
        length, part = (Fraction(1, dice.randint(1, math.isqrt(width))) for _ in range(2))
        ways = [length * moves1, length * part * moves1]
        dice.shuffle(ways)
        vectors = VectorMoves(width, length * moves1, *ways)
    return SumFacts(step, width, moves1, moves2, size, reach, weight, tolerance, beta, shared, vectors)


def _contest(dice: random.Random) -> Contest:
    moves = dice.randint(0, 9)
    return Contest(
        moves, dice.random() < 0.5, dice.randint(1, 9), Fraction(dice.randint(1, 9), 3), dice.choice(WAYS)
    )


def _loss(
    terms: Terms, sums: Sequence[SumFacts], contests: Sequence[Contest], unit: str, prices: Prices
) -> Fraction:
    conditions = sorted({facts.shared.condition for facts in sums if facts.shared})
    # Of two rows that are exchanged, both satisfy a condition, or one does.
    noisy = max(
        sum(
            (
                _moved(noise, facts, dict(zip(conditions, which, strict=True)), prices)
                for noise, facts in zip(terms.noises, sums, strict=True)
            ),
            Fraction(0),
        )
        for which in itertools.product((True, False), repeat=len(conditions))
    )
    chosen = [
        loss_of_contest(each, contest, unit, prices)
        for each, contest in zip(terms.selections, contests, strict=False)
    ]
    return sum(chosen, noisy)


def _moved(noise: AddedNoise | None, facts: SumFacts, both: Mapping[str, bool], prices: Prices) -> Fraction:
    moves, lengths = (facts.moves1, facts.moves2), facts.vectors.moves if facts.vectors else Fraction(0)
    if facts.shared is not None:
        inside = both[facts.shared.condition]
        moves = facts.shared.inside if inside else facts.shared.alone
        if facts.vectors is not None:
            lengths = facts.vectors.inside if inside else facts.vectors.alone
    return loss_of_sum(noise, moves[0] / facts.step, moves[1] / facts.step**2, lengths / facts.step, prices)


def calibration(effort: Effort) -> Iterator[AuditFinding]:
    """Random rounds under every calibration."""
    dice = random.Random(22)
    tight: list[calibrations.Laplace | calibrations.Gaussian] = [
        calibrations.Laplace(PureDP(1)),
        calibrations.Gaussian(ZCDP("1/8")),
        *(calibrations.Gaussian(ApproxDP(1, "1e-6", each)) for each in get_args(Accounting)),
    ]
    for promised in tight:
        prices = getattr(promised.budget, "prices", BY_RHO)
        failures, tried, nearest = [], 0, 0.0
        for _ in range(100 if effort == "quick" else 4_000):
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
            loss = _loss(terms, sums, contests, promised.unit, prices)
            nearest = max(nearest, float(loss / terms.cost) if terms.cost else 0.0)
            if loss > terms.cost * (1 + Fraction(1, 2**30)) or (
                not by_tolerance and terms.cost > share * promised.total
            ):
                failures.append(
                    f"{len(sums)} sums and {len(contests)} choices lose {float(loss):.6g} for "
                    f"{float(terms.cost):.6g}"
                )
        yield all_of(
            f"{promised.describe()}{_named(promised)}: random rounds",
            f"none loses more than it costs (nearest: {nearest:.4f} of it)",
            failures,
            tried,
        )
    yield from _papers()


def _named(promised: calibrations.Laplace | calibrations.Gaussian) -> str:
    return f", {promised.budget.accounting}" if isinstance(promised.budget, ApproxDP) else ""


def _papers() -> Iterator[AuditFinding]:
    """The SuLQ paper's own calibrations: T answers, each moved by its reach, have noise for all of them.

    With a tolerance a query is asked several times, and every time is one of the T.
    """
    facts = SumFacts(
        Fraction(1, 4),
        2,
        Fraction(6),
        Fraction(18),
        Fraction(3),
        Fraction(3),
        Fraction(1),
        Fraction(90),
        Fraction(1, 3),
    )
    reach = facts.reach / facts.step
    for promised in (SulqLaplace(1, 100), SulqGaussian(1, "1e-6", 100)):
        for way, terms in (
            ("its queries", promised.for_cost([facts], [], None)),
            ("its queries, asked several times for a tolerance", promised.for_tolerances([facts])),
        ):
            each = loss_of_sum(terms.noises[0], reach, reach**2) * facts.width / terms.cost
            if isinstance(promised, SulqLaplace):
                claim, lost = float(promised.epsilon), float(each * promised.queries)
            else:
                claim, lost = float(promised.delta), delta_of(each * promised.queries, promised.epsilon)
            yield exact(
                f"{promised.describe()}: all of {way}",
                f"{claim:.6g}",
                f"{lost:.6g}",
                "any excess",
                lost <= claim,
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
)
