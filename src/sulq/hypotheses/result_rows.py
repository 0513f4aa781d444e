"""The rows of a SELECT's result: which there are, in which order, and the figures in them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import product
from typing import Any, TypeAlias

import numpy as np

from sulq.errors import QueryError
from sulq.hypotheses.figures import CellFigures
from sulq.hypotheses.formulas import Formula, check_formula, computed, measures_of
from sulq.hypotheses.measures import Measure
from sulq.hypotheses.table_answers import TableAnswers
from sulq.privacy.ranges import chance
from sulq.talk.answers import BETA

KINDS = ("text", "number", "boolean")


@dataclass(frozen=True)
class GroupAxis:
    """What the places of one group are called.

    Args:
        labels: the value of each place, as a text; None for the rows that have none.
        kind: "text", "number" or "boolean": what the texts stand for.

    >>> [GroupAxis((None, "10", "2.5"), "number").value(place) for place in range(3)]
    [None, 10, 2.5]
    """

    labels: tuple[str | None, ...]
    kind: str = "text"

    def value(self, place: int | None) -> Any:
        """The value at a place; None also where it was summed over."""
        label = None if place is None else self.labels[place]
        if label is None or self.kind == "text":
            return label
        if self.kind == "boolean":
            return label == "true"
        return int(label) if label.lstrip("-").isdigit() else float(label)


@dataclass(frozen=True)
class Output:
    """One column of a result: a group, or a formula of measures.

    Args:
        name: what the column is called.
        axis: which group it shows; None for a formula.
        formula: what is computed; empty for a group.
    """

    name: str
    axis: int | None
    formula: Formula = ()


@dataclass(frozen=True)
class Order:
    """What the rows of a result are sorted by.

    Args:
        by: a group, or a formula.
        descending: whether the largest come first.
        nulls_first: whether rows without a value come first.
    """

    by: Output
    descending: bool
    nulls_first: bool


Row: TypeAlias = tuple[int, tuple[int | None, ...]]
"""The number of a grouping set, and the place on each axis: None where it was summed over."""


@dataclass(frozen=True)
class ResultRows:
    """The rows of a result.

    Args:
        answers: the answers that all figures follow from.
        measures: what was measured in every group.
        axes: what the places of each group are called.
        sets: the groups that are kept, for each grouping set.
        having: a formula that decides which rows are shown; empty for all of them.
        order: what the rows are sorted by.
        limit: how many rows are shown at most; None for all.
        offset: how many rows are left out first.
    """

    answers: TableAnswers
    measures: tuple[Measure, ...]
    axes: tuple[GroupAxis, ...]
    sets: tuple[tuple[int, ...], ...]
    having: Formula
    order: tuple[Order, ...]
    limit: int | None
    offset: int

    @cached_property
    def every(self) -> list[Row]:
        """All rows: a grouping set after the other, in the order of the schema."""
        return [(number, places) for number, kept in enumerate(self.sets) for places in self._cells(kept)]

    @cached_property
    def shown(self) -> list[Row]:
        """The rows that are shown, in order."""
        rows = self.every
        if self.having:
            meets = self.figures(self.having, rows, BETA).value == 1
            rows = [row for row, met in zip(rows, meets, strict=True) if met]
        for order in reversed(self.order):  # sorting is stable, so what counts most comes last
            keyed = list(zip(self._keys(order.by, rows), rows, strict=True))
            known = sorted(
                (pair for pair in keyed if pair[0] is not None),
                key=lambda pair: pair[0],
                reverse=order.descending,
            )
            nulls = [pair for pair in keyed if pair[0] is None]
            rows = [row for _, row in (nulls + known if order.nulls_first else known + nulls)]
        end = None if self.limit is None else self.offset + self.limit
        return rows[self.offset : end]

    def figures(self, formula: Formula, rows: Sequence[Row], beta: float) -> CellFigures:
        """What a formula comes to in each of these rows.

        Args:
            formula: the formula.
            rows: the rows.
            beta: the chance that one figure of a grouping set is not within its bounds.
        """
        share = chance(beta) / max(1, len(measures_of(formula)))
        names = [each.name for each in fields(CellFigures)]
        columns = {name: np.zeros(len(rows)) for name in names}
        for number, kept in enumerate(self.sets):
            places = [place for place, row in enumerate(rows) if row[0] == number]
            if places:
                shape = tuple(len(self.axes[axis].labels) for axis in sorted(kept))
                cells = np.array([_inside(rows[place]) for place in places], dtype=np.int64)
                flat = np.ravel_multi_index(tuple(cells.T), shape) if shape else np.zeros(len(places), int)
                found = computed(formula, lambda measure, kept=kept: self._measured(measure, kept, share))  # type: ignore[misc]
                for name in names:
                    columns[name][places] = np.ravel(np.broadcast_to(getattr(found, name), shape))[flat]
        telling = columns.pop("telling").astype(bool)
        return CellFigures(**columns, telling=telling)

    def group(self, axis: int, row: Row) -> Any:
        """The value of a group in a row; None if there is none, or if it was summed over."""
        return self.axes[axis].value(row[1][axis])

    def check(self, outputs: Sequence[Output]) -> None:
        """Refuse what cannot be shown.

        Args:
            outputs: the columns.
        """
        sizes = tuple(len(axis.labels) for axis in self.axes)
        if sizes != self.answers.shape or any(axis.kind not in KINDS for axis in self.axes):
            raise QueryError(f"the groups of this result have {list(self.answers.shape)} places")
        for axis in self.axes:
            for place in range(len(axis.labels)):
                axis.value(place)
        every = tuple(range(len(self.axes)))
        if not self.sets or any(
            not set(kept) <= set(every) or len(set(kept)) < len(kept) for kept in self.sets
        ):
            raise QueryError(f"the grouping sets of this result are lists of some of {list(every)}")
        if self.offset < 0 or (self.limit is not None and self.limit < 0):
            raise QueryError("a limit and an offset are whole numbers from 0")
        for output in (*outputs, *(order.by for order in self.order)):
            if output.axis is None:
                check_formula(output.formula, len(self.measures))
            elif output.axis not in every or output.formula:
                raise QueryError(f"a column shows one of the groups {list(every)}, or a formula")
        if self.having:
            check_formula(self.having, len(self.measures))

    def _measured(self, measure: int, kept: tuple[int, ...], beta: float) -> CellFigures:
        return self.answers.figures(self.measures[measure], tuple(sorted(kept)), beta, False)

    def _cells(self, kept: tuple[int, ...]) -> list[tuple[int | None, ...]]:
        places = (
            range(len(axis.labels)) if number in kept else (None,) for number, axis in enumerate(self.axes)
        )
        return list(product(*places))

    def _keys(self, by: Output, rows: Sequence[Row]) -> list[Any]:
        if by.axis is not None:
            return [self.group(by.axis, row) for row in rows]
        values = self.figures(by.formula, rows, BETA).value.tolist()
        return [None if math.isnan(value) else value for value in values]


def _inside(row: Row) -> tuple[int, ...]:
    """The places of a row on the axes that its grouping set keeps."""
    return tuple(place for place in row[1] if place is not None)
