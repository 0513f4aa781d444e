"""The figures of a table, computed from the noisy answers that it was made of."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from sulq.errors import QueryError
from sulq.hypotheses import figures
from sulq.hypotheses.consistency import Consistent, MarginalSums
from sulq.hypotheses.figures import CellFigures
from sulq.hypotheses.measures import Asked, Measure, bounds_of, centred
from sulq.hypotheses.quantiles import Histogram
from sulq.queries.node import Node
from sulq.queries.scope import scope_of
from sulq.schema import Schema


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
            histogram = self._histogram(measure.value, only)
            return histogram.quantiles(measure.level, kept, beta, measure.interpolated)
        if measure.kind == "sum":
            return figures.sums(*self._answer_to(measure.value, False, only).numbers(self.shape), kept, beta)
        value, middle = centred(self.schema, measure.value)
        totals = figures.sums(*self._answer_to(value, False, only).numbers(self.shape), kept, beta / 2)
        rows = figures.counts(self._counts(only), kept, beta / 2)
        return figures.ratios(totals, rows, bounds_of(self.schema, measure.value), middle)

    def _histogram(self, value: Node, only: Node | None) -> Histogram:
        answered = self._answer_to(value, True, only)
        low, high = bounds_of(self.schema, value)
        edges = (low, *answered.edges, high)
        whole = scope_of(self.schema).number(value).bits == 0
        return Histogram(*answered.numbers((*self.shape, len(edges) - 1)), edges, whole)

    def _counts(self, only: Node | None) -> Consistent:
        sums = [
            MarginalSums(each.axes, *each.numbers(tuple(self.shape[axis] for axis in each.axes)))
            for each in self.asked
            if each.value is None and _key(each.only) == _key(only)
        ]
        if not any(len(each.axes) == len(self.by) for each in sums):
            raise QueryError("a table has an answer for each of its measures")
        return Consistent(self.shape, tuple(sums))

    def _answer_to(self, value: Node, edges: bool, only: Node | None) -> Asked:
        wanted = _key(value), _key(only), edges, tuple(range(len(self.by)))
        for each in self.asked:
            if (_key(each.value), _key(each.only), bool(each.edges), each.axes) == wanted:
                return each
        raise QueryError("a table has an answer for each of its measures")


def _key(expression: Node | None) -> str | None:
    return None if expression is None else expression.key
