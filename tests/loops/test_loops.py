"""The compiled loops return bit for bit what NumPy's do."""

from __future__ import annotations

import math
import shutil
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import sulq
from sulq import loops
from sulq.loops import compiled, plain
from tests.effort import examples

built = pytest.mark.skipif(compiled.LIBRARY is None, reason="there is no C compiler")
rows = st.integers(0, 40) | st.sampled_from([511, 512, 513, 1030])
NAMES = [name for name in loops.__all__ if name.islower()]


def test_where_there_is_a_compiler_the_loops_are_compiled() -> None:
    assert compiled.LIBRARY is not None or shutil.which("cc") is None
    best = plain if compiled.LIBRARY is None else compiled
    assert all(getattr(loops, name) is getattr(best, name) for name in NAMES)


def same(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> None:
    assert one.dtype == other.dtype
    assert one.shape == other.shape
    assert (one == other).all()


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


def matrix(rng: np.random.Generator, n: int, width: int, kind: str) -> plain.Matrix:
    if kind == "members":
        return loops.Members(rng.integers(0, width, n), width)
    if kind.startswith("moved"):
        columns = matrix(rng, n, width, kind.removeprefix("moved "))
        assert not isinstance(columns, loops.Members)
        return moving(rng, n, columns)
    dtype = {"shorts": np.int16, "ints": np.int32, "doubles": np.float64}[kind.removeprefix("taken ")]
    if kind.startswith("taken"):
        longer = rng.integers(-32767, 32768, (2 * n + 1, width)).astype(dtype)
        return loops.Taken(list(longer.T), rng.integers(0, 2 * n + 1, n))
    columns = rng.integers(-32767, 32768, (n, width)).astype(dtype)
    return list(columns.T)  # columns with gaps between their rows


def moving(rng: np.random.Generator, n: int, columns: Any) -> loops.Moved:
    """Columns that move in one of many ways."""
    width, codes = len(columns), int(rng.choice([1, 2, 16, 17, 256]))
    low = rng.choice([-np.inf, -9000.0], width)
    moves = loops.Moves(
        rng.choice([1.0, 2.0], width),
        rng.integers(-20_000, 20_000, (width, codes)).astype(np.float64),
        low,
        rng.choice([5000.0, np.inf], width),
        rng.choice([1.0, 0.25], width),
        finishing(rng, width) if rng.random() < 0.5 else None,
    )
    norms = [
        loops.Norm(float(rng.choice([1, 0.5])), order, limit)
        for order, limit in ((2, 9000.0), (1, 7000.5), (2, 0.25), (1, math.inf))
        if rng.random() < 0.5
    ]
    return loops.Moved(
        columns,
        moves if rng.random() < 0.8 else None,
        rng.integers(0, codes, n).astype(np.uint8) if codes > 1 else None,
        rng.integers(-1, 2, n).astype(np.float64) if rng.random() < 0.5 else None,
        norms,
    )


def finishing(rng: np.random.Generator, width: int) -> loops.Finish:
    """Squares of small numbers, and numbers that are stretched by what is on no grid."""
    squared = rng.random(width) < 0.3
    return loops.Finish(
        squared,
        np.where(squared, 0.0, rng.choice([0.0, 0.5, -7.0], width)),
        np.where(squared, 2.0**-17, rng.choice([1.0, 1 / 3, 0.7], width)),
        rng.choice([1.0, 0.5, 2.0], width),
    )


kinds = st.sampled_from(
    [
        "shorts",
        "ints",
        "doubles",
        "members",
        "taken shorts",
        "taken ints",
        "taken doubles",
        "moved shorts",
        "moved taken ints",
    ]
)
bounds = st.sampled_from([(-math.inf, math.inf), (-500.0, 2.0**20), (-math.inf, 77.0)])
factors = st.sampled_from([1.0, 0.5, 2.0**-11, 3 * 2.0**-4, -5.0])
every_step = st.builds(lambda factor, between: loops.Step(factor, *between), factors, bounds)


@built
@given(
    st.integers(0, 2**32),
    rows,
    st.integers(1, 9),
    st.integers(1, 9),
    kinds,
    kinds,
    st.lists(every_step, max_size=3),
    st.booleans(),
)
def test_products_are_the_same(
    seed: int, n: int, high: int, wide: int, left: str, right: str, steps: list[loops.Step], weighed: bool
) -> None:
    rng = np.random.default_rng(seed)
    a, b = matrix(rng, n, high, left), matrix(rng, n, wide, right)
    weight = rng.integers(-9, 10, n).astype(np.float64) if weighed else None
    same(compiled.product(a, b, steps, weight), plain.product(a, b, steps, weight))
    same(np.triu(compiled.gram(a, steps, weight)), np.triu(plain.gram(a, steps, weight)))


@built
@given(st.integers(0, 2**32), rows, st.integers(1, 9), kinds)
def test_matrices_are_written_alike(seed: int, n: int, width: int, kind: str) -> None:
    columns = matrix(np.random.default_rng(seed), n, width, kind)
    same(compiled.written(columns, np.empty((width, n))), plain.written(columns, np.empty((width, n))))
    with pytest.raises(ValueError):
        compiled.written(columns, np.empty((width + 1, max(n, compiled.STRIP))))


def test_rows_are_no_longer_than_their_norm() -> None:
    rows_of = loops.Moved([np.array([3.0, 300.0]), np.array([4.0, -400.0])], norms=[loops.Norm(1.0, 2, 10.0)])
    assert loops.written(rows_of, np.empty((2, 2))).tolist() == [[3.0, 6.0], [4.0, -8.0]]


@built
@given(
    st.integers(0, 2**32),
    rows,
    st.integers(1, 9),
    st.integers(1, 9),
    kinds,
    kinds,
    st.lists(every_step, max_size=3),
    st.booleans(),
    st.sampled_from([1, 2, 3, 300, compiled.LINES, compiled.LINES + 1]),
    st.sampled_from([np.uint16, np.int64]),
)
def test_products_of_groups_are_the_same(
    seed: int,
    n: int,
    high: int,
    wide: int,
    left: str,
    right: str,
    steps: list[loops.Step],
    weighed: bool,
    size: int,
    dtype: Any,
) -> None:
    rng = np.random.default_rng(seed)
    a, b = matrix(rng, n, high, left), matrix(rng, n, wide, right)
    code = rng.integers(0, size, n).astype(dtype)
    weight = rng.integers(-9, 10, n).astype(np.float64) if weighed else None
    about = (code, size, steps, weight)
    same(compiled.grouped_product(a, b, *about), plain.grouped_product(a, b, *about))
    same(
        np.triu(compiled.grouped_product(a, a, *about)),
        np.triu(plain.grouped_product(a, a, *about)),
    )


@built
def test_products_of_many_rows_in_groups_are_the_same() -> None:
    rng = np.random.default_rng(0)
    for n, width, size in ((2 * compiled.LINES + 700, 5, 70), (3000, 300, 2), (compiled.LINES + 1, 18, 9000)):
        columns, code = matrix(rng, n, width, "shorts"), rng.integers(0, size, n)
        few = matrix(rng, n, 2, "doubles")
        same(
            compiled.grouped_product(few, columns, code, size),
            plain.grouped_product(few, columns, code, size),
        )


@built
def test_a_group_that_there_is_not_is_refused() -> None:
    column = [np.array([1.0, 2.0])]
    for code in ([0, 2], [0], [-1, 0]):
        with pytest.raises(ValueError):
            compiled.grouped_product(column, column, np.array(code), 2)


def test_a_product_takes_its_steps_on_every_row() -> None:
    left, right = [np.array([3.0, -3.0, 7.0])], [np.array([5.0, 5.0, 1.0])]
    steps = [loops.Step(0.5), loops.Step(1.0, low=-6.0)]
    assert loops.product(left, right, steps).tolist() == [[7.0 - 6.0 + 3.0]]
    assert loops.product(left, right, steps, np.array([1.0, 2.0, 0.0])).tolist() == [[7.0 - 12.0]]


@built
@given(st.integers(0, 2**32), rows, st.integers(1, 9), st.sampled_from([1, 2, 3, 4, 5, 8, 256, 257]), kinds)
def test_the_nearest_is_the_same_and_of_equals_the_first(
    seed: int, n: int, width: int, centres: int, kind: str
) -> None:
    rng = np.random.default_rng(seed)
    points = matrix(rng, n, width, "doubles" if kind != "shorts" else kind)
    assert not isinstance(points, loops.Members)
    spread = rng.choice([2, 10_000])
    few = [column.astype(np.int64) % spread - spread // 2 for column in points]
    points = [column.astype(points[0].dtype) for column in few]
    near = rng.integers(-spread, spread, (centres, width)).astype(np.float64)
    near[centres // 2 :] = near[: centres - centres // 2]
    taken = loops.Taken(points, rng.permutation(n))
    for some in (points, taken):
        same(compiled.nearest(some, near), plain.nearest(some, near))
    same(compiled.nearest(taken, near), compiled.nearest(points, near)[taken.places])


@built
@pytest.mark.parametrize(("n", "width"), [(3, 40), (700, compiled.WIDEST + 1)])
def test_many_columns_are_left_to_numpy(monkeypatch: pytest.MonkeyPatch, n: int, width: int) -> None:
    rng = np.random.default_rng(0)
    wide, few = matrix(rng, n, width, "shorts"), matrix(rng, n, 2, "shorts")
    assert not isinstance(wide, loops.Members)
    expected = plain.product(few, wide), plain.gram(wide), plain.nearest(wide, np.zeros((2, width)))
    monkeypatch.setattr(compiled, "LIBRARY", None)  # whoever calls it fails
    for one, other in zip(
        expected,
        (compiled.product(few, wide), compiled.gram(wide), compiled.nearest(wide, np.zeros((2, width)))),
        strict=True,
    ):
        same(one, other)


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


CSV = st.lists(
    st.sampled_from([b'"', b'""', b",", b",", b"\n", b"\n", b"\r", b"\r\n", b"\0", b"a", b"12"])
    | st.binary(max_size=3)
    | st.sampled_from(["é€😀\U0010ffff", "\ud7ff\ue000"]).map(str.encode)
    | st.sampled_from(
        [b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xf0\x8f\xbf\xbf", b"\xe0\x9f\xbf"]
    )
).map(b"".join)


@built
@settings(max_examples=examples(1000))
@given(
    CSV,
    st.sampled_from(b",;\t|"),
    st.booleans(),
    st.booleans(),
    st.sets(st.integers(0, 5), max_size=4),
    st.integers(0, 9),
)
def test_csv_is_cut_and_gathered_alike(
    text: bytes, delimiter: int, across: bool, last: bool, wanted: set[int], room: int
) -> None:
    given_ = np.frombuffer(text.replace(b",", bytes([delimiter])), dtype=np.uint8)
    settings_ = (delimiter, across, last, sorted(wanted), room)
    one, other = compiled.cut_csv(given_, *settings_), plain.cut_csv(given_, *settings_)
    same(one.starts, other.starts)
    same(one.lengths, other.lengths)
    assert one.consumed == other.consumed
    assert one.consumed == len(given_) or not last or one.starts.shape[1] == room
    for starts, lengths in zip(one.starts, one.lengths, strict=True):
        for mine, theirs in zip(
            compiled.gather_csv(given_, starts, lengths),
            plain.gather_csv(given_, starts, lengths),
            strict=True,
        ):
            same(mine, theirs)


@built
@given(st.binary(max_size=12) | CSV)
def test_what_is_text_is_what_python_takes_for_text(cell: bytes) -> None:
    one = np.array([0], dtype=np.int64)
    _, data, present = compiled.gather_csv(np.frombuffer(cell, dtype=np.uint8), one, one + len(cell))
    try:
        cell.decode()
    except UnicodeDecodeError:
        assert not present[0]
    else:
        assert present[0]
        assert data.tobytes() == cell
