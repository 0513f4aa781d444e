"""The error of sums of vectors whose numbers got their noise together."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from sulq.errors import QueryError
from sulq.privacy.spherical import SphericalLaplace
from sulq.privacy.tolerances import per_number


@dataclass(frozen=True)
class VectorNoise:
    """Discrete noise that is drawn for whole vectors, as a curator adds it under pure ε.

    The numbers of one vector are uncorrelated and not independent: if one is far off, so are others. A
    weighted sum of them is as far off as one of them times the 2-norm of the weights.

    Args:
        parameter: the scale of the noise, in steps of the grid.
        width: how many numbers a vector has.
        step: one step of the grid, in the unit of the answer.
        numbers: how many numbers there are in all.
        factor: what the numbers were multiplied by afterwards.

    >>> law = VectorNoise(Fraction(20), width=5, step=Fraction(1), numbers=5)
    >>> law.radius(0.05), law.each(0.05), round(law.deviation, 2)
    (141.0, 99.0, 48.99)
    """

    parameter: Fraction
    width: int
    step: Fraction
    numbers: int
    factor: float = 1.0

    def __post_init__(self) -> None:
        if self.step <= 0 or self.numbers < 1:
            raise QueryError("a law of noise has a positive step and at least one number")
        if self.numbers % self.distribution.width:
            raise QueryError("noise for vectors is in a multiple of their width")

    @classmethod
    def of(cls, noise: SphericalLaplace, step: Fraction, numbers: int) -> VectorNoise:
        """The law of noise that was added on a grid."""
        return cls(noise.scale, noise.width, step, numbers)

    @property
    def distribution(self) -> SphericalLaplace:
        """The noise itself, on the integers."""
        return SphericalLaplace(self.parameter, self.width)

    @property
    def power(self) -> Fraction:
        return Fraction(1)

    @property
    def deviation(self) -> float:
        return self.distribution.std * float(self.step) * self.factor

    def radius(self, beta: float) -> float:
        """Vectors are independent; within one, chances are added up."""
        return self.each(per_number(beta, self.numbers // self.width) / self.width)

    def each(self, beta: float) -> float:
        exact = self.distribution.radius(beta) * self.step
        nearest = float(exact)
        return (nearest if nearest >= exact else math.nextafter(nearest, math.inf)) * self.factor

    def times(self, factor: float) -> VectorNoise:
        return replace(self, factor=self.factor * factor)
