"""Error laws: how far an answer may be from the truth, as plain data.

A law says which family of noise is in an answer, how wide it is, and how the answer was made of what is
noisy. Radii, intervals and deviations are functions of it, so an answer that was stored, sent or unpickled
says as much about its error as one that was just given.

Every law has three functions and one fact:

- `radius(beta)`: no number of the answer is further off, but for a chance of beta;
- `each(beta)`: a single number is not further off, but for that chance;
- `deviation`: one standard deviation of a number, or a bound on it;
- `power`: the error is inverse to this power of what a round may cost.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sulq.errors import QueryError
from sulq.local.central import Tails
from sulq.privacy.noise import DiscreteGaussian, DiscreteLaplace
from sulq.privacy.noise import Noise as Distribution
from sulq.privacy.repeated import RepeatedNoise
from sulq.privacy.tolerances import per_number
from sulq.talk.vector_law import VectorNoise

Value: TypeAlias = Any
"""A float or an array of floats; for a choice, an int or an array of ints."""


@dataclass(frozen=True)
class Exactly:
    """No error at all."""

    @property
    def power(self) -> Fraction:
        return Fraction(1)

    @property
    def deviation(self) -> float:
        return 0.0

    def radius(self, beta: float) -> float:
        return 0.0

    def each(self, beta: float) -> float:
        return 0.0

    def times(self, factor: float) -> Exactly:
        return self


@dataclass(frozen=True)
class Noise:
    """Independent discrete noise in each of so many `numbers`, as a curator adds it.

    Args:
        family: "laplace" or "gaussian".
        parameter: the scale of Laplace noise, the variance of Gaussian noise, in steps of the grid.
        step: one step of the grid, in the unit of the answer.
        numbers: how many numbers have noise of their own.
        factor: what the numbers were multiplied by afterwards.

    >>> law = Noise("laplace", Fraction(20), Fraction(1), numbers=5)
    >>> law.radius(0.05), law.each(0.05), round(law.deviation, 2)
    (92.0, 60.0, 28.28)
    """

    family: Literal["laplace", "gaussian"]
    parameter: Fraction
    step: Fraction
    numbers: int
    factor: float = 1.0

    def __post_init__(self) -> None:
        if self.family not in ("laplace", "gaussian") or self.step <= 0 or self.numbers < 1:
            raise QueryError("a law of noise has a family, a positive step and at least one number")
        self.distribution  # noqa: B018, a parameter that no noise can have is refused

    @classmethod
    def of(cls, noise: Distribution, step: Fraction, numbers: int) -> Noise:
        """The law of noise that was added on a grid."""
        if isinstance(noise, DiscreteLaplace):
            return cls("laplace", noise.scale, step, numbers)
        return cls("gaussian", noise.variance, step, numbers)

    @property
    def distribution(self) -> Distribution:
        """The noise itself, on the integers."""
        return _distribution(self.family, self.parameter)

    @property
    def power(self) -> Fraction:
        return Fraction(1) if self.family == "laplace" else Fraction(1, 2)

    @property
    def deviation(self) -> float:
        return self.distribution.std * float(self.step) * self.factor

    def radius(self, beta: float) -> float:
        return self.each(per_number(beta, self.numbers))

    def each(self, beta: float) -> float:
        exact = self.distribution.radius(beta) * self.step
        nearest = float(exact)
        return (nearest if nearest >= exact else math.nextafter(nearest, math.inf)) * self.factor

    def times(self, factor: float) -> Noise:
        return replace(self, factor=self.factor * factor)


@dataclass(frozen=True)
class MeanOfNoise:
    """The mean of so many answers to the same query: what a SuLQ database says by repetition.

    Args:
        noise: the law of one answer.
        repeated: how often the query was asked.

    >>> once = Noise("gaussian", Fraction(400), Fraction(1), numbers=1)
    >>> round(once.radius(0.05)), round(MeanOfNoise(once, repeated=100).radius(0.05), 1)
    (39, 5.4)
    """

    noise: Noise
    repeated: int

    def __post_init__(self) -> None:
        if not isinstance(self.noise, Noise):
            raise QueryError("a mean of noise has the law of the noise")
        self._repeated  # noqa: B018, a number that nobody asks so often is refused

    @property
    def power(self) -> Fraction:
        return Fraction(1, 2)

    @property
    def deviation(self) -> float:
        return self.noise.deviation / math.sqrt(self.repeated)

    def radius(self, beta: float) -> float:
        return self.each(per_number(beta, self.noise.numbers))

    def each(self, beta: float) -> float:
        return self._repeated.radius(beta) * float(self.noise.step) * self.noise.factor

    def times(self, factor: float) -> MeanOfNoise:
        return replace(self, noise=self.noise.times(factor))

    @property
    def _repeated(self) -> RepeatedNoise:
        return RepeatedNoise(self.noise.distribution, self.repeated)


@lru_cache(maxsize=1024)
def _distribution(family: str, parameter: Fraction) -> Distribution:
    return DiscreteLaplace(parameter) if family == "laplace" else DiscreteGaussian(parameter)


@dataclass(frozen=True)
class Averaged:
    """The mean of what people said, times a factor: what a crowd or a sample answers.

    Args:
        tails: how far the mean of what people say strays.
        people: how many were asked.
        factor: what the mean was multiplied by.

    >>> from sulq.local.tails import Bounded
    >>> law = Averaged(Bounded((0.25,), (1,), above=0.5, below=0.5, span=1.0), people=10_000, factor=50_000)
    >>> round(law.radius(0.05)), round(law.deviation)
    (679, 250)
    """

    tails: Tails
    people: int
    factor: float = 1.0

    @property
    def power(self) -> Fraction:
        return Fraction(1, 2)

    @property
    def deviation(self) -> float:
        return math.sqrt(self.tails.variance / self.people) * self.factor

    def radius(self, beta: float) -> float:
        return self.tails.radius(self.people, beta) * self.factor

    def each(self, beta: float) -> float:
        return self.tails.single.radius(self.people, beta) * self.factor

    def times(self, factor: float) -> Averaged:
        return replace(self, factor=self.factor * factor)


@dataclass(frozen=True)
class Within:
    """Never further off than a tolerance, whatever the chance: the statistical query model's own law.

    Args:
        tolerance: how far off an answer may be.
    """

    tolerance: float

    @property
    def power(self) -> Fraction:
        return Fraction(1)

    @property
    def deviation(self) -> float:
        return self.tolerance

    def radius(self, beta: float) -> float:
        return self.tolerance

    def each(self, beta: float) -> float:
        return self.tolerance

    def times(self, factor: float) -> Within:
        return Within(self.tolerance * factor)


@dataclass(frozen=True)
class Ratio:
    """A mean: a noisy total over a noisy count, group by group.

    Args:
        totals: the totals, one row for each group.
        counts: the counts, one for each group.
        of_totals: the law of the totals.
        of_counts: the law of the counts.
        shape: the shape of the answer.
    """

    totals: tuple[tuple[float, ...], ...]
    counts: tuple[float, ...]
    of_totals: PlainLaw
    of_counts: PlainLaw
    shape: tuple[int, ...]

    @property
    def power(self) -> Fraction:
        return self.of_totals.power

    @property
    def deviation(self) -> Value:
        """To first order: a count that is far from zero is taken for granted."""
        totals, counts = self._arrays
        with np.errstate(invalid="ignore", divide="ignore"):
            means = totals / counts
            spread = np.hypot(self.of_totals.deviation, means * self.of_counts.deviation) / np.abs(counts)
        return shaped(np.where(np.isfinite(spread), spread, math.inf), self.shape)

    def radius(self, beta: float) -> Value:
        """Infinite where a count may be zero."""
        return self._radius(beta, lambda law, part: law.radius(part))

    def each(self, beta: float) -> Value:
        return self._radius(beta, lambda law, part: law.each(part))

    def times(self, factor: float) -> Ratio:
        """Totals and counts both grow, and their ratio does not."""
        return self

    @property
    def _arrays(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        counts = np.array(self.counts)[:, np.newaxis]
        return np.array(self.totals).reshape(len(counts), -1), counts

    def _radius(self, beta: float, of: Any) -> Value:
        totals, counts = self._arrays
        noisy = sum(not isinstance(law, Exactly) for law in (self.of_totals, self.of_counts))
        off, count_off = (of(law, beta / max(1, noisy)) for law in (self.of_totals, self.of_counts))
        with np.errstate(invalid="ignore", divide="ignore"):
            means = totals / counts
            ends = [
                np.abs((totals + a) / (counts + b) - means)
                for a in (-off, off)
                for b in (-count_off, count_off)
            ]
        return shaped(np.where(counts > count_off, np.max(ends, axis=0), math.inf), self.shape)


PlainLaw: TypeAlias = Exactly | Noise | VectorNoise | MeanOfNoise | Averaged | Within
"""The error of sums: every number is as far off as any other."""


def shaped(values: NDArray[np.float64], shape: tuple[int, ...]) -> Value:
    return float(values.reshape(())) if shape == () else values.reshape(shape)
