"""Halfspaces: a weighted sum of features, and on which side of zero it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Group, RenderableType
from rich.text import Text

from sulq.errors import QueryError
from sulq.hypotheses.hypothesis import Hypothesis, enumerated
from sulq.pictures import bars
from sulq.pictures.svg import clean
from sulq.queries.codes import OneHot
from sulq.queries.expressions import Column
from sulq.queries.missing import coordinate
from sulq.queries.node import Node
from sulq.queries.products import dot
from sulq.queries.vectors import Vector, features, vector
from sulq.schema import Category, Schema
from sulq.talk.columns import with_error

NO_BETTER = "no halfspace could be told to make fewer mistakes"
NAMED = 4
"""How many columns a headline names."""


@dataclass(frozen=True, eq=False)
class Halfspace(Hypothesis):
    """True of a row where ⟨features, weights⟩ + intercept > 0, each number scaled to [−1, 1] unless said.

    Its `expression` is true or false, also where the label is a category.

    Args:
        schema: what is public about the columns.
        origin: where the hypothesis comes from, if it was learned.
        label: what it is about, in words.
        features: the columns that span the space.
        weights: the weights of the features, one after the other: one weight for a number or a truth value,
            and for a category one weight for each of its values, `(other)` included where there is one.
        intercept: what is added to the weighted sum.
        values: what to predict for false and true, where the label is a category; else None.
        noise: how much of a weight may be noise, at 95 % for all of them; 0 if none is, or nobody said.
        mistakes: about how many rows are on the wrong side or on the edge; None where that was not asked.
        mistakes_error: how far off that number is by noise, at 95 %.
        noises: the same as `noise` for each weight and for the intercept, where they differ.
        scaled: whether numbers are scaled to [−1, 1], and not in their own units.

    >>> import sulq
    >>> schema = sulq.Schema({"age": sulq.Real(0, 100), "income": sulq.Real(0, 50)})
    >>> rich = Halfspace(schema, None, "rich", ("age", "income"), (0.5, 2.0), -1.0, None)
    >>> print(rich.describe())
    rich where +2.00 income +0.50 age -1.00 > 0 (features scaled to [−1, 1])
    >>> rich.predict({"age": [50, 50], "income": [20, 40]})
    array([False,  True])
    >>> noisy = Halfspace(schema, None, "rich", ("age", "income"), (0.5, 2.0), -1.0, None, 0.7, 90.0, 15.0)
    >>> print(noisy.describe())
    rich where +2.00 income [+0.50 age] -1.00 > 0 (features scaled to [−1, 1])
    On the wrong side of it, or on its edge, are 90 ± 15 rows.
    The weight of age is within the noise (± 0.7).
    >>> schema = sulq.Schema({"age": sulq.Real(0, 100), "town": sulq.Category(["x", "y"], missing="x")})
    >>> print(Halfspace(schema, None, "rich", ("age", "town"), (0.5, -1.0, 2.0), 0.0, None).describe())
    rich where +2.00 town is y -1.00 town is x +0.50 age +0.00 > 0 (features scaled to [−1, 1])
    >>> print(Halfspace(schema, None, "old", ("age",), (0.02,), -1.0, None, scaled=False).describe())
    old where +0.02 age -1.00 > 0 (features in their own units)
    """

    wire = "halfspace"

    label: str
    features: tuple[str, ...]
    weights: tuple[float, ...]
    intercept: float
    values: tuple[str, str] | None
    noise: float = 0.0
    mistakes: float | None = None
    mistakes_error: float = 0.0
    noises: tuple[float, ...] = ()
    scaled: bool = field(default=True, metadata={"written": "if stated"})

    @property
    def weighed(self) -> tuple[tuple[str, str | None], ...]:
        """What each weight belongs to: a column, and for a category one of its values."""
        return tuple((name, level) for name in self.features for level in _levels(self.schema, name))

    @property
    def names(self) -> tuple[str, ...]:
        """What each weight belongs to, in words."""
        return tuple(name if level is None else f"{name} is {level}" for name, level in self.weighed)

    @property
    def expression(self) -> Node:
        return self.margin > 0

    @property
    def margin(self) -> Node:
        return score(self.schema, self.features, (*self.weights, self.intercept), self.scaled)

    def wrong(self, truth: Node) -> Node:
        return super().wrong(truth if self.values is None else truth == self.values[1])

    def predict(self, frame: Any) -> NDArray[Any]:
        """The label of every row of a frame: truth values, or the category's values."""
        sides = np.asarray(super().predict(frame), dtype=bool)
        if self.values is None:
            return sides
        false, true = self.values
        return np.where(sides, true, false)

    def describe(self) -> str:
        if self._nowhere:
            return "\n".join([self._title, *([self._wrong] if self._wrong else [])])
        terms = " ".join(
            f"[{weight:+.2f} {name}]" if quiet else f"{weight:+.2f} {name}"
            for name, weight, quiet in self._by_size
        )
        rule = f"{self._about} where {terms} {self.intercept:+.2f} > 0 ({self._units})"
        return "\n".join([rule, *([self._wrong] if self._wrong else []), *self.doubts])

    @property
    def headline(self) -> str:
        if self._nowhere:
            return f"{self._title}. {self._wrong}".strip()
        known = [name for name, _, quiet in self._by_size if not quiet]
        by = f"by {', '.join(known[:NAMED])}" if known else "by no column that can be told from noise"
        return f"{self._about} is told {by}. {self._wrong}".strip()

    @property
    def doubts(self) -> tuple[str, ...]:
        weights = zip(self.names, self.weights, self._noises, strict=False)
        quiet = [name for name, weight, noise in weights if bars.drowned(weight, noise)]
        if not quiet or self._nowhere:
            return ()
        start = f"The weight of {quiet[0]} is"
        if len(quiet) > 1:
            start = f"The weights of {enumerated(quiet)} are"
        most = "" if len(set(self._noises)) == 1 else "at most "
        return (f"{start} within the noise ({most}± {self.noise:.2g}).",)

    @property
    def _wrong(self) -> str:
        """How many mistakes it makes, in words."""
        if self.mistakes is None:
            return ""
        many = with_error(self.mistakes, self.mistakes_error, 0)
        return f"On the wrong side of it, or on its edge, are {many} rows."

    def picture(self) -> str:
        return bars.picture(self._title, [self._panel], note=self._caption)

    def drawing(self) -> RenderableType:
        below = [Text(self._wrong)] if self._wrong else []
        return Group(Text(clean(self._title), "bold"), bars.drawing([self._panel]), *below)

    @property
    def _about(self) -> str:
        return self.label if self.values is None else f"{self.label} is {self.values[1]}"

    @property
    def _nowhere(self) -> bool:
        return not any(self.weights)

    @property
    def _units(self) -> str:
        return f"features {'scaled to [−1, 1]' if self.scaled else 'in their own units'}"

    @property
    def _title(self) -> str:
        if self._nowhere and not self.intercept:
            return f"{self._about} nowhere: the mistakes could not be told from noise"
        if self._nowhere:
            return f"{self._about} {'everywhere' if self.intercept > 0 else 'nowhere'}: {NO_BETTER}"
        return f"{self._about} where the sum is above 0"

    @property
    def _noises(self) -> tuple[float, ...]:
        """How much of each weight may be noise, and of the intercept."""
        return self.noises or (self.noise,) * (len(self.weights) + 1)

    @property
    def _by_size(self) -> list[tuple[str, float, bool]]:
        """The weights with their names, the largest first, and whether each is within its noise."""
        weights = tuple(zip(self.names, self.weights, strict=True))
        return bars.Panel("", weights, self._noises[: len(weights)]).by_size

    @property
    def _panel(self) -> bars.Panel:
        weights = zip(self.names, self.weights, strict=True)
        numbers = (*weights, ("(intercept)", self.intercept))
        return bars.Panel(self._units, numbers, self._noises)

    def _check(self) -> None:
        if len(self.weights) != len(self.names):
            raise QueryError(f"this halfspace has {len(self.names)} weights, not {len(self.weights)}")
        if len(self._noises) != len(self.weights) + 1:
            raise QueryError("a halfspace has a noise for each weight and for the intercept, or none")
        super()._check()


def score(schema: Schema, names: Sequence[str], weights: Sequence[float], scaled: bool = True) -> Node:
    """⟨x, w⟩ for the features and a constant 1: what the learner asks about and the hypothesis says.

    Beside columns in their own units a constant 1 would be on a grid of theirs, so there it is added.

    Args:
        schema: what is public about the columns.
        names: the features.
        weights: the weights of the features, and the intercept.
        scaled: whether numbers are scaled to [−1, 1].
    """
    row = point(schema, names, scaled)
    return dot(vector(row, 1), weights) if scaled else dot(row, weights[:-1]) + weights[-1]


def point(schema: Schema, names: Sequence[str], scaled: bool = True) -> Node:
    """The features of a row: numbers, and for a category a 1 in the place of its value.

    Args:
        schema: what is public about the columns.
        names: the features.
        scaled: whether numbers are scaled to [−1, 1].
    """
    if scaled and not any(isinstance(schema[name], Category) for name in names):
        return features(*names)
    return Vector(tuple(_part(schema, name, scaled) for name in names))


def _part(schema: Schema, name: str, scaled: bool) -> Node:
    """The part of a point that one column makes."""
    if isinstance(schema[name], Category):
        return OneHot(Column(name))
    return features(name) if scaled else coordinate(name, schema)


def _levels(schema: Schema, name: str) -> Sequence[str | None]:
    """The values of a category, each of which has a weight; a single None for other columns."""
    kind = schema[name]
    return kind.levels if isinstance(kind, Category) else (None,)
