"""What a SELECT returns: columns in its order and under its names, in groups, with error bars."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from sulq.errors import QueryError
from sulq.hypotheses.figures import CellFigures
from sulq.hypotheses.formulas import Formula
from sulq.hypotheses.hypothesis import Hypothesis, enumerated
from sulq.hypotheses.measures import Asked, Measure
from sulq.hypotheses.result_rows import GroupAxis, Order, Output, ResultRows, Row
from sulq.hypotheses.table_answers import TableAnswers
from sulq.pictures import measured
from sulq.pictures.svg import clean, plain
from sulq.queries.codes import Cross
from sulq.queries.expressions import Constant
from sulq.queries.lookups import lookup
from sulq.queries.node import Node
from sulq.talk.answers import BETA
from sulq.talk.columns import Library, csv_text, distinct, frame, html_table, plain_table, with_error, written

ALL, NULL = "(all)", "NULL"
"""How a group is shown that was summed over, and that of the rows without a value."""
MOST_LINES, DRAWN, MOST_LETTERS = 60, 30, 300
SUFFIXES = (("", "value"), (" low", "low"), (" high", "high"), (" telling", "telling"))


@dataclass(frozen=True, eq=False)
class ResultSet(Hypothesis):
    """The result of a SELECT, with error bars: what `sulq.sql` returns.

    All figures follow from the noisy answers to one round. HAVING, ORDER BY and LIMIT look at noisy figures
    only. As a hypothesis it says of a row what the first figure of its group is.

    Args:
        schema: what is public about the columns.
        origin: where the result comes from, if it was learned.
        statement: the SELECT.
        by: the groups, an axis each.
        axes: what the places of each group are called.
        where: the rows that were looked at; None for all of them.
        measures: what was measured in every group.
        outputs: the columns, in the order of the SELECT.
        sets: the groups that are kept, for each grouping set.
        having: a formula that decides which rows are shown; empty for all of them.
        order: what the rows are sorted by.
        limit: how many rows are shown at most; None for all.
        offset: how many rows are left out first.
        asked: the questions and their answers.

    >>> import sulq
    >>> result = sulq.sql("SELECT sex, avg(age) AS years FROM people GROUP BY sex", sulq.randhie().exact())
    >>> print(result.describe())
    sex       years
    female  26.1022
    male    24.2978
    >>> result.columns()["years"][0].hex() == (272481 / 10439).hex()
    True
    """

    wire = "result set"
    no_label = "figures of groups"

    statement: str
    by: tuple[Node, ...]
    axes: tuple[GroupAxis, ...]
    where: Node | None
    measures: tuple[Measure, ...]
    outputs: tuple[Output, ...]
    sets: tuple[tuple[int, ...], ...]
    having: Formula
    order: tuple[Order, ...]
    limit: int | None
    offset: int
    asked: tuple[Asked, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """What the columns are called."""
        return tuple(distinct([output.name for output in self.outputs]))

    def figures(self, name: str, beta: float = BETA) -> CellFigures:
        """One computed column, with its errors, row by row as they are shown.

        Args:
            name: what the column is called.
            beta: the chance that one of its figures is not within its bounds, in each grouping set.
        """
        computed = self._computed
        if name not in computed:
            raise QueryError(f"there are no figures {name!r}; there are {', '.join(computed)}")
        return self._result.figures(computed[name], self._result.shown, beta)

    def columns(self, beta: float = BETA) -> dict[str, list[Any]]:
        """The result as columns: one for each group, and for each figure its value and its bounds.

        A group is None for rows without a value, and where it was summed over (ROLLUP and its like).

        Args:
            beta: the chance that one of the figures of a column is not between its `low` and `high`.
        """
        names: list[str] = []
        columns: list[list[Any]] = []
        for name, output in zip(self.names, self.outputs, strict=True):
            if output.axis is not None:
                names.append(name)
                columns.append([self._result.group(output.axis, row) for row in self._result.shown])
                continue
            found = self._result.figures(output.formula, self._result.shown, beta)
            for suffix, field in SUFFIXES:
                names.append(name + suffix)
                columns.append(getattr(found, field).tolist())
        return dict(zip(distinct(names), columns, strict=True))

    def to_frame(self, library: Library | None = None, beta: float = BETA) -> Any:
        """The columns as a data frame.

        Args:
            library: "pandas" or "polars"; None for the first of them that is installed.
            beta: the chance that one of the figures of a column is not between its `low` and `high`.
        """
        return frame(self.columns(beta), library)

    def to_csv(self, path: str | Path | None = None, beta: float = BETA) -> str | None:
        """The columns as CSV.

        Args:
            path: the file to write; None returns the text.
            beta: the chance that one of the figures of a column is not between its `low` and `high`.
        """
        return written(csv_text(self.columns(beta)), path)

    @property
    def expression(self) -> Node:
        every = tuple(range(len(self.by)))
        value = np.ravel(self._answers.figures(self.measures[0], every, BETA, False).value)
        if not self.by:
            return Constant(float(value[0]))
        return lookup(self.by[0] if len(self.by) == 1 else Cross(self.by), value.tolist())

    @property
    def headline(self) -> str:
        statement = " ".join(self.statement.split())
        short = statement if len(statement) <= MOST_LETTERS else statement[: MOST_LETTERS - 1] + "…"
        return clean(f"{enumerated(list(self._computed))}, as asked by {short}")

    @property
    def doubts(self) -> tuple[str, ...]:
        return tuple(
            f"{clean(name)}: {found.within_noise} are within the noise (in brackets)."
            for name, found in self._shown_figures
            if found.within_noise
        )

    def describe(self) -> str:
        rows, grey = self._texts
        rows = [
            [f"[{clean(text)}]" if quiet else clean(text) for text, quiet in zip(*line, strict=True)]
            for line in zip(rows, grey, strict=True)
        ]
        more = [f"… {len(rows) - MOST_LINES:,} more rows"] if len(rows) > MOST_LINES else []
        grid = plain_table([*map(clean, self.names)], rows[:MOST_LINES], self._labels_first)
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
        noisy = " HAVING, ORDER BY and LIMIT go by the noisy figures."
        by_noise = self.having or self.limit is not None or self.order
        return "± and ranges hold at 95 %, for all figures of a column at once." + (noisy if by_noise else "")

    @property
    def outlook(self) -> str:
        """What to expect of such a result, in words: of a rehearsal, whose rows spread evenly."""
        lines = ["If rows spread evenly over the groups, figures are off by at most, at 95 %:"]
        for name, formula in self._computed.items():
            found = self._result.figures(formula, self._result.every, BETA)
            off = float(np.median(found.radius))
            within = f"; {found.within_noise} within the noise" if found.within_noise else ""
            size = f"± {plain(off, 2)}" if math.isfinite(off) else "no bounds"
            lines.append(f"  {clean(name)}: {size}{within}")
        return "\n".join(lines)

    def picture(self) -> str:
        labels = [
            " · ".join(self._label(axis, row) for axis in range(len(self.by))) or ALL
            for row in self._result.shown
        ]
        panels = []
        for name, found in self._shown_figures:
            fields = (found.value, found.low, found.high, found.telling)
            bars = zip(labels, *(field.tolist() for field in fields), strict=True)
            finite = tuple(measured.MeasuredBar(*bar) for bar in bars if all(map(math.isfinite, bar[1:])))
            panels.append(measured.MeasuredPanel(name, finite))
        return measured.picture(", ".join(self.names), panels, DRAWN, self._caption)

    def drawing(self) -> RenderableType:
        grid = Grid(box=None, padding=(0, 2, 0, 0), header_style="dim")
        for name, output in zip(self.names, self.outputs, strict=True):
            grid.add_column(Text(clean(name)), justify="right" if output.axis is None else "left")
        rows, grey = self._texts
        for row, quiet in list(zip(rows, grey, strict=True))[:MOST_LINES]:
            cells = zip(row, quiet, strict=True)
            grid.add_row(
                *(Text(f"[{clean(each)}]" if q else clean(each), "dim" if q else "") for each, q in cells)
            )
        more = f"… {len(rows) - MOST_LINES:,} more rows. " if len(rows) > MOST_LINES else ""
        return Group(grid, Text(more + self._holds, "dim"))

    def _repr_html_(self) -> str:
        note = self.note.replace("(in brackets)", "(in grey)")
        return html_table(self.names, *self._texts, self._labels_first, note)

    @cached_property
    def _texts(self) -> tuple[list[list[str]], list[list[bool]]]:
        """The rows as texts, and which cells of them are within the noise."""
        rows = self._result.shown
        texts, quiet = [], []
        for output in self.outputs:
            if output.axis is not None:
                texts.append([self._label(output.axis, row) for row in rows])
                quiet.append([False] * len(rows))
                continue
            found = self._result.figures(output.formula, rows, BETA)
            texts.append(self._figures_as_texts(output.formula, found))
            quiet.append((~found.telling).tolist())
        return [list(row) for row in zip(*texts, strict=True)], [
            list(row) for row in zip(*quiet, strict=True)
        ]

    def _figures_as_texts(self, formula: Formula, found: CellFigures) -> list[str]:
        if len(formula) == 1:
            measure = self.measures[int(formula[0].number)]
            if measure.kind == "quantile":
                return measure.shown(found)
        return [with_error(*pair) for pair in zip(found.value.tolist(), found.radius.tolist(), strict=True)]

    def _label(self, axis: int, row: Row) -> str:
        place = row[1][axis]
        return ALL if place is None else NULL if (label := self.axes[axis].labels[place]) is None else label

    @property
    def _labels_first(self) -> int:
        """How many columns on the left are groups."""
        first = [place for place, output in enumerate(self.outputs) if output.axis is None]
        return first[0] if first else len(self.outputs)

    @property
    def _computed(self) -> dict[str, Formula]:
        """The columns that are no groups, by their names."""
        pairs = zip(self.names, self.outputs, strict=True)
        return {name: output.formula for name, output in pairs if output.axis is None}

    @property
    def _shown_figures(self) -> list[tuple[str, CellFigures]]:
        return [(name, self.figures(name)) for name in self._computed]

    @cached_property
    def _answers(self) -> TableAnswers:
        return TableAnswers(self.schema, self.by, self.asked)

    @cached_property
    def _result(self) -> ResultRows:
        return ResultRows(
            self._answers,
            self.measures,
            self.axes,
            self.sets,
            self.having,
            self.order,
            self.limit,
            self.offset,
        )

    def _check(self) -> None:
        checked: list[Measure | Asked] = [*self.measures, *self.asked]
        for each in checked:
            each.check()
        if not self.measures or not self.outputs:
            raise QueryError("a result has at least one column and one measure")
        self._result.check(self.outputs)
        super()._check()
