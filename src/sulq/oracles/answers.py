"""Answers: a value, and how far it may be from the truth."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sulq.privacy.calibration import per_number
from sulq.privacy.noise import Noise
from sulq.privacy.selection import Selection
from sulq.queries.choose import Choice
from sulq.queries.expressions import Node
from sulq.queries.query import Query
from sulq.queries.scope import Scope

Value = Any
"""A float or an array of floats; for a choice, an int or an array of ints."""
Steps = NDArray[np.object_]


@dataclass(frozen=True)
class Answer:
    """What an oracle says to one query: a number, or an array with one axis for each `by`.

    >>> Answer(3.0, lambda beta: 0.5).radius(0.05)
    0.5
    """

    value: Value
    _radius: Callable[[float], Value] = field(repr=False)

    def radius(self, beta: float) -> Value:
        """How far the value is from the answer over the rows themselves, but for a chance of `beta`.

        Of an array, all numbers at once are that close. A mean's radius is an array like the mean; where
        its count may be zero, it is infinite. Of a choice it is how far the chosen score may be from the
        best. Rows being only a sample of something larger is not part of it.
        """
        return self._radius(beta)


@dataclass(frozen=True)
class Part:
    """What is known of the sum of one part of a query, in natural units; without a radius it is exact."""

    values: NDArray[np.float64]
    radius: Callable[[float], float] | None

    def within(self, beta: float) -> float:
        return 0.0 if self.radius is None else self.radius(beta)


def answer_to(query: Query, sums: Sequence[Steps], noises: Sequence[Noise | None], scope: Scope) -> Answer:
    """The statistic a query asks for, from the sums of its parts and the noise that is in them."""
    parts = [_released(scope, *of) for of in zip(query.parts, sums, noises, strict=True)]
    return statistic(query, parts, scope)


def statistic(query: Query, parts: Sequence[Part], scope: Scope) -> Answer:
    """The statistic a query asks for, from what is known of the sums of its parts."""
    shape = query.shape(scope)
    if query.statistic != "mean":
        [only] = parts
        return Answer(_shaped(only.values, shape), only.within)
    total, count = parts
    groups = len(count.values)
    totals, counts = total.values.reshape(groups, -1), count.values[:, np.newaxis]
    with np.errstate(invalid="ignore", divide="ignore"):
        means = totals / counts

    def radius(beta: float) -> Value:
        noisy = [part for part in parts if part.radius is not None]
        r_total, r_count = (part.within(beta / max(1, len(noisy))) for part in parts)
        with np.errstate(invalid="ignore", divide="ignore"):
            ends = [
                np.abs((totals + a) / (counts + b) - means)
                for a in (-r_total, r_total)
                for b in (-r_count, r_count)
            ]
        return _shaped(np.where(counts > r_count, np.max(ends, axis=0), math.inf), shape)

    return Answer(_shaped(means, shape), radius)


def chosen(choice: Choice, indices: Sequence[int], selection: Selection | None, scope: Scope) -> Answer:
    """The candidates chosen, one for each group."""
    shape = choice.shape(scope)
    value = np.array(indices, dtype=np.int64).reshape(shape)

    def radius(beta: float) -> float:
        if selection is None:
            return 0.0
        gap = selection.radius(per_number(beta, len(indices)), len(choice.candidates))
        return float(gap * choice.score_step(scope))

    return Answer(int(value) if shape == () else value, radius)


def _released(scope: Scope, part: Node, steps: Steps, noise: Noise | None) -> Part:
    """The sum of one part of a query, as the nearest floats, with the noise that is in it."""
    unit = scope.number(part).unit
    values = np.array([float(int(step) * unit) for step in steps], dtype=np.float64)
    if noise is None:
        return Part(values, None)

    def radius(beta: float) -> float:
        exact = noise.radius(per_number(beta, len(steps))) * unit
        nearest = float(exact)
        return nearest if nearest >= exact else math.nextafter(nearest, math.inf)

    return Part(values, radius)


def _shaped(values: NDArray[np.float64], shape: tuple[int, ...]) -> Value:
    return float(values.reshape(())) if shape == () else values.reshape(shape)
