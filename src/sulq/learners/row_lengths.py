"""How long rows are, as far as a histogram shows it, and to which length to shorten them."""

from __future__ import annotations

import math
from collections.abc import Sequence
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
PARTS = 2.0 ** (-np.arange(2 * EDGES) / 2)
"""Which parts of the squared lengths are tried."""
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

    def question(self, row: Node, width: int) -> Query:
        """How many rows are in each interval?

        Args:
            row: a row as a vector.
            width: how many coordinates it has.
        """
        return count(by=[Bins(squared_length(row, width), tuple(self.edges.tolist()))])


def squared_length(row: Node, width: int) -> Node:
    """⟨x, x⟩, in the way that is fastest: columns are squared as they are read.

    Args:
        row: a row as a vector.
        width: how many coordinates it has.
    """
    return dot(row * row, [1.0] * width)


def best_norms(
    lengths: Sequence[RowLengths], counts: Sequence[Floats], off: Sequence[float], noise: float
) -> list[float | None]:
    """To which length to shorten each hand's part of a row, before products of coordinates are summed.

    Shortened rows have less noise beside them, but those that were longer count less than they should.
    Let S be the sum of squared lengths after shortening, of all hands. What noise does is in proportion to
    noise·Σ norm²/S. What shortening does is how far the parts of S that belong to rows of each length, in
    each hand, are from those of the rows as they are. If all rows are equally long, shortening does nothing,
    for better or worse. All hands keep the same part of their squared lengths, so that none counts for less
    than another. The part at which noise and shortening together do the least is taken.

    Args:
        lengths: the intervals of each hand.
        counts: how many rows are in each of them, noise and all.
        off: one standard deviation of the noise in a count, of each hand.
        noise: by how much noise can lengthen a direction, if rows are shortened to length 1.

    >>> lengths = RowLengths(64.0)
    >>> rows = np.where((lengths.middles > 1) & (lengths.middles < 4), 1000.0, 0.0)
    >>> np.round([best_norms([lengths], [rows], [0.0], noise)[0] for noise in (0.0, 1000.0)], 2).tolist()
    [2.0, 1.22]
    """
    seen = [_seen(each, doubt) for each, doubt in zip(counts, off, strict=True)]
    if not all(rows.any() for rows in seen):
        return [math.sqrt(each.largest) for each in lengths]
    middles = [each.middles[rows > 0] for each, rows in zip(lengths, seen, strict=True)]
    seen = [rows[rows > 0] for rows in seen]
    true = np.concatenate([rows * middle for rows, middle in zip(seen, middles, strict=True)])
    # The sums of squared lengths if rows are shortened to each of the middles, and to 0.
    sums = [np.append(0, np.minimum.outer(m, m) @ rows) for rows, m in zip(seen, middles, strict=True)]
    least, best = math.inf, [math.inf]
    for part in PARTS:
        squares = [
            float(np.interp(part * each[-1], each, np.append(0, middle)))
            for each, middle in zip(sums, middles, strict=True)
        ]
        at_most = zip(seen, middles, squares, strict=True)
        shortened = np.concatenate([rows * np.minimum(middle, square) for rows, middle, square in at_most])
        whole = float(shortened.sum())
        tilted = float(np.abs(shortened / whole - true / true.sum()).sum()) / 2
        # Of parts that are equally good the largest: it shortens the fewest rows.
        loss = TILTED * tilted + noise * sum(squares) / MIDDLE / whole
        if loss < least - 1e-9:
            least, best = loss, squares
    return [math.sqrt(square / MIDDLE) for square in best]


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
