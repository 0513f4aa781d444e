"""Cells that fit all sums best: as least squares by a general solver would have it, and with its errors."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
from hypothesis import given, settings

from sulq.hypotheses.consistency import Consistent, MarginalSums, summed
from sulq.talk.laws import Exactly, Noise
from tests.effort import examples


def design(shape: tuple[int, ...], axes: tuple[int, ...]) -> np.ndarray:
    """The matrix that sums cells, from unit vectors."""
    many = math.prod(shape)
    return np.stack([summed(row.reshape(shape), axes).ravel() for row in np.eye(many)], axis=1)


@settings(max_examples=examples(60))
@given(st.lists(st.integers(1, 3), min_size=1, max_size=3), st.data())
def test_the_cells_are_those_of_a_general_solver(sizes: list[int], data: st.DataObject) -> None:
    shape, every = tuple(sizes), tuple(range(len(sizes)))
    subsets = [axes for many in range(len(sizes)) for axes in itertools.combinations(every, many)]
    kept = [every, *data.draw(st.lists(st.sampled_from(subsets), unique=True))]
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    scales = [data.draw(st.integers(1, 9)) for _ in kept]
    sums = tuple(
        MarginalSums(
            axes,
            rng.normal(10, 5, [shape[axis] for axis in axes]),
            Noise("laplace", Fraction(scale), Fraction(1), 1),
        )
        for axes, scale in zip(kept, scales, strict=True)
    )
    table = Consistent(shape, sums)
    roots = [1 / each.law.deviation for each in sums]
    matrix = np.concatenate([root * design(shape, axes) for root, axes in zip(roots, kept, strict=True)])
    right = np.concatenate([root * each.values.ravel() for root, each in zip(roots, sums, strict=True)])
    solution = np.linalg.lstsq(matrix, right, rcond=None)[0]
    assert np.allclose(table.cells.ravel(), solution)

    inverse = np.linalg.pinv(matrix)
    for axes in (every, (), every[:1]):
        weights = (design(shape, axes) @ inverse)[0]
        start = 0
        for root, each, term in zip(roots, sums, table.terms(axes), strict=True):
            own = np.abs(weights[start : start + each.values.size] * root)
            start += each.values.size
            assert np.allclose(
                [term.squares, term.largest, term.absolute], [(own**2).sum(), own.max(), own.sum()]
            )


def test_an_exact_sum_stays_as_it_was_answered() -> None:
    """The sum of the cells is off by rounding: of no rows it said 1.5e-12."""
    noise = Noise("laplace", Fraction(2), Fraction(1), 2)
    noisy = MarginalSums((0,), np.array([1.0, 2.0]), noise)
    table = Consistent((2,), (noisy, MarginalSums((), np.array(0.0), Exactly())))
    assert table.cells.sum() != 0
    assert table.over(()) == 0
    assert (table.over((0,)) == table.cells).all()


def test_an_exact_total_is_met_and_leaves_less_noise_in_every_cell() -> None:
    noise = Noise("gaussian", Fraction(100), Fraction(1), 6)
    cells = MarginalSums((0, 1), np.array([[50.0, 3.0, -7.0], [80.0, 0.0, 9.0]]), noise)
    table = Consistent((2, 3), (cells, MarginalSums((), np.array(150.0), Exactly())))
    assert math.isclose(table.cells.sum(), 150)
    assert np.allclose(table.cells - cells.values, (150 - cells.values.sum()) / 6)
    assert math.isclose(table.terms((0, 1))[0].squares, 5 / 6)
    assert table.terms(())[0].squares == 0
