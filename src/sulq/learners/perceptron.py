"""The perceptron: a halfspace, corrected again and again by the rows on its wrong side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sulq.errors import QueryError
from sulq.hypotheses.halfspace import Halfspace, point, score
from sulq.hypotheses.hypothesis import words
from sulq.learners.learner import LATER, Learner
from sulq.numbers import Numeric, rational, truth, whole
from sulq.queries.attributes import attribute, check_beside, feature_names, looked_at
from sulq.queries.cases import where
from sulq.queries.expressions import Column
from sulq.queries.node import Node
from sulq.queries.query import count, total
from sulq.queries.rounds import Round
from sulq.queries.scope import scope_of
from sulq.queries.vectors import clip_norm, features
from sulq.schema import Category, Schema
from sulq.talk.answers import BETA, Answer
from sulq.talk.combined import Term, combined
from sulq.talk.laws import PlainLaw
from sulq.talk.oracle import Rounds

Floats = NDArray[np.float64]
Keep = Literal["last", "average", "best"]
DOUBT = 0.05
"""The chance that noise alone makes a count of no mistakes look like one of some."""


@dataclass(frozen=True)
class Perceptron(Learner[Halfspace]):
    """Finds a halfspace that agrees with the label: section 4.3 of the SuLQ paper.

    Every round counts the rows on the wrong side of the halfspace, or on its edge, and sums them, turned to
    the right side; their average is added to the weights. It stops when the count is within its own error
    bar, where the sum would be noise and no substance. `norm=None, intercept=False, keep="last"` and a `stop`
    are the paper's box, query for query: 1 + d queries in each round, on rows as they are.

    Args:
        label: a boolean column, an expression that is true or false, or a category of two values, of which
            the second counts as true. Rows whose category is `(other)` are on neither side, so they are left
            out.
        features: numeric or boolean columns, by default all that the label does not look at. A constant 1 is
            added to them for the intercept, if there is one.
        iterations: how many rounds, at most. Each gets the same part of `share`; rounds not needed are not
            paid for.
        norm: rows longer than this are shortened to it before they are summed, which puts no row on another
            side of a halfspace. At 1, the length of the constant alone, all rows are equally long and none
            speaks louder than others. None leaves them as they are, with features scaled to [−1, 1].
        share: the part of the budget to spend.
        keep: which of the weights to return: the "best", whose answer counted the fewest mistakes; the
            "last", as the paper does; or the "average" over all rounds. Where some halfspace is right about
            all rows, the best are the last, but for noise; where none is, the last go to and fro for ever.
        intercept: whether halfspaces may lie elsewhere than through the middle of the space. The paper's all
            go through the origin.
        stop: stop when the count is no larger than so many standard deviations √R of its noise, as the box's
            "so long as s ≫ √R"; by default when it is within its error bar at 95 %.

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
    norm: float | None = 1
    share: Numeric = 1
    keep: Keep = "best"
    intercept: bool = field(default=True, metadata=LATER)
    stop: Numeric | None = field(default=None, metadata=LATER)

    def rounds(self, schema: Schema) -> Rounds[Halfspace]:
        label, true, false, values = self._sides(schema)
        names = self._features(schema, label)
        iterations = whole("iterations", self.iterations, 1)
        share = rational("share", self.share, most=1) / iterations
        row = self._row(names)
        correction = where(true, row, -row)
        w = [np.zeros(scope_of(schema).number(correction).width)]
        mistaken, corrections = list[Answer](), list[Answer]()
        for _ in range(iterations):
            side = score(names, self._all(w[-1]))
            wrong = (true & (side <= 0)) | (false & (side >= 0))
            mistakes, sums = yield Round([count(where=wrong), total(correction, where=wrong)], share)
            mistaken.append(mistakes)
            if mistakes.value <= self._substance(mistakes):
                break
            corrections.append(sums)
            w.append(w[-1] + sums.value / mistakes.value)
        kept, place = self._kept(w, [answer.value for answer in mistaken])
        *weights, intercept = self._all(kept)
        noise = _noise(corrections[:place], mistaken)
        counted = (None, 0.0) if place is None or place >= len(mistaken) else _mistakes(mistaken, place)
        return Halfspace(
            schema, None, words(label), names, tuple(weights), intercept, values, noise, *counted
        )

    def most_numbers(self, schema: Schema) -> int:
        """A count, and a sum with a number for each feature and the constant, in every round."""
        names = self._features(schema, self._sides(schema)[0])
        return whole("iterations", self.iterations, 1) * (1 + len(names) + self.intercept)

    def _row(self, names: Sequence[str]) -> Node:
        row: Node = point(names) if self.intercept else features(*names)
        return row if self.norm is None else clip_norm(row, self.norm)

    def _all(self, w: Floats) -> list[float]:
        """The weights and the intercept, which is 0 where there is none."""
        weights: list[float] = w.tolist()
        return weights if self.intercept else [*weights, 0.0]

    def _substance(self, mistakes: Answer) -> float:
        """How many mistakes may be noise alone."""
        if self.stop is None:
            return float(mistakes.radius(DOUBT))
        return float(rational("stop", self.stop)) * float(mistakes.deviation)

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
        facts = scope_of(schema).condition(label)
        if facts.low[0] == facts.high[0]:
            raise QueryError("the label can only have one value")
        return label, label, ~label, None

    def _features(self, schema: Schema, label: Node) -> tuple[str, ...]:
        """The columns that span the space, none of which is the label, if all settings make sense."""
        truth("intercept", self.intercept)
        if self.stop is not None:
            rational("stop", self.stop)
        if self.keep not in get_args(Keep):
            raise QueryError(f"keep is 'last', 'average' or 'best', not {self.keep!r}")
        names = feature_names(schema, self.features, booleans=True, but=looked_at(label))
        check_beside(label, map(Column, names))
        return names

    def _kept(self, w: Sequence[Floats], mistaken: Sequence[float]) -> tuple[Floats, int | None]:
        """Those of the weights to return, and their place; None for an average.

        Args:
            w: the weights of every round, from zeros on.
            mistaken: how many mistakes the answers counted for each of them, but perhaps for the last.
        """
        if self.keep == "average" and len(w) > 1:
            return np.asarray(np.mean(w[1:], axis=0)), None
        place = len(w) - 1
        if self.keep == "best" and len(mistaken) > 1:
            place = 1 + int(np.argmin(mistaken[1:]))
        return w[place], place


def _noise(corrections: Sequence[Answer], mistaken: Sequence[Answer]) -> float:
    """How much of a weight may be noise, at 95 % for all of them: that of every correction adds up.

    Args:
        corrections: the sums that were added to the weights, each over the number of mistakes.
        mistaken: how many mistakes the answers counted in these rounds.
    """
    terms = []
    for answer, mistakes in zip(corrections, mistaken, strict=False):
        scale = 1 / float(mistakes.value)
        assert isinstance(answer.law, PlainLaw)  # as that of every sum
        terms.append(Term(answer.law, scale**2, scale, scale))
    return combined(terms, BETA, np.size(corrections[0].value)) if corrections else 0.0


def _mistakes(mistaken: Sequence[Answer], place: int) -> tuple[float, float]:
    """How many mistakes the weights at a place make, and how far off that is: they may be picked by it."""
    radius = float(mistaken[place].radius(BETA / len(mistaken)))
    return max(0.0, float(mistaken[place].value)), radius


def perceptron_rounds(margin: float, longest: float = 1) -> int:
    """After how many rounds the perceptron is done: 32·max‖x‖²/δ², Theorem 2 of the SuLQ paper.

    The theorem prints /δ and its proof max‖x‖: from δr/4 ≤ (2r·max‖x‖²)^½, as the proof has it, both are
    squared. It supposes noise well below the margin.

    Args:
        margin: some unit vector's inner product with every row, on the row's side, is at least this δ.
        longest: no row is longer; the learner's `norm`, for rows shortened to it.

    >>> perceptron_rounds(margin=0.5)
    128
    """
    if not 0 < margin <= longest:
        raise QueryError(f"a margin lies between 0 and the longest row, {longest!r}, not at {margin!r}")
    return math.ceil(32 * (longest / margin) ** 2)
