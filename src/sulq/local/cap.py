"""A direction from a cap around a vector, mostly: the least variance known for vectors in a ball.

PrivUnit: Bhowmick, Duchi, Freudiger, Kapoor and Rogers, "Protection Against Reconstruction and Its
Applications in Private Federated Learning", 2018. Of all ε-local randomizers that are without bias for unit
vectors it has the least error, if cap and chance are chosen well (Asi, Feldman and Talwar, "Optimal
Algorithms for Mean Estimation under Local Differential Privacy", 2022). A unit vector y is reported as a
direction u with u·y ≥ γ with a probability p, and else as one with u·y < γ.

Directions are drawn without looking at y until one is on the side that was drawn, and reported as they are.
If Q(u) is how likely a direction is to be drawn, and Q(C) how likely the cap is, a report u has the
probability p·Q(u)/Q(C) in the cap and (1 − p)·Q(u)/(1 − Q(C)) elsewhere. For two vectors these differ by at
most p/(1 − p)·(1 − c)/c, if no cap is less likely than c. Floats round a direction, an inner product and γ:
that moves the edge of a cap, and with it Q(C), by far less than one part in 10^9. c is the mass of the cap
on the sphere less one part in a million, rounded down to a multiple of 2^-24; at γ = 0 it is one half,
exactly, because a direction is as likely as its opposite. So Q need not be exact, and how a report is
rounded tells nothing of y.

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
from sulq.local.directions import DirectionReport, Floats, columns_of, inner
from sulq.local.draws import ONE, PARTS, Position, below, position, rounded, uniform_below
from sulq.local.randomizer import logarithm, usable_epsilon
from sulq.local.tails import people
from sulq.numbers import Numeric

FEW = 16
"""So many people, or fewer, draw as often whichever side they report: a device has the rows of one person."""
_LARGE = 2.0**400


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

    def _drawn(self, vectors: Floats, generator: np.random.Generator) -> Floats:
        towards = self._rounded(vectors)
        outside = below(self.lies, towards.shape[1])
        if len(outside) <= FEW:
            return self._until_both_sides(towards, outside, generator)
        reports, pending = np.empty_like(towards), np.arange(len(outside))
        while pending.size:
            drawn, along, lengths = _tried(towards, generator)
            # A direction is as likely as its opposite: of both, the one that may be in the cap is looked at.
            signs = np.where(~outside & (along < 0), -1.0, 1.0)
            met = np.where(outside, along < self.threshold, np.abs(along) >= self.threshold)
            taken, left = np.flatnonzero(met), np.flatnonzero(~met)
            reports[:, pending[taken]] = drawn[:, taken] * (signs / lengths)[taken]
            pending, outside, towards = pending[left], outside[left], towards[:, left]
        return reports

    def _until_both_sides(
        self, towards: Floats, outside: NDArray[np.bool_], generator: np.random.Generator
    ) -> Floats:
        """Each person draws until a direction of either side was met, and reports the first of their side.

        Sides are met in an order that says nothing of where in its side a direction lies, and the side that
        is reported is drawn beside that. So how many directions a device drew, and how long that took, says
        nothing of the report: it hangs on the mass of a cap alone.
        """
        reports, pending = np.empty_like(towards), np.arange(len(outside))
        seen = np.zeros((2, len(outside)), dtype=bool)
        while pending.size:
            drawn, along, lengths = _tried(towards[:, pending], generator)
            side = (along < self.threshold).astype(np.int64)
            taken = np.flatnonzero((side == outside[pending]) & ~seen[side, pending])
            reports[:, pending[taken]] = drawn[:, taken] / lengths[taken]
            seen[side, pending] = True
            pending = np.flatnonzero(~seen.all(axis=0))
        return reports

    def pmf(self, report: ArrayLike, value: ArrayLike) -> Fraction:
        """The density, as a multiple of that of a direction drawn at random."""
        direction = np.asarray(report, dtype=np.float64)
        (vector,), (share,) = (
            each.T for each in self._read(columns_of(np.asarray([value], dtype=np.float64)))
        )
        inside, outside = self.densities
        return outside + (inside - outside) * self._in_cap(direction, vector, float(share))

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

    def _read(self, vectors: Floats) -> tuple[Floats, Floats]:
        """The directions of vectors, and how long they are as part of the largest length.

        A vector of zeros, or nearly so, has the direction of the first coordinate.
        """
        # Squares of very large and very small numbers are not floats.
        scaled = np.clip(vectors / (self.norm or 1.0), -_LARGE, _LARGE)
        lengths = np.sqrt(inner(scaled, scaled))
        none = lengths < 1 / _LARGE
        scaled *= ~none / np.where(none, 1.0, lengths)
        scaled[0] += none
        return scaled, np.minimum(np.where(none, 0.0, lengths), 1.0) * (self.norm > 0)

    def _rounded(self, vectors: Floats) -> Floats:
        """Unit vectors whose expectations are the vectors, but for the factor r. All are columns."""
        directions, shares = self._read(vectors)
        if self.d == 1:
            return np.asarray(np.where(rounded(_upper(shares)) == 1, directions, -directions))
        everyone = np.arange(len(shares))
        which = uniform_below(4 * (self.d - 1), len(shares))
        heights, place = _heights(shares, self.d), 1 + (which >> 2)
        t = np.where(which & 1, heights[0], heights[1])
        far = np.where(which & 2, 1.0, -1.0) * np.sqrt(np.maximum(1 - t * t, 0.0))
        turned = far * directions[place, everyone] / (1 + np.abs(directions[0]))
        made: Floats = (t - turned) * directions
        made[place, everyone] += far
        made[0] -= turned * np.copysign(1.0, directions[0])
        # A vector that is shorter by rounding would have a smaller cap.
        made /= np.sqrt(inner(made, made))
        return made

    def _in_cap(self, direction: Floats, vector: Floats, share: float) -> Fraction:
        """How often a direction is in the cap of what a vector is rounded to."""
        along = float(direction @ vector)
        if self.d == 1:
            base, part = _upper(np.array([share]))
            up = Fraction(int(base[0]) * PARTS + int(part[0]), PARTS)
            return up * (along >= self.threshold) + (1 - up) * (-along >= self.threshold)
        turned = vector[1:] / (1 + abs(vector[0])) * (along + math.copysign(1.0, vector[0]) * direction[0])
        across = direction[1:] - turned
        met = 0
        for t in _heights(np.array([share]), self.d)[:, 0].tolist():
            far = math.sqrt(max(1 - t * t, 0.0))
            met += sum(int((t * along + far * side >= self.threshold).sum()) for side in (across, -across))
        return Fraction(met, 4 * (self.d - 1))


def _upper(shares: Floats) -> Position:
    """In one dimension, how often a vector that is so long as part of the largest length keeps its sign."""
    return position((1 + shares) / 2, 0.0, 1.0, 1)


def _heights(shares: Floats, d: int) -> Floats:
    """a + b and a − b, for vectors that are so long as part of the largest length."""
    b = np.minimum(np.sqrt((1 - shares * shares) / d), 1 - shares)
    return np.stack([shares + b, shares - b])


def _tried(towards: Floats, generator: np.random.Generator) -> tuple[Floats, Floats, Floats]:
    """Random vectors in all directions alike, how far along unit vectors they point, and their lengths."""
    drawn = generator.standard_normal(towards.shape)
    lengths = np.sqrt(inner(drawn, drawn))
    return drawn, inner(drawn, towards) / lengths, lengths
