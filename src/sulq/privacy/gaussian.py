"""What Gaussian noise means as (ε, δ), exactly, also if it is discrete and questions depend on answers.

**One Gaussian.** Let noise N(0, s²) be added to what one person moves by Δ, and g = Δ²/2s². The privacy loss
is N(g, 2g), and the smallest δ for an ε is (Balle and Wang, "Improving the Gaussian Mechanism for
Differential Privacy", 2018, Theorem 8)

    δ(g, ε) = Φ((g − ε)/√2g) − e^ε · Φ((−g − ε)/√2g).

**Many of them, each chosen in view of the answers so far, are one** with the sum of their g, if that sum is
bounded beforehand: whatever is chosen, the loss grows by N(gᵢ, 2gᵢ), and a last draw that nobody needs brings
the sum to the bound (Smith and Thakurta, "Fully Adaptive Composition for Gaussian Differential Privacy",
2022; Koskela, Tobaben and Honkela, "Individual Privacy Accounting with Gaussian Differential Privacy", 2022).

**Discrete Gaussian noise of variance σ² is a continuous one of variance σ² − 4, rounded.** Let Y be N(x, s²)
with x on the integers, and let Y be rounded to k with probability exp(−(k − y)²/2r²)/Θ(y), where Θ(y) = Σⱼ
exp(−(j − y)²/2r²). By Poisson summation Θ(y) = r√2π·(1 + 2·Σ exp(−2π²r²m²)·cos 2πmy), m ≥ 1. So for r = 2 it
is r√2π to within a factor of 1 ± θ, with θ < 1.1e-34. If it were constant, k would have the law proportional
to exp(−(k − x)²/2(s² + r²)): the discrete Gaussian of variance s² + r². So that law and the rounded one's
differ by factors of at most e^(3θ) everywhere: one θ for Θ, and two, with room to spare, for the sum that
makes it a probability. Rounding costs nothing. So a sum with discrete Gaussian noise of variance σ² costs g =
Δ²/2(σ² − 4), and the factors of 2^64 numbers together, more than are ever released, stay below 1 + 1e-14: an
ε that is smaller by `SLACK` pays for them.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from sulq.errors import SulqError

ROUNDING_VARIANCE = 4
"""r²: by so much the variance of discrete noise is larger than that of the continuous noise it is made of."""
SLACK = Fraction(1, 2**40)
"""What rounding may add to ε, and by what part of it to δ."""
SMALLEST_EPSILON, LARGEST_EPSILON, SMALLEST_DELTA = Fraction(1, 2**20), 512, 1e-250
"""Beyond these, float arithmetic is not good enough to tell the exact δ."""


def gaussian_delta(g: float, epsilon: float) -> float:
    """The δ of Gaussian noise whose loss is N(g, 2g), rounded up.

    >>> f"{gaussian_delta(0.1, 1):.4g}"
    '0.003185'
    >>> from sulq.privacy.conversion import delta_of
    >>> f"{delta_of(0.1, 1):.4g}"
    '0.008933'
    """
    if g <= 0:
        return 0.0
    x, y = (epsilon - g) / (2 * math.sqrt(g)), (epsilon + g) / (2 * math.sqrt(g))
    first = math.erfc(x) / 2
    # From 20 on, erfc(y) is close to a bound of it from below, and e^ε·exp(−y²) = exp(−x²).
    second = (
        math.exp(epsilon) * math.erfc(y) / 2
        if y < 20
        else math.exp(-x * x) / (math.sqrt(math.pi) * (y + math.hypot(y, math.sqrt(2)))) * (1 - 1e-9)
    )
    # An error of a few 2^-53 in x is one of 2x² times as much in erfc(x).
    slack = (first + second) * (1 + x * x + y * y) * 2**-46
    return min(1.0, math.nextafter(max(0.0, first - second) + slack, math.inf))


@lru_cache(maxsize=256)
def gaussian_total(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The largest g, rounded down, for which Gaussian noise keeps (ε, δ), what rounding adds included.

    Args:
        epsilon: ε, from 2^-20 to 512.
        delta: δ, from 1e-250 on.

    >>> f"{float(gaussian_total(Fraction(1), Fraction(1, 10**6))):.4f}"
    '0.0280'
    """
    if not tellable(epsilon, delta):
        raise SulqError(
            "exact Gaussian accounting takes an epsilon from 2^-20 to 512 and a delta from 1e-250, got "
            f"{float(epsilon):.6g} and {float(delta):.6g}: use calibration='tight'"
        )
    e, chance = within(epsilon, delta)
    low, high = 0.0, 1.0
    while gaussian_delta(high, e) <= chance:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if gaussian_delta(middle, e) <= chance else (low, middle)
        if high - low <= low * 2**-40:
            break
    return short(low)


def tellable(epsilon: Fraction, delta: Fraction) -> bool:
    """Whether the exact δ can be told for these."""
    return SMALLEST_EPSILON <= epsilon <= LARGEST_EPSILON and float(delta) >= SMALLEST_DELTA


def within(epsilon: Fraction, delta: Fraction) -> tuple[float, float]:
    """The ε and δ that are left for continuous noise, rounded down."""
    return (
        math.nextafter(float(epsilon - SLACK), 0),
        math.nextafter(float(delta * (1 - SLACK)), 0),
    )


def short(value: float) -> Fraction:
    """A number of 20 significant bits, rounded down: the last bits of floats differ between machines."""
    mantissa, exponent = math.frexp(value)
    return Fraction(math.floor(mantissa * 2**20), 2**20) * Fraction(2) ** exponent
