"""What noise and choices cost in a budget of which a certain sum may be spent, and why that keeps the
promise.

| accounting | the whole budget | discrete Gaussian noise | choices and other mechanisms |
|---|---|---|---|
| "zcdp" | the ρ that implies (ε, δ) by zCDP alone: Canonne, Kamath and Steinke, 2020 | its ρ | their ρ |
| "tight" | larger: 5 to 8 % at δ = 1e-6 | that of continuous noise, exactly | 10 % more of the budget |
| "gaussian" | the largest: 11 to 18 % at δ = 1e-6 | the same | π/2 times ε²/2, or ε²/8 |

- **"tight"** is proved in `sulq.privacy.mixed`. Noise on so coarse a grid that its continuous part would cost
  more than its price as another mechanism is charged as such.
- **"gaussian"** counts all as Gaussian noise (`sulq.privacy.gaussian`). Neighbours are told apart no better
  than by Gaussian noise with g = μ²/2 if the errors p and q of every best test have Φ⁻¹(1 − p) − Φ⁻¹(q) ≤ μ
  (Dong, Roth and Su, "Gaussian Differential Privacy", 2022). Of what is ε-differentially private, the worst
  has one such test that is not trivial, with 1 − p and q at ±ε in log-odds; of the exponential mechanism two
  numbers ε apart (`sulq.privacy.concentrated`). Φ⁻¹ of a chance with log-odds x has a slope of at most √2π/4:
  the slope is y(1 − y)/I(y) for the chance y and I(y) = φ(Φ⁻¹(y)). And I(y) − 4y(1 − y)/√2π is at least 0: it
  is 0 at y = 0 and at y = 1/2, with slope 0 there, and its second derivative, 8/√2π − 1/I(y), changes its
  sign once between them. So μ is at most 2ε·√2π/4, and ε·√2π/4: g ≤ πε²/4, and πε²/16.

**Noise of few steps is added on a finer grid** (`sulq.privacy.finer`), which is so fine that what rounds it
takes at most a quarter of the gain. Let the whole budget be 1 + g times that of "zcdp", which for the same
share gives a sum a variance of (1 + g)·v. Then continuous noise has v, and on the grid at most (1 + g/4)·v.
So σ² is less than under "zcdp". Noise in whole steps is taken where its standard deviation is less: at a σ
below ½ it is 0 nearly always.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Literal

from sulq.errors import SulqError
from sulq.privacy.concentrated import epsilon_of_exponential, epsilon_of_pure
from sulq.privacy.conversion import rho_of
from sulq.privacy.gaussian import ROUNDING_VARIANCE, gaussian_total, tellable
from sulq.privacy.mixed import DEARER, mixed_total

Accounting = Literal["tight", "gaussian", "zcdp"]
HALF_PI = Fraction(16471, 10485)  # rounded up


@dataclass(frozen=True)
class Prices:
    """What is charged for what.

    Args:
        total: the whole budget.
        choice: what is charged for one ρ of a choice.
        noise: what is charged for one ρ of discrete Gaussian noise; None if only its continuous part counts.
        rounding: by how much the variance of discrete noise is larger than that of its continuous part.
        concentrated: whether it is the ρ of a choice that counts, and not only its ε.
        gain: by what part of it the whole budget is larger than by zCDP alone.

    >>> Prices.of("zcdp", Fraction(1), Fraction(1, 10**6)).variance(Fraction(100))
    Fraction(100, 1)
    >>> tight = Prices.of("tight", Fraction(1), Fraction(1, 10**6))
    >>> tight.variance(Fraction(1000)), float(tight.variance(Fraction(10)))
    (Fraction(1004, 1), 11.75...)
    >>> tight.bits(Fraction(1000)), tight.bits(Fraction(10))
    (0, 3)
    """

    total: Fraction
    choice: Fraction = Fraction(1)
    noise: Fraction | None = Fraction(1)
    rounding: int = 0
    concentrated: bool = True
    gain: Fraction = Fraction(0)

    @classmethod
    def of(cls, accounting: Accounting, epsilon: Fraction, delta: Fraction) -> Prices:
        """The prices that keep (ε, δ)."""
        return _prices(accounting, epsilon, delta)

    def variance(self, continuous: Fraction) -> Fraction:
        """The smallest variance of discrete noise that costs no more than continuous noise of this one."""
        rounded = continuous + self.rounding
        return rounded if self.noise is None else min(rounded, self.noise * continuous)

    def bits(self, continuous: Fraction) -> int:
        """How much finer than a sum's grid that of its noise is, as a power of 2.

        Args:
            continuous: the variance of continuous noise that costs as much, in steps of the sum.
        """
        if self.gain <= 0:
            return 0
        finer = math.ceil(4 * self.rounding / (self.gain * continuous))
        return ((finer - 1).bit_length() + 1) // 2

    def continuous(self, variance: Fraction) -> Fraction:
        """The variance of the continuous noise that costs as much as discrete noise of this variance.

        None does if that is not positive.
        """
        part = variance - self.rounding
        return part if self.noise is None else max(part, variance / self.noise)

    def epsilon(self, quadratic: Fraction, exponential: bool) -> Fraction:
        """The ε of a choice that costs as much as one of this ε would by ε²/8 or ε²/2.

        Args:
            quadratic: the ε that these would leave.
            exponential: whether it is the exponential mechanism, ε²/8.
        """
        if not self.concentrated:
            return quadratic
        if exponential:
            return epsilon_of_exponential(quadratic**2 / 8)
        return epsilon_of_pure(quadratic**2 / 2)


@lru_cache(maxsize=256)
def _prices(accounting: Accounting, epsilon: Fraction, delta: Fraction) -> Prices:
    alone = rho_of(epsilon, delta)
    if accounting == "gaussian":
        total = gaussian_total(epsilon, delta)
        return Prices(total, HALF_PI, None, ROUNDING_VARIANCE, concentrated=False, gain=total / alone - 1)
    if accounting not in ("tight", "zcdp"):
        raise SulqError(f"accounting is 'tight', 'gaussian' or 'zcdp', not {accounting!r}")
    if accounting == "zcdp" or not tellable(epsilon, delta):
        return Prices(alone)
    total = mixed_total(epsilon, delta)
    if total == alone:
        return Prices(alone)
    # Rounded up to a thousandth.
    price = Fraction(math.ceil(1024 * DEARER * total / alone), 1024)
    return Prices(total, price, price, ROUNDING_VARIANCE, gain=total / alone - 1)
