"""Noise for a vector whose 2-norm is bounded: the K-norm mechanism of the 2-norm, rounded to whole numbers.

Hardt and Talwar, "On the Geometry of Differential Privacy", 2010: noise Z in ℝ^w with a density
∝ exp(−‖z‖/s), added to a sum x that one person moves by at most Δ in the 2-norm, is Δ/s-differentially
private, because ‖z‖ and ‖z − Δ‖ differ by at most ‖Δ‖.

- **Rounded.** x is a vector of whole numbers, so x + round(Z) = round(x + Z): what is released is made of
  x + Z alone, and promises as much.
- **In blocks.** A sum by groups has one vector for each group. Noise of its own for each block is
  s⁻¹·Σ‖Δ_g‖-private: the 2-norms of what moves in each block add up.
- **A mixture of normal vectors.** With N normal in ℝ^w and V = χ² of w + 1 degrees, √V·N has that density for
  s = 1: its length is √(χ²_w·χ²_(w+1)), which is 2√(G(w/2)·G(w/2 + 1/2)) and so a Gamma variable of shape w,
  by Legendre's duplication formula, as ‖Z‖ is. V is the squared length of a normal vector in ℝ^(w+1). Two
  squares of normal numbers add up to −2·ln U for a uniform U, so V is −2·ln(U₁·…·U_k), where k is half of
  w + 1, and for an even w the square of one more normal number is added.
- **Exact.** round(s·√V·|Nᵢ|) follows from the digits of uniform numbers (`digits.py`) and normal ones
  (`normals.py`), of which as many are drawn as settle it: in floating point with a proven error bound where
  that is enough, and more finely otherwise (`settled.py`).

One coordinate is Z₁ = √V·N₁, of variance (w + 1)·s². So Laplace noise of scale b is as wide as this noise of
scale b/√((w + 1)/2), and costs Δ₁/b in place of Δ₂·√((w + 1)/2)/b. As Δ₁ may be as large as √w·Δ₂, that is up
to √2 times less noise for the same ε.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sulq.errors import QueryError
from sulq.numbers import Numeric, whole
from sulq.privacy.coins import fair_signs
from sulq.privacy.digits import WORD
from sulq.privacy.noise import Draws
from sulq.privacy.ranges import HIGHEST, LOWEST, checked_beta, checked_sensitivity, in_range
from sulq.privacy.settled import drawn, settled

Floats = NDArray[np.float64]

RELATIVE, ABSOLUTE = 2.0**-48, 2.0**-60
"""The floats below err by less: by this part of a coordinate, beside what is worked out for each vector, and
this part of the noise's width."""
_NORMALS = 15 * 2**10
"""So many normal numbers are drawn at a time: they stay in the processor's cache."""
_LEAST, _FACTORS = 2.0**-16, 60
"""Floats are not sure of a vector with a smaller uniform number. A product of so many is 2^-960 or more."""
_NODES = 801
_UP = 1 + 1e-8
"""More than what the integral below is off by."""
_NARROW = 4.0


@dataclass(frozen=True, init=False)
class SphericalLaplace:
    """Vectors of so many whole numbers: round(Z), where Z has a density ∝ exp(−‖z‖/scale) in the 2-norm.

    Args:
        scale: a number from 2^-40 to 2^400, in units of the grid that the noise is added on.
        width: how many numbers a vector has.

    >>> noise = SphericalLaplace(scale=Fraction(7, 2), width=3)
    >>> noise.epsilon(sensitivity=1)
    Fraction(2, 7)
    >>> noise.radius(beta=0.05), round(noise.std, 3)
    (14, 7.006)
    >>> noise.sample(6).shape
    (6,)
    """

    scale: Fraction
    width: int

    def __init__(self, scale: Numeric, width: int) -> None:
        object.__setattr__(self, "scale", in_range("scale", scale, LOWEST, HIGHEST))
        object.__setattr__(self, "width", whole("the width of a vector", width, 1))

    def sample(self, size: int) -> Draws:
        """So many numbers: independent vectors, one after the other.

        Args:
            size: how many numbers, a multiple of the width.
        """
        if size % self.width:
            raise QueryError(f"noise for vectors of {self.width} numbers comes in multiples of that")
        at_once = max(1, _NORMALS // (self.width + 1))
        vectors = [
            self._vectors(min(at_once, size // self.width - done))
            for done in range(0, size // self.width, at_once)
        ]
        return np.concatenate([np.empty(0, dtype=np.int64), *vectors])

    def epsilon(self, sensitivity: Fraction | int) -> Fraction:
        """The pure ε of this noise, if the 2-norms of what one person moves in each vector add up to this."""
        return checked_sensitivity(sensitivity) / self.scale

    @property
    def std(self) -> float:
        """The standard deviation of one number: √((w + 1)·scale² + 1/12), but for narrow noise."""
        wide = math.sqrt(self.width + 1) * float(self.scale)
        if wide >= _NARROW:
            return math.hypot(wide, math.sqrt(1 / 12))
        return math.sqrt(math.fsum((2 * t + 1) * self.tail(t) for t in range(self.radius(1e-30) + 1)))

    def tail(self, t: int) -> float:
        """Pr[|X| > t] of one number X: of |Z₁| > t + 1/2, rounded up.

        >>> round(SphericalLaplace(1000, width=1).tail(2995), 3), round(math.exp(-2.9955), 3)
        (0.05, 0.05)
        """
        return 1.0 if t < 0 else tail_of(float((int(t) + Fraction(1, 2)) / self.scale), self.width)

    def radius(self, beta: float | Fraction) -> int:
        """The smallest r with Pr[|X| > r] ≤ beta, but for rounding up."""
        furthest = Fraction(quantile_of(float(checked_beta(beta)), self.width))
        return max(0, math.ceil(furthest * self.scale - Fraction(1, 2)))

    def _vectors(self, many: int) -> Draws:
        """So many vectors: numbers are settled in floats where that is sure.

        N is off by less than 2^-52 of itself and 2^-64. The scale, the root and two products are rounded,
        each by 2^-53 of itself at most. That is less than 2^-50 of a coordinate, beside what √V is off by.
        """
        w = self.width
        numbers, spreads = drawn(many, w, self.scale)
        sizes = numbers.floats.reshape(many, w)
        squares, off = _squares(spreads.chances.first.reshape(-1, many), spreads.sizes.floats)
        spread = float(self.scale) * np.sqrt(squares)
        product = spread[:, np.newaxis] * sizes
        rounded = np.rint(product)
        room = np.where(off < 1, 0.5 - spread * ABSOLUTE, 0.0)
        sure = np.abs(product - rounded) < room[:, np.newaxis] - product * (RELATIVE + off)[:, np.newaxis]
        if sure.all():
            return rounded.astype(np.int64).ravel() * fair_signs(many * w)
        known = np.where(sure, rounded, 0.0).astype(np.int64)
        return settled(numbers, spreads, known, ~sure).ravel() * fair_signs(many * w)


def _squares(words: NDArray[np.uint64], more: Floats) -> tuple[Floats, Floats]:
    """V of each vector, and by which part √V is off at most, beside 2^-49; or 1 if floats cannot say.

    For U above 2^-16, digits to come change ln U by less than 2^-64/U, so by 2^-51 of itself or by 2^-63.
    Rounding U and a product changes the sum of k logarithms by 2^-52·k. NumPy's logarithms err by less than
    2^-49 of themselves, a square by less than 2^-50 of V, and each addition by 2^-53 of V. As parts of √V,
    all these are half as large.

    Args:
        words: the first 64 digits of U_1, …, U_k, in columns.
        more: another normal number for each vector, or none.
    """
    k, blocks = len(words), range(0, len(words), _FACTORS)
    chances = np.maximum(words * 2.0**-WORD, _LEAST)
    logs = sum(np.log(np.multiply.reduce(chances[at : at + _FACTORS])) for at in blocks)
    squares = np.maximum((more**2 if more.size else 0) - 2 * logs, _LEAST * k)
    off = k * 2.0**-51 / squares + 2.0**-54 * len(blocks)
    return squares, np.where((chances.min(axis=0) > _LEAST) & (squares > _LEAST * k), off, 1.0)


@lru_cache(maxsize=4096)
def tail_of(x: float, width: int) -> float:
    """Pr[|Z₁| > x] for a scale of 1, rounded up: Pr[√V·|N| > x] as an integral over u = ln V.

    The integrand, V^((w + 1)/2)·exp(−V/2)·erfc(x/√(2V)) but for a constant, is smooth and falls exponentially
    or faster on both sides, so the trapezoid rule converges faster than any power of its step.

    >>> round(tail_of(2.0, width=3) * math.exp(2.0), 6)  # for odd w, Z₁ is a sum of (w + 1)/2 Laplace numbers
    2.0
    """
    half = (width + 1) / 2
    peak = half + math.hypot(half, x)  # of all but the root in erfc(y) < exp(−y²)/y
    rise, fall = x * x / (2 * peak), peak / 2
    left = _until(lambda d: half * d + rise * math.expm1(d) + fall * math.expm1(-d))
    right = _until(lambda d: fall * math.expm1(d) + rise * math.expm1(-d) - half * d)
    u = math.log(peak) + np.linspace(-left, right, _NODES)
    v = np.exp(u)
    logs = half * (u - math.log(2)) - v / 2 - math.lgamma(half)
    beyond = np.array([math.erfc(each) for each in (x / np.sqrt(2 * v)).tolist()])
    chance = float(np.sum(np.exp(logs) * beyond)) * (left + right) / (_NODES - 1)
    return min(1.0, chance * _UP)


@lru_cache(maxsize=4096)
def quantile_of(beta: float, width: int) -> float:
    """The smallest x with Pr[|Z₁| > x] ≤ beta for a scale of 1, rounded up.

    >>> round(quantile_of(0.05, width=1), 3), round(math.log(20), 3)
    (2.996, 2.996)
    """
    low, high = 0.0, 1.0
    while tail_of(high, width) > beta:
        low, high = high, 2 * high
    while high - low > high * 1e-12:
        middle = (low + high) / 2
        low, high = (low, middle) if tail_of(middle, width) <= beta else (middle, high)
    return high


def _until(lost: Callable[[float], float]) -> float:
    """How far from its peak an integrand is less than e^-42 of it."""
    distance = 1e-4
    while lost(distance) < 42:
        distance *= 1.25
    return distance
