"""What learners take for noise in an answer."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from sulq.learners.estimates import usually_off
from sulq.talk.answers import Answer
from sulq.talk.laws import Noise, Within


@pytest.mark.parametrize("family", ["laplace", "gaussian"])
def test_noise_is_usually_off_by_about_one_standard_deviation(family: str) -> None:
    law = Noise(family, Fraction(100), Fraction(1), 3)  # type: ignore[arg-type]
    assert usually_off(Answer(np.zeros(3), law)) == pytest.approx(law.deviation, rel=0.4)


def test_an_adversary_may_always_be_as_far_off_as_is_allowed() -> None:
    """A sixth of that, as if it were the tail of a bell curve, made trees worse than the most frequent label."""
    assert usually_off(Answer(np.zeros(3), Within(30.0))) == 30.0
