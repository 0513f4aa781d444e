"""Answers: a value, and how far it may be from the truth."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sulq.queries.expressions import Scope
from sulq.queries.rounds import Query

Value = float | NDArray[np.float64]


@dataclass(frozen=True)
class Answer:
    """What an oracle says to one query: a number, or an array with one axis for each `by`."""

    value: Value

    def radius(self, beta: float) -> float:
        """How far the value may be from the true sum, but for a chance of `beta`: here it is the truth."""
        return 0.0


def answer_to(query: Query, sums: list[NDArray[np.object_]], scope: Scope) -> Value:
    """The statistic a query asks for, from the sums of its parts in steps of their grids."""
    natural = [
        _natural(part_sums, scope.number(part).unit)
        for part, part_sums in zip(query.parts, sums, strict=True)
    ]
    shape = query.shape(scope)
    if query.statistic != "mean":
        value = natural[0].reshape(shape)
    else:
        total, count = natural
        groups = len(count)
        with np.errstate(invalid="ignore", divide="ignore"):
            value = (total.reshape(groups, -1) / count[:, np.newaxis]).reshape(shape)
    return float(value) if shape == () else value


def _natural(sums: NDArray[np.object_], unit: Fraction) -> NDArray[Any]:
    """Integers in steps of the grid as the nearest floats."""
    return np.array([float(int(steps) * unit) for steps in sums], dtype=np.float64)
