"""Tables of pairs are made to agree by least squares, and their errors are bounded as often as stated."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from sulq.hypotheses.pairs.agreement import Agreement, ColumnCounts, PairCounts, pairs_of
from sulq.hypotheses.pairs.positive import PositiveTables, fitted, shrunk
from sulq.talk.laws import Exactly, Noise

SIZES = (2, 3, 4)
GROUPS = [np.array([0, 1]), np.array([0, 0, 1, 2, 2]), np.arange(4)]
COLUMN = Noise("gaussian", Fraction(9), Fraction(1), 10)
TABLE = Noise("gaussian", Fraction(4), Fraction(1), 10)


def truth(generator: np.random.Generator) -> np.ndarray:
    return generator.integers(0, 30, (2, 5, 4)).astype(float)


def noisy(cells: np.ndarray, generator: np.random.Generator | None) -> Agreement:
    """Answers about a table of three columns, the second of which is counted in five intervals alone."""

    def off(values: np.ndarray, deviation: float) -> np.ndarray:
        return values if generator is None else values + deviation * generator.standard_normal(values.shape)

    coarse = np.stack([cells[:, GROUPS[1] == group].sum(axis=1) for group in range(3)], axis=1)
    columns = [cells.sum(axis=tuple(a for a in range(3) if a != axis)) for axis in range(3)]
    alone = [ColumnCounts(off(each, 3.0), group, COLUMN) for each, group in zip(columns, GROUPS, strict=True)]
    tables = {pair: PairCounts(off(coarse.sum(axis=3 - sum(pair)), 2.0), TABLE) for pair in pairs_of(3)}
    return Agreement(float(cells.sum()), Exactly(), tuple(alone), tables)


def test_tables_that_share_a_column_agree_about_it() -> None:
    generator = np.random.default_rng(1)
    agreed = noisy(truth(generator), generator)
    for pair in pairs_of(3):
        table = agreed.table(pair)
        assert table.shape == tuple(SIZES[place] for place in pair)
        assert np.allclose(table.sum(axis=1), agreed.margin(pair[0]))
        assert np.allclose(table.sum(axis=0), agreed.margin(pair[1]))
        assert np.isclose(table.sum(), agreed.rows)


def test_answers_that_agree_stay_as_they_are() -> None:
    agreed = noisy(truth(np.random.default_rng(2)), None)
    for pair, table in agreed.pairs.items():
        assert np.allclose(agreed.table(pair), table.values)


def test_agreement_is_weighted_least_squares_where_every_value_is_counted_alone() -> None:
    """Against a solver: the tables as unknowns, the margins that must agree as equations."""
    generator = np.random.default_rng(3)
    columns = tuple(ColumnCounts(generator.normal(20, 5, n), np.arange(n), COLUMN) for n in SIZES)
    tables = {(i, j): PairCounts(generator.normal(9, 5, (SIZES[i], SIZES[j])), TABLE) for i, j in pairs_of(3)}
    agreed = Agreement(70.0, Noise("gaussian", Fraction(25), Fraction(1), 1), columns, tables)
    # All consistent tables follow from some joint table; it need not be positive here.
    shape, rows, wanted = SIZES, [], []
    unit = np.eye(np.prod(shape)).reshape(-1, *shape)

    def equation(values: np.ndarray, keep: tuple[int, ...], deviation: float) -> None:
        sums = unit.sum(axis=tuple(1 + a for a in range(3) if a not in keep)).reshape(len(unit), -1)
        rows.append(sums.T / deviation)
        wanted.append(np.ravel(values) / deviation)

    equation(np.array(70.0), (), 5.0)
    for axis, column in enumerate(columns):
        equation(column.values, (axis,), 3.0)
    for pair, table in tables.items():
        equation(table.values, pair, 2.0)
    joint = np.linalg.lstsq(np.vstack(rows), np.concatenate(wanted), rcond=None)[0].reshape(shape)
    for pair in pairs_of(3):
        assert np.allclose(agreed.table(pair), joint.sum(axis=3 - sum(pair)))


@pytest.mark.parametrize("pair", pairs_of(3))
def test_the_stated_deviation_is_that_of_many_draws(pair: tuple[int, int]) -> None:
    """2,000 draws: the root of the mean square of 6 to 12 cells is within 6 %; a wrong term shows at 10 %."""
    generator = np.random.default_rng(4)
    cells = truth(generator)
    exact = noisy(cells, None)
    errors = [noisy(cells, generator).table(pair) - exact.table(pair) for _ in range(2000)]
    spread = float(np.sqrt(np.mean(np.square(errors))))
    # Counts that are taken together vary more: what is stated is for the value with the most of them.
    stated = exact.table_law(pair).deviation
    assert 0.9 < spread / stated < 1.03
    assert stated < 2.0


def test_errors_of_a_margin_are_smaller_than_those_of_its_own_counts() -> None:
    agreed = noisy(truth(np.random.default_rng(5)), None)
    assert agreed.margin_law(0).deviation < COLUMN.deviation


def test_fitted_tables_are_positive_and_have_the_margins() -> None:
    rows, columns = np.array([5.0, 0.0, 5.0]), np.array([1.0, 9.0])
    table = fitted(np.array([[-3.0, 8.0], [2.0, 1.0], [1.0, 1.0]]), rows, columns)
    assert (table >= 0).all()
    assert np.allclose(table.sum(axis=1), rows) and np.allclose(table.sum(axis=0), columns)


def test_noise_alone_is_taken_back_and_a_strong_association_is_kept() -> None:
    generator = np.random.default_rng(6)
    independent, noise = np.full((8, 8), 12.5), 10 * generator.standard_normal((8, 8))
    off = np.abs(shrunk(independent + noise, independent, 10.0) - independent).mean()
    assert off < 0.4 * np.abs(noise).mean()
    diagonal = np.diag(np.full(8, 100.0))
    kept = shrunk(diagonal + noise, independent, 10.0)
    assert np.diag(kept).mean() > 90


def test_positive_tables_agree_with_positive_margins() -> None:
    generator = np.random.default_rng(7)
    tables = PositiveTables(noisy(truth(generator) / 10, generator))
    for pair, table in tables.tables.items():
        assert (table >= 0).all()
        assert np.allclose(table.sum(axis=1), tables.margins[pair[0]], atol=1e-6)
        assert np.allclose(table.sum(axis=0), tables.margins[pair[1]], atol=0.02 * tables.total)
