"""Trees of dependence: each column depends on one other, so any of them can be told by its neighbours."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sulq.errors import QueryError
from sulq.hypotheses.hypothesis import Hypothesis
from sulq.hypotheses.measures import heading
from sulq.pictures.svg import clean
from sulq.queries.arithmetic import Add
from sulq.queries.codes import Cross, Nearest
from sulq.queries.facts import Code
from sulq.queries.lookups import Lookup
from sulq.queries.node import Node
from sulq.queries.scope import scope_of
from sulq.queries.vectors import vector

FAR = 1024.0
"""Further than any difference between sums of logarithms that matters."""
Chances = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Dependence:
    """One column of a tree.

    Args:
        code: which of its values a row has.
        parent: the place of the column that it depends on; None for the root.
        chances: for each value of the parent (for the root once) how likely each of its values is.
    """

    code: Node
    parent: int | None
    chances: Chances


@dataclass(frozen=True, eq=False)
class DependenceTree(Hypothesis):
    """Columns of which each depends on one other: Chow and Liu's tree, or naive Bayes if all depend on one.

    `predict` tells the most likely value of one column, given its neighbours in the tree; `about` makes the
    same tree tell another column. A number is told by the interval that it is in.

    Args:
        schema: what is public about the columns.
        origin: where the hypothesis comes from, if it was learned.
        label: the place of the column that is predicted.
        columns: the columns, in an order in which parents come first.

    >>> import sulq
    >>> schema = sulq.Schema({"old": sulq.Boolean(), "sick": sulq.Boolean()})
    >>> sick = Dependence(sulq.col("sick"), None, ((0.7, 0.3),))
    >>> old = Dependence(sulq.col("old"), 0, ((0.9, 0.1), (0.2, 0.8)))
    >>> tree = DependenceTree(schema, None, 0, (sick, old))
    >>> tree.predict({"old": [True, False]}), tree.predict_proba({"old": [True]}).round(2).tolist()
    (array([ True, False]), [[0.23, 0.77]])
    >>> print(tree.describe())
    tells sick by old
    sick
      old
    """

    wire = "dependence tree"

    label: int
    columns: tuple[Dependence, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """What the columns are called."""
        return tuple(heading(column.code) for column in self.columns)

    @property
    def classes(self) -> tuple[str, ...] | tuple[bool, ...]:
        """What the predicted column can be."""
        facts = scope_of(self.schema).facts(self.columns[self.label].code)
        if isinstance(facts, Code):
            return facts.levels or tuple(map(str, range(facts.size)))
        return False, True

    def about(self, name: str) -> DependenceTree:
        """The same tree, for another of its columns.

        Args:
            name: the column to predict.
        """
        if name not in self.names:
            raise QueryError(f"there is no column {name!r} in this tree; there are {', '.join(self.names)}")
        return replace(self, label=self.names.index(name))

    @property
    def likelihood(self) -> Node:
        """The logarithm of how likely all values of a row are together: low for what is unusual."""
        parts: list[Node] = []
        for column in self.columns:
            numbers = tuple((number,) for row in _logarithms(column.chances) for number in row)
            above = () if column.parent is None else (self.columns[column.parent].code,)
            parts.append(Lookup(Cross((*above, column.code)), numbers))
        return reduce(Add, parts)

    @property
    def score(self) -> Node:
        """The logarithm of how likely each value of the label is, up to what they have in common."""
        parts: list[Node] = [Lookup(code, table) for code, table in self._neighbours]
        label = self.columns[self.label]
        if label.parent is None:
            parts.insert(0, vector(*_logarithms(label.chances)[0]))
        return reduce(Add, parts)

    @property
    def _neighbours(self) -> list[tuple[Node, Chances]]:
        """What each neighbour tells: for each of its values a number for each value of the label."""
        label = self.columns[self.label]
        above = (
            [] if label.parent is None else [(self.columns[label.parent].code, _logarithms(label.chances))]
        )
        below = [self.columns[place] for place in self._children(self.label)]
        return [
            *above,
            *((each.code, tuple(zip(*_logarithms(each.chances), strict=True))) for each in below),
        ]

    @property
    def expression(self) -> Node:
        # Of equally long vectors in the directions of the axes, the nearest is that of the largest number.
        places = range(len(self.classes))
        centres = tuple(tuple(FAR * (i == j) for j in places) for i in places)
        nearest = Nearest(self.score, centres)
        return nearest if self.classes != (False, True) else Lookup(nearest, ((0,), (1,))) > 0

    def wrong(self, truth: Node) -> Node:
        if self.classes == (False, True):
            return super().wrong(truth)
        size = len(self.classes)
        different = tuple((int(i != j),) for i in range(size) for j in range(size))
        return Lookup(Cross((self.expression, truth)), different)

    def predict(self, frame: Any) -> NDArray[Any]:
        """The most likely value for every row of a frame, which needs no more than the label's neighbours."""
        return np.asarray(np.array(self.classes)[super().predict(frame).astype(np.intp)])

    def predict_proba(self, frame: Any) -> NDArray[np.float64]:
        """How likely each value is, for every row of a frame, in the order of `classes`."""
        scores = np.asarray(self._values(self.score, frame), dtype=np.float64)
        likely = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(likely / likely.sum(axis=1, keepdims=True))

    @property
    def headline(self) -> str:
        by = f"by {', '.join(self._near)}" if self._near else "by no other column"
        return f"{self._clean_names[self.label]} is told {by}."

    def describe(self) -> str:
        by = f" by {', '.join(self._near)}" if self._near else ""
        return "\n".join([f"tells {self._clean_names[self.label]}{by}", *self._below(0, "")])

    @property
    def _near(self) -> list[str]:
        """The columns that the label depends on, and those that depend on it."""
        parent = self.columns[self.label].parent
        near = [*([] if parent is None else [parent]), *self._children(self.label)]
        return [self._clean_names[place] for place in near]

    @property
    def _clean_names(self) -> list[str]:
        return [clean(name) for name in self.names]

    def _children(self, place: int) -> list[int]:
        return [child for child, column in enumerate(self.columns) if column.parent == place]

    def _below(self, place: int, indent: str) -> list[str]:
        below = [self._below(child, indent + "  ") for child in self._children(place)]
        return [indent + self._clean_names[place], *(line for lines in below for line in lines)]

    def _check(self) -> None:
        sizes = [scope_of(self.schema).code(column.code).size for column in self.columns]
        if not 0 <= self.label < len(sizes):
            raise QueryError("the label of a tree is one of its columns")
        for place, column in enumerate(self.columns):
            if (place == 0) != (column.parent is None) or not -1 < (column.parent or 0) < max(1, place):
                raise QueryError(
                    "in a tree the first column has no parent, and each other one an earlier column"
                )
            rows = 1 if column.parent is None else sizes[column.parent]
            if len(column.chances) != rows or any(len(row) != sizes[place] for row in column.chances):
                raise QueryError(f"a column of a tree has {rows} × {sizes[place]} chances")
            if not all(0 < chance <= 1 for row in column.chances for chance in row):
                raise QueryError("chances are above 0, and at most 1")
        super()._check()


def _logarithms(chances: Chances) -> Chances:
    return tuple(tuple(math.log(chance) for chance in row) for row in chances)
