"""Sums of noisy numbers: the stated error holds, and is not much larger than it has to be."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from sulq.local.tails import Bounded
from sulq.talk.combined import Term, combined, one_sided
from sulq.talk.laws import Averaged, Exactly, Noise, Within


@pytest.mark.parametrize("family", ["laplace", "gaussian"])
@pytest.mark.parametrize(("many", "times"), [(2, 1.75), (10, 1.5), (60, 1.35)])
def test_a_sum_is_as_close_as_stated_and_the_bound_is_near(family: str, many: int, times: float) -> None:
    """100,000 sums. At β = 0.01 the share beyond the bound has a deviation of 0.0003; false alarms: below 1e-9."""
    rng = np.random.default_rng(many)
    parameter = 20 if family == "laplace" else 400
    weights = rng.uniform(0.2, 1, many)
    noise = rng.laplace(0, 20, (100_000, many)) if family == "laplace" else rng.normal(0, 20, (100_000, many))
    off = np.abs(noise @ weights)
    term = Term(
        Noise(family, Fraction(parameter), Fraction(1), many),
        float((weights**2).sum()),
        float(weights.max()),
        float(weights.sum()),
    )  # type: ignore[arg-type]
    bound = combined([term], 0.01)
    assert (off > bound).mean() <= 0.01 + 0.002
    assert bound <= times * np.quantile(off, 0.99)
    assert one_sided([term], 0.005) >= bound


def test_one_number_is_as_far_off_as_its_law_says() -> None:
    law = Noise("laplace", Fraction(20), Fraction(1, 2), 7)
    assert combined([Term(law, 1, 1, 1)], 0.05) == law.each(0.05)
    assert combined([Term(law, 1, 1, 1)], 0.05, 7) == pytest.approx(law.radius(0.05), rel=0.01)


def test_reports_of_people_may_err_together_so_they_are_added_at_their_worst() -> None:
    crowd = Averaged(Bounded((0.25,), (4,), 0.5, 0.5, 1.0), people=1000)
    assert combined([Term(crowd, 4, 1, 4)], 0.05) == 4 * crowd.radius(0.05)
    assert one_sided([Term(Within(2.0), 9, 3, 5)], 0.05) == 10


def test_what_is_exact_adds_no_error() -> None:
    assert combined([Term(Exactly(), 4, 1, 4)], 0.05) == one_sided([], 0.05) == 0
