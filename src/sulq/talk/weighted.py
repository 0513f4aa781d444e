"""How large a weighted sum of independent noise may be, as tightly as can be said for sure.

Discrete Laplace noise of scale b is the difference of two geometric numbers, and a geometric number is an
exponential one without its fraction. So it lies within one step of continuous Laplace noise of the same
scale, and Σ wᵢeᵢ within Σ |wᵢ| steps of a sum of those. The characteristic function of that sum is Π 1/(1 +
wᵢ²b²t²), from which its distribution follows by one integral:

    Pr[|S| ≤ x] = 2/π ∫ sin(xt)/t · Π 1/(1 + wᵢ²b²t²) dt, for t from 0 to ∞.

Discrete Gaussian noise has no larger a moment generating function than a Gaussian of the same variance, so
Pr[|S| > x] ≤ 2 exp(−x²/2v). Where people report, their errors may go together: there each number is taken at
its worst.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sulq.talk.laws import Exactly, Noise, PlainLaw

Floats = NDArray[np.float64]
POINTS, REACH = 2048, 30.0
"""The points of the integral, and how many standard deviations they can tell apart."""
INTEGRAL_ERROR = 2e-5
"""The integral is off by less: what is left out beyond the last point falls with its square at least."""


def exceeds(size: float, weights: Floats, law: PlainLaw, beta: float) -> bool:
    """Whether a weighted sum of noise is so large with a chance of `beta` at most.

    Args:
        size: how large, without a sign.
        weights: the weight of each noisy number.
        law: the law of the noise.
        beta: the chance.

    >>> from fractions import Fraction
    >>> law = Noise("laplace", Fraction(20), Fraction(1), numbers=1)
    >>> [exceeds(size, np.ones(1), law, 0.05) for size in (59.0, 62.0)]
    [False, True]
    """
    total = float(np.abs(weights).sum())
    if isinstance(law, Exactly) or total == 0:
        return size > 0
    if not isinstance(law, Noise):
        return size > total * float(law.radius(beta))
    many = int(np.count_nonzero(weights))
    return size > total * _each(law, beta / many) or _tail(size, weights, law) < beta


def quantile(weights: Floats, law: PlainLaw, beta: float) -> float:
    """How large a weighted sum of noise may be, but for a chance of `beta`, within one part in a hundred.

    Args:
        weights: the weight of each noisy number.
        law: the law of the noise.
        beta: the chance that the sum is larger, without its sign.

    >>> from fractions import Fraction
    >>> law = Noise("laplace", Fraction(20), Fraction(1), numbers=100)
    >>> [round(quantile(np.ones(many), law, 0.05)) for many in (1, 10, 100)]
    [60, 188, 656]
    """
    if isinstance(law, Exactly) or not np.any(weights):
        return 0.0
    many = int(np.count_nonzero(weights))
    each = _each(law, beta / many) if isinstance(law, Noise) else float(law.radius(beta))
    high = float(np.abs(weights).sum()) * each
    if not isinstance(law, Noise) or high == 0:
        return high
    if law.family == "gaussian":
        variance = float(law.step) ** 2 * law.factor**2 * float(law.parameter) * float(weights @ weights)
        return min(high, math.sqrt(2 * variance * math.log(2 / beta)))
    low = high / 1000
    while high > 1.01 * low:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if exceeds(middle, weights, law, beta) else (middle, high)
    return high


@lru_cache(maxsize=4096)
def _each(law: Noise, beta: float) -> float:
    """How far off one number is, which takes long to find for Gaussian noise."""
    return law.each(beta)


def _tail(size: float, weights: Floats, law: Noise) -> float:
    """The chance that a weighted sum is larger than `size`, at most."""
    unit, parameter = float(law.step) * law.factor, float(law.parameter)
    sizes = np.abs(weights[weights != 0])
    if law.family == "gaussian":
        return 2 * math.exp(-(size**2) / (2 * unit**2 * parameter * float(sizes @ sizes)))
    size = size - unit * float(sizes.sum())
    scales = sizes * unit * parameter
    spread = math.sqrt(2 * float(scales @ scales))
    if size <= 0:
        return 1.0
    if size >= REACH * spread:
        return INTEGRAL_ERROR
    step = math.pi / (2 * REACH * spread)
    t = step * (np.arange(POINTS) + 0.5)
    transform = np.exp(-np.log1p(np.square(scales[:, np.newaxis] * t)).sum(axis=0))
    inside = 2 / math.pi * step * float(np.sum(np.sin(size * t) / t * transform))
    return min(1.0, max(0.0, 1 - inside) + INTEGRAL_ERROR)
