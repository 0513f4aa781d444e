"""Numbers that take a few values only, mostly the ends of their interval: one bit tells those best.

A window report has a smaller worst variance than one bit. But how people differ adds to it, and if half of
the people are at each end, both together are more than one bit has in all. Numbers that are made of truth
values and groups alone are such: those by which wrong labels are seen through, for example.
"""

from __future__ import annotations

from sulq.queries.facts import Code
from sulq.queries.node import Node, children
from sulq.queries.scope import Scope


def takes_few_values(node: Node, scope: Scope) -> bool:
    """Whether a row expression is made of truth values, groups and constants alone.

    Args:
        node: the row expression.
        scope: the schema.

    >>> import sulq
    >>> scope = Scope(sulq.Schema({"sick": sulq.Boolean(), "age": sulq.Integer(0, 120)}))
    >>> [takes_few_values(node, scope) for node in (2 * sulq.col("sick") - 1, sulq.col("age") - 1)]
    [True, False]
    """
    facts = scope.facts(node)
    if isinstance(facts, Code) or facts.flag or bool((facts.low == facts.high).all()):
        return True
    inside = children(node)
    return bool(inside) and all(takes_few_values(child, scope) for child in inside)
