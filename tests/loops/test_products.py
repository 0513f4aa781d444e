"""Products of matrices, compiled, are bit for bit NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sulq import loops
from sulq.loops import compiled, plain
from tests.loops.twins import built, every_step, kinds, matrix, rows, same


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


@built
@given(st.integers(0, 2**32), rows, st.integers(1, 9), kinds)
def test_columns_are_combined_alike(seed: int, n: int, width: int, kind: str) -> None:
    rng = np.random.default_rng(seed)
    columns, weights = matrix(rng, n, width, kind), rng.integers(-999, 999, width).astype(np.float64)
    same(compiled.combined(columns, weights), plain.combined(columns, weights))
    with pytest.raises(ValueError):
        compiled.combined(matrix(rng, compiled.STRIP, width, kind), weights[:-1])


@built
def test_what_lies_far_beyond_bounds_is_brought_to_them() -> None:
    """Bounds that were meant for small numbers are reached by numbers that grow beyond what is exact."""
    column = [np.array([0.0, 3.0, -3.0, 2.0**18, -(2.0**18)] * 200)]
    steps = [loops.Step(1.0, -5.0, 2.0), loops.Step(2.0**34, high=2.0**34), loops.Step(0.5), loops.Step(-3.0)]
    for few in (steps[:2], steps[:3], steps):
        same(compiled.product(column, column, few), plain.product(column, column, few))


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
