"""Reading questions back from their canonical form."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from sulq.errors import QueryError
from sulq.queries import codes, expressions, vectors
from sulq.queries.expressions import Leaf, Node
from sulq.queries.rounds import Query, Round

NODES: dict[str, type[Node]] = {
    cls.__name__: cls
    for module in (expressions, codes, vectors)
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
    return cls(**{key: _value(value) for key, value in given.items()})


def parse_round(canonical: str) -> Round:
    """The round with this canonical JSON."""
    try:
        form = json.loads(canonical)
        queries = [
            Query(
                query["statistic"],
                parse(query["value"]),
                None if query["where"] is None else parse(query["where"]),
                tuple(parse(choice) for choice in query["by"]),
            )
            for query in form["queries"]
        ]
    except (ValueError, TypeError, KeyError):
        raise QueryError("this is not the canonical form of a round") from None
    return Round(queries)


def _value(value: Any) -> Any:
    if isinstance(value, Mapping):
        return parse(value)
    return tuple(map(_value, value)) if isinstance(value, list) else value
