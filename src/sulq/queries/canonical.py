"""Reading questions back from their canonical form."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from sulq.errors import QueryError
from sulq.queries import cases, codes, expressions, products, routes, vectors
from sulq.queries.choose import Choice
from sulq.queries.expressions import Leaf, Node
from sulq.queries.query import Query
from sulq.queries.question import Question
from sulq.queries.rounds import Round

NODES: dict[str, type[Node]] = {
    cls.__name__: cls
    for module in (expressions, cases, codes, vectors, products, routes)
    for cls in vars(module).values()
    if isinstance(cls, type) and issubclass(cls, Node) and cls not in (Node, Leaf)
}


def parse(form: Mapping[str, Any]) -> Node:
    """The row expression with this canonical form.

    >>> from sulq.queries.expressions import col
    >>> parse((col("age") >= 65).form).key == (col("age") >= 65).key
    True
    """
    name = form.get("node") if isinstance(form, Mapping) else None
    if name == "Function":
        raise QueryError("a Python function can only be asked about in the process that made it")
    if name not in NODES:
        raise QueryError(f"{name!r} is not a row expression")
    cls = NODES[name]
    given = {key: value for key, value in form.items() if key != "node"}
    expected = {field.name for field in fields(cls)}  # type: ignore[arg-type]
    if given.keys() != expected:
        raise QueryError(f"a {name} has {sorted(expected)}, not {sorted(given)}")
    try:
        return cls(**{key: _value(value) for key, value in given.items()})
    except TypeError:
        raise QueryError(f"this is not the canonical form of a {name}") from None


def parse_round(canonical: str) -> Round:
    """The round with this canonical JSON."""
    try:
        form = json.loads(canonical)
        return Round([_query(query) for query in form["queries"]], form["share"])
    except (ValueError, TypeError, KeyError, RecursionError):
        raise QueryError("this is not the canonical form of a round") from None


QUESTIONS: dict[str, Callable[[Mapping[str, Any]], Question]] = {}
"""Readers of the questions that are declared elsewhere, by their name in forms."""


def _query(form: Mapping[str, Any]) -> Question:
    if "query" in form:
        if form["query"] not in QUESTIONS:
            raise QueryError(f"{form['query']!r} is not a question")
        return QUESTIONS[form["query"]](form)
    by, weight = tuple(map(parse, form["by"])), form["weight"]
    if "choose" in form:
        label = None if form["label"] is None else parse(form["label"])
        return Choice(tuple(map(parse, form["choose"])), label, by, weight, form["score"])
    where = None if form["where"] is None else parse(form["where"])
    return Query(form["statistic"], parse(form["value"]), where, by, weight, form["tolerance"], form["beta"])


def _value(value: Any) -> Any:
    if isinstance(value, Mapping):
        return parse(value)
    return tuple(map(_value, value)) if isinstance(value, list) else value
