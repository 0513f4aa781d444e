"""What a date says: its year, its month, its weekday, and how many years it is to a public day."""

from __future__ import annotations

import datetime
from dataclasses import dataclass

import numpy as np

from sulq.dates import PARTS, WEEKDAYS, Date
from sulq.errors import QueryError
from sulq.queries.expressions import Column
from sulq.queries.facts import Code, Number, number
from sulq.queries.node import Node
from sulq.queries.scope import Batch, Scope, Values, once
from sulq.wire import shown


@dataclass(frozen=True, eq=False)
class DatePart(Node):
    """The year, the month or the weekday of a column of dates."""

    wire = "date part"

    inner: Node
    part: str

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.part not in PARTS:
            raise QueryError(f"a date has no {shown(self.part)}; it has {', '.join(PARTS)}")

    def facts(self, scope: Scope) -> Number | Code:
        kind = date_kind(self.inner, scope)
        if self.part == "weekday":
            return Code(len(WEEKDAYS), WEEKDAYS)
        low, high = (kind.first.year, kind.last.year) if self.part == "year" else (1, 12)
        return number(0, np.array([low]), np.array([high]), rounded=False)

    def value(self, batch: Batch) -> Values:
        return np.asarray(self._calendar(batch.scope).take(batch.value(self.inner)))

    @once
    def _calendar(self, scope: Scope) -> Values:
        return date_kind(self.inner, scope).calendar(self.part)

    def described(self) -> str:
        return f"the {self.part} of {self.inner.described() if isinstance(self.inner, Node) else 'a date'}"


@dataclass(frozen=True, eq=False)
class YearsAt(Node):
    """The whole years from a column of dates to a public day."""

    wire = "years at"

    inner: Node
    day: str

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            object.__setattr__(self, "day", datetime.date.fromisoformat(self.day).isoformat())
        except (TypeError, ValueError):
            raise QueryError(f"{shown(self.day)} is not a day: write it as 2024-01-31") from None

    def facts(self, scope: Scope) -> Number:
        years = self._years(scope)
        return number(0, years[-1:], years[:1], rounded=False)

    def value(self, batch: Batch) -> Values:
        return np.asarray(self._years(batch.scope).take(batch.value(self.inner)))

    @once
    def _years(self, scope: Scope) -> Values:
        return date_kind(self.inner, scope).years(self.day)


def date_kind(inner: Node, scope: Scope) -> Date:
    """What is public about a column of dates, or a refusal."""
    kind = scope.schema[inner.name] if isinstance(inner, Column) else None
    if not isinstance(kind, Date):
        raise QueryError(f"{inner.described()} is not a column of dates")
    return kind
