"""Randomized response into blocks: a report from one's own block of a symmetric design, mostly.

Possibility v has the block v + D of residues, D a cyclic difference set. A report is a residue, and one in
one's own block is e^ε times as likely as one outside. Any two blocks overlap equally, so that a report
supports every other possibility with one and the same probability. With blocks of about one residue in
e^ε + 1 the variance is that of the optimised unary response, and a report is a single number: Acharya, Sun
and Zhang, "Hadamard Response", 2019; Feldman, Nelson, Nguyen and Talwar, "Private Frequency Estimation via
Projective Geometry", 2022.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sulq.errors import QueryError
from sulq.local.difference_sets import Size, difference_set, sizes
from sulq.local.draws import ONE, below, uniform_below
from sulq.local.frequencies import NumberedReport
from sulq.local.kary import MOST_POSSIBILITIES
from sulq.local.randomizer import chance_to_lie, codes, usable_epsilon
from sulq.local.support import Support
from sulq.numbers import Numeric, whole


@dataclass(frozen=True, init=False)
class DesignResponse(NumberedReport):
    """A residue, more often from the block of one's own possibility than from outside.

    Of the designs with nearly the least variance for rare possibilities, the one with the smallest radius is
    used. There are good ones for ε up to 4 if k is at most 2800, and none at all from some 16,000 on.

    Args:
        k: how many possibilities there are.
        epsilon: what is promised to the person who reports.

    >>> response = DesignResponse(100, epsilon=1)
    >>> response.size.residues, response.size.block
    (101, 25)
    >>> reports = response.sample(np.arange(100_000) % 50)
    >>> error = response.estimate(reports) - np.repeat([1/50, 0], 50)
    >>> bool(abs(error).max() < response.radius(100_000, beta=1e-9))
    True
    """

    wire = "design"

    k: int
    size: Size
    lies: int
    """How often the report is from outside one's own block, in steps of 2^-64."""

    def __init__(self, k: int, epsilon: Numeric) -> None:
        object.__setattr__(self, "k", whole("the number of possibilities", k, 2, MOST_POSSIBILITIES))
        size, lies = _best(self.k, usable_epsilon(epsilon))
        object.__setattr__(self, "size", size)
        object.__setattr__(self, "lies", lies)

    @property
    def reports(self) -> int:
        """How many different reports there are: 0, …, reports − 1."""
        return self.size.residues

    @property
    def support(self) -> Support:
        """A report supports the possibilities whose block it is in."""
        return _support(self.size, self.lies)

    @property
    def both(self) -> tuple[Fraction, Fraction, Fraction]:
        """The chance to support possibilities a and a + 1: if one is one's own, and at least and at most if
        neither is. It depends on how many residues three blocks share, which is counted."""
        inside, outside = self._each
        overlap = self.size.overlap
        shared = self._indicator * np.roll(self._indicator, 1)
        thrice = np.delete(_correlation(shared, self._indicator), [0, 1])
        least, most = (inside * int(t) + outside * (overlap - int(t)) for t in (thrice.min(), thrice.max()))
        return inside * overlap, least, most

    @property
    def ratio(self) -> Fraction:
        inside, outside = self._each
        return inside / outside

    def sample(self, values: ArrayLike) -> NDArray[np.int64]:
        """A residue for each number from 0 to k − 1."""
        truths = codes(values, self.k)
        outside = below(self.lies, truths.size)
        block, residues = self.size.block, self.size.residues
        # The residues of D, and then the others, in one table: where to look is drawn without the value.
        places = np.where(outside, block, 0) + uniform_below(
            np.where(outside, residues - block, block), truths.size
        )
        table = np.concatenate([difference_set(self.size), np.flatnonzero(self._indicator == 0)])
        moved = truths + table[places]
        return np.asarray(moved - residues * (moved >= residues))

    def pmf(self, report: int, value: int) -> Fraction:
        inside, outside = self._each
        return inside if self._indicator[(int(report) - self.possible(value)) % self.reports] else outside

    def supporting(self, histogram: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many reports support each possibility, from how many there are of each kind (last axis)."""
        return _correlation(histogram, self._indicator)[..., : self.k]

    @property
    def _each(self) -> tuple[Fraction, Fraction]:
        """The probability of a residue in one's own block, and of one outside."""
        return (
            Fraction(ONE - self.lies, ONE * self.size.block),
            Fraction(self.lies, ONE * (self.size.residues - self.size.block)),
        )

    @property
    def _indicator(self) -> NDArray[np.int64]:
        flags = np.zeros(self.reports, dtype=np.int64)
        flags[difference_set(self.size)] = 1
        return flags


@lru_cache(maxsize=256)
def _best(k: int, epsilon: Fraction) -> tuple[Size, int]:
    """The design to use, and how often to report from outside one's own block."""
    candidates = [(size, _lies(size, epsilon)) for size in sizes(k)]
    if not candidates:
        raise QueryError(f"there is no design for {k} possibilities: use Hadamard or unary reports")
    least = min(_support(*each).variance(1, 0) for each in candidates)
    near = [each for each in candidates if _support(*each).variance(1, 0) <= 1.03 * least]
    return min(near, key=lambda each: _support(*each).contributions(k).radius(10**6, 0.05))


def _lies(size: Size, epsilon: Fraction) -> int:
    return chance_to_lie(epsilon, Fraction(size.residues - size.block, size.block))


def _support(size: Size, lies: int) -> Support:
    inside = Fraction(ONE - lies, ONE * size.block)
    outside = Fraction(lies, ONE * (size.residues - size.block))
    other = inside * size.overlap + outside * (size.block - size.overlap)
    return Support(own=inside * size.block, other=other)


def _correlation(counts: NDArray[np.int64], flags: NDArray[np.int64]) -> NDArray[np.int64]:
    """Σ_d flags[d]·counts[v + d] for every v, indices modulo the length (last axis).

    Whole numbers, by floating point: below 2^40 in all its error is far below one half.
    """
    length = counts.shape[-1]
    spectrum = np.fft.rfft(counts, axis=-1) * np.conj(np.fft.rfft(flags))
    return np.rint(np.fft.irfft(spectrum, length, axis=-1)).astype(np.int64)
