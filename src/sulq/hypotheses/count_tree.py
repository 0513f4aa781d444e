"""Counts between nested edges, from coarse to fine, made to agree: the least noise below every edge.

The rows below an edge are a sum of many fine counts, or of a few coarse ones and fewer fine ones. All counts
together form a tree: a node is an interval, and its children are the finer intervals in it. Going up, what a
node holds is estimated by its own count and by the sum of its children, each in proportion to how certain it
is. Going down, the children are moved so that they add up to their parent, those that are least certain by
most. With variances as proportions this is least squares (Hay, Rastogi, Miklau and Suciu, "Boosting the
accuracy of differentially private histograms through consistency", 2010). All of it is linear in the counts:
what every count contributes to an estimate is known, and so is how far off the estimate can be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from sulq.hypotheses.consistency import Floats

Places = NDArray[np.intp]
AT_ONCE = 256
"""Of so many edges the contributions are computed at once, which bounds the memory."""


@dataclass(frozen=True)
class Contributions:
    """What the counts of one level contribute to the rows below each edge, and to all the other rows.

    Args:
        squares: sums of squares: of the rows below, of both multiplied, and of the others.
        most: the largest contributions, and how far they are below 0: of the rows below, and of the others.
        absolute: the sums without signs: of the rows below, and of the others.
    """

    squares: tuple[Floats, Floats, Floats]
    most: tuple[Floats, Floats, Floats, Floats]
    absolute: tuple[Floats, Floats]

    def balanced(self, level: float) -> tuple[Floats, Floats, Floats]:
        """The squares, the largest and the sum of what is contributed to (1 − level)·below − level·others.

        Args:
            level: the part of the rows that is expected below.
        """
        below, other = 1 - level, level
        squares = (
            below**2 * self.squares[0] - 2 * below * other * self.squares[1] + other**2 * self.squares[2]
        )
        above = below * self.most[0] + other * self.most[3]
        beneath = other * self.most[2] + below * self.most[1]
        absolute = below * self.absolute[0] + other * self.absolute[1]
        return np.maximum(squares, 0.0), np.maximum(above, beneath), absolute


@dataclass(frozen=True)
class CountTree:
    """Where the intervals of each level begin among those of the next one, and how certain each level is.

    Args:
        starts: for each level but the last, the first child of every node. The first level is one node: all.
        variances: for each level, the variance of its counts; None if nothing is known of how their errors go
            together. Then what is coarse is trusted, which makes sums of the fewest counts.
        leaves: how many intervals the last level has.

    >>> tree = CountTree(((0,), (0, 2)), (0.0, 1.0, 1.0), 4)
    >>> levels = [np.array([10.0]), np.array([6.0, 3.0]), np.array([4.0, 1.0, 2.0, 3.0])]
    >>> tree.agreed(levels).round(2).tolist()
    [4.5, 1.5, 1.5, 2.5]
    """

    starts: tuple[tuple[int, ...], ...]
    variances: tuple[float, ...] | None
    leaves: int

    def agreed(self, levels: Sequence[Floats]) -> Floats:
        """The finest counts, made to agree with all others.

        Args:
            levels: the counts of each level, the nodes of which are along the last axis.
        """
        known = [levels[-1]]
        for counts, starts, trust in list(zip(levels, self._starts, self._trust, strict=False))[::-1]:
            known.insert(0, trust * counts + (1 - trust) * _sums(known[0], starts))
        settled = known[0]
        for finer, starts, shares in zip(known[1:], self._starts, self._shares, strict=True):
            missing = settled - _sums(finer, starts)
            settled = finer + shares * _spread(missing, starts, finer.shape[-1])
        return settled

    def children(self, level: int, node: int) -> range:
        """The children of a node: which nodes of the next level they are."""
        ends = [*self.starts[level], self._sizes[level + 1]]
        return range(ends[node], ends[node + 1])

    def span(self, level: int, node: int) -> slice:
        """Which intervals of the last level a node consists of."""
        first, end = node, node + 1
        for starts, many in zip(self.starts[level:], self._sizes[level + 1 :], strict=True):
            first, end = starts[first], starts[end] if end < len(starts) else many
        return slice(first, end)

    @cached_property
    def contributions(self) -> tuple[Contributions, ...]:
        """What each level contributes to the rows below each edge of the last one."""
        return _contributions(self)

    @cached_property
    def _starts(self) -> list[Places]:
        return [np.array(starts, dtype=np.intp) for starts in self.starts]

    @cached_property
    def _sizes(self) -> list[int]:
        return [*map(len, self.starts), self.leaves]

    @cached_property
    def _parts(self) -> tuple[list[Floats], list[Floats]]:
        """How far the own count of a node is trusted, and what a child takes of what is missing."""
        trust: list[Floats] = []
        shares: list[Floats] = []
        sure = self.variances
        variance = np.full(self.leaves, 1.0 if sure is None else sure[-1])
        for level in range(len(self.starts) - 1, -1, -1):
            starts, many = self._starts[level], self._sizes[level + 1]
            together = _sums(variance, starts)
            evenly = 1 / _spread(_sums(np.ones(many), starts), starts, many)
            spread = _spread(together, starts, many)
            shares.insert(0, np.where(spread > 0, variance / np.where(spread > 0, spread, 1), evenly))
            if sure is None:
                trust.insert(0, np.ones(len(starts)))
                variance = np.ones(len(starts))
            else:
                both = together + sure[level]
                trust.insert(0, np.where(both > 0, together / np.where(both > 0, both, 1), 1.0))
                variance = trust[0] * sure[level]
        return trust, shares

    @property
    def _trust(self) -> list[Floats]:
        return self._parts[0]

    @property
    def _shares(self) -> list[Floats]:
        return self._parts[1]

    def _adjoint(self, weights: Floats) -> list[Floats]:
        """What each count contributes to weighted sums of the agreed ones: `agreed`, the other way round."""
        to_known: list[Floats] = []
        for starts, shares in list(zip(self._starts, self._shares, strict=True))[::-1]:
            given = _sums(weights * shares, starts)
            to_known.insert(0, weights - _spread(given, starts, weights.shape[-1]))
            weights = given
        to_known.insert(0, weights)
        contributed = []
        for level, (starts, trust) in enumerate(zip(self._starts, self._trust, strict=True)):
            contributed.append(trust * to_known[level])
            to_known[level + 1] = to_known[level + 1] + _spread(
                (1 - trust) * to_known[level], starts, self._sizes[level + 1]
            )
        return [*contributed, to_known[-1]]


@lru_cache(maxsize=64)
def _contributions(tree: CountTree) -> tuple[Contributions, ...]:
    everything = tree._adjoint(np.ones((1, tree.leaves)))
    parts: list[list[tuple[Floats, ...]]] = [[] for _ in everything]
    for first in range(1, tree.leaves, AT_ONCE):
        edges = np.arange(first, min(tree.leaves, first + AT_ONCE))
        below_each = tree._adjoint((np.arange(tree.leaves) < edges[:, np.newaxis]).astype(np.float64))
        for level, below in enumerate(below_each):
            other = everything[level] - below
            pairs = ((below, below), (below, other), (other, other))
            squares = (np.einsum("ij,ij->i", a, b) for a, b in pairs)
            most = (np.maximum(0.0, x.max(axis=1)) for x in (below, -below, other, -other))
            absolute = (np.abs(x).sum(axis=1) for x in (below, other))
            parts[level].append((*squares, *most, *absolute))
    whole = [[np.concatenate(column) for column in zip(*part, strict=True)] for part in parts]
    return tuple(Contributions((x[0], x[1], x[2]), (x[3], x[4], x[5], x[6]), (x[7], x[8])) for x in whole)


def _sums(values: Floats, starts: Places) -> Floats:
    """Of each node the sum over its children."""
    return np.asarray(np.add.reduceat(values, starts, axis=-1))


def _spread(values: Floats, starts: Places, many: int) -> Floats:
    """The value of each node, at the place of each of its children."""
    return np.repeat(values, np.diff(np.append(starts, many)), axis=-1)
