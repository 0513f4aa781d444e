"""Gaussian noise beside other mechanisms: what both together mean as (ε, δ), in whatever order they come.

A budget is one number, R. Gaussian noise of g costs g (`sulq.privacy.gaussian`), and anything that is o-zCDP
costs W·o. Whoever asks sees every answer before the next question. So not only what is asked may depend on
the loss so far, but also how much of R goes to noise and how much to the rest: it is not enough that every
division of R that is made beforehand keeps the promise.

Let the loss so far be l. What is left of δ is V(l) = sup E[h(L)] over all that may still be asked, where L is
the loss in the end and h(l) = (1 − e^(ε − l))₊. A step takes a function f of the loss after it to one of the
loss before it:

- **Gaussian noise of g:** (T_g f)(l) = E[f(l + Y)], Y from N(g, 2g). T's add up their g.
- **Anything that is o-zCDP:** its loss X has E[e^(aX)] ≤ e^(a(a + 1)o) for all a > 0. Let the logarithm of f
  be concave, and f increase. If f(l) ≤ c·e^(al) for all l, then E[f(l + X)] ≤ c·e^(al + a(a + 1)o). The least
  of these bounds over all a and c is (R_o f)(l) = sup over x of f(l + x)·w(x), where w(x) = exp(−(x − o)²/4o)
  for x ≥ o, and 1 for smaller x: two ways to write one conjugate of conjugates.

**What noise dominates.** Let k = 1 − 1/W, and let f increase, with a concave logarithm φ, and let f^k be a
convex function of e^(−kl). Then **R_o f ≤ T_(Wo) f**:

- The same holds of T_g f: logarithms stay concave (Prékopa and Leindler), and (T_g f)^k is the norm of order
  1/k of numbers f^k(l + Y) that are convex in e^(−kl), which is convex (Minkowski).
- That f^k is convex in e^(−kl) says φ″ ≥ −k(φ′ + φ′²). So with φ the logarithm of T_(Ws) f, its derivative in
  s is W(φ′ + φ′² + φ″) ≥ φ′ + φ′². On the way from l + x at s = 0 to l at s = o, at the speed v = x/o, φ
  grows at a rate of at least φ′ + φ′² − vφ′ ≥ −(v − 1)²/4: at the end it is at least φ(l + x) − (x − o)²/4o.

So if F is such a function and F ≥ h, all that R can buy has V(0) ≤ (T_R F)(0) = E[F(Y)], Y from N(R, 2R), by
induction over the steps, the last one first; and F ≤ T_g F, because φ″ ≥ −(φ′ + φ′²).

**The best F.** Let m = 1/(W − 1), so that 1/k = 1 + m. By Hölder's inequality, for x and z from 0 to 1,
(1 − x)^(m/(1 + m))·(1 − z)^(1/(1 + m)) + x^(m/(1 + m))·z^(1/(1 + m)) ≤ 1. With z = e^(ε − l), h ≤ F for

    F(l) = (1 − x)^(−m)·(1 − e^((b − l)/(1 + m)))₊^(1 + m),  b = ε + m·ln x.

Its power k is a line in e^(−kl), cut off at 0. As h^k is concave in e^(−kl) where it is not 0, there is such
a line between it and every convex function above it: some x is as good as any F. All x are right, and a good
one is looked for.

**One number in the ledger.** What is not noise gets 1/`DEARER` of what it would get of a budget in ρ alone;
then R can be larger than that budget, and W = DEARER·R/ρ. The largest R is found by bisection.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np

from sulq.privacy.conversion import rho_of
from sulq.privacy.gaussian import gaussian_total, short, within

DEARER = Fraction(11, 10)
"""By what factor other mechanisms are dearer beside exact Gaussian noise than in a budget in ρ."""
FAR = 10.0
"""Up to so many standard deviations of the loss beyond b, steps of F are looked at one by one."""
DEEPEST = 8.0
"""So many standard deviations below ε, at most, b is looked for."""
FEW, MANY = 400, 6000
"""How many steps: to look for x, and for the bound that counts."""


def adaptive_delta(total: float, price: float, epsilon: float) -> float:
    """The δ of all that a budget buys, whatever is asked in view of earlier answers; rounded up.

    Args:
        total: R.
        price: W, what one ρ of anything but Gaussian noise costs.
        epsilon: ε.

    >>> f"{adaptive_delta(0.02, 1.2, 1.0):.2g}"
    '3.8e-08'
    """
    low, high = 0.0, DEEPEST * math.sqrt(2 * total)
    for _ in range(30):
        one, other = low + (high - low) * 0.382, low + (high - low) * 0.618
        left, right = (_mean(total, price, epsilon, below, FEW) for below in (one, other))
        low, high = (low, other) if left < right else (one, high)
    return min(1.0, _mean(total, price, epsilon, (low + high) / 2, MANY))


def _mean(total: float, price: float, epsilon: float, below: float, steps: int) -> float:
    """E[F(Y)] at most: F is rounded up to the end of each of so many steps.

    Args:
        total: R.
        price: W.
        epsilon: ε.
        below: how far b is below ε: x is e^(−below/m).
        steps: how many steps.
    """
    m = 1 / (price - 1)
    begins = epsilon - below
    most = math.exp(min(-m * math.log(-math.expm1(-below / m)), 600.0))
    y = begins + np.linspace(0.0, FAR * math.sqrt(2 * total), steps + 1)
    heights = most * (-np.expm1((begins - y) / (1 + m))) ** (1 + m)
    beyond = np.array([math.erfc(each) / 2 for each in ((y - total) / (2 * math.sqrt(total))).tolist()])
    rises = np.diff(heights, append=most)
    return float(rises @ beyond) * (1 + 1e-9) + 1e-290


@lru_cache(maxsize=256)
def mixed_total(epsilon: Fraction, delta: Fraction) -> Fraction:
    """R: the whole budget for (ε, δ), if what is not Gaussian noise is dearer by `DEARER`; rounded down.

    >>> one, millionth = Fraction(1), Fraction(1, 10**6)
    >>> f"{float(mixed_total(one, millionth)):.5f}", f"{float(rho_of(one, millionth)):.5f}"
    ('0.02601', '0.02436')
    """
    alone, most = float(rho_of(epsilon, delta)), float(gaussian_total(epsilon, delta))
    low, high = 0.0, 1.0
    for _ in range(9):
        middle = (low + high) / 2
        fits = keeps(alone + middle * (most - alone), epsilon, delta)
        low, high = (middle, high) if fits else (low, middle)
    return max(short(alone + low * (most - alone)), rho_of(epsilon, delta))


def keeps(total: float, epsilon: Fraction, delta: Fraction) -> bool:
    """Whether a budget keeps (ε, δ), if what is not Gaussian noise is dearer by `DEARER`.

    Args:
        total: R.
        epsilon: ε.
        delta: δ.
    """
    e, chance = within(epsilon, delta)
    return adaptive_delta(total, float(DEARER) * total / float(rho_of(epsilon, delta)), e) <= chance
