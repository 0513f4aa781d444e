"""How long rows are, as far as a histogram shows it, and to which length to shorten them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sulq.effects.layout import Floats
from sulq.queries.codes import Bins
from sulq.queries.node import Node
from sulq.queries.products import dot
from sulq.queries.query import Query, count

EDGES = 24
"""Squared lengths are counted between so many edges."""
MIDDLE = 0.5**0.5
"""Rows in an interval have about this part of the largest squared length in it."""
TILTED = 0.2
"""What shortening does counts by this part, beside what noise does: rows that count less than they should
point where others point too, and noise points anywhere."""
SEEN = 5.0
"""Rows are seen if they are so many times as many as there is noise in their number. Few long rows that are
not there do more harm than few that are there and are not seen."""
CLEAR = 20.0
"""A histogram is clear if rows are so many times as many as the noise in a count of them."""
LIKELY = 30.0
"""It is asked for if rows are so many times as many as that noise is likely to be: it is not free."""


@dataclass(frozen=True)
class RowLengths:
    """Public intervals of the squared lengths of rows.

    Args:
        largest: no row's squared length is larger.
    """

    largest: float

    @property
    def edges(self) -> Floats:
        """The edges between intervals, each half of the next."""
        return np.asarray(self.largest * 2.0 ** -np.arange(EDGES, 0, -1))

    @property
    def middles(self) -> Floats:
        """About the squared length of the rows in each interval."""
        return np.asarray(np.append(self.edges, self.largest) * MIDDLE)

    def question(self, row: Node) -> Query:
        """How many rows are in each interval?

        Args:
            row: a row as a vector.
        """
        return count(by=[Bins(dot(row, row), tuple(self.edges.tolist()))])

    def best(self, counts: Floats, off: float, noise: float) -> float:
        """To which length to shorten rows before products of their coordinates are summed.

        Shortened rows have less noise beside them, but those that were longer count less than they should.
        Let S be the sum of squared lengths after shortening. What noise does is in proportion to noise/S.
        What shortening does is how far the parts of S that belong to rows of each length are from those of
        the rows as they are. If all rows are equally long, shortening does nothing, for better or worse. The
        length at which both together are least is taken.

        Args:
            counts: how many rows are in each interval, noise and all.
            off: one standard deviation of the noise in a count.
            noise: by how much noise can lengthen a direction, if rows are shortened to length 1.

        >>> lengths = RowLengths(64.0)
        >>> rows = np.where((lengths.middles > 1) & (lengths.middles < 4), 1000.0, 0.0)
        >>> lengths.best(rows, 0.0, 0.0), lengths.best(rows, 0.0, 1000.0)
        (8.0, 1.0)
        """
        rows, tried = _seen(counts, off), np.append(self.edges, self.largest)
        if not rows.any():
            return math.sqrt(self.largest)
        true = rows * self.middles / float(rows @ self.middles)
        losses = []
        for square in tried:
            shortened = rows * np.minimum(self.middles, square)
            whole = float(shortened.sum())
            tilted = float(np.abs(shortened / whole - true).sum()) / 2
            losses.append(TILTED * tilted + noise * square / whole)
        # Of lengths that are equally good the longest: it shortens the fewest rows.
        least = min(losses) + 1e-9
        good = [square for square, loss in zip(tried.tolist(), losses, strict=True) if loss <= least]
        return math.sqrt(max(good))


def _seen(counts: Floats, off: float) -> Floats:
    """Counts without negative ones, and without those of long rows that noise explains."""
    beyond = np.cumsum(counts[::-1])[::-1]
    doubt = SEEN * off * np.sqrt(np.arange(len(counts), 0, -1))
    last = np.flatnonzero((beyond > doubt) & (counts > off))
    rows = np.where(counts > off, counts, 0.0)
    rows[(last[-1] if len(last) else -1) + 1 :] = 0.0
    return np.asarray(rows)


def clear(off: float) -> bool:
    """Whether a histogram says how long rows are.

    Args:
        off: one standard deviation of the noise in a count, as a part of all rows.

    >>> clear(0.03), clear(0.1)
    (True, False)
    """
    return CLEAR * off <= 1


def worth_counting(off: float) -> bool:
    """Whether a histogram is likely to be clear, as far as that is known before it is asked for.

    Args:
        off: about one standard deviation of the noise in a count, as a part of all rows.

    >>> worth_counting(0.03), worth_counting(0.04)
    (True, False)
    """
    return LIKELY * off <= 1
