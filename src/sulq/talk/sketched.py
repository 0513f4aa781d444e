"""The law of numbers that are estimated from sketches, with the noise of sums that go in beside them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import NormalDist
from typing import cast

import numpy as np

from sulq.errors import QueryError
from sulq.talk.laws import Exactly, Noise, PlainLaw, Value, shaped

FEWEST_DEGREES = 30
"""With fewer, Student's quantiles are not what the expansion says."""


@dataclass(frozen=True)
class Sketched:
    """Estimates from sketches, each with a deviation of its own, plus noisy sums times weights.

    Errors of estimates follow Student's law: given one sketch, the estimate is a sum of the other's
    independent errors, whose size the sketch itself says. Errors of several numbers go together, since they
    are made of the same sketches, so the chance of a miss is divided among them.

    Args:
        deviations: one standard deviation of each number's error from sketches; 0 where there is none.
        degrees: of freedom: one less than there are buckets.
        laws: the laws of the noisy sums that are added.
        weights: for each law and each number, the sum of the weights of such sums, without their signs.
        shape: the shape of the answer.
        numbers: among how many numbers the chance of a miss is divided; 0 for as many as there are here.

    >>> noise = Noise("laplace", Fraction(4), Fraction(1), 1)
    >>> law = Sketched((10.0, 0.0), 1023, (noise,), ((0.0, 1.0),), (2,))
    >>> law.each(0.05).round(1).tolist(), law.deviation.round(1).tolist()
    ([19.6, 12.0], [10.0, 5.6])
    """

    deviations: tuple[float, ...]
    degrees: int
    laws: tuple[Noise | Exactly | Sketched, ...]
    weights: tuple[tuple[float, ...], ...]
    shape: tuple[int, ...]
    numbers: int = 0

    def __post_init__(self) -> None:
        numbers = len(self.deviations)
        if self.degrees < FEWEST_DEGREES or numbers != math.prod(self.shape):
            raise QueryError(
                f"a law of sketches has at least {FEWEST_DEGREES} degrees of freedom, and a deviation for "
                "each number"
            )
        if len(self.laws) != len(self.weights) or any(len(each) != numbers for each in self.weights):
            raise QueryError("a law of sketches has weights for each law and each number")

    @property
    def power(self) -> Fraction:
        return Fraction(1, 2)

    @property
    def deviation(self) -> Value:
        """Parts of one number may go together, so their deviations are added up."""
        spread = np.array(self.deviations)
        for law, weights in zip(self.laws, self.weights, strict=True):
            spread = spread + np.array(weights) * law.deviation
        return shaped(spread, self.shape)

    def radius(self, beta: float) -> Value:
        return self.each(beta / (self.numbers or len(self.deviations)))

    def each(self, beta: float) -> Value:
        """Each number alone; the chance is divided among what it is made of."""
        made_of = [np.array(self.deviations), *map(np.array, self.weights)]
        sources = np.maximum(1, sum((each > 0).astype(int) for each in made_of))
        off = np.zeros(len(self.deviations))
        for many in np.unique(sources).tolist():
            radii = [quantile(beta / many, self.degrees), *(law.each(beta / many) for law in self.laws)]
            worst = sum(each * radius for each, radius in zip(made_of, radii, strict=True))
            off = np.where(sources == many, worst, off)
        return shaped(off, self.shape)

    def times(self, factor: float) -> Sketched:
        scaled = tuple(tuple(abs(factor) * each for each in weights) for weights in self.weights)
        return replace(self, deviations=tuple(abs(factor) * each for each in self.deviations), weights=scaled)

    @property
    def largest(self) -> Sketched:
        """The law of the number that is furthest off, for whoever wants one law for all numbers."""
        weights = tuple((max(each),) for each in self.weights)
        numbers = self.numbers or len(self.deviations)
        return Sketched((max(self.deviations),), self.degrees, self.laws, weights, (), numbers)


def quantile(beta: float, degrees: int) -> float:
    """How many deviations Student's variable is off by, but for a chance of `beta`.

    Fisher's expansion; with 63 degrees it is off by less than 10^-4 of itself down to β = 10^-6.

    Args:
        beta: the chance.
        degrees: the degrees of freedom.

    >>> round(quantile(0.05, 63), 3), round(quantile(0.05, 10**6), 3)
    (1.998, 1.96)
    """
    if not 0 < beta < 1:
        raise QueryError(f"beta must lie strictly between 0 and 1, not {beta!r}")
    z, m = NormalDist().inv_cdf(1 - beta / 2) if beta > 1e-12 else _far(beta), degrees
    terms = [
        z,
        (z**3 + z) / 4 / m,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96 / m**2,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384 / m**3,
    ]
    return float(sum(terms))


def _far(beta: float) -> float:
    """A bound on the quantile of a bell curve far out: Pr[|Z| > z] ≤ exp(−z²/2) for z ≥ 1."""
    return math.sqrt(2 * math.log(1 / beta))


def one_law(law: object) -> PlainLaw:
    """One law for all sums of an answer: that of the one that is furthest off, where they differ.

    Args:
        law: the law of the answer's error.
    """
    if isinstance(law, Sketched):
        return cast(PlainLaw, law.largest)
    if not isinstance(law, PlainLaw):
        raise QueryError("these numbers are sums, and their errors have the law of sums")
    return law
