"""The SuLQ paper's own calibrations, as printed: a number of queries known beforehand, and noise for it.

They are here for the record and for comparison; `Laplace` and `Gaussian` in `calibration` promise the same
for far less noise. The budget is a number of queries, T, and every number of an answer is a query. The
paper's queries are functions into [0, 1] and its people have one row each, so that one person moves a query
by at most 1. The noise of other queries is stretched by how far one person moves them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sulq.errors import QueryError
from sulq.numbers import Numeric, rational, whole
from sulq.privacy.noise import DiscreteGaussian, DiscreteLaplace, Noise
from sulq.privacy.ranges import HIGHEST, LOWEST
from sulq.privacy.repeated import MOST, RepeatedNoise, repetitions
from sulq.privacy.terms import Contest, SumFacts, Terms
from sulq.privacy.tolerances import per_number

UPWARD = 1 + Fraction(1, 2**40)
"""More than the rounding of the logarithm below, and enough to make the paper's > strict."""
WIDEST = HIGHEST / 2**80
"""The widest noise of values in [0, 1]: one person moves a sum by far fewer than 2^80 steps of its grid."""
NUMBER = "the number of queries T of the paper's calibrations"
LEAST_VARIANCE = 4


@dataclass(frozen=True, init=False)
class SulqGaussian:
    """(ε, δ, T)-privacy by N(0, R) with R > 8T·ln²(T/δ)/ε²: Theorem 1 of the SuLQ paper, or Theorem 4.

    The theorem says "for all ε, δ, T". Its proof needs R ≥ 4, and its two bad events together have a chance
    of δ only where δ is not close to 1. So what is used here has to meet two conditions: R ≥ 4, and that a
    gain or loss of more than ε has a chance of at most δ. The second is checked by the tail of T answers with
    discrete Gaussian noise, each moved by at most 1: with ρ = T/2R it is 2·exp(−(ε − ρ)²/4ρ) (Bun and
    Steinke, 2016, Lemma 3.5, on both sides).

    Theorem 4 has a δ for a single step that is too long and a γ for all of them together:
    R > 8·ln(2/γ)·ln(T/δ)·T/ε² + (2λ√T + T)/ε with λ = √(2·ln(2/γ)). What is lost is more than ε with a chance
    of at most δ + γ, and the same two conditions are checked for that.

    Args:
        epsilon: ε.
        delta: δ.
        queries: the number of queries T.
        gamma: γ of Theorem 4; None takes Theorem 1.

    >>> round(float(SulqGaussian(epsilon=1, delta="1e-6", queries=100).variance))
    271457
    >>> round(float(SulqGaussian(epsilon=1, delta="5e-7", queries=100, gamma="5e-7").variance))
    232662
    """

    epsilon: Fraction
    delta: Fraction
    queries: int
    gamma: Fraction | None

    def __init__(self, epsilon: Numeric, delta: Numeric, queries: int, gamma: Numeric | None = None) -> None:
        object.__setattr__(self, "epsilon", rational("epsilon", epsilon))
        object.__setattr__(self, "delta", rational("delta", delta, below=1))
        object.__setattr__(self, "queries", whole(NUMBER, queries, 1))
        object.__setattr__(self, "gamma", None if gamma is None else rational("gamma", gamma, below=1))
        _refuse_wide(Fraction(self.queries), WIDEST**2)
        _refuse_wide(self.variance, WIDEST**2)
        if self.variance < LEAST_VARIANCE:
            raise QueryError(
                f"{self._theorem} of the SuLQ paper is proved for a variance R of at least {LEAST_VARIANCE}, "
                f"and this one would be {float(self.variance):.3g}: take a smaller epsilon, more queries, or "
                "calibration='tight'"
            )
        rho, failing = self.queries / (2 * self.variance), self.delta + (self.gamma or 0)
        if rho >= self.epsilon or (self.epsilon - rho) ** 2 / (4 * rho) < _logarithm(2 / failing):
            raise QueryError(
                f"{self._theorem} of the SuLQ paper does not hold for a delta of {float(self.delta):g} with "
                f"{self.queries} queries: more than epsilon is lost more often than that; take a smaller "
                "delta, or calibration='tight'"
            )

    @property
    def _theorem(self) -> str:
        return "Theorem 1" if self.gamma is None else "Theorem 4"

    @property
    def variance(self) -> Fraction:
        """R, for values in [0, 1]."""
        many, steps = self.queries, _logarithm(self.queries / self.delta)
        if self.gamma is None:
            return 8 * many * steps**2 / self.epsilon**2 * UPWARD
        rare = _logarithm(2 / self.gamma)
        deviations = Fraction(math.sqrt(2 * rare)) * Fraction(math.sqrt(many))
        return (8 * rare * steps * many / self.epsilon**2 + (2 * deviations + many) / self.epsilon) * UPWARD

    @property
    def unit(self) -> str:
        return "queries"

    @property
    def total(self) -> Fraction:
        return Fraction(self.queries)

    @property
    def form(self) -> dict[str, Any]:
        """The calibration as plain data; `sulq.privacy.reading.calibration_of` reads it back."""
        numbers = {"epsilon": str(self.epsilon), "delta": str(self.delta)}
        stated = {} if self.gamma is None else {"gamma": str(self.gamma)}
        return {"is": "sulq gaussian"} | numbers | {"queries": self.queries} | stated

    def describe(self) -> str:
        failing = float(self.delta + (self.gamma or 0))
        return f"(ε, δ, T) = ({float(self.epsilon):g}, {failing:g}, {self.queries}) (SuLQ, Gaussian)"

    def for_cost(self, sums: Sequence[SumFacts], contests: Sequence[Contest], cost: Fraction | None) -> Terms:
        """Every number costs one query, whatever share was stated."""
        return _terms(sums, contests, self._noise)

    def for_tolerances(self, sums: Sequence[SumFacts]) -> Terms:
        """Every query is asked so often that the mean of the answers is within its tolerance: section 4.5."""
        return _emulated(sums, self._noise)

    def _noise(self, steps: Fraction) -> Noise:
        return DiscreteGaussian(self.variance * steps**2)


@dataclass(frozen=True, init=False)
class SulqLaplace:
    """(ε, 0, T)-privacy by Laplace noise of scale R > T/ε: Theorem 5 of the SuLQ paper.

    >>> float(SulqLaplace(epsilon="1/2", queries=100).scale)
    200.0000000001819
    """

    epsilon: Fraction
    queries: int

    def __init__(self, epsilon: Numeric, queries: int) -> None:
        object.__setattr__(self, "epsilon", rational("epsilon", epsilon))
        object.__setattr__(self, "queries", whole(NUMBER, queries, 1))
        _refuse_wide(self.scale, WIDEST)

    @property
    def scale(self) -> Fraction:
        """R, for values in [0, 1]."""
        return self.queries / self.epsilon * UPWARD

    @property
    def variance(self) -> Fraction:
        """2R², for values in [0, 1]: the continuous law's."""
        return 2 * self.scale**2

    @property
    def unit(self) -> str:
        return "queries"

    @property
    def total(self) -> Fraction:
        return Fraction(self.queries)

    @property
    def form(self) -> dict[str, Any]:
        """The calibration as plain data; `sulq.privacy.reading.calibration_of` reads it back."""
        return {"is": "sulq laplace", "epsilon": str(self.epsilon), "queries": self.queries}

    def describe(self) -> str:
        return f"(ε, δ, T) = ({float(self.epsilon):g}, 0, {self.queries}) (SuLQ, Laplace)"

    def for_cost(self, sums: Sequence[SumFacts], contests: Sequence[Contest], cost: Fraction | None) -> Terms:
        """Every number costs one query, whatever share was stated."""
        return _terms(sums, contests, self._noise)

    def for_tolerances(self, sums: Sequence[SumFacts]) -> Terms:
        """Every query is asked so often that the mean of the answers is within its tolerance: section 4.5."""
        return _emulated(sums, self._noise)

    def _noise(self, steps: Fraction) -> Noise:
        return DiscreteLaplace(max(LOWEST, self.scale * steps))


def _terms(
    sums: Sequence[SumFacts], contests: Sequence[Contest], noise: Callable[[Fraction], Noise]
) -> Terms:
    if contests:
        raise QueryError("the paper's calibrations answer sums only: a choice needs the tight one")
    numbers = sum(facts.width for facts in sums if facts.moves1)
    return Terms(
        Fraction(numbers),
        tuple(noise(facts.reach / facts.step) if facts.moves1 else None for facts in sums),
    )


def _emulated(sums: Sequence[SumFacts], noise: Callable[[Fraction], Noise]) -> Terms:
    """What keeps all tolerances by repetition, at the price of a query for every number every time."""
    repeated = [_repeated(facts, noise(facts.reach / facts.step)) if facts.moves1 else None for facts in sums]
    costs = (facts.width * each.times for facts, each in zip(sums, repeated, strict=True) if each is not None)
    if (cost := sum(costs)) > MOST:
        raise QueryError(f"a round takes at most {MOST:,} repetitions, not {cost:,}: allow larger tolerances")
    return Terms(Fraction(cost), tuple(repeated))


def _repeated(facts: SumFacts, noise: Noise) -> RepeatedNoise:
    assert facts.tolerance is not None and facts.beta is not None
    chance = per_number(facts.beta, facts.width)
    return RepeatedNoise(noise, repetitions(noise, facts.tolerance / facts.step, chance))


def _refuse_wide(noise: Fraction, most: Fraction) -> None:
    """Refuse beforehand what would be refused in the middle of a run, where grids are fine."""
    if noise > most:
        raise QueryError("so many queries at so small an epsilon take noise that is too wide: ask fewer")


def _logarithm(ratio: Fraction) -> Fraction:
    """Of any size: integers beyond the range of floats have a logarithm too."""
    return Fraction(math.log(ratio.numerator) - math.log(ratio.denominator))
