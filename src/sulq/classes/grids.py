"""Classes of hypotheses over ordered and categorical columns: thresholds, intervals, rectangles, stumps.

A number is read as the bin between public edges that it falls into, and an edge belongs to the right of it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from sulq.classes.base import HypothesisClass, Look, Setting
from sulq.classes.boolean import balance, choice_size, missed
from sulq.classes.transforms import Integers, rising, stretched, stretches
from sulq.errors import QueryError
from sulq.hypotheses.hypothesis import words
from sulq.hypotheses.rules import Rule, Selected
from sulq.numbers import whole
from sulq.privacy.gf2 import Bits
from sulq.queries.arithmetic import Compare, Not
from sulq.queries.attributes import Edges, column_names, edge_numbers, features_beside
from sulq.queries.codes import Bins, bins
from sulq.queries.expressions import Constant, col, named
from sulq.queries.node import Node
from sulq.schema import Boolean, Category, Integer, Real

MOST_BINS = 2**16
"""Of one number. A question that takes few letters to ask must not fill the memory."""


@dataclass(frozen=True, eq=False)
class Thresholds(HypothesisClass):
    """What a number reaches: a column from an edge on, for each of k public edges; always; never.

    Args:
        column: a column or an expression that is a number.
        edges: public edges, in increasing order.

    >>> import sulq
    >>> setting = Setting(sulq.Schema({"age": sulq.Integer(0, 120), "y": sulq.Boolean()}), sulq.col("y"))
    >>> ages = Thresholds("age", [18, 40, 65])
    >>> [ages.hypothesis(i, setting).describe() for i in range(ages.size(setting))]
    ['always', 'age >= 18', 'age >= 40', 'age >= 65', 'never']
    """

    wire = "thresholds"

    column: str | Node
    edges: Sequence[float]

    def size(self, setting: Setting) -> int:
        return _possibilities(_bins(self.column, self.edges), setting) + 1

    def mistakes(self, look: Look, labels: Bits, setting: Setting) -> Integers:
        table = balance(look, labels, [_bins(self.column, self.edges)], [len(self.edges) + 1])
        return missed(rising(table), labels)

    def hypothesis(self, index: int, setting: Setting) -> Selected:
        if index > len(self.edges):
            return Selected(setting.schema, None, Not(Constant(1)), "never")
        return _all_of(_interval(_bins(self.column, self.edges), index, len(self.edges) + 1), setting)


@dataclass(frozen=True, eq=False)
class Intervals(HypothesisClass):
    """A column within one of the (k + 1)(k + 2)/2 stretches that k public edges make, to the ends included.

    Args:
        column: a column or an expression that is a number.
        edges: public edges, in increasing order.

    >>> import sulq
    >>> setting = Setting(sulq.Schema({"age": sulq.Integer(0, 120), "y": sulq.Boolean()}), sulq.col("y"))
    >>> ages = Intervals("age", [18, 65])
    >>> [ages.hypothesis(i, setting).describe() for i in range(ages.size(setting))][:3]
    ['age < 18', 'age < 65', 'always']
    """

    wire = "intervals"

    column: str | Node
    edges: Sequence[float]

    def size(self, setting: Setting) -> int:
        return self._rectangles.size(setting)

    def mistakes(self, look: Look, labels: Bits, setting: Setting) -> Integers:
        return self._rectangles.mistakes(look, labels, setting)

    def hypothesis(self, index: int, setting: Setting) -> Selected:
        return self._rectangles.hypothesis(index, setting)

    @property
    def _rectangles(self) -> Rectangles:
        return Rectangles([(self.column, self.edges)])


@dataclass(frozen=True, eq=False)
class Rectangles(HypothesisClass):
    """Axis-aligned boxes on a grid: an interval of each of several columns.

    Args:
        grid: the columns, or expressions that are numbers, each with its public edges.

    >>> import sulq
    >>> columns = {"age": sulq.Integer(0, 120), "income": sulq.Real(0, 1e6), "y": sulq.Boolean()}
    >>> setting = Setting(sulq.Schema(columns), sulq.col("y"))
    >>> boxes = Rectangles([("age", [18, 65]), ("income", [10_000])])
    >>> boxes.size(setting), boxes.hypothesis(9, setting).describe()
    (18, 'age >= 18 and age < 65 and income < 10000')
    """

    wire = "rectangles"

    grid: Sequence[tuple[str | Node, Sequence[float]]]

    def size(self, setting: Setting) -> int:
        if not self.grid:
            raise QueryError("rectangles need at least one column with its edges")
        return math.prod(math.comb(_possibilities(choice, setting) + 1, 2) for choice in self._choices)

    def mistakes(self, look: Look, labels: Bits, setting: Setting) -> Integers:
        sizes = [len(choice.edges) + 1 for choice in self._choices]
        table = balance(look, labels, self._choices, sizes)
        return missed(stretched(table.reshape(sizes)), labels)

    def hypothesis(self, index: int, setting: Setting) -> Selected:
        places = [stretches(len(choice.edges) + 1) for choice in self._choices]
        which = np.unravel_index(index, tuple(len(starts) for starts, _ in places))
        literals: list[Node] = []
        for choice, (starts, stops), i in zip(self._choices, places, which, strict=True):
            literals += _interval(choice, int(starts[i]), int(stops[i]))
        return _all_of(literals, setting)

    @property
    def _choices(self) -> list[Bins]:
        return [_bins(column, edges) for column, edges in self.grid]


@dataclass(frozen=True, eq=False)
class Stumps(HypothesisClass):
    """Decision stumps over a whole schema: one question about one column, answered either way; always; never.

    The question to a boolean column is whether it is true, to a category whether it is one of its values, to
    a number whether it reaches an edge.

    Args:
        columns: the columns to ask about, by default all that the label is not made of.
        bins: into how many equal parts the range of a number is divided, if it has no edges here.
        edges: public edges of numbers and dates, by column.

    >>> import sulq
    >>> columns = {"age": sulq.Integer(0, 120), "plan": sulq.Category(["free", "paid"]), "y": sulq.Boolean()}
    >>> setting = Setting(sulq.Schema(columns), sulq.col("y"))
    >>> stumps = Stumps(edges={"age": [18, 65]})
    >>> stumps.size(setting), [stumps.hypothesis(i, setting).describe() for i in (0, 1, 3, 5, 6)]
    (12, ['always', 'never', 'age >= 65', 'not (age >= 65)', 'plan == free'])
    """

    wire = "stumps"

    columns: Sequence[str] | None = None
    bins: int = 16
    edges: Mapping[str, Edges] = field(default_factory=dict)

    def size(self, setting: Setting) -> int:
        return 2 + sum(2 * len(questions) for _, questions in self.questions(setting))

    def mistakes(self, look: Look, labels: Bits, setting: Setting) -> Integers:
        true = np.count_nonzero(labels)
        wrong = [np.array([len(labels) - true, true])]
        for choice, questions in self.questions(setting):
            table = balance(look, labels, [choice], [choice_size(choice, setting)]).astype(np.int64)
            # A number's bins from each edge on, a category's values, and of a boolean what is true.
            mistakes = missed(
                rising(table)[1:-1] if isinstance(choice, Bins) else table[-len(questions) :], labels
            )
            wrong += [mistakes, len(labels) - mistakes]
        return np.concatenate(wrong)

    def hypothesis(self, index: int, setting: Setting) -> Selected:
        if index < 2:
            constants: list[tuple[Node, str]] = [(Constant(1), "always"), (Not(Constant(1)), "never")]
            return Selected(setting.schema, None, *constants[index])
        place = index - 2
        for _, questions in self.questions(setting):
            if place < 2 * len(questions):
                turn, number = divmod(place, len(questions))
                question = Not(questions[number]) if turn else questions[number]
                return Selected(setting.schema, None, question, words(question))
            place -= 2 * len(questions)
        raise QueryError(f"there is no stump number {index}")

    def questions(self, setting: Setting) -> list[tuple[Node, list[Node]]]:
        """For every column with something to ask: what is counted, and the questions."""
        whole("bins", self.bins, 1, MOST_BINS)
        features = features_beside(setting.schema, self.columns, setting.label, "columns")
        names = column_names(features, setting.schema)
        every = [self._of_column(name, setting) for name in names]
        if not any(questions for _, questions in every):
            raise QueryError("there are no columns to make stumps of: name some")
        return [(choice, questions) for choice, questions in every if questions]

    def _of_column(self, name: str, setting: Setting) -> tuple[Node, list[Node]]:
        column, kind = col(name), setting.schema[name]
        if isinstance(kind, Boolean):
            return column, [column]
        if isinstance(kind, Category):
            return column, [column == level for level in kind.levels]
        edges = edge_numbers(kind, self.edges.get(name, ())) or _parts(kind, self.bins)
        if not edges:
            return column, []
        choice = _bins(column, edges)
        return choice, [column >= edge for edge in choice.edges]


def _bins(column: str | Node, edges: Sequence[float]) -> Bins:
    return bins(named(column), edges)


def _possibilities(choice: Node, setting: Setting) -> int:
    """How many there are, if the label is not asked about itself."""
    features_beside(setting.schema, [choice], setting.label)
    return choice_size(choice, setting)


def _parts(kind: Real | Integer, bins: int) -> list[float]:
    """The edges that divide a column's public range into equal parts; whole numbers if the column's are."""
    inner = [kind.low + (kind.high - kind.low) * i / bins for i in range(1, bins)]
    if isinstance(kind, Integer):
        inner = [math.ceil(edge) for edge in inner]
    return sorted({edge for edge in inner if edge > kind.low})


def _interval(choice: Bins, start: int, stop: int) -> list[Node]:
    """The bins from one up to another, as conditions on what is in them."""
    below = [choice.inner >= choice.edges[start - 1]] if start else []
    above = (
        [Compare("<", choice.inner, Constant(choice.edges[stop - 1]))] if stop <= len(choice.edges) else []
    )
    return [*below, *above]


def _all_of(literals: Sequence[Node], setting: Setting) -> Selected:
    rule, text = Rule(setting.schema, None, tuple(literals)), " and ".join(map(words, literals))
    return Selected(setting.schema, None, rule.expression, text or "always")
