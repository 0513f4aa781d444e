"""Two laws of exact noise on the integers, both tossed with coins (`coins.py` proves those exact).

- **Discrete Laplace.** Not zero with probability 2/(1 + exp(1/s)); then 1 + G, with G geometric, and a fair
  sign. So Pr[±k] = p/(1 + p)·(1 − p)p^(k − 1) = (1 − p)/(1 + p)·p^k for k ≥ 1 and p = exp(−1/s), and
  Pr[0] = (1 − p)/(1 + p): nothing to reject, no zero of two signs.
- **Discrete Gaussian.** Canonne, Kamath and Steinke, "The Discrete Gaussian for Differential Privacy", 2020,
  Algorithm 3: propose Y from the discrete Laplace of scale t = ⌊σ⌋ + 1 and accept it with probability
  exp(−γ), γ = (|Y| − σ²/t)²/2σ². That is the probability that an exponential variable E exceeds γ. Its digits
  are drawn until E and γ part. Floating point with a proven error bound settles nearly all of the
  comparisons, rational arithmetic the others.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sulq.numbers import Numeric
from sulq.privacy.coins import (
    Coin,
    arithmetic,
    decimal,
    exp,
    geometric,
    outlives,
    random_bytes,
    toss,
    wide_geometric,
)
from sulq.privacy.ranges import HIGHEST, LOWEST, checked_beta, checked_sensitivity, in_range, rounded_up

Draws: TypeAlias = NDArray[np.int64] | NDArray[np.object_]
"""Whole numbers: of Python, where the noise is so wide that 64 bits could be too few."""

# The fractional digits of E drawn before comparing it with γ: one in 2^16 comparisons needs more.
_CLOCK_DIGITS = 16

# From this σ² on, the discrete Gaussian's tail is bounded by the continuous one's instead of being summed.
_SUMMED_VARIANCE = 4096


@dataclass(frozen=True, init=False)
class DiscreteLaplace:
    """The law Pr[k] ∝ exp(−|k|/scale) on the integers: the geometric mechanism's noise.

    Args:
        scale: a number from 2^-40 to 2^400, in units of the grid that the noise is added on.

    >>> noise = DiscreteLaplace(scale=Fraction(7, 2))
    >>> noise.epsilon(sensitivity=1)
    Fraction(2, 7)
    >>> noise.radius(beta=0.05), round(noise.std, 3)
    (10, 4.933)
    >>> noise.sample(4).shape, noise.sample(4).dtype
    ((4,), dtype('int64'))
    """

    scale: Fraction

    def __init__(self, scale: Numeric) -> None:
        object.__setattr__(self, "scale", in_range("scale", scale, LOWEST, HIGHEST))

    def sample(self, size: int) -> Draws:
        """`size` independent draws."""
        magnitude = 1 + wide_geometric(self.scale, size)
        sign = 1 - 2 * (random_bytes(size) & 1).astype(np.int64)
        return toss(Coin(2, 1, 1 / self.scale), size) * sign * magnitude

    def epsilon(self, sensitivity: Fraction | int) -> Fraction:
        """The pure ε of adding this noise to each coordinate of a sum of this 1-norm sensitivity.

        |k| and |k − Δ| differ by at most |Δ|, so one coordinate's likelihoods differ by at most
        exp(|Δ|/scale), and coordinates multiply.
        """
        return checked_sensitivity(sensitivity) / self.scale

    @property
    def std(self) -> float:
        """The standard deviation, √(2p)/(1 − p) for p = exp(−1/scale)."""
        with arithmetic(self._digits):
            p = exp(-1 / self.scale)
            return float((2 * p).sqrt() / (1 - p))

    def pmf(self, k: int) -> float:
        """Pr[X = k].

        >>> round(sum(DiscreteLaplace(2).pmf(k) for k in range(-100, 101)), 12)
        1.0
        """
        with arithmetic(self._digits):
            p = exp(-1 / self.scale)
            return float((1 - p) / (1 + p) * exp(-abs(int(k)) / self.scale))

    def tail(self, t: int) -> float:
        """Pr[|X| > t], rounded up. It is 2p^(t + 1)/(1 + p) for p = exp(−1/scale).

        >>> f"{DiscreteLaplace(2).tail(0):.6f}", f"{1 - DiscreteLaplace(2).pmf(0):.6f}"
        ('0.755081', '0.755081')
        """
        if t < 0:
            return 1.0
        with arithmetic(self._digits):
            return rounded_up(2 * exp(-(int(t) + 1) / self.scale) / (1 + exp(-1 / self.scale)))

    def radius(self, beta: float | Fraction) -> int:
        """The smallest r with Pr[|X| > r] ≤ beta: the tail's closed form, solved for t to thirty decimals.

        >>> noise = DiscreteLaplace(1000)
        >>> r = noise.radius(beta=0.05)
        >>> r, noise.tail(r) <= 0.05 < noise.tail(r - 1)
        (2996, True)
        """
        rare = checked_beta(beta)
        with arithmetic(self._digits):
            odds = (decimal(rare) * (1 + exp(-1 / self.scale)) / 2).ln()
            return max(0, math.ceil(-odds * decimal(self.scale) - 1 + Decimal("1e-30")))

    @property
    def _digits(self) -> int:
        """So many that 1 − exp(−1/scale) has 60, and a radius 30 after the point."""
        return 60 + int(self.scale).bit_length() // 3


@dataclass(frozen=True, init=False)
class DiscreteGaussian:
    """The law Pr[k] ∝ exp(−k²/2σ²) on the integers, with σ² = `variance`.

    `variance` is a number from 2^-80 to 2^798, in squared units of the grid that the noise is added on. It is
    the parameter of the law; the law's own variance is a little smaller where σ is below 1.

    >>> noise = DiscreteGaussian(variance=Fraction(25, 2))
    >>> noise.rho(squared_sensitivity=1)
    Fraction(1, 25)
    >>> noise.radius(beta=0.05), round(noise.std, 3)
    (7, 3.536)
    >>> noise.sample(4).shape, noise.sample(4).dtype
    ((4,), dtype('int64'))
    """

    variance: Fraction

    def __init__(self, variance: Numeric) -> None:
        highest = (HIGHEST / 2) ** 2
        object.__setattr__(self, "variance", in_range("variance", variance, LOWEST**2, highest))

    def sample(self, size: int) -> Draws:
        """`size` independent draws: the first ones accepted in a sequence of proposals."""
        proposal = DiscreteLaplace(self._proposal_scale)
        draws: Draws = np.empty(0, dtype=np.int64)
        while draws.size < size:
            # How many to propose depends on how many were accepted, never on which.
            proposed = proposal.sample(3 * (size - draws.size) // 2 + 8)
            draws = np.concatenate([draws, proposed[self._accepts(proposed)]])
        return draws[:size]

    def rho(self, squared_sensitivity: Fraction | int) -> Fraction:
        """The ρ of adding this noise to each coordinate of a sum of this squared 2-norm sensitivity.

        Δ²/2σ²: Canonne, Kamath and Steinke, 2020, Theorem 14.
        """
        return checked_sensitivity(squared_sensitivity) / (2 * self.variance)

    @property
    def std(self) -> float:
        """The standard deviation. By Poisson summation it is σ to thirty digits from σ = 2 on."""
        if self.variance >= 4:
            return math.sqrt(self.variance)
        # The other weights are below e^-200 times that of 0.
        weights = [(k * k, math.exp(-(k * k) / (2 * float(self.variance)))) for k in range(1, 40)]
        squares, whole = (
            2 * math.fsum(each) for each in ((k2 * w for k2, w in weights), (w for _, w in weights))
        )
        return math.sqrt(squares / (1 + whole))

    def pmf(self, k: int) -> float:
        """Pr[X = k].

        >>> round(sum(DiscreteGaussian(2).pmf(k) for k in range(-100, 101)), 12)
        1.0
        """
        with arithmetic():
            return float(exp(-Fraction(int(k) ** 2) / (2 * self.variance)) / _gaussian_weight(self.variance))

    def tail(self, t: int) -> float:
        """Pr[|X| > t], rounded up; from σ = 64 on, a bound that is above it by a factor of at most 1.02.

        Up to there the series is summed. Beyond, the sum of exp(−k²/2σ²) over k > t is at most its integral
        over x > t + 1/2 if t + 1/2 ≥ σ, because the function is convex there, and a convex function is on
        average above its value in the middle. If t + 1/2 < σ it is concave as far as t + 1/2, and the same
        holds for the complement. The weights add up to σ√(2π) to thousands of digits (Poisson summation). So
        in both cases Pr[|X| > t] ≤ erfc((t + 1/2)/σ√2).

        >>> f"{DiscreteGaussian(2).tail(0):.6f}", f"{1 - DiscreteGaussian(2).pmf(0):.6f}"
        ('0.717905', '0.717905')
        """
        if t < 0:
            return 1.0
        if self.variance >= _SUMMED_VARIANCE:
            # The relative error of erfc(x) is that of x times about 2x² < 2^11, so 2^-36 covers it.
            x = math.sqrt((int(t) + Fraction(1, 2)) ** 2 / (2 * self.variance))
            return min(1.0, math.nextafter(math.erfc(x) * (1 + 2**-36), math.inf))
        with arithmetic():
            return rounded_up(2 * _gaussian_sum(int(t) + 1, self.variance) / _gaussian_weight(self.variance))

    def radius(self, beta: float | Fraction) -> int:
        """The smallest r with `tail(r)` ≤ beta.

        >>> noise = DiscreteGaussian(1000**2)
        >>> r = noise.radius(beta=0.05)
        >>> r, noise.tail(r) <= 0.05 < noise.tail(r - 1)
        (1960, True)
        """
        rare = checked_beta(beta)
        low, high = -1, 1
        while self.tail(high) > rare:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.tail(middle) <= rare else (middle, high)
        return high

    @property
    def _proposal_scale(self) -> int:
        return math.isqrt(math.floor(self.variance)) + 1

    @property
    def _centre(self) -> Fraction:
        return self.variance / self._proposal_scale

    def _accepts(self, proposed: Draws) -> NDArray[np.bool_]:
        """Whether each proposal outlives its γ: an independent exponential variable exceeds it."""
        ticks = geometric(Fraction(2**_CLOCK_DIGITS), proposed.size)
        deadline, slack = self._deadlines(proposed)
        accepted: NDArray[np.bool_] = ticks >= deadline + slack
        open_cases = np.flatnonzero(~accepted & (ticks + 1 > deadline - slack))
        for i in open_cases:
            gamma = (abs(int(proposed[i])) - self._centre) ** 2 / (2 * self.variance)
            accepted[i] = outlives(int(ticks[i]), _CLOCK_DIGITS, gamma)
        return accepted

    def _deadlines(self, proposed: Draws) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """γ for each proposal in ticks of 2^-_CLOCK_DIGITS, and by how much it may be wrong at most."""
        centre = float(self._centre)
        unit = math.sqrt(2**_CLOCK_DIGITS / (2 * self.variance))
        size = np.abs(proposed).astype(np.float64)
        # IEEE rounding, from the conversions to the caller's sums, errs by less than 12·2^-53 of this square.
        return ((size - centre) * unit) ** 2, ((size + centre) * unit) ** 2 * 2**-48


Noise: TypeAlias = DiscreteLaplace | DiscreteGaussian


def _gaussian_sum(first: int, variance: Fraction) -> Decimal:
    """The sum of exp(−k²/2σ²) over k ≥ first ≥ 0, from above, to forty digits."""
    term = exp(-Fraction(first * first) / (2 * variance))
    ratio = exp(-Fraction(2 * first + 1) / (2 * variance))
    shrink = exp(-1 / variance)
    total = Decimal(0)
    while term > total * Decimal("1e-40"):
        total += term
        term *= ratio
        ratio *= shrink
    # Ratios fall, so what is left is at most a geometric series.
    return total + term / (1 - ratio)


@lru_cache(maxsize=256)
def _gaussian_weight(variance: Fraction) -> Decimal:
    """The sum of exp(−k²/2σ²) over all k."""
    with arithmetic():
        if variance >= _SUMMED_VARIANCE:
            return (2 * _PI * decimal(variance)).sqrt()
        return 1 + 2 * _gaussian_sum(1, variance)


_PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494")
