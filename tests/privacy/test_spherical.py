"""Noise for whole vectors: its law, that every draw is exact, and that neighbours lose what it promises."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sulq.errors import QueryError
from sulq.privacy import normals, spherical
from sulq.privacy.normals import Normals
from sulq.privacy.settled import NoiseVector, in_pairs, squares_of
from sulq.privacy.spherical import SphericalLaplace, quantile_of, tail_of
from sulq.privacy.vector_noise import rate
from tests.effort import either

DRAWS = either(20_000, 100_000)


def within(share: float, chance: float, draws: int) -> bool:
    """Whether a share of draws is as likely as that: 7 deviations, a false alarm in 10^11."""
    return abs(share - chance) <= 7 * math.sqrt(chance * (1 - chance) / draws) + 1e-12


def test_normal_numbers_follow_their_law_and_have_fair_signs() -> None:
    drawn = Normals.drawn(DRAWS)
    values = drawn.sizes * drawn.signs
    for edge in (-2.5, -1.0, -0.1, 0.0, 0.3, 1.0, 2.0, 3.0):
        assert within(float((values < edge).mean()), 0.5 * math.erfc(-edge / math.sqrt(2)), DRAWS)


def test_normal_numbers_follow_their_law_when_every_one_is_decided_in_whole_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(normals, "_SLACK", 1e9)
    drawn = Normals.drawn(DRAWS // 10)
    for edge in (0.1, 0.5, 1.0, 2.0):
        assert within(float((drawn.sizes < edge).mean()), math.erf(edge / math.sqrt(2)), DRAWS // 10)


def test_digits_that_were_seen_stay_and_the_others_are_drawn_once() -> None:
    drawn = Normals.drawn(50)
    for place in range(50):
        one, three, two = (drawn.digits(place, words) for words in (1, 3, 2))
        assert three >> 64 == two and two >> 64 == one == drawn.digits(place, 1)
        assert drawn.digits(place, 3) == three
        assert math.isclose(one / 2**64, drawn.sizes[place])
    assert len({drawn.digits(place, 2) & (2**64 - 1) for place in range(50)}) == 50


def test_an_acceptance_that_needs_more_digits_draws_and_keeps_them() -> None:
    """With y = 3/2 so far, the first 32 digits of U are those of the bell there, and of one more and less."""
    proposed = Normals(np.array([1]), np.array([2**63], np.uint64), np.ones(1, np.int64))
    below = math.floor(2**32 * math.exp(-9 / 8))
    assert normals._exactly(proposed, 0, Fraction(1), below - 1)
    assert not normals._exactly(proposed, 0, Fraction(1), below + 1)
    assert not proposed.more
    assert {normals._exactly(proposed, 0, Fraction(1), below) for _ in range(200)} == {True, False}
    assert proposed.digits(0, 2) >> 64 == proposed.digits(0, 1) == 3 * 2**63
    assert len(proposed.more) == 1 and proposed.more[0].bit_length() > 64


def test_the_bell_lies_between_its_bounds_which_come_together() -> None:
    """Against the power series of exp(−x), whose terms alternate and fall from the start if x is below 1."""
    for y in (Fraction(0), Fraction(1, 3), Fraction(7, 5)):
        x, terms = y * y / 2, [Fraction(1)]
        while len(terms) < 60:
            terms.append(-terms[-1] * x / len(terms))
        for words in (1, 2):
            low, high = normals._bell(y, words)
            assert low <= sum(terms) <= high and high - low < Fraction(1, 10 ** (20 * words))


def test_strips_cover_the_bell_and_hardly_more() -> None:
    """A strip is nowhere lower than the bell, exactly; and their areas are those that they are drawn by."""
    strips, heights = normals._cover()
    assert len(strips.edges) == 128 and math.isnan(heights[128])
    areas = np.diff([0, *strips.edges, strips.whole])
    assert areas[128] == 1 and (heights[:128] * 2**26 == areas[:128]).all()
    for i in range(128):
        assert normals._bell(Fraction(i, 16), 1)[1] <= Fraction(heights[i])
    assert math.sqrt(math.pi / 2) / (strips.whole / 2**30) > 0.97


def test_what_is_beyond_the_strips_is_covered_too() -> None:
    """The area of one unit of 2^-30 is dealt out to strips of width 1, of heights above the bell."""
    for _ in range(50):
        proposed = Normals(np.zeros(1, np.int64), np.zeros(1, np.uint64), np.ones(1, np.int64))
        height = normals._beyond(proposed, 0)
        ahead = int(proposed.whole[0]) - 8
        assert ahead >= 0 and height == Fraction(1, 2**31) / 2**ahead
        assert normals._bell(Fraction(8 + ahead), 1)[1] <= height


def test_normal_numbers_beyond_the_strips_follow_their_law(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without any fine strips, all are: from 0 on, by strips of heights 2, 1, 1/2, …"""
    monkeypatch.setattr(normals, "_STRIPS", 0)
    monkeypatch.setattr(normals, "_UNIT", -6)
    monkeypatch.setattr(normals, "_cover", lambda: (normals.Outcomes([1]), np.array([math.nan])))
    drawn = Normals.drawn(DRAWS // 20)
    for edge in (0.1, 0.5, 1.0, 2.0):
        assert within(float((drawn.sizes < edge).mean()), math.erf(edge / math.sqrt(2)), DRAWS // 20)


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


def none_sure(spreads: Any, whole: Any, first: Any) -> tuple[Any, Any]:
    return np.zeros(len(whole), np.int64), np.zeros(len(whole), np.bool_)


ALL = (
    (Fraction(1, 3), 3),
    (Fraction(22, 7), 5),
    (Fraction(2**31 + 1, 3), 7),
    (10**9, 40),
    (10**12, 300),
    (10**17, 3),
)


@pytest.mark.parametrize(("scale", "width"), ALL, ids=str)
def test_floats_and_pairs_of_them_and_whole_numbers_settle_the_same(
    scale: Fraction, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same normal numbers, settled in three ways."""
    kept: list[Normals] = []
    draw = Normals.drawn

    def drawn(size: int) -> Normals:
        kept.append(kept.pop() if kept else draw(size))
        return kept[-1]

    monkeypatch.setattr(Normals, "drawn", drawn)
    noise = SphericalLaplace(scale, width)
    fast = noise.sample(20 * width)
    monkeypatch.setattr(spherical, "RELATIVE", 1e9)
    assert (noise.sample(20 * width) == fast).all()
    monkeypatch.setattr("sulq.privacy.settled.in_pairs", none_sure)
    assert (noise.sample(20 * width) == fast).all()
    # Rounded up from many more digits, nothing changes either.
    normal, each = kept[0], 2 * width + 1
    for row in range(3):
        squares = sum(
            Fraction(normal.digits(row * each + width + j, 4), 2**256) ** 2 for j in range(width + 1)
        )
        for place in range(width):
            size = Fraction(normal.digits(row * each + place, 4), 2**256)
            exact = math.isqrt(math.floor(4 * squares * (size * noise.scale) ** 2))
            assert abs(int(fast[row * width + place])) == (exact + 1) // 2


@pytest.mark.parametrize("steps", [0, 7, 2**30, 2**45 + 1, 2**52])
def test_pairs_of_floats_are_not_sure_where_digits_to_come_decide(steps: int) -> None:
    """The scale is such that a coordinate is the middle of two numbers, if the next digit is the last that is
    not 0."""
    settled = 0
    for normal in (Normals.drawn(3) for _ in range(200)):
        size, *others = (normal.digits(place, 1) for place in range(3))
        whole, first = normal.whole.view(np.uint64), normal.first
        squares = squares_of(whole[None, 1:], first[None, 1:])[0]
        root = math.isqrt(sum(other**2 for other in others) << 400)  # √V·2^264
        for moved in (Fraction(0), Fraction(1, 2), Fraction(-1, 2)):
            scale = (steps + Fraction(1, 2) + moved) * (1 << 329) / ((2 * size + 1) * root)
            if scale < Fraction(1, 2**40):
                continue
            vector = NoiseVector(normal, 0, 1, scale, squares)
            found, sure = in_pairs(np.array([vector.spread]).T, whole[:1], first[:1])
            if moved:
                settled += int(sure[0])
                assert not sure[0] or found[0] == vector.number(0)
            else:
                assert not sure[0] and vector.number(0) in (steps, steps + 1)
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
