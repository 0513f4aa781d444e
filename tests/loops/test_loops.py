"""The compiled loops return bit for bit what NumPy's do."""

from __future__ import annotations

import math
import shutil
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import sulq
from sulq import loops
from sulq.loops import compiled, plain
from tests.loops.twins import built, rows, same

NAMES = [name for name in loops.__all__ if name.islower()]


def test_where_there_is_a_compiler_the_loops_are_compiled() -> None:
    assert compiled.LIBRARY is not None or shutil.which("cc") is None
    best = plain if compiled.LIBRARY is None else compiled
    assert all(getattr(loops, name) is getattr(best, name) for name in NAMES)


def written(dtype: Any, loop: Any, values: Any, *more: Any) -> Any:
    """What a loop writes to the middle of a longer array, of which it leaves the ends alone."""
    longer = np.full(len(values) + 2, 99, dtype=dtype)
    loop(values, *more, longer[1:-1])
    assert longer[0] == longer[-1] == 99
    return longer[1:-1]


@built
@given(
    rows.flatmap(lambda n: arrays.arrays(np.float64, n, elements=st.floats())),
    st.floats(-1e6, 0),
    st.floats(0.5, 1e6),
    st.integers(-20, 10),
)
def test_numbers_are_cleaned_alike(values: Any, low: float, high: float, bits: int) -> None:
    cleaning = loops.Cleaning(low, high, 2.0**bits, math.trunc(low * 2.0**bits))
    steps = written(np.int32, plain.real_steps, values, cleaning)
    same(written(np.int32, compiled.real_steps, values, cleaning), steps)
    every_other = np.repeat(values, 2)[::2]
    same(written(np.int32, compiled.real_steps, every_other, cleaning), steps)
    span = math.trunc(high * 2.0**bits) - math.trunc(low * 2.0**bits)
    middle = (math.trunc(high * 2.0**bits) + math.trunc(low * 2.0**bits)) / 2
    stretch = 65533.99 / span if span else 0.0
    scaling = (cleaning, middle, stretch)
    same(
        written(np.int16, compiled.real_features, values, *scaling),
        written(np.int16, plain.real_features, values, *scaling),
    )


@built
@given(
    rows.flatmap(lambda n: arrays.arrays(np.int32, n, elements=st.integers(-3, 300))),
    arrays.arrays(np.uint8, st.integers(1, 300)),
)
def test_entries_have_the_same_codes(entries: Any, table: Any) -> None:
    same(
        written(np.uint8, compiled.codes_of_entries, entries, table),
        written(np.uint8, plain.codes_of_entries, entries, table),
    )
    wide, long = table.astype(np.uint16) + 1000, entries.astype(np.int64)
    codes = written(np.uint16, plain.codes_of_entries, entries, wide)
    same(written(np.uint16, compiled.codes_of_entries, entries, wide), codes)
    same(written(np.uint16, compiled.codes_of_entries, long, wide), codes)


@built
def test_nothing_is_written_beside_the_room_there_is() -> None:
    entries, table = np.zeros(10, dtype=np.int32), np.ones(2, dtype=np.uint8)
    for room in (
        np.zeros(9, dtype=np.uint8),
        np.zeros(20, dtype=np.uint8)[::2],
        np.zeros(10, dtype=np.int16),
    ):
        with pytest.raises(ValueError):
            compiled.codes_of_entries(entries, table, room)
        assert not room.any()
    with pytest.raises(ValueError, match="do not have 65 columns"):
        compiled.echelon(np.zeros((3, 1), dtype=np.uint64), 65)


@built
@given(st.data(), rows, st.lists(st.integers(1, 40) | st.just(300), min_size=1, max_size=4))
def test_combinations_are_counted_alike(data: st.DataObject, n: int, sizes: list[int]) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    kinds = [data.draw(st.sampled_from([np.uint16, np.int64])) for _ in sizes]
    codes = [rng.integers(0, size, n).astype(kind) for size, kind in zip(sizes, kinds, strict=True)]
    if math.prod(sizes) <= 10**6:
        same(compiled.joint_counts(codes, sizes), plain.joint_counts(codes, sizes))


def test_no_code_is_counted_outside_of_the_table() -> None:
    wrong = [np.array([0, 250], dtype=np.uint8), np.array([1, 255], dtype=np.uint8)]
    assert loops.joint_counts(wrong, [2, 3])[:6].tolist() == [0, 1, 0, 0, 0, 0]


@built
@given(st.integers(0, 2**32), st.integers(0, 150), st.integers(0, 130), st.integers(0, 150))
def test_equations_are_reduced_alike(seed: int, n: int, columns: int, rank: int) -> None:
    rng = np.random.default_rng(seed)
    bits = rng.integers(0, 2, (n, rank)) @ rng.integers(0, 2, (rank, columns)) % 2
    words = np.zeros((n, 8 * (1 + columns // 64)), dtype=np.uint8)
    words[:, : -(-columns // 8)] = np.packbits(bits.astype(bool), axis=1, bitorder="little")
    rows = words.view("<u8").astype(np.uint64)
    before = rows.copy()
    for one, other in zip(compiled.echelon(rows, columns), plain.echelon(rows, columns), strict=True):
        same(one, other)
    left, pivots = compiled.echelon(rows, columns)
    ones = np.unpackbits(left.astype("<u8").view(np.uint8), axis=1, bitorder="little")
    assert (ones[:, pivots] == np.eye(len(pivots))).all()
    assert len(pivots) <= min(n, columns, rank)
    same(rows, before)


def test_whole_answers_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    n = 5000
    table = {
        "x": np.where(rng.random(n) < 0.1, np.nan, rng.normal(0, 3, n)),
        "y": rng.normal(0, 1, n),
        "c": rng.choice(["a", "b", "z"], n),
        "d": rng.integers(0, 5, n),
    }
    schema = {
        "x": sulq.Real(-2, 5),
        "y": sulq.Real(-1, 1),
        "c": sulq.Category(["a", "b"]),
        "d": sulq.Integer(0, 4),
    }
    point = sulq.features("x", "y", "d")
    near = sulq.nearest(point, [[0, 0, 0], [0.5, 0.5, 0.5], [0, 0, 0]])
    asked = sulq.Round(
        [
            sulq.count(by=["c", "d"]),
            sulq.count(by=near),
            sulq.total(point, by=near),
            sulq.total(sulq.gram(point)),
            sulq.total(sulq.outer(point, sulq.features("y", "d", norm=1))),
            sulq.total(sulq.col("x"), where=sulq.col("c") == "a"),
        ]
    )
    found = sulq.open(table, schema).exact().ask(asked)
    for name in NAMES:
        monkeypatch.setattr(loops, name, getattr(plain, name))
    again = sulq.open(table, schema).exact().ask(asked)
    for one, other in zip(found, again, strict=True):
        assert np.array_equal(one.value, other.value)
