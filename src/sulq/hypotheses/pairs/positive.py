"""Tables of pairs as a distribution would have them: no count is negative, and shared columns agree.

A cell differs from what independent columns would give it. These differences are taken for draws from a bell
curve, whose variance is in proportion to the cell's rows if columns were independent. How wide it is, each
table says itself (empirical Bayes): differences that noise explains are taken back, most where rows are few.
What is left is made positive and fitted to the margins, row by row and column by column.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sulq.effects.layout import Floats
from sulq.hypotheses.pairs.agreement import Agreement, Pair
from sulq.simplex import nearest_distribution

WIDENINGS, FITTINGS = 20, 50
LEAST = 1e-6
"""This part of a cell of independent columns is in every cell: a table without it may fit no margins."""


@dataclass(frozen=True)
class PositiveTables:
    """Positive tables whose margins agree, made of noisy ones.

    Args:
        agreement: the noisy tables, which agree but may be negative.

    >>> from sulq.hypotheses.pairs.agreement import ColumnCounts, PairCounts
    >>> from sulq.talk.laws import Within
    >>> law, groups, even = Within(1.0), np.array([0, 1]), np.array([5.0, 5.0])
    >>> columns = (ColumnCounts(even, groups, law), ColumnCounts(even, groups, law))
    >>> noisy = {(0, 1): PairCounts(np.array([[6.0, -1.0], [-1.0, 6.0]]), law)}
    >>> PositiveTables(Agreement(10.0, law, columns, noisy)).tables[0, 1].round(1).tolist()
    [[5.0, 0.0], [0.0, 5.0]]
    """

    agreement: Agreement

    @cached_property
    def total(self) -> float:
        """How many rows there are, at least 1."""
        return max(1.0, self.agreement.total)

    @cached_property
    def margins(self) -> list[Floats]:
        """For each column how many rows have each of its values, without what noise explains."""
        margins = []
        for place, size in enumerate(self.agreement.sizes):
            even = np.full(size, self.total / size)
            noise = self.agreement.margin_law(place).deviation
            known = shrunk(self.agreement.margin(place), even, noise)
            margins.append(nearest_distribution(known, self.total))
        return margins

    @cached_property
    def tables(self) -> dict[Pair, Floats]:
        """How many rows have each two values, without what noise explains."""
        tables = {}
        for pair in self.agreement.pairs:
            noise = self.agreement.table_law(pair).deviation
            rows, columns = (self.margins[place] for place in pair)
            independent = np.outer(rows, columns) / self.total
            tables[pair] = fitted(shrunk(self.agreement.table(pair), independent, noise), rows, columns)
        return tables

    def table(self, one: int, other: int) -> Floats:
        """The table of two columns, with the first one's values below each other.

        Where it was not asked for, columns are taken for independent.
        """
        pair = min(one, other), max(one, other)
        if pair not in self.tables:
            return np.outer(self.margins[one], self.margins[other]) / self.total
        return self.tables[pair] if one < other else self.tables[pair].T

    def information(self, pair: Pair) -> float:
        """How much two columns tell about each other: their mutual information, in nats."""
        table = self.tables[pair] / self.total
        independent = np.outer(table.sum(axis=1), table.sum(axis=0))
        some = table > 0
        return float((table[some] * np.log(table[some] / independent[some])).sum())

    def strength(self, pair: Pair) -> float:
        """How strongly two columns go together, from 0 to 1: Cramér's V."""
        table = self.tables[pair] / self.total
        independent = np.outer(table.sum(axis=1), table.sum(axis=0))
        some = independent > 0
        squares = float(((table[some] - independent[some]) ** 2 / independent[some]).sum())
        return float(min(1.0, (squares / max(1, min(table.shape) - 1)) ** 0.5))


def shrunk(counts: Floats, expected: Floats, noise: float) -> Floats:
    """Counts without those differences from what is expected that noise explains.

    Args:
        counts: how many rows there are of each kind, noise and all.
        expected: how many would be expected, none of them negative.
        noise: one standard deviation of the noise in a count.

    >>> shrunk(np.array([[6.0, 4.0], [4.0, 6.0]]), np.full((2, 2), 5.0), 2.0)
    array([[5., 5.],
           [5., 5.]])
    """
    if noise == 0:
        return counts
    beyond, width = counts - expected, 1.0
    for _ in range(WIDENINGS):
        weights = expected / (width * expected + noise**2) ** 2
        known = float((weights * expected).sum())
        width = max(0.0, float((weights * (beyond**2 - noise**2)).sum())) / known if known > 0 else 0.0
    kept = width * expected / (width * expected + noise**2)
    return np.asarray(expected + kept * beyond)


def fitted(table: Floats, rows: Floats, columns: Floats) -> Floats:
    """A positive table with these margins, near one that may be negative (iterative proportional fitting).

    Args:
        table: the table.
        rows: the margin of the rows, positive.
        columns: the margin of the columns, with the same sum.

    >>> fitted(np.array([[3.0, -1.0], [1.0, 3.0]]), np.array([2.0, 4.0]), np.array([3.0, 3.0])).round(2)
    array([[2., 0.],
           [1., 3.]])
    """
    whole = float(rows.sum())
    cells: Floats = nearest_distribution(table, whole) + LEAST * np.outer(rows, columns) / whole
    for _ in range(FITTINGS):
        cells *= _ratio(columns, cells.sum(axis=0))
        cells *= _ratio(rows, cells.sum(axis=1))[:, np.newaxis]
    return np.asarray(cells)


def _ratio(wanted: Floats, given: Floats) -> Floats:
    return np.asarray(wanted * (given > 0) / np.where(given > 0, given, 1.0), dtype=np.float64)
