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

import numpy as np
from numpy.typing import ArrayLike

from sulq.local.directions import DirectionReport, Floats, Stream, columns_of
from sulq.local.draws import PARTS, position, rounded
from sulq.local.response import RandomizedResponse
from sulq.local.tails import people
from sulq.numbers import Numeric


@dataclass(frozen=True, init=False)
class SphereReport(DirectionReport):
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

    bit: RandomizedResponse

    def __init__(self, d: int, norm: float, epsilon: Numeric) -> None:
        super().__init__(d, norm)
        object.__setattr__(self, "bit", RandomizedResponse(epsilon))

    @property
    def ratio(self) -> Fraction:
        return self.bit.ratio

    @property
    def epsilon(self) -> float:
        return self.bit.epsilon

    def _draw(self, rows: Floats, reports: Floats, stream: Stream) -> None:
        vectors = columns_of(rows)
        directions = stream.fast.standard_normal(vectors.shape)
        length = np.sqrt(_inner(vectors, vectors))
        keeps = rounded(position(length, -self.norm, self.norm, 1)).astype(bool)
        sides = self.bit.sample((_inner(directions, vectors) >= 0) ^ ~keeps)
        directions *= np.where(sides, 1.0, -1.0) / np.sqrt(_inner(directions, directions))
        reports[:] = directions

    def pmf(self, report: ArrayLike, value: ArrayLike) -> Fraction:
        """The density, as a multiple of the uniform one on the sphere.

        u = report is told as true, or u = −report as false; both are equally likely. A vector of length |x|
        keeps its direction with the probability (1 + |x|/r)/2.
        """
        vector, direction = (columns_of(np.asarray([each], dtype=np.float64)) for each in (value, report))
        side = bool(_inner(direction, vector)[0] >= 0)
        base, part = position(np.sqrt(_inner(vector, vector)), -self.norm, self.norm, 1)
        keeps = Fraction(int(base[0]) * PARTS + int(part[0]), PARTS)
        return 2 * (keeps * self.bit.pmf(True, side) + (1 - keeps) * self.bit.pmf(True, not side))

    def variance(self, n: int) -> float:
        """Of one coordinate, where its mean is 0; a mean of m has m²/n less."""
        return self.reach**2 / self.d / people(n)

    @property
    def reach(self) -> float:
        log_mean = math.lgamma(self.d / 2) - math.lgamma((self.d + 1) / 2) - math.log(math.pi) / 2
        return self.norm / math.exp(log_mean) / float(self.bit.support.contrast)


def _inner(one: Floats, other: Floats) -> Floats:
    """The inner products of columns, each added up in whichever order is fast."""
    return np.asarray(np.einsum("ij,ij->j", one, other))
