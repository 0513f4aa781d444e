"""What SQL says of dates, of one row."""

from __future__ import annotations

import datetime
from fractions import Fraction

from sulq.dates import WEEKDAYS
from sulq.errors import QueryError
from sulq.queries.cases import Clip
from sulq.queries.date_parts import DatePart, YearsAt
from sulq.queries.node import Node
from sulq.statements.values import Const, Day, FewValued, Level, Num, Value, words

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
    "November", "December",
)  # fmt: skip
PARTS = "year, month, quarter, isodow, dow, dayname and monthname"


def part(unit: str, value: Value, what: str) -> Value:
    """A part of a date: its year, its month, its weekday and so on.

    Args:
        unit: which part.
        value: the date.
        what: what the statement calls it.
    """
    if not isinstance(value, Day):
        raise QueryError(f"{what} takes a column of dates, not {words(value)}")
    unit = {"weekday": "dow", "dayofweek": "dow", "years": "year", "months": "month", "y": "year"}.get(
        unit, unit
    )
    if unit in ("year", "month"):
        return Num(DatePart(value.column, unit), present=value.present)
    if unit in ("quarter", "monthname"):
        month = DatePart(value.column, "month")
        levels: tuple[Level, ...] = tuple(Fraction((number + 2) // 3) for number in range(1, 13))
        return FewValued(month, levels if unit == "quarter" else MONTHS, value.present)
    if unit in ("isodow", "dow", "dayname"):
        numbers = tuple(Fraction(number % 7 if unit == "dow" else number) for number in range(1, 8))
        weekday = DatePart(value.column, "weekday")
        return FewValued(weekday, WEEKDAYS if unit == "dayname" else numbers, value.present)
    raise QueryError(f"{what}: of a date there are {PARTS}, not {unit[:40]!r}")


def truncated(unit: str, value: Value) -> Value:
    """DATE_TRUNC: the first day of a date's month or year."""
    if not isinstance(value, Day):
        raise QueryError(f"date_trunc takes a column of dates, not {words(value)}")
    first, last = value.kind.first, value.kind.last
    year: Node = DatePart(value.column, "year")
    if unit == "year":
        years = tuple(datetime.date(number, 1, 1) for number in range(first.year, last.year + 1))
        return FewValued(year, years, value.present)
    if unit != "month":
        raise QueryError(f"date_trunc goes by 'year' or 'month', not {unit[:40]!r}")
    low, high = (day.year * 12 + day.month for day in (first, last))
    months = tuple(
        datetime.date((number - 1) // 12, (number - 1) % 12 + 1, 1) for number in range(low, high + 1)
    )
    return FewValued(Clip(12 * year + DatePart(value.column, "month"), low, high), months, value.present)


def years_at(day: Value, born: Value) -> Value:
    """The whole years from a column of dates to a public day, as ages are counted.

    Args:
        day: the public day.
        born: the column of dates.
    """
    if not isinstance(born, Day) or not isinstance(day, Const) or not isinstance(day.value, datetime.date):
        raise QueryError("an age is date_part('year', age(DATE '2024-01-31', x)), with x a column of dates")
    if born.kind.last > day.value:
        raise QueryError(
            f"an age is counted to a day that no date of the column is after: {born.kind.last} or later, not "
            f"{day.value}"
        )
    return Num(YearsAt(born.column, day.value.isoformat()), present=born.present)


def difference(unit: str, start: Value, end: Value) -> Value:
    """DATE_DIFF: how many borders between years, months or days lie between two dates.

    Args:
        unit: "year", "month" or "day".
        start: a column of dates, or a public day.
        end: likewise.
    """
    if unit not in ("year", "month", "day"):
        raise QueryError(f"date_diff goes by 'year', 'month' or 'day', not {unit[:40]!r}")
    for side in (start, end):
        if not isinstance(side, Day) and not (
            isinstance(side, Const) and isinstance(side.value, datetime.date)
        ):
            raise QueryError(f"date_diff takes dates, as x and DATE '2024-01-31', not {words(side)}")
    if isinstance(start, Const) == isinstance(end, Const):
        raise QueryError("date_diff takes a column of dates and a public day, as DATE '2024-01-31'")
    column, public, sign = (start, end, -1) if isinstance(start, Day) else (end, start, 1)
    assert isinstance(column, Day) and isinstance(public, Const) and isinstance(public.value, datetime.date)
    day = public.value
    if unit == "day":
        node: Node = column.column - column.kind.day(day)
    elif unit == "year":
        node = DatePart(column.column, "year") - day.year
    else:
        months = 12 * DatePart(column.column, "year") + DatePart(column.column, "month")
        node = months - (12 * day.year + day.month)
    return Num(node, Fraction(sign), column.present)
