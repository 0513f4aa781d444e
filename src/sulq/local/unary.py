"""One bit for each of k possibilities, each randomized by itself.

Symmetric: every bit lies with the probability 1/(e^(ε/2) + 1), as in Erlingsson, Pihur and Korolova,
"RAPPOR", 2014. Optimised: one's own bit is a fair coin and the others are 1 with the probability 1/(e^ε + 1)
(Wang, Blocki, Li and Jha, 2017): no unary report has a smaller variance for rare possibilities.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sulq.local.draws import ONE, below, packed_bits
from sulq.local.frequencies import FrequencyReport
from sulq.local.kary import MOST_POSSIBILITIES
from sulq.local.randomizer import chance_to_lie, codes, usable_epsilon
from sulq.local.received import numbers, within
from sulq.local.support import Support
from sulq.local.tally import Tally, counts_of
from sulq.numbers import Numeric, whole

Packed = NDArray[np.uint8]

# As many reports are turned into columns at once.
_ROWS = 2**14


@dataclass(frozen=True, init=False)
class UnaryResponse(FrequencyReport):
    """A report is k bits in ⌈k/8⌉ bytes: bit v is bit v % 8, counted from the lowest, of byte v // 8.

    Two values differ in two bits, so the ratio is the product of two bits' ratios.

    Args:
        k: how many possibilities there are.
        epsilon: what is promised to the person who reports.
        optimised: True reports the bit of one's own possibility by a fair coin and lies less about the
            others. False lies about all bits alike.

    >>> response = UnaryResponse(10, epsilon=1, optimised=True)
    >>> reports = response.sample(np.arange(100_000) % 5)
    >>> reports.shape, reports.dtype
    ((100000, 2), dtype('uint8'))
    >>> error = response.estimate(reports) - np.repeat([1/5, 0], 5)
    >>> bool(abs(error).max() < response.radius(100_000, beta=1e-9))
    True
    """

    wire = "unary"

    k: int
    optimised: bool
    own: int
    """How often one's own bit is 1, in steps of 2^-64."""
    other: int
    """How often another bit is."""

    def __init__(self, k: int, epsilon: Numeric, optimised: bool = False) -> None:
        object.__setattr__(self, "k", whole("the number of possibilities", k, 2, MOST_POSSIBILITIES))
        object.__setattr__(self, "optimised", bool(optimised))
        other = chance_to_lie(usable_epsilon(epsilon) if optimised else usable_epsilon(epsilon) / 2)
        object.__setattr__(self, "other", other)
        object.__setattr__(self, "own", ONE // 2 if optimised else ONE - other)

    @property
    def support(self) -> Support:
        """A report supports the possibilities whose bits are 1."""
        return Support(Fraction(self.own, ONE), Fraction(self.other, ONE))

    @property
    def ratio(self) -> Fraction:
        """One value's own bit is 1 and the other value's is 0, against the opposite."""
        p, q = self.support.own, self.support.other
        return p * (1 - q) / (q * (1 - p))

    def sample(self, values: ArrayLike) -> Packed:
        """A row of packed bits for each number from 0 to k − 1."""
        truths = codes(values, self.k)
        width = math.ceil(self.k / 8)
        bits = packed_bits(self.other, truths.size * width).reshape(truths.size, width)
        bits[:, -1] &= 0xFF >> (8 * width - self.k)
        # The bit of one's own possibility is set to a coin of its own, the other seven are left as they are.
        cells = np.arange(truths.size) * width + (truths >> 3)
        mask = np.left_shift(1, truths & 7).astype(np.uint8)
        flat = bits.reshape(-1)
        flat[cells] = (flat[cells] & ~mask) | (mask * below(self.own, truths.size))
        return bits

    def pmf(self, report: Packed, value: int) -> Fraction:
        bits: list[int] = unpacked(np.asarray(report)[np.newaxis], self.k)[0].tolist()
        p, q = self.support.own, self.support.other
        true_bit = bits[self.possible(value)]
        ones = sum(bits) - true_bit
        return (p if true_bit else 1 - p) * q**ones * (1 - q) ** (self.k - 1 - ones)

    def tally(self, reports: ArrayLike, item: str = "") -> Tally:
        """In how many reports each bit is 1."""
        width = math.ceil(self.k / 8)
        sent = numbers(reports, width)
        # Which bytes there are, column by column, and then how often each of their bits is 1.
        histograms = np.zeros((width, 256), dtype=np.int64)
        for start in range(0, len(sent), _ROWS):
            bytes_ = within(sent[start : start + _ROWS], 0, 255, width)
            for histogram, column in zip(histograms, bytes_.T.copy(), strict=True):
                histogram += np.bincount(column, minlength=256)
        counts = histograms @ unpacked(np.arange(256, dtype=np.uint8)[:, np.newaxis], 8).astype(np.int64)
        return Tally(item, len(sent), counts.reshape(-1)[: self.k])

    def estimate_of(self, tally: Tally) -> NDArray[np.float64]:
        """The k frequencies."""
        return self.support.frequencies(counts_of(tally, self.k), tally.reports)


def unpacked(reports: Packed, k: int) -> Packed:
    """Reports of a unary response as a matrix of zeros and ones, a row for each report.

    >>> unpacked(np.array([[3, 1]], dtype=np.uint8), 10).tolist()
    [[1, 1, 0, 0, 0, 0, 0, 0, 1, 0]]
    """
    return np.unpackbits(reports, axis=1, count=k, bitorder="little")
