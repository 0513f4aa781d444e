"""The mean of many draws of one noise: how the SuLQ paper's own calibrations keep a tolerance (section 4.5).

The box adds up a tally of answers to the same query and returns its mean. Noise on the integers has no larger
moment generating function than noise on the reals:

- Gaussian: at most exp(s²σ²/2) (Canonne, Kamath and Steinke, 2020, Corollary 17);
- Laplace of scale b: 1/(1 − sinh²(s/2)/sinh²(1/2b)). As sinh(x)/x grows with x, and s < 1/b, that is at most
  1/(1 − s²b²).

So by Chernoff's bound the mean of t draws is further from 0 than x with a chance of at most 2·exp(−t·I(x)),
where I(x) = x²/2σ² for Gaussian noise. For Laplace noise, with y = x/b, I is the largest s·y + ln(1 − s²)
over s < 1, which is that at s = (√(1 + y²) − 1)/y.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sulq.errors import QueryError
from sulq.numbers import whole
from sulq.privacy.finer import FinerGaussian
from sulq.privacy.noise import DiscreteGaussian, Noise
from sulq.privacy.ranges import checked_beta
from sulq.privacy.spherical import SphericalLaplace

MOST = 2**32
"""Draws of noise for a round: they take many minutes."""
BLOCK = 2**20
"""So many draws are added up at a time."""
ROUNDING = 1 + 1e-9
"""More than what floats lose here."""


@dataclass(frozen=True)
class RepeatedNoise:
    """The noise of a query that is asked so many times, with fresh noise every time.

    Args:
        noise: the noise of one answer.
        times: how often the query is asked.

    >>> from sulq.privacy.noise import DiscreteLaplace
    >>> repeated = RepeatedNoise(DiscreteLaplace(10), times=100)
    >>> tally = repeated.tally(np.array([5000], dtype=object))
    >>> abs(int(tally[0]) / 100 - 5000) <= repeated.radius(1e-9)
    True
    """

    noise: Noise
    times: int

    def __post_init__(self) -> None:
        whole("the number of repetitions", self.times, 1, MOST)

    def tally(self, true: NDArray[np.object_]) -> NDArray[np.object_]:
        """What so many noisy answers add up to: the tally of the paper's box.

        Args:
            true: the exact sums.
        """
        tally: NDArray[np.object_] = true * self.times
        for done in range(0, self.times, BLOCK):
            many = min(BLOCK, self.times - done)
            draws = self.noise.sample(many * len(true)).reshape(many, len(true))
            # Sums of up to 2^20 draws could leave 64 bits: halves of the bits are added up apart.
            high, low = draws >> 32, draws & 0xFFFFFFFF
            tally = tally + high.sum(axis=0).astype(object) * 2**32 + low.sum(axis=0).astype(object)
        return tally

    @property
    def std(self) -> float:
        """The standard deviation of the mean."""
        return self.noise.std / math.sqrt(self.times)

    def radius(self, beta: float | Fraction) -> float:
        """How far the mean of the draws is from 0, in steps of the grid, but for a chance of `beta`."""
        least = math.log(2 / beta) / self.times * ROUNDING
        if isinstance(self.noise, DiscreteGaussian):
            return math.sqrt(2 * float(self.noise.variance) * least) * ROUNDING
        low, high = 0.0, 1.0
        while laplace_exponent(high) < least:
            low, high = high, 2 * high
        for _ in range(80):
            middle = (low + high) / 2
            low, high = (low, middle) if laplace_exponent(middle) >= least else (middle, high)
        return float(self.noise.scale) * high * ROUNDING


AddedNoise: TypeAlias = Noise | FinerGaussian | SphericalLaplace | RepeatedNoise
"""What is added to a sum: one draw for each number or vector, or the mean of several."""


def times_of(noise: AddedNoise | None) -> int:
    """By how much sums are multiplied before such noise is added: `blurred` says them multiplied.

    Args:
        noise: what is added; None for sums that nobody moves.
    """
    return noise.times if isinstance(noise, RepeatedNoise | FinerGaussian) else 1


def bits_of(noise: AddedNoise | None) -> int:
    """How much finer than a sum's grid that of its noise is, as a power of 2.

    Args:
        noise: what is added; None for sums that nobody moves.
    """
    return noise.bits if isinstance(noise, FinerGaussian) else 0


def blurred(true: NDArray[np.object_], noise: AddedNoise | None) -> NDArray[np.object_]:
    """Exact sums with their noise: `times_of` it times as large as they are.

    Of a query that is asked several times that is the tally of all answers, and of a sum that gets its noise
    on a finer grid the number of steps of that.

    Args:
        true: the exact sums.
        noise: what is added; None for sums that nobody moves.
    """
    if noise is None:
        return true
    if isinstance(noise, RepeatedNoise):
        return noise.tally(true)
    if isinstance(noise, FinerGaussian):
        return noise.added(true)
    return np.asarray(true + noise.sample(len(true)).astype(object))


def repetitions(noise: Noise, distance: Fraction, beta: float | Fraction) -> int:
    """How often to ask so that the mean of the answers is within a distance, but for a chance of `beta`.

    Args:
        noise: the noise of one answer, on the integers.
        distance: how far off the mean may be, in steps of the grid.
        beta: the chance that it is further off.

    >>> from sulq.privacy.noise import DiscreteLaplace
    >>> repetitions(DiscreteLaplace(100), Fraction(20), 0.05)
    371
    """
    # A distance at which one answer is enough may be beyond the range of floats.
    if isinstance(noise, DiscreteGaussian):
        exponent = float(min(distance**2 / (2 * noise.variance), Fraction(MOST)))
    else:
        exponent = laplace_exponent(float(min(distance / noise.scale, Fraction(MOST))))
    wanted = math.log(2 / checked_beta(beta)) * ROUNDING**4
    if not exponent > wanted / MOST:
        raise QueryError("this tolerance takes too many repetitions: allow a larger one")
    return math.ceil(wanted / exponent)


def laplace_exponent(y: float) -> float:
    """I for Laplace noise, as a function of the distance over the scale.

    >>> round(laplace_exponent(0.2), 6)
    0.009951
    """
    # s·y = √(1 + y²) − 1 without the difference, of which nothing is left if y is small; 1 − s² is one over
    # 1 + s·y/2, of which nothing is left if y is large.
    product = y * (y / (1 + math.hypot(1, y)))
    return product - math.log1p(product / 2)
