"""How far off a sum of noisy numbers is.

Noise that a curator adds is independent from number to number, so a weighted sum of it is much smaller than
the sum of its parts at their worst. With weights a, Laplace noise of scale b has the moment generating
function Π 1/(1 − a²b²t²), and Gaussian noise of variance v has exp(Σ a²v t²/2). Noise on the integers has no
larger one than that on the reals. Let c be the largest a·b. As −log(1 − u) is convex and 0 at 0, it is at
most u/c²t² times its value at c²t², for u = a²b²t². So Chernoff's bound is, for every t from 0 to 1/c,

    Pr[sum ≥ x] ≤ exp(−Σ a²b²/c² · log(1 − c²t²) + Σ a²v t²/2 − x t).

Noise for whole vectors of w numbers looks the same in every direction, so the numbers of one vector with
weights a have the moment generating function (1 − |a|²b²t²)^(−(w + 1)/2), as (w + 1)/2 Laplace numbers of
weight |a|. It is rounded afterwards, by half a step at most.

Where reports of people are averaged, their errors may go together: there the parts are taken at their worst.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sulq.errors import QueryError
from sulq.talk.laws import Exactly, Noise, PlainLaw
from sulq.talk.vector_law import VectorNoise

EXPONENTS = np.linspace(0.005, 0.995, 199)
"""Where Chernoff's bound is tried: it holds for each of them, so the smallest one holds."""
LOGARITHMS = -np.log1p(-(EXPONENTS**2))
Weights: TypeAlias = float | NDArray[np.float64]
"""Of one sum, or with a place for each of several sums."""


@dataclass(frozen=True)
class Term:
    """Numbers with errors of one law, each of them times a weight.

    Args:
        law: the law of the errors.
        squares: the sum of the squares of the weights.
        largest: the largest weight, without its sign.
        absolute: the sum of the weights, without their signs.
    """

    law: PlainLaw
    squares: Weights
    largest: Weights
    absolute: Weights


@dataclass(frozen=True)
class WeightedSums:
    """Each number is a sum of noisy numbers times weights, and all numbers have the same weights.

    Noisy numbers with the same law are taken together: for each law there is what a `Term` says.

    Args:
        laws: the laws of the noisy numbers.
        squares: for each law the sum of the squares of the weights.
        largest: for each law the largest weight, without its sign.
        absolute: for each law the sum of the weights, without their signs.
        numbers: how many sums there are.
        factor: what the sums were multiplied by afterwards.
        moved: how far a number was moved at most after that, as where counts are made positive.

    >>> law = Noise("laplace", Fraction(20), Fraction(1), numbers=100)
    >>> mean = WeightedSums((law,), (0.01,), (0.01,), (1.0,), numbers=1)
    >>> round(mean.radius(0.05), 1), round(mean.deviation, 1)
    (7.8, 2.8)
    """

    laws: tuple[PlainLaw, ...]
    squares: tuple[float, ...]
    largest: tuple[float, ...]
    absolute: tuple[float, ...]
    numbers: int
    factor: float = 1.0
    moved: float = 0.0

    def __post_init__(self) -> None:
        weights = (self.squares, self.largest, self.absolute)
        if self.numbers < 1 or any(len(each) != len(self.laws) for each in weights):
            raise QueryError("a law of weighted sums has three weights for each law, and at least one number")

    @classmethod
    def of(cls, terms: Sequence[Term], numbers: int) -> WeightedSums:
        """The law of so many sums of these terms.

        Args:
            terms: what is added up.
            numbers: how many sums there are.
        """
        together: dict[PlainLaw, Term] = {}
        for term in terms:
            key = _alone(term.law)
            together[key] = term if key not in together else _joint(together[key], term)
        kept = list(together.values())
        columns = zip(*((each.law, each.squares, each.largest, each.absolute) for each in kept), strict=True)
        laws, squares, largest, absolute = columns
        return cls(laws, squares, largest, absolute, numbers)

    @property
    def power(self) -> Fraction:
        return min((law.power for law in self.laws), default=Fraction(1))

    @property
    def deviation(self) -> float:
        """Errors of different numbers are taken for independent, which people's reports nearly are."""
        parts = zip(self.laws, self.squares, strict=True)
        return math.sqrt(sum(squares * law.deviation**2 for law, squares in parts)) * self.factor + self.moved

    def radius(self, beta: float) -> float:
        return combined(self._terms, beta, self.numbers) * self.factor + self.moved

    def each(self, beta: float) -> float:
        return combined(self._terms, beta) * self.factor + self.moved

    def times(self, factor: float) -> WeightedSums:
        return replace(self, factor=self.factor * factor, moved=self.moved * abs(factor))

    @property
    def _terms(self) -> list[Term]:
        columns = (self.laws, self.squares, self.largest, self.absolute)
        return [Term(*entry) for entry in zip(*columns, strict=True)]


def _alone(law: PlainLaw) -> PlainLaw:
    """A law without how many numbers have it."""
    if isinstance(law, VectorNoise):
        return replace(law, numbers=law.width)
    return replace(law, numbers=1) if isinstance(law, Noise) else law


def _joint(one: Term, other: Term) -> Term:
    """Both terms, whose laws differ at most in how many numbers have noise."""
    law, more = one.law, other.law
    for kind in (Noise, VectorNoise):
        if isinstance(law, kind) and isinstance(more, kind):
            law = replace(law, numbers=law.numbers + more.numbers)
    largest = max(one.largest, other.largest)
    return Term(law, one.squares + other.squares, largest, one.absolute + other.absolute)


def combined(terms: Sequence[Term], beta: float, numbers: int = 1) -> float:
    """How far off so many sums of these terms are at once, but for a chance of `beta`.

    Args:
        terms: what is added up.
        beta: the chance that one of the sums is further off.
        numbers: how many sums there are, each of them of numbers of its own.

    >>> from fractions import Fraction
    >>> law = Noise("laplace", Fraction(20), Fraction(1), numbers=100)
    >>> [round(combined([Term(law, many, 1, many)], 0.05)) for many in (1, 10, 100)]
    [60, 263, 775]
    """
    noisy = [term for term in terms if not isinstance(term.law, Exactly) and term.absolute > 0]
    if not noisy:
        return 0.0
    worst = float(sum(term.absolute * _radius(term.law, beta / len(noisy)) for term in noisy))
    if not all(isinstance(term.law, Noise | VectorNoise) for term in noisy):
        return worst
    bounds = [worst, one_sided(noisy, beta / numbers / 2)]
    if len(noisy) == 1 and noisy[0].squares == noisy[0].largest ** 2:
        bounds.append(float(noisy[0].largest * noisy[0].law.each(beta / numbers)))
    return min(bounds)


def one_sided(terms: Sequence[Term], beta: float) -> float:
    """How far above the truth one sum is, but for a chance of `beta`; and how far below, likewise.

    Args:
        terms: what is added up.
        beta: the chance that the sum is further off to this side.
    """
    return float(one_sided_each(terms, beta))


def one_sided_each(terms: Sequence[Term], beta: float) -> NDArray[np.float64]:
    """The same for several sums, each on its own.

    Args:
        terms: what is added up; their weights are arrays, with a place for each sum.
        beta: the chance that a sum is further off to this side, for each of them.

    >>> from fractions import Fraction
    >>> law = Noise("laplace", Fraction(20), Fraction(1), numbers=100)
    >>> one_sided_each([Term(law, np.array([1, 10]), np.array([1, 1]), np.array([1, 10]))], 0.025).round()
    array([117., 263.])
    """
    noisy = [term for term in terms if not isinstance(term.law, Exactly)]
    if not all(isinstance(term.law, Noise | VectorNoise) for term in noisy):
        noisy = [term for term in noisy if np.any(term.absolute)]
        return np.asarray(sum(term.absolute * _radius(term.law, beta / len(noisy)) for term in noisy))
    squares, reach, variance, rounding = (np.zeros(()) for _ in range(4))
    for term in noisy:
        assert isinstance(term.law, Noise | VectorNoise)
        unit, parameter = float(term.law.step) * term.law.factor, float(term.law.parameter)
        if isinstance(term.law, VectorNoise):
            width, longest = term.law.width, np.minimum(term.squares, term.law.width * term.largest**2)
            squares = np.asarray(squares + term.squares * (unit * parameter) ** 2 * (width + 1) / 2)
            reach = np.asarray(np.maximum(reach, np.sqrt(longest) * unit * parameter))
            rounding = np.asarray(rounding + term.absolute * unit / 2)
        elif term.law.family == "laplace":
            squares = np.asarray(squares + term.squares * (unit * parameter) ** 2)
            reach = np.asarray(np.maximum(reach, term.largest * unit * parameter))
        else:
            variance = np.asarray(variance + term.squares * unit**2 * parameter)
    rare = math.log(1 / beta)
    furthest = np.where(reach > 0, reach, 1.0)[..., np.newaxis]
    t = EXPONENTS / furthest
    spread = squares[..., np.newaxis] / furthest**2 * LOGARITHMS
    both = ((rare + spread) / t + variance[..., np.newaxis] * t / 2).min(axis=-1)
    return np.asarray(np.where(reach > 0, both, np.sqrt(2 * variance * rare)) + rounding)


@lru_cache(maxsize=4096)
def _radius(law: PlainLaw, beta: float) -> float:
    """A radius, which takes long to find where people report."""
    return law.radius(beta)
