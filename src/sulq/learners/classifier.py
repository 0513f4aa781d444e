"""One name for "predict this class": a learner that chooses between selection, tree and additive model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Literal

import numpy as np

from sulq.classes.base import Setting, check_size
from sulq.errors import QueryError
from sulq.hypotheses.hypothesis import Hypothesis, Origin
from sulq.hypotheses.target import Target
from sulq.learners.additive import Additive
from sulq.learners.id3 import ID3
from sulq.learners.learner import Learner
from sulq.learners.selection import few_conditions, positive, selected, selected_effects
from sulq.learners.table_facts import CountedRows, TableFacts, Way
from sulq.numbers import Numeric, rational
from sulq.queries.attributes import Edges, attribute, column_names, features_beside
from sulq.queries.node import Node
from sulq.queries.query import Query, count
from sulq.queries.rounds import Round
from sulq.schema import Integer, Real, Schema
from sulq.talk.answers import BETA, Answer
from sulq.talk.laws import Exactly, Noise
from sulq.talk.oracle import Rounds
from sulq.talk.vector_law import VectorNoise

PILOT, AGAIN = Fraction(1, 50), Fraction(2, 25)
"""The parts of the budget that count the labels before anything is chosen: at first, and once more if noise
hid how many rows there are."""
HIDDEN = 0.5
"""The labels are counted once more if the number of rows is off by more than this part of it."""
ROWS_WEIGHT = Fraction(1, 10)
"""How well the number of rows is asked for beside them. Where the number is public, it costs nothing."""
TREE, DEEPEST = Fraction(1, 4), 4
"""The part of the budget for a tree that is an attribute of an additive model, and how deep it is at most."""
CURATORS = Exactly | Noise | VectorNoise
"""The laws of whoever sees the rows, and so can choose. Counts of labels that were flipped are vectors."""


@dataclass(frozen=True)
class Classifier(Learner[Hypothesis]):
    """Predicts a class: chooses a learner by public facts, and says which and why.

    A first count of the labels, for 2 % of the budget, says how many rows there are compared with the noise.
    If noise hides that, a second one costs 8 %. By that, and by the number of columns and classes, the rest
    of the budget goes to one of these, the more rows the later:

    - the most frequent class alone;
    - one private choice of few conditions, and how often they are right;
    - the same choice, and an additive model of the columns it is about (`Additive`);
    - a tree (`ID3`);
    - an additive model of all columns, with chosen conditions as one more attribute;
    - an additive model of all columns alone;
    - an additive model of all columns, with a small tree as one more attribute.

    The hypothesis is a `Tree` or an `AdditiveModel`: both have `predict_proba`. Its `origin.chosen` says what
    was chosen, and why.

    Args:
        label: what is predicted: a category, a boolean, or an expression like these.
        features: the columns to learn from; by default all that the label does not look at.
        bins: public edges for numbers and dates, by column; by default from the schema's bounds.
        share: the part of the budget to spend.

    >>> import sulq
    >>> rows = {"x": [1, 2, 8, 9] * 900, "y": [False, False, True, True] * 900}
    >>> people = sulq.open(rows, {"x": sulq.Integer(0, 10), "y": sulq.Boolean()})
    >>> model = Classifier("y").learn(people.curator(epsilon=1))
    >>> model.predict({"x": [1, 9]})
    array([False,  True])
    >>> model.origin.chosen
    'an additive model with a small tree, because 3600 rows are 1273 times the noise in a count: ...'
    """

    label: str | Node
    features: Sequence[str] | None = None
    bins: Mapping[str, Edges] = field(default_factory=dict)
    share: Numeric = 1

    def rounds(self, schema: Schema) -> Rounds[Hypothesis]:
        label, share = self._label(schema), rational("share", self.share, most=1)
        self._check(schema, label)
        answers, left = (yield Round(first_look(label), share * PILOT)), 1 - PILOT
        counted = CountedRows.by(answers, PILOT)
        if counted.off > HIDDEN * counted.rows:
            answers, left = (yield Round(first_look(label), share * AGAIN)), left - AGAIN
            counted = CountedRows.by(answers, AGAIN)
        table = self._table(schema, label, answers[0], counted)
        hypothesis = yield from self._learned(schema, label, table.way, share * left)
        return replace(hypothesis, origin=Origin("", "", "", 0, table.why))

    def _learned(self, schema: Schema, label: Node, way: Way, share: Fraction) -> Rounds[Hypothesis]:
        given = schema, label, self.features, self.bins, share
        match way:
            case "majority":
                return (yield from self._tree(share, depth=0).rounds(schema))
            case "selection":
                return (yield from selected(*given))
            case "effects" | "rule and additive":
                return (yield from selected_effects(*given, every=way == "rule and additive"))
            case "tree":
                return (yield from self._tree(share).rounds(schema))
            case "additive":
                return (yield from self._additive(share).rounds(schema))
        tree = yield from self._tree(share * TREE, DEEPEST, "binary").rounds(schema)
        ends = len(tree.ends)
        reached = [tree.route(list(range(ends)), ends)] if ends > 1 else []
        columns = features_beside(schema, self.features, label)
        return (yield from self._additive(share * (1 - TREE), [*columns, *reached]).rounds(schema))

    def _tree(self, share: Fraction, depth: int | None = None, split: Literal["binary"] | None = None) -> ID3:
        return ID3(self.label, self.features, depth, split=split, bins=self.bins, share=share)

    def _additive(self, share: Fraction, features: Sequence[str | Node] | None = None) -> Additive:
        return Additive(self.label, features or self.features, self.bins, share=share)

    def _label(self, schema: Schema) -> Node:
        target = Target(schema, attribute(schema, self.label))
        target.check()
        if target.classes is None:
            raise QueryError(
                f"{target.label.described()} is a number: a classifier predicts a class; use Regressor, or "
                "compare the number with another one"
            )
        return target.label

    def _check(self, schema: Schema, label: Node) -> None:
        """Refuse what any of the learners would refuse, before one is chosen."""
        next(self._tree(Fraction(1)).rounds(schema))
        next(self._additive(Fraction(1)).rounds(schema))
        if (classes := positive(schema, label)) is not None:
            setting = Setting(schema, classes[0])
            check_size(few_conditions(setting, self.features, self.bins), setting)

    def _table(self, schema: Schema, label: Node, labels: Answer, counted: CountedRows) -> TableFacts:
        classes, features = Target(schema, label).classes, features_beside(schema, self.features, label)
        assert classes is not None
        # Whatever noise may hide counts as there: one class must be seen to be frequent.
        others = counted.rows - float(np.max(labels.value)) + float(np.max(labels.radius(BETA)))
        number = any(isinstance(schema[name], Integer | Real) for name in column_names(features, schema))
        kinds: Literal["numbers", "categories"] = "numbers" if number else "categories"
        choosable = positive(schema, label) is not None and isinstance(labels.law, CURATORS)
        power = float(labels.law.power)
        public = len(features), len(classes), kinds, choosable
        return TableFacts(counted.rows, max(0.0, others), counted.noise, power, *public, counted.off)


def first_look(label: Node) -> list[Query]:
    """How many rows have each label, and how many there are."""
    return [count(by=[label]), count(weight=ROWS_WEIGHT)]
