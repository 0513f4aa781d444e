"""The perceptron: a halfspace, corrected again and again by the rows on its wrong side."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sulq.errors import QueryError
from sulq.hypotheses.halfspace import Halfspace, score
from sulq.hypotheses.hypothesis import words
from sulq.learners.attributes_in_bins import Attribute
from sulq.learners.coordinates import looked_at_first, off_of, value
from sulq.learners.corrections import (
    FIRST,
    MOST,
    Correction,
    mistakes_of,
    no_better,
    noise,
    rarer,
    worthwhile,
)
from sulq.learners.halfspace_points import Points, as_they_are, histograms, standardized
from sulq.learners.halfspace_sides import Sides, sides_of
from sulq.learners.learner import LATER, Learner
from sulq.learners.linear import first_look
from sulq.learners.spans import span_of
from sulq.numbers import Numeric, rational, truth, whole
from sulq.queries.attributes import check_beside, check_in_one_hand, feature_names, looked_at
from sulq.queries.cases import where
from sulq.queries.expressions import Column
from sulq.queries.node import Node
from sulq.queries.query import Query, count, total
from sulq.queries.rounds import Round, least_of, numbers_of
from sulq.queries.scope import scope_of
from sulq.schema import Schema
from sulq.talk.answers import BETA, Answer
from sulq.talk.oracle import Rounds

Floats = NDArray[np.float64]
Keep = Literal["last", "average", "best"]
DOUBT = 0.05
"""The chance that noise alone makes a count of no mistakes look like one of some."""
LOOK, LABELS = Fraction(3, 10), Fraction(1, 20)
"""The part of the budget for a first look, at numbers and labels, and at labels alone."""
PRINTED = 10
"""How many rounds, where rows are left as they are and nobody says how many."""
HOPELESS = 1.5
"""Nothing can be learned unless rows are so many times as many as the noise in a count of them."""


@dataclass(frozen=True)
class Perceptron(Learner[Halfspace]):
    """Finds a halfspace that agrees with the label: section 4.3 of the SuLQ paper.

    Every round counts the rows on the wrong side of the halfspace, or on its edge, and sums them, turned to
    the right side; their average is added to the weights. It stops when the count is within its own error
    bar, where the sum would be noise and no substance.

    By default a first look shows where the values of each number are. Then every number counts by how many
    standard deviations it is from its mean. The first correction is added as it is, the second by half, the
    third by a third, and so on, so that the weights come to rest where no halfspace is right about all rows.
    `norm=None, intercept=False, scaled=False, keep="last"` and a `stop` are the paper's box, query for query:
    1 + d queries in each round, on rows as they are.

    Args:
        label: a boolean column, an expression that is true or false, or a category of two values, of which
            the second counts as true. Rows whose category is `(other)` are on neither side, so they are left
            out.
        features: columns, by default all that the label does not look at. A category counts as one feature
            for each of its values, 1 where a row has it and else 0. A constant 1 is added to them for the
            intercept, if there is one.
        iterations: how many corrections, at most. Each gets the same part of what a first look leaves of
            `share`; those not needed are not paid for. By default noise decides: few where rows are few or
            the budget is small, and 16 at most. Where rows are left as they are, 10.
        norm: rows longer than this are shortened to it before they are summed, which puts no row on another
            side of a halfspace. At 1, the length of the constant alone, all rows are equally long and none
            speaks louder than others. None shortens none.
        share: the part of the budget to spend.
        keep: which of the weights to return: the "best", whose answer counted the fewest mistakes; the
            "last", as the paper does; or the "average" over all rounds. Where some halfspace is right about
            all rows, the best are the last, but for noise; where none is, the last go to and fro for ever.
            The best may be no weights at all: where no answer counted fewer mistakes than the more frequent
            label makes, that label is said of all rows.
        intercept: whether halfspaces may lie elsewhere than through the middle of the space. The paper's all
            go through the origin, and so rows are left as they are.
        stop: stop when the count is no larger than so many standard deviations √R of its noise, as the box's
            "so long as s ≫ √R"; by default when it is within its error bar at 95 %.
        scaled: whether public intervals are scaled to [−1, 1], which moves the origin to their middle.
            `scaled=False` leaves rows in their own units, as the paper does; it goes with `intercept=False`.
            All columns then share a grid set by the largest public bound: of far smaller ones little is left.

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
    iterations: int | None = None
    norm: float | None = 1
    share: Numeric = 1
    keep: Keep = "best"
    intercept: bool = field(default=True, metadata=LATER)
    stop: Numeric | None = field(default=None, metadata=LATER)
    scaled: bool = field(default=True, metadata=LATER)

    def rounds(self, schema: Schema) -> Rounds[Halfspace]:
        sides = sides_of(schema, self.label)
        names, share = self._features(schema, sides.label), rational("share", self.share, most=1)
        points = self._as_they_are(schema, names)
        scope_of(schema).number(points.row)
        if not self._looks:
            return (yield from self._corrected(schema, sides, names, points, share, None))
        bins = histograms(schema, names)
        part = share * _part(bins)
        classes, rows, *counts = yield Round(_first_look(sides.label, bins), part)
        look = looked_at_first(rows, counts or [classes])
        if look.rows < HOPELESS * look.off:
            [classes] = yield Round([count(by=[sides.label])], share - part)
            return _everywhere(schema, sides, names, classes)
        spans = {
            name: span_of(schema, each, Column(name), value(answer), off_of(answer), look.rows, look.power)
            for (name, each), answer in zip(bins.items(), counts, strict=True)
        }
        points = standardized(schema, names, spans, float(self.norm or 1))
        return (yield from self._corrected(schema, sides, names, points, share - part, classes))

    def most_numbers(self, schema: Schema) -> int:
        """A first look, and in every round a count and a sum with a number for each weight."""
        label = sides_of(schema, self.label).label
        names = self._features(schema, label)
        width = self._as_they_are(schema, names).width
        if not self._looks:
            return (self.iterations or PRINTED) * (1 + width)
        look = Round(_first_look(label, histograms(schema, names)))
        return numbers_of(look, schema) + (self.iterations or 1 + MOST) * (1 + width)

    def least_share(self, schema: Schema) -> Fraction:
        """Half of a correction, of which there may be the most; or a question of the first look."""
        label, share = sides_of(schema, self.label).label, rational("share", self.share, most=1)
        names = self._features(schema, label)
        if not self._looks:
            return share / (self.iterations or PRINTED) / 2
        bins = histograms(schema, names)
        part = _part(bins)
        each = 1 / Fraction(self.iterations) if self.iterations else min(FIRST, (1 - FIRST) / MOST)
        return share * min(least_of([Round(_first_look(label, bins), part)]), (1 - part) * each / 2)

    def _corrected(
        self,
        schema: Schema,
        sides: Sides,
        names: tuple[str, ...],
        points: Points,
        share: Fraction,
        classes: Answer | None,
    ) -> Rounds[Halfspace]:
        """Correct the weights again and again; `classes` counts the labels, if there was a first look."""
        many = self.iterations or (PRINTED if classes is None else None)
        part = share * FIRST if many is None else share / many
        correction = where(sides.true, points.row, -points.row)
        w = [np.zeros(points.width)]
        mistaken, corrections = list[Answer](), list[Correction]()
        while many is None or len(mistaken) < many:
            side = score(schema, names, (points.to @ w[-1]).tolist(), self.scaled)
            wrong = (sides.true & (side <= 0)) | (sides.false & (side >= 0))
            wrongly, sums = yield Round([count(where=wrong), total(correction, where=wrong)], part)
            mistaken.append(wrongly)
            if wrongly.value <= self._substance(wrongly):
                break
            step = 1.0 if classes is None else 1 / len(mistaken)
            corrections.append(Correction(sums, step / float(wrongly.value)))
            w.append(w[-1] + corrections[-1].scale * np.asarray(sums.value))
            if many is None and classes is not None:
                further = worthwhile(sums, rarer(classes), float(self.norm or 1))
                many, part = 1 + further, share * (1 - FIRST) / further
        kept, place = self._kept(w, [answer.value for answer in mistaken])
        if classes is not None and self.keep == "best" and no_better(classes, mistaken, place):
            return _everywhere(schema, sides, names, classes)
        *weights, intercept = (points.to @ kept).tolist()
        noises = np.abs(points.to) @ np.full(points.width, noise(corrections[:place], points.width))
        alike = bool((noises == noises[0]).all())
        counted = place is not None and place < len(mistaken)
        mistakes, off = mistakes_of(mistaken, place or 0) if counted else (None, 0.0)
        return Halfspace(
            schema,
            None,
            words(sides.label),
            names,
            tuple(weights),
            intercept,
            sides.values,
            float(noises.max()),
            mistakes,
            off,
            () if alike else tuple(noises.tolist()),
            bool(self.scaled),
        )

    @property
    def _looks(self) -> bool:
        """Whether a first look is of use: rows that are left as they are need none."""
        return self.norm is not None and self.intercept

    def _as_they_are(self, schema: Schema, names: tuple[str, ...]) -> Points:
        return as_they_are(schema, names, self.norm, self.intercept, self.scaled)

    def _substance(self, mistakes: Answer) -> float:
        """How many mistakes may be noise alone."""
        if self.stop is None:
            return float(mistakes.radius(DOUBT))
        return float(rational("stop", self.stop)) * float(mistakes.deviation)

    def _features(self, schema: Schema, label: Node) -> tuple[str, ...]:
        """The columns that span the space, none of which is the label, if all settings make sense."""
        truth("intercept", self.intercept)
        if not truth("scaled", self.scaled) and self.intercept:
            raise QueryError(
                "scaled=False goes with intercept=False: with an intercept it does not matter where 0 is"
            )
        if self.stop is not None:
            rational("stop", self.stop)
        if self.keep not in get_args(Keep):
            raise QueryError(f"keep is 'last', 'average' or 'best', not {self.keep!r}")
        if self.iterations is not None:
            whole("iterations", self.iterations, 1)
        names = feature_names(schema, self.features, booleans=True, categories=True, but=looked_at(label))
        check_beside(label, map(Column, names))
        check_in_one_hand(schema, label, *map(Column, names))
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


def _part(bins: Mapping[str, Attribute]) -> Fraction:
    """The part of the budget for a first look."""
    return LOOK if bins else LABELS


def _first_look(label: Node, bins: Mapping[str, Attribute]) -> list[Query]:
    """How frequent each label is, how many rows there are, and how many are in each interval of a number.

    The labels say what to fall back to, so they get more weight where there are many numbers.
    """
    weight = max(Fraction(1), Fraction(len(bins), 4))
    return [count(by=[label], weight=weight), *first_look(list(bins.values()))]


def _everywhere(schema: Schema, sides: Sides, names: tuple[str, ...], classes: Answer) -> Halfspace:
    """The halfspace that says the more frequent label of all rows."""
    false, true = np.asarray(classes.value)[:2].tolist()
    none = (0.0,) * len(Halfspace(schema, None, "", names, (), 0.0, None).names)
    off = float(np.max(classes.radius(BETA)))
    wrong = max(0.0, min(false, true))
    label = words(sides.label)
    intercept = 1.0 if true > false else -1.0
    return Halfspace(schema, None, label, names, none, intercept, sides.values, 0.0, wrong, off)


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
