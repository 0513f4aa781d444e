"""The names that row expressions have in forms, and reading their forms back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from sulq.errors import QueryError
from sulq.queries import (  # noqa: F401, each registers its expressions
    arithmetic,
    cases,
    codes,
    date_parts,
    folds,
    logistic,
    lookups,
    products,
    routes,
    vectors,
)
from sulq.queries.functions import Function
from sulq.queries.node import MOST_DEPTH, NODES, Node, operands_of
from sulq.wire import entry, listed, members, reading, shown


def node_of(form: Any) -> Node:
    """The row expression with this form.

    >>> from sulq.queries.expressions import col
    >>> node_of({"node": "column", "name": "age"}).key == col("age").key
    True
    >>> node_of({"node": "median"})
    Traceback (most recent call last):
    sulq.errors.QueryError: 'median' is not a known row expression; known are add, and, bins, ...
    """
    with reading("a row expression"):
        return _node(form, MOST_DEPTH)


def nodes_of(forms: object, what: str) -> tuple[Node, ...]:
    """The row expressions with these forms.

    Args:
        forms: a list of forms.
        what: what the list holds, for the error.
    """
    return tuple(map(node_of, listed(forms, what)))


def _node(form: Any, room: int) -> Node:
    if room == 0:
        raise QueryError(f"row expressions can lie at most {MOST_DEPTH} deep inside each other")
    name = form.get("node") if isinstance(form, Mapping) else None
    if name == Function.wire:
        raise QueryError("a Python function can only be asked about in the process that made it")
    cls = entry(name, NODES, "row expression")
    names = [field.name for field in fields(cls)]  # type: ignore[arg-type]
    members(form, f"the row expression {name!r}", ["node", *names])
    several = dict(operands_of(cls))
    values = {
        field: _plain(form[field])
        if field not in several
        else tuple(_node(each, room - 1) for each in listed(form[field], f"the {field} of {name!r}"))
        if several[field]
        else _node(form[field], room - 1)
        for field in names
    }
    try:
        return cls(**values)
    except (TypeError, ValueError, ArithmeticError):
        raise QueryError(f"this is not the form of the row expression {name!r}") from None


def _plain(value: Any, room: int = 3) -> Any:
    """What is no row expression: a number, a text, or a list of lists of them, which becomes a tuple."""
    if isinstance(value, list) and room:
        return tuple(_plain(each, room - 1) for each in value)
    if isinstance(value, bool | int | float | str):
        return value
    raise QueryError(f"a number, a text or a list of them is needed here, not {shown(value)}")
