"""Additive models: the effects of all columns on a label add up to its log-odds, or to a number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from sulq.effects.association import correlation
from sulq.effects.estimate import Estimate, Gradient, start
from sulq.effects.layout import Floats
from sulq.hypotheses.additive import AdditiveModel, Effect, Target, score
from sulq.learners.attributes_in_bins import Attribute, attributes
from sulq.learners.learner import Learner
from sulq.learners.outcome import ClassOutcome, FirstLook, NumberOutcome, Outcome
from sulq.numbers import Numeric, rational, whole
from sulq.queries.attributes import attribute
from sulq.queries.node import Node
from sulq.queries.query import Query, count, total
from sulq.queries.rounds import Round
from sulq.schema import Schema
from sulq.talk.answers import Answer
from sulq.talk.oracle import Rounds

COUNTS, PAIRS = Fraction(1, 5), Fraction(1, 10)
"""The parts of the budget for each attribute with the label, and for pairs of attributes."""
OFTEN, SELDOM = 5, 2
"""How often to ask for what is not yet explained; seldom where noise is inverse to a share itself, not its root."""
DROWNED = 1.0
"""Pairs are asked for if noise is less than this part of the number of rows in a cell."""
GRID = 2.0**-10
"""What values add is a multiple of this."""


@dataclass(frozen=True)
class Additive(Learner[AdditiveModel]):
    """Learns how much each value of each column adds to the log-odds of a label, or to a number.

    First it asks how often each value of each attribute goes with each label, in many public bins where it is
    a number, and joins bins with few rows. Then it asks how attributes go together, and at last, a few times,
    for the sums of what the model does not yet explain. Every answer is weighed by its noise.

    Args:
        label: what is predicted: a category, a boolean, or a number.
        features: columns or expressions; by default all columns that the label does not look at.
        bins: public edges for numbers, by column; by default many, from the schema's bounds.
        refinements: how often to ask for what is not yet explained; by default 5 times, and twice where noise
            is inverse to a share of the budget, as under pure ε.
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
    bins: Mapping[str, Sequence[float]] = field(default_factory=dict)
    refinements: int | None = None
    share: Numeric = 1

    def rounds(self, schema: Schema) -> Rounds[AdditiveModel]:
        outcome, share = self._outcome(schema), rational("share", self.share, most=1)
        fine = attributes(schema, outcome.target.label, self.features, self.bins)
        answers = yield Round(outcome.questions(fine), share * COUNTS)
        look, left = outcome.look(fine, answers), share * (1 - COUNTS)
        pairs: list[Answer] = []
        if worth_pairing(look, answers[0]):
            pairs = yield Round(paired(look.attributes), share * PAIRS)
            left -= share * PAIRS
        model = Fit.begun(look, pairs, outcome)
        for turn in range(times := self._times(look, answers[0])):
            residuals = yield Round(model.questions(outcome), left / times)
            model = model.given(residuals)
        return model.hypothesis(schema, outcome.target.label)

    def _outcome(self, schema: Schema) -> Outcome:
        target = Target(schema, attribute(schema, self.label))
        target.check()
        if self.refinements is not None:
            whole("refinements", self.refinements, 0)
        return NumberOutcome(target) if target.classes is None else ClassOutcome(target)

    def _times(self, look: FirstLook, answer: Answer) -> int:
        if not look.attributes:
            return 0
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
    """

    look: FirstLook
    base: Floats
    estimates: tuple[Estimate, ...]

    @classmethod
    def begun(cls, look: FirstLook, pairs: Sequence[Answer], outcome: Outcome) -> Fit:
        """The model after the first look.

        Args:
            look: what the first round said.
            pairs: how often values go together, for each pair of attributes; none if that was not asked.
            outcome: what is modelled.
        """
        base = look.base if outcome.target.classes is None else np.log(look.base / (1 - look.base))
        if not look.attributes:
            return cls(look, base, ())
        tables = [np.asarray(pair.value, dtype=np.float64) for pair in pairs]
        noise = float(pairs[0].deviation) if pairs else 0.0
        moments = correlation(look.layout, look.counts, tables, noise)
        at = np.zeros(look.layout.width)
        estimates = [
            start(look.layout, look.counts, moments, weights, float(dispersion)).given(
                Gradient(at, value, noise)
            )
            for weights, dispersion, value, noise in zip(
                look.weights.T, look.dispersion, look.gradient.T, look.noise.T, strict=True
            )
        ]
        return cls(look, base, tuple(estimates))

    @property
    def added(self) -> Floats:
        """What each value adds to each number that stands for the label."""
        return np.stack([np.round(each.effects / GRID) * GRID for each in self.estimates], axis=1)

    def questions(self, outcome: Outcome) -> list[Query]:
        """For every value of every attribute: how much of the label is not explained, in all?"""
        parts = zip(self.look.attributes, self.look.layout.slices, strict=True)
        effects = [(attribute.code, _rows(self.added[part])) for attribute, part in parts]
        residual = outcome.residual(score(tuple(self.base.tolist()), effects))
        return [total(residual, by=[attribute.code]) for attribute in self.look.attributes]

    def given(self, residuals: Sequence[Answer]) -> Fit:
        """The model once the sums of what it did not explain are known."""
        sums = np.concatenate([np.reshape(answer.value, (-1, len(self.estimates))) for answer in residuals])
        noise = np.full(len(sums), float(residuals[0].deviation) ** 2)
        estimates = [
            estimate.given(Gradient(at, value, noise))
            for estimate, at, value in zip(self.estimates, self.added.T, sums.T, strict=True)
        ]
        return replace(self, estimates=tuple(estimates))

    def hypothesis(self, schema: Schema, label: Node) -> AdditiveModel:
        """The model as it is published: effects of an attribute are 0 on average."""
        if not self.estimates:
            return AdditiveModel(schema, None, label, tuple(self.base.tolist()), ())
        added, base, effects = self.added, self.base.copy(), []
        deviations = np.stack([each.deviations for each in self.estimates], axis=1)
        for attribute, part in zip(self.look.attributes, self.look.layout.slices, strict=True):
            middle = np.average(added[part], axis=0, weights=self.look.counts[part])
            base += middle
            effects.append(Effect(attribute.code, _rows(added[part] - middle), _rows(deviations[part])))
        return AdditiveModel(schema, None, label, tuple(base.tolist()), tuple(effects))


def paired(attributes: Sequence[Attribute]) -> list[Query]:
    """For every pair of attributes: how often do their values go together?"""
    codes = [attribute.code for attribute in attributes]
    return [count(by=[one, other]) for place, one in enumerate(codes) for other in codes[place + 1 :]]


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
    return bool(noise * 2 * cells < DROWNED * look.counts[look.layout.slices[0]].sum())


def _rows(table: Floats) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(row) for row in table.tolist())
