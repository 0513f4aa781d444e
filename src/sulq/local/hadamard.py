"""One bit of a Hadamard code: on which side of a random cut through the possibilities one is.

Row j of Sylvester's matrix has the sign (−1)^(number of ones in j & v) for possibility v. The row is drawn
for each person without looking at the value, and the sign is told by randomized response. Bassily and Smith,
"Local, Private, Efficient Protocols for Succinct Histograms", 2015; Acharya, Sun and Zhang, "Hadamard
Response", 2019.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sulq.local.draws import ONE, below
from sulq.local.frequencies import NumberedReport
from sulq.local.kary import MOST_POSSIBILITIES
from sulq.local.randomizer import chance_to_lie, codes, usable_epsilon
from sulq.local.support import Support
from sulq.numbers import Numeric, whole
from sulq.privacy.coins import random_bytes


@dataclass(frozen=True, init=False)
class HadamardResponse(NumberedReport):
    """A row of the matrix and one bit, as the number 2·row + bit. The best there is for small ε and many k.

    Args:
        k: how many possibilities there are.
        epsilon: what is promised to the person who reports.

    >>> response = HadamardResponse(100, epsilon="1/2")
    >>> reports = response.sample(np.arange(100_000) % 50)
    >>> bool(reports.max() < response.reports == 256)
    True
    >>> error = response.estimate(reports) - np.repeat([1/50, 0], 50)
    >>> bool(abs(error).max() < response.radius(100_000, beta=1e-9))
    True
    """

    wire = "hadamard"

    k: int
    lies: int
    """How often the bit is a lie, in steps of 2^-64."""

    def __init__(self, k: int, epsilon: Numeric) -> None:
        object.__setattr__(self, "k", whole("the number of possibilities", k, 2, MOST_POSSIBILITIES))
        object.__setattr__(self, "lies", chance_to_lie(usable_epsilon(epsilon)))

    @property
    def rows(self) -> int:
        """The size of the matrix: the first power of two that is not below k."""
        return 1 << (self.k - 1).bit_length()

    @property
    def reports(self) -> int:
        """How many different reports there are: 0, …, reports − 1."""
        return 2 * self.rows

    @property
    def support(self) -> Support:
        """A report supports the possibilities on the side it tells: another's are half of the rows'."""
        return Support(Fraction(ONE - self.lies, ONE), Fraction(1, 2))

    @property
    def both(self) -> tuple[Fraction, Fraction, Fraction]:
        """The chance to support possibilities a and a + 1: if one is one's own, and at least and at most if
        neither is.

        Relative to one's own column c the two have the signs of columns a ^ c and (a + 1) ^ c. Those are
        different columns and neither is the constant one, so their signs are independent and balanced.
        """
        return self.support.own / 2, Fraction(1, 4), Fraction(1, 4)

    @property
    def ratio(self) -> Fraction:
        return Fraction(ONE - self.lies, self.lies)

    def sample(self, values: ArrayLike) -> NDArray[np.int64]:
        """A number from 0 to reports − 1 for each number from 0 to k − 1."""
        truths = codes(values, self.k)
        rows = (random_bytes(4 * truths.size).view(np.uint32) & (self.rows - 1)).astype(np.int64)
        return 2 * rows + (_odd(rows & truths) ^ below(self.lies, truths.size))

    def pmf(self, report: int, value: int) -> Fraction:
        row, bit = divmod(int(report), 2)
        true = (row & self.possible(value)).bit_count() % 2 == bit
        return (self.support.own if true else 1 - self.support.own) / self.rows

    def supporting(self, histogram: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many reports support each possibility, from how many there are of each kind (last axis)."""
        kinds = histogram.reshape(*histogram.shape[:-1], self.rows, 2)
        balance = transformed(kinds[..., 0] - kinds[..., 1])
        return np.asarray((balance + histogram.sum(axis=-1, keepdims=True)) // 2)[..., : self.k]


def transformed(vectors: NDArray[np.int64]) -> NDArray[np.int64]:
    """The product of Sylvester's matrix with vectors (last axis) whose length is a power of two.

    >>> transformed(np.array([1, 0, 0, 2])).tolist()
    [3, -1, -1, 3]
    """
    result, half = vectors, 1
    while half < vectors.shape[-1]:
        pairs = result.reshape(*vectors.shape[:-1], -1, 2, half)
        first, second = pairs[..., 0, :], pairs[..., 1, :]
        result = np.stack([first + second, first - second], axis=-2).reshape(vectors.shape)
        half *= 2
    return result


def _odd(numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether a number has an odd number of ones."""
    return (np.bitwise_count(numbers) & 1).astype(bool)
