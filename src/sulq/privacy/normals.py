"""Normal numbers that are known to as many digits as somebody asks for.

The bell exp(−y²/2), y ≥ 0, is covered by strips: 128 of a width of 1/16, as high as the bell is where they
begin, or a little higher, so that their heights are whole numbers of 2^-26; and beyond 8 by strips of a width
of 1, the first of them 2^-31 high and each half as high as the one before. A strip is drawn by its area, a
point y in it uniformly, and y is kept with probability exp(−y²/2)/height. What is kept, some 97 %, is the
size of a normal number, exactly. A fair sign is drawn beside it.

C. F. F. Karney, "Sampling exactly from the normal distribution", 2016, has the idea that y is a row of random
digits, of which 64 after the point are drawn at first. Whether a uniform number U is below exp(−y²/2)/height
follows from the first digits of U and y nearly always, in floating point with a proven error bound. Otherwise
more digits of both are drawn until it does. Digits that were drawn stay.

So there is no number here that stands for a normal one: there are its first digits, and the others are still
to be drawn.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from sulq.privacy.coins import arithmetic, exp, random_bytes
from sulq.privacy.outcomes import Outcomes

WORD = 64
"""So many binary digits are drawn at a time."""
_FINE = 4
_STRIPS = 8 << _FINE
_UNIT = 26
"""Strips are 2^-4 wide and whole numbers of 2^-26 high; those beyond have an area of 2^-30 together."""
_SLACK = 2.0**-40
_AT_ONCE = 2**14
"""So many are proposed at a time: they stay in the processor's cache."""


@dataclass
class Normals:
    """The sizes of independent normal numbers, k + x, and their signs.

    Args:
        whole: k of each.
        first: the first 64 digits of x of each.
        signs: 1 or −1.
        more: further digits of some of the x, as a whole number, by place. All have whole words of digits.

    >>> drawn = Normals.drawn(1000)
    >>> bool(-0.3 < drawn.sizes.mean() - np.sqrt(2 / np.pi) < 0.3)
    True
    >>> drawn.digits(0, 2) >> 64 == drawn.digits(0, 1)
    True
    """

    whole: NDArray[np.int64]
    first: NDArray[np.uint64]
    signs: NDArray[np.int64]
    more: dict[int, int] = field(default_factory=dict)

    @classmethod
    def drawn(cls, size: int) -> Normals:
        """So many of them, of which no more digits are drawn than their law needs."""
        kept: list[Normals] = []
        missing = size
        while missing > 0:
            # How many to propose depends on how many were kept, never on which.
            kept.append(_kept(min(17 * missing // 16 + 8, _AT_ONCE)))
            missing -= len(kept[-1].whole)
        return _first(kept, size)

    @property
    def sizes(self) -> NDArray[np.float64]:
        """k + x as floats, off by less than 2^-52 of themselves and 2^-64 beyond that."""
        return np.asarray(self.whole + self.first.astype(np.float64) * 2.0**-WORD)

    def digits(self, place: int, words: int) -> int:
        """⌊(k + x)·2^(64·words)⌋ of one of them: digits that nobody has seen are drawn.

        Args:
            place: which one.
            words: how many words of 64 digits after the point.
        """
        shown = (int(self.whole[place]) << WORD) | int(self.first[place])
        if words == 1:
            return shown
        more = self.more.get(place, 1)  # a 1 before the digits says how many there are
        while more.bit_length() <= WORD * (words - 1):
            more = (more << WORD) | int.from_bytes(os.urandom(WORD // 8), "big")
        self.more[place] = more
        seen = (more.bit_length() - 1) // WORD
        tail = more - (1 << WORD * seen)
        return (shown << WORD * (words - 1)) | (tail >> WORD * (seen - words + 1))


def _first(parts: Sequence[Normals], size: int) -> Normals:
    """The first of several groups, as one."""
    begins = accumulate((len(part.whole) for part in parts), initial=0)
    more = {
        begin + place: digits
        for begin, part in zip(begins, parts, strict=False)
        for place, digits in part.more.items()
        if begin + place < size
    }
    none = Normals(np.empty(0, np.int64), np.empty(0, np.uint64), np.empty(0, np.int64))
    rows = [none, *parts]
    return Normals(
        np.concatenate([part.whole for part in rows])[:size],
        np.concatenate([part.first for part in rows])[:size],
        np.concatenate([part.signs for part in rows])[:size],
        more,
    )


def _kept(size: int) -> Normals:
    """Those of so many proposals that are kept."""
    strips, heights = _cover()
    drawn = strips.drawn(size)
    words = random_bytes(WORD // 8 * size).view(np.uint64)
    # A strip has the first digits of y, and a word the others but for the lowest, one of which is the sign.
    first = (drawn.astype(np.uint64) << np.uint64(WORD - _FINE)) | (words >> np.uint64(_FINE))
    proposed = Normals((drawn >> _FINE).astype(np.int64), first, 1 - 2 * (words & 1).astype(np.int64))
    below = random_bytes(4 * size).view(np.uint32)
    places = np.flatnonzero(_under_the_bell(proposed, heights.take(drawn), below))
    more = {}
    if proposed.more:
        more = {new: proposed.more[old] for new, old in enumerate(places.tolist()) if old in proposed.more}
    return Normals(proposed.whole[places], proposed.first[places], proposed.signs[places], more)


@lru_cache(maxsize=1)
def _cover() -> tuple[Outcomes, NDArray[np.float64]]:
    """The strips, of which the last stands for all beyond, and their heights; what is beyond has none."""
    parts = [math.ceil(2**_UNIT * math.exp(-((i / 2**_FINE) ** 2) / 2) + 2**-20) for i in range(_STRIPS)]
    return Outcomes([*parts, 1]), np.array([*parts, math.nan]) / 2**_UNIT


def _under_the_bell(
    proposed: Normals, heights: NDArray[np.float64], below: NDArray[np.uint32]
) -> NDArray[np.bool_]:
    """Whether U·height is below the bell, for uniform numbers U whose first 32 digits are these."""
    bell = np.exp(proposed.sizes**2 / -2)
    # Rounding errs by less than 2^-44 of the bell, and so do the digits of y to come: y is at most 8.
    kept: NDArray[np.bool_] = (below + 1.0) * 2.0**-32 * heights < bell * (1 - _SLACK)
    unsure = ~(kept | (below * 2.0**-32 * heights > bell * (1 + _SLACK)))
    for place in np.flatnonzero(unsure).tolist():
        height = _beyond(proposed, place) if np.isnan(heights[place]) else Fraction(heights[place])
        kept[place] = _exactly(proposed, place, height, int(below[place]))
    return kept


def _beyond(proposed: Normals, place: int) -> Fraction:
    """Move a proposal to a strip beyond the fine ones, and say how high that is."""
    ahead = 0
    while os.urandom(1)[0] & 1:
        ahead += 1
    proposed.whole[place] = (_STRIPS >> _FINE) + ahead
    proposed.first[place] = int.from_bytes(os.urandom(WORD // 8))
    return Fraction(1, 2) ** (_UNIT + _FINE + 1 + ahead)


def _exactly(proposed: Normals, place: int, height: Fraction, below: int) -> bool:
    """Whether U·height is below the bell, if ⌊2^32·U⌋ is known: digits are drawn until that is certain."""
    bits, words = 32, 1
    while True:
        y = proposed.digits(place, words)
        low, high = (_bell(Fraction(end, 1 << WORD * words), words) for end in (y + 1, y))
        if Fraction(below + 1, 1 << bits) * height <= low[0]:
            return True
        if Fraction(below, 1 << bits) * height >= high[1]:
            return False
        below, bits = below << WORD | int.from_bytes(os.urandom(WORD // 8)), bits + WORD
        words += 1


def _bell(y: Fraction, words: int) -> tuple[Fraction, Fraction]:
    """Between which numbers exp(−y²/2) lies."""
    exponent, digits = -y * y / 2, 20 * (words + 1)
    with arithmetic(digits):
        near = Fraction(exp(exponent))
    off = near * (abs(exponent) + 2) * Fraction(10, 10**digits)
    return near - off, near + off
