"""A joint distribution of all columns that has the tables of a release: rows are drawn from it.

Chow and Liu's tree joins the columns that tell most about each other. Rows drawn along it have the tables of
its edges. The other tables are fitted afterwards: rows get weights such that, table after table, the weighted
counts come nearer to the release (raking). Of all distributions with these tables that one is the nearest
to the tree's. A table is followed no further than noise lets it be seen: differences from the rows so far
that noise explains are not taken over. So what one table says of two columns helps the tables of others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sulq.effects.layout import Floats
from sulq.hypotheses.pairs.agreement import Pair
from sulq.hypotheses.pairs.positive import PositiveTables, shrunk

Codes = NDArray[np.int32]
SWEEPS, STEP, FURTHEST = 5, 0.8, 20.0
"""How often all tables are fitted, which part of the way at a time, and by which factor at most."""


def spanning_tree(many: int, root: int, information: Callable[[Pair], float]) -> list[tuple[int, int]]:
    """The tree in which neighbours tell most about each other, as (column, its parent), parents first.

    Args:
        many: how many columns there are.
        root: the column to begin with.
        information: how much two columns tell about each other, the smaller place first.

    >>> spanning_tree(3, 0, {(0, 1): 0.1, (0, 2): 0.5, (1, 2): 0.4}.get)
    [(2, 0), (1, 2)]
    """
    inside, edges = [root], []
    while len(inside) < many:
        outside = [place for place in range(many) if place not in inside]
        child, parent = max(
            ((child, parent) for child in outside for parent in inside),
            key=lambda edge: information((min(edge), max(edge))),
        )
        inside.append(child)
        edges.append((child, parent))
    return edges


@dataclass(frozen=True)
class JointRows:
    """Rows drawn from a joint distribution, with weights.

    Args:
        codes: for each row and column, which value it has.
        weights: how much each row counts.
    """

    codes: Codes
    weights: Floats

    def resampled(self, many: int, generator: np.random.Generator) -> Codes:
        """So many rows that count the same, in random order.

        Args:
            many: how many.
            generator: where randomness comes from.
        """
        # Rows that are alike stand beside each other: so many of each kind are taken as count for it.
        order = np.lexsort(self.codes.T[::-1])
        reached = np.cumsum(self.weights[order]) / self.weights.sum()
        places = np.searchsorted(reached, (np.arange(many) + generator.random()) / many)
        return np.asarray(self.codes[order[generator.permutation(places.clip(max=len(order) - 1))]])


def drawn(tables: PositiveTables, many: int, generator: np.random.Generator) -> JointRows:
    """Rows with weights, from a joint distribution that has these tables.

    Args:
        tables: the tables.
        many: how many rows.
        generator: where randomness comes from.
    """
    sizes = tables.agreement.sizes
    codes = np.zeros((many, len(sizes)), dtype=np.int32)

    def informs(pair: Pair) -> float:
        return tables.information(pair) if pair in tables.tables else 0.0

    codes[:, 0] = _picked(np.zeros(many, dtype=np.int32), tables.margins[0][np.newaxis], generator)
    for child, parent in spanning_tree(len(sizes), 0, informs):
        codes[:, child] = _picked(codes[:, parent], tables.table(parent, child), generator)
    return JointRows(codes, raked(codes, tables))


def raked(codes: Codes, tables: PositiveTables) -> Floats:
    """Weights for rows, such that their tables are as near to a release's as noise lets these be seen.

    Args:
        codes: for each row and column, which value it has.
        tables: the tables.
    """
    sizes, agreement = tables.agreement.sizes, tables.agreement
    places = {(i, j): codes[:, i] * sizes[j] + codes[:, j] for i, j in agreement.pairs}
    known = {
        pair: (agreement.table(pair).ravel(), agreement.table_law(pair).deviation) for pair in agreement.pairs
    }
    weights = np.full(len(codes), tables.total / len(codes))
    for _ in range(SWEEPS):
        for pair, (counts, noise) in known.items():
            given = _counted(places[pair], weights, len(counts))
            wanted = np.maximum(shrunk(counts, given, noise), given / FURTHEST)
            weights *= (_ratio(wanted, given) ** STEP)[places[pair]]
        for place, margin in enumerate(tables.margins):
            given = _counted(codes[:, place], weights, len(margin))
            weights *= _ratio(margin, given)[codes[:, place]]
    return weights


def _counted(places: Codes, weights: Floats, size: int) -> Floats:
    return np.asarray(np.bincount(places, weights=weights, minlength=size), dtype=np.float64)


def _ratio(wanted: Floats, given: Floats) -> Floats:
    """By how much weights are multiplied; where there is no row, there is nothing to multiply."""
    ratio = np.divide(wanted, given, out=np.ones(len(given)), where=given > 0)
    return np.asarray(ratio.clip(1 / FURTHEST, FURTHEST))


def _picked(given: NDArray[np.int32], table: Floats, generator: np.random.Generator) -> Codes:
    """For each row a value by the row of the table that it is in."""
    sums = table.sum(axis=1, keepdims=True)
    even = np.full_like(table, 1 / table.shape[1])
    chances = np.divide(table, sums, out=even, where=sums > 0)
    reached = np.cumsum(chances, axis=1) + np.arange(len(table))[:, np.newaxis]
    # A row of the table follows the one before on one line: a search finds the value in the right one.
    places = np.searchsorted(reached.ravel(), given + generator.random(len(given)), side="right")
    first = given.astype(np.int64) * table.shape[1]
    return np.asarray((places - first).clip(0, table.shape[1] - 1), dtype=np.int32)
