"""From whole numbers of steps to floats."""

from __future__ import annotations

from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
from hypothesis import given

from sulq.talk.statistics import nearest_floats


@given(
    st.lists(st.integers(-(2**70), 2**70) | st.sampled_from([2**900, 2**1030, -(2**1030)]), max_size=5),
    st.integers(-60, 60) | st.sampled_from([-600, 600, 1000, 1060]),
)
def test_sums_become_the_nearest_floats(steps: list[int], bits: int) -> None:
    exact = [Fraction(step) / Fraction(2) ** bits for step in steps]
    steps = [step for step, each in zip(steps, exact, strict=True) if abs(each) < 2**1000]
    nearest = [float(each) for each in exact if abs(each) < 2**1000]
    assert nearest_floats(np.array(steps, dtype=object), bits).tolist() == nearest
