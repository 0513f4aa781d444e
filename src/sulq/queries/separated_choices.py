"""Choices over columns in different hands, and what public tables say of them, as sums of products."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sulq.errors import QueryError
from sulq.queries.arithmetic import Not
from sulq.queries.codes import Cross, OneHot
from sulq.queries.factored import Floats, Products
from sulq.queries.facts import Code
from sulq.queries.moves import public_table
from sulq.queries.node import Node
from sulq.queries.routes import Route
from sulq.queries.scope import Scope
from sulq.queries.vectors import Only


class Separating(Protocol):
    """What takes expressions over several hands apart: see `Separation`."""

    @property
    def scope(self) -> Scope: ...

    def __call__(self, expression: Node) -> list[Products]: ...

    def hands_of(self, *expressions: Node) -> set[int]: ...

    def refusal(self, expression: Node) -> QueryError: ...

    def elementwise(self, left: Node, right: Node) -> list[Products]: ...

    def outer(self, left: list[Products], right: list[Products], width: int) -> list[Products]: ...


def parts_of(choice: Node) -> tuple[Node, ...]:
    """The choices that a choice is a combination of."""
    return choice.parts if isinstance(choice, Cross) else (choice,)


def one_hot(separate: Separating, expression: OneHot) -> list[Products]:
    """A choice over several hands, as a vector with a single 1."""
    choice = expression.choice
    if isinstance(choice, Cross):
        return _crossed(separate, separate(OneHot(choice.parts[0])), choice.parts[1:])
    if isinstance(choice, Route):
        return _route(separate, choice)
    facts = separate.scope.facts(choice)
    if isinstance(facts, Code) or not facts.flag:
        raise separate.refusal(choice)
    return [
        products.into(np.array([value]))
        for value, condition in enumerate((Not(choice), choice))
        for products in separate(condition)
    ]


def only(separate: Separating, expression: Only) -> list[Products]:
    """A value where a condition holds; the ends of a route where a condition on another route does."""
    condition, inner = expression.condition, expression.inner
    told = _table(separate, condition) if len(separate.hands_of(condition)) > 1 else None
    first, *others = parts_of(inner.choice) if isinstance(inner, OneHot) else [inner]
    if told and isinstance(before := told[0], Route) and isinstance(first, Route):
        return _crossed(separate, _some_ends(separate, before, told[1][0] > 0, first), others)
    return separate.elementwise(condition, inner)


def _some_ends(separate: Separating, before: Route, holds: NDArray[np.bool_], ends: Route) -> list[Products]:
    """The ends of a route where the code of the route before it holds.

    Ways that contradict each other are no products: each would be 0 but for its noise.
    """
    each = []
    for products in _route(separate, before.then(ends)):
        code, place = np.divmod(products.places, ends.size)
        if (which := holds[code]).any():
            each.append(products.taken(which, place[which]))
    return each


def of_table(separate: Separating, expression: Node) -> list[Products]:
    """What follows from one choice by a public table: a number, or a vector, for each of its values."""
    told = _table(separate, expression)
    if told is None:
        raise separate.refusal(expression)
    choice, table = told
    each = []
    for products in separate(OneHot(choice)):
        numbers = table[:, products.places]
        place, which = np.nonzero(numbers)
        if len(which):
            each.append(products.taken(which, place, numbers[place, which]))
    return each


def _table(separate: Separating, expression: Node) -> tuple[Node, Floats] | None:
    """The choice that an expression follows from by public numbers, and its value for each of its values."""
    facts, choices = separate.scope.number(expression), expression.choices()
    table = public_table(expression, choices, facts.bits, separate.scope) if choices else None
    if not choices or table is None:
        return None
    [choice] = choices.values()
    return choice, table * float(facts.unit)


def _crossed(separate: Separating, each: list[Products], choices: Sequence[Node]) -> list[Products]:
    for choice in choices:
        each = separate.outer(each, separate(OneHot(choice)), separate.scope.code(choice).size)
    return each


def _route(separate: Separating, route: Route) -> list[Products]:
    """Ways that ask about the same attributes are counted by these together, those of one hand as one."""
    alike: dict[tuple[int, ...], list[tuple[int, dict[int, int]]]] = {}
    for code, values in route.ways():
        alike.setdefault(tuple(sorted(values)), []).append((code, values))
    each = []
    for asked, ways in alike.items():
        attributes = tuple(route.attributes[place] for place in asked)
        if not attributes:
            return [Products.one().into(np.array([ways[0][0]]))]
        sizes = [separate.scope.code(attribute).size for attribute in attributes]
        leads_to = np.full(math.prod(sizes), -1)
        for code, values in ways:
            leads_to[np.ravel_multi_index([values[place] for place in asked], sizes)] = code
        for products in separate(OneHot(Cross(attributes))):
            to = leads_to[products.places]
            each.append(products.taken(to >= 0, to[to >= 0]))
    return each
