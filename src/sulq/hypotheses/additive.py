"""Additive models: what each value of each attribute adds to the log-odds of a class, or to a number."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sulq.errors import QueryError
from sulq.hypotheses.hypothesis import Hypothesis, words
from sulq.hypotheses.measures import bounds_of
from sulq.pictures import measured
from sulq.queries.arithmetic import Add
from sulq.queries.cases import clip
from sulq.queries.codes import Bins, Cross, Nearest, OneHot
from sulq.queries.expressions import Constant
from sulq.queries.facts import Code
from sulq.queries.logistic import Logistic
from sulq.queries.lookups import Lookup
from sulq.queries.node import Node
from sulq.queries.scope import scope_of
from sulq.queries.vectors import vector
from sulq.schema import Schema

FAR = 64.0
"""Further than any sum of effects that makes a difference."""
SURELY = 1.96
"""So many standard deviations are 95 % of a bell curve."""
DRAWN = 12
"""How many values of an attribute are worth drawing."""


@dataclass(frozen=True)
class Target:
    """A label, and the numbers of a row that stand for it.

    A class is 0 or 1: whether a row has the second of two classes, or each of more. A number is scaled such
    that its public bounds are −1 and 1.

    Args:
        schema: what is public about the columns.
        label: the label, as a row expression.
    """

    schema: Schema
    label: Node

    @property
    def classes(self) -> tuple[str, ...] | tuple[bool, ...] | None:
        """What the label can be; None for a number."""
        facts = scope_of(self.schema).facts(self.label)
        if isinstance(facts, Code):
            return facts.levels or tuple(map(str, range(facts.size)))
        return (False, True) if facts.flag else None

    @property
    def width(self) -> int:
        """How many numbers stand for the label."""
        classes = self.classes
        return 1 if classes is None or len(classes) == 2 else len(classes)

    @property
    def numbers(self) -> Node:
        """The numbers that stand for the label of a row."""
        if self.classes is None:
            low, high = self.bounds
            return (self.label - (low / 2 + high / 2)) * (2 / (high - low))
        return OneHot(self.label) if self.width > 1 else Lookup(self.label, ((0,), (1,)))

    @property
    def bounds(self) -> tuple[float, float]:
        """Between which bounds a number is."""
        low, high = bounds_of(self.schema, self.label)
        if low == high:
            raise QueryError(f"{self.label.described()} cannot vary: there is nothing to predict")
        return low, high

    def check(self) -> None:
        """Refuse what is no label."""
        classes = self.classes
        if classes is None:
            self.bounds
        elif len(classes) < 2:
            raise QueryError(f"{self.label.described()} can only have one value: there is nothing to predict")


@dataclass(frozen=True)
class Effect:
    """What the values of one attribute add.

    Args:
        code: which of its values a row has.
        added: for each value what it adds, to each number that stands for the label.
        deviations: one standard deviation of the error of each.
    """

    code: Node
    added: tuple[tuple[float, ...], ...]
    deviations: tuple[tuple[float, ...], ...]

    @property
    def name(self) -> str:
        """What the attribute is called."""
        return words(self.code.inner if isinstance(self.code, Bins) else self.code)

    @property
    def swing(self) -> float:
        """How far apart what it adds can be."""
        table = np.array(self.added)
        return float(np.ptp(table, axis=0).max())


@dataclass(frozen=True, eq=False)
class AdditiveModel(Hypothesis):
    """A sum of effects: the log-odds of a class, or a number.

    `predict` gives values of the label, `predict_proba` how likely each class is. Its `expression` is the
    class as a truth value or as a choice, or the number.

    Args:
        schema: what is public about the columns.
        origin: where the hypothesis comes from, if it was learned.
        label: what is predicted.
        intercept: what is added for every row, to each number that stands for the label.
        effects: what each attribute adds.

    >>> import sulq
    >>> schema = sulq.Schema({"old": sulq.Boolean(), "sick": sulq.Boolean()})
    >>> effect = Effect(sulq.col("old"), ((-1.0,), (2.0,)), ((0.1,), (0.1,)))
    >>> model = AdditiveModel(schema, None, sulq.col("sick"), (-0.5,), (effect,))
    >>> model.predict({"old": [True, False]}), model.predict_proba({"old": [True, False]}).round(2).tolist()
    (array([ True, False]), [[0.18, 0.82], [0.82, 0.18]])
    >>> print(model.describe())
    log-odds of sick: −0.5, and
      old: false −1.00 ± 0.20, true +2.00 ± 0.20
    """

    wire = "additive"

    label: Node
    intercept: tuple[float, ...]
    effects: tuple[Effect, ...]

    @property
    def target(self) -> Target:
        """The label, and the numbers that stand for it."""
        return Target(self.schema, self.label)

    @property
    def score(self) -> Node:
        """The sum of all effects of a row."""
        return score(self.intercept, [(effect.code, effect.added) for effect in self.effects])

    @property
    def expression(self) -> Node:
        if self.target.classes is None:
            low, high = self.target.bounds
            return clip(self.score, -1.0, 1.0) * ((high - low) / 2) + (low / 2 + high / 2)
        return self._chosen

    @property
    def _chosen(self) -> Node:
        if self.target.width == 1:
            return self.score > 0
        # Of equally long vectors in the directions of the axes, the nearest is that of the largest number.
        places = range(self.target.width)
        centres = tuple(tuple(FAR * (i == j) for j in places) for i in places)
        return Nearest(self.score, centres)

    def wrong(self, truth: Node) -> Node:
        classes = self.target.classes
        if classes is None or classes == (False, True):
            return super().wrong(truth)
        size = len(classes)
        different = tuple((int(i != j),) for i in range(size) for j in range(size))
        return Lookup(Cross((self._chosen, truth)), different)

    def predict(self, frame: Any) -> NDArray[Any]:
        """The class or the number to expect of every row of a frame, which needs no label."""
        classes = self.target.classes
        if classes is None:
            return super().predict(frame)
        return np.asarray(np.array(classes)[self._values(self._chosen, frame).astype(np.intp)])

    def predict_proba(self, frame: Any) -> NDArray[np.float64]:
        """How likely each class is, for every row of a frame: a column for each, in the order of `classes`."""
        if self.target.classes is None:
            raise QueryError(f"{words(self.label)} is a number: it has no classes that are likely or not")
        likely = np.asarray(self._values(Logistic(self.score), frame), dtype=np.float64)
        if self.target.width == 1:
            likely = likely.reshape(-1)
            return np.stack([1 - likely, likely], axis=1)
        likely = likely.clip(min=1e-9)
        return np.asarray(likely / likely.sum(axis=1, keepdims=True))

    def describe(self) -> str:
        ordered = sorted(self.effects, key=lambda effect: -effect.swing)
        lines = [f"{self._about}: {self._added(self.intercept)}{', and' if ordered else ''}"]
        for effect in ordered:
            lines.append(f"  {effect.name}: " + ", ".join(self._values_of(effect)))
        return "\n".join(lines)

    @property
    def _about(self) -> str:
        name, classes = words(self.label), self.target.classes
        if classes is None:
            return f"{name}, its bounds scaled to [−1, 1]"
        if classes == (False, True):
            return f"log-odds of {name}"
        if len(classes) == 2:
            return f"log-odds of {name} being {classes[1]}"
        return f"log-odds of {name} being {', '.join(map(str, classes))}"

    def _values_of(self, effect: Effect) -> list[str]:
        rows = zip(self._labels(effect), effect.added, effect.deviations, strict=True)
        return [
            f"{label} {' '.join(f'{x:+.2f} ± {SURELY * d:.2f}' for x, d in zip(added, off, strict=True))}".replace(
                "-", "−"
            )
            if self.target.width == 1
            else f"{label} ({self._added(added)})"
            for label, added, off in rows
        ]

    @staticmethod
    def _added(numbers: tuple[float, ...]) -> str:
        return ", ".join(f"{number:.2g}" for number in numbers).replace("-", "−")

    def _labels(self, effect: Effect) -> list[str]:
        facts = scope_of(self.schema).facts(effect.code)
        if isinstance(facts, Code):
            return list(facts.levels or map(str, range(facts.size)))
        return ["false", "true"]

    def picture(self) -> str:
        panels = []
        for effect in sorted(self.effects, key=lambda effect: -effect.swing):
            for place in range(self.target.width):
                panels.append(self._panel(effect, place))
        return measured.picture(self._about, panels, DRAWN, self._caption)

    def _panel(self, effect: Effect, place: int) -> measured.MeasuredPanel:
        classes = self.target.classes
        name = (
            effect.name if self.target.width == 1 or classes is None else f"{effect.name}, {classes[place]}"
        )
        bars = []
        for label, added, off in zip(self._labels(effect), effect.added, effect.deviations, strict=True):
            value, radius = added[place], SURELY * off[place]
            bars.append(
                measured.MeasuredBar(label, value, value - radius, value + radius, abs(value) > radius)
            )
        return measured.MeasuredPanel(name, tuple(bars))

    def _check(self) -> None:
        self.target.check()
        width = self.target.width
        if len(self.intercept) != width:
            raise QueryError(f"the intercept of this model has {width} numbers, not {len(self.intercept)}")
        for effect in self.effects:
            size = scope_of(self.schema).code(effect.code).size
            for table in (effect.added, effect.deviations):
                if len(table) != size or any(len(row) != width for row in table):
                    raise QueryError(f"an effect has {width} numbers for each of {size} values")
        super()._check()


def score(intercept: tuple[float, ...], effects: list[tuple[Node, tuple[tuple[float, ...], ...]]]) -> Node:
    """The sum of what the attributes of a row add.

    Args:
        intercept: what is added for every row.
        effects: for each attribute which value a row has, and what each value adds.
    """
    start: Node = Constant(intercept[0]) if len(intercept) == 1 else vector(*intercept)
    return reduce(Add, [Lookup(code, added) for code, added in effects], start)
