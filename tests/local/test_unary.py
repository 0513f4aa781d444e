"""Every bit of a unary report is randomized by itself, with the chance that is claimed."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sulq.local.unary import UnaryResponse, unpacked
from tests.privacy.test_noise import excess

DRAWS = 40_000


@pytest.mark.parametrize("optimised", [False, True])
@pytest.mark.parametrize("k", [2, 7, 8, 9, 128, 131])
def test_every_bit_is_one_as_often_as_it_should_be(k: int, optimised: bool) -> None:
    """n = 40,000. A bit is off by 7 standard deviations with a chance below 1e-11. It notices 0.02."""
    response = UnaryResponse(k, 1, optimised)
    own = k // 2
    bits = unpacked(response.sample(np.full(DRAWS, own)), k)
    expected = np.full(k, float(response.support.other))
    expected[own] = float(response.support.own)
    limit = 7 * np.sqrt(expected * (1 - expected) / DRAWS)
    assert (np.abs(bits.mean(axis=0) - expected) < limit).all()


@pytest.mark.parametrize("optimised", [False, True])
def test_two_bits_are_independent(optimised: bool) -> None:
    """n = 40,000 for each pair next to one's own bit, across bytes too; false alarm 2e-9 each."""
    response = UnaryResponse(20, 1, optimised)
    bits = unpacked(response.sample(np.full(DRAWS, 8)), 20)
    other, own = float(response.support.other), float(response.support.own)
    for a, b in [(8, 9), (8, 7), (0, 7), (7, 16)]:
        p, q = own if a == 8 else other, other
        cells = np.outer([1 - p, p], [1 - q, q]).ravel()
        assert excess(np.bincount(2 * bits[:, a] + bits[:, b], minlength=4), DRAWS * cells) < 0


@pytest.mark.parametrize("k", [2, 7, 9, 131])
def test_bits_beyond_the_last_possibility_are_zero(k: int) -> None:
    reports = UnaryResponse(k, "1/100").sample(np.arange(1000) % k)
    assert reports.shape == (1000, math.ceil(k / 8))
    assert not unpacked(reports, 8 * reports.shape[1])[:, k:].any()


def test_made_up_bits_beyond_the_last_possibility_do_not_count() -> None:
    response = UnaryResponse(5, 1)
    reports = response.sample(np.zeros(10, dtype=int))
    assert (response.estimate(reports | 0xE0) == response.estimate(reports)).all()


def test_the_optimised_response_tells_rare_possibilities_better() -> None:
    plain, optimised = (UnaryResponse(10, 1, better).variance(1, 0) for better in (False, True))
    assert optimised == pytest.approx(4 * math.e / (math.e - 1) ** 2)
    assert plain == pytest.approx(math.exp(0.5) / (math.exp(0.5) - 1) ** 2)
    assert optimised < plain
