"""What a person is asked to report so that the reports together answer one part of a query."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sulq.local.shapes import Ball, Box, Flag, Interval, Keyed, OneOf, Shape
from sulq.queries import codes
from sulq.queries.codes import Cross
from sulq.queries.expressions import Node
from sulq.queries.facts import Number
from sulq.queries.products import Outer
from sulq.queries.scope import Scope
from sulq.queries.vectors import Only
from sulq.sources.rows import Rows


@dataclass(frozen=True)
class Asked:
    """The shapes a person's value may be reported in, and how it follows from their row.

    `width`: how many of the estimate's numbers answer the query; one more group, of those whom a condition
    leaves out, may follow them.
    """

    shapes: tuple[Shape, ...]
    values: Callable[[Rows], Any]
    width: int


def asked(part: Node, scope: Scope) -> Asked:
    """What to ask of people for the mean of a row expression: as little as it needs.

    A group and a value in it are reported as such, and not as the long vector of zeros they stand for.
    """
    facts = scope.number(part)
    condition, inner = (part.condition, part.inner) if isinstance(part, Only) else (None, part)
    if isinstance(inner, codes.OneHot):
        groups = scope.code(inner.choice).size + (condition is not None)
        return Asked((OneOf(groups),), _group(condition, inner.choice, groups - 1), facts.width)
    if isinstance(inner, Outer) and isinstance(inner.left, codes.OneHot):
        groups = scope.code(inner.left.choice).size + (condition is not None)
        group, value = _group(condition, inner.left.choice, groups - 1), inner.right
        box = _box(scope.number(value))

        def both(people: Rows) -> tuple[Any, Any]:
            return group(people), people.values(value).reshape(-1, len(box.lows))

        return Asked((Keyed(groups, box),), both, facts.width)
    if facts.flag:
        return Asked((Flag(),), lambda people: people.values(part), 1)
    if facts.width == 1:
        [low], [high] = _box(facts).lows, _box(facts).highs
        return Asked((Interval(low, high),), lambda people: people.values(part), 1)
    longest = float(np.sqrt(float(facts.square * facts.unit**2)))
    shapes = (_box(facts), Ball(facts.width, longest))
    return Asked(shapes, lambda people: people.values(part), facts.width)


def _box(facts: Number) -> Box:
    unit = float(facts.unit)
    return Box(tuple((facts.low * unit).tolist()), tuple((facts.high * unit).tolist()))


def _group(condition: Node | None, choice: Node, others: int) -> Callable[[Rows], Any]:
    """The number of a person's group; those whom a condition leaves out are a group of their own."""

    def group(people: Rows) -> Any:
        number = people.values(Cross((choice,)))
        return number if condition is None else np.where(people.values(condition), number, others)

    return group
