"""Normal numbers that are known to as many digits as somebody asks for: Karney's algorithm.

C. F. F. Karney, "Sampling exactly from the normal distribution", 2016, Algorithm N: a whole number k ≥ 0 with
Pr[k] ∝ exp(−k²/2), a uniform fraction x, kept with probability exp(−x(2k + x)/2), and a fair sign make
±(k + x), which is normal, because exp(−k²/2)·exp(−x(2k + x)/2) = exp(−(k + x)²/2).

- **k.** Propose a geometric k, Pr[k] ∝ exp(−k/2), and keep it with probability exp(−k(k − 1)/2).
- **x** is a row of random bits, of which 64 are drawn at first. It is kept if an exponential variable E
  exceeds γ = x(2k + x)/2. The first digits of E and of x decide that nearly always, in floating point with a
  proven error bound; otherwise more digits of both are drawn until they part. Digits that were drawn stay.

So there is no number here that stands for a normal one: there are its first digits, and the others are still
to be drawn.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sulq.privacy.coins import Coin, geometric, random_bytes, reaches, toss

WORD = 64
"""So many binary digits are drawn at a time."""
_CLOCK_DIGITS = 16
_SLACK = 2.0**-40


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
        kept = cls(np.empty(0, np.int64), np.empty(0, np.uint64), np.empty(0, np.int64))
        while len(kept.whole) < size:
            # How many to propose depends on how many were kept, never on which.
            kept = kept._and(_kept(9 * (size - len(kept.whole)) // 4 + 8))
        return cls(
            kept.whole[:size],
            kept.first[:size],
            1 - 2 * (random_bytes(size) & 1).astype(np.int64),
            {place: digits for place, digits in kept.more.items() if place < size},
        )

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

    def _and(self, other: Normals) -> Normals:
        after = {len(self.whole) + place: digits for place, digits in other.more.items()}
        return Normals(
            np.concatenate([self.whole, other.whole]),
            np.concatenate([self.first, other.first]),
            np.concatenate([self.signs, other.signs]),
            self.more | after,
        )


def _kept(size: int) -> Normals:
    """Those of so many proposals that are kept; their signs are not drawn yet."""
    whole = geometric(Fraction(2), size)
    marks = (whole * (whole - 1) // 2).astype(np.uint64)
    whole = whole[reaches(Fraction(1), marks)]
    first = random_bytes(WORD // 8 * len(whole)).view(np.uint64)
    proposed = Normals(whole, first, np.ones(len(whole), np.int64))
    places = np.flatnonzero(_outlive(proposed))
    more = {new: proposed.more[old] for new, old in enumerate(places.tolist()) if old in proposed.more}
    return Normals(whole[places], first[places], proposed.signs[places], more)


def _outlive(proposed: Normals) -> NDArray[np.bool_]:
    """Whether an exponential variable of its own exceeds γ of each proposal."""
    ticks = geometric(Fraction(2**_CLOCK_DIGITS), len(proposed.whole))
    x = proposed.first.astype(np.float64) * 2.0**-WORD
    gamma = x * (2 * proposed.whole + x) / 2
    # Rounding errs by less than 8·2^-53 of γ, and the digits of x to come add less than (k + 1)·2^-64.
    slack = (gamma + proposed.whole + 1) * _SLACK * 2**_CLOCK_DIGITS
    deadline = gamma * 2**_CLOCK_DIGITS
    outlived: NDArray[np.bool_] = ticks >= deadline + slack
    for place in np.flatnonzero(~outlived & (ticks + 1 > deadline - slack)).tolist():
        outlived[place] = _exactly(proposed, place, int(ticks[place]))
    return outlived


def _exactly(proposed: Normals, place: int, ticks: int) -> bool:
    """Whether E exceeds γ, if ⌊2^16·E⌋ = `ticks` is known: digits of both are drawn until they part."""
    k, places, words = int(proposed.whole[place]), _CLOCK_DIGITS, 1
    while True:
        low, high = (
            (x - (k << WORD * words)) * (x + (k << WORD * words))
            for x in (proposed.digits(place, words), proposed.digits(place, words) + 1)
        )  # γ lies between them, in steps of 2^-(1 + 128·words): 2γ = (k + x)² − k²
        shift = 1 + 2 * WORD * words - places
        if ticks << shift >= high:
            return True
        if (ticks + 1) << shift <= low:
            return False
        if places < WORD * words - 4:
            places += 1
            ticks = 2 * ticks + int(toss(Coin(1, 1, Fraction(1, 1 << places)), 1)[0])
        else:
            words += 1
