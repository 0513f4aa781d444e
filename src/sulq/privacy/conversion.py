"""What a zCDP budget means as (ε, δ): numerical, tight, and rounded against the claimant.

A ρ-zCDP mechanism has Rényi divergence at most αρ at every order α > 1, and each order gives a valid δ
(Canonne, Kamath and Steinke, "The Discrete Gaussian for Differential Privacy", 2020, Proposition 12):

    δ(α) = exp((α − 1)(αρ − ε)) · (1 − 1/α)^α / (α − 1).

With a = α − 1 its logarithm is a((a + 1)ρ − ε) + a·ln a − (a + 1)·ln(a + 1). The second derivative in a,
2ρ + 1/a − 1/(a + 1), is positive, so the only minimum is where the increasing derivative
(2a + 1)ρ − ε − ln(1 + 1/a) crosses zero, and bisection finds it. No order can be wrong, only wasteful, so
the search needs no error analysis; only the last evaluation is rounded up. And since
a^a / (a + 1)^(a + 1) < 1, the result is always below the textbook's exp(a((a + 1)ρ − ε)), which leads to
ε = ρ + 2√(ρ ln 1/δ).
"""

from __future__ import annotations

import math
from fractions import Fraction

from sulq.errors import SulqError

# Beyond these, float arithmetic could underflow, and nobody's privacy is at stake.
_SMALLEST_DELTA = 1e-300
_SMALLEST_EPSILON = 1e-100


def delta_of(rho: Fraction | float, epsilon: Fraction | float) -> float:
    """The δ for which ρ-zCDP implies (ε, δ)-differential privacy, rounded up.

    >>> f"{delta_of(0.1, 1):.3g}"
    '0.00893'
    >>> delta_of(0, 1)
    0.0
    """
    r, e = _nonnegative("rho", rho), _nonnegative("epsilon", epsilon)
    if rho == 0:
        return 0.0
    r = max(r, 1e-300)
    low, high = 1e-300, min((e + 1) / r + 1, 1e300)
    for _ in range(64):
        a = math.sqrt(low) * math.sqrt(high)
        if (2 * a + 1) * r - e < math.log1p(1 / a):
            low = a
        else:
            high = a
    grow, shrink = a * ((a + 1) * r), a * e
    entropy = a * math.log1p(1 / a) + math.log1p(a)
    # Each of the terms carries a relative error of a few 2^-53, the conversion of rho and epsilon included.
    slack = (grow + shrink + entropy + 1) * 2**-48
    return min(1.0, math.nextafter(math.exp(min(0.0, grow - shrink - entropy + slack)), math.inf))


def epsilon_of(rho: Fraction | float, delta: Fraction | float) -> float:
    """The ε for which ρ-zCDP implies (ε, δ)-differential privacy, rounded up.

    >>> f"{epsilon_of(0.1, 1e-6):.3f}", f"{0.1 + 2 * math.sqrt(0.1 * math.log(1e6)):.3f}"
    ('2.142', '2.451')
    """
    budget = _probability(delta)
    if delta_of(rho, 0) <= budget:
        return 0.0
    low, high = 0.0, _textbook_epsilon(float(rho), float(budget))
    while delta_of(rho, high) > budget:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        if delta_of(rho, middle) <= budget:
            high = middle
        else:
            low = middle
    return high


def rho_of(epsilon: Fraction | float, delta: Fraction | float) -> Fraction:
    """The largest ρ, rounded down, for which ρ-zCDP implies (ε, δ)-differential privacy.

    >>> rho = rho_of(1, 1e-6)
    >>> f"{float(rho):.4f}", delta_of(rho, 1) <= 1e-6
    ('0.0244', True)
    """
    e, budget = _nonnegative("epsilon", epsilon), _probability(delta)
    if e < _SMALLEST_EPSILON:
        raise SulqError(f"epsilon must be at least {_SMALLEST_EPSILON} to be turned into rho, got {epsilon}")
    surprise = math.log(1 / float(budget))
    low = (e / (math.sqrt(surprise + e) + math.sqrt(surprise))) ** 2
    while delta_of(low, epsilon) > budget:
        low /= 2
    high = 2 * low
    while delta_of(high, epsilon) <= budget:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        if delta_of(middle, epsilon) <= budget:
            low = middle
        else:
            high = middle
    return Fraction(low)


def _textbook_epsilon(rho: float, delta: float) -> float:
    """ε = ρ + 2√(ρ ln 1/δ): Bun and Steinke, "Concentrated Differential Privacy", 2016, Proposition 1.3."""
    return rho + 2 * math.sqrt(rho * math.log(1 / delta))


def _nonnegative(name: str, value: Fraction | float) -> float:
    number = float(value)
    if not 0 <= number < math.inf:
        raise SulqError(f"{name} must be a finite number of at least 0, got {value}")
    return number


def _probability(delta: Fraction | float) -> Fraction:
    if not (float(delta) >= _SMALLEST_DELTA and delta < 1):
        raise SulqError(f"delta must be at least {_SMALLEST_DELTA} and less than 1, got {delta}")
    return Fraction(delta)
