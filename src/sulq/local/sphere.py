"""One bit about a vector in a ball: on which side of a random plane through the centre it lies.

Duchi, Jordan and Wainwright, 2018, section 4.2.3. A unit vector u is drawn for each person without looking
at their vector x, which is rounded at random to ±r·x/|x| so that its expectation stays x. Whether u points to
its side is told by randomized response, and the report is u or −u accordingly. Given u, either report has a
probability between the lie's and the truth's, so the ratio is randomized response's whatever law u has, and
whatever floating point does to a side: u need not be secret, nor exact.

If u is uniform on the sphere, E[u·sign(u·v)] = c·v for a unit vector v, with c = E|u₁| =
Γ(d/2)/(√π·Γ((d + 1)/2)), so that reports times r/(c·(truth − lie)) have the expectation x.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sulq.errors import QueryError
from sulq.local.coordinates import MOST_COORDINATES
from sulq.local.draws import PARTS, position, rounded
from sulq.local.formed import FormedRandomizer
from sulq.local.received import numbers
from sulq.local.response import RandomizedResponse
from sulq.local.tails import Bounded, people
from sulq.local.tally import Tallied, Tally, sums_of
from sulq.numbers import Numeric, whole
from sulq.privacy.coins import random_bytes

Floats = NDArray[np.float64]

_STEP_PARTS = 2.0**26
# One report's coordinate in steps of 2^-52, with room for the rounding of its length.
_LONGEST = 2**52 + 2**30
# So many numbers are tallied at once, or else one report.
_NUMBERS = 2**18


@dataclass(frozen=True, init=False)
class SphereReport(Tallied, FormedRandomizer):
    """A vector of d numbers with 2-norm at most `norm`, reported as a unit vector, more often on its side.

    Args:
        d: how many coordinates a vector has.
        norm: its 2-norm, at most.
        epsilon: what is promised to the person who reports.

    >>> report = SphereReport(3, norm=2, epsilon=1)
    >>> points = np.tile([1.0, 1.0, 0.0], (100_000, 1))
    >>> error = report.estimate(report.sample(points)) - [1, 1, 0]
    >>> bool(abs(error).max() < report.radius(100_000, beta=1e-9))
    True
    """

    wire = "sphere"

    d: int
    norm: float
    bit: RandomizedResponse

    def __init__(self, d: int, norm: float, epsilon: Numeric) -> None:
        object.__setattr__(self, "d", whole("the number of coordinates", d, 1, MOST_COORDINATES))
        if not 0 <= norm < math.inf:
            raise QueryError(f"a norm is a finite number that is at least 0, got {norm!r}")
        object.__setattr__(self, "norm", float(norm))
        object.__setattr__(self, "bit", RandomizedResponse(epsilon))

    @property
    def ratio(self) -> Fraction:
        return self.bit.ratio

    @property
    def exponent(self) -> None:
        return None

    @property
    def epsilon(self) -> float:
        return self.bit.epsilon

    def sample(self, values: ArrayLike) -> Floats:
        """A unit vector for each row of d numbers."""
        vectors, length = self._read(values)
        directions = self._directions(len(vectors))
        keeps = rounded(position(length, -self.norm, self.norm, 1)).astype(bool)
        sides = self.bit.sample(_towards(directions, vectors) ^ ~keeps)
        directions *= np.where(sides, 1.0, -1.0)[:, np.newaxis]
        return directions

    def pmf(self, report: ArrayLike, value: ArrayLike) -> Fraction:
        """The density, as a multiple of the uniform one on the sphere.

        u = report is told as true, or u = −report as false; both are equally likely. A vector of length |x|
        keeps its direction with the probability (1 + |x|/r)/2.
        """
        vectors, length = self._read(np.asarray(value, dtype=np.float64)[np.newaxis])
        side = bool(_towards(np.asarray(report, dtype=np.float64)[np.newaxis], vectors)[0])
        base, part = position(length, -self.norm, self.norm, 1)
        keeps = Fraction(int(base[0]) * PARTS + int(part[0]), PARTS)
        return 2 * (keeps * self.bit.pmf(True, side) + (1 - keeps) * self.bit.pmf(True, not side))

    def tally(self, reports: ArrayLike, item: str = "") -> Tally:
        """The sum of the vectors, in steps of 2^-52. Reports longer than 1 are brought back to the sphere."""
        received = numbers(reports, self.d)
        total = np.zeros(self.d, dtype=object)
        rows = max(1, _NUMBERS // self.d)
        for start in range(0, len(received), rows):
            total += _in_steps(received[start : start + rows])
        return Tally(item, len(received), total)

    def estimate_of(self, tally: Tally) -> Floats:
        """The mean vector."""
        total = sums_of(tally, self.d, -_LONGEST, _LONGEST).astype(np.float64) / _STEP_PARTS**2
        return np.asarray(self._reach * total) / people(tally.reports)

    def variance(self, n: int) -> float:
        """Of one coordinate, where its mean is 0; a mean of m has m²/n less."""
        return self._reach**2 / self.d / people(n)

    @property
    def tails(self) -> Bounded:
        beyond = self._reach + self.norm
        return Bounded((self.variance(1),), (self.d,), beyond, beyond, 2 * self._reach)

    def radius(self, n: int, beta: float) -> float:
        return self.tails.radius(n, beta)

    def influence(self, n: int) -> float:
        return 2 * self._reach / people(n)

    @property
    def _reach(self) -> float:
        """What a report is multiplied by."""
        log_mean = math.lgamma(self.d / 2) - math.lgamma((self.d + 1) / 2) - math.log(math.pi) / 2
        return self.norm / math.exp(log_mean) / float(self.bit.support.contrast)

    def _read(self, values: ArrayLike) -> tuple[Floats, Floats]:
        """The vectors and their lengths; what is not a number counts as 0."""
        vectors = np.nan_to_num(np.asarray(values, dtype=np.float64), posinf=0.0, neginf=0.0)
        return vectors, np.sqrt(np.einsum("ij,ij->i", vectors, vectors))

    def _directions(self, count: int) -> Floats:
        """Directions are public, so a fast generator may draw them, with a seed nobody else has."""
        generator = np.random.Generator(np.random.SFC64(random_bytes(32).view(np.uint32).tolist()))
        drawn = generator.standard_normal((count, self.d))
        drawn /= np.sqrt(np.einsum("ij,ij->i", drawn, drawn))[:, np.newaxis]
        return drawn


def _in_steps(reports: NDArray[Any]) -> NDArray[np.object_]:
    """The sum of some vectors in steps of 2^-52, exactly, each coordinate rounded to a whole number of them.

    A coordinate is a number of large steps of 2^-26 and a rest of small ones. Both are whole numbers below
    2^27, so floats add up _NUMBERS of them exactly.
    """
    # One row for each coordinate: few long rows are faster than many short ones.
    vectors = np.nan_to_num(reports.T.astype(np.float64, order="C"), posinf=0.0, neginf=0.0)
    # First by the largest coordinate, where that is above 1: squares of large numbers would overflow.
    vectors /= np.maximum(np.abs(vectors).max(axis=0), 1.0)
    # Squares are added one after another, so that a report counts the same to the last bit alone and among
    # others; a sum would go through them in an order that depends on how many reports there are.
    squares = np.add.accumulate(vectors * vectors, axis=0)[-1]
    vectors *= _STEP_PARTS / np.maximum(np.sqrt(squares), 1.0)
    large = np.rint(vectors)
    small = np.rint((vectors - large) * _STEP_PARTS)
    high, low = (part.sum(axis=1).astype(np.int64).astype(object) for part in (large, small))
    return np.asarray(high * int(_STEP_PARTS) + low)


def _towards(directions: Floats, vectors: Floats) -> NDArray[np.bool_]:
    """Whether a direction points to a vector's side."""
    return np.asarray(np.einsum("ij,ij->i", directions, vectors) >= 0)
