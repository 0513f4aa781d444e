"""Conditions denied, by De Morgan's laws: `not` before conditions of one hand only.

So what is denied is about the same people as what is not: ~(a & b) is ~a | ~b, and ~(a | b) is ~a & ~b.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

from sulq.queries.arithmetic import And, Not, Or
from sulq.queries.node import Node


def denied(condition: Node, hands_of: Callable[[Node], set[int]]) -> Node:
    """The opposite of a condition. In a chain of `and`, or of `or`, the conditions of one hand stay one.

    Args:
        condition: what is denied.
        hands_of: the hands whose columns a condition looks at.

    >>> from sulq.queries.expressions import col
    >>> def hands_of(condition):
    ...     return {{"a": 0, "b": 1, "c": 0}[leaf.name] for leaf in condition.leaves().values()}
    >>> a, b, c = map(col, "abc")
    >>> denied(a & ~b & c, hands_of).key == (~(a & c) | b).key
    True
    """
    if isinstance(condition, Not):
        return condition.inner
    if not isinstance(condition, And | Or):
        return Not(condition)
    kind = type(condition)
    of_hand: dict[int, list[Node]] = {}
    each: list[Node] = []
    for part in _links(condition, kind):
        hands = hands_of(part)
        if len(hands) == 1:
            of_hand.setdefault(hands.pop(), []).append(part)
        else:
            each.append(part)
    each += [reduce(kind, parts) for parts in of_hand.values()]
    dual: Callable[[Node, Node], Node] = Or if kind is And else And
    return reduce(dual, [part.inner if isinstance(part, Not) else Not(part) for part in each])


def _links(condition: Node, kind: type[And | Or]) -> list[Node]:
    if not isinstance(condition, kind):
        return [condition]
    return [*_links(condition.left, kind), *_links(condition.right, kind)]
