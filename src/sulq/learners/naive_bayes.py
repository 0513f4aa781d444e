"""Naive Bayes: how often each value goes with each class, from one round of counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from sulq.effects.layout import Floats
from sulq.errors import QueryError
from sulq.hypotheses.additive import AdditiveModel
from sulq.hypotheses.effect import Effect
from sulq.hypotheses.target import Target
from sulq.learners.additive import HOPELESS, hopeless
from sulq.learners.attributes_in_bins import attributes
from sulq.learners.learner import Learner
from sulq.learners.majority import checked, part_for_check
from sulq.learners.response import ClassResponse, FirstLook
from sulq.numbers import Numeric, rational
from sulq.queries.attributes import Edges, attribute
from sulq.queries.node import Node
from sulq.queries.query import count
from sulq.queries.rounds import Round, numbers_of
from sulq.schema import Schema
from sulq.talk.answers import Answer
from sulq.talk.oracle import Rounds

PILOT = Fraction(1, 20)
"""The part of the budget to find out whether rows stand out from the noise."""
SELDOM = Fraction(1, 4)
"""The weight of the number of rows, where it is not public, beside that of the classes."""
USUAL, BELIEF, MOST = 0.3, 3.0, 4.0
"""The usual variance of what the values of an attribute add, as how many values it counts, and the most."""
SUREST = 0.003
"""No value's class is taken for surer."""
GRID = 2.0**-10
"""What a value adds is a multiple of this."""


@dataclass(frozen=True)
class NaiveBayes(Learner[AdditiveModel]):
    """Learns how likely a class is, as if attributes were independent once it is known: naive Bayes.

    A sliver of the budget counts the classes. Then one round asks how often each value of each attribute goes
    with each class, in public bins where the attribute is a number; bins with few rows are joined. What a
    value adds to the log-odds of a class is shrunk by as much as noise and the number of rows ask for.
    Attributes that say the same count twice, so likelihoods tend to be too sure. `sulq.Additive` mends that
    with more rounds. Where noise would drown the counts, the rest of the budget goes to the label's own
    shares, and nothing else is said. Where rows are few beside the noise, a last round counts how often the
    model is right: unless that is more often than the most frequent class is, only the label's own shares are
    said.

    Args:
        label: what is predicted: a category, a boolean, or a comparison.
        features: columns or expressions; by default all columns that the label does not look at.
        bins: public edges for numbers and dates, by column; by default many, from the schema's bounds.
        share: the part of the budget to spend.

    >>> import sulq
    >>> rows = {"x": [1, 2, 8, 9] * 90, "y": [False, False, True, True] * 90}
    >>> people = sulq.open(rows, {"x": sulq.Integer(0, 10), "y": sulq.Boolean()})
    >>> NaiveBayes("y").learn(people.exact()).predict({"x": [1, 9]})
    array([False,  True])
    """

    label: str | Node
    features: Sequence[str | Node] | None = None
    bins: Mapping[str, Edges] = field(default_factory=dict)
    share: Numeric = 1

    def rounds(self, schema: Schema) -> Rounds[AdditiveModel]:
        target = self._target(schema)
        response = ClassResponse(target)
        fine = attributes(schema, target.label, self.features, self.bins)
        share, questions = rational("share", self.share, most=1), response.questions(fine)
        alone, counted = yield Round([*response.alone(), count(weight=SELDOM)], share * PILOT)
        rows = float(counted.value)
        check = part_for_check(rows, alone, PILOT, 2)
        # Whether a model is right cannot be counted where nobody holds all of its columns.
        check = check if len(schema.hands) == 1 else Fraction(0)
        if few(rows, alone, len(questions)):
            said = response.average((yield Round(response.alone(), share * (1 - PILOT))))
            return _model(schema, target, response.intercept(said), ())
        answers = yield Round(questions, share * (1 - PILOT - check))
        look = response.look(fine, answers)
        added = () if hopeless(look) else effects(look)
        model = _model(schema, target, response.intercept(look.base), added)
        if check and not (seen := (yield from checked(model, target, share * check))).better:
            return _model(schema, target, response.intercept(response.shares(seen.classes)), ())
        return model

    def most_numbers(self, schema: Schema) -> int:
        """The classes twice, a table for each attribute, and how often a model is right about each class."""
        target = self._target(schema)
        response, classes = ClassResponse(target), len(target.classes or ())
        tables = response.questions(attributes(schema, target.label, self.features, self.bins))
        rounds = [Round([*response.alone(), count()]), Round(tables), Round(response.alone())]
        return sum(numbers_of(round_, schema) for round_ in rounds) + (classes + 1) * classes

    def later_columns(self, schema: Schema) -> frozenset[str]:
        """Those of all attributes: the first round looks at the label alone."""
        seen = attributes(schema, self._target(schema).label, self.features, self.bins)
        return frozenset(leaf.name for each in seen for leaf in each.code.leaves().values())

    def _target(self, schema: Schema) -> Target:
        target = Target(schema, attribute(schema, self.label))
        target.check()
        if target.classes is None:
            raise QueryError(
                f"{target.label.described()} is a number: compare it with one, and naive Bayes tells classes"
            )
        return target


def few(rows: float, alone: Answer, questions: int) -> bool:
    """Whether tables of all attributes would be drowned by noise.

    Args:
        rows: how many rows there are, as far as it is known.
        alone: how many rows have each class, asked for with the part `PILOT` of the budget.
        questions: how many tables there are.
    """
    more = questions * float(PILOT / (1 - PILOT))
    noise: float = float(np.max(alone.deviation)) * more ** float(alone.law.power)
    return rows < HOPELESS * noise


def _model(schema: Schema, target: Target, intercept: Floats, added: tuple[Effect, ...]) -> AdditiveModel:
    return AdditiveModel(schema, None, target.label, tuple(_on_grid(intercept).tolist()), added)


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
