"""Nested counts agree by least squares; what each contributes is known, and so is how far off sums are."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from sulq.errors import QueryError
from sulq.hypotheses.count_tree import CountTree
from sulq.hypotheses.quantiles import IntervalCounts, NestedCounts
from sulq.learners.edges import nested
from sulq.privacy.noise import DiscreteLaplace
from sulq.talk.laws import Exactly, Noise, Within


@st.composite
def trees(draw: Any) -> tuple[CountTree, list[np.ndarray]]:
    """A tree, and for each of its levels the matrix that makes its counts of the finest ones."""
    leaves = draw(st.integers(2, 12))
    middle = sorted({0, *draw(st.lists(st.integers(1, leaves - 1), max_size=5))})
    levels = [(0,), tuple(middle)] if draw(st.booleans()) and len(middle) < leaves else [(0,)]
    variances = tuple(draw(st.floats(0.1, 10)) for _ in range(len(levels) + 1))
    starts = [(0,), tuple(middle)] if len(levels) == 2 else [(0,)]
    matrices = [np.ones((1, leaves))]
    if len(levels) == 2:
        ends = [*middle, leaves]
        matrices.append(np.array([[float(a <= i < b) for i in range(leaves)] for a, b in pairwise(ends)]))
    return CountTree(tuple(starts), variances, leaves), [*matrices, np.eye(leaves)]


@settings(deadline=None, max_examples=50)
@given(trees(), st.integers(0, 2**32 - 1))
def test_counts_agree_by_least_squares(case: tuple[CountTree, list[np.ndarray]], seed: int) -> None:
    tree, matrices = case
    assert tree.variances is not None
    counts = [np.random.default_rng(seed).normal(10, 5, len(matrix)) for matrix in matrices]
    scale = [np.full(len(m), v**-0.5) for m, v in zip(matrices, tree.variances, strict=True)]
    left = np.vstack([s[:, None] * m for s, m in zip(scale, matrices, strict=True)])
    right = np.concatenate([s * c for s, c in zip(scale, counts, strict=True)])
    assert np.allclose(tree.agreed(counts), np.linalg.lstsq(left, right, rcond=None)[0])


@settings(deadline=None, max_examples=50)
@given(trees(), st.floats(0.01, 0.99), st.booleans())
def test_contributions_are_those_of_each_count(
    case: tuple[CountTree, list[np.ndarray]], level: float, independent: bool
) -> None:
    tree, matrices = case
    if not independent:
        tree = CountTree(tree.starts, None, tree.leaves)
    for depth, matrix in enumerate(matrices):
        squares, largest, absolute = tree.contributions[depth].balanced(level)
        effect = np.zeros((len(matrix), tree.leaves))
        for place in range(len(matrix)):
            counts = [np.zeros(len(each)) for each in matrices]
            counts[depth][place] = 1
            effect[place] = tree.agreed(counts)
        for edge in range(1, tree.leaves):
            weights = effect[:, :edge].sum(axis=1) - level * effect.sum(axis=1)
            assert np.isclose(squares[edge - 1], (weights**2).sum())
            assert largest[edge - 1] >= np.abs(weights).max() - 1e-9
            assert absolute[edge - 1] >= np.abs(weights).sum() - 1e-9


EDGES = tuple(float(edge) for edge in range(1, 700))
VALUES = np.sort(np.minimum(699, np.random.default_rng(5).lognormal(4, 1, 3000).astype(int)))


def noisy(known: bool) -> NestedCounts:
    """Counts of 3,000 rows at three levels with noise of scale 10, as at ε = 0.6 in all."""
    noise, law = DiscreteLaplace(Fraction(10)), Noise("laplace", Fraction(10), Fraction(1), 700)
    levels = []
    for edges in nested(EDGES):
        counts = np.histogram(VALUES, [-1, *(edge - 0.5 for edge in edges), 700])[0]
        levels.append(IntervalCounts((), counts + noise.sample(len(counts)).astype(float), law, edges))
    everything = np.array([3000.0])
    if known:
        rows = IntervalCounts((), everything, Exactly())
    else:
        rows = IntervalCounts((), everything + noise.sample(1).astype(float), law)
    return NestedCounts((rows,), tuple(levels), (0.0, 699.0), integers=True)


@pytest.mark.parametrize("known", [False, True])
def test_intervals_hold_as_often_as_stated_and_are_not_much_too_wide(known: bool) -> None:
    """60 runs at β = 0.2: one that holds with 0.8 fails 30 times or more with a chance of 1e-7.

    Intervals hold more often than that: 150 runs had 1 failure at most. They held 147 rows of the 3,000 on
    average, with a standard error of 1.4; 200 would be an interval a third too wide.
    """
    failed, wide = dict.fromkeys((0.1, 0.5, 0.9), 0), []
    for _ in range(60):
        counts = noisy(known)
        for level in failed:
            figures = counts.quantiles(level, (), 0.2)
            truth = VALUES[int(np.ceil(level * 3000)) - 1]
            failed[level] += not figures.low <= truth <= figures.high
            between = np.searchsorted(VALUES, [figures.low, figures.high + 1])
            wide.append(between[1] - between[0])
    assert max(failed.values()) < 30
    assert np.mean(wide) < 200


def test_a_tree_comes_closer_than_its_finest_counts_alone() -> None:
    """The mean error of 40 medians, in ranks: 11 in 150 runs, with a deviation of 13 in a single one.

    Flat counts with noise of scale 10/3, which cost the same, were 86 off, with a deviation of 38.
    """
    off = []
    for _ in range(40):
        median = float(noisy(True).quantiles(0.5, (), 0.05).value)
        first, last = np.searchsorted(VALUES, [median, median + 1])
        off.append(max(0, first - 1500, 1500 - last))
    assert np.mean(off) < 30


def test_errors_that_go_together_add_up_along_few_counts() -> None:
    counts = np.histogram(VALUES, [-1, *(edge - 0.5 for edge in EDGES), 700])[0].astype(float)
    levels, rows = [], IntervalCounts((), np.array([3000.0]), Exactly())
    for edges in nested(EDGES):
        places = [0, *(EDGES.index(edge) + 1 for edge in edges)]
        levels.append(IntervalCounts((), np.add.reduceat(counts, places), Within(1.0), edges))
    deep = NestedCounts((rows,), tuple(levels), (0.0, 699.0), True).quantiles(0.5, (), 0.05)
    flat = NestedCounts((rows,), tuple(levels[-1:]), (0.0, 699.0), True).quantiles(0.5, (), 0.05)
    assert deep.low <= VALUES[1499] <= deep.high
    assert deep.high - deep.low < (flat.high - flat.low) / 4


@pytest.mark.parametrize("coarse", [(2.0,), (1.0, 3.0), (1.0, 3.0, 5.0), ()])
def test_edges_that_are_not_nested_are_refused(coarse: tuple[float, ...]) -> None:
    fine = IntervalCounts((), np.ones(3), Exactly(), (1.0, 3.0))
    other = IntervalCounts((), np.ones(len(coarse) + 1), Exactly(), coarse)
    rows = IntervalCounts((), np.ones(1), Exactly())
    if coarse == ():
        with pytest.raises(QueryError, match="within the column's bounds"):
            NestedCounts((rows,), (fine,), (0.0, 2.0), True)
    else:
        with pytest.raises(QueryError, match="nested edges"):
            NestedCounts((rows,), (other, fine), (0.0, 9.0), True)
