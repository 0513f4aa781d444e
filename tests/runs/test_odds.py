from __future__ import annotations

import math

import pytest

from sulq.privacy.budget import budget
from sulq.runs.odds import RARE, growth, surest


def test_the_odds_of_a_guess_grow_by_no_more_than_the_promise() -> None:
    """From 1 : 9 to e : 9 is from 10 % to 23.2 %, and a limit is rounded up."""
    assert surest(budget(epsilon=1)) == 0.24
    assert surest(budget(epsilon=1), before=0.5) == 0.74


@pytest.mark.parametrize("rho", ["0.001", "0.1", "2"])
def test_a_budget_in_rho_holds_but_for_the_rarest_answers(rho: str) -> None:
    """Of Gaussian noise, which spends all of ρ, the logarithm of the odds is normal: mean ρ, variance 2ρ."""
    deviations = (growth(budget(rho=rho)) - float(rho)) / math.sqrt(2 * float(rho))
    assert math.erfc(deviations / math.sqrt(2)) / 2 <= RARE


def test_epsilon_and_delta_count_by_the_rho_that_they_are_kept_by() -> None:
    kept = budget(epsilon=1, delta="1e-6")
    assert growth(kept) == growth(budget(rho=kept.total))
    assert growth(kept) > 0.9
