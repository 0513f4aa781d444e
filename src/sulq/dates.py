"""Columns of dates: between public days, kept as the number of days since the first."""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sulq.errors import SchemaError
from sulq.kinds import Integer, fill

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
PARTS = ("year", "month", "weekday")
"""What can be asked of a date."""
DIRECTIVES = "dmYybBHMSfpIjz"
"""What a format may have after a %, with the meanings of Python's strptime."""


@dataclass(frozen=True, repr=False, init=False)
class Date(Integer):
    """A date between two public days. Cells are dates, timestamps, or texts such as 2024-01-31.

    A date is a number: of days since `first`. So dates can be compared, averaged and put into bins like other
    whole numbers, and `col("born").year()`, `.month()`, `.weekday()` and `.years_at("2024-01-01")` say more.
    Earlier and later days are clamped. A missing date becomes `missing`, by default the middle.

    Args:
        first: the first day there can be, as a date or as "1900-01-01".
        last: the last day.
        missing: what a cell without a date becomes.
        format: how texts write dates, as "%d.%m.%Y"; by default as 2024-01-31, with or without a time.
        drop_missing: leave rows without a date out of sums and means of it. In TOML: missing = "drop".

    >>> born = Date("1900-01-01", "2023-12-31", missing="1970-01-01")
    >>> born.day("1900-01-31"), born.date(30)
    (30, datetime.date(1900, 1, 31))
    """

    type: ClassVar[str] = "date"
    first: datetime.date = field(kw_only=True)
    last: datetime.date = field(kw_only=True)
    format: str | None = field(kw_only=True)

    def __init__(
        self,
        first: str | datetime.date,
        last: str | datetime.date,
        missing: str | datetime.date | None = None,
        *,
        format: str | None = None,
        drop_missing: bool = False,
    ) -> None:
        begin, end = _date("first", first), _date("last", last)
        if begin > end:
            raise SchemaError(f"first = {begin} must not be after last = {end}")
        high = (end - begin).days
        constant = high // 2 if missing is None else (_date("missing", missing) - begin).days
        if not 0 <= constant <= high:
            raise SchemaError(f"missing = {missing} must lie between first = {begin} and last = {end}")
        if format is not None:
            _check_format(format)
        fill(self, first=begin, last=end, format=format, low=0, high=high, missing=constant)
        fill(self, thousands=None, decimal=".", strip="", drop_missing=drop_missing)
        self._check_rules()

    def __reduce__(self) -> tuple[Any, ...]:
        return _made, (self.settings(),)

    def settings(self) -> dict[str, Any]:
        """How the column was declared, as plain data."""
        assert self.missing is not None
        days = {"first": self.first, "last": self.last, "missing": self.date(self.missing)}
        given = {name: day.isoformat() for name, day in days.items()}
        rules = {"format": self.format, "drop_missing": self.drop_missing or None}
        return given | {name: rule for name, rule in rules.items() if rule is not None}

    def day(self, date: str | datetime.date) -> int:
        """The number of days from `first` to a date."""
        return (_date("the day", date) - self.first).days

    def date(self, day: float) -> datetime.date:
        """The date so many days after `first`, as a mean of dates is told."""
        return self.first + datetime.timedelta(days=round(day))

    def calendar(self, part: str) -> NDArray[np.int64]:
        """For each day from first to last, its year, its month from 1, or its weekday from 0 for Monday."""
        days = self._days()
        if part == "year":
            return days.astype("datetime64[Y]").astype(np.int64) + 1970
        if part == "month":
            return days.astype("datetime64[M]").astype(np.int64) % 12 + 1
        return (days.astype(np.int64) + 3) % 7  # 1970 began on a Thursday

    def years(self, date: str | datetime.date) -> NDArray[np.int64]:
        """For each day from first to last, the whole years from then to a date, as ages are counted."""
        to, days = _date("the day", date), self._days()
        months = days.astype("datetime64[M]")
        of_month = (days - months.astype("datetime64[D]")).astype(np.int64) + 1
        later = self.calendar("month") * 31 + of_month > to.month * 31 + to.day
        return np.asarray(to.year - self.calendar("year") - later)

    def _days(self) -> NDArray[np.datetime64]:
        return np.datetime64(self.first, "D") + np.arange(self.high + 1)


def _made(settings: dict[str, Any]) -> Date:
    return Date(**settings)


def _date(what: str, value: object) -> datetime.date:
    if isinstance(value, datetime.datetime):
        return value.date()
    if isinstance(value, datetime.date):
        return value
    try:
        return datetime.date.fromisoformat(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise SchemaError(f"{what} = {value!r} must be a date, as 2024-01-31") from None


def _check_format(format: object) -> None:
    """Refuse a format that DuckDB would not know, or by which a text is no date."""
    used = re.findall("%(.?)", format) if isinstance(format, str) else []
    known = {*used} <= {*DIRECTIVES} and len({*used}) == len(used)
    if not known or not all({*used} & {*letters} for letters in ("dj", "mbBj", "Yy")):
        raise SchemaError(
            f"format = {format!r} must have a day, a month and a year, each once, as '%d.%m.%Y'; "
            f"known are {' '.join('%' + letter for letter in DIRECTIVES)}"
        )
