"""What is asked for a table: the questions behind its measures, each of them once."""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from sulq.errors import QueryError
from sulq.hypotheses.measures import Asked, Measure, bounds_of, centred
from sulq.learners.edges import FEWEST_INTERVALS, MOST_INTERVALS, nested, quantile_edges
from sulq.numbers import Numeric
from sulq.queries.attributes import Edges, edge_numbers
from sulq.queries.codes import bins
from sulq.queries.expressions import Column
from sulq.queries.node import Node
from sulq.queries.query import Query, count, total
from sulq.queries.rounds import Round
from sulq.queries.scope import scope_of
from sulq.schema import Schema
from sulq.talk.answers import Answer

MOST_CELLS = 2**16
MOST_COUNTS = 2**14
"""Of the rows in all cells between the finest edges for a quantile: the more cells, the fewer intervals."""
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
        weight: how well it should be answered, among the questions of the table.
    """

    value: Node | None
    axes: tuple[int, ...]
    edges: tuple[float, ...] = ()
    only: Node | None = None
    weight: Fraction = Fraction(1)

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
    bins: Mapping[str, Edges] = field(default_factory=dict)
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
        for measure in sorted(self.measures, key=lambda measure: measure.kind == "quantile"):
            if measure.kind != "sum":
                for question in self._rows(measure.only, measure.kind == "quantile"):
                    questions.setdefault(("rows", _key(measure.only), *map(str, question.axes)), question)
        for measure in self.measures:
            value = measure.value
            if value is not None and measure.kind == "quantile":
                for edges in nested(self._edges(value)):
                    question = TableQuestion(value, every, edges, measure.only)
                    questions["ordered", _key(measure.only), value.key, str(len(edges))] = question
            elif value is not None:
                value = value if measure.kind == "sum" else centred(self.schema, value)[0]
                question = TableQuestion(value, every, (), measure.only)
                questions["summed", _key(measure.only), value.key] = question
        return list(questions.values())

    def _rows(self, only: Node | None, roughly: bool) -> list[TableQuestion]:
        """How many rows there are in each cell, for each margin that is wanted, and in all if that is public.

        Args:
            only: a condition; of the table's rows, only those that meet it are counted.
            roughly: whether little of the budget will do.
        """
        every = tuple(range(len(self.groups)))
        alone = [(axis,) for axis in every] if self.margins else []
        # Where a person may have several rows, nobody knows how many there are: it would have a cost.
        public = self.where is None and only is None and self.schema.unit is None
        kept: list[tuple[int, ...]] = [every, *alone, *([()] if public and every else [])]
        return [
            TableQuestion(
                None, axes, (), only, COUNT_WEIGHT if roughly or (every and not axes) else Fraction(1)
            )
            for axes in kept
        ]

    def query(self, question: TableQuestion) -> Query:
        """A question, as it is put to an oracle."""
        by = [self.groups[axis] for axis in question.axes]
        where = question.only if self.where is None else self.where
        if self.where is not None and question.only is not None:
            where = self.where & question.only
        if question.value is None:
            return count(where, by, weight=question.weight)
        if question.edges:
            return count(where, [*by, bins(question.value, question.edges)])
        return total(question.value, where, by)

    def _check(self) -> None:
        if self._cells > MOST_CELLS:
            raise QueryError(
                f"a table has {MOST_CELLS:,} cells at most, not {self._cells:,}: group by less, or by bins"
            )
        for measure in self.measures:
            if measure.value is not None:
                bounds_of(self.schema, measure.value)

    def _edges(self, value: Node) -> tuple[float, ...]:
        low, high = bounds_of(self.schema, value)
        if low == high:
            raise QueryError(
                f"{value.described()} cannot vary, its bounds are equal: its quantiles are known"
            )
        if isinstance(value, Column) and value.name in self.bins:
            given = bins(value, edge_numbers(self.schema[value.name], self.bins[value.name])).edges
            edges = tuple(edge for edge in given if low < edge <= high)
            if not edges:
                raise QueryError(
                    f"no edge in bins is between the bounds of {value.name!r}, {low:g} and {high:g}"
                )
            return edges
        integers = scope_of(self.schema).number(value).bits == 0
        most = min(MOST_INTERVALS, max(FEWEST_INTERVALS, MOST_COUNTS // self._cells))
        return quantile_edges(low, high, integers, most)

    @property
    def _cells(self) -> int:
        return math.prod(scope_of(self.schema).code(group).size for group in self.groups)


def _key(expression: Node | None) -> str:
    return "" if expression is None else expression.key
