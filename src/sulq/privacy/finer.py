"""Gaussian noise on a grid that is finer than that of the sum it is added to.

Discrete Gaussian noise of variance σ² costs as much as continuous noise of variance σ² − 4, in steps of its
own grid, if Gaussian noise is accounted exactly (`sulq.privacy.gaussian`). If σ is few steps, that is a large
part of it. So there the sum, a whole number of steps, is first put on a grid that is 2^k times finer. One
person then moves it 2^k times as many steps, and noise of 4^k·v + 4 squared steps costs as much as continuous
noise of variance v on the sum's own grid. Measured on that grid, it has a variance of v + 4/4^k. Nothing else
of the proof changes: both neighbours' sums are whole numbers on the finer grid, too. A count becomes a
fraction; who rounds it looks at the answer only.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sulq.privacy.noise import DiscreteGaussian


@dataclass(frozen=True)
class FinerGaussian:
    """Discrete Gaussian noise in fractions of a sum's steps.

    Args:
        noise: the noise, in steps of the finer grid.
        bits: a step of the sum is 2 to this power steps of the finer grid.

    >>> noise = FinerGaussian(DiscreteGaussian(100), bits=2)
    >>> noise.variance, noise.rho(squared_sensitivity=1), noise.std
    (Fraction(25, 4), Fraction(2, 25), 2.5)
    >>> round(int(noise.added(np.array([10**6], dtype=object))[0]) / 10**6)
    4
    """

    noise: DiscreteGaussian
    bits: int

    @property
    def times(self) -> int:
        """So many steps of the finer grid are one of the sum's."""
        return 1 << self.bits

    @property
    def variance(self) -> Fraction:
        """The parameter of the law, in squared steps of the sum."""
        return self.noise.variance / self.times**2

    @property
    def std(self) -> float:
        """The standard deviation, in steps of the sum."""
        return self.noise.std / self.times

    def rho(self, squared_sensitivity: Fraction | int) -> Fraction:
        """The ρ of adding this noise, where the sensitivity is in steps of the sum."""
        return self.noise.rho(squared_sensitivity * self.times**2)

    def added(self, true: NDArray[np.object_]) -> NDArray[np.object_]:
        """The noisy sums, in steps of the finer grid.

        Args:
            true: the exact sums, in their own steps.
        """
        return np.asarray(true * self.times + self.noise.sample(len(true)).astype(object))
