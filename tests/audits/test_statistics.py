"""Bounds on chances: they hold as often as they say, and they are as sharp as they can be."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sulq.audits.statistics import at_least, at_most, detectable_loss, fit, loss_at_least, tail


@pytest.mark.parametrize(
    ("hits", "tries", "chance"), [(3, 10, 0.2), (10, 10, 0.9), (0, 5, 0.5), (70, 100, 0.55)]
)
def test_a_tail_is_the_sum_of_its_terms(hits: int, tries: int, chance: float) -> None:
    terms = (math.comb(tries, k) * chance**k * (1 - chance) ** (tries - k) for k in range(hits, tries + 1))
    assert tail(hits, tries, chance) == pytest.approx(math.fsum(terms), rel=1e-12)


@pytest.mark.parametrize("chance", [0.01, 0.3, 0.5, 0.97])
def test_a_lower_bound_is_too_high_no_oftener_than_it_says(chance: float) -> None:
    """No chance is involved: every number of hits is weighed with its own."""
    tries, alarm = 60, 0.05
    wrong = [k for k in range(tries + 1) if at_least(k, tries, alarm) > chance]
    often = sum(tail(k, tries, chance) - tail(k + 1, tries, chance) for k in wrong)
    assert often <= alarm
    assert at_most(20, tries, alarm) == pytest.approx(1 - at_least(40, tries, alarm))


def test_a_loss_is_below_what_was_seen_and_near_it_after_many_tries() -> None:
    assert loss_at_least(9000, 1000, 10_000) < math.log(9)
    assert loss_at_least(900_000, 100_000, 1_000_000) > math.log(9) - 0.05
    assert loss_at_least(500, 10, 1000, delta=0.5) < loss_at_least(500, 10, 1000)


def test_what_is_detectable_is_above_the_claim_and_shrinks_with_tries() -> None:
    few, many = detectable_loss(50, 500, 1.0), detectable_loss(5000, 50_000, 1.0)
    assert 1 < many < few


def test_a_law_that_is_off_by_what_is_detectable_is_noticed() -> None:
    """Counts are what is expected, so nothing is left to chance."""
    assert fit("fair", [50_000, 50_000], [0.5, 0.5]).holds
    finding = fit("unfair", [51_500, 48_500], [0.5, 0.5])
    assert not finding.holds
    assert "0.01" in finding.detectable


def test_beginnings_are_compared_where_single_outcomes_are_too_rare() -> None:
    chances = np.full(60, 1 / 60)
    shifted = np.r_[np.full(30, 270), np.full(30, 230)]
    assert not fit("many cells", shifted.tolist(), chances.tolist()).holds
