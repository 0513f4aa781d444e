"""Naive Bayes: how often each value goes with each class, from one round of counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from sulq.effects.layout import Floats
from sulq.errors import QueryError
from sulq.hypotheses.additive import AdditiveModel
from sulq.hypotheses.effect import Effect
from sulq.hypotheses.target import Target
from sulq.learners.additive import hopeless
from sulq.learners.attributes_in_bins import attributes
from sulq.learners.learner import Learner
from sulq.learners.response import ClassResponse, FirstLook
from sulq.numbers import Numeric, rational
from sulq.queries.attributes import attribute
from sulq.queries.node import Node
from sulq.queries.rounds import Round
from sulq.schema import Schema
from sulq.talk.oracle import Rounds

USUAL, BELIEF, MOST = 0.3, 3.0, 4.0
"""The usual variance of what the values of an attribute add, as how many values it counts, and the most."""
SUREST = 0.003
"""No value's class is taken for surer."""
GRID = 2.0**-10
"""What a value adds is a multiple of this."""


@dataclass(frozen=True)
class NaiveBayes(Learner[AdditiveModel]):
    """Learns how likely a class is, as if attributes were independent once it is known: naive Bayes.

    One round asks how often each value of each attribute goes with each class, in public bins where the
    attribute is a number; bins with few rows are joined. What a value adds to the log-odds of a class is
    shrunk by as much as noise and the number of rows ask for. Attributes that say the same count twice, so
    likelihoods tend to be too sure. `sulq.Additive` mends that with more rounds. Where noise hides even the
    number of rows, nothing but the label's own shares is said.

    Args:
        label: what is predicted: a category, a boolean, or a comparison.
        features: columns or expressions; by default all columns that the label does not look at.
        bins: public edges for numbers, by column; by default many, from the schema's bounds.
        share: the part of the budget to spend.

    >>> import sulq
    >>> rows = {"x": [1, 2, 8, 9] * 90, "y": [False, False, True, True] * 90}
    >>> people = sulq.open(rows, {"x": sulq.Integer(0, 10), "y": sulq.Boolean()})
    >>> NaiveBayes("y").learn(people.exact()).predict({"x": [1, 9]})
    array([False,  True])
    """

    label: str | Node
    features: Sequence[str | Node] | None = None
    bins: Mapping[str, Sequence[float]] = field(default_factory=dict)
    share: Numeric = 1

    def rounds(self, schema: Schema) -> Rounds[AdditiveModel]:
        target = Target(schema, attribute(schema, self.label))
        target.check()
        if target.classes is None:
            raise QueryError(
                f"{target.label.described()} is a number: compare it with one, and naive Bayes tells classes"
            )
        response = ClassResponse(target)
        fine = attributes(schema, target.label, self.features, self.bins)
        answers = yield Round(response.questions(fine), rational("share", self.share, most=1))
        look = response.look(fine, answers)
        base = _on_grid(response.intercept(look.base))
        added = () if hopeless(look) else effects(look)
        return AdditiveModel(schema, None, target.label, tuple(base.tolist()), added)


def effects(look: FirstLook) -> tuple[Effect, ...]:
    """What the values of each attribute add to the log-odds of each class.

    Args:
        look: what the counts say.
    """
    certain = look.base * (1 - look.base)
    each = []
    for varied, part in zip(look.attributes, look.layout.slices, strict=True):
        counts, noise = look.counts[part, np.newaxis], look.noise[part]
        raw, error = look.gradient[part] / (certain * counts), noise / (certain * counts) ** 2
        error = error + 1 / (certain * counts)
        wide = ((raw**2 - error) / error).sum(axis=0) + BELIEF * USUAL / error.mean(axis=0)
        variance = (wide / ((1 / error).sum(axis=0) + BELIEF / error.mean(axis=0))).clip(1e-4, MOST)
        kept = variance / (variance + error)
        likely = (look.base + kept * look.gradient[part] / counts).clip(SUREST, 1 - SUREST)
        added = np.log(likely / (1 - likely)) - np.log(look.base / (1 - look.base))
        shares = tuple((look.counts[part] / look.rows).tolist())
        each.append(Effect(varied.code, shares, _rows(_on_grid(added)), _rows(np.sqrt(kept * error))))
    return tuple(each)


def _rows(table: Floats) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(row) for row in table.tolist())


def _on_grid(values: Floats) -> Floats:
    return np.asarray(np.round(values / GRID) * GRID)
