"""Decision lists: the first rule that fits a row says its class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sulq.errors import QueryError
from sulq.hypotheses.class_scores import differs
from sulq.hypotheses.hypothesis import Hypothesis, words
from sulq.hypotheses.nodes import End
from sulq.hypotheses.target import Target
from sulq.numbers import several
from sulq.pictures import chips
from sulq.queries.logistic import GRID_BITS
from sulq.queries.lookups import Lookup
from sulq.queries.node import Node
from sulq.queries.routes import Route


@dataclass(frozen=True, eq=False)
class RuleList(Hypothesis):
    """A decision list: conditions in their order, each with the class of the rows that it is first to fit.

    Args:
        schema: what is public about the columns.
        origin: where the hypothesis comes from, if it was learned.
        label: what is predicted: a category or a truth value.
        conditions: the conditions, each true or false of a row.
        ends: for each condition, and at last for the rows that none fits, the class to expect and how many
            rows have each class.

    >>> import sulq
    >>> schema = sulq.Schema({"age": sulq.Integer(0, 99), "old": sulq.Boolean(), "sick": sulq.Boolean()})
    >>> ends = (End(1, (5.0, 95.0)), End(0, (80.0, 20.0)))
    >>> model = RuleList(schema, None, sulq.col("sick"), (sulq.col("age") >= 65,), ends)
    >>> print(model.describe())
    if age >= 65: true (95 % of 100)
    else: false (80 % of 100)
    >>> model.predict({"age": [80, 20]}), model.predict_proba({"age": [80]}).round(2).tolist()
    (array([ True, False]), [[0.05, 0.95]])
    """

    wire = "rule list"

    label: Node
    conditions: tuple[Node, ...]
    ends: tuple[End, ...]

    @property
    def classes(self) -> tuple[str, ...] | tuple[bool, ...]:
        """What the label can be, in the order of `predict_proba`."""
        return Target(self.schema, self.label, others=True).classes or ()

    @property
    def place(self) -> Node:
        """Which condition is the first to fit a row, as a row expression."""
        return first_that_fits(self.conditions)

    @property
    def expression(self) -> Node:
        if len(self.classes) == 2:
            return Lookup(self.place, tuple((float(end.label),) for end in self.ends)) > 0
        return self._class

    @property
    def likelihood(self) -> Node | None:
        if len(self.classes) != 2:
            return None
        second = tuple((round(float(share) * 2**GRID_BITS) / 2**GRID_BITS,) for share in self._shares[:, 1])
        return Lookup(self.place, second)

    def wrong(self, truth: Node) -> Node:
        if self.classes == (False, True):
            return super().wrong(truth)
        return differs(self._class, truth, len(self.classes))

    @property
    def _class(self) -> Node:
        """The place of the class among all classes, as a row expression."""
        steps = (0, *range(1, len(self.ends) + 1)), *((end.label,) for end in self.ends)
        return Route((self.place,), steps, len(self.classes))

    def predict(self, frame: Any) -> NDArray[Any]:
        """The class to expect of every row of a frame, which needs no label."""
        labels = np.array([end.label for end in self.ends])
        return np.asarray(np.array(self.classes)[labels[self._places(frame)]])

    def predict_proba(self, frame: Any) -> NDArray[np.float64]:
        """How likely each class is, for every row of a frame: the shares among rows with that rule."""
        return np.asarray(self._shares[self._places(frame)])

    @property
    def _shares(self) -> NDArray[np.float64]:
        """The share of each class among the rows of each end."""
        positive = np.array([np.maximum(end.counts, 0.0) for end in self.ends]) + 1e-9
        return np.asarray(positive / positive.sum(axis=1, keepdims=True))

    def _places(self, frame: Any) -> NDArray[np.intp]:
        return np.asarray(self._values(self.place, frame), dtype=np.intp).reshape(-1)

    def describe(self) -> str:
        return "\n".join(self._lines)

    @property
    def _lines(self) -> list[str]:
        heads = [f"if {words(each, self.schema)}" for each in self.conditions]
        heads = [heads[0], *(f"else {head}" for head in heads[1:])] if heads else []
        heads.append("else" if self.conditions else "always")
        return [f"{head}: {self._end(end)}" for head, end in zip(heads, self.ends, strict=True)]

    def _end(self, end: End) -> str:
        chosen = self.classes[end.label]
        name = str(chosen).lower() if isinstance(chosen, bool) else chosen
        if end.drowned:
            return f"{name} (within the noise)"
        off = f" ± {100 * end.error:.0f}" if end.error else ""
        return f"{name} ({100 * end.confidence:.0f}{off} % of {end.size:.0f})"

    @property
    def headline(self) -> str:
        many = several(len(self.conditions), "rule", "rules")
        return f"{words(self.label)} by a list of {many}; the first that fits says it."

    @property
    def doubts(self) -> tuple[str, ...]:
        quiet = [line for line, end in zip(self._lines, self.ends, strict=True) if end.drowned]
        return tuple(f"Noise alone could have made the rows of: {line.partition(':')[0]}." for line in quiet)

    def picture(self) -> str:
        return chips.picture(words(self.label), self._lines, joint="", note=self._caption)

    def _check(self) -> None:
        Target(self.schema, self.label).check()
        size = len(self.classes)
        if not size:
            raise QueryError(f"{words(self.label)} is a number: a decision list tells classes")
        if len(self.ends) != len(self.conditions) + 1:
            raise QueryError("a decision list has an end for each condition, and one for the other rows")
        if any(not 0 <= end.label < size or len(end.counts) != size for end in self.ends):
            raise QueryError(f"an end of this decision list has one of {size} classes, and {size} counts")
        super()._check()


def first_that_fits(conditions: tuple[Node, ...]) -> Node:
    """Which of some conditions is the first to fit a row; their number where none does.

    Args:
        conditions: the conditions.
    """
    many = len(conditions)
    steps = [(place, 2 * place + 2, 2 * place + 1) for place in range(many)]
    listed: list[tuple[int, ...]] = []
    for place, step in enumerate(steps):
        listed += [step, (place,)]
    return Route(conditions, (*listed, (many,)), many + 1)
