"""The sizes of normal numbers, known to as many digits as somebody asks for.

The bell exp(−y²/2), y ≥ 0, is covered by strips: 128 of a width of 1/16, as high as the bell is where they
begin, or a little higher; and beyond 8 by strips of a width of 1, the first of them 2^-31 high and each half
as high as the one before. A narrow strip has two parts: a floor, as high as the bell is where the strip
ends, or a little lower, and an edge, which is the rest. Their heights are whole numbers of 2^-26. A part is
drawn by its area, and a point y in it uniformly. On a floor, y is kept. On an edge and beyond 8, it is kept
if a height drawn uniformly between the bottom and the top of the part is below the bell. What is kept, some
97 %, is the size of a normal number, exactly. One point in twenty has to be compared with the bell.

C. F. F. Karney, "Sampling exactly from the normal distribution", 2016, has the idea that y is a row of random
digits, of which 64 after the point are drawn at first. Whether a height is below the bell follows from the
first digits of both nearly always, in floating point with a proven error bound. Otherwise more digits of both
are drawn until it does.

So there is no number here that stands for a normal one: there are its first digits, and the others are still
to be drawn.
"""

from __future__ import annotations

import math
import os
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sulq.privacy.coins import arithmetic, exp, random_bytes
from sulq.privacy.digits import WORD, Numbers
from sulq.privacy.outcomes import Outcomes

Floats = NDArray[np.float64]

_AT_ONCE = 2**14
"""So many are proposed at a time: they stay in the processor's cache."""
_END, _FINE, _UNIT = 8, 4, 26
"""Up to 8, strips are 2^-4 wide and whole numbers of 2^-26 high. All beyond have an area of 2^-30."""
_STRIPS = _END << _FINE
_SLACK = 2.0**-40


def normals(size: int) -> Numbers:
    """The sizes of so many of them, of which no more digits are drawn than their law needs.

    >>> bool(-0.3 < normals(1000).floats.mean() - np.sqrt(2 / np.pi) < 0.3)
    True
    """
    kept: list[Numbers] = []
    missing = size
    while missing > 0:
        # How many to propose depends on how many were kept, never on which.
        kept.append(_kept(min(33 * missing // 32 + 8, _AT_ONCE)))
        missing -= len(kept[-1].first)
    return Numbers.joined(kept, size)


def _kept(size: int) -> Numbers:
    """Those of so many proposals that are kept."""
    parts, bottoms, heights = _cover()
    drawn = parts.drawn(size)
    words = random_bytes(WORD // 8 * size).view(np.uint64)
    # A strip has the first digits of y, and a word the others.
    strips = drawn & np.uint16(_STRIPS - 1)
    first = (strips.astype(np.uint64) << np.uint64(WORD - _FINE)) | (words >> np.uint64(_FINE))
    proposed = Numbers((strips >> _FINE).astype(np.int64), first)
    places = np.flatnonzero(drawn >= _STRIPS)
    edges = drawn[places] - _STRIPS
    kept = np.ones(size, np.bool_)
    kept[places] = _under_the_bell(proposed, places, bottoms[edges], heights[edges])
    return proposed.taken(np.flatnonzero(kept))


@lru_cache(maxsize=1)
def _cover() -> tuple[Outcomes, Floats, Floats]:
    """The floors, the edges, and one part for all beyond; where edges begin, and how high they are.

    In units of 2^-26, of which the floats here err by less than 2^-20. What is beyond has no height yet.
    """
    bells = [2**_UNIT * math.exp(-((i / 2**_FINE) ** 2) / 2) for i in range(_STRIPS + 1)]
    tops = [math.ceil(bell + 2**-20) for bell in bells[:-1]]
    floors = [max(0, math.floor(bell - 2**-20)) for bell in bells[1:]]
    edges = [top - floor for top, floor in zip(tops, floors, strict=True)]
    return Outcomes([*floors, *edges, 1]), np.array([*floors, math.nan]), np.array([*edges, math.nan])


def _under_the_bell(
    proposed: Numbers, places: NDArray[np.intp], bottoms: Floats, heights: Floats
) -> NDArray[np.bool_]:
    """Whether bottom + U·height is below the bell at some places, for a uniform number U at each of them."""
    sizes = proposed.whole[places] + proposed.first[places] * 2.0**-WORD
    bell = 2.0**_UNIT * np.exp(sizes**2 / -2)
    below = random_bytes(4 * places.size).view(np.uint32)
    # Rounding errs by less than 2^-44 of the bell, and so do the digits of y to come: y is at most 8.
    kept: NDArray[np.bool_] = bottoms + (below + 1.0) * 2.0**-32 * heights < bell * (1 - _SLACK)
    unsure = ~(kept | (bottoms + below * 2.0**-32 * heights > bell * (1 + _SLACK)))
    for i in np.flatnonzero(unsure).tolist():
        part = bottoms[i], heights[i]
        bottom, height = _beyond(proposed, places[i]) if np.isnan(part).any() else map(Fraction, part)
        kept[i] = _exactly(proposed, int(places[i]), bottom, height, int(below[i]))
    return kept


def _beyond(proposed: Numbers, place: int) -> tuple[Fraction, Fraction]:
    """Move a proposal to a strip beyond the fine ones, and say where that begins and how high it is."""
    ahead = 0
    while os.urandom(1)[0] & 1:
        ahead += 1
    proposed.whole[place] = _END + ahead
    proposed.first[place] = int.from_bytes(os.urandom(WORD // 8))
    return Fraction(0), Fraction(1, 2) ** (_FINE + 1 + ahead)


def _exactly(proposed: Numbers, place: int, bottom: Fraction, height: Fraction, below: int) -> bool:
    """Whether bottom + U·height is below the bell, if ⌊2^32·U⌋ is known: digits are drawn until it is."""
    bits, words = 32, 1
    while True:
        y = proposed.of(place, words)
        low, high = (_bell(Fraction(end, 1 << WORD * words), words) for end in (y + 1, y))
        if bottom + Fraction(below + 1, 1 << bits) * height <= low[0]:
            return True
        if bottom + Fraction(below, 1 << bits) * height >= high[1]:
            return False
        below, bits = below << WORD | int.from_bytes(os.urandom(WORD // 8)), bits + WORD
        words += 1


def _bell(y: Fraction, words: int) -> tuple[Fraction, Fraction]:
    """Between which numbers 2^26·exp(−y²/2) lies."""
    exponent, digits = -y * y / 2, 20 * (words + 1)
    with arithmetic(digits):
        near = Fraction(exp(exponent))
    off = near * (abs(exponent) + 2) * Fraction(10, 10**digits)
    return (near - off) * 2**_UNIT, (near + off) * 2**_UNIT
