"""Gaussian noise beside other mechanisms: what both together mean as (ε, δ), in whatever order they come.

Let the loss so far be l. What is left of δ is at most V(l) = sup E[(1 − e^(ε − L))₊] over all that may still
be asked, where L is the loss in the end. Before the last step V(l) = h(l) = (1 − e^(ε − l))₊. A step takes a
function f of the loss after it to one of the loss before it:

- **Gaussian noise of g:** (T f)(l) = E[f(l + Y)], Y from N(g, 2g); see `sulq.privacy.gaussian`.
- **Anything that is o-zCDP:** its loss X has E[e^(aX)] ≤ e^(a(a + 1)o) for all a > 0. Let the logarithm of f
  be concave, and f increase. If f(l) ≤ c·e^(al) for all l, then E[f(l + X)] ≤ c·e^(al + a(a + 1)o). The least
  of these bounds over all a and c is (R f)(l) = sup over x of f(l + x)·w(x), where w(x) = exp(−(x − o)²/4o)
  for x ≥ o, and 1 for smaller x: two ways to write one conjugate of conjugates.

Both keep logarithms concave (Prékopa and Leindler) and functions increasing. T's add up their g, R's their o.
And **R T f ≤ T R f**: the sup of a mean is at most the mean of the sups. So of all orders, and of all choices
in view of earlier answers, the worst is all noise first. With G and O the sums of all g and o,

    δ(G, O) ≤ E[D(ε − Y)],  Y from N(G, 2G),  where D(e) is the δ of O-zCDP for e (`sulq.privacy.conversion`).

Less of both is no worse: (R f)(l) ≥ f(l); and as a function of e^(−l) h is convex, and so are T f and R f, so
that T f ≥ f by Jensen's inequality, because E[e^(−Y)] = 1.

**One number in the ledger.** A charge of g + W·o in a budget R is right if δ(G, O) ≤ δ wherever G + W·O ≤ R.
Other mechanisms get 1/`DEARER` of what they would get of a budget in ρ alone; then R can be larger than that
budget, and W = DEARER·R/ρ. The largest R is found by bisection, and each one verified on the whole line:

- D is an infimum of functions e^(k + a·l), so its logarithm is concave, jointly in l and O, with slope a and
  value −a²O − ln(1 + a) at l = ε − (2a + 1)O + ln(1 + 1/a). Tangents of it are bounds from above and chords
  from below. The mean of e^(k + a·Y) over an interval is e^(k + a(a + 1)G) times its chance if Y were from
  N(G + 2aG, 2G).
- ln δ(G, O) + ln(G)/2 is concave, jointly in G and O, as the logarithm of the integral of a function of
  y, G and O with a concave logarithm: −(y − G)²/4G is concave in y and G. So between points of the line it is
  below the lines through neighbouring points, prolonged; and −ln(G)/2 is convex, so that the corners of these
  lines are where to look.
- From O = (R − ρ)/(W − 1) on, G + O is at most ρ, which zCDP alone allows: T R f is at most R of both.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from sulq.privacy.conversion import rho_of
from sulq.privacy.gaussian import gaussian_delta, gaussian_total, short, within

DEARER = Fraction(11, 10)
"""By what factor other mechanisms are dearer beside exact Gaussian noise than in a budget in ρ."""
LOWEST = 2000
"""Heights below e^-LOWEST are not looked at."""
POINTS = 20
"""So many points of the line are looked at, and one beyond."""


def mixed_delta(g: float, o: float, epsilon: float) -> tuple[float, float]:
    """Bounds, from below and from above, on E[D(ε − Y)]: see the top of this file.

    Args:
        g: what Gaussian noise costs in all.
        o: what all else costs, in ρ.
        epsilon: ε.

    >>> low, high = mixed_delta(0.02, 0.005, 1)
    >>> f"{low:.3g}", f"{high:.3g}"
    ('6.54e-07', '6.57e-07')
    """
    if o <= 0:
        high = gaussian_delta(g, epsilon)
        return high * (1 - 1e-6), high
    slopes = _slopes(g + o, epsilon)
    nodes = [
        (a, epsilon - (2 * a + 1) * o + math.log1p(1 / a), -a * a * o - math.log1p(a))
        for a in slopes
        if a * a * o < LOWEST
    ]
    high, below, above = math.inf, 0.0, 0.0
    slope, offset = 0.0, 0.0  # the first tangent is the constant 1
    for a, at, log_height in nodes:
        height = log_height - a * at
        crossing = min((offset - height) / (a - slope), high)
        above += max(_mean(offset, slope, crossing, high, g))
        slope, offset, high = a, height, crossing
    above += max(_mean(offset, slope, -math.inf, high, g))
    for (_, right, log_right), (_, left, log_left) in pairwise(nodes):
        chord = (log_right - log_left) / (right - left)
        below += min(_mean(log_right - chord * right, chord, left, right, g))
    return below * (1 - 1e-9), min(1.0, above * (1 + 1e-9) + 1e-290)


def _slopes(total: float, epsilon: float) -> list[float]:
    """Slopes a for tangents and chords: many around the one that zCDP alone would take, few far from it."""
    low, high = 1e-9, 1e12
    for _ in range(60):
        a = math.sqrt(low * high)
        low, high = (a, high) if (2 * a + 1) * total - epsilon < math.log1p(1 / a) else (low, a)
    near = [a * 1.08**power for power in range(-24, 25)]
    return [near[0] / 2**k for k in range(8, 0, -1)] + near + [near[-1] * 2**k for k in range(1, 9)]


def _mean(offset: float, slope: float, low: float, high: float, g: float) -> tuple[float, float]:
    """Bounds on the mean of e^(offset + slope·Y) where low < Y < high, Y from N(g, 2g).

    They are equal, but for rounding, unless floats overflow or underflow.
    """
    shift, scale = 2 * slope * g, offset + slope * (slope + 1) * g
    chance = _chance(low - shift, high - shift, g)
    if scale < 600 and chance > 1e-290:
        return (math.exp(scale) * chance,) * 2
    highest = min(offset + slope * high, 0.0) if slope else offset
    return 0.0, math.exp(highest) * _chance(low, high, g)


def _chance(low: float, high: float, g: float) -> float:
    """Pr[low < Y < high], Y from N(g, 2g)."""
    lower, upper = ((end - g) / (2 * math.sqrt(g)) for end in (low, high))
    if lower > 0:  # the difference of small tails, not of numbers near 1
        lower, upper = -upper, -lower
    return (math.erfc(-upper) - math.erfc(-lower)) / 2


@lru_cache(maxsize=256)
def mixed_total(epsilon: Fraction, delta: Fraction) -> Fraction:
    """R: the whole budget for (ε, δ), if what is not Gaussian noise is dearer by `DEARER`; rounded down.

    >>> one, millionth = Fraction(1), Fraction(1, 10**6)
    >>> f"{float(mixed_total(one, millionth)):.5f}", f"{float(rho_of(one, millionth)):.5f}"
    ('0.02710', '0.02436')
    """
    alone, most = float(rho_of(epsilon, delta)), float(gaussian_total(epsilon, delta))
    low, high = 0.0, 1.0
    for _ in range(9):
        middle = (low + high) / 2
        fits = line_fits(alone + middle * (most - alone), epsilon, delta)
        low, high = (middle, high) if fits else (low, middle)
    return max(short(alone + low * (most - alone)), rho_of(epsilon, delta))


def line_fits(total: float, epsilon: Fraction, delta: Fraction) -> bool:
    """Whether δ(G, O) ≤ δ wherever G + W·O ≤ `total`.

    Args:
        total: R.
        epsilon: ε.
        delta: δ.
    """
    e, chance = within(epsilon, delta)
    alone = float(rho_of(epsilon, delta))
    price = float(DEARER) * total / alone
    if gaussian_delta(total, e) > chance:
        return False
    last = max(total - alone * (1 - 1e-6), 0) / (price - 1)
    at = [last * (k / POINTS) ** 2 for k in range(POINTS + 2)]
    if total - price * at[-1] <= 0:
        return False
    left = [total - price * o for o in at]  # of Gaussian noise
    bounds = [mixed_delta(g, o, e) for g, o in zip(left, at, strict=True)]
    low, high = (
        [math.log(each[side]) + math.log(g) / 2 for each, g in zip(bounds, left, strict=True)]
        for side in (0, 1)
    )
    allowed = math.log(chance) - 1e-9
    for i in range(POINTS):
        step = at[i + 1] - at[i]
        falling = (high[i + 1] - low[i + 2]) / (at[i + 2] - at[i + 1])
        corners = [(step, high[i + 1])]
        if i == 0:
            corners.append((0.0, high[1] + falling * step))
        else:
            rising = (high[i] - low[i - 1]) / (at[i] - at[i - 1])
            # Where high[i] + rising·t and high[i + 1] + falling·(step − t) meet.
            t = (high[i + 1] + falling * step - high[i]) / (rising + falling) if rising + falling > 0 else 0.0
            t = min(max(t, 0.0), step)
            corners += [(0.0, high[i]), (t, max(high[i] + rising * t, high[i]))]
        if any(value - math.log(left[i] - price * t) / 2 > allowed for t, value in corners):
            return False
    return True
