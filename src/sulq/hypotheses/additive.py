"""Additive models: what each value of each attribute adds to the log-odds of a class, or to a number."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sulq.errors import QueryError
from sulq.hypotheses.class_scores import chosen, differs, likelihoods
from sulq.hypotheses.effect import Effect
from sulq.hypotheses.hypothesis import Hypothesis, enumerated, words
from sulq.hypotheses.target import Target
from sulq.numbers import several
from sulq.pictures import measured
from sulq.queries.arithmetic import Add
from sulq.queries.expressions import Constant
from sulq.queries.logistic import Logistic
from sulq.queries.lookups import Lookup
from sulq.queries.node import Node
from sulq.queries.value_names import dates_of
from sulq.queries.vectors import vector

BARS = "95 of 100 hold what exact answers would give"
"""What error bars say, and what not."""
DRAWN = 12
"""How many values of a category are worth drawing."""
NAMED = 4
"""So many columns are named in a headline, those that matter most first."""


@dataclass(frozen=True, eq=False)
class AdditiveModel(Hypothesis):
    """A sum of effects: the log-odds of a class, or a number.

    `predict` gives values of the label, `predict_proba` how likely each class is. Its `expression` is the
    class as a truth value or as a choice, or the number. Effects of every attribute are 0 on average over the
    rows. Error bars are 1.96 standard deviations of what noise and sampling do to an effect: how far it is
    from what the same learner makes of exact answers in the same bins. Where noise hides a value, the bar is
    as long as effects may be at all. What was smoothed away because bins were joined is left out. Numbers are
    scaled such that their bounds, or the ends of where their values are, become −1 and 1, and effects on them
    are in that unit.

    Args:
        schema: what is public about the columns.
        origin: where the hypothesis comes from, if it was learned.
        label: what is predicted.
        intercept: what is added for every row, to each number that stands for the label.
        effects: what each attribute adds.
        within: where the values of a number are; None for anywhere within its bounds.

    >>> import sulq
    >>> schema = sulq.Schema({"old": sulq.Boolean(), "sick": sulq.Boolean()})
    >>> effect = Effect(sulq.col("old"), (0.6, 0.4), ((-1.0,), (1.5,)), ((0.1,), (0.1,)))
    >>> model = AdditiveModel(schema, None, sulq.col("sick"), (-0.5,), (effect,))
    >>> model.predict({"old": [True, False]}), model.predict_proba({"old": [True, False]}).round(2).tolist()
    (array([ True, False]), [[0.27, 0.73], [0.82, 0.18]])
    >>> print(model.describe())
    log-odds of sick: −0.50, and
      old: true +1.50 ± 0.20, false −1.00 ± 0.20
    """

    wire = "additive"

    label: Node
    intercept: tuple[float, ...]
    effects: tuple[Effect, ...]
    within: tuple[float, float] | None = field(default=None, metadata={"written": "if stated"})

    @property
    def target(self) -> Target:
        """The label, and the numbers that stand for it."""
        # Before two declared values were two classes, `(other)` was the third.
        return Target(self.schema, self.label, others=len(self.intercept) == 3, within=self.within)

    @property
    def classes(self) -> tuple[str, ...] | tuple[bool, ...] | None:
        """What the label can be, in the order of `predict_proba`; None for a number."""
        return self.target.classes

    @property
    def ranked(self) -> tuple[Effect, ...]:
        """The effects, those that matter most first."""
        return tuple(sorted(self.effects, key=lambda effect: -effect.importance))

    @property
    def score(self) -> Node:
        """The sum of all effects of a row, as a row expression."""
        return score(self.intercept, [(effect.code, effect.added) for effect in self.effects])

    @property
    def expression(self) -> Node:
        if self.classes is None:
            low, high = self.target.bounds
            return self.target.kept(self.score) * ((high - low) / 2) + (low / 2 + high / 2)
        return self._chosen

    @property
    def likelihood(self) -> Node | None:
        return Logistic(self.score) if self.classes is not None and self.target.width == 1 else None

    @property
    def _chosen(self) -> Node:
        return chosen(self.score, self.target.width)

    def wrong(self, truth: Node) -> Node:
        classes = self.classes
        if classes is None or classes == (False, True):
            return super().wrong(truth)
        return differs(self._chosen, truth, len(classes), self.target.known is not None)

    def predict(self, frame: Any) -> NDArray[Any]:
        """The class or the number to expect of every row of a frame, which needs no label."""
        classes = self.classes
        if classes is None:
            return super().predict(frame)
        return np.asarray(np.array(classes)[self._values(self._chosen, frame).astype(np.intp)])

    def predict_proba(self, frame: Any) -> NDArray[np.float64]:
        """How likely each class is, for every row of a frame: a column for each of `classes`."""
        if self.classes is None:
            raise QueryError(f"{words(self.label)} is a number: it has no classes that are likely or not")
        return likelihoods(self._values(self.score, frame), self.target.width)

    def describe(self) -> str:
        ranked = self.ranked
        constant = ", ".join(f"{number:.2f}" for number in self.intercept).replace("-", "−")
        lines = [f"{self._about}: {constant}{', and' if ranked else ''}"]
        for effect in ranked:
            for name, place in self._places():
                lines.append(f"  {effect.name}{name}: {effect.told(self.schema, place)}")
        return "\n".join(lines)

    @property
    def headline(self) -> str:
        known = [effect.name for effect in self.ranked if effect.telling]
        if not known:
            return f"{words(self.label)} is told by no column that can be told from noise."
        rest = len(known) - NAMED
        others = [] if rest <= 0 else [several(rest, "other column", "other columns")]
        return f"{words(self.label)} is told by {enumerated([*known[:NAMED], *others])}."

    @property
    def doubts(self) -> tuple[str, ...]:
        quiet = [effect.name for effect in self.ranked if not effect.telling]
        if not quiet:
            return ()
        one = f"The effect of {quiet[0]} is" if len(quiet) == 1 else ""
        return (f"{one or f'The effects of {enumerated(quiet)} are'} within the noise.",)

    @property
    def _about(self) -> str:
        name, classes = words(self.label), self.classes
        if classes is None:
            return f"{name}, {self._ends} scaled to [−1, 1]"
        if classes == (False, True):
            return f"log-odds of {name}"
        if len(classes) == 2:
            return f"log-odds of {name} being {classes[1]}"
        return f"log-odds of {name} being {', '.join(map(str, classes))}"

    @property
    def _ends(self) -> str:
        if self.within is None:
            return "its bounds"
        dates = dates_of(self.label, self.schema)
        low, high = (
            f"{end:g}".replace("-", "−") if dates is None else dates.date(end) for end in self.within
        )
        return f"{low} to {high}"

    def _places(self) -> list[tuple[str, int]]:
        """The numbers that stand for the label, each with what is said after an attribute's name."""
        classes = self.classes
        if classes is None or self.target.width == 1:
            return [("", 0)]
        return [(f", {each}", place) for place, each in enumerate(classes)]

    def picture(self) -> str:
        panels = [
            effect.panel(self.schema, place, f"{effect.name}{name}")
            for effect in self.ranked
            for name, place in self._places()
        ]
        return measured.picture(self._about, panels, DRAWN, self._caption, BARS)

    def _check(self) -> None:
        self.target.check()
        width = self.target.width
        if len(self.intercept) != width:
            raise QueryError(f"the intercept of this model has {width} numbers, not {len(self.intercept)}")
        for effect in self.effects:
            effect.check(self.schema, width)
        super()._check()


def score(intercept: tuple[float, ...], effects: list[tuple[Node, tuple[tuple[float, ...], ...]]]) -> Node:
    """The sum of what the attributes of a row add.

    Args:
        intercept: what is added for every row.
        effects: for each attribute which value a row has, and what each value adds.
    """
    start: Node = Constant(intercept[0]) if len(intercept) == 1 else vector(*intercept)
    return reduce(Add, [Lookup(code, added) for code, added in effects], start)
