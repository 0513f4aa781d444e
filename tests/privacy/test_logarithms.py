"""Logarithms in whole numbers lie between their bounds, and floating-point ones are as good as noise needs."""

from __future__ import annotations

import math
import random
from decimal import Context, Decimal
from fractions import Fraction

import numpy as np
import pytest

from sulq.privacy.logarithms import log, log_of_few

EXACT = Context(prec=120)
NUMBERS = [
    *range(1, 600),
    *(2**k + d for k in (40, 64, 500) for d in (-1, 0, 1)),
    3**1000,
    255 << 900,
    7**9 << 99,
]


@pytest.mark.parametrize("bits", [64, 96, 160, 290])
def test_a_logarithm_lies_between_its_bounds_which_are_close(bits: int) -> None:
    draw = random.Random(0)
    for x in [*NUMBERS, *(draw.getrandbits(draw.randrange(1, 3000)) + 1 for _ in range(500))]:
        low, high = log(x, bits)
        exact = Fraction(Decimal(x).ln(EXACT)) * 2**bits
        assert low <= exact <= high
        assert high - low <= 2 * x.bit_length() + bits


@pytest.mark.parametrize("bits", [64, 96, 290])
def test_logarithms_of_few_digits_lose_less_than_two(bits: int) -> None:
    for c in range(1, 256):
        assert 0 <= Fraction(Decimal(c).ln(EXACT)) * 2**bits - log_of_few(c, bits) < 2


def test_logarithms_of_floats_err_by_less_than_the_noise_of_vectors_believes() -> None:
    """A 2^-49-th part of themselves: near 1, near 0, and in between."""
    draw = np.random.default_rng(0)
    ones = 1 - np.arange(1, 500) * 2.0**-53
    near = 1 - draw.random(3000) * 2.0 ** -draw.integers(1, 50, 3000)
    far = draw.random(3000) * 2.0 ** -draw.integers(0, 960, 3000)
    numbers = np.concatenate([ones, near[near < 1], far[far > 0]])
    for x, found in zip(numbers.tolist(), np.log(numbers).tolist(), strict=True):
        exact = Fraction(EXACT.create_decimal(x).ln(EXACT))
        assert abs(Fraction(found) - exact) < abs(exact) / 2**49, math.log2(x)
