"""How noisy tables will be, foretold by a first round; and what of them is worth asking for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from sulq.effects.layout import Floats
from sulq.hypotheses.pairs.agreement import Pair
from sulq.hypotheses.pairs.inside import UNLIKELY, seen_blocks
from sulq.learners.attributes_in_bins import Attribute
from sulq.queries.codes import Bins
from sulq.simplex import nearest_distribution
from sulq.talk.answers import Answer

FEWEST_BINS, MOST_BINS = 4, 16
"""Into about how many bins a number is cut; never into more than the most."""
IN_A_CELL, IN_A_BIN = 2.0, 4.0
"""The average cell of two columns in bins has so many times as many rows as noise, and every bin has."""
SURE = 1.5
"""A bin is only seen if it has so many times as many rows as there is noise in its own count."""
LOST = 0.25
"""If noise in the number of all rows is more than this part of them, counts do not say where to cut."""
DROWNED = 0.25
"""A table is left out if the average cell has less than this part of the noise in rows."""
MOST_CELLS = 2**16
"""A larger table is always left out."""
MANY_COLUMNS, MOST_PARTNERS = 20, 2
"""From so many columns on pairs may be chosen, and so many for each column at most."""
TOO_NOISY = 1.0
"""Pairs are chosen if the average cell of a table has less than this part of the noise in rows."""


def most_values(attribute: Attribute) -> int:
    """How many values an attribute has at most, once it was cut into fewer bins.

    Args:
        attribute: the attribute.
    """
    return min(attribute.size, MOST_BINS) if isinstance(attribute.code, Bins) else attribute.size


class ForetoldNoise:
    """How much noise tables will have, foretold by the counts of the first round.

    Args:
        rows: the number of all rows.
        counts: the counts of each column.
        paid: the share of the budget that these cost.
        left: the share for the tables.
    """

    def __init__(self, rows: Answer, counts: Sequence[Answer], paid: Fraction, left: Fraction) -> None:
        sums = [float(np.sum(answer.value)) for answer in counts]
        self.rows = max(1.0, float(rows.value) if rows.deviation == 0 else float(np.mean(sums)))
        self.off = float(np.mean([np.max(answer.deviation) for answer in counts]))
        self.bound = float(np.mean([np.max(answer.radius(UNLIKELY)) for answer in counts]))
        self._power = float(counts[0].law.power)
        self._dearer = float(paid / left) / len(counts)

    def of(self, many: int) -> float:
        """One standard deviation of the noise in a cell, if there are so many tables."""
        return float(self.off * (many * self._dearer) ** self._power)

    def bins(self, many: int) -> int:
        """Into how many bins a number is cut, if there are so many tables."""
        cells = self.rows / (IN_A_CELL * max(self.of(many), 1e-9))
        return int(min(max(cells**0.5, FEWEST_BINS), MOST_BINS))

    def coarse(self, attribute: Attribute, counts: Floats, many: int) -> Attribute:
        """An attribute with fewer bins, if it is in bins: they have about as many rows each.

        Args:
            attribute: the attribute.
            counts: how many rows have each of its values.
            many: how many tables there are.
        """
        if not attribute.ordered:
            return attribute
        blocks = seen_blocks(counts, self.bound)
        if self.off * attribute.size**0.5 > LOST * self.rows:
            return _around(attribute, blocks)
        # In many empty bins noise alone adds up to many rows, if what is negative is just left away.
        seen = slice(blocks[0][0], blocks[-1][1]) if blocks else slice(None)
        positive = np.zeros_like(counts)
        positive[seen] = nearest_distribution(counts[seen], self.rows)
        counts = positive
        least = max(self._least(counts, many), IN_A_BIN * self.of(many), SURE * self.off)
        groups = attribute.groups(counts, least)
        if groups[-1] == 0:  # no bin has enough rows: two halves say more than nothing
            below = np.cumsum(counts + 1e-9)
            half = min(int(np.searchsorted(below, below[-1] / 2)), attribute.size - 2)
            groups = (np.arange(attribute.size) > half).astype(np.intp)
        return attribute.coarser(np.minimum(groups, MOST_BINS - 1))

    def _least(self, counts: Floats, many: int) -> float:
        """How many rows a bin should have. Single values with more than that have bins of their own."""
        bins = self.bins(many)
        least = self.rows / bins
        for _ in range(bins):
            alone = counts > least
            rest, others = bins - int(alone.sum()), float(counts[~alone].sum())
            if rest < 2 or others <= 0:
                break
            least = others / rest
        return least

    def worth_asking(self, cells: Mapping[Pair, int], always: set[Pair]) -> set[Pair]:
        """The pairs whose tables noise does not drown: small ones first, each makes the rest noisier."""
        kept = set(always)
        for pair in sorted(cells, key=lambda pair: (cells[pair], pair)):
            if cells[pair] <= MOST_CELLS and not self._drowned(cells[pair], len(kept) + 1):
                kept.add(pair)
        return kept

    def partners(self, cells: Mapping[Pair, int], columns: int) -> int:
        """How many partners to choose for each column; 0 if there is no need to choose."""
        middle = int(np.median(list(cells.values())))
        if columns < MANY_COLUMNS or not self._drowned(middle, len(cells), TOO_NOISY):
            return 0
        fitting = [
            many
            for many in range(1, MOST_PARTNERS + 1)
            if not self._drowned(middle, many * columns, TOO_NOISY)
        ]
        return max(fitting, default=1)

    def _drowned(self, cells: int, many: int, part: float = DROWNED) -> bool:
        return self.rows < part * self.of(many) * cells


def _around(attribute: Attribute, blocks: list[tuple[int, int]]) -> Attribute:
    """An attribute with edges where rows begin and end to be seen; evenly cut if none are seen."""
    inside = {place for block in blocks for place in block} - {0, attribute.size}
    if not inside:
        return _even(attribute)
    groups = np.cumsum([place in inside for place in range(attribute.size)])
    return attribute.coarser(np.minimum(groups, MOST_BINS - 1))


def _even(attribute: Attribute) -> Attribute:
    """An attribute with few bins of about the same width, or what comes nearest to that among its edges."""
    assert isinstance(attribute.code, Bins)
    edges = np.array(attribute.code.edges)
    low, high = edges[0], edges[-1]
    wanted = [low + (high - low) * part / FEWEST_BINS for part in range(1, FEWEST_BINS)]
    kept = {int(np.argmin(np.abs(edges - edge))) for edge in wanted}
    return attribute.coarser(np.cumsum([place - 1 in kept for place in range(attribute.size)]))
