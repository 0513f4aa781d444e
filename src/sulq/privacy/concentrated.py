"""The ρ of mechanisms of which only their ε is known, as small as it can be.

Let L be the privacy loss, and c(a) = ln E[e^(aL)], so that the Rényi divergence of order 1 + a is c(a)/a. A
mechanism is ρ-zCDP if c(a) ≤ a(a + 1)ρ for all a > 0.

**Pure ε: ρ = ε·tanh(ε/2)**, less than ε²/2 (Bun and Steinke, 2016, Proposition 1.4). All that is
ε-differentially private is made of randomized response with this ε by post-processing (Kairouz, Oh and
Viswanath, "The Composition Theorem for Differential Privacy", 2015), for which c(a) = ln cosh((a + 1/2)ε) −
ln cosh(ε/2). Its derivative, ε·tanh((a + 1/2)ε), is at most (2a + 1)·ε·tanh(ε/2), because tanh(x)/x falls;
and that is the derivative of a(a + 1)ρ. Both are 0 at a = 0. There the derivatives are equal, so no smaller ρ
will do.

**The exponential mechanism: ρ = u − 1 − ln u, with u = ε/(1 − e^-ε)**, less than ε²/8 (Cesar and Rogers,
2021). Its loss lies in an interval of length ε (`sulq.privacy.selection`), and E[e^-L] = 1. For given ends of
the interval E[e^(aL)] is largest if L takes no other values, because it is convex in e^-L. With S(x) = ln(1 +
e^x) and b the logarithm of the odds of the larger value, c(a) = S(b + aε) − S(b) − a(S(b) − S(b − ε)), which
is a(a + 1)ε² times the second divided difference of S at x₀ = b − ε, x₁ = b, x₂ = b + aε. Let M(a) be its
largest value over all b.

- M falls with a. Its derivative is ε times the third divided difference at x₀, x₁, x₂, x₂, and where b is
  best, those at x₀, x₀, x₁, x₂ and x₀, x₁, x₁, x₂ and x₀, x₁, x₂, x₂ add up to 0. They are means of S′′′,
  which changes its sign once, from + to −, over densities (B-splines) each of which has a monotone ratio to
  the one before. So their signs change once at most, from + to −, and the last is not positive.
- So ρ is ε²·M(0), the largest Kullback–Leibler divergence, and that is where e^L takes the value (e^ε − 1)/ε:
  Dong, Durfee and Rogers, "Optimal Differential Privacy Composition for Exponential Mechanisms", 2020.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

BITS = 44
"""Results are kept to so many significant bits, rounded up."""
FLAT = 1 / 16
"""Below this ε²/8 is too large by a factor of less than 1.0001, and the formula for floats would cancel."""


def rho_of_pure(epsilon: Fraction) -> Fraction:
    """The ρ of what is ε-differentially private, ε·tanh(ε/2), rounded up; never more than ε²/2.

    >>> float(rho_of_pure(Fraction(1))), float(rho_of_pure(Fraction(10)))
    (0.46211715726..., 9.99909204262...)
    """
    return min(epsilon**2 / 2, _up(_of_pure(float(epsilon)) * (1 + 2**-48)))


def rho_of_exponential(epsilon: Fraction) -> Fraction:
    """The ρ of the exponential mechanism, rounded up; never more than ε²/8.

    >>> float(rho_of_exponential(Fraction(1))), float(rho_of_exponential(Fraction(10)))
    (0.123301..., 6.697823...)
    """
    e = float(epsilon)
    if e < FLAT:
        return epsilon**2 / 8
    return min(epsilon**2 / 8, _up(_of_exponential(e) + (1 + _mean(e)) * 2**-48))


def epsilon_of_pure(rho: Fraction) -> Fraction:
    """The largest ε, rounded down, with which a pure mechanism costs at most this ρ.

    >>> float(epsilon_of_pure(Fraction(1, 2)))
    1.04362...
    """
    return _largest(_of_pure, rho_of_pure, rho, 2)


def epsilon_of_exponential(rho: Fraction) -> Fraction:
    """The largest ε, rounded down, with which the exponential mechanism costs at most this ρ.

    >>> float(epsilon_of_exponential(Fraction(1, 8)))
    1.00695...
    """
    return _largest(_of_exponential, rho_of_exponential, rho, 8)


def _of_pure(e: float) -> float:
    return e * math.tanh(e / 2)


def _of_exponential(e: float) -> float:
    return e * e / 8 if e < FLAT else _mean(e) - 1 - math.log(_mean(e))


def _mean(e: float) -> float:
    return e / -math.expm1(-e)


def _largest(
    near: Callable[[float], float], cost: Callable[[Fraction], Fraction], rho: Fraction, square: int
) -> Fraction:
    """By bisection from √(square·ρ) on; what is found costs at most this ρ for certain."""
    low, most = math.sqrt(square * rho) * (1 - 2**-40), float(rho)
    high = 2 * low
    while near(high) <= most:
        low, high = high, 2 * high
    for _ in range(36):
        middle = (low + high) / 2
        low, high = (middle, high) if near(middle) <= most else (low, middle)
    while cost(Fraction(low)) > rho:
        low *= 1 - 2**-40
    return Fraction(low)


def _up(value: float) -> Fraction:
    mantissa, exponent = math.frexp(value)
    return Fraction(math.ceil(mantissa * 2**BITS), 2**BITS) * Fraction(2) ** exponent
