"""Outcomes have exactly their parts of the whole: random bytes are dictated, and all beginnings tried."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest

from sulq.privacy import outcomes
from sulq.privacy.outcomes import Outcomes
from tests.local.test_draws import dictate
from tests.privacy.test_noise import excess

ONE = 2**64
PARTITIONS = [[1], [1, 1], [0, 3, 0, 4, 0], [ONE // 3] * 40 + [7] * 88, [1, 2**70, 1], [5, *[1] * 20_000]]


@pytest.mark.parametrize("parts", PARTITIONS, ids=len)
def test_sixteen_bits_tell_an_outcome_only_where_all_that_could_follow_agrees(parts: list[int]) -> None:
    """All 2^16 beginnings of a number: the outcomes at both of their ends are compared in whole numbers."""
    table = Outcomes(parts).table
    ends = list(accumulate(parts))
    for cell in range(0, 2**16, 5):
        first = bisect_right(ends, cell * ends[-1] / Fraction(2**16))
        last = bisect_left(ends, (cell + 1) * ends[-1] / Fraction(2**16))
        assert int(table[cell]) == first + (2**15 if first != last else 0)


def test_outcomes_that_64_bits_do_not_decide_are_decided_by_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bits of an edge of a third are drawn, as far as 128 bits go, and then what is above or below it."""
    third = (1 << 192) // 3
    words = [(third >> shift & ONE - 1) for shift in (128, 64)]
    cell, rest = words[0] >> 48, words[0] & 2**48 - 1
    begins = cell.to_bytes(2, "little"), rest.to_bytes(6, "little"), words[1].to_bytes(8, "little")
    for last, expected in ((0, 0), (ONE - 1, 1)):
        dictate(monkeypatch, outcomes, *begins, last.to_bytes(8, "little"))
        assert Outcomes([1, 2]).drawn(1).tolist() == [expected]
    dictate(monkeypatch, outcomes, *begins[:2], bytes(8))
    assert Outcomes([1, 2]).drawn(1).tolist() == [0]


@pytest.mark.parametrize("parts", [[1, 2, 3], [10**30, 1, 2 * 10**30, 0, 5 * 10**29], [1] * 100])
def test_outcomes_are_as_frequent_as_their_parts(parts: list[int]) -> None:
    """n = 100,000; false alarm 2e-9."""
    observed = np.bincount(Outcomes(parts).drawn(100_000), minlength=len(parts))
    expected = 100_000 * np.array([part / sum(parts) for part in parts])
    common = expected >= 20
    assert excess(observed[common], expected[common]) < 0
    assert observed[~common].sum() <= 5


def test_no_two_calls_draw_the_same_outcomes() -> None:
    """Two calls agree by chance with a probability below 1e-20."""
    assert Outcomes([1, 2, 3]).drawn(64).tolist() != Outcomes([1, 2, 3]).drawn(64).tolist()
