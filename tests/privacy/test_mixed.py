"""Gaussian noise beside other mechanisms: the bound, and every kind of composition held against it, exactly."""

from __future__ import annotations

import functools
import math
import random
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from sulq.privacy.budget import ApproxDP
from sulq.privacy.calibration import Gaussian
from sulq.privacy.conversion import rho_of
from sulq.privacy.finer import FinerGaussian
from sulq.privacy.gaussian import gaussian_delta, gaussian_total
from sulq.privacy.mixed import DEARER, adaptive_delta, keeps, mixed_total
from sulq.privacy.noise import DiscreteGaussian
from sulq.privacy.prices import Accounting
from sulq.privacy.repeated import AddedNoise
from sulq.privacy.selection import ExponentialMechanism
from sulq.privacy.terms import Contest, Pure, SumFacts
from tests.effort import either

Law = tuple[NDArray[np.float64], NDArray[np.float64]]
"""The chances of all outcomes on one table, and on its neighbour."""
ONE = Fraction(1)
GRID = [(1.0, 1e-6), (0.1, 1e-6), (10.0, 1e-6), (1.0, 1e-9), (1.0, 1e-3), (50.0, 1e-6), (1.0, 1e-100)]


def adaptive(total: float, price: float, epsilon: float, rounds: int) -> float:
    """The largest δ of one who, for each loss so far, spends a part of the budget on noise or on the rest.

    Of the rest nothing is known but its ρ, so that the bound of `mixed.py` on what it does is taken: backwards
    from the last round, on a grid of losses.
    """
    deviation, part = math.sqrt(2 * total), total / rounds
    width = deviation / 100
    losses = np.arange(-3 * deviation, epsilon + 8 * deviation, width)
    reach = math.ceil((9 * math.sqrt(2 * part) + part) / width)
    kernel = np.exp(-((np.arange(-reach, reach + 1) * width - part) ** 2) / (4 * part))
    kernel /= kernel.sum()
    o = part / price
    by = np.arange(0, o + 7 * math.sqrt(o), width)
    weights = np.exp(-(np.maximum(by - o, 0) ** 2) / (4 * o))
    worth = np.maximum(0, 1 - np.exp(epsilon - losses))
    for _ in range(rounds):
        wide = np.concatenate([np.zeros(reach), worth, np.full(reach, worth[-1])])
        noise = np.convolve(wide, kernel[::-1], "valid")
        rest = np.max([w * wide[reach + i :][: len(worth)] for i, w in enumerate(weights[:reach])], axis=0)
        worth = np.maximum(noise, rest)
    return float(np.interp(0.0, losses, worth))


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-6), (0.5, 1e-3), (5.0, 1e-6)])
def test_to_divide_a_budget_in_view_of_the_answers_gains_no_more_than_delta(
    epsilon: float, delta: float
) -> None:
    """If every division that is made beforehand keeps δ, one that depends on the loss so far may not."""
    e, d = Fraction(epsilon), Fraction(delta)
    total, alone = float(mixed_total(e, d)), float(rho_of(e, d))
    price = float(DEARER) * total / alone
    assert adaptive_delta(total, price, epsilon) <= delta
    assert 0.5 * delta < adaptive(total, price, epsilon, 30) <= delta
    if (epsilon, delta) == (1.0, 1e-6):  # 0.0271 keeps every division that is made beforehand
        assert adaptive(0.0271, 1.2246, epsilon, 30) > 1.02 * delta


@pytest.mark.parametrize("price", [1.1, 1.2, 1.5, 3.0])
def test_noise_for_the_same_budget_dominates_all_else_under_the_function_of_the_proof(price: float) -> None:
    """F is above h, and R_o F ≤ T_(Wo) F: looked at on a grid."""
    m, epsilon, o = 1 / (price - 1), 1.0, 0.004
    losses = np.linspace(-1, 4, 10_001)
    for below in (0.01, 0.1, 0.5):
        most = (-math.expm1(-below / m)) ** -m
        begins = epsilon - below

        def height(at: NDArray[np.float64], b: float = begins, c: float = most) -> NDArray[np.float64]:
            return np.asarray(c * np.maximum(0, -np.expm1((b - at) / (1 + m))) ** (1 + m))

        assert (height(losses) >= np.maximum(0, 1 - np.exp(epsilon - losses)) * (1 - 1e-12)).all()
        g = price * o
        y = g + math.sqrt(2 * g) * np.linspace(-9, 9, 1801)
        chances = np.exp(-((y - g) ** 2) / (4 * g))
        chances /= chances.sum()
        for at in np.linspace(begins - 0.2, begins + 1.5, 35):
            by = np.linspace(0, 1, 2001)
            rest = height(at + by) * np.exp(-(np.maximum(by - o, 0) ** 2) / (4 * o))
            assert rest.max() <= float(chances @ height(at + y)) * (1 + 1e-6)


@pytest.mark.parametrize(("epsilon", "delta"), GRID)
def test_the_budget_is_between_that_of_zcdp_and_that_of_noise_alone(epsilon: float, delta: float) -> None:
    e, d = Fraction(epsilon), Fraction(delta)
    total = mixed_total(e, d)
    assert rho_of(e, d) < total < gaussian_total(e, d)
    assert keeps(float(total), e, d)
    assert not keeps(float(total) * 1.02, e, d)
    price = float(DEARER * total / rho_of(e, d))
    assert adaptive_delta(float(total), price, epsilon) >= gaussian_delta(float(total), epsilon)


def noisy(variance: Fraction, moved: int) -> Law:
    """A sum with discrete Gaussian noise that one person moves by so many steps of its grid."""
    law = DiscreteGaussian(variance)
    reach = int(11 * law.std) + moved + 12
    k = np.arange(-reach, reach + 1, dtype=float)
    logs = -(k**2) / float(2 * variance), -((k - moved) ** 2) / float(2 * variance)
    return tuple(np.exp(each) / np.exp(logs[0]).sum() for each in logs)  # type: ignore[return-value]


def summed(noise: AddedNoise | None, moved: int) -> Law:
    """The same, of noise that may be on a grid of its own."""
    if isinstance(noise, FinerGaussian):
        return noisy(noise.noise.variance, moved * noise.times)
    assert isinstance(noise, DiscreteGaussian)
    return noisy(noise.variance, moved)


def chosen(epsilon: Fraction, lead: float) -> Law:
    """The exponential mechanism on two candidates, of which one person moves the difference."""
    odds = np.array([lead + float(epsilon) / 2, lead - float(epsilon) / 2])
    first, second = (np.array([p, 1 - p]) for p in 1 / (1 + np.exp(-odds)))
    return first, second


def answered(epsilon: Fraction) -> Law:
    """Randomized response: the worst of all that is ε-differentially private."""
    p = 1 / (1 + math.exp(-epsilon))
    return np.array([p, 1 - p]), np.array([1 - p, p])


def both(one: Law, other: Law) -> Law:
    return tuple(np.outer(a, b).ravel() for a, b in zip(one, other, strict=True))  # type: ignore[return-value]


def exact_delta(law: Law, epsilon: float) -> float:
    return max(float(np.maximum(p - math.exp(epsilon) * q, 0).sum()) for p, q in (law, (law[1], law[0])))


def count(step: Fraction) -> SumFacts:
    return SumFacts(step, 1, ONE, ONE, ONE, ONE, ONE)


def law_of(promise: ApproxDP, kind: str, share: Fraction, dice: random.Random, step: Fraction) -> Law:
    """What a round that gets a share of the budget can reveal at worst, by the mechanisms that it is given."""
    calibration, cost = Gaussian(promise), share * promise.total
    if kind == "noise":
        [noise] = calibration.for_cost([count(step)], [], cost).noises
        return summed(noise, int(1 / step))
    way = "pure" if kind == "pure" else "exponential"
    [settled] = calibration.for_cost([], [Contest(1, False, 1, ONE, way)], cost).selections  # type: ignore[arg-type]
    if isinstance(settled, Pure):
        return answered(settled.epsilon)
    assert isinstance(settled, ExponentialMechanism)
    return chosen(settled.epsilon, dice.choice([0, 0.3, -0.3, 1, 2]) * float(settled.epsilon))


@pytest.mark.parametrize("accounting", ["tight", "gaussian", "zcdp"])
@pytest.mark.parametrize(("epsilon", "delta"), [("1", "1e-6"), ("1/4", "1e-3"), ("4", "1e-5")])
def test_random_rounds_of_every_kind_together_keep_the_promise(
    epsilon: str, delta: str, accounting: Accounting
) -> None:
    """All outcomes are enumerated: up to three rounds, noise on coarse grids and fine ones, in any order."""
    promise, dice = ApproxDP(epsilon, delta, accounting), random.Random(7)
    nearest = 0.0
    for _ in range(either(20, 300)):
        kinds = [dice.choice(["noise", "noise", "choice", "pure"]) for _ in range(dice.randint(1, 3))]
        parts = [dice.randint(1, 20) for _ in kinds]
        laws = []
        for kind, part in zip(kinds, parts, strict=True):
            step = Fraction(1, dice.choice([1, 2, 8]))
            laws.append(law_of(promise, kind, Fraction(part, sum(parts)), dice, step))
        if math.prod(len(each[0]) for each in laws) > 10**6:
            continue
        law = laws[0]
        for other in laws[1:]:
            law = both(law, other)
        nearest = max(nearest, exact_delta(law, float(promise.epsilon)) / float(promise.delta))
    assert 0.2 < nearest <= 1


@pytest.mark.parametrize("accounting", ["tight", "gaussian"])
def test_rounds_that_depend_on_earlier_answers_keep_the_promise(accounting: Accounting) -> None:
    """If the first answer tells much already, what is left goes to choices, or the other way round."""
    promise, dice = ApproxDP(1, "1e-4", accounting), random.Random(8)
    for share in (Fraction(1, 2), Fraction(4, 5)):
        first = law_of(promise, "noise", share, dice, Fraction(1, 2))
        noise = law_of(promise, "noise", 1 - share, dice, Fraction(1, 2))
        choice = law_of(promise, "choice", 1 - share, dice, ONE)
        lost = np.log(first[0] / first[1])
        for limit in (-0.5, 0.3, 0.6, 0.9):
            for if_much, if_little in ((noise, choice), (choice, noise)):
                delta = 0.0
                for much, then in ((lost >= limit, if_much), (lost < limit, if_little)):
                    delta += float(
                        np.maximum(
                            np.outer(first[0][much], then[0]) - math.e * np.outer(first[1][much], then[1]), 0
                        ).sum()
                    )
                assert delta <= 1e-4


def test_a_slightly_smaller_sigma_breaks_the_promise_of_exact_accounting() -> None:
    promise = ApproxDP(1, "1e-6", "gaussian")
    [noise] = Gaussian(promise).for_cost([count(Fraction(1, 64))], [], promise.total).noises
    assert isinstance(noise, DiscreteGaussian)
    assert exact_delta(noisy(noise.variance, 64), 1.0) <= 1e-6
    assert exact_delta(noisy(noise.variance * Fraction(996, 1000), 64), 1.0) > 1e-6


def test_noise_on_a_coarse_grid_needs_more_than_continuous_noise_would() -> None:
    """At σ of about 4 steps the continuous noise's variance is not enough for integers."""
    variance = 1 / (2 * gaussian_total(ONE, Fraction(1, 10**6)))
    assert exact_delta(noisy(variance, 1), 1.0) > 1e-6
    promise = ApproxDP(1, "1e-6")
    for calibration in (Gaussian(promise), Gaussian(promise, finer=False)):
        [noise] = calibration.for_cost([count(ONE)], [], promise.total).noises
        assert exact_delta(summed(noise, 1), 1.0) <= 1e-6


@pytest.mark.parametrize("accounting", ["tight", "gaussian"])
@pytest.mark.parametrize(("epsilon", "delta"), [(3, "1e-6"), (10, "1e-6"), (10, "1e-3")])
def test_several_sums_of_few_steps_keep_the_promise_together(
    epsilon: int, delta: str, accounting: Accounting
) -> None:
    """All outcomes are enumerated, of sums that one person moves by 1, 2 and 3 steps. What is noise alone is
    near to δ if it is accounted as such.
    """
    promise, nearest, finer = ApproxDP(epsilon, delta, accounting), 0.0, False
    for moves in ([1], [3], [1, 1], [2, 1]):
        cost = promise.total / len(moves)
        laws = []
        for moved in moves:
            facts = SumFacts(ONE, 1, ONE * moved, ONE * moved**2, ONE, ONE * moved, ONE)
            [noise] = Gaussian(promise).for_cost([facts], [], cost).noises
            assert isinstance(noise, DiscreteGaussian | FinerGaussian)
            laws.append(summed(noise, moved))
            finer |= isinstance(noise, FinerGaussian)
        nearest = max(nearest, exact_delta(functools.reduce(both, laws), epsilon) / float(delta))
    assert finer and (0.7 if accounting == "gaussian" else 0.2) < nearest <= 1


def adversary(promise: ApproxDP, rounds: int, spent: Fraction) -> float:
    """The largest δ of one who sees every answer before the next round, and each time takes the mechanism that
    is worst for the loss so far: backwards from the last round, on a grid of losses.
    """
    calibration, cost = Gaussian(promise), spent / rounds
    step, epsilon = Fraction(1, 16), float(promise.epsilon)
    losses = np.linspace(-4 - 6 * epsilon, 4 + 6 * epsilon, 8001)
    [noise] = calibration.for_cost([count(step)], [], cost).noises
    [choice, pure] = (
        calibration.for_cost([], [Contest(1, False, 1, ONE, way)], cost).selections[0]
        for way in ("exponential", "pure")
    )
    assert isinstance(noise, DiscreteGaussian) and choice is not None and pure is not None
    steps: list[Law] = [noisy(noise.variance, 16), answered(pure.epsilon)]
    steps += [chosen(choice.epsilon, lead) for lead in np.linspace(-4, 4, 9)]
    worth = np.maximum(0, 1 - np.exp(epsilon - losses))
    for _ in range(rounds):
        worth = np.max([_before(worth, losses, law) for law in steps], axis=0)
    return float(np.interp(0.0, losses, worth))


def _before(worth: NDArray[np.float64], losses: NDArray[np.float64], law: Law) -> NDArray[np.float64]:
    moved = np.log(law[0] / law[1])
    return np.sum(
        [p * np.interp(losses + by, losses, worth, 0, 1) for p, by in zip(law[0], moved, strict=True)], axis=0
    )


def test_an_adversary_who_chooses_the_worst_mechanism_for_each_answer_gains_no_more_than_delta() -> None:
    """The grid of losses makes δ too large by less than a thousandth here."""
    tight, gaussian = (ApproxDP(3, "1e-4", name) for name in ("tight", "gaussian"))
    assert 0.4e-4 < adversary(tight, 3, tight.total) < 0.9e-4
    assert 0.9e-4 < adversary(gaussian, 3, gaussian.total) < 1.001e-4
    assert adversary(gaussian, 3, gaussian.total * Fraction(102, 100)) > 1.01e-4
