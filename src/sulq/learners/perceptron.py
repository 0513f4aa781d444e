"""The perceptron: a halfspace, corrected again and again by the rows on its wrong side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from rich.console import Group, RenderableType
from rich.text import Text

from sulq.errors import QueryError
from sulq.learners.features import attribute, feature_names
from sulq.learners.hypothesis import Hypothesis, Origin, words
from sulq.learners.learner import Learner, Rounds
from sulq.pictures import bars
from sulq.pictures.svg import clean
from sulq.queries.cases import where
from sulq.queries.expressions import Column, Node
from sulq.queries.products import Dot, dot
from sulq.queries.query import Exact, count, rational, total
from sulq.queries.rounds import Round
from sulq.queries.scope import Scope
from sulq.queries.vectors import Vector, clip_norm, features, vector
from sulq.schema import Category, Schema

Floats = NDArray[np.float64]
Keep = Literal["last", "average", "best"]
DOUBT = 0.05
"""The chance that noise alone makes a count of no mistakes look like one of some."""


@dataclass(frozen=True, eq=False)
class Halfspace(Hypothesis):
    """True of a row where ⟨features, weights⟩ + intercept > 0, each feature scaled to [−1, 1].

    `label` is what it is about, in words. `values`: what to predict for false and true, where the label is a
    category. Its `expression` is true or false also then.

    >>> import sulq
    >>> schema = sulq.Schema({"age": sulq.Real(0, 100), "income": sulq.Real(0, 50)})
    >>> rich = Halfspace(schema, None, "rich", ("age", "income"), (0.5, 2.0), -1.0, None)
    >>> print(rich.describe())
    rich where +2.00 income +0.50 age -1.00 > 0 (features scaled to [−1, 1])
    >>> rich.predict({"age": [50, 50], "income": [20, 40]})
    array([False,  True])
    """

    label: str
    features: tuple[str, ...]
    weights: tuple[float, ...]
    intercept: float
    values: tuple[str, str] | None

    @property
    def expression(self) -> Node:
        return score(self.features, (*self.weights, self.intercept)) > 0

    def wrong(self, truth: Node) -> Node:
        return super().wrong(truth if self.values is None else truth == self.values[1])

    def predict(self, frame: Any) -> NDArray[Any]:
        """The label of every row of a frame: truth values, or the category's values."""
        said = np.asarray(super().predict(frame), dtype=bool)
        if self.values is None:
            return said
        false, true = self.values
        return np.where(said, true, false)

    def describe(self) -> str:
        if self._nowhere:
            return self._title
        largest = sorted(zip(self.weights, self.features, strict=True), key=lambda pair: -abs(pair[0]))
        terms = " ".join(f"{weight:+.2f} {name}" for weight, name in largest)
        return f"{self._about} where {terms} {self.intercept:+.2f} > 0 (features scaled to [−1, 1])"

    def picture(self) -> str:
        return bars.picture(self._title, [self._panel], note=self._caption)

    def drawing(self) -> RenderableType:
        return Group(Text(clean(self._title), "bold"), bars.drawing([self._panel]))

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
        return bars.Panel("features scaled to [−1, 1]", (*weights, ("(intercept)", self.intercept)))

    def _own(self) -> dict[str, Any]:
        return {
            "label": self.label,
            "features": list(self.features),
            "weights": list(self.weights),
            "intercept": self.intercept,
            "values": None if self.values is None else list(self.values),
        }

    @classmethod
    def _read(cls, schema: Schema, origin: Origin | None, own: dict[str, Any]) -> Halfspace:
        values = own["values"]
        return cls(
            schema,
            origin,
            own["label"],
            tuple(own["features"]),
            tuple(own["weights"]),
            own["intercept"],
            None if values is None else (values[0], values[1]),
        )


@dataclass(frozen=True)
class Perceptron(Learner[Halfspace]):
    """Finds a halfspace that agrees with the label: section 4.3 of the SuLQ paper.

    Every round counts the rows on the wrong side of the halfspace, or on its edge, and sums them, turned to
    the right side; their average is added to the weights. It stops when the count is within its own error
    bar, where the sum would be noise and no substance.

    `label`: a boolean column, an expression that is true or false, or a category of two values, of which the
    second counts as true; rows whose category is `(other)` are on neither side, so they are left out.
    `features`: numeric or boolean columns, by default all that the label does not look at; a constant 1 is
    added to them for the intercept. `iterations`: the most rounds, each of which gets the same part of
    `share`, the part of a budget to spend; rounds not needed are not paid for. `norm`: rows longer than this
    are shortened to it before they are summed, which puts no row on another side of a halfspace; at 1, the
    length of the constant alone, all rows are equally long and none speaks louder than others. `keep`: which
    of the weights to return: the "best", of which the fewest mistakes were told, the "last", as the paper
    does, or the "average" over all rounds. Where some halfspace is right of all rows the best are the last,
    but for noise; where none is, the last go to and fro for ever.

    >>> import sulq
    >>> people = sulq.open(
    ...     {"x": [1, 2, 8, 9] * 9, "y": [False, False, True, True] * 9},
    ...     {"x": sulq.Integer(0, 10), "y": sulq.Boolean()},
    ... )
    >>> halfspace = Perceptron(label="y").learn(people.exact())
    >>> halfspace.predict({"x": [0, 3, 7]})
    array([False, False,  True])
    """

    label: str | Node
    features: Sequence[str] | None = None
    iterations: int = 10
    norm: float = 1
    share: Exact = 1
    keep: Keep = "best"

    def rounds(self, schema: Schema) -> Rounds[Halfspace]:
        label, true, false, values = self._sides(schema)
        names = self._features(schema, label)
        share = self._share()
        row = clip_norm(_point(names), self.norm)
        correction = where(true, row, -row)
        Scope(schema).number(correction)
        w, told = [np.zeros(len(names) + 1)], []
        for _ in range(self.iterations):
            side = score(names, w[-1].tolist())
            wrong = (true & (side <= 0)) | (false & (side >= 0))
            mistakes, sums = yield Round([count(where=wrong), total(correction, where=wrong)], share)
            told.append(mistakes.value)
            if mistakes.value <= mistakes.radius(DOUBT):
                break
            w.append(w[-1] + sums.value / mistakes.value)
        *weights, intercept = self._kept(w, told).tolist()
        return Halfspace(schema, None, words(label), names, tuple(weights), intercept, values)

    def _sides(self, schema: Schema) -> tuple[Node, Node, Node, tuple[str, str] | None]:
        """The label, when it is true, when it is false, and what to call false and true."""
        label = attribute(schema, self.label)
        kind = schema[label.name] if isinstance(label, Column) else None
        if isinstance(label, Column) and isinstance(kind, Category):
            if len(kind.values) != 2:
                raise QueryError(
                    f"the label {label.name!r} has {len(kind.values)} values and not two: compare it with "
                    f"one of them, as in col({label.name!r}) == {kind.values[-1]!r}"
                )
            no, yes = kind.values
            return label, label == yes, label == no, (no, yes)
        facts = Scope(schema).condition(label)
        if facts.low[0] == facts.high[0]:
            raise QueryError("the label can only have one value")
        return label, label, ~label, None

    def _features(self, schema: Schema, label: Node) -> tuple[str, ...]:
        looked_at = {leaf.name for leaf in label.leaves().values()}
        names = feature_names(schema, self.features, booleans=True, but=looked_at)
        if isinstance(label, Column) and label.name in names:
            raise QueryError("the label cannot be one of its own features")
        return names

    def _share(self) -> Exact:
        """What a round may cost, if the settings make sense."""
        if self.keep not in get_args(Keep):
            raise QueryError(f"keep is 'last', 'average' or 'best', not {self.keep!r}")
        iterations = self.iterations
        if isinstance(iterations, bool) or not isinstance(iterations, int) or iterations < 1:
            raise QueryError(f"iterations must be a whole number from 1, not {iterations!r}")
        return rational("share", self.share, most=1) / iterations

    def _kept(self, w: Sequence[Floats], told: Sequence[float]) -> Floats:
        """Of the weights, of which all but perhaps the last had their mistakes told. The first are zero."""
        if self.keep == "average" and len(w) > 1:
            return np.asarray(np.mean(w[1:], axis=0))
        if self.keep == "best" and len(told) > 1:
            return w[1 + int(np.argmin(told[1:]))]
        return w[-1]


def score(names: Sequence[str], weights: Sequence[float]) -> Dot:
    """⟨x, w⟩ for the features and a constant 1: what the learner asks about and the hypothesis says."""
    return dot(_point(names), weights)


def perceptron_rounds(margin: float, longest: float = 1) -> int:
    """After how many rounds the perceptron is done: 32·max‖x‖²/δ², Theorem 2 of the SuLQ paper.

    `margin`: some unit vector's inner product with every row, on the row's side, is at least this δ.
    `longest`: no row is longer; the learner's `norm`, for rows shortened to it. The theorem prints /δ and its
    proof max‖x‖: from δr/4 ≤ (2r·max‖x‖²)^½, as the proof has it, both are squared. It supposes noise well
    below the margin.

    >>> perceptron_rounds(margin=0.5)
    128
    """
    if not 0 < margin <= longest:
        raise QueryError(f"a margin lies between 0 and the longest row, {longest!r}, not at {margin!r}")
    return math.ceil(32 * (longest / margin) ** 2)


def _point(names: Sequence[str]) -> Vector:
    return vector(features(*names), 1)
