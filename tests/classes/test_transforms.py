"""Sums over many parts of a table, against summing them one by one; choosing among many, against the law."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sulq.classes.transforms import HADAMARD, LITERALS, SUPERSETS, rising, stretched, stretches, transformed
from sulq.privacy.many_candidates import choose, heads
from sulq.privacy.selection import ExponentialMechanism, PermuteAndFlip


@pytest.mark.parametrize("patterns", [HADAMARD, SUPERSETS, LITERALS])
@pytest.mark.parametrize("axes", [1, 2, 5])
def test_all_products_of_patterns_are_summed(patterns: Any, axes: int) -> None:
    table = np.random.default_rng(axes).integers(-50, 50, 2**axes).astype(np.int32)
    every = patterns
    for _ in range(axes - 1):
        every = np.kron(every, patterns)
    expected = (every @ table).astype(int).tolist()
    assert transformed(table.copy(), [patterns] * axes).tolist() == expected


@pytest.mark.parametrize("axes", [6, 7, 13, 18])
def test_large_tables_are_summed_group_by_group(axes: int) -> None:
    """Against one butterfly an axis; these sizes need one group of axes to several, and several blocks."""
    table = np.random.default_rng(axes).integers(-50, 50, 2**axes).astype(np.int32)
    for patterns in (HADAMARD, SUPERSETS):
        expected = table.astype(np.int64).reshape((2,) * axes)
        for axis in range(axes):
            expected = np.moveaxis(np.tensordot(patterns.astype(np.int64), expected, (1, axis)), 0, axis)
        assert (transformed(table.copy(), [patterns] * axes) == expected.ravel()).all()


def test_axes_may_have_different_patterns() -> None:
    rng = np.random.default_rng(0)
    patterns = [rng.integers(0, 2, (rows, size)).astype(float) for rows, size in [(3, 5), (20, 70), (4, 2)]]
    table = rng.integers(-9, 9, (5, 70, 2)).astype(np.int64)
    expected = np.einsum("abc,ia,jb,kc->ijk", table, *patterns).astype(int)
    assert (transformed(table.copy(), patterns) == expected.ravel()).all()


def test_boxes_of_a_table_are_summed() -> None:
    table = np.random.default_rng(1).integers(-9, 9, (4, 3, 2)).astype(np.int32)
    boxes = itertools.product(*(zip(*stretches(size), strict=True) for size in table.shape))
    expected = [int(table[a:b, c:d, e:f].sum()) for (a, b), (c, d), (e, f) in boxes]
    assert stretched(table).tolist() == expected
    assert rising(table[0, 0]).tolist() == [int(table[0, 0, i:].sum()) for i in range(3)]


@pytest.mark.parametrize(
    "mechanism", [PermuteAndFlip(1, 1), ExponentialMechanism(1, 1), PermuteAndFlip(1, 1, True)]
)
def test_the_choice_among_many_has_the_law_of_the_mechanism(mechanism: Any) -> None:
    """4000 choices among 6, each as rare as 4e-11 either way by the exact law: a chance below 1e-9 in all.

    A probability that is off by 0.052 is caught. One outcome is expected 0.18 times, so deviations will not do.
    """
    from scipy import stats  # takes a second, in each process that collects tests

    scores, runs = np.array([-9, -1, 0, -2, -4, -1], dtype=np.int32), 4000
    seen = np.bincount([choose(mechanism, scores) for _ in range(runs)], minlength=len(scores))
    for count, chance in zip(seen, mechanism.probabilities(scores), strict=True):
        law = stats.binom(runs, chance)
        assert min(law.cdf(count), law.sf(count - 1)) >= 4e-11


def test_coins_fall_with_the_chances_of_their_gaps() -> None:
    """2^21 coins, of gaps 0 to 7; 6.5 deviations are a chance below 1e-9 in all. A bias off by 1 % is caught."""
    gaps, scale = np.arange(2**21, dtype=np.int32) % 8, Fraction(5)
    seen = np.bincount(gaps[heads(scale, gaps)], minlength=8)
    assert seen[0] == 2**18
    for gap in range(1, 8):
        chance = math.exp(-gap / 5)
        assert abs(seen[gap] - 2**18 * chance) <= 6.5 * math.sqrt(2**18 * chance * (1 - chance))


def test_more_candidates_than_are_tossed_for_at_once_are_all_in_the_running() -> None:
    """The best is last, and leads by far."""
    scores = np.full(2**20 + 5, -1000, dtype=np.int32)
    scores[-1] = 0
    assert choose(PermuteAndFlip(1, 1), scores) == 2**20 + 4
    assert choose(ExponentialMechanism(1, 1), scores) == 2**20 + 4
