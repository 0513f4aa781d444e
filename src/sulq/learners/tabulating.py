"""What is asked for a table: the questions behind its measures, each of them once."""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from sulq.errors import QueryError
from sulq.hypotheses.measures import Asked, Measure, bounds_of, centred
from sulq.numbers import Numeric
from sulq.queries.codes import bins
from sulq.queries.expressions import Column
from sulq.queries.node import Node
from sulq.queries.query import Query, count, total
from sulq.queries.rounds import Round
from sulq.queries.scope import scope_of
from sulq.schema import Schema
from sulq.talk.answers import Answer

MOST_CELLS = 2**16
FEW_VALUES = 128
"""A column of so few whole numbers has an interval of its own for each of them."""
INTERVALS = 32
HALVINGS = 11
"""The lowest interval is halved so often: amounts of money and the like are crowded at their lower end."""
COUNT_WEIGHT = Fraction(1, 10)
"""For the number of all rows, which is free where it is public: elsewhere it gets little of the budget."""


@dataclass(frozen=True, eq=False)
class TableQuestion:
    """One question that is asked for a table.

    Args:
        value: what is added up, or ordered if there are `edges`; None if rows are counted.
        axes: the axes of the table that the question keeps.
        edges: the public edges between which rows are counted.
        only: a condition; of the table's rows, only those that meet it are looked at. None for all.
    """

    value: Node | None
    axes: tuple[int, ...]
    edges: tuple[float, ...] = ()
    only: Node | None = None

    def answered(self, answer: Answer) -> Asked:
        """The question with its answer."""
        return Asked(self.value, self.axes, self.edges, answer, self.only)


@dataclass(frozen=True, eq=False)
class Tabulating:
    """How a table is asked for, in one round.

    Args:
        schema: what is public about the columns.
        groups: the groups, an axis each.
        where: only rows that meet this condition are looked at; None for all.
        measures: what is measured in every cell.
        bins: between which public edges the rows are counted for the quantiles of a column.
        margins: whether the sums over all axes but one are asked for too.
    """

    schema: Schema
    groups: tuple[Node, ...]
    where: Node | None
    measures: tuple[Measure, ...]
    bins: Mapping[str, Sequence[float]] = field(default_factory=dict)
    margins: bool = False

    def round(self, share: Numeric) -> Generator[Round, Sequence[Answer], tuple[Asked, ...]]:
        """Asks the round, and returns the questions with their answers.

        Args:
            share: the part of the budget to spend.
        """
        questions = self.questions()
        answers = yield Round([self.query(question) for question in questions], share)
        return tuple(question.answered(answer) for question, answer in zip(questions, answers, strict=True))

    def questions(self) -> list[TableQuestion]:
        """What is asked: what is added up, by which axes, between which edges. Nothing is asked twice."""
        self._check()
        questions: dict[tuple[str, ...], TableQuestion] = {}
        every = tuple(range(len(self.groups)))
        for measure in self.measures:
            if measure.kind in ("count", "mean", "share"):
                alone = [(axis,) for axis in every] if self.margins else []
                # Where a person may have several rows, nobody knows how many there are: it would have a cost.
                public = self.where is None and measure.only is None and self.schema.unit is None
                every_row = [()] if public else []
                for axes in (every, *alone, *every_row):
                    key = ("rows", _key(measure.only), *map(str, axes))
                    questions[key] = TableQuestion(None, axes, (), measure.only)
        for measure in self.measures:
            value = measure.value
            if value is not None and measure.kind == "quantile":
                question = TableQuestion(value, every, self._edges(value), measure.only)
                questions["ordered", _key(measure.only), value.key] = question
            elif value is not None:
                value = value if measure.kind == "sum" else centred(self.schema, value)[0]
                question = TableQuestion(value, every, (), measure.only)
                questions["summed", _key(measure.only), value.key] = question
        return list(questions.values())

    def query(self, question: TableQuestion) -> Query:
        """A question, as it is put to an oracle."""
        by = [self.groups[axis] for axis in question.axes]
        where = question.only if self.where is None else self.where
        if self.where is not None and question.only is not None:
            where = self.where & question.only
        if question.value is None:
            return count(where, by, weight=COUNT_WEIGHT if self.groups and not by else 1)
        if question.edges:
            return count(where, [*by, bins(question.value, question.edges)])
        return total(question.value, where, by)

    def _check(self) -> None:
        scope = scope_of(self.schema)
        cells = math.prod(scope.code(group).size for group in self.groups)
        if cells > MOST_CELLS:
            raise QueryError(
                f"a table has {MOST_CELLS:,} cells at most, not {cells:,}: group by less, or by bins"
            )
        for measure in self.measures:
            if measure.value is not None:
                bounds_of(self.schema, measure.value)

    def _edges(self, value: Node) -> tuple[float, ...]:
        if isinstance(value, Column) and value.name in self.bins:
            return bins(value, self.bins[value.name]).edges
        low, high = bounds_of(self.schema, value)
        integers = scope_of(self.schema).number(value).bits == 0
        if low == high:
            raise QueryError(
                f"{value.described()} cannot vary, its bounds are equal: its quantiles are known"
            )
        if integers and high - low < FEW_VALUES:
            return tuple(float(edge) for edge in range(int(low) + 1, int(high) + 1))
        return even_edges(low, high, integers)


def even_edges(low: float, high: float, integers: bool) -> tuple[float, ...]:
    """Edges that cut an interval evenly, and its lowest part by halves.

    Args:
        low: where the interval starts.
        high: where it ends.
        integers: whether all edges are whole numbers.

    >>> even_edges(0.0, 99999.0, True)[:12]
    (1.0, 3.0, 6.0, 12.0, 24.0, 48.0, 97.0, 195.0, 390.0, 781.0, 1562.0, 3124.0)
    """
    wide = (high - low) / INTERVALS
    halves = [low + wide / 2**times for times in range(HALVINGS, 0, -1)]
    edges = [*halves, *(low + wide * number for number in range(1, INTERVALS))]
    if integers:
        edges = [max(low + 1.0, float(math.floor(edge))) for edge in edges]
    return tuple(dict.fromkeys(edges))


def _key(expression: Node | None) -> str:
    return "" if expression is None else expression.key
