"""Error laws of choices: how far what was chosen may be from the best, as plain data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

from sulq.errors import QueryError
from sulq.privacy.selection import ExponentialMechanism, PermuteAndFlip, Selection
from sulq.privacy.tolerances import per_number
from sulq.talk.laws import PlainLaw


@dataclass(frozen=True)
class Gap:
    """Of a choice: how far the chosen score may be below the best, where noise decided.

    Args:
        mechanism: "permute-and-flip" or "exponential".
        epsilon: the mechanism's ε.
        sensitivity: how far one person moves a score, in steps.
        monotone: whether one person moves all scores the same way.
        candidates: how many were chosen among.
        choices: how many choices were made, each by itself.
        step: one step of a score.
    """

    mechanism: Literal["permute-and-flip", "exponential"]
    epsilon: Fraction
    sensitivity: Fraction
    monotone: bool
    candidates: int
    choices: int
    step: Fraction
    factor: float = 1.0

    def __post_init__(self) -> None:
        if self.mechanism not in MECHANISMS or min(self.candidates, self.choices) < 1 or self.step <= 0:
            raise QueryError("a law of choices has a mechanism, candidates, choices and a positive step")

    @classmethod
    def of(cls, selection: Selection, candidates: int, choices: int, step: Fraction) -> Gap:
        [name] = [name for name, made in MECHANISMS.items() if isinstance(selection, made)]
        settings = (selection.epsilon, selection.sensitivity, selection.monotone)
        return cls(name, *settings, candidates, choices, step)  # type: ignore[arg-type]

    @property
    def selection(self) -> Selection:
        selection: Selection = MECHANISMS[self.mechanism](self.epsilon, self.sensitivity, self.monotone)
        return selection

    @property
    def power(self) -> Fraction:
        return Fraction(1) if self.mechanism == "permute-and-flip" else Fraction(1, 2)

    @property
    def deviation(self) -> float:
        raise QueryError("a choice has no deviation: ask for its radius")

    def radius(self, beta: float) -> float:
        return self.each(per_number(beta, self.choices))

    def each(self, beta: float) -> float:
        return float(self.selection.radius(beta, self.candidates) * self.step) * self.factor

    def times(self, factor: float) -> Gap:
        return replace(self, factor=self.factor * factor)


MECHANISMS: dict[str, Any] = {"permute-and-flip": PermuteAndFlip, "exponential": ExponentialMechanism}


@dataclass(frozen=True)
class BestOf:
    """The law of a choice by scores that are noisy themselves: the best score and the chosen one may both be
    off.

    Args:
        laws: the law of each candidate's score.
        factors: how far each candidate's score can be off, in radii of its law.
    """

    laws: tuple[PlainLaw, ...]
    factors: tuple[float, ...]

    @property
    def power(self) -> Fraction:
        return min(law.power for law in self.laws)

    @property
    def deviation(self) -> float:
        raise QueryError("a choice has no deviation: ask for its radius")

    def radius(self, beta: float) -> float:
        each = beta / len(self.laws)
        pairs = zip(self.laws, self.factors, strict=True)
        return max(factor * law.radius(each) for law, factor in pairs)

    def each(self, beta: float) -> float:
        return self.radius(beta)

    def times(self, factor: float) -> BestOf:
        return replace(self, factors=tuple(factor * each for each in self.factors))


@dataclass(frozen=True)
class Population:
    """Of what was found: on how much of the population it may be wrong, if the rows were drawn from there.

    Args:
        error: the part of the population, at most.
        chance: the chance that it is more, or that nothing was found though there was something to find.
    """

    error: float
    chance: float

    def __post_init__(self) -> None:
        if not 0 <= self.error <= 1 or not 0 <= self.chance <= 1:
            raise QueryError("an error and a chance lie between 0 and 1")

    @property
    def power(self) -> Fraction:
        return Fraction(1)

    @property
    def deviation(self) -> float:
        raise QueryError("what was found has no deviation: ask for its radius")

    def radius(self, beta: float) -> float:
        """The stated error; where less than its own chance is asked for, all of the population."""
        return self.error if beta >= self.chance else 1.0

    def each(self, beta: float) -> float:
        return self.radius(beta)

    def times(self, factor: float) -> Population:
        """The same: it is about shares, which do not grow with the rows."""
        return self
