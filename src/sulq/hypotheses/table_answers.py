"""The figures of a table, computed from the noisy answers that it was made of."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sulq.errors import QueryError
from sulq.hypotheses import figures
from sulq.hypotheses.consistency import Consistent, MarginalSums
from sulq.hypotheses.figures import CellFigures
from sulq.hypotheses.measures import Asked, Measure, bounds_of, centred
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
        every = tuple(range(len(self.by)))
        axes = next((each.answer.axes for each in self.asked if each.axes == every), ())
        return tuple(
            axis.labels or tuple(map(str, range(size)))
            for axis, size in zip(axes[: len(every)], self.shape, strict=True)
        )

    def figures(self, measure: Measure, kept: tuple[int, ...], beta: float, whole: bool) -> CellFigures:
        """One measure, with its errors.

        Args:
            measure: what is measured.
            kept: the axes that are kept; over the others it is summed.
            beta: the chance that one of the figures is not within its bounds.
            whole: whether counts are made whole numbers from 0, that add up.
        """
        only = measure.only
        if measure.kind == "count":
            return figures.counts(self._counts(only), kept, beta, whole)
        assert measure.value is not None
        if measure.level is not None:
            counts = self._nested_counts(measure.value, only)
            return counts.quantiles(measure.level, kept, beta, measure.interpolated)
        if measure.kind == "sum":
            return figures.sums(*self._answer_to(measure.value, False, only).numbers(self.shape), kept, beta)
        value, middle = centred(self.schema, measure.value)
        totals = figures.sums(*self._answer_to(value, False, only).numbers(self.shape), kept, beta / 2)
        rows = figures.counts(self._counts(only), kept, beta / 2)
        return figures.ratios(totals, rows, bounds_of(self.schema, measure.value), middle)

    def _nested_counts(self, value: Node, only: Node | None) -> NestedCounts:
        every = tuple(range(len(self.by)))
        wanted = _key(value), _key(only)
        levels = sorted(
            (each for each in self.asked if each.edges and (_key(each.value), _key(each.only)) == wanted),
            key=lambda each: len(each.edges),
        )
        if not levels or any(each.axes != every for each in levels):
            raise QueryError(NO_ANSWER)
        counted = (
            IntervalCounts(every, *each.numbers((*self.shape, len(each.edges) + 1)), each.edges)
            for each in levels
        )
        rows = (
            IntervalCounts(sums.axes, sums.values[..., np.newaxis], sums.law)
            for sums in self._counts(only).sums
        )
        whole = scope_of(self.schema).number(value).bits == 0
        return NestedCounts(tuple(rows), tuple(counted), bounds_of(self.schema, value), whole)

    def _counts(self, only: Node | None) -> Consistent:
        sums = [
            MarginalSums(each.axes, *each.numbers(tuple(self.shape[axis] for axis in each.axes)))
            for each in self.asked
            if each.value is None and _key(each.only) == _key(only)
        ]
        if not any(len(each.axes) == len(self.by) for each in sums):
            raise QueryError(NO_ANSWER)
        return Consistent(self.shape, tuple(sums))

    def _answer_to(self, value: Node, edges: bool, only: Node | None) -> Asked:
        wanted = _key(value), _key(only), edges, tuple(range(len(self.by)))
        for each in self.asked:
            if (_key(each.value), _key(each.only), bool(each.edges), each.axes) == wanted:
                return each
        raise QueryError(NO_ANSWER)


def _key(expression: Node | None) -> str | None:
    return None if expression is None else expression.key
