"""Noise for whole vectors: its law, that every draw is exact, and that neighbours lose what it promises."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sulq.errors import QueryError
from sulq.privacy import spherical
from sulq.privacy.digits import Numbers
from sulq.privacy.settled import FineSpread, Spreads, drawn, in_pairs
from sulq.privacy.spherical import SphericalLaplace, quantile_of, tail_of
from sulq.privacy.vector_noise import rate
from tests.effort import either

DRAWS = either(20_000, 100_000)


def within(share: float, chance: float, draws: int) -> bool:
    """Whether a share of draws is as likely as that: 7 deviations, a false alarm in 10^11."""
    return abs(share - chance) <= 7 * math.sqrt(chance * (1 - chance) / draws) + 1e-12


CLOSED = {
    1: lambda x: math.exp(-x),
    3: lambda x: math.exp(-x) * (1 + x / 2),
    5: lambda x: math.exp(-x) * (1 + 5 * x / 8 + x * x / 8),
}


@pytest.mark.parametrize("width", CLOSED)
def test_tails_are_those_of_sums_of_laplace_numbers(width: int) -> None:
    """With characteristic function (1 + t²)^(−(w + 1)/2), one number is a sum of (w + 1)/2 of them."""
    for x in (0.0, 1e-6, 0.1, 1.0, 7.0, 50.0, 600.0):
        tail = CLOSED[width](x)
        assert tail <= tail_of(x, width) <= tail * (1 + 3e-8)
    for beta in (0.9, 0.05, 1e-6, 1e-250):
        assert CLOSED[width](quantile_of(beta, width)) == pytest.approx(beta, rel=1e-6)


@pytest.mark.parametrize("width", [2, 4, 64, 10_000])
def test_tails_of_even_widths_lie_between_those_beside_them(width: int) -> None:
    for x in (0.5, 2.0, 10.0):
        x *= math.sqrt(width)
        assert tail_of(x, width - 1) < tail_of(x, width) < tail_of(x, width + 1)


@pytest.mark.parametrize(("scale", "width"), [(1, 2), (Fraction(7, 2), 3), (1000, 5), (2**50, 2), (2**80, 3)])
def test_draws_are_as_far_out_as_the_law_says(scale: Fraction, width: int) -> None:
    noise = SphericalLaplace(scale, width)
    vectors = np.abs(noise.sample(DRAWS // 4 * width).reshape(-1, width))
    for beta in (0.5, 0.1, 0.01):
        radius = noise.radius(beta)
        for column in vectors.T:
            assert within(float((column > radius).mean()), noise.tail(radius), DRAWS // 4)
        assert noise.tail(radius) <= beta * (1 + 1e-6)
    spread = float((vectors.astype(np.float64) ** 2).mean())
    assert abs(spread / noise.std**2 - 1) < 60 / math.sqrt(DRAWS)  # kurtosis below 9: above 9 deviations


def test_lengths_are_those_of_a_gamma_variable() -> None:
    """‖Z‖/s has the Gamma law of shape w: so many arrivals of a Poisson process."""
    width, scale, many = 4, 2**30, DRAWS // 4
    drawn = SphericalLaplace(scale, width).sample(many * width).astype(np.float64).reshape(-1, width) / scale
    lengths = np.linalg.norm(drawn, axis=1)
    for x in (1.0, 2.5, 4.0, 6.0, 9.0):
        chance = math.exp(-x) * sum(x**k / math.factorial(k) for k in range(width))
        assert within(float((lengths > x).mean()), chance, many)
    # Every direction is as likely: of a coordinate and a turned one.
    turned = np.abs(drawn @ np.full(width, 0.5))
    for x in (1.0, 3.0):
        assert within(float((turned > x).mean()), tail_of(x, width), many)


@pytest.fixture(autouse=True)
def many_decimals() -> Iterator[None]:
    with localcontext() as context:
        context.prec = 90
        yield


def exactly(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def number(digits: Numbers, place: int) -> Fraction:
    return Fraction(digits.of(place, 4), 2**256)


def exact_square(spreads: Spreads, row: int) -> Decimal:
    """V, from logarithms in decimal arithmetic."""
    square = Decimal(0)
    if len(spreads.sizes.first):
        square = exactly(number(spreads.sizes, row) ** 2)
    for place in range(row, len(spreads.chances.first), spreads.many):
        square -= 2 * exactly(number(spreads.chances, place)).ln()
    return square


def none_sure(sizes: Numbers, *_: object) -> tuple[Any, Any]:
    many = len(sizes.first)
    return np.zeros(many, np.int64), np.zeros(many, np.bool_)


ALL = (
    (Fraction(1, 3), 3),
    (Fraction(22, 7), 5),
    (Fraction(2**31 + 1, 3), 7),
    (10**9, 40),
    (10**12, 300),
    (10**12, 301),
    (10**17, 3),
    (2**59, 2),
    (10**21, 40),
    (2**80, 5),
)


@pytest.mark.parametrize(("scale", "width"), ALL, ids=str)
def test_floats_and_pairs_of_them_and_whole_numbers_settle_the_same(
    scale: Fraction, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same random digits, settled in all ways, and worked out from many more digits."""
    noise = SphericalLaplace(scale, width)
    sizes, spreads = drawn(20, width, noise.scale)
    for numbers in (sizes, spreads.sizes, spreads.chances):
        numbers.draw_second()
    monkeypatch.setattr(spherical, "drawn", lambda *_: (sizes, spreads))
    fast = np.abs(noise.sample(20 * width))
    monkeypatch.setattr(spherical, "RELATIVE", 1e9)
    assert (np.abs(noise.sample(20 * width)) == fast).all()
    for few in (0, 10**6):
        monkeypatch.setattr("sulq.privacy.settled._FEW", few)
        assert (np.abs(noise.sample(20 * width)) == fast).all()
    monkeypatch.setattr("sulq.privacy.settled.in_pairs", none_sure)
    assert (np.abs(noise.sample(20 * width)) == fast).all()
    for row in range(3):
        root = exact_square(spreads, row).sqrt()
        for column in range(width):
            y = root * exactly(noise.scale * number(sizes, row * width + column))
            assert int(fast[row * width + column]) == math.floor(Fraction(y) + Fraction(1, 2))


def made_of(chances: list[int]) -> Spreads:
    """Of one vector, with the first 64 digits of its uniform numbers."""
    digits = Numbers(np.zeros(len(chances), np.int64), np.array(chances, np.uint64))
    return Spreads(digits, Numbers.uniform(0), 1, Fraction(1))


SMALL, LARGE = 2**48 + 1, 2**64 - 1
CHANCES = (
    [SMALL],
    [LARGE],
    [2**63, SMALL],
    [LARGE] * 3,
    [SMALL] * 150,
    [LARGE] * 150,
    [SMALL * 3**j for j in range(9)],
    [2**64 - 2**j for j in range(64)],
)


@pytest.mark.parametrize("chances", CHANCES, ids=str)
@pytest.mark.parametrize("odd", [0, 1])
def test_floats_know_the_length_of_a_vector_as_well_as_they_say(chances: list[int], odd: int) -> None:
    """Whatever digits follow: both ends are tried, and the other normal number is below 2^-40, or usual."""
    words = np.array(chances, np.uint64)[:, np.newaxis]
    for more in [np.array([x * 2.0**-64]) for x in (1, 2**24, 2**63, 2**66)] if odd else [np.empty(0)]:
        squares, off = spherical._squares(words, more)
        ends = [
            sum((Fraction(-2 * exactly(Fraction(m + d, 2**64)).ln()) for m in chances), Fraction(0))
            + sum((Fraction(x) + (1 - d) * Fraction(1, 2**64)) ** 2 for x in more.tolist())
            for d in (0, 1)
        ]
        for end in ends if off[0] < 1 else []:
            # Half of what √V is off by counts as that of V; the rest of `RELATIVE` is for what follows.
            assert abs(Fraction(squares[0]) - end) < 2 * end * Fraction(off[0] + 2.0**-49)
        assert off[0] < 2.0**-44 or chances[0] == LARGE


def test_floats_are_not_sure_of_numbers_near_zero() -> None:
    for chance in (0, 1, 2**40, 2**48 - 1, 2**48):
        words = np.array([[chance], [2**62]], np.uint64)
        assert spherical._squares(words, np.empty(0))[1] == 1
    assert spherical._squares(np.array([[LARGE]], np.uint64), np.empty(0))[1] == 1


@pytest.mark.parametrize("chances", [*CHANCES, [1], [2, 5, 2**20], [1] * 40], ids=str)
def test_whole_numbers_lie_around_the_logarithms(chances: list[int]) -> None:
    """Whatever digits follow, and hardly further apart than that."""
    low, high = FineSpread(made_of(chances), 0)._from_chances(1)
    ends = [sum(exactly(Fraction(m + d, 2**64)).ln() for m in chances) for d in (1, 0)]
    least, most = (-2 * Fraction(end) * 2**128 for end in ends)
    assert low <= max(least, 0) and most <= high
    unseen = 2**128 * sum(Fraction(2, m) for m in chances)
    assert high - low < unseen * (1 + Fraction(1, 2**39)) + len(chances) * 2**43


def test_of_a_number_below_all_digits_seen_more_are_drawn() -> None:
    spreads = made_of([0, 2**63])
    low, high = FineSpread(spreads, 0)._from_chances(1)
    assert 2 * 65 * math.log(2) < low / 2**128 <= high / 2**128 < 400
    chance = spreads.chances.of(0, 2)
    assert 0 < chance < 2**64
    exact = -2 * (exactly(Fraction(chance, 2**128)).ln() - Decimal(2).ln())
    assert math.isclose(low / 2**128, exact, rel_tol=1e-12)


@pytest.mark.parametrize("steps", [0, 7, 2**30, 2**45 + 1, 2**61, 2**80])
@pytest.mark.parametrize("few", [0, 10**6])
def test_pairs_of_floats_are_not_sure_where_digits_to_come_decide(
    few: int, steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The scale is such that a coordinate is the middle of two numbers, if the next digit is the last that is
    not 0."""
    monkeypatch.setattr("sulq.privacy.settled._FEW", few)
    settled = 0
    for sizes, spreads in (drawn(1, 1, Fraction(1)) for _ in range(200)):
        sizes.draw_second()
        spreads.chances.draw_second()
        size, chance = sizes.of(0, 2), spreads.chances.of(0, 2)
        middle = -2 * exactly(Fraction(2 * chance + 1, 2**129)).ln()
        root = Fraction(middle.sqrt())
        for moved in (Fraction(0), Fraction(1, 2), Fraction(-1, 2)):
            scale = (steps + Fraction(1, 2) + moved) * (1 << 129) / ((2 * size + 1) * root)
            if scale < Fraction(1, 2**40):
                continue
            scaled = replace(spreads, scale=scale)
            [found], [sure] = in_pairs(sizes, scaled, np.zeros(1, np.intp))
            number = FineSpread(scaled, 0).times(sizes, 0)
            if moved:
                settled += sure
                assert not sure or found == number
            else:
                # Of a size near 0, or a chance near 1, the digits to come may change more than one step.
                least, most = (
                    scale
                    * Fraction(one, 2**128)
                    * Fraction((-2 * exactly(Fraction(other, 2**128)).ln()).sqrt())
                    for one, other in ((size, chance + 1), (size + 1, chance))
                )
                assert not sure and least - 1 < number < most + 1
    assert settled > 100


def chance(cell: tuple[int, ...], scale: float, points: int = 40) -> float:
    """The mass of a cube, but for a constant: by the midpoint rule, in 2 dimensions."""
    middle = (np.arange(points) + 0.5) / points - 0.5
    x, y = np.meshgrid(cell[0] + middle, cell[1] + middle)
    return float(np.exp(-np.hypot(x, y) / scale).mean())


@pytest.mark.parametrize("scale", [Fraction(1), Fraction(5, 2)], ids=str)
def test_neighbours_are_at_most_e_to_the_epsilon_apart_and_nearly_reach_it(scale: Fraction) -> None:
    """All pairs of a small grid of outputs, for all moves of a length of at most 2."""
    noise = SphericalLaplace(scale, 2)
    cells = list(itertools.product(range(-9, 10), repeat=2))
    law = {cell: chance(cell, float(scale)) for cell in itertools.product(range(-11, 12), repeat=2)}
    for move in itertools.product(range(-2, 3), repeat=2):
        length = math.hypot(*move)
        if not 0 < length <= 2:
            continue
        bound = math.exp(noise.epsilon(Fraction(length)))
        ratios = [law[cell] / law[cell[0] - move[0], cell[1] - move[1]] for cell in cells]
        assert max(ratios) <= bound * (1 + 1e-6)
        assert max(ratios) >= bound * 0.98


def test_draws_of_small_noise_have_the_mass_of_their_cubes() -> None:
    noise = SphericalLaplace(1, 2)
    cells = list(itertools.product(range(-3, 4), repeat=2))
    whole = 2 * math.pi
    drawn = [tuple(map(int, pair)) for pair in noise.sample(2 * DRAWS).reshape(-1, 2)]
    for cell in cells:
        mass = chance(cell, 1.0) / whole
        assert within(drawn.count(cell) / DRAWS, mass * (1 + 1e-3), DRAWS) or within(
            drawn.count(cell) / DRAWS, mass, DRAWS
        )


def test_the_rate_of_exchange_makes_noise_as_wide_as_laplace_noise() -> None:
    for width in (1, 2, 9, 5000):
        noise = SphericalLaplace(10**6 / rate(width), width)
        assert noise.std == pytest.approx(math.sqrt(2) * 10**6, rel=1e-6)


def test_what_no_vector_has_is_refused() -> None:
    with pytest.raises(QueryError, match="multiples"):
        SphericalLaplace(1, 3).sample(4)
    with pytest.raises(QueryError, match="must lie between"):
        SphericalLaplace(2**401, 3)
    for width in (0, -1, 2.5, True):
        with pytest.raises(QueryError, match="whole number"):
            SphericalLaplace(1, width)  # type: ignore[arg-type]
    with pytest.raises(QueryError, match="sensitivity"):
        SphericalLaplace(1, 3).epsilon(-1)
    assert SphericalLaplace(1, 3).sample(0).size == 0
    assert not SphericalLaplace(Fraction(1, 2**40), 3).sample(300).any()
