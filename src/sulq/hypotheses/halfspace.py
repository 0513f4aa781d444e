"""Halfspaces: a weighted sum of features, and on which side of zero it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Group, RenderableType
from rich.text import Text

from sulq.hypotheses.hypothesis import Hypothesis, enumerated
from sulq.pictures import bars
from sulq.pictures.svg import clean
from sulq.queries.node import Node
from sulq.queries.products import Dot, dot
from sulq.queries.vectors import Vector, features, vector
from sulq.talk.columns import with_error

NAMED = 4
"""How many columns a headline names."""


@dataclass(frozen=True, eq=False)
class Halfspace(Hypothesis):
    """True of a row where ⟨features, weights⟩ + intercept > 0, each feature scaled to [−1, 1].

    Its `expression` is true or false, also where the label is a category.

    Args:
        schema: what is public about the columns.
        origin: where the hypothesis comes from, if it was learned.
        label: what it is about, in words.
        features: the columns that span the space.
        weights: the weight of each feature.
        intercept: what is added to the weighted sum.
        values: what to predict for false and true, where the label is a category; else None.
        noise: how much of a weight may be noise, at 95 % for all of them; 0 if none is, or nobody said.
        mistakes: about how many rows are on the wrong side or on the edge; None where that was not asked.
        mistakes_error: how far off that number is by noise, at 95 %.

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

    @property
    def expression(self) -> Node:
        return score(self.features, (*self.weights, self.intercept)) > 0

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
            return self._title
        largest = sorted(zip(self.weights, self.features, strict=True), key=lambda pair: -abs(pair[0]))
        terms = " ".join(
            f"[{weight:+.2f} {name}]" if bars.drowned(weight, self.noise) else f"{weight:+.2f} {name}"
            for weight, name in largest
        )
        rule = f"{self._about} where {terms} {self.intercept:+.2f} > 0 (features scaled to [−1, 1])"
        return "\n".join([rule, *([self._wrong] if self._wrong else []), *self.doubts])

    @property
    def headline(self) -> str:
        if self._nowhere:
            return f"{self._title}."
        largest = sorted(zip(self.weights, self.features, strict=True), key=lambda pair: -abs(pair[0]))
        known = [name for weight, name in largest if not bars.drowned(weight, self.noise)]
        by = f"by {', '.join(known[:NAMED])}" if known else "by no column that can be told from noise"
        return f"{self._about} is told {by}. {self._wrong}".strip()

    @property
    def doubts(self) -> tuple[str, ...]:
        weights = zip(self.features, self.weights, strict=True)
        quiet = [name for name, weight in weights if bars.drowned(weight, self.noise)]
        if not quiet or self._nowhere:
            return ()
        start = f"The weight of {quiet[0]} is"
        if len(quiet) > 1:
            start = f"The weights of {enumerated(quiet)} are"
        return (f"{start} within the noise (± {self.noise:.2g}).",)

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
        return not any(self.weights) and not self.intercept

    @property
    def _title(self) -> str:
        if self._nowhere:
            return f"{self._about} nowhere: the mistakes could not be told from noise"
        return f"{self._about} where the sum is above 0"

    @property
    def _panel(self) -> bars.Panel:
        weights = zip(self.features, self.weights, strict=True)
        numbers = (*weights, ("(intercept)", self.intercept))
        return bars.Panel("features scaled to [−1, 1]", numbers, self.noise)


def score(names: Sequence[str], weights: Sequence[float]) -> Dot:
    """⟨x, w⟩ for the features and a constant 1: what the learner asks about and the hypothesis says."""
    return dot(point(names), weights)


def point(names: Sequence[str]) -> Vector:
    """The features of a row and a constant 1, whose weight is the intercept."""
    return vector(features(*names), 1)
