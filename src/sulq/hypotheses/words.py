"""Expressions and lists of names, as people would say them."""

from __future__ import annotations

from collections.abc import Sequence

from sulq.queries.arithmetic import Add, And, Compare, Multiply, Not, Or
from sulq.queries.date_parts import DatePart, YearsAt
from sulq.queries.expressions import Column, Constant, Known
from sulq.queries.node import Node

SIGNS: dict[type[Node], str] = {Add: "+", Multiply: "*", And: "and", Or: "or"}


def enumerated(names: Sequence[object]) -> str:
    """Names as a sentence has them.

    >>> enumerated(["a"]), enumerated([1, 2, 3])
    ('a', '1, 2 and 3')
    """
    *some, last = map(str, names)
    return f"{', '.join(some)} and {last}" if some else last


def words(expression: Node) -> str:
    """An expression as people would say it.

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
            return f"not {_part(expression.inner, expression)}"
        case Compare():
            return f"{words(expression.left)} {expression.relation} {words(expression.right)}"
        case Add(right=Multiply(left=Constant(constant=-1)) as less):
            return f"{words(expression.left)} - {_part(less.right, less)}"
        case Add() | Multiply() | And() | Or():
            return f" {SIGNS[type(expression)]} ".join(
                _part(side, expression) for side in (expression.left, expression.right)
            )
        case DatePart():
            return f"{expression.part} of {words(expression.inner)}"
        case YearsAt():
            return f"years from {words(expression.inner)} to {expression.day}"
    return expression.wire


def _part(expression: Node, of: Node) -> str:
    """An expression as part of another one, in brackets where it would be misread."""
    loose = isinstance(expression, Add | Multiply | And | Or | Compare) and type(expression) is not type(of)
    bare = isinstance(of, And | Or | Not) and isinstance(expression, Add | Multiply)
    tight = isinstance(of, And | Or) and isinstance(expression, Compare)
    return f"({words(expression)})" if loose and not bare and not tight else words(expression)
