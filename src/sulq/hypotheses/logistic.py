"""Logistic models: the log-odds of a class as a weighted sum of features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sulq.errors import QueryError
from sulq.hypotheses.class_scores import chosen, differs, likelihoods
from sulq.hypotheses.hypothesis import Hypothesis, words
from sulq.hypotheses.linear import BARS, DRAWN, SURELY, drowned, feature_name, moves, weighted
from sulq.hypotheses.target import Target
from sulq.pictures import measured
from sulq.queries.logistic import Logistic
from sulq.queries.node import Node


@dataclass(frozen=True, eq=False)
class LogisticModel(Hypothesis):
    """The log-odds of a class, as a weighted sum of features; of each class, where there are more than two.

    `predict` gives values of the label, `predict_proba` how likely each class is. Error bars are 1.96
    standard deviations of what noise does to a coefficient: how far it is from what exact answers to the same
    questions would have given, after the same first look at where values are. That rows are a sample is not
    part of them.

    Args:
        schema: what is public about the columns.
        origin: where the hypothesis comes from, if it was learned.
        label: what is predicted: a category or a truth value.
        features: what it is predicted by, as for `sulq.hypotheses.LinearModel`.
        coefficients: for each feature by how much the log-odds grow where it grows by 1: those of the second
            of two classes, or of each of more.
        deviations: one standard deviation of the error that noise makes in each coefficient.
        intercept: the log-odds where all features are 0.

    >>> import sulq
    >>> schema = sulq.Schema({"age": sulq.Integer(0, 100), "sick": sulq.Boolean()})
    >>> age = sulq.col("age")
    >>> model = LogisticModel(schema, None, sulq.col("sick"), (age,), ((0.1,),), ((0.01,),), (-5.0,))
    >>> print(model.describe())
    log-odds of sick: −5 + 0.1 age (± 0.02)
    >>> model.predict({"age": [20, 80]}), model.predict_proba({"age": [20, 80]}).round(2).tolist()
    (array([False,  True]), [[0.95, 0.05], [0.05, 0.95]])
    """

    wire = "logistic model"

    label: Node
    features: tuple[Node, ...]
    coefficients: tuple[tuple[float, ...], ...]
    deviations: tuple[tuple[float, ...], ...]
    intercept: tuple[float, ...]

    @property
    def classes(self) -> tuple[str, ...] | tuple[bool, ...]:
        """What the label can be, in the order of `predict_proba`."""
        return self._target.classes or ()

    @property
    def names(self) -> tuple[str, ...]:
        """What each feature is called."""
        return tuple(feature_name(self.schema, feature) for feature in self.features)

    @property
    def score(self) -> Node:
        """The log-odds of a row, as a row expression."""
        return weighted(self.schema, self.features, self.coefficients, self.intercept)

    @property
    def expression(self) -> Node:
        return chosen(self.score, self._target.width)

    @property
    def likelihood(self) -> Node | None:
        return Logistic(self.score) if self._target.width == 1 else None

    def wrong(self, truth: Node) -> Node:
        if self.classes == (False, True):
            return super().wrong(truth)
        return differs(self.expression, truth, len(self.classes), self._target.known is not None)

    def predict(self, frame: Any) -> NDArray[Any]:
        """The class to expect of every row of a frame, which needs no label."""
        return np.asarray(np.array(self.classes)[self._values(self.expression, frame).astype(np.intp)])

    def predict_proba(self, frame: Any) -> NDArray[np.float64]:
        """How likely each class is, for every row of a frame: a column for each of `classes`."""
        return likelihoods(self._values(self.score, frame), self._target.width)

    def describe(self) -> str:
        lines = []
        for place, about in enumerate(self._abouts):
            terms = "".join(
                f" {'−' if each[place] < 0 else '+'} {abs(each[place]):.4g} {name} "
                f"(± {SURELY * off[place]:.2g})"
                for name, each, off in zip(self.names, self.coefficients, self.deviations, strict=True)
            )
            lines.append(f"log-odds of {about}: {self.intercept[place]:.4g}".replace("-", "−", 2) + terms)
        return "\n".join(lines).replace("log−odds", "log-odds")

    @property
    def headline(self) -> str:
        bars = [bar for place in range(self._target.width) for bar in self._moves(place)]
        ranked = sorted(bars, key=lambda bar: -abs(bar.value))
        known = list(dict.fromkeys(bar.label for bar in ranked if bar.telling))
        by = f"by {', '.join(known[:4])}" if known else "by no feature that can be told from noise"
        return f"{words(self.label)} is told {by}."

    @property
    def doubts(self) -> tuple[str, ...]:
        each = [self._moves(place) for place in range(self._target.width)]
        return drowned(
            [bars[0].label for bars in zip(*each, strict=True) if not any(b.telling for b in bars)]
        )

    def picture(self) -> str:
        panels = [
            measured.MeasuredPanel(f"log-odds of {about}", self._moves(place))
            for place, about in enumerate(self._abouts)
        ]
        title = f"how far the log-odds of {words(self.label)} move between a feature's bounds"
        return measured.picture(title, panels, DRAWN, self._caption, BARS)

    @property
    def _target(self) -> Target:
        return Target(self.schema, self.label, others=len(self.intercept) == 3)

    @property
    def _abouts(self) -> list[str]:
        name, classes = words(self.label), self.classes
        if classes == (False, True):
            return [name]
        return [f"{name} being {each}" for each in (classes[1:] if len(classes) == 2 else classes)]

    def _moves(self, place: int) -> tuple[measured.MeasuredBar, ...]:
        weights, offs = [each[place] for each in self.coefficients], [each[place] for each in self.deviations]
        return moves(self.schema, self.features, weights, offs)

    def _check(self) -> None:
        self._target.check()
        if self._target.classes is None:
            raise QueryError(f"{words(self.label)} is a number: a logistic model tells classes")
        width = self._target.width
        if len(self.intercept) != width:
            raise QueryError(f"the intercept of this model has {width} numbers, not {len(self.intercept)}")
        for table in (self.coefficients, self.deviations):
            if len(table) != len(self.features) or any(len(row) != width for row in table):
                raise QueryError(f"a logistic model has {width} coefficients and deviations for each feature")
        super()._check()
