"""The numbers of rows: the bounds they come from hold there, and not with a row less."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import sulq
from sulq.classes import Labelings
from sulq.classes.sizes import (
    joint_rate,
    most_labelings,
    occam_rows,
    parity_plan,
    printed_occam_rows,
    printed_parity_rows,
    sampling_rate,
    vc_rows,
)
from sulq.privacy.selection import ExponentialMechanism, PermuteAndFlip


def failing(rows: int, features: int, error: float, p: float, never: float) -> float:
    """With which chance A* by repetition errs, where no run says anything with a chance of `never`."""
    return never + (1 - never) * 2 ** (features - 1) * (1 - p * error) ** rows


PARITIES = [(64, 0.05, 0.05, 0.5), (3, 0.3, 1e-6, 2.0)]


@pytest.mark.parametrize(("features", "error", "beta", "epsilon"), PARITIES)
def test_parity_fails_as_often_as_it_may_and_more_often_with_a_row_less(
    features: int, error: float, beta: float, epsilon: float
) -> None:
    plan = parity_plan(features, error, beta, epsilon)
    at = features, error, joint_rate(epsilon, float(plan.runs)), math.exp(-plan.runs)
    assert failing(plan.rows, *at) <= beta < failing(plan.rows - 1, *at)


@pytest.mark.parametrize(("features", "error", "beta", "epsilon"), PARITIES)
def test_the_papers_repetition_fails_no_more_often_than_it_may_and_with_one_run_less_it_would(
    features: int, error: float, beta: float, epsilon: float
) -> None:
    """Lemma 3.1 and Theorem 3.8: half of β for no run at all, half of it for one that errs."""
    plan = parity_plan(features, error, beta, epsilon, "paper")
    p = sampling_rate(epsilon / plan.runs, "paper")
    assert failing(plan.rows, features, error, p, 2.0**-plan.runs) <= beta
    assert 2.0**-plan.runs <= beta / 2 < 2.0 ** (1 - plan.runs)


def test_the_printed_numbers_are_larger() -> None:
    at = (64, 0.05, 0.05, 0.5)
    assert parity_plan(*at).rows < parity_plan(*at, "paper").rows == printed_parity_rows(*at)
    assert parity_plan(*at, amplification="test set").rows < printed_parity_rows(*at, "test set")
    for agnostic in (True, False):
        assert occam_rows(10**6, 0.05, 0.05, 0.5, agnostic) < printed_occam_rows(
            10**6, 0.05, 0.05, 0.5, agnostic
        )


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0])
def test_three_over_beta_mends_the_printed_bound(epsilon: float) -> None:
    """The failure bound in the proof of Theorem 3.4, at its number of rows with ln(3/β) and with ln(1/β)."""
    size, error, beta = 1000, 0.1, 0.05

    def failing(rows: float) -> float:
        return size * (2 * math.exp(-2 * rows * error**2 / 9) + math.exp(-epsilon * rows * error / 6))

    assert failing(printed_occam_rows(size, error, beta, epsilon)) <= beta
    if epsilon == error:  # where neither term is small beside the other
        largest = max(1 / (epsilon * error), 1 / error**2)
        assert failing(6 * (math.log(size) + math.log(1 / beta)) * largest) > beta


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("agnostic", [True, False])
@pytest.mark.parametrize("kind", [PermuteAndFlip, ExponentialMechanism])
def test_two_hypotheses_are_told_apart_at_the_promised_number_of_rows(
    kind: Any, agnostic: bool, epsilon: float
) -> None:
    """The exact probability that the worse of two is chosen.

    Without mistakes of the better one, each row is one of the worse with probability α; agnostically, the
    widest spread is a mistake of either one on every row.
    """
    error, beta = 0.2, 0.05
    rows = occam_rows(2, error, beta, epsilon, agnostic)

    def failing(rows: int) -> float:
        total = 0.0
        for k in range(rows + 1):
            p = (1 + error) / 2 if agnostic else error
            chance = math.exp(
                math.lgamma(rows + 1)
                - math.lgamma(k + 1)
                - math.lgamma(rows - k + 1)
                + k * math.log(p)
                + (rows - k) * math.log(1 - p)
            )
            lead = 2 * k - rows if agnostic else k
            if chance > 1e-12:
                total += chance * kind(str(epsilon), 1).probabilities([0, -lead])[1]
        return total

    assert failing(rows) <= beta
    assert failing(rows // 4) > beta / 2, "and it is not idle"


def test_rows_come_or_go_with_half_the_noise() -> None:
    assert occam_rows(100, 0.1, 0.05, 0.1, neighbours="add-remove") == occam_rows(100, 0.1, 0.05, 0.2)


def test_sauers_lemma_counts_small_subsets() -> None:
    assert most_labelings(10, 10) == 2**10
    assert most_labelings(1, 50) == 51
    assert vc_rows(1, 50, 0.1, 0.05, 1.0) == occam_rows(51, 0.1, 0.05, 1.0)


@pytest.mark.parametrize(
    ("dimension", "domain", "error", "beta", "epsilon"), [(2, 16, 0.1, 0.05, 1.0), (1, 50, 0.05, 1e-6, 0.2)]
)
def test_corollary_3_6_is_the_generic_learner_of_all_labelings_there_may_be(
    dimension: int, domain: int, error: float, beta: float, epsilon: float
) -> None:
    """Its rows are enough by the chord's bound and one less is not; O((VC·ln|X| + ln 1/β)·max{…}) is more."""
    rows = vc_rows(dimension, domain, error, beta, epsilon)
    labelings = sum(math.comb(domain, points) for points in range(dimension + 1))
    rates = [epsilon / 2 * part / 10_000 for part in range(1, 10_001)]
    least = min(math.cosh(rate) - error * math.sinh(rate) for rate in rates)
    assert (labelings - 1) * least**rows <= beta < (labelings - 1) * least ** (rows - 1)
    largest = max(1 / (epsilon * error), 1 / error**2)
    assert rows < 6 * (dimension * math.log(domain) + math.log(1 / beta)) * largest


def test_a_class_of_its_vc_dimension_is_learned_from_the_rows_of_corollary_3_6() -> None:
    """Intervals of 16 points have VC dimension 2, and as many labelings as Sauer's lemma allows.

    Of 40 runs, in which each fails with a chance of at most 5 %, 11 or more fail with one of 10⁻⁵.
    """
    points, error, rng = 16, 0.1, np.random.default_rng(0)
    at = np.arange(points)
    ends = [(low, high) for low in range(points) for high in range(low + 1, points + 1)]
    intervals = np.array([np.zeros(points, dtype=bool), *((low <= at) & (at < high) for low, high in ends)])
    assert len(intervals) == most_labelings(2, points) == 137
    rows, failed = vc_rows(2, points, error, 0.05, 1.0), 0
    for _ in range(40):
        truth, x = intervals[rng.integers(137)], rng.integers(0, points, rows)
        label = truth[x] ^ (rng.random(rows) < 0.1)
        people = sulq.open({"x": x, "y": label}, {"x": sulq.Integer(0, points - 1), "y": sulq.Boolean()})
        learned = sulq.Select(Labelings(["x"], intervals), "y").learn(people.curator(epsilon=1))
        failed += 0.8 * (np.asarray(learned.predict({"x": at})) != truth).mean() > error + 1e-9
    assert failed <= 10


@pytest.mark.parametrize("arguments", [(10, 0, 0.1, 1), (10, 0.1, 1, 1), (10, 0.1, 0.1, 0), (0, 0.1, 0.1, 1)])
def test_senseless_numbers_are_refused(arguments: tuple[Any, ...]) -> None:
    with pytest.raises(sulq.QueryError):
        occam_rows(*arguments)
    with pytest.raises(sulq.QueryError):
        parity_plan(*arguments)


@pytest.mark.parametrize(
    ("error", "beta", "epsilon"),
    [(1e-160, 0.5, 1.0), (1e-320, 0.5, 1.0), (0.5, 1e-320, 1.0), (0.5, 1e-160, 1.0), (0.5, 0.5, 1e-310)],
)
def test_numbers_at_the_end_of_the_floats_are_refused_in_words(
    error: float, beta: float, epsilon: float
) -> None:
    with pytest.raises(sulq.QueryError, match="must be at least"):
        occam_rows(3, error, beta, epsilon)
    for amplification in ("repeat", "test set"):
        with pytest.raises(sulq.QueryError, match="must be at least"):
            parity_plan(3, error, beta, epsilon, amplification=amplification)


def test_a_chance_that_no_number_of_runs_reaches_is_refused_in_words() -> None:
    with pytest.raises(sulq.QueryError, match="use amplification='repeat'"):
        parity_plan(3, 0.1, 1e-30, 1.0, "paper", "test set")
    assert parity_plan(3, 0.1, 1e-30, 1.0).rows > 0 and parity_plan(3, 0.1, 1e-30, 1.0, "paper").runs == 101


def test_the_paper_s_rate_is_a_probability() -> None:
    assert sampling_rate(1e6, "paper") == 1
