"""One name for "predict this class": a learner that chooses between selection, tree and additive model."""

from __future__ import annotations

import math
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
from sulq.learners.selection import few_conditions, positive, selected
from sulq.numbers import Numeric, rational
from sulq.queries.attributes import attribute, column_names, features_beside
from sulq.queries.node import Node
from sulq.queries.query import Query, count
from sulq.queries.rounds import Round
from sulq.schema import Integer, Real, Schema
from sulq.talk.answers import BETA, Answer
from sulq.talk.laws import Exactly, Noise
from sulq.talk.oracle import Rounds
from sulq.talk.vector_law import VectorNoise

PILOT = Fraction(1, 50)
"""The part of the budget that counts the labels, before anything is chosen."""
ROWS_WEIGHT = Fraction(1, 10)
"""How well the number of rows is asked for beside them. Where the number is public, it costs nothing."""
NOTHING = 8.0
"""If rows are fewer times the noise in a count, nothing but the most frequent class is asked for."""
FEW = {"numbers": 300.0, "categories": 150.0}
"""From so many times on, a tree is better than a choice of few conditions. Questions about categories have
many answers, and three are picked at once, so with categories alone a tree does well with less."""
MANY = {"numbers": 120.0, "categories": 1000.0}
"""From so many times on, if each column has its part of the budget, an additive model is better than both."""
RARE = Fraction(1, 4)
"""Classes that are rarer, together, are hardly ever the likely one: choices by mistakes do not see them."""
CURATORS = Exactly | Noise | VectorNoise
"""The laws of whoever sees the rows, and so can choose. Counts of labels that were flipped are vectors."""

Way = Literal["majority", "selection", "tree", "additive"]


@dataclass(frozen=True)
class TableFacts:
    """What is known of a table before a learner is chosen: public facts, and privately counted rows.

    Args:
        rows: how many rows there are, as far as that is known.
        others: how many of them may have another class than the most frequent one.
        noise: one standard deviation of a count that gets all of the budget.
        power: noise is inverse to this power of a part of the budget.
        columns: from how many columns is learned.
        classes: how many classes there are.
        kinds: whether there are numbers among the columns, or categories alone.
        choosable: whether a choice among conditions can tell the classes apart, and whether whoever answers
            can be asked for one: in a survey nobody sees all rows.

    >>> TableFacts(6000, 2800, 3.0, 1.0, 5, 2, "numbers", True).way
    'additive'
    >>> TableFacts(300, 140, 3.0, 1.0, 5, 2, "numbers", True).way
    'selection'
    """

    rows: float
    others: float
    noise: float
    power: float
    columns: int
    classes: int
    kinds: Literal["numbers", "categories"]
    choosable: bool

    @property
    def clear(self) -> float:
        """How many times the noise in a count the rows are, but for the surplus of the frequent class."""
        return min(self.rows, 2 * self.others) / self.noise if self.noise > 0 else math.inf

    @property
    def clear_in_columns(self) -> float:
        """The same, where each column and each class but one has its part of the budget."""
        return float(self.clear / (self.columns * (self.classes - 1)) ** self.power)

    @property
    def way(self) -> Way:
        """What to learn with."""
        if self.clear < NOTHING:
            return "majority"
        if self.clear_in_columns >= MANY[self.kinds]:
            return "additive"
        seen = self.choosable and self.others >= RARE * self.rows
        return "selection" if seen and self.clear < FEW[self.kinds] else "tree"

    @property
    def why(self) -> str:
        """What is learned with, and why, in a sentence."""
        rows, columns = self._rows, f"{self.columns:,} column{'s' * (self.columns != 1)}"
        match self.way:
            case "majority":
                return f"the most frequent class alone, because {rows}: that is too little to learn more"
            case "additive":
                return f"an additive model, because {rows}: that is enough for the effects of {columns}"
            case "selection":
                return f"one private choice of few conditions, because {rows}: that is little for {columns}"
        return f"a decision tree, because {rows}: that is little for the effects of {columns}"

    @property
    def _rows(self) -> str:
        if self.noise == 0:
            return "answers have no noise"
        rare = self.others < RARE * self.rows
        seldom = " and one class is frequent" if rare else ""
        return f"{self.rows:.0f} rows are {self.rows / self.noise:.0f} times the noise in a count{seldom}"


@dataclass(frozen=True)
class Classifier(Learner[Hypothesis]):
    """Predicts a class: chooses a learner by public facts, and says which and why.

    A first count of the labels, for 2 % of the budget, says how many rows there are compared with the noise.
    By that, and by the number of columns and classes, the rest of the budget goes to the most frequent class
    alone, to one private choice of few conditions (as `Select`), to a tree (`ID3`) or to an additive model
    (`Additive`). The hypothesis is a `Tree` or an `AdditiveModel`: both have `predict_proba`. Its
    `origin.chosen` says what was chosen, and why.

    Args:
        label: what is predicted: a category, a boolean, or an expression like these.
        features: the columns to learn from; by default all that the label does not look at.
        bins: public edges for numbers, by column; by default from the schema's bounds.
        share: the part of the budget to spend.

    >>> import sulq
    >>> rows = {"x": [1, 2, 8, 9] * 900, "y": [False, False, True, True] * 900}
    >>> people = sulq.open(rows, {"x": sulq.Integer(0, 10), "y": sulq.Boolean()})
    >>> model = Classifier("y").learn(people.curator(epsilon=1))
    >>> model.predict({"x": [1, 9]})
    array([False,  True])
    >>> model.origin.chosen
    'an additive model, because 3600 rows are 1273 times the noise in a count: that is enough ...'
    """

    label: str | Node
    features: Sequence[str] | None = None
    bins: Mapping[str, Sequence[float]] = field(default_factory=dict)
    share: Numeric = 1

    def rounds(self, schema: Schema) -> Rounds[Hypothesis]:
        label, share = self._label(schema), rational("share", self.share, most=1)
        self._check(schema, label)
        answers = yield Round(first_look(label), share * PILOT)
        table = self._table(schema, label, answers)
        hypothesis = yield from self._learned(schema, label, table.way, share * (1 - PILOT))
        return replace(hypothesis, origin=Origin("", "", "", 0, table.why))

    def _learned(self, schema: Schema, label: Node, way: Way, share: Fraction) -> Rounds[Hypothesis]:
        if way == "selection":
            return (yield from selected(schema, label, self.features, self.bins, share))
        if way == "additive":
            return (yield from self._additive(share).rounds(schema))
        return (yield from self._tree(share, depth=0 if way == "majority" else None).rounds(schema))

    def _tree(self, share: Fraction, depth: int | None = None) -> ID3:
        return ID3(self.label, self.features, depth, bins=self.bins, share=share)

    def _additive(self, share: Fraction) -> Additive:
        return Additive(self.label, self.features, self.bins, share=share)

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

    def _table(self, schema: Schema, label: Node, answers: Sequence[Answer]) -> TableFacts:
        classes, features = Target(schema, label).classes, features_beside(schema, self.features, label)
        assert classes is not None
        labels, (rows, noise) = answers[0], rows_and_noise(answers)
        # Whatever noise may hide counts as there: one class must be seen to be frequent.
        others = rows - float(np.max(labels.value)) + float(np.max(labels.radius(BETA)))
        number = any(isinstance(schema[name], Integer | Real) for name in column_names(features, schema))
        kinds: Literal["numbers", "categories"] = "numbers" if number else "categories"
        choosable = positive(schema, label) is not None and isinstance(labels.law, CURATORS)
        power = float(labels.law.power)
        return TableFacts(rows, max(0.0, others), noise, power, len(features), len(classes), kinds, choosable)


def first_look(label: Node) -> list[Query]:
    """How many rows have each label, and how many there are."""
    return [count(by=[label]), count(weight=ROWS_WEIGHT)]


def rows_and_noise(answers: Sequence[Answer]) -> tuple[float, float]:
    """How many rows there are, and one standard deviation of a count that gets all of the budget.

    Args:
        answers: the answers to a first look.
    """
    labels, counted = answers
    noise = float(np.max(labels.deviation)) * float(PILOT) ** float(labels.law.power)
    # A number of rows that is not public is better known from the labels: they are asked for more precisely.
    rows = float(counted.value if counted.deviation == 0 else np.sum(labels.value))
    return max(0.0, rows), noise
