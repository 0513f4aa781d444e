"""The figures of a table, computed from the noisy answers that it was made of."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sulq.errors import QueryError
from sulq.hypotheses import figures
from sulq.hypotheses.consistency import Consistent, MarginalSums
from sulq.hypotheses.figures import CellFigures
from sulq.hypotheses.measures import Asked, Measure, bounds_of, centred, known_rows
from sulq.hypotheses.quantiles import IntervalCounts, NestedCounts
from sulq.queries.node import Node
from sulq.queries.scope import scope_of
from sulq.schema import Schema

NO_ANSWER = "a table has an answer for each of its measures"


@dataclass(frozen=True)
class TableAnswers:
    """The answers behind a table.

    Args:
        schema: what is public about the columns.
        by: the groups, an axis each.
        asked: the questions and their answers.
    """

    schema: Schema
    by: tuple[Node, ...]
    asked: tuple[Asked, ...]

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """How many places each axis has."""
        return tuple(scope_of(self.schema).code(group).size for group in self.by)

    @property
    def labels(self) -> tuple[tuple[str, ...], ...]:
        """What the places of each axis are called."""
        axes = self._answer_to(None, False).answer.axes
        return tuple(
            axis.labels or tuple(map(str, range(size))) for axis, size in zip(axes, self.shape, strict=True)
        )

    def figures(self, measure: Measure, kept: tuple[int, ...], beta: float, whole: bool) -> CellFigures:
        """One measure, with its errors.

        Args:
            measure: what is measured.
            kept: the axes that are kept; over the others it is summed.
            beta: the chance that one of the figures is not within its bounds.
            whole: whether counts are made whole numbers from 0, that add up.
        """
        if measure.kind == "count":
            return figures.counts(self._counts, kept, beta, whole)
        assert measure.value is not None
        if measure.level is not None:
            return self._nested_counts(measure.value).quantiles(measure.level, kept, beta)
        if measure.kind == "sum":
            return figures.sums(*self._answer_to(measure.value, False).numbers(self.shape), kept, beta)
        value, middle = centred(self.schema, measure.value)
        totals = figures.sums(*self._answer_to(value, False).numbers(self.shape), kept, beta / 2)
        rows = figures.counts(self._rows_of(measure.value), kept, beta / 2)
        return figures.ratios(totals, rows, bounds_of(self.schema, measure.value), middle)

    def _rows_of(self, value: Node) -> Consistent:
        """The rows that an average is over. Tables of earlier versions did not leave out missing cells."""
        known = known_rows(self.schema, value)
        if known is None or not self._has(known):
            return self._counts
        every = tuple(range(len(self.by)))
        counted = MarginalSums(every, *self._answer_to(known, False).numbers(self.shape))
        return Consistent(self.shape, (counted,))

    def _has(self, value: Node) -> bool:
        return any(each.value is not None and each.value.key == value.key for each in self.asked)

    def _nested_counts(self, value: Node) -> NestedCounts:
        every = tuple(range(len(self.by)))
        levels = sorted(
            (
                each
                for each in self.asked
                if each.edges and each.value is not None and each.value.key == value.key
            ),
            key=lambda each: len(each.edges),
        )
        if not levels or any(each.axes != every for each in levels):
            raise QueryError(NO_ANSWER)
        counted = (
            IntervalCounts(every, *each.numbers((*self.shape, len(each.edges) + 1)), each.edges)
            for each in levels
        )
        known = known_rows(self.schema, value)
        counts = self._rows_of(value).sums if known is None or self._has(known) else ()
        rows = (IntervalCounts(sums.axes, sums.values[..., np.newaxis], sums.law) for sums in counts)
        whole = scope_of(self.schema).number(value).bits == 0
        return NestedCounts(tuple(rows), tuple(counted), bounds_of(self.schema, value), whole)

    @property
    def _counts(self) -> Consistent:
        sums = [
            MarginalSums(each.axes, *each.numbers(tuple(self.shape[axis] for axis in each.axes)))
            for each in self.asked
            if each.value is None
        ]
        return Consistent(self.shape, tuple(sums))

    def _answer_to(self, value: Node | None, edges: bool) -> Asked:
        key = None if value is None else value.key
        every = tuple(range(len(self.by)))
        for each in self.asked:
            same = (None if each.value is None else each.value.key) == key
            if same and bool(each.edges) == edges and each.axes == every:
                return each
        raise QueryError(NO_ANSWER)
