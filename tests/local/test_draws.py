"""Draws have exactly the draws they claim: random bytes are dictated, and all strings of them tried.

The statistical tests have a false-alarm rate of 2e-9 each.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from types import ModuleType

import numpy as np
import pytest
from numpy.typing import NDArray

from sulq.local import draws
from sulq.local.draws import (
    ONE,
    PARTS,
    Marks,
    Position,
    below,
    packed_bits,
    position,
    rounded,
    rounded_by_leading_bits,
    uniform_below,
)
from tests.privacy.test_noise import excess

THRESHOLDS = [0, 1, 5 << 48, 0x4000_0000_0000_0001, 0x44D9_1234_5678_9ABC, ONE // 2, ONE - 1, ONE]


def dictate(monkeypatch: pytest.MonkeyPatch, module: ModuleType, *answers: bytes) -> None:
    """These bytes in place of random ones, one string for each call."""
    left: Iterator[bytes] = iter(answers)

    def drawn(size: int) -> NDArray[np.uint8]:
        said = np.frombuffer(next(left), dtype=np.uint8)
        assert said.size == size
        return said

    monkeypatch.setattr(module, "random_bytes", drawn)


def every_string_of_two_bytes(size: int) -> NDArray[np.uint8]:
    if size == 2**16:
        return (np.arange(2**16) // 256).astype(np.uint8)
    return np.arange(256, dtype=np.uint8) if size == 256 else np.zeros(size, dtype=np.uint8)


@pytest.mark.parametrize("sixteenths", [0, 1, 255, 256, 17_621, 32_768, 2**16 - 1, 2**16])
def test_as_many_strings_are_below_a_threshold_as_it_says(
    sixteenths: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(draws, "random_bytes", every_string_of_two_bytes)
    assert below(sixteenths << 48, 2**16).sum() == sixteenths


@pytest.mark.parametrize("threshold", [1, 0x44D9_1234_5678_9ABC, ONE - 1])
def test_the_last_bit_of_a_threshold_counts(threshold: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for word, expected in ((threshold - 1, True), (threshold, False)):
        dictate(monkeypatch, draws, *(bytes([byte]) for byte in word.to_bytes(8)))
        assert below(threshold, 1).tolist() == [expected]


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_sixteen_bits_decide_only_where_all_that_could_follow_agrees(threshold: int) -> None:
    patterns = draws._patterns(threshold)
    for cell in range(0, 2**16, 7):
        first, last = (bisect_right(patterns.edges, edge) for edge in (cell << 496, ((cell + 1) << 496) - 1))
        assert int(patterns.table[cell]) == (first if first == last else first + 256)


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_patterns_are_as_wide_as_independent_bits_are_likely(threshold: int) -> None:
    edges = [0, *draws._patterns(threshold).edges, ONE**8]
    for pattern in range(256):
        width = 1
        for place in range(8):
            width *= threshold if pattern >> place & 1 else ONE - threshold
        assert edges[pattern + 1] - edges[pattern] == width


@pytest.mark.parametrize("threshold", [0x4000_0000_0000_0001, 0x44D9_1234_5678_9ABC])
def test_bits_that_64_do_not_decide_are_decided_by_512(
    threshold: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each edge's own first 64 bits are drawn, and then what is just below and what is just above it."""
    patterns = draws._patterns(threshold)
    for edge in patterns.edges[::5]:
        leading, rest = edge >> 448, edge & (1 << 448) - 1
        drawn = np.array([leading >> 48], dtype=np.uint16)
        more = ((leading & 2**48 - 1) << 16).to_bytes(8, "little")
        for number in (rest, max(rest - 1, 0)):
            dictate(monkeypatch, draws, more, number.to_bytes(56))
            expected = bisect_right(patterns.edges, leading << 448 | number)
            assert draws._settled(patterns, drawn).tolist() == [expected]


@pytest.mark.parametrize("share", [0.02, 0.2689, 0.5, 0.9])
def test_packed_bits_are_independent_and_as_often_one_as_asked(share: float) -> None:
    """n = 200,000 bytes in 256 cells; false alarm 2e-9. It notices a chance off by 10 % (asserted)."""

    def misfit(sampled: float) -> float:
        observed = np.bincount(packed_bits(int(sampled * ONE), 200_000), minlength=256)
        ones = np.bitwise_count(np.arange(256, dtype=np.uint8))
        expected = 200_000 * share**ones * (1 - share) ** (8.0 - ones)
        common = expected >= 20
        return excess(
            np.append(observed[common], observed[~common].sum()),
            np.append(expected[common], max(expected[~common].sum(), 1.0)),
        )

    assert misfit(share) < 0
    assert misfit(share * 1.1) > 0


@pytest.mark.parametrize("size", [1, 2, 3, 85, 256, 1365, 2**31])
def test_whole_numbers_below_a_size_are_equally_likely(size: int) -> None:
    """n = 100,000; false alarm 2e-9. It notices a cell of at most 64 that is off by a quarter."""
    drawn = uniform_below(size, 100_000)
    assert 0 <= drawn.min() <= drawn.max() < size
    cuts = sorted({size * j // 64 for j in range(1, 64)} - {0})
    observed = np.bincount(np.searchsorted(cuts, drawn, side="right"), minlength=len(cuts) + 1)
    assert excess(observed, 100_000 / size * np.diff([0, *cuts, size])) < 0


def test_each_draw_may_have_a_size_of_its_own() -> None:
    """n = 100,000 for each of two sizes; false alarm 2e-9 each."""
    drawn = uniform_below(np.resize([3, 5], 200_000), 200_000)
    for part, size in ((drawn[0::2], 3), (drawn[1::2], 5)):
        assert excess(np.bincount(part, minlength=size), np.full(size, 100_000 / size)) < 0


def test_words_that_would_make_a_draw_uneven_are_drawn_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """2^32 mod 3 = 1: of three times a word, only the low half 0 is one too many. It comes from the word 0."""
    dictate(monkeypatch, draws, bytes(8), bytes(8), b"\xff" * 4 + bytes(4), (2**31).to_bytes(4, "little"))
    assert uniform_below(3, 2).tolist() == [2, 1]


def test_marks_are_found_by_tables_as_by_searching() -> None:
    """Also on the marks themselves, just below them, and where there are too many cells for a table."""
    rng = np.random.default_rng(0)
    for gaps in ([1], [5, 3, 9], rng.integers(500, 1000, 120), [1, 2**40], [1] * 5000):
        at = np.concatenate([[0], np.cumsum(gaps)])
        steps = np.concatenate([at, np.maximum(at - 2.0**-30, 0), rng.random(1000) * at[-1]])
        assert np.array_equal(Marks(at)._before(steps), np.searchsorted(at, steps, side="right") - 1)
        base, part = Marks(at).position(steps, 0.0, float(at[-1]))
        again = at[base] + part / PARTS * np.append(np.diff(at), 1)[base]
        assert np.allclose(again, steps, rtol=1e-12, atol=1e-9)


def test_a_number_lies_between_two_grid_points() -> None:
    base, part = position(np.array([-1.0, 0.0, 2.5, 7.5, 10.0, 11.0]), 0.0, 10.0, 4)
    assert base.tolist() == [0, 0, 1, 3, 4, 4]
    assert part.tolist() == [0, 0, 0, 0, 0, 0]
    assert position(np.array([1.25]), 0.0, 10.0, 4).part.tolist() == [PARTS // 2]


def test_what_is_not_a_number_counts_as_low_and_what_is_outside_as_the_end() -> None:
    assert position(np.array([np.nan, -np.inf, np.inf]), 2.0, 3.0, 5).base.tolist() == [0, 0, 5]


def test_an_interval_without_width_has_one_point() -> None:
    assert position(np.array([2.0, 9.0]), 2.0, 2.0, 5) == Position(*(pytest.approx([0, 0]),) * 2)


@pytest.mark.parametrize("part", [1, PARTS // 3, PARTS - 1])
def test_rounding_goes_up_for_as_many_words_as_it_should(part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    where = Position(np.array([5]), np.array([part]))
    for word, expected in ((part - 1, 6), (part, 5)):
        dictate(monkeypatch, draws, (word << 11).to_bytes(8, "little"))
        assert rounded(where).tolist() == [expected]


@pytest.mark.parametrize("part", [0, 1, PARTS // 3, PARTS // 2, PARTS - 1, PARTS])
def test_leading_bits_round_up_for_as_many_words_as_they_should(
    part: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All strings of 16 bits, and of those that tie the ones on either side of the number."""
    words, leading = np.arange(2**16, dtype=np.uint16), part >> 37
    for rest in {0, max((part & 2**37 - 1) - 1, 0), part & 2**37 - 1, 2**37 - 1}:
        where = Position(np.full(2**16, 5), np.full(2**16, part))
        dictate(monkeypatch, draws, words.tobytes(), (rest << 27).to_bytes(8, "little"))
        expected = leading + (leading < 2**16 and rest < part & 2**37 - 1)
        assert rounded_by_leading_bits(where).tolist() == [6] * expected + [5] * (2**16 - expected)


@pytest.mark.parametrize(
    "draw",
    [
        lambda: below(ONE // 3, 64),
        lambda: packed_bits(ONE // 3, 64),
        lambda: uniform_below(1000, 64),
        lambda: rounded(Position(np.zeros(64, dtype=np.int64), np.full(64, PARTS // 2))),
        lambda: rounded_by_leading_bits(Position(np.zeros(64, dtype=np.int64), np.full(64, PARTS // 2))),
    ],
)
def test_no_two_calls_draw_the_same(draw: Callable[[], NDArray[np.int64]]) -> None:
    """Two calls agree by chance with a probability below 1e-16."""
    assert draw().tolist() != draw().tolist()
