"""A bar around what is published is as long as it has to be, wherever the most likely number is."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest

from sulq.effects.bars import SURELY, around


@pytest.mark.parametrize("offset", [0.0, 0.33, 1.0, 2.5, 7.0, -1.0])
@pytest.mark.parametrize("deviation", [0.2, 1.0, 5.0])
def test_a_bar_holds_as_much_of_a_bell_curve_as_is_stated_wherever_its_middle_is(
    offset: float, deviation: float
) -> None:
    radius = SURELY * float(around(np.array([offset]), np.array([deviation]))[0])
    bell = NormalDist(offset, deviation)
    assert bell.cdf(radius) - bell.cdf(-radius) == pytest.approx(0.95, abs=1e-4)


def test_a_bar_around_something_that_is_known_exactly_ends_there() -> None:
    assert around(np.array([0.0, 1.96]), np.zeros(2)).tolist() == [0.0, 1.0]
