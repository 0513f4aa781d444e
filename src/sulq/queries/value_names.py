"""What the values of expressions are called for people: what stands for a day is shown as a date.

Forms and comparisons have the names of `Code.levels`, in which an edge of dates is a number of days.
"""

from __future__ import annotations

import math

from sulq.dates import Date
from sulq.queries.codes import Bins
from sulq.queries.edges import interval_names
from sulq.queries.expressions import Column
from sulq.queries.facts import Code
from sulq.queries.node import Node
from sulq.queries.scope import Scope
from sulq.schema import Integer, Schema


def dates_of(number: Node, schema: Schema | None) -> Date | None:
    """The column of dates that a number is, if it is one: its values are days since the first."""
    kind = schema[number.name] if schema is not None and isinstance(number, Column) else None
    return kind if isinstance(kind, Date) else None


def edge_names(bins: Bins, schema: Schema) -> list[str]:
    """The edges of intervals, for people. The first day at or after an edge is the first in its interval.

    >>> from sulq.queries.codes import bins
    >>> edge_names(bins("born", [0.5, 31, 9e9]), Schema({"born": Date("2000-01-01", "2010-12-31")}))
    ['2000-01-02', '2000-02-01', '9e+09']
    """
    dates = dates_of(bins.inner, schema)
    return [
        f"{edge:g}"
        if dates is None or not dates.low <= edge <= dates.high
        else str(dates.date(math.ceil(edge)))
        for edge in bins.edges
    ]


def value_names(choice: Node, scope: Scope) -> tuple[str, ...] | None:
    """What the values of a choice are called for people; None where they have numbers only.

    Args:
        choice: a choice with few values.
        scope: what is public about the columns.

    >>> born = Scope(Schema({"born": Date("2000-01-01", "2000-01-02")}))
    >>> value_names(Column("born"), born), value_names(Bins(Column("born"), (1.0,)), born)
    (('2000-01-01', '2000-01-02'), ('below 2000-01-02', '2000-01-02 and up'))
    """
    facts = scope.facts(choice)
    kind = scope.schema[choice.name] if isinstance(choice, Column) else None
    if not isinstance(facts, Code) and facts.flag and not isinstance(kind, Integer):
        return "false", "true"
    if isinstance(choice, Bins):
        return interval_names(edge_names(choice, scope.schema))
    code = scope.code(choice)
    return tuple(str(kind.date(day)) for day in range(code.size)) if isinstance(kind, Date) else code.levels
