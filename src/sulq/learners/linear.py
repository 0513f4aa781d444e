"""Linear regression: noisy second moments as a metric, then noisy sums of what is not explained."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import cast

import numpy as np

from sulq.effects.estimate import Estimate, Gradient
from sulq.effects.layout import Floats
from sulq.effects.moments import LARGEST, Moments, given, repaired, unknown
from sulq.effects.weight_errors import deviations
from sulq.errors import QueryError
from sulq.hypotheses.linear import LinearModel
from sulq.hypotheses.target import Target
from sulq.learners.attributes_in_bins import Attribute, attributes
from sulq.learners.coordinates import (
    ALONE,
    Coordinates,
    Look,
    by_hands,
    coordinates,
    gradient_of,
    in_few_bins,
    looked_at_first,
    value,
    width_of,
)
from sulq.learners.learner import Learner
from sulq.learners.spans import Span
from sulq.learners.whereabouts import Whereabouts, average, spread_of
from sulq.numbers import Numeric, rational
from sulq.queries.attributes import attribute, in_one_hand, side_by_side
from sulq.queries.node import Node
from sulq.queries.products import dot, gram
from sulq.queries.query import Query, count, total
from sulq.queries.rounds import Round, numbers_of
from sulq.queries.vectors import Vector, vector
from sulq.schema import Schema
from sulq.talk.answers import Answer
from sulq.talk.oracle import Rounds

LOOK, AGAIN = Fraction(1, 10), Fraction(1, 5)
"""The parts of the budget for a first look, and for a second look at the target if the first was blurred."""
MOMENTS = Fraction(4, 9)
"""The part of what is then left for second moments with a first gradient."""
HOPELESS = 4.0
"""Nothing can be learned unless rows are so many times as many as the noise in a count of them."""
GRID = 2.0**-10
"""Weights are multiples of this."""
REPEATS, UNEXPLAINED = 3, 0.005
"""How often to find out which part of the target's variance is not explained, and its least."""


@dataclass(frozen=True)
class LinearRegression(Learner[LinearModel]):
    """Learns a number as a weighted sum of features.

    A first look shows where the values of each number are; if that is too blurred, a second one looks at the
    target alone. The next round asks for the sums of products of features, and of features with the target;
    the last for what is then not explained. Weights are shrunk by as much as the noise of
    these answers asks for: to the mean of the target, if nothing can be learned.

    Args:
        target: the number that is predicted: a column or an expression.
        features: columns or expressions; by default all columns that the target does not look at. A category
            counts as one feature for each of its values.
        share: the part of the budget to spend.

    >>> import sulq
    >>> rows = {"years": [0, 10, 20, 30] * 90, "pay": [20, 50, 80, 110] * 90}
    >>> people = sulq.open(rows, {"years": sulq.Integer(0, 50), "pay": sulq.Real(0, 200)})
    >>> model = LinearRegression("pay").learn(people.exact())
    >>> model.predict({"years": [5, 25]}).round().tolist()
    [35.0, 95.0]
    """

    target: str | Node
    features: Sequence[str | Node] | None = None
    share: Numeric = 1

    def rounds(self, schema: Schema) -> Rounds[LinearModel]:
        target, share = self._target(schema), rational("share", self.share, most=1)
        each, hands = by_hands(schema, attributes(schema, target, self.features, {}))
        each = [in_few_bins(schema, one) for one in each]
        spread = spread_of(schema, target)
        rows, *counts = yield Round(first_look([*each, spread]), share * LOOK)
        look = looked_at_first(rows, counts)
        off = float(np.max(counts[-1].deviation))
        where, left = (
            Whereabouts(schema, target, spread, look.rows, value(counts[-1]), off, look.power),
            share * (1 - LOOK),
        )
        if look.rows < HOPELESS * look.off:
            # The first look was divided among all histograms and the number of rows.
            more = (len(counts) + 1) * float((1 - LOOK) / 2 / LOOK)
            return (yield from average(where, left, more**look.power))
        if not where.clear:
            where = where.given((yield Round(where.questions(), share * AGAIN)))
            left -= share * AGAIN
        hands = () if in_one_hand(schema, target, *(one.code for one in each)) else hands
        fit = LinearFit(coordinates(schema, each, counts[:-1], look.rows), where.span, target, look, hands)
        if hands:
            # What is not explained would be estimated from the same sketches: they say it once.
            answers = yield Round(fit.moments(), left)
            return fit.begun(answers).hypothesis(schema)
        answers = yield Round(fit.moments(), left * MOMENTS)
        fit = fit.begun(answers)
        residuals = yield Round(fit.residuals(), left * (1 - MOMENTS))
        return fit.given(residuals).hypothesis(schema)

    def most_numbers(self, schema: Schema) -> int:
        """A first look, all products of two coordinates, and twice each coordinate times the target."""
        target = self._target(schema)
        each = [in_few_bins(schema, one) for one in attributes(schema, target, self.features, {})]
        look = first_look([*each, spread_of(schema, target)])
        return numbers_of(Round(look), schema) + (wide := width_of(each)) * (wide + 1) // 2 + 2 * (wide + 1)

    def _target(self, schema: Schema) -> Node:
        target = attribute(schema, self.target)
        Target(schema, target).check()
        if Target(schema, target).classes is not None:
            raise QueryError(
                f"{target.described()} is no number: LogisticRegression and NaiveBayes tell classes"
            )
        return target


@dataclass(frozen=True)
class LinearFit:
    """A linear model in the making.

    Args:
        coordinates: the features as coordinates.
        span: where the values of the target are.
        target: the target.
        look: how much was seen at a first look.
        hands: how many attributes each hand holds, one hand after the other; none where one hand holds the
            target as well.
        second: the second moments, once they are known.
        estimate: the weights of the coordinates, once something is known about them.
    """

    coordinates: Coordinates
    span: Span
    target: Node
    look: Look
    hands: tuple[int, ...]
    second: Moments | None = None
    estimate: Estimate | None = None

    @property
    def weights(self) -> Floats:
        """The weights of the coordinates, as far as they are known."""
        if self.estimate is None:
            return np.zeros(len(self.coordinates.features) + 1)
        return on_grid(self.estimate.effects)

    def moments(self) -> list[Query]:
        """The sums of products of coordinates, and a first gradient."""
        if self.hands:
            point = self._point_by_hands()
            known = self.span.scaled(self.target, self.span.deviation)
            return [total(gram(point)), total(point * known), total(known, weight=ALONE)]
        point = self.look.shortened(self.coordinates.point, self.coordinates.length)
        return [total(gram(point)), *self.residuals()]

    def _point_by_hands(self) -> Node:
        """The point, whose coordinates each hand shortens for itself."""
        parts, lengths = cast(Vector, self.coordinates.point).parts[1:], self.coordinates.lengths
        shortened, start = [], 0
        for many in self.hands:
            usual = np.array(lengths[start : start + many])
            length = float(usual.sum()), math.sqrt(float((usual**2).sum()))
            shortened.append(self.look.shortened(side_by_side(parts[start : start + many]), length))
            start += many
        return vector(1, *shortened)

    def residuals(self) -> list[Query]:
        """The sums of coordinates times what is not explained."""
        known = self.span.scaled(self.target, self.span.deviation)
        residual = known - dot(self.coordinates.point, self.weights.tolist()) if self.estimate else known
        along = self.look.shortened(self.coordinates.point * residual, self.coordinates.length)
        return [total(along), total(residual, weight=ALONE)]

    def begun(self, answers: Sequence[Answer]) -> LinearFit:
        """The model once the second moments are known."""
        second = moments_of(answers[0], self.coordinates, self.look)
        blank = unknown(second, self.coordinates.blocks, self.coordinates.shares, self.coordinates.variances)
        return replace(self, second=second).given(answers[1:], blank)

    def given(self, answers: Sequence[Answer], estimate: Estimate | None = None) -> LinearFit:
        """The model once one more gradient is known."""
        assert self.second is not None
        known = estimate or self.estimate
        assert known is not None
        gradient = Gradient(self.weights, *gradient_of(answers, self.weights.shape))
        first = (*known.gradients, gradient)[0].value
        after = known
        for _ in range(REPEATS):
            after = given(replace(known, dispersion=after.dispersion), self.second, 1.0, gradient)
            effects = after.effects
            explained = float(2 * effects @ first - effects @ self.second.matrix @ effects) / self.look.rows
            after = replace(after, dispersion=float(np.clip(1 - explained, UNEXPLAINED, 1.0)))
        return replace(self, estimate=after)

    def hypothesis(self, schema: Schema) -> LinearModel:
        """The model as it is published, in the units of the columns."""
        assert self.second is not None and self.estimate is not None
        weights, offs, intercept = in_own_units(self.coordinates, self.weights, self.estimate, self.second)
        unit = self.span.deviation
        return LinearModel(
            schema,
            None,
            self.target,
            self.coordinates.features,
            tuple((weights * unit).tolist()),
            tuple((offs * unit).tolist()),
            self.span.middle + unit * intercept,
        )


def first_look(attributes: Sequence[Attribute]) -> list[Query]:
    """How many rows there are, and how many have each value of each attribute."""
    return [count(), *(count(by=[each.code]) for each in attributes)]


def moments_of(answer: Answer, coordinates: Coordinates, look: Look) -> Moments:
    """The second moments that an answer says, repaired.

    Args:
        answer: the answer about the products of coordinates.
        coordinates: the coordinates.
        look: how much was seen at a first look.
    """
    squares = [1.0]
    for block, shares in zip(coordinates.blocks, coordinates.shares, strict=True):
        squares += (
            coordinates.variances[block.start - 1 : block.stop - 1].tolist()
            if shares is None
            else shares.tolist()
        )
    expected = look.rows * np.maximum(np.array(squares), 1e-4)
    triangle = np.atleast_1d(value(answer)).copy()
    triangle[0] = look.rows
    return repaired(triangle, float(np.max(answer.deviation)), expected)


def in_own_units(
    coordinates: Coordinates,
    weights: Floats,
    estimate: Estimate,
    second: Moments,
    base: float | None = None,
) -> tuple[Floats, Floats, float]:
    """Coefficients of the features, one standard deviation of the noise in each, and the intercept.

    What the values of a category add is 0 on average.

    Args:
        coordinates: the features as coordinates.
        weights: the weights of the coordinates.
        estimate: what the weights were made of.
        second: the second moments.
        base: the log-odds of a row without weights; None for a linear model.
    """
    change = np.diag(np.concatenate([[1.0], 1 / coordinates.units]))
    change[0, 1:] = -coordinates.middles / coordinates.units
    for block, shares in zip(coordinates.blocks, coordinates.shares, strict=True):
        if shares is not None:
            change[block, block] = np.eye(len(shares)) - shares
            change[0, block] = shares
    intercept, *coefficients = (change @ weights).tolist()
    offs = deviations(estimate, second, change, base)[1:]
    return np.array(coefficients), offs, intercept


def on_grid(weights: Floats) -> Floats:
    """Weights as they are written into questions."""
    return np.asarray(np.round(weights.clip(-LARGEST, LARGEST) / GRID) * GRID)
