"""Additive models: the effects of all columns on a label add up to its log-odds, or to a number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations

import numpy as np

from sulq.effects import effect_errors
from sulq.effects.association import beyond_independence
from sulq.effects.estimate import Estimate, Gradient, start
from sulq.effects.layout import Floats
from sulq.effects.logistic import reweighed
from sulq.hypotheses.additive import AdditiveModel, score
from sulq.hypotheses.effect import Effect
from sulq.hypotheses.target import Target
from sulq.learners.attributes_in_bins import Attribute, attributes
from sulq.learners.learner import Learner
from sulq.learners.response import ClassResponse, FirstLook, NumberResponse, Response
from sulq.learners.whereabouts import AGAIN, LOOK, Whereabouts, average, sought, spread_of
from sulq.numbers import Numeric, rational, whole
from sulq.queries.attributes import Edges, attribute, check_in_one_hand
from sulq.queries.node import Node
from sulq.queries.query import Query, count, total
from sulq.queries.rounds import Round, least_of, numbers_of
from sulq.schema import Schema
from sulq.talk.answers import Answer
from sulq.talk.oracle import Rounds

COUNTS, PAIRS = Fraction(3, 20), Fraction(1, 10)
"""The parts of the budget for each attribute with the label, and for pairs of attributes."""
OFTEN, SELDOM = 8, 3
"""How often to ask for what is not explained; seldom where noise is inverse to a share, not to its root."""
DROWNED = 10.0
"""Pairs are asked for if noise is less than this part of the number of rows in a cell."""
GRID, LARGEST = 2.0**-10, 32.0
"""What a value adds is a multiple of this, and not larger."""
HOPELESS = 4.0
"""Nothing can be learned unless rows are so many times as many as the noise in a count of them."""


@dataclass(frozen=True)
class Additive(Learner[AdditiveModel]):
    """Learns how much each value of each column adds to the log-odds of a label, or to a number.

    Of a number it finds out first where its values are, so its bounds may be wide.
    Then it asks how often each value of each attribute goes with each label, in many public bins where it is
    a number, and joins bins with few rows. Then it asks how attributes go together, and at last, a few times,
    for the sums of what the model does not yet explain. Every answer is weighed by its noise.

    Args:
        label: what is predicted: a category, a boolean, or a number.
        features: columns or expressions; by default all columns that the label does not look at.
        bins: public edges for numbers and dates, by column; by default many, from the schema's bounds.
        refinements: how often to ask for what is not yet explained; by default 8 times, and 3 times where
            noise is inverse to a share of the budget, as under pure ε.
        share: the part of the budget to spend.

    >>> import sulq
    >>> rows = {"x": [1, 2, 8, 9] * 90, "y": [False, False, True, True] * 90}
    >>> people = sulq.open(rows, {"x": sulq.Integer(0, 10), "y": sulq.Boolean()})
    >>> model = Additive("y").learn(people.exact())
    >>> model.predict({"x": [1, 9]})
    array([False,  True])
    """

    label: str | Node
    features: Sequence[str | Node] | None = None
    bins: Mapping[str, Edges] = field(default_factory=dict)
    refinements: int | None = None
    share: Numeric = 1

    def rounds(self, schema: Schema) -> Rounds[AdditiveModel]:
        response, share = self._response(schema), rational("share", self.share, most=1)
        label = response.target.label
        fine = attributes(schema, label, self.features, self.bins)
        check_in_one_hand(schema, label, *(each.code for each in fine))
        where: Whereabouts | None = None
        if response.target.classes is None:
            where, share = yield from sought(schema, label, share)
            response = NumberResponse(replace(response.target, within=where.within))
        answers = yield Round(response.questions(fine), share * COUNTS)
        look, left = response.look(fine, answers), share * (1 - COUNTS)
        if hopeless(look):
            return (yield from self._alone(response, where, left, float(answers[0].law.power)))
        pairs: list[Answer] = []
        if worth_pairing(look, answers[-1]):
            pairs = yield Round(paired(look.attributes), share * PAIRS)
            left -= share * PAIRS
        model = Fit.begun(look, pairs, response)
        for _ in range(times := self._times(answers[-1])):
            residuals = yield Round(model.questions(), left / times)
            model = model.given(residuals)
        return model.hypothesis(schema, label)

    def _alone(
        self, response: Response, where: Whereabouts | None, left: Fraction, power: float
    ) -> Rounds[AdditiveModel]:
        """The model without any effect, for the rest of the budget."""
        target = response.target
        if where is None:
            alone = yield Round(response.alone(), left)
            intercept = _numbers(response.intercept(response.average(alone)))
        else:
            more = left / 2 / (LOOK * rational("share", self.share))
            mean = yield from average(where, left, float(more) ** power)
            intercept = (replace(target, within=None).scaled(mean.intercept),)
        return AdditiveModel(target.schema, None, target.label, intercept, ())

    def most_numbers(self, schema: Schema) -> int:
        """The tables of the label and of all pairs, and in every refinement a number for each value."""
        response = self._response(schema)
        fine = attributes(schema, response.target.label, self.features, self.bins)
        rounds = [Round(response.questions(fine)), Round(response.alone())]
        if response.target.classes is None:
            rounds += [Round([count(by=[spread_of(schema, response.target.label).code])])] * 3
        pairs = sum(one.size * other.size for one, other in combinations(fine, 2))
        times = OFTEN if self.refinements is None else self.refinements
        refined = times * response.target.width * sum(each.size for each in fine)
        return refined + pairs + sum(numbers_of(round_, schema) for round_ in rounds)

    def least_share(self, schema: Schema) -> Fraction:
        """A question of the first round, or of a refinement; pairs are asked for where there is enough."""
        response, share = self._response(schema), rational("share", self.share, most=1)
        fine = attributes(schema, response.target.label, self.features, self.bins)
        if response.target.classes is None:
            share *= 1 - LOOK - AGAIN
        first = least_of([Round(response.questions(fine), COUNTS)])
        times = OFTEN if self.refinements is None else self.refinements
        refined = (1 - COUNTS - PAIRS) / max(1, times * len(fine))
        return share * min(first, refined)

    def _response(self, schema: Schema) -> Response:
        target = Target(schema, attribute(schema, self.label))
        target.check()
        if self.refinements is not None:
            whole("refinements", self.refinements, 0)
        return NumberResponse(target) if target.classes is None else ClassResponse(target)

    def _times(self, answer: Answer) -> int:
        if self.refinements is not None:
            return self.refinements
        return OFTEN if answer.law.power < 1 or answer.deviation == 0 else SELDOM


@dataclass(frozen=True)
class Fit:
    """A model in the making.

    Args:
        look: what the first round said.
        base: the log-odds, or the number, of a row without any effect.
        estimates: the effects on each number that stands for the label.
        response: what is modelled.
    """

    look: FirstLook
    base: Floats
    estimates: tuple[Estimate, ...]
    response: Response

    @classmethod
    def begun(cls, look: FirstLook, pairs: Sequence[Answer], response: Response) -> Fit:
        """The model after the first look.

        Args:
            look: what the first round said.
            pairs: how often values go together, for each pair of attributes; none if that was not asked.
            response: what is modelled.
        """
        base = _on_grid(response.intercept(look.base))
        tables = [np.asarray(pair.value, dtype=np.float64) for pair in pairs]
        noise = max((float(np.max(pair.deviation)) for pair in pairs), default=0.0)
        beyond = beyond_independence(look.layout, look.counts, tables, noise)
        at = np.zeros(look.layout.width)
        estimates = [
            start(look.layout, look.counts, beyond, weights, float(dispersion)).given(
                Gradient(at, value, noise)
            )
            for weights, dispersion, value, noise in zip(
                look.weights.T, look.dispersion, look.gradient.T, look.noise.T, strict=True
            )
        ]
        return cls(look, base, tuple(estimates), response)

    @property
    def added(self) -> Floats:
        """What each value adds to each number that stands for the label."""
        effects = np.stack([each.effects for each in self.estimates], axis=1)
        return _on_grid(effects.clip(-LARGEST, LARGEST))

    def questions(self) -> list[Query]:
        """For every value of every attribute: how much of the label is not explained, in all?"""
        parts = zip(self.look.attributes, self.look.layout.slices, strict=True)
        effects = [(attribute.code, _rows(self.added[part])) for attribute, part in parts]
        residual = self.response.residual(score(_numbers(self.base), effects))
        known = self.response.target.known
        return [total(residual, where=known, by=[attribute.code]) for attribute in self.look.attributes]

    def given(self, residuals: Sequence[Answer]) -> Fit:
        """The model once the sums of what it did not explain are known."""
        sums = np.concatenate([np.reshape(answer.value, (-1, len(self.estimates))) for answer in residuals])
        noise = np.concatenate(
            [
                np.full(size, float(answer.deviation) ** 2)
                for size, answer in zip(self.look.layout.sizes, residuals, strict=True)
            ]
        )
        estimates = [
            estimate.given(Gradient(at, value, noise))
            for estimate, at, value in zip(self._weighed, self.added.T, sums.T, strict=True)
        ]
        return replace(self, estimates=tuple(estimates))

    @property
    def _weighed(self) -> tuple[Estimate, ...]:
        if self.response.target.classes is None:
            return self.estimates
        return tuple(
            reweighed(estimate, float(base)) for estimate, base in zip(self.estimates, self.base, strict=True)
        )

    def hypothesis(self, schema: Schema, label: Node) -> AdditiveModel:
        """The model as it is published: effects of an attribute are 0 on average."""
        added, base, effects = self.added, self.base.copy(), []
        classes = self.response.target.classes is not None
        deviations = np.stack(
            [
                effect_errors.deviations(estimate, self.look.doubts, float(start) if classes else None)
                for estimate, start in zip(self.estimates, self.base, strict=True)
            ],
            axis=1,
        )
        for each, part in zip(self.look.attributes, self.look.layout.slices, strict=True):
            middle = _on_grid(np.average(added[part], axis=0, weights=self.look.counts[part]))
            base += middle
            shares = _numbers(self.look.counts[part] / self.look.rows)
            effects.append(Effect(each.code, shares, _rows(added[part] - middle), _rows(deviations[part])))
        within = self.response.target.within
        return AdditiveModel(schema, None, label, _numbers(base), tuple(effects), within)


def paired(attributes: Sequence[Attribute]) -> list[Query]:
    """For every pair of attributes: how often do their values go together?"""
    codes = [attribute.code for attribute in attributes]
    return [count(by=[one, other]) for one, other in combinations(codes, 2)]


def hopeless(look: FirstLook) -> bool:
    """Whether noise hides what attributes have to do with the label."""
    return not look.attributes or look.rows < HOPELESS * look.off


def worth_pairing(look: FirstLook, answer: Answer) -> bool:
    """Whether tables of pairs would show more than noise.

    Args:
        look: what the first round said.
        answer: one of its answers, whose law says how noise grows.
    """
    many = len(look.attributes)
    if many < 2:
        return False
    grows = (many - 1) / 2 * float(COUNTS / PAIRS)
    noise = look.off * grows ** float(answer.law.power)
    cells = float(np.median(look.layout.sizes)) ** 1.5
    # One person's word is off by half of all rows: where noise is less, a survey asks somebody of each pair.
    return bool(noise * 2 * max(cells, DROWNED) < DROWNED * look.rows)


def _rows(table: Floats) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(row) for row in table.tolist())


def _on_grid(values: Floats) -> Floats:
    return np.asarray(np.round(values / GRID) * GRID)


def _numbers(values: Floats) -> tuple[float, ...]:
    return tuple(values.tolist())
