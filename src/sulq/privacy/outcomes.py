"""One of several outcomes, each with its part of a whole: exact, and one look-up nearly always."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from sulq.privacy.coins import random_bytes

_UNSURE = np.uint16(2**15)


class Outcomes:
    """One of several outcomes, at random, each with its share of the whole.

    A uniform number of [0, 1) lies in one outcome's part of it. Its first 16 bits nearly always tell, and 64
    tell nearly all of the rest; then as many are drawn as decide.

    Args:
        parts: how much of the whole each outcome has: fewer than 2^15 whole numbers.

    >>> sorted(set(Outcomes([1, 0, 3]).drawn(1000).tolist()))
    [0, 2]
    """

    def __init__(self, parts: Sequence[int]) -> None:
        ends = list(accumulate(parts))
        self.edges, self.whole = ends[:-1], ends[-1]
        """Where each but the first begins, and the sum of all parts."""
        begins = np.array([-(-(edge << 16) // self.whole) for edge in self.edges], dtype=np.int64)
        cells = np.array([(edge << 16) // self.whole for edge in self.edges], dtype=np.int64)
        first, last = (np.bincount(each, minlength=2**16 + 1)[: 2**16].cumsum() for each in (begins, cells))
        self.table = first.astype(np.uint16) + _UNSURE * (first != last).astype(np.uint16)
        """The outcome in which each cell of width 2^-16 begins, marked if an edge lies inside the cell."""
        # An edge at the very end of [0, 1) stands for outcomes of no width; no number reaches it.
        leading = [min((edge << 64) // self.whole, 2**64 - 1) for edge in self.edges]
        self.leading = np.array(leading, dtype=np.uint64)
        """The first 64 bits of the edges."""

    def drawn(self, size: int) -> NDArray[np.uint16]:
        """So many independent outcomes.

        Args:
            size: how many.
        """
        words = random_bytes(2 * size).view(np.uint16)
        outcomes: NDArray[np.uint16] = self.table.take(words)
        unsure = np.flatnonzero(outcomes >= _UNSURE)
        if unsure.size:
            more = np.zeros((unsure.size, 8), dtype=np.uint8)
            more[:, :6] = random_bytes(6 * unsure.size).reshape(-1, 6)
            more[:, 6:] = words[unsure].view(np.uint8).reshape(-1, 2)
            outcomes[unsure] = self._by_64_bits(more.view(np.uint64)[:, 0])
        return outcomes

    def _by_64_bits(self, words: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The outcomes of numbers whose first 64 bits are known."""
        after = np.searchsorted(self.leading, words, side="right")
        for i in np.flatnonzero((after > 0) & (self.leading[after - 1] == words)).tolist():
            after[i] = self._exactly(int(words[i]), 64)
        return after

    def _exactly(self, drawn: int, bits: int) -> int:
        """The outcome of a number whose first bits are these: more are drawn while an edge is in between."""
        while True:
            first = bisect_right(self.edges, drawn * self.whole >> bits)
            last = bisect_left(self.edges, -(-(drawn + 1) * self.whole >> bits))
            if first == last:
                return first
            drawn, bits = drawn << 64 | int(random_bytes(8).view(np.uint64)[0]), bits + 64
