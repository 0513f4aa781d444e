"""Random numbers that are known to as many binary digits as somebody asks for.

Of each there are its first digits, and the others are still to be drawn. Digits that were drawn stay.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from sulq.privacy.coins import random_bytes

WORD = 64
"""So many binary digits are drawn at a time."""


@dataclass
class Numbers:
    """Independent numbers k + x: k is a whole number, and the digits of x that are not there yet are fair.

    Args:
        whole: k of each.
        first: the first 64 digits of x of each.
        more: further digits of some of the x, as a whole number after a 1, by place. All have whole words of
            digits.
        second: the 64 digits after the first ones, once they were drawn for all.

    >>> drawn = Numbers.uniform(1000)
    >>> bool(0.4 < drawn.floats.mean() < 0.6)
    True
    >>> drawn.of(0, words=2) >> 64 == drawn.of(0, words=1)
    True
    """

    whole: NDArray[np.int64]
    first: NDArray[np.uint64]
    more: dict[int, int] = field(default_factory=dict)
    second: NDArray[np.uint64] | None = None

    @classmethod
    def uniform(cls, size: int) -> Numbers:
        """So many numbers between 0 and 1, all equally likely."""
        return cls(np.zeros(size, np.int64), random_bytes(WORD // 8 * size).view(np.uint64))

    @classmethod
    def joined(cls, parts: Sequence[Numbers], size: int) -> Numbers:
        """The first numbers of several groups, as one."""
        begins = accumulate((len(part.whole) for part in parts), initial=0)
        more = {
            begin + place: digits
            for begin, part in zip(begins, parts, strict=False)
            for place, digits in part.more.items()
            if begin + place < size
        }
        whole = np.concatenate([part.whole for part in parts])[:size]
        return cls(whole, np.concatenate([part.first for part in parts])[:size], more)

    def taken(self, places: NDArray[np.intp]) -> Numbers:
        """The numbers at these places, which are in order."""
        more = {}
        for old, digits in self.more.items():
            new = int(np.searchsorted(places, old))
            if new < len(places) and places[new] == old:
                more[new] = digits
        second = None if self.second is None else self.second.take(places)
        return Numbers(self.whole.take(places), self.first.take(places), more, second)

    def divided(self, at: int) -> tuple[Numbers, Numbers]:
        """The numbers before a place, and those from there on."""
        more: tuple[dict[int, int], dict[int, int]] = {}, {}
        for place, digits in self.more.items():
            more[place >= at][place - at if place >= at else place] = digits
        first, rest = slice(None, at), slice(at, None)
        return Numbers(self.whole[first], self.first[first], more[0]), Numbers(
            self.whole[rest], self.first[rest], more[1]
        )

    def draw_second(self) -> None:
        """Draw the 64 digits after the first ones, for all: one by one takes longer where many are needed."""
        if self.second is None:
            self.second = random_bytes(WORD // 8 * len(self.first)).view(np.uint64).copy()
            for place, digits in self.more.items():
                self.second[place] = (digits >> (digits.bit_length() - 1 - WORD)) & (2**WORD - 1)

    @property
    def floats(self) -> NDArray[np.float64]:
        """k + x as floats, off by less than 2^-52 of themselves and 2^-64 beyond that."""
        return np.asarray(self.first * 2.0**-WORD + self.whole)

    def of(self, place: int, words: int) -> int:
        """⌊(k + x)·2^(64·words)⌋ of one of them: digits that nobody has seen are drawn.

        Args:
            place: which one.
            words: how many words of 64 digits after the point.
        """
        shown = (int(self.whole[place]) << WORD) | int(self.first[place])
        if words == 1:
            return shown
        more = self.more.get(place)
        if more is None:
            more = 1 if self.second is None else (1 << WORD) | int(self.second[place])
        while more.bit_length() <= WORD * (words - 1):
            more = (more << WORD) | int.from_bytes(os.urandom(WORD // 8), "big")
        self.more[place] = more
        seen = (more.bit_length() - 1) // WORD
        tail = more - (1 << WORD * seen)
        return (shown << WORD * (words - 1)) | (tail >> WORD * (seen - words + 1))

    def several(self, places: slice, words: int) -> list[int]:
        """The same of those at some places."""
        if words > 2 or (words == 2 and self.second is None):
            return [self.of(place, words) for place in range(*places.indices(len(self.first)))]
        pairs = zip(self.whole[places].tolist(), self.first[places].tolist(), strict=True)
        shown = [whole << WORD | first for whole, first in pairs]
        if words == 1 or self.second is None:
            return shown
        return [one << WORD | more for one, more in zip(shown, self.second[places].tolist(), strict=True)]
