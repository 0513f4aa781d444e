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


def test_digits_that_are_drawn_for_all_are_those_that_each_one_has() -> None:
    drawn = normals(50)
    deep = [drawn.of(place, 3) for place in range(0, 50, 7)]
    drawn.draw_second()
    drawn.draw_second()
    assert [drawn.of(place, 3) for place in range(0, 50, 7)] == deep
    assert drawn.several(slice(0, None, 7), 2) == [each >> 64 for each in deep]
    second = np.asarray(drawn.second).tolist()
    assert len(set(second)) == 50
    places = np.arange(49, -1, -1)
    taken = drawn.taken(places)
    for new, old in enumerate(places.tolist()):
        assert taken.of(new, 2) == drawn.of(old, 2) == drawn.of(old, 1) << 64 | second[old]
        assert drawn.of(old, 4) >> 128 == drawn.of(old, 2)


def test_numbers_are_divided_with_their_digits() -> None:
    drawn = normals(30)
    deep = [drawn.of(place, 3 if place % 7 == 0 else 1) for place in range(30)]
    before, rest = drawn.divided(15)
    assert len(before.first) == 15 and len(rest.first) == 15
    parts = [
        part.of(i, 3 if place % 7 == 0 else 1)
        for place, (part, i) in enumerate(
            [*((before, i) for i in range(15)), *((rest, i) for i in range(15))]
        )
    ]
    assert parts == deep


def test_uniform_numbers_are_as_many_in_each_tenth() -> None:
    """n = 100,000: 7 deviations, a false alarm in 10^10."""
    counts = np.bincount((10 * Numbers.uniform(100_000).floats).astype(int), minlength=11)
    assert counts[10] == 0 and np.abs(counts[:10] - 10_000).max() < 7 * math.sqrt(9_000)
