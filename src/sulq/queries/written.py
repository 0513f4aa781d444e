"""Comparisons and numbers as people write them, read against a schema."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from contextlib import suppress

from sulq.errors import QueryError
from sulq.queries.arithmetic import Compare
from sulq.queries.expressions import Constant, col
from sulq.queries.node import Node
from sulq.schema import Boolean, Category, Date, Schema

ORDERS = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}
RELATIONS = ("==", "!=", *ORDERS)


def comparison(name: str, relation: str, value: str, schema: Schema) -> Node:
    """A column that is compared with a value, or a refusal if no row could meet it, or every row would.

    Args:
        name: the column.
        relation: ==, !=, >=, <=, > or <.
        value: what it is compared with, as people write it.
        schema: what is public about the columns.

    >>> from sulq.schema import Integer
    >>> comparison("age", ">=", "65", Schema({"age": Integer(0, 120)}))
    Compare(relation='>=', left=Column(name='age'), right=Constant(constant=65))
    """
    column, kind = col(name), schema[name]
    if isinstance(kind, Category):
        if relation not in ("==", "!="):
            raise QueryError(f"column {name!r} is a category: compare it with one of its values by == or !=")
        if value not in kind.levels:
            raise QueryError(f"column {name!r} has no value {value!r}; it has {', '.join(kind.levels)}")
        return Compare(relation, column, Constant(value))
    if isinstance(kind, Boolean):
        truths: Mapping[str, bool] = {"true": True, "false": False}
        if relation not in ("==", "!=") or value.lower() not in truths:
            raise QueryError(f"column {name!r} is true or false: name it alone, or compare it with == true")
        return column if truths[value.lower()] == (relation == "==") else ~column
    number = (
        kind.day(value) if isinstance(kind, Date) else number_in(value, f"what {name!r} is compared with")
    )
    varies = kind.low <= number <= kind.high and kind.low < kind.high
    if holds := ORDERS.get(relation):
        varies = holds(kind.low, number) != holds(kind.high, number)
    if not varies:
        low, high = (kind.first, kind.last) if isinstance(kind, Date) else (f"{kind.low:g}", f"{kind.high:g}")
        raise QueryError(
            f"{name} {relation} {value} is the same for every row: {name!r} lies between {low} and {high}"
        )
    return Compare(relation, column, Constant(value if isinstance(kind, Date) else number))


def number_in(text: str, what: str) -> int | float:
    """The number that a text says, or a refusal.

    Args:
        text: the text.
        what: what a refusal calls the number.

    >>> number_in("1.5", "the age"), number_in(" 3 ", "the age")
    (1.5, 3)
    """
    with suppress(ValueError):
        return int(text)
    with suppress(ValueError):
        if math.isfinite(number := float(text)):
            return number
    raise QueryError(f"{what} must be a number, not {text.strip()!r}")
