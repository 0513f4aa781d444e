"""A table of noisy figures: counts, sums, averages, shares and quantiles in groups, with their errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from sulq.errors import QueryError
from sulq.hypotheses.figures import CellFigures
from sulq.hypotheses.hypothesis import Hypothesis, enumerated, words
from sulq.hypotheses.measures import Asked, Measure, heading
from sulq.hypotheses.table_answers import TableAnswers
from sulq.pictures import measured
from sulq.pictures.svg import clean
from sulq.privacy.ranges import chance
from sulq.queries.codes import Cross
from sulq.queries.expressions import Constant
from sulq.queries.lookups import lookup
from sulq.queries.node import Node
from sulq.talk.answers import BETA
from sulq.talk.columns import Library, csv_text, distinct, frame, html_table, plain_table, with_error, written

ALL = "(all)"
"""Stands for an axis over which it is summed."""
MOST_LINES = 60
DRAWN = 30
"""How many cells of a measure are worth drawing."""


@dataclass(frozen=True, eq=False)
class Tabulation(Hypothesis):
    """A table of figures in groups, with their errors: what `sulq.Table` learns.

    All figures follow from a few noisy answers. Cells and margins agree: a margin is the sum of its cells.
    As a hypothesis it says of a row what its group's figure is: that of the first measure beside the counts.

    Args:
        schema: what is public about the columns.
        origin: where the table comes from, if it was learned.
        by: the groups, an axis each.
        where: the rows that were looked at; None for all of them.
        measures: what is measured in every cell.
        whole: whether counts are shown as whole numbers from 0 that add up.
        asked: the questions and their answers.

    >>> import sulq
    >>> table = sulq.Table(by=["sex"], means=["age"]).learn(sulq.randhie().exact())
    >>> print(table.describe())
    sex      count  mean age
    female  10,439   26.1022
    male     9,751   24.2978
    (all)   20,190   25.2308
    >>> table.figures("mean age").value.round(2).tolist()
    [26.1, 24.3]
    """

    wire = "table"
    no_label = "figures of groups"

    by: tuple[Node, ...]
    where: Node | None
    measures: tuple[Measure, ...]
    whole: bool
    asked: tuple[Asked, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """What the measures are called."""
        return tuple(distinct([measure.name for measure in self.measures]))

    @property
    def axes(self) -> tuple[str, ...]:
        """What the groups are called."""
        return tuple(distinct([heading(group) for group in self.by]))

    @property
    def labels(self) -> tuple[tuple[str, ...], ...]:
        """What the places of each axis are called."""
        return self._answers.labels

    def figures(self, name: str, by: Sequence[str] | None = None, beta: float = BETA) -> CellFigures:
        """One measure, with its errors.

        Args:
            name: what the measure is called, one of `names`.
            by: the groups that are kept, some of `axes` in their order; over the others it is summed. None
                keeps all.
            beta: the chance that one of these figures is not within its bounds.
        """
        kept = self._parts[0] if by is None else tuple(self._axis(each) for each in by)
        if name not in self.names or kept != tuple(sorted(set(kept))):
            raise QueryError(
                f"there is no {name!r} by {by}; there are {', '.join(self.names)} by {self.axes}"
            )
        return self._figures(self.measures[self.names.index(name)], kept, beta)

    def columns(self, beta: float = BETA, margins: bool = False) -> dict[str, list[Any]]:
        """The table as columns, with a row for each cell: its groups, and four columns for each measure.

        Args:
            beta: the chance that one of the figures of a measure is not between its `low` and `high`.
            margins: whether rows for sums over the groups come after the cells; `(all)` stands for the groups
                that were summed over.
        """
        parts = self._parts if margins else self._parts[:1]
        cells = [self._labels_of(kept) for kept in parts]
        columns: dict[str, list[Any]] = {
            name: [label[axis] for part in cells for label in part] for axis, name in enumerate(self.axes)
        }
        for name, measure in zip(self.names, self.measures, strict=True):
            found = [self._figures(measure, kept, beta) for kept in parts]
            for suffix, field in (("", "value"), (" low", "low"), (" high", "high"), (" telling", "telling")):
                columns[name + suffix] = [
                    x for each in found for x in np.ravel(getattr(each, field)).tolist()
                ]
        return columns

    def to_frame(self, library: Library | None = None, beta: float = BETA, margins: bool = False) -> Any:
        """The table as a data frame, with a row for each cell.

        There is a column for each group, and for each measure its name, and the same with `low`, `high` and
        `telling`: whether the figure says more than its noise does.

        Args:
            library: "pandas" or "polars"; None for the first of them that is installed.
            beta: the chance that one of the figures of a measure is not between its `low` and `high`.
            margins: whether rows for sums over the groups come after the cells.
        """
        return frame(self.columns(beta, margins), library)

    def to_csv(self, path: str | Path | None = None, beta: float = BETA, margins: bool = False) -> str | None:
        """The columns of `to_frame` as CSV.

        Args:
            path: the file to write; None returns the text.
            beta: the chance that one of the figures of a measure is not between its `low` and `high`.
            margins: whether rows for sums over the groups come after the cells.
        """
        return written(csv_text(self.columns(beta, margins)), path)

    @property
    def expression(self) -> Node:
        measure = next((each for each in self.measures if each.kind != "count"), self.measures[0])
        value = self._figures(measure, self._parts[0], BETA).value
        if not self.by:
            return Constant(float(value))
        return lookup(self.by[0] if len(self.by) == 1 else Cross(self.by), np.ravel(value).tolist())

    @property
    def headline(self) -> str:
        counts = [measure for measure in self.measures if measure.kind == "count"]
        of = "".join(
            f", of {with_error(float(each.value), float(each.radius), 0)} rows"
            for each in (self._figures(measure, (), BETA) for measure in counts[:1])
        )
        groups = f" by {enumerated(self.axes)}" if self.by else ""
        what = enumerated(self.names)
        return clean(f"{what[0].upper()}{what[1:]}{groups}{of}{self._only}.")

    @property
    def doubts(self) -> tuple[str, ...]:
        found = [self._figures(measure, self._parts[0], BETA).within_noise for measure in self.measures]
        return tuple(
            f"{clean(name)}: {within} are within the noise (in brackets)."
            for name, within in zip(self.names, found, strict=True)
            if within
        )

    def describe(self) -> str:
        rows, grey = self.texts()
        rows = [
            [f"[{clean(text)}]" if quiet else clean(text) for text, quiet in zip(*line, strict=True)]
            for line in zip(rows, grey, strict=True)
        ]
        more = [f"… {len(rows) - MOST_LINES:,} more rows"] if len(rows) > MOST_LINES else []
        headings = [clean(name) for name in (*self.axes, *self.names)]
        grid = plain_table(headings, rows[:MOST_LINES], len(self.axes))
        return "\n".join([grid, *more, *([self.note] if self.note else [])])

    @property
    def note(self) -> str:
        """What there is to say about the errors, in words."""
        return "\n".join([self._holds, *self.doubts]) if self._holds else ""

    @property
    def _holds(self) -> str:
        """What ± means, where there is noise."""
        if not any(np.any(each.answer.radius(BETA)) for each in self.asked):
            return ""
        return f"± and ranges hold at 95 %, for all figures of a column at once{self._only}."

    @property
    def outlook(self) -> str:
        """What to expect of such a table, in words: of a rehearsal, whose rows spread evenly."""
        lines = ["If rows spread evenly over the cells, figures are off by at most, at 95 %:"]
        for name, measure in zip(self.names, self.measures, strict=True):
            lines.append(f"  {clean(name)}: {measure.outlook(self._figures(measure, self._parts[0], BETA))}")
        return "\n".join(lines)

    @property
    def _only(self) -> str:
        return "" if self.where is None else f"; only rows with {clean(words(self.where))}"

    def picture(self) -> str:
        panels = []
        for name, measure in zip(self.names, self.measures, strict=True):
            found = self._figures(measure, self._parts[0], BETA)
            labels = [measured.BETWEEN_GROUPS.join(label) or ALL for label in self._labels_of(self._parts[0])]
            fields = (found.value, found.low, found.high, found.telling)
            numbers = zip(labels, *(np.ravel(field).tolist() for field in fields), strict=True)
            panels.append(
                measured.MeasuredPanel(
                    name,
                    tuple(measured.MeasuredBar(*number) for number in numbers),
                    shares=measure.kind == "share",
                    dates=measure.dates(self.schema),
                )
            )
        # Each panel says what is measured, so a title of several would say it twice.
        what = self.names[0] if len(self.names) == 1 else "figures"
        title = f"{what} by {', '.join(self.axes)}" if self.by else what
        return measured.picture(title, panels, DRAWN, self._caption)

    def drawing(self) -> RenderableType:
        grid = Grid(box=None, padding=(0, 2, 0, 0), header_style="dim")
        for place, name in enumerate([*self.axes, *self.names]):
            grid.add_column(Text(clean(name)), justify="left" if place < len(self.axes) else "right")
        rows, grey = self.texts()
        for row, quiet in list(zip(rows, grey, strict=True))[:MOST_LINES]:
            cells = zip(row, quiet, strict=True)
            grid.add_row(
                *(Text(f"[{clean(each)}]" if q else clean(each), "dim" if q else "") for each, q in cells)
            )
        more = f"… {len(rows) - MOST_LINES:,} more rows. " if len(rows) > MOST_LINES else ""
        return Group(grid, Text(clean(more + self._holds), "dim"))

    def _repr_html_(self) -> str:
        rows, grey = self.texts()
        note = self.note.replace("(in brackets)", "(in grey)")
        return html_table([*self.axes, *self.names], rows, grey, len(self.axes), note)

    def texts(self) -> tuple[list[list[str]], list[list[bool]]]:
        """The cells and the margins as texts, and which of them are within the noise."""
        rows: list[list[str]] = []
        grey: list[list[bool]] = []
        for kept in self._parts:
            found = [self._figures(measure, kept, BETA) for measure in self.measures]
            shown = [
                measure.shown(each, measure.dates(self.schema))
                for measure, each in zip(self.measures, found, strict=True)
            ]
            quiet = [(~each.telling).ravel().tolist() for each in found]
            for place, labels in enumerate(self._labels_of(kept)):
                rows.append([*labels, *(texts[place] for texts in shown)])
                grey.append([False] * len(labels) + [each[place] for each in quiet])
        return rows, grey

    @property
    def _parts(self) -> list[tuple[int, ...]]:
        """Which axes are kept: all; each alone; none."""
        every = tuple(range(len(self.by)))
        return list(dict.fromkeys([every, *((axis,) for axis in every), ()]))

    def _labels_of(self, kept: tuple[int, ...]) -> list[tuple[str, ...]]:
        return list(product(*(labels if axis in kept else (ALL,) for axis, labels in enumerate(self.labels))))

    def _axis(self, name: str) -> int:
        if name not in self.axes:
            raise QueryError(f"there is no group {name!r}; the table is by {', '.join(self.axes) or 'none'}")
        return self.axes.index(name)

    @cached_property
    def _answers(self) -> TableAnswers:
        return TableAnswers(self.schema, self.by, self.asked)

    def _figures(self, measure: Measure, kept: tuple[int, ...], beta: float) -> CellFigures:
        return self._answers.figures(measure, kept, chance(beta), self.whole)

    def _check(self) -> None:
        checked: list[Measure | Asked] = [*self.measures, *self.asked]
        for each in checked:
            each.check()
        if not self.measures:
            raise QueryError("a table has at least one measure")
        super()._check()
