"""Logistic regression: noisy second moments as a metric, then a few steps of noisy gradients."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from sulq.effects.estimate import Estimate, Gradient
from sulq.effects.layout import Floats
from sulq.effects.logistic import logistic
from sulq.effects.moments import Moments, given, unknown
from sulq.errors import QueryError
from sulq.hypotheses.logistic import LogisticModel
from sulq.hypotheses.target import Target
from sulq.learners.attributes_in_bins import attributes
from sulq.learners.coordinates import (
    ALONE,
    Coordinates,
    Look,
    coordinates,
    gradient_of,
    in_few_bins,
    looked_at_first,
    value,
    width_of,
)
from sulq.learners.learner import Learner
from sulq.learners.linear import first_look, in_own_units, moments_of, on_grid
from sulq.learners.majority import checked, part_for_check
from sulq.numbers import Numeric, rational, whole
from sulq.queries.attributes import attribute, check_in_one_hand
from sulq.queries.logistic import Logistic
from sulq.queries.node import Node
from sulq.queries.products import dot, gram, outer
from sulq.queries.query import Query, count, total
from sulq.queries.rounds import Round, numbers_of
from sulq.queries.vectors import vector
from sulq.schema import Schema
from sulq.talk.answers import Answer
from sulq.talk.oracle import Rounds

LOOK, MOMENTS = Fraction(1, 10), Fraction(3, 10)
"""The parts of the budget for a first look, and for second moments with a first gradient."""
OFTEN, SELDOM = 4, 2
"""How many further steps; fewer where noise is inverse to a share of the budget, not to its root."""
HOPELESS = 1.5
"""Nothing can be learned unless rows are so many times as many as the noise in a count of them."""
RAREST = 0.01
"""No class is taken for rarer at the start."""
LEAST = 0.02
"""No row counts less in the curvature, on average."""
_PLACES, _MASSES = np.polynomial.hermite_e.hermegauss(15)


@dataclass(frozen=True)
class LogisticRegression(Learner[LogisticModel]):
    """Learns the log-odds of a class as a weighted sum of features.

    A first look shows where the values of each number are, and how frequent classes are. The second round
    asks for the sums of products of features, by which all steps are measured, and for a first gradient.
    Every further round asks for the sums of features times what the model does not yet explain. Every answer
    counts by its noise, and weights are shrunk by as much as noise asks for. Of more than two classes, each
    has log-odds of its own, against all others. Where rows are few beside the noise, a last round counts how
    often the model is right: unless that is more often than the most frequent class is, only the shares of
    the classes are said.

    Args:
        label: what is predicted: a category, a boolean, or a comparison.
        features: columns or expressions; by default all columns that the label does not look at. A category
            counts as one feature for each of its values.
        steps: how many further gradients; by default 4, and 2 where noise is inverse to a share of the
            budget, as under pure ε.
        share: the part of the budget to spend.

    >>> import sulq
    >>> rows = {"age": [20, 30, 50, 60] * 90, "sick": [False, False, False, True] * 90}
    >>> people = sulq.open(rows, {"age": sulq.Integer(0, 99), "sick": sulq.Boolean()})
    >>> model = LogisticRegression("sick").learn(people.exact())
    >>> model.predict({"age": [25, 75]})
    array([False,  True])
    """

    label: str | Node
    features: Sequence[str | Node] | None = None
    steps: int | None = None
    share: Numeric = 1

    def rounds(self, schema: Schema) -> Rounds[LogisticModel]:
        target, share = self._target(schema), rational("share", self.share, most=1)
        each = [in_few_bins(schema, one) for one in attributes(schema, target.label, self.features, {})]
        check_in_one_hand(schema, target.label, *(one.code for one in each))
        classes, rows, *counts = yield Round([count(by=[target.label]), *first_look(each)], share * LOOK)
        look = looked_at_first(rows, [classes, *counts])
        base = log_odds(classes, target.width)
        if look.rows < HOPELESS * look.off:
            [again] = yield Round([count(by=[target.label])], share * (1 - LOOK))
            base = log_odds(again, target.width)
            return LogisticModel(schema, None, target.label, (), (), (), tuple(base.tolist()))
        fit = LogisticFit(coordinates(schema, each, counts, look.rows), target, look, base)
        answers = yield Round(fit.moments(), share * MOMENTS)
        fit = fit.begun(answers)
        check = part_for_check(look.rows, classes, LOOK, len(counts) + 2)
        steps = self._times(classes)
        for _ in range(steps):
            gradient = yield Round(fit.gradient(), share * (1 - LOOK - MOMENTS - check) / steps)
            fit = fit.given(gradient)
        model = fit.hypothesis(schema)
        if check and not (seen := (yield from checked(model, target, share * check))).better:
            base = odds_of(seen.classes, target.width)
            return LogisticModel(schema, None, target.label, (), (), (), tuple(base.tolist()))
        return model

    def most_numbers(self, schema: Schema) -> int:
        """A first look, all products of two coordinates, and in every step each coordinate of a gradient."""
        target = self._target(schema)
        each = [in_few_bins(schema, one) for one in attributes(schema, target.label, self.features, {})]
        look = numbers_of(Round([count(by=[target.label]), *first_look(each)]), schema)
        steps, wide = OFTEN if self.steps is None else self.steps, width_of(each)
        again = wide * (wide + 1) // 2 + (1 + steps) * (wide + 1) * target.width
        classes = len(target.classes or ())
        return look + max(again, 1 + target.width) + (classes + 1) * classes

    def _target(self, schema: Schema) -> Target:
        target = Target(schema, attribute(schema, self.label))
        target.check()
        if target.classes is None:
            raise QueryError(
                f"{target.label.described()} is a number: LinearRegression tells numbers, and a comparison "
                "makes classes of them"
            )
        if self.steps is not None:
            whole("steps", self.steps, 0)
        return target

    def _times(self, answer: Answer) -> int:
        if self.steps is not None:
            return self.steps
        return OFTEN if answer.law.power < 1 or answer.deviation == 0 else SELDOM


@dataclass(frozen=True)
class LogisticFit:
    """A logistic model in the making.

    Args:
        coordinates: the features as coordinates.
        target: the label, and the numbers that stand for it.
        look: how much was seen at a first look.
        base: the log-odds of a row of which nothing is known.
        second: the second moments, once they are known.
        estimates: the weights of the coordinates beside the base, for each number that stands for the label.
    """

    coordinates: Coordinates
    target: Target
    look: Look
    base: Floats
    second: Moments | None = None
    estimates: tuple[Estimate, ...] = ()

    @property
    def weights(self) -> Floats:
        """The weights of the coordinates, a row for each number that stands for the label."""
        if not self.estimates:
            return np.zeros((len(self.base), len(self.coordinates.features) + 1))
        return on_grid(np.stack([each.effects for each in self.estimates]))

    @property
    def curvatures(self) -> Floats:
        """How much a row counts in the curvature, on average: p(1 − p), p being how likely a class is."""
        if self.second is None or not self.estimates:
            return self._at_first
        sure = []
        for base, weights in zip(self.base, self.weights, strict=True):
            square = float(weights @ self.second.matrix @ weights) / self.look.rows
            spread = math.sqrt(max(0.0, square - weights[0] ** 2))
            chances = logistic(base + weights[0] + spread * _PLACES)
            sure.append(float((chances * (1 - chances)) @ _MASSES / _MASSES.sum()))
        # Halfway between the geometric and the new: a full step would overshoot.
        return np.asarray(np.sqrt(self._at_first * np.array(sure)).clip(min=LEAST))

    @property
    def _at_first(self) -> Floats:
        likely = logistic(self.base)
        return np.asarray(likely * (1 - likely))

    def moments(self) -> list[Query]:
        """The sums of products of coordinates, and a first gradient."""
        point = self.look.shortened(self.coordinates.point, self.coordinates.length)
        return [total(gram(point), where=self.target.known), *self.gradient()]

    def gradient(self) -> list[Query]:
        """The sums of coordinates times what is not explained."""
        point, numbers = self.coordinates.point, self.target.numbers
        begin = self.weights + np.eye(1, self.weights.shape[1]) * self.base[:, np.newaxis]
        scores = [dot(point, each) for each in on_grid(begin).tolist()]
        residual = numbers - Logistic(scores[0] if len(scores) == 1 else vector(*scores))
        row = point * residual if len(scores) == 1 else outer(residual, point)
        usual = float(np.sqrt(self._at_first.sum()))
        one, two = self.coordinates.length
        along = self.look.shortened(row, (one * usual * math.sqrt(len(scores)), two * usual))
        known = self.target.known
        return [total(along, where=known), total(residual, where=known, weight=ALONE)]

    def begun(self, answers: Sequence[Answer]) -> LogisticFit:
        """The model once the second moments are known."""
        second = moments_of(answers[0], self.coordinates, self.look)
        blank = unknown(second, self.coordinates.blocks, self.coordinates.shares, self.coordinates.variances)
        return replace(self, second=second)._moved(answers[1:], [blank] * len(self.base))

    def given(self, answers: Sequence[Answer]) -> LogisticFit:
        """The model once one more gradient is known."""
        return self._moved(answers, self.estimates)

    def _moved(self, answers: Sequence[Answer], estimates: Sequence[Estimate]) -> LogisticFit:
        assert self.second is not None
        sums, noise = gradient_of(answers, self.weights.shape)
        after = [
            given(
                self._stretched(estimate, float(scale), float(first)),
                self.second,
                float(scale),
                Gradient(at, each, noise),
            )
            for estimate, scale, first, at, each in zip(
                estimates, self.curvatures, self._at_first, self.weights, sums, strict=True
            )
        ]
        return replace(self, estimates=tuple(after))

    @staticmethod
    def _stretched(estimate: Estimate, scale: float, first: float) -> Estimate:
        """The first gradient was asked for where the curvature was larger: it is stretched to fit."""
        if not estimate.gradients:
            return estimate
        oldest, *rest = estimate.gradients
        return replace(estimate, gradients=(replace(oldest, stretch=math.sqrt(scale / first)), *rest))

    def hypothesis(self, schema: Schema) -> LogisticModel:
        """The model as it is published, in the units of the columns."""
        assert self.second is not None
        each = [
            in_own_units(self.coordinates, weights, estimate, self.second, float(base))
            for weights, estimate, base in zip(self.weights, self.estimates, self.base, strict=True)
        ]
        return LogisticModel(
            schema,
            None,
            self.target.label,
            self.coordinates.features,
            _rows(np.stack([weights for weights, _, _ in each], axis=1)),
            _rows(np.stack([offs for _, offs, _ in each], axis=1)),
            tuple(float(base) + start for base, (_, _, start) in zip(self.base, each, strict=True)),
        )


def log_odds(classes: Answer, width: int) -> Floats:
    """The log-odds of classes, from how many rows have each.

    Args:
        classes: how many rows have each class.
        width: 1 for the log-odds of the second of two classes; else how many classes there are.
    """
    return odds_of(value(classes), width)


def odds_of(classes: Floats, width: int) -> Floats:
    """The log-odds of classes.

    Args:
        classes: how many rows have each class.
        width: 1 for the log-odds of the second of two classes; else how many classes there are.

    >>> odds_of(np.array([50.0, 50.0]), 1).tolist()
    [0.0]
    """
    counts = (classes[:2] if width == 1 else classes).clip(min=0.0)
    shares = counts / max(1.0, float(counts.sum()))
    chosen = shares[1:] if width == 1 else shares
    chosen = chosen.clip(RAREST, 1 - RAREST)
    return on_grid(np.log(chosen / (1 - chosen)))


def _rows(table: Floats) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(row) for row in table.tolist())
