"""Directions: the cipher's words, how near pairs are to normal numbers, caps' chances, and the same bits twice."""

from __future__ import annotations

import math
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sulq.local.caps import cap_mass
from sulq.loops import compiled_directions, plain_directions
from tests.effort import either, examples
from tests.loops.twins import built, same

BOTH = pytest.mark.parametrize(
    "loops",
    [plain_directions, pytest.param(compiled_directions, marks=built)],
    ids=lambda module: module.__name__.rpartition(".")[2],
)
KEYS = st.lists(st.integers(0, 2**32 - 1), min_size=8, max_size=8).map(
    lambda key: np.array(key, dtype=np.uint32)
)
GROUPS = st.integers(0, 2**40) | st.just(2**28 - 1)
SHAPES = st.tuples(st.integers(1, 40), st.integers(0, 300)) | st.sampled_from(
    [(1, 9000), (2, 2048), (2, 2049), (2, 9000), (8, 5000), (63, 130), (64, 200), (65, 128), (1001, 3)]
)


def key_of(seed: int) -> Any:
    return np.random.default_rng(seed).integers(0, 2**32, 8, dtype=np.uint32)


def vectors(seed: int, n: int, d: int) -> Any:
    """Rows of all lengths, some of them zeros, very large or no numbers, which lie in memory in one of three ways."""
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((n, d)) * rng.choice([0.0, 0.3, 1.0, 1e-300, 1e300], (n, 1))
    rows[rng.random((n, d)) < 0.02] = np.nan
    return [rows, np.asfortranarray(rows), np.repeat(rows, 2, axis=0)[::2]][seed % 3]


def aims(seed: int, d: int, n: int) -> tuple[Any, Any]:
    """Unit vectors as columns, and which of the reports are from outside."""
    rng = np.random.default_rng(seed)
    towards = rng.standard_normal((d, n))
    return towards / np.sqrt(np.square(towards).sum(axis=0)), rng.random(n) < rng.choice([0, 0.3, 1])


@built
@settings(max_examples=examples(60))
@given(KEYS, GROUPS, SHAPES)
def test_normal_numbers_are_the_same(key: Any, group: int, shape: tuple[int, int]) -> None:
    one, other = (module.normals(key, group, *shape) for module in (compiled_directions, plain_directions))
    assert one[1] == other[1]
    same(one[0], other[0])


@built
@settings(max_examples=examples(60))
@given(KEYS, GROUPS, SHAPES, st.integers(0, 2**32), st.sampled_from([0.0, 1e-300, 0.5, 1e200]))
def test_vectors_are_rounded_alike(
    key: Any, group: int, shape: tuple[int, int], seed: int, norm: float
) -> None:
    d, n = max(shape[0], 2), shape[1]
    rows = vectors(seed, n, d)
    one, other = (module.aimed(key, group, rows, norm) for module in (compiled_directions, plain_directions))
    assert one[1] == other[1]
    same(one[0], other[0])
    # Each of d squares that are added up rounds by half of 2^-52 at most; `sulq.local.cap` has room for d·2^-52.
    assert np.abs(np.square(one[0]).sum(axis=0) - 1).max(initial=0) <= (d + 8) * 2.0**-52


@built
@settings(max_examples=examples(60))
@given(KEYS, GROUPS, SHAPES, st.integers(0, 2**32), st.floats(0, 1.7))
@example(key_of(0), 0, (8, 1500), 0, 1.5)  # reports from both sides, and people who wait
def test_everyone_is_met_by_the_same_direction(
    key: Any, group: int, shape: tuple[int, int], seed: int, far: float
) -> None:
    d, n = shape
    threshold = min(far / math.sqrt(d), 0.9) if d > 1 else 0.0
    towards, outside = aims(seed, d, n)
    rooms = np.full((2, d, n + 2), 99.0)
    used = [
        module.met(key, group, threshold, towards.copy(), outside.copy(), room[:, 1:-1])
        for module, room in zip((compiled_directions, plain_directions), rooms, strict=True)
    ]
    assert used[0] == used[1]
    same(*rooms)
    assert (rooms[:, :, [0, -1]] == 99).all()
    along = plain_directions.inner(np.ascontiguousarray(rooms[0, :, 1:-1]), towards) if n else np.zeros(0)
    # A report was rounded once more than what was looked at.
    assert (np.where(outside, along - threshold, threshold - along) < 1e-14 * d).all()


@built
@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_it_is_the_same_for_processors_with_narrow_registers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And without a choice of a processor's version when the library is loaded."""
    source, made = compiled_directions.PATH.with_suffix(".c"), tmp_path / "narrow.so"
    options = ["-O2", "-fno-math-errno", "-ffp-contract=off", "-shared", "-fPIC", "-DPLAIN"]
    subprocess.run(["cc", *options, str(source), "-o", str(made)], check=True)

    def drawn() -> list[Any]:
        key, (towards, outside), reports = key_of(3), aims(4, 7, 2000), np.empty((7, 2000))
        compiled_directions.met(key, 2, 0.5, towards, outside, reports)
        aimed, _ = compiled_directions.aimed(key, 5, vectors(1, 300, 7), 1.0)
        return [reports, aimed, *(compiled_directions.normals(key, 9, d, 301)[0] for d in (1, 2, 7))]

    wide = drawn()
    monkeypatch.setattr(compiled_directions, "PATH", made)
    monkeypatch.setattr(compiled_directions, "LIBRARY", compiled_directions._loaded())
    for narrow, expected in zip(drawn(), wide, strict=True):
        same(narrow, expected)


@built
def test_nothing_is_written_beside_the_room_there_is() -> None:
    towards, outside = aims(0, 3, 10)
    for d, n in ((2, 10), (3, 9), (4, 10)):
        with pytest.raises(ValueError, match="do not fit"):
            compiled_directions.met(key_of(0), 0, 0.1, towards, outside, np.zeros((d, n)))
    for room in (np.zeros((10, 3)).T, np.zeros((3, 10), dtype=np.float32)):
        with pytest.raises(ValueError, match="no room"):
            compiled_directions.met(key_of(0), 0, 0.1, towards, outside, room)
    with pytest.raises(ValueError, match="two numbers or more"):
        compiled_directions.aimed(key_of(0), 0, np.zeros((3, 1)), 1.0)


CHACHA_12 = [
    "9bf49a6a0755f953811fce125f2683d50429c3bb49e074147e0089a52eae155f"
    "0564f879d27ae3c02ce82834acfa8c793a629f2ca0de6919610be82f411326be",
    "0bd58841203e74fe86fc71338ce0173dc628ebb719bdcbcc151585214cc089b4"
    "42258dcda14cf111c602b8971b8cc843e91e46ca905151c02744a6b017e69316",
]
"""A key and a nonce of zeros, and the blocks with the counters 0 and 1 (draft-strombergson-chacha-test-vectors, TC1)."""


def test_words_are_those_of_the_cipher_as_it_is_published() -> None:
    words = plain_directions.words_of(np.zeros(8, dtype=np.uint32), 0, 1)
    blocks = words.view(np.uint32).reshape(16, 16).T.astype("<u4")
    assert [block.tobytes().hex() for block in blocks[:2]] == CHACHA_12
    # The first group of which a counter has more than 32 bits.
    far = plain_directions.words_of(key_of(1), 2**28 - 1, 2)
    same(far[1:], plain_directions.words_of(key_of(1), 2**28, 1))
    assert len(np.unique(far)) == far.size


EXTREME = np.array([0, 1, 2**12, 2**62, 2**63 - 1, 2**63, 2**64 - 1], dtype=np.uint64)


def some_words(n: int) -> Any:
    return np.concatenate([EXTREME, np.random.default_rng(0).integers(0, 2**64, n, dtype=np.uint64)])


def test_the_series_leave_out_no_more_than_is_said() -> None:
    words = some_words(100_000)
    u = ((words >> np.uint64(12)).astype(np.float64) + 0.5) / 2.0**52
    assert plain_directions.lengths_of(words) == pytest.approx(np.sqrt(-2 * np.log(u)), rel=1e-13)
    a = (
        ((words << np.uint64(2)) >> np.uint64(12)).astype(np.float64) + 0.5
    ) / 2.0**52 * math.pi / 2 - math.pi / 4
    quarter = (words >> np.uint64(62)).astype(np.int64)
    expected = np.stack([np.cos(a), np.sin(a)])
    expected = np.where(quarter & 1, expected[::-1], expected) * np.where(quarter & 2, -1, 1)
    assert np.abs(plain_directions.points_of(words) - expected).max() < 1e-13


def test_every_pair_is_as_likely_as_its_opposite_to_the_last_bit() -> None:
    words = some_words(1000)
    same(plain_directions.points_of(words ^ np.uint64(2**63)), -plain_directions.points_of(words))
    assert (plain_directions.points_of(words) != 0).all()
    assert (plain_directions.lengths_of(words) > 0).all()


@BOTH
def test_numbers_are_normal_and_independent(loops: Any) -> None:
    """Of 4 rows: the distance from the normal law (Dvoretzky, Kiefer, Wolfowitz, Massart: false alarm 2e-9 for each),
    and all moments of two of them up to the fourth, within 6.5 deviations: 1e-10 for each of 60."""
    n = either(200_000, 2_000_000)
    drawn, _ = loops.normals(key_of(2), 0, 4, n)
    places = (np.arange(n) + 0.5) / n
    for row in drawn:
        law = np.array([math.erfc(-x / math.sqrt(2)) / 2 for x in np.sort(row)[:: n // 1000]])
        assert np.abs(law - places[:: n // 1000]).max() < math.sqrt(math.log(1e9) / (2 * n)) + 1 / n
    moments = [1.0, 0.0, 1.0, 0.0, 3.0, 0.0, 15.0, 0.0, 105.0]
    for i, j in ((0, 1), (0, 2), (1, 3), (2, 3)):
        for p in range(5):
            for q in range(5 - p):
                mean, square = moments[p] * moments[q], moments[2 * p] * moments[2 * q]
                bound = 6.5 * math.sqrt((square - mean**2) / n)
                assert abs(float((drawn[i] ** p * drawn[j] ** q).mean()) - mean) <= bound


@BOTH
@pytest.mark.parametrize("d", [2, 3, 8])
def test_caps_in_all_directions_are_as_likely_as_on_the_sphere(loops: Any, d: int) -> None:
    """Around 12 vectors, each of 3 caps: within 6.5 deviations, false alarm 1e-10 for each of 216."""
    n = either(100_000, 3_000_000) if loops is compiled_directions else 100_000
    drawn, _ = loops.normals(key_of(d), 0, d, n)
    lengths = np.sqrt(plain_directions.inner(drawn, drawn))
    around = np.concatenate([np.eye(d)[:2], np.random.default_rng(d).standard_normal((10, d))])
    for vector in around:
        along = vector @ drawn / lengths / np.linalg.norm(vector)
        for threshold in (0.0, 0.3, 1.8 / math.sqrt(d) if d > 3 else 0.9):
            mass = cap_mass(d, threshold)
            off = float((along >= threshold).mean()) - mass
            assert abs(off) < 6.5 * math.sqrt(mass * (1 - mass) / n)


@BOTH
def test_reports_of_many_people_are_spread_over_their_side(loops: Any) -> None:
    """In three dimensions how far along its vector a direction is, is uniform on either side: 10 parts of 20,000
    people, within 6.5 deviations, false alarm 2e-9. And whoever tries again is offered what nobody saw before."""
    n, threshold = 20_000, 0.6
    for aside, low, high in ((False, threshold, 1.0), (True, -1.0, threshold)):
        towards, out = np.tile([[0.0], [0.6], [0.8]], n), np.empty((3, n))
        loops.met(key_of(5), 7, threshold, towards, np.full(n, aside), out)
        counts, _ = np.histogram(np.array([0.0, 0.6, 0.8]) @ out, np.linspace(low, high, 11))
        assert counts.sum() == n
        assert np.abs(counts - n / 10).max() < 6.5 * math.sqrt(n * 0.09)
        assert len(np.unique(np.abs(out[0]))) == n
