"""Expressions and lists of names, as people would say them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from sulq.queries.arithmetic import Add, And, Compare, Multiply, Not, Or
from sulq.queries.codes import Bins
from sulq.queries.date_parts import DatePart, YearsAt
from sulq.queries.expressions import Column, Constant, Known
from sulq.queries.node import Node
from sulq.queries.routes import Route
from sulq.queries.scope import scope_of
from sulq.queries.value_names import dates_of, value_names
from sulq.schema import Schema

SIGNS: dict[type[Node], str] = {Add: "+", Multiply: "*", And: "and", Or: "or"}
OPPOSITES = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}


def enumerated(names: Sequence[object]) -> str:
    """Names as a sentence has them.

    >>> enumerated(["a"]), enumerated([1, 2, 3])
    ('a', '1, 2 and 3')
    """
    *some, last = map(str, names)
    return f"{', '.join(some)} and {last}" if some else last


def words(expression: Node, schema: Schema | None = None) -> str:
    """An expression as people would say it.

    Args:
        expression: what is said.
        schema: what is public about the columns: with it, days that a column is compared with are dates.

    >>> from sulq.queries.expressions import col
    >>> words((col("age") >= 18) & ~(col("sick") | (col("cost") * 2 > 9)))
    'age >= 18 and not (sick or cost * 2 > 9)'
    >>> words(col("age") - 1), words(col("born").year()), words(col("born").years_at("2024-01-01"))
    ('age - 1', 'year of born', 'years from born to 2024-01-01')
    """
    match expression:
        case Column():
            return expression.name
        case Known():
            return f"{expression.name} known"
        case Constant():
            return str(expression.constant)
        case Not():
            return f"not {_part(expression.inner, expression, schema)}"
        case Compare():
            return f"{words(expression.left, schema)} {expression.relation} {compared(expression, schema)}"
        case Add(right=Multiply(left=Constant(constant=-1)) as less):
            return f"{words(expression.left, schema)} - {_part(less.right, less, schema)}"
        case Add() | Multiply() | And() | Or():
            return f" {SIGNS[type(expression)]} ".join(
                _part(side, expression, schema) for side in (expression.left, expression.right)
            )
        case DatePart():
            return f"{expression.part} of {words(expression.inner)}"
        case YearsAt():
            return f"years from {words(expression.inner)} to {expression.day}"
    return expression.wire


def compared(question: Compare, schema: Schema | None) -> str:
    """What something is compared with, as people say it.

    >>> from sulq.dates import Date
    >>> from sulq.queries.expressions import col
    >>> compared(col("born") < 366, Schema({"born": Date("2000-01-01", "2010-12-31")}))
    '2001-01-01'
    """
    dates, right = dates_of(question.left, schema), question.right
    day = right.constant if isinstance(right, Constant) else None
    if dates is not None and isinstance(day, int | float) and dates.low <= day <= dates.high:
        return str(dates.date(math.floor(day) if question.relation in ("<=", ">") else math.ceil(day)))
    return words(right, schema)


def _part(expression: Node, of: Node, schema: Schema | None) -> str:
    """An expression as part of another one, in brackets where it would be misread."""
    loose = isinstance(expression, Add | Multiply | And | Or | Compare) and type(expression) is not type(of)
    bare = isinstance(of, And | Or | Not) and isinstance(expression, Add | Multiply)
    tight = isinstance(of, And | Or) and isinstance(expression, Compare)
    said = words(expression, schema)
    return f"({said})" if loose and not bare and not tight else said


def phrased(question: Node, schema: Schema) -> tuple[str, str, list[str]]:
    """What is asked about, the word that links it with an answer, and the answers, as people say them.

    Args:
        question: a choice with few values.
        schema: what is public about the columns.

    >>> from sulq.schema import Boolean
    >>> phrased(Column("old"), Schema({"old": Boolean()}))
    ('old', ' is ', ['false', 'true'])
    """
    answers = list(value_names(question, scope_of(schema)) or ())
    if isinstance(question, Bins):
        return words(question.inner, schema), " ", answers
    return words(question, schema), " is ", answers


def ends_in_words(route: Route, schema: Schema) -> list[str]:
    """For every code at the end of a route, the conditions that lead there.

    Args:
        route: a public tree.
        schema: what is public about the columns.

    >>> from sulq.schema import Boolean, Integer
    >>> route = Route((Column("old"), Column("age") < 9), ((0, 1, 2), (0,), (1, 3, 4), (1,), (2,)), 3)
    >>> ends_in_words(route, Schema({"old": Boolean(), "age": Integer(0, 99)}))
    ['old is false', 'old is true and age >= 9', 'old is true and age < 9']
    """
    ways: list[list[str]] = [[] for _ in range(route.size)]
    for code, values in route.ways():
        conditions = [_answered(route.attributes[place], value, schema) for place, value in values.items()]
        ways[code].append(" and ".join(conditions) or "always")
    return [" or ".join(way) or "never" for way in ways]


def _answered(question: Node, value: int, schema: Schema) -> str:
    if isinstance(question, Compare):
        relation = question.relation if value else OPPOSITES[question.relation]
        return f"{words(question.left, schema)} {relation} {compared(question, schema)}"
    subject, link, answers = phrased(question, schema)
    return f"{subject}{link}{answers[value]}"
