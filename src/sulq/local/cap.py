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

A vector of length a·r along v is first rounded to a unit vector y = t·v + √(1 − t²)·w, for a random w
across v and t = a ± b, each with probability 1/2, where b² = (1 − a²)/d, or b = 1 − a if that is less. So y
has the expectation a·v, and varies alike in all directions if a = 0.

With T = u₁ of a uniform u, and M = E[T; T ≥ γ] = (1 − γ²)^((d − 1)/2)·Γ(d/2)/((d − 1)·√π·Γ((d − 1)/2)),
reports on y have the expectation M·(p − Q(C))/(Q(C)·(1 − Q(C)))·y. And E[T²; T ≥ γ] = ((d − 1)·γ·M +
Q(C))/d, by parts, gives τ, the expected square of how far along y they are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from sulq.local.caps import MASSES, best_cap, cap_mass, moments_of
from sulq.local.directions import DirectionReport, Floats, random_directions, vectors_of
from sulq.local.draws import ONE, PARTS, Position, below, position, rounded
from sulq.local.randomizer import logarithm, usable_epsilon
from sulq.local.tails import people
from sulq.numbers import Numeric


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

    def sample(self, values: ArrayLike) -> Floats:
        """A unit vector for each row of d numbers."""
        towards = self._rounded(values)
        count = len(towards)
        outside = below(self.lies, count)
        reports, pending = np.empty((count, self.d)), np.arange(count)
        while pending.size:
            drawn, out = random_directions(pending.size, self.d), outside[pending]
            along = np.einsum("ij,ij->i", drawn, towards[pending])
            # A direction is as likely as its opposite: of both, the one that may be in the cap is looked at.
            drawn *= np.where(~out & (along < 0), -1.0, 1.0)[:, np.newaxis]
            met = np.where(out, along < self.threshold, np.abs(along) >= self.threshold)
            reports[pending[met]] = drawn[met]
            pending = pending[~met]
        return reports

    def pmf(self, report: ArrayLike, value: ArrayLike) -> Fraction:
        """The density, as a multiple of that of a direction drawn at random.

        Exactly for vectors of the largest length; for others to some ten digits, because how often they are
        rounded to a vector whose cap has the report in it is an integral.
        """
        vectors, shares = self._read(np.asarray(value, dtype=np.float64)[np.newaxis])
        along = float(np.asarray(report, dtype=np.float64) @ vectors[0])
        upper, lower = (self._in_cap(along, float(t)) for t in _heights(shares, self.d)[:, 0])
        inside, outside = self.densities
        base, part = self._upper(shares)
        up = Fraction(int(base[0]) * PARTS + int(part[0]), PARTS)
        return outside + (inside - outside) * (up * upper + (1 - up) * lower)

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

    def _read(self, values: ArrayLike) -> tuple[Floats, Floats]:
        """The directions of vectors, and how long they are as part of the largest length."""
        vectors, length = vectors_of(values)
        return _directions(vectors), np.minimum(length / self.norm, 1.0) if self.norm > 0 else 0 * length

    def _rounded(self, values: ArrayLike) -> Floats:
        """Unit vectors whose expectations are the vectors, but for the factor r."""
        vectors, shares = self._read(values)
        heights = _heights(shares, self.d)
        t = np.where(rounded(self._upper(shares)) == 1, heights[0], heights[1])[:, np.newaxis]
        across = random_directions(len(vectors), self.d)
        across -= np.einsum("ij,ij->i", across, vectors)[:, np.newaxis] * vectors
        lengths = np.sqrt(np.einsum("ij,ij->i", across, across))[:, np.newaxis]
        across /= np.where(lengths > 0, lengths, 1.0)
        return np.asarray(t * vectors + np.sqrt(np.maximum(1 - t * t, 0.0)) * across)

    def _upper(self, shares: Floats) -> Position:
        """How often t is a + b. In one dimension t is 1 or −1, so that this says what a is."""
        return position((1 + shares) / 2 if self.d == 1 else np.full(len(shares), 0.5), 0.0, 1.0, 1)

    def _in_cap(self, along: float, t: float) -> Fraction:
        """How likely a report is in the cap of t·v + √(1 − t²)·w, for a report that is so far along v."""
        across = math.sqrt(max(0.0, 1 - t * t) * max(0.0, 1 - along * along))
        if across == 0:
            return Fraction(int(t * along >= self.threshold))
        least = (self.threshold - t * along) / across
        if abs(least) > 1:
            return Fraction(int(least < 0))
        mass = cap_mass(self.d - 1, abs(least))
        return Fraction(mass if least >= 0 else 1 - mass)


def _heights(shares: Floats, d: int) -> Floats:
    """a + b and a − b, for vectors that are so long as part of the largest length."""
    if d == 1:
        return np.stack([np.ones_like(shares), -np.ones_like(shares)])
    b = np.minimum(np.sqrt((1 - shares * shares) / d), 1 - shares)
    return np.stack([shares + b, shares - b])


def _directions(vectors: Floats) -> Floats:
    """Vectors brought to length 1; a vector of zeros has the direction of the first coordinate."""
    largest = np.abs(vectors).max(axis=1, initial=0.0)[:, np.newaxis]
    # First by the largest coordinate: squares of very large and very small numbers are not floats.
    scaled = vectors / np.where(largest > 0, largest, 1.0)
    scaled[:, 0] += largest[:, 0] == 0
    return np.asarray(scaled / np.sqrt(np.einsum("ij,ij->i", scaled, scaled))[:, np.newaxis])
