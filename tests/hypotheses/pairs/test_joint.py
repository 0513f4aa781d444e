"""Rows that are drawn have the tables of a release, as far as noise lets these be seen."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from sulq.hypotheses.pairs.agreement import Agreement, ColumnCounts, PairCounts
from sulq.hypotheses.pairs.joint import JointRows, drawn
from sulq.hypotheses.pairs.positive import PositiveTables
from sulq.talk.laws import Exactly, Noise

SIZE, ROWS, NOISE = 12, 20_000, 120.0
LAW = Noise("gaussian", Fraction(int(NOISE**2)), Fraction(1), SIZE * SIZE)


def copies(generator: np.random.Generator) -> tuple[PositiveTables, np.ndarray]:
    """Two columns that say the same, and a third that goes with them; with the true table of two and three."""
    one = generator.integers(0, SIZE, ROWS)
    near, any_ = (one + generator.integers(0, 4, ROWS)) % SIZE, generator.integers(0, SIZE, ROWS)
    codes = np.stack([one, one, np.where(generator.random(ROWS) < 0.4, any_, near)], axis=1)
    columns = tuple(
        ColumnCounts(np.bincount(code, minlength=SIZE).astype(float), np.arange(SIZE), LAW)
        for code in codes.T
    )
    tables = {}
    for i, j in ((0, 1), (0, 2), (1, 2)):
        counts = np.bincount(codes[:, i] * SIZE + codes[:, j], minlength=SIZE**2).reshape(SIZE, SIZE)
        tables[i, j] = PairCounts(counts + NOISE * generator.standard_normal(counts.shape), LAW)
    return PositiveTables(Agreement(float(ROWS), Exactly(), columns, tables)), counts / ROWS


def test_tables_help_each_other() -> None:
    """Rows know a table better than that table alone does: of two columns that are alike, each tells the other's."""
    rows_off, alone_off = [], []
    for seed in range(6):
        generator = np.random.default_rng(seed)
        tables, truth = copies(generator)
        rows = drawn(tables, 4 * ROWS, generator)
        places = rows.codes[:, 1] * SIZE + rows.codes[:, 2]
        counts = np.bincount(places, weights=rows.weights, minlength=SIZE**2).reshape(SIZE, SIZE)
        rows_off.append(np.abs(counts / counts.sum() - truth).sum())
        alone_off.append(np.abs(tables.tables[1, 2] / tables.total - truth).sum())
    assert np.mean(rows_off) < 0.88 * np.mean(alone_off)


def test_rows_that_are_taken_are_as_many_of_each_kind_as_count_for_it() -> None:
    generator = np.random.default_rng(6)
    codes = generator.integers(0, 4, (10_000, 2)).astype(np.int32)
    weights = generator.random(len(codes)) * (1 + codes[:, 0])
    taken = JointRows(codes, weights).resampled(1000, generator)
    kinds = codes[:, 0] * 4 + codes[:, 1]
    wanted = 1000 * np.bincount(kinds, weights=weights) / weights.sum()
    assert np.abs(np.bincount(taken[:, 0] * 4 + taken[:, 1]) - wanted).max() < 1
    assert (taken[:100, 0] != taken[0, 0]).any()
