"""Reading forms back: row expressions and rounds, of this version and of the one before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sulq.errors import QueryError
from sulq.queries.former import TODAY, upgraded, upgraded_round
from sulq.queries.node import Node
from sulq.queries.node_forms import node_of
from sulq.queries.rounds import Round
from sulq.wire import canonical, members, of_json, reading, shown, versioned

VERSION = 1
"""Of the form of an expression that stands alone."""


def parse(form: Mapping[str, Any]) -> Node:
    """The row expression with this form, which may be one of version 0, with the names of Python classes.

    >>> from sulq.queries.expressions import col
    >>> parse((col("age") >= 65).form).key == (col("age") >= 65).key
    True
    >>> parse({"node": "Column", "name": "age"}).key == col("age").key
    True
    """
    with reading("a row expression"):
        name = form.get("node") if isinstance(form, Mapping) else None
        return node_of(upgraded(form) if isinstance(name, str) and name in TODAY else form)


def parse_round(text: str) -> Round:
    """The round with this JSON, which may be that of version 0: `{"queries": …, "share": …}`.

    >>> from sulq.queries.query import count
    >>> parse_round(Round([count()]).to_json()) == Round([count()])
    True
    """
    form = of_json(text, "a round")
    with reading("a round"):
        former = isinstance(form, Mapping) and "round" not in form and "queries" in form
        return Round.of(upgraded_round(form) if former else form)


def to_json(expression: Node) -> str:
    """A row expression that stands alone, as JSON; `from_json` reads it back.

    >>> from sulq.queries.expressions import col
    >>> to_json(col("age"))
    '{"expression":1,"is":{"name":"age","node":"column"}}'
    """
    if not isinstance(expression, Node):
        raise QueryError(f"a row expression is needed here, not {shown(expression)}")
    return canonical({"expression": VERSION, "is": expression.form})


def from_json(text: str) -> Node:
    """The row expression that `to_json` wrote.

    >>> from_json('{"expression": 1, "is": {"node": "column", "name": "age"}}').name
    'age'
    >>> from_json('{"expression": 2}')
    Traceback (most recent call last):
    sulq.errors.QueryError: this is an expression of version 2, and version 1 is the one that is known here
    """
    form = members(
        versioned(of_json(text, "an expression"), "expression", VERSION),
        "an expression",
        ["expression", "is"],
    )
    return node_of(form["is"])
