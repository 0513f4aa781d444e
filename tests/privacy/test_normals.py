"""Normal numbers, digit by digit: their law, and that all comparisons with the bell are certain."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from sulq.privacy import normals as module
from sulq.privacy.digits import Numbers
from sulq.privacy.normals import normals
from tests.effort import either
from tests.privacy.test_spherical import within

DRAWS = either(20_000, 100_000)
MANY = 100 * DRAWS
"""Of numbers in floats."""


def one(whole: int, first: int) -> Numbers:
    return Numbers(np.array([whole]), np.array([first], np.uint64))


def test_normal_numbers_follow_their_law() -> None:
    sizes = normals(MANY).floats
    for edge in (0.01, 0.1, 0.3, 0.5, 1.0, 2.0, 3.0):
        assert within(float((sizes < edge).mean()), math.erf(edge / math.sqrt(2)), MANY)


def test_normal_numbers_follow_their_law_within_a_strip() -> None:
    """Of all numbers together, by where in its strip one is. If all on edges were kept, half of them would be in
    the first half of a strip, and not 0.506."""
    sizes = 16 * normals(MANY).floats
    for edge in (0.25, 0.5, 0.75):
        ends = (np.arange(160)[:, np.newaxis] + np.array([0, edge])) / 16 / math.sqrt(2)
        chance = sum(math.erf(b) - math.erf(a) for a, b in ends.tolist())
        assert within(float((sizes % 1 < edge).mean()), chance, MANY)


def test_normal_numbers_follow_their_law_when_all_comparisons_are_decided_in_whole_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On floors nothing is compared; here there are none."""
    _, bottoms, heights = module._cover()
    tops = (bottoms + heights)[:-1].astype(int).tolist()
    cover = module.Outcomes([*[0] * 128, *tops, 1]), 0 * bottoms, np.array([*tops, math.nan])
    monkeypatch.setattr(module, "_cover", lambda: cover)
    monkeypatch.setattr(module, "_SLACK", 1e9)
    sizes = normals(DRAWS // 10).floats
    for edge in (0.1, 0.5, 1.0, 2.0):
        assert within(float((sizes < edge).mean()), math.erf(edge / math.sqrt(2)), DRAWS // 10)


def test_an_acceptance_that_needs_more_digits_draws_and_keeps_them() -> None:
    """With y = 3/2 so far, the first 32 digits of U are those of the bell there, and of one more and less."""
    for bottom in (Fraction(0), Fraction(2**24)):
        proposed, height = one(1, 2**63), 2**26 - bottom
        below = math.floor(2**32 * (2**26 * Fraction(math.exp(-9 / 8)) - bottom) / height)
        assert module._exactly(proposed, 0, bottom, height, below - 1)
        assert not module._exactly(proposed, 0, bottom, height, below + 1)
        assert not proposed.more
        assert {module._exactly(proposed, 0, bottom, height, below) for _ in range(200)} == {True, False}
        assert proposed.of(0, 2) >> 64 == proposed.of(0, 1) == 3 * 2**63
        assert len(proposed.more) == 1 and proposed.more[0].bit_length() > 64


def test_the_bell_lies_between_its_bounds_which_come_together() -> None:
    """Against the power series of exp(−x), whose terms alternate and fall from the start if x is below 1."""
    for y in (Fraction(0), Fraction(1, 3), Fraction(7, 5)):
        x, terms = y * y / 2, [Fraction(2**26)]
        while len(terms) < 60:
            terms.append(-terms[-1] * x / len(terms))
        for words in (1, 2):
            low, high = module._bell(y, words)
            assert low <= sum(terms) <= high and high - low < Fraction(2**26, 10 ** (20 * words))


def test_floors_lie_below_the_bell_and_edges_end_above_it() -> None:
    """Everywhere in a strip, exactly; and their areas are those that they are drawn by."""
    parts, bottoms, heights = module._cover()
    assert len(parts.edges) == 256 and math.isnan(bottoms[128]) and math.isnan(heights[128])
    areas = np.diff([0, *parts.edges, parts.whole])
    assert (
        areas[256] == 1 and (bottoms[:128] == areas[:128]).all() and (heights[:128] == areas[128:256]).all()
    )
    for i in range(128):
        assert module._bell(Fraction(i, 16), 1)[1] <= Fraction(bottoms[i]) + Fraction(heights[i])
        assert bottoms[i] == 0 or Fraction(bottoms[i]) <= module._bell(Fraction(i + 1, 16), 1)[0]
    assert math.sqrt(math.pi / 2) / (parts.whole / 2**30) > 0.97
    assert areas[:128].sum() / parts.whole > 0.95


def test_what_is_beyond_the_strips_is_covered_too() -> None:
    """The area of one unit of 2^-30 is dealt out to strips of width 1, of heights above the bell."""
    for _ in range(50):
        proposed = one(0, 0)
        bottom, height = module._beyond(proposed, 0)
        ahead = int(proposed.whole[0]) - 8
        assert ahead >= 0 == bottom and height / 2**26 == Fraction(1, 2**31) / 2**ahead
        assert module._bell(Fraction(8 + ahead), 1)[1] <= height


def test_normal_numbers_beyond_the_strips_follow_their_law(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without any fine strips, all are: from 0 on, by strips of heights 2, 1, 1/2, …"""
    nothing = np.full(129, math.nan)
    monkeypatch.setattr(module, "_END", 0)
    monkeypatch.setattr(module, "_cover", lambda: (module.Outcomes([*[0] * 256, 1]), nothing, nothing))
    beyond = module._beyond
    monkeypatch.setattr(module, "_beyond", lambda *at: (0, 2**32 * beyond(*at)[1]))
    sizes = normals(DRAWS // 20).floats
    for edge in (0.1, 0.5, 1.0, 2.0):
        assert within(float((sizes < edge).mean()), math.erf(edge / math.sqrt(2)), DRAWS // 20)


def test_parts_of_normal_numbers_keep_their_digits() -> None:
    """Those that comparisons have seen move with the number."""
    drawn = normals(50)
    seen = [drawn.of(place, 2) for place in range(0, 50, 2)]
    assert [drawn.taken(np.arange(0, 50, 2)).of(i, 2) for i in range(25)] == seen
    joined = Numbers.joined([normals(3), drawn, normals(3)], 43)
    assert [joined.of(3 + i, 2) for i in range(0, 40, 2)] == seen[:20]
    assert len(joined.first) == 43 and max(joined.more) < 43
