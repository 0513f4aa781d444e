"""A direction from a cap around a vector, mostly: the least variance known for vectors in a ball.

PrivUnit: Bhowmick, Duchi, Freudiger, Kapoor and Rogers, "Protection Against Reconstruction and Its
Applications in Private Federated Learning", 2018. Of all ε-local randomizers that are without bias for unit
vectors it has the least error, if cap and chance are chosen well (Asi, Feldman and Talwar, "Optimal
Algorithms for Mean Estimation under Local Differential Privacy", 2022). A unit vector y is reported as a
direction u with u·y ≥ γ with a probability p, and else as one with u·y < γ.

Directions are drawn without looking at y until one is on the side that was drawn, and reported as they are.
If Q(u) is how likely a direction is to be drawn, and Q(C) how likely the cap is, a report u has the
probability p·Q(u)/Q(C) in the cap and (1 − p)·Q(u)/(1 − Q(C)) elsewhere. For two vectors these differ by at
most p/(1 − p)·(1 − c)/c, if no cap is less likely than c. So Q need not be exact, and how a report is rounded
tells nothing of y. Nor do the directions that were drawn in vain, as long as nobody knows them: they are made
of words that nobody can foretell (`sulq.local.directions.Stream`), and a word is used once.

c is the mass of the cap on the sphere less one part in 2^20, rounded down to a multiple of 2^-24. That
leaves room for how Q differs from uniform. Random words are whole numbers: that changes the mass by less
than 2^-30 (`sulq.loops.plain_directions` has the proof). Series that end, and floats that round a direction,
an inner product and γ, move the edge of a cap by less than x = 10^-12 + d·2^-52. At the edge of a cap with
the mass 1/128 or more, u·y has a density of at most 2000 or 3·√d times that mass, whichever is more. So its
mass is off by less than 2000·x or 3·√d·x parts: 10^-8 for 10,000 coordinates, and with the words 0.9 parts
in 2^20 for 2^20, the most there are. At γ = 0 the mass is one half, exactly, because a direction is as
likely as its opposite.

A vector of length a·r along v is first rounded to a unit vector y = t·v ± √(1 − t²)·w. There t is a + b or
a − b with b² = (1 − a²)/d, or b = 1 − a if that is less, and w is one of d − 1 unit vectors across v and each
other: w_j = e_j − v_j/(1 + |v₁|)·(v ± e₁) with the sign of v₁, for j from 2 to d (Householder's reflection).
All are equally likely. So y has the expectation a·v, and varies alike in all directions if a = 0.

With T = u₁ of a uniform u, and M = E[T; T ≥ γ] = (1 − γ²)^((d − 1)/2)·Γ(d/2)/((d − 1)·√π·Γ((d − 1)/2)),
reports on y have the expectation M·(p − Q(C))/(Q(C)·(1 − Q(C)))·y. And E[T²; T ≥ γ] = ((d − 1)·γ·M +
Q(C))/d, by parts, gives τ, the expected square of how far along y they are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sulq.local.caps import MASSES, best_cap, moments_of
from sulq.local.directions import DirectionReport, Floats, Stream
from sulq.local.draws import ONE, PARTS, Position, below, position, rounded
from sulq.local.randomizer import logarithm, usable_epsilon
from sulq.local.tails import people
from sulq.loops.plain_directions import heights, inner, units_of
from sulq.numbers import Numeric

FEW = 16
"""So many people, or fewer, draw as often whichever side they report: a device has the rows of one person."""


@dataclass(frozen=True, init=False)
class CapReport(DirectionReport):
    """A vector of d numbers with 2-norm at most `norm`, reported as a unit vector, mostly near its own.

    Args:
        d: how many coordinates a vector has.
        norm: its 2-norm, at most.
        epsilon: what is promised to the person who reports.

    >>> report = CapReport(3, norm=2, epsilon=1)
    >>> points = np.tile([1.0, 1.0, 0.0], (100_000, 1))
    >>> error = report.estimate(report.sample(points)) - [1, 1, 0]
    >>> bool(abs(error).max() < report.radius(100_000, beta=1e-9))
    True
    """

    wire = "cap"

    threshold: float
    """γ: how far along the vector the cap begins."""
    mass: int
    """How likely a cap is to be met, in steps of 2^-24, rounded down."""
    lies: int
    """How often the report is from outside the cap, in steps of 2^-64."""

    def __init__(self, d: int, norm: float, epsilon: Numeric) -> None:
        super().__init__(d, norm)
        best = best_cap(self.d, usable_epsilon(epsilon))
        for name, value in best._asdict().items():
            object.__setattr__(self, name, value)

    @property
    def ratio(self) -> Fraction:
        inside, outside = self.densities
        return inside / outside

    @property
    def epsilon(self) -> float:
        return logarithm(self.ratio)

    @property
    def densities(self) -> tuple[Fraction, Fraction]:
        """How much likelier a direction in the cap is than if it were drawn at random, and one outside."""
        return Fraction((ONE - self.lies) * MASSES, ONE * self.mass), Fraction(
            self.lies * MASSES, ONE * (MASSES - self.mass)
        )

    def _draw(self, rows: Floats, reports: Floats, stream: Stream) -> None:
        towards = self._rounded(rows, stream)
        outside = below(self.lies, len(rows))
        if len(rows) <= FEW:
            self._until_both_sides(towards, outside, reports, stream)
        else:
            stream.met(self.threshold, towards, outside, reports)

    def _until_both_sides(
        self, towards: Floats, outside: NDArray[np.bool_], reports: Floats, stream: Stream
    ) -> None:
        """Each person draws until a direction of either side was met, and reports the first of their side.

        Sides are met in an order that says nothing of where in its side a direction lies, and the side that
        is reported is drawn beside that. So how many directions a device drew, and how long that took, says
        nothing of the report: it hangs on the mass of a cap alone.
        """
        pending = np.arange(len(outside))
        seen = np.zeros((2, len(outside)), dtype=bool)
        while pending.size:
            drawn = stream.normals(self.d, len(pending))
            lengths = np.sqrt(inner(drawn, drawn))
            side = (inner(drawn, towards[:, pending]) / lengths < self.threshold).astype(np.int64)
            taken = np.flatnonzero((side == outside[pending]) & ~seen[side, pending])
            reports[:, pending[taken]] = drawn[:, taken] / lengths[taken]
            seen[side, pending] = True
            pending = np.flatnonzero(~seen.all(axis=0))

    def pmf(self, report: ArrayLike, value: ArrayLike) -> Fraction:
        """The density, as a multiple of that of a direction drawn at random."""
        direction = np.asarray(report, dtype=np.float64)
        read = units_of(np.asarray([value], dtype=np.float64).T, self.norm)
        inside, outside = self.densities
        return outside + (inside - outside) * self._in_cap(direction, read.directions[:, 0], read.shares)

    def variance(self, n: int) -> float:
        """Of one coordinate, at most: reach²/d, that of the zero vector, or reach²·τ − r² if that is more.

        Along v the expected square is (1 − a²)/d + a²·τ times reach², at most, less the square of a·r; across
        v it is at most 1/d. In between it is between, in proportion to the square of the cosine.
        """
        square = moments_of(self.d, self.threshold, self.lies).square
        return max(self.reach**2 / self.d, self.reach**2 * square - self.norm**2) / people(n)

    @property
    def reach(self) -> float:
        return self.norm / moments_of(self.d, self.threshold, self.lies).mean

    def _rounded(self, rows: Floats, stream: Stream) -> Floats:
        """Unit vectors, as columns, whose expectations are the rows, but for the factor r."""
        if self.d > 1:
            return stream.aimed(rows, self.norm)
        directions, shares = units_of(rows.T, self.norm)
        return np.asarray(np.where(rounded(_upper(shares)) == 1, directions, -directions))

    def _in_cap(self, direction: Floats, vector: Floats, share: Floats) -> Fraction:
        """How often a direction is in the cap of what a vector is rounded to."""
        along = float(direction @ vector)
        if self.d == 1:
            base, part = _upper(share)
            up = Fraction(int(base[0]) * PARTS + int(part[0]), PARTS)
            return up * (along >= self.threshold) + (1 - up) * (-along >= self.threshold)
        turned = vector[1:] / (1 + abs(vector[0])) * (along + math.copysign(1.0, vector[0]) * direction[0])
        across = direction[1:] - turned
        met = 0
        for t in np.concatenate(heights(share, self.d)).tolist():
            far = math.sqrt(max(1 - t * t, 0.0))
            met += sum(int((t * along + far * side >= self.threshold).sum()) for side in (across, -across))
        return Fraction(met, 4 * (self.d - 1))


def _upper(shares: Floats) -> Position:
    """In one dimension, how often a vector that is so long as part of the largest length keeps its sign."""
    return position((1 + shares) / 2, 0.0, 1.0, 1)
