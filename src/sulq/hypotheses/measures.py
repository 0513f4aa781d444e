"""What is measured in the cells of a table, and what was asked and answered for it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from sulq.errors import QueryError
from sulq.hypotheses.consistency import Floats
from sulq.hypotheses.figures import CellFigures
from sulq.hypotheses.hypothesis import words
from sulq.pictures.svg import plain
from sulq.queries.codes import Bins, bins
from sulq.queries.expressions import Column, Constant
from sulq.queries.node import Node
from sulq.queries.scope import scope_of
from sulq.schema import Date, Schema
from sulq.talk.answers import Answer
from sulq.talk.columns import with_error
from sulq.talk.laws import PlainLaw
from sulq.talk.sketched import one_law

Kind = Literal["count", "sum", "mean", "share", "quantile"]


@dataclass(frozen=True)
class Measure:
    """What is measured in every cell.

    Args:
        kind: "count", "sum", "mean", "share" or "quantile".
        value: what is added up or ordered; None for a count.
        level: of a quantile, the part of the rows that does not exceed it; 0.5 for the median.
        only: a condition; of the table's rows, only those that meet it are measured. None for all.
        interpolated: whether a quantile may lie between two values, as SQL's `median` does.
    """

    kind: Kind
    value: Node | None = None
    level: float | None = None
    only: Node | None = None
    interpolated: bool = False

    @property
    def name(self) -> str:
        """What the measure is called.

        >>> from sulq.queries.expressions import col
        >>> Measure("quantile", col("age"), 0.5).name, Measure("quantile", col("age"), 0.9).name
        ('median age', '90 % quantile age')
        """
        if self.value is None:
            return "count"
        kind: str = self.kind
        if self.level is not None:
            kind = "median" if self.level == 0.5 else f"{100 * self.level:g} % quantile"
        return f"{kind} {heading(self.value)}"

    def check(self) -> None:
        """Refuse what is no measure."""
        if self.kind not in get_args(Kind) or (self.kind == "count") != (self.value is None):
            raise QueryError(f"a measure is one of {', '.join(get_args(Kind))}, not {self.kind!r}")
        if (self.kind == "quantile") != (self.level is not None and 0 < self.level < 1):
            raise QueryError("a quantile has a level between 0 and 1, and nothing else has one")
        if self.interpolated and self.kind != "quantile":
            raise QueryError("only quantiles are interpolated")

    def outlook(self, figures: CellFigures) -> str:
        """How far off such figures would be in the middle of them, for people."""
        quiet = figures.within_noise
        unit = {"share": " %", "count": " rows"}.get(self.kind, "")
        off = float(np.median(figures.radius)) * (100 if self.kind == "share" else 1)
        return f"± {plain(off, 2)}{unit}" + (f"; {quiet} within the noise" if quiet else "")

    def dates(self, schema: Schema) -> Date | None:
        """The column of dates that is averaged or ordered, if there is one: figures are days since its first.

        Args:
            schema: what is public about the columns.
        """
        if self.kind not in ("mean", "quantile") or not isinstance(self.value, Column):
            return None
        kind = schema[self.value.name]
        return kind if isinstance(kind, Date) else None

    def shown(self, figures: CellFigures, dates: Date | None = None) -> list[str]:
        """Figures for people.

        Args:
            figures: the figures.
            dates: the column of dates that they are about, if it is one.
        """
        columns = (figures.value, figures.radius, figures.low, figures.high)
        lines = list(zip(*(np.ravel(each).tolist() for each in columns), strict=True))
        if dates is not None:
            return [_days(dates, value, low, high) for value, _, low, high in lines]
        if self.kind == "share":
            return [with_error(100 * value, 100 * radius) + " %" for value, radius, _, _ in lines]
        if self.kind == "quantile":
            return [_range(value, low, high) for value, _, low, high in lines]
        return [with_error(value, radius) for value, radius, _, _ in lines]


@dataclass(frozen=True)
class Asked:
    """One question that was asked for a table, and its answer.

    Args:
        value: what was added up, or ordered if there are `edges`; None if rows were counted.
        axes: the axes of the table that the question keeps.
        edges: the public edges between which rows were counted.
        answer: the answer.
        only: a condition; of the table's rows, only those that meet it were looked at. None for all.
    """

    value: Node | None
    axes: tuple[int, ...]
    edges: tuple[float, ...]
    answer: Answer
    only: Node | None = None

    def numbers(self, shape: tuple[int, ...]) -> tuple[Floats, PlainLaw]:
        """The numbers that were answered and the law of their errors, or a refusal.

        Args:
            shape: how many places each axis has.
        """
        value = np.asarray(self.answer.value, dtype=np.float64)
        if value.shape != shape or not np.isfinite(value).all():
            raise QueryError(
                f"this answer of a table is made of finite sums, with axes of {list(shape)} places"
            )
        return value, one_law(self.answer.law)

    def check(self) -> None:
        """Refuse edges that are none, or of nothing."""
        if self.edges:
            bins(Constant(0), self.edges)
            if self.value is None:
                raise QueryError("edges of a table are those of a number")


def heading(expression: Node) -> str:
    """What a group or a number is called above a column.

    >>> from sulq.queries.codes import bins
    >>> heading(bins("age", [18, 65]))
    'age'
    """
    return heading(expression.inner) if isinstance(expression, Bins) else words(expression)


def bounds_of(schema: Schema, value: Node) -> tuple[float, float]:
    """Between which bounds a number is, as the schema says."""
    facts = scope_of(schema).number(value)
    if facts.width != 1:
        raise QueryError(f"{value.described()} is a vector: a table has one number in a cell")
    return float(int(facts.low[0]) * facts.unit), float(int(facts.high[0]) * facts.unit)


def centred(schema: Schema, value: Node) -> tuple[Node, float]:
    """A number less the middle of its bounds, and that middle: what is summed up for an average.

    One row moves the sum of it by half as much as that of the number itself, or less.
    """
    low, high = bounds_of(schema, value)
    middle = low / 2 + high / 2
    return value - middle, middle


def _days(dates: Date, value: float, low: float, high: float) -> str:
    day = dates.date(value)
    return str(day) if low == high else f"{day} ({dates.date(low)} to {dates.date(high)})"


def _range(value: float, low: float, high: float) -> str:
    if low == high:
        return with_error(value, 0)
    whole = all(float(x).is_integer() for x in (value, low, high))
    digits = 0 if whole else max(0, 1 - math.floor(math.log10(high - low)))
    show = [f"{round(x, digits) + 0.0:,.{digits}f}".replace("-", "−") for x in (value, low, high)]
    return f"{show[0]} ({show[1]} to {show[2]})"
