"""Digits of random numbers: what was seen stays, and nothing is seen before it is drawn."""

from __future__ import annotations

import math

import numpy as np

from sulq.privacy.digits import Numbers
from sulq.privacy.normals import normals


def test_digits_that_were_seen_stay_and_the_others_are_drawn_once() -> None:
    for drawn in (normals(50), Numbers.uniform(50)):
        floats = drawn.floats
        for place in range(50):
            one, three, two = (drawn.of(place, words) for words in (1, 3, 2))
            assert three >> 64 == two and two >> 64 == one == drawn.of(place, 1)
            assert drawn.of(place, 3) == three
            assert math.isclose(one / 2**64, floats[place])
        assert len({drawn.of(place, 2) & (2**64 - 1) for place in range(50)}) == 50


def test_several_numbers_have_the_digits_of_each() -> None:
    drawn = normals(20)
    for words in (1, 2):
        assert drawn.several(slice(3, None, 4), words) == [
            drawn.of(place, words) for place in range(3, 20, 4)
        ]


def test_uniform_numbers_are_as_many_in_each_tenth() -> None:
    """n = 100,000: 7 deviations, a false alarm in 10^10."""
    counts = np.bincount((10 * Numbers.uniform(100_000).floats).astype(int), minlength=11)
    assert counts[10] == 0 and np.abs(counts[:10] - 10_000).max() < 7 * math.sqrt(9_000)
