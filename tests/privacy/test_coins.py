"""Coins have exactly the bias they claim, and so has everything that is made of them.

The statistical test compares counts in cells with their expectations; its false-alarm rate is 2e-9 a case.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from sulq.privacy import coins
from sulq.privacy.coins import Coin, poisson, reaches, uniform
from tests.privacy.test_noise import excess


def exponential(x: Fraction, terms: int) -> tuple[Fraction, Fraction]:
    """Rational numbers below and above e^x, 0 < x ≤ 8: Taylor's series, and a geometric one for its rest."""
    term, total = Fraction(1), Fraction(0)
    for k in range(1, terms + 1):
        total += term
        term *= x / k
    return total, total + 2 * term


@pytest.mark.parametrize(
    "x",
    [Fraction(1, 2**90), Fraction(1, 2**60), Fraction(1, 3), Fraction(1), Fraction(22, 7), Fraction(8)],
    ids=str,
)
@pytest.mark.parametrize(("heads", "tails"), [(1, 1), (1, 0), (2, 1)])
def test_the_bias_of_a_coin_is_exact_to_the_last_bit(x: Fraction, heads: int, tails: int) -> None:
    low, high = exponential(x, 200)
    for bits in (8, 16, 64, 200):
        assert (heads << bits) // (tails + high) == Coin(heads, tails, x).bias(bits)
        assert (heads << bits) // (tails + low) == Coin(heads, tails, x).bias(bits)


def test_a_coin_that_is_nearly_never_heads_has_a_bias_of_zero() -> None:
    assert Coin(1, 0, Fraction(2**80)).bias(64) == 0
    assert Coin(2, 1, Fraction(64)).bias(64) == 0
    assert Coin(1, 0, Fraction(44)).bias(64) == 1


@pytest.mark.parametrize(
    "coin", [Coin(1, 1, Fraction(1)), Coin(2, 1, Fraction(1, 7)), Coin(1, 0, Fraction(9))]
)
def test_a_toss_decides_by_the_first_byte_that_differs(coin: Coin, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every string of two random bytes is put in: as many come up heads as the bias says, to 16 bits."""

    def every_string(size: int) -> NDArray[np.uint8]:
        if size == 2**16:
            return (np.arange(2**16) // 256).astype(np.uint8)
        return np.arange(256, dtype=np.uint8) if size == 256 else np.full(size, 255, dtype=np.uint8)

    monkeypatch.setattr(coins, "random_bytes", every_string)
    assert coins.toss(coin, 2**16).sum() == coin.bias(16)


class Dictated:
    """Tosses that spell out k, digits first and lowest first, and how likely they were all together."""

    def __init__(self, k: int) -> None:
        self.rest = k
        self.chance = 1.0

    def __call__(self, coin: Coin, size: int) -> NDArray[np.bool_]:
        is_digit = coin.tails == 1
        heads = self.rest % 2 == 1 if is_digit else self.rest > 0
        self.rest = self.rest // 2 if is_digit else self.rest - 1
        bias = coin.bias(120) / 2**120
        self.chance *= bias if heads else 1 - bias
        return np.full(size, heads)


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1), Fraction(7, 2), Fraction(12)], ids=str)
def test_the_tosses_behind_a_geometric_draw_are_as_likely_as_its_law_says(
    scale: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every value up to 60 scales is dictated toss by toss.

    Large values come by a carry, too rare for the statistical tests, and a tail cut off would be a breach.
    """
    for k in range(math.floor(60 * scale) + 4):
        tosses = Dictated(k)
        monkeypatch.setattr(coins, "toss", tosses)
        assert coins.geometric(scale, 1).tolist() == [k]
        assert tosses.chance == pytest.approx(math.exp(-k / scale) * -math.expm1(-1 / scale), rel=1e-11)


SCALES = [Fraction(1, 300), Fraction(1, 3), Fraction(1), Fraction(7, 2), Fraction(12)]


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_a_mark_is_reached_by_the_geometric_draws_that_are_not_below_it(
    scale: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every draw up to 60 scales is dictated, and compared with every mark up to there and some far away."""
    top = math.floor(60 * scale) + 4
    marks = np.array([*range(top), 2**32, 2**63 - 1, 2**63, 2**64 - 1], dtype=np.uint64)
    for k in range(top):
        monkeypatch.setattr(coins, "toss", Dictated(k))
        assert reaches(scale, marks).tolist() == [k >= mark for mark in marks.tolist()]


def test_a_draw_beyond_64_bits_reaches_every_mark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coins, "toss", Dictated(2**64 + 1))
    assert reaches(coins.LARGEST_SCALE, np.array([0, 2**64 - 1], dtype=np.uint64)).all()
    monkeypatch.setattr(coins, "toss", Dictated(2**64 - 2))
    reached = reaches(coins.LARGEST_SCALE, np.array([2**64 - 2, 2**64 - 1], dtype=np.uint64))
    assert reached.tolist() == [True, False]


@pytest.mark.parametrize("below", [2, 3, 50, 64, 65])
def test_few_values_are_equally_likely(below: int) -> None:
    """n = 100,000; false alarm 2e-9. It notices a value among 65 that is off by about a quarter."""
    observed = np.bincount(uniform(below, 100_000))
    assert excess(observed, np.full(below, 100_000 / below)) < 0


@pytest.mark.parametrize("below", [2**20, 3 * 2**40 + 1, 2**62 - 1, 2**62])
def test_many_values_are_equally_likely(below: int) -> None:
    """n = 100,000; false alarm 4e-9. It notices a 64th of the range, or a last digit, off by a quarter."""
    drawn = uniform(below, 100_000)
    cuts = [below * j // 64 for j in range(1, 64)]
    assert excess(np.bincount(np.searchsorted(cuts, drawn, side="right")), np.full(64, 100_000 / 64)) < 0
    assert excess(np.bincount(drawn % 64), np.full(64, 100_000 / 64)) < 0
    assert 0 <= drawn.min() <= drawn.max() < below


def test_uniform_draws_of_one_value_and_of_none() -> None:
    assert not uniform(1, 100).any()
    assert uniform(5, 0).shape == (0,)


def test_the_coins_of_a_poisson_draw_give_its_law(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their biases, to 200 bits, multiply to the probabilities: tails before k, and heads at k."""
    mean, tossed = Fraction(16, 5), list[Coin]()

    def tails_at_first(coin: Coin, size: int) -> NDArray[np.bool_]:
        tossed.append(coin)
        return np.array([len(tossed) == 21])

    monkeypatch.setattr(coins, "toss", tails_at_first)
    assert poisson(mean) == 20
    left = 1.0
    for k, coin in enumerate(tossed):
        bias = coin.bias(200) / 2**200
        assert left * bias == pytest.approx(math.exp(-3.2) * 3.2**k / math.factorial(k), rel=1e-9)
        left *= 1 - bias


def test_poisson_draws_are_as_frequent_as_they_should_be() -> None:
    """n = 10,000; false alarm 2e-9. It notices a count that is off by about a tenth."""
    drawn = np.minimum([poisson(Fraction(2)) for _ in range(10_000)], 8)
    law = [math.exp(-2) * 2**k / math.factorial(k) for k in range(8)]
    assert excess(np.bincount(drawn, minlength=9), 10_000 * np.array([*law, 1 - sum(law)])) < 0
