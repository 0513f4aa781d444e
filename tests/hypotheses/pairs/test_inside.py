"""Where inside of a bin rows are: seen through noise that a seed makes the same every time."""

from __future__ import annotations

import numpy as np

from sulq.hypotheses.pairs.inside import rows_inside, seen_blocks


def test_rows_far_out_that_are_noise_alone_are_taken_for_empty() -> None:
    noise = 5.0 * np.random.default_rng(1).standard_normal(200)
    counts = np.concatenate([np.full(40, 50.0), np.zeros(160)]) + noise
    groups = (np.arange(200) >= 20).astype(np.intp)
    rows = rows_inside(counts, groups, np.array([1000.0, 1000.0]), 2.0 ** np.arange(200), 5.0, 20.0)
    assert np.isclose(rows.sum(), 2000) and (rows >= 0).all()
    assert rows[:40].sum() > 1990 and rows[48:].sum() == 0


def test_exact_counts_stay_as_they_are() -> None:
    counts = np.array([3.0, 0.0, 5.0, 2.0])
    groups = np.array([0, 0, 1, 1])
    assert np.allclose(rows_inside(counts, groups, np.array([3.0, 7.0]), np.ones(4), 0.0, 0.0), counts)


def test_a_long_run_of_few_rows_each_is_seen_as_one_block() -> None:
    counts = np.concatenate([np.zeros(16), np.full(16, 4.0)])
    assert seen_blocks(counts, 10.0) == [(16, 24), (24, 32)]
    assert seen_blocks(counts, 100.0) == []
