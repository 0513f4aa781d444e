"""Pairs of floats are as near to what they stand for as is claimed."""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction

import numpy as np
import pytest

from sulq.privacy.pairs_of_floats import (
    Pair,
    divided,
    ln_2,
    logarithm,
    multiplied,
    pair_of,
    plus,
    root,
    times,
)
from sulq.privacy.settled import _product
from tests.effort import either

PAIRS = either(2_000, 50_000)
EXACT = Context(prec=120)


def pairs(seed: int, spread: int = 60) -> Pair:
    """Numbers of many sizes, some with a short or no second float, and all that are 1 or nearly."""
    draw = np.random.default_rng(seed)
    high = (0.5 + draw.random(PAIRS) / 2) * 2.0 ** draw.integers(-spread, spread + 1, PAIRS)
    high[:40] = 1 + np.arange(-20, 20) * 2.0**-53
    low = high * (draw.random(PAIRS) - 0.5) * 2.0 ** -draw.choice([53, 54, 80, 110], PAIRS)
    low[::7] = 0
    total = high + low
    return total, low - (total - high)


def exact(pair: Pair) -> list[Fraction]:
    high, low = (np.broadcast_to(part, np.broadcast(*pair).shape).ravel().tolist() for part in pair)
    return [Fraction(one) + Fraction(other) for one, other in zip(high, low, strict=True)]


def signed(pair: Pair, seed: int) -> Pair:
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], PAIRS)
    return pair[0] * signs, pair[1] * signs


def test_products_of_floats_are_exact() -> None:
    (x, _), (y, _) = pairs(0), signed(pairs(1), 2)
    for one, other, found in zip(x.tolist(), y.tolist(), exact(multiplied(x, y)), strict=True):
        assert found == Fraction(one) * Fraction(other)


@pytest.mark.parametrize(
    ("work", "meant", "bits"),
    [
        (plus, lambda x, y: x + y, 104),
        (times, lambda x, y: x * y, 103),
        (divided, lambda x, y: x / y, 102),
    ],
    ids=["plus", "times", "divided"],
)
@pytest.mark.parametrize("spread", [1, 60])
def test_sums_products_and_quotients_lose_less_than_they_say(work, meant, bits: int, spread: int) -> None:
    x, y = signed(pairs(3, spread), 4), signed(pairs(5, spread), 6)
    for one, other, found in zip(exact(x), exact(y), exact(work(x, y)), strict=True):
        assert abs(found - meant(one, other)) <= abs(meant(one, other)) / 2**bits


def test_a_number_as_a_pair() -> None:
    for number in (Fraction(1, 3), Fraction(2**300 + 1, 7), Fraction(1, 2**40), Fraction(0)):
        [found] = exact(pair_of(number))
        assert abs(found - number) <= number / 2**105


def test_roots_lose_less_than_they_say() -> None:
    x = pairs(7)
    for one, found in zip(exact(x), exact(root(x)), strict=True):
        # |r − √x| = |r² − x|/(r + √x), and r + √x is more than 1.9 times √x.
        assert abs(found**2 - one) <= Fraction(19, 10) * one / 2**102


def test_logarithms_lose_less_than_they_say() -> None:
    """From 1/2 to 1, at both ends and at all borders of what is looked up."""
    draw = np.random.default_rng(8)
    borders = np.arange(32, 65) / 64
    near = [borders, np.nextafter(borders, 0), np.nextafter(borders, 2), 1 - 2.0 ** -np.arange(1.0, 54)]
    high = np.concatenate([*near, 0.5 + draw.random(PAIRS) / 2])
    high = high[(high >= 0.5) & (high <= 1)]
    low = high * (draw.random(len(high)) - 0.5) * 2.0**-53
    low[high == 1] = 0
    for one, found in zip(exact((high, low)), exact(logarithm((high, low))), strict=True):
        number = EXACT.divide(Decimal(one.numerator), Decimal(one.denominator))
        assert abs(found - Fraction(number.ln(EXACT))) < Fraction(1, 2**100)
    [two] = exact(ln_2())
    assert abs(two - Fraction(Decimal(2).ln(EXACT))) < Fraction(1, 2**106)


@pytest.mark.parametrize("many", [1, 2, 3, 7, 64, 999])
def test_products_of_columns_lose_less_than_each_product_does(many: int) -> None:
    draw = np.random.default_rng(many)
    high = draw.random((many, 5)) ** draw.choice([1, 1, 20], (many, 5)) + 2.0**-53
    low = high * (draw.random((many, 5)) - 0.5) * 2.0**-54
    product, powers = _product((high, low))
    assert ((product[0] >= 0.5) & (product[0] <= 1)).all()
    for column, found in enumerate(exact(product)):
        meant = Fraction(1)
        for one in exact((high[:, column], low[:, column])):
            meant *= one
        found *= Fraction(2) ** int(powers[column])
        assert abs(found - meant) <= meant * many / 2**102
