"""CASE and its relatives, of one row: a value that depends on conditions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from operator import or_
from typing import Literal

from sulq.errors import QueryError
from sulq.queries.cases import Where
from sulq.queries.expressions import Constant
from sulq.queries.lookups import Lookup
from sulq.queries.node import Node
from sulq.schema import Schema
from sulq.statements.comparisons import compared
from sulq.statements.values import (
    Const,
    Day,
    FewValued,
    Level,
    Num,
    Truth,
    Value,
    common,
    few,
    numbered,
    words,
)

Presence = Node | Literal["never"] | None
"""Where a value is there: None for everywhere."""


def case(branches: Sequence[tuple[Value, Value]], otherwise: Value) -> Value:
    """CASE WHEN … THEN … ELSE … END.

    Args:
        branches: conditions and the value where each of them is the first that holds.
        otherwise: the value where none holds; NULL if nothing is said.
    """
    kept: list[tuple[Node, Value]] = []
    for condition, value in branches:
        if isinstance(condition, Const) and isinstance(condition.value, bool):
            if condition.value:
                otherwise = value
                break
        elif isinstance(condition, Truth):
            kept.append((condition.yes, value))
        else:
            raise QueryError(f"WHEN takes a condition, not {words(condition)}: compare it with something")
    if not kept:
        return otherwise
    values = [*(value for _, value in kept), otherwise]
    kinds = {words(value) for value in values if not _null(value)}
    if len(kinds) != 1 or "a date" in kinds:
        raise QueryError("a CASE has values of one kind, all numbers, all texts or all conditions")
    if kinds == {"true or false"}:
        return _truths(kept, otherwise)
    present = _presence(kept, otherwise)
    if all(isinstance(value, Const | FewValued) for value in values):
        return _choices(kept, otherwise, present)
    return _numbers(kept, otherwise, present)


def _null(value: Value) -> bool:
    return isinstance(value, Const) and value.value is None


def _choices(kept: list[tuple[Node, Value]], otherwise: Value, present: Node | None) -> FewValued:
    values = [*(value for _, value in kept), otherwise]
    levels: dict[Level, int] = {}
    for value in values:
        for level in value.levels if isinstance(value, FewValued) else [value.value]:  # type: ignore[union-attr]
            if level is not None:
                levels.setdefault(level, len(levels))  # type: ignore[arg-type]

    def place(value: Value) -> Node:
        if isinstance(value, FewValued):
            return Lookup(value.code, tuple((levels[level],) for level in value.levels))
        assert isinstance(value, Const)
        return Constant(0 if value.value is None else levels[value.value])  # type: ignore[index]

    node = place(otherwise)
    for condition, value in reversed(kept):
        node = Where(condition, place(value), node)
    return FewValued(node, tuple(levels), present)


def _numbers(kept: list[tuple[Node, Value]], otherwise: Value, present: Node | None) -> Num:
    values = [*(value for _, value in kept), otherwise]
    numbers = [numbered(value) for value in values]
    there = next(number for number in numbers if number is not None)
    # In the place of NULL stands another of the values: it is not looked at, and widens no bounds.
    scale, nodes = common(*(there if number is None else number for number in numbers))
    node = nodes[-1]
    for (condition, _), value in zip(reversed(kept), reversed(nodes[:-1]), strict=True):
        node = Where(condition, value, node)
    return Num(node, scale, present)


def _truths(kept: list[tuple[Node, Value]], otherwise: Value) -> Truth:
    result = _sides(otherwise)
    for condition, value in reversed(kept):
        yes, no = _sides(value)
        result = _either(condition, yes, result[0]), _either(condition, no, result[1])
    yes, no = result
    values = [*(value for _, value in kept), otherwise]
    unknown = any(_null(value) or (isinstance(value, Truth) and value.no is not None) for value in values)
    return Truth(_node(yes), _node(no) if unknown else None)


def _sides(value: Value) -> tuple[Presence, Presence]:
    """Where a condition is true, and where it is false."""
    if isinstance(value, Truth):
        return value.yes, ~value.yes if value.no is None else value.no
    holds = value.value if isinstance(value, Const) else None
    return (None if holds is True else "never"), (None if holds is False else "never")


def _presence(kept: list[tuple[Node, Value]], otherwise: Value) -> Node | None:
    result = _there(otherwise)
    for condition, value in reversed(kept):
        result = _either(condition, _there(value), result)
    return None if result is None else _node(result)


def _there(value: Value) -> Presence:
    return ("never" if value.value is None else None) if isinstance(value, Const) else value.present


def _either(condition: Node, one: Presence, other: Presence) -> Presence:
    """Where one holds if a condition does, and else the other."""
    if one is None and other is None:
        return None
    parts = [
        side if holds is None else side & holds
        for side, holds in ((condition, one), (~condition, other))
        if not isinstance(holds, str)
    ]
    return reduce(or_, parts) if parts else "never"


def _node(presence: Presence) -> Node:
    if presence is None:
        return Constant(1)
    return Constant(0) if isinstance(presence, str) else presence


def coalesced(values: Sequence[Value]) -> Value:
    """The first of several values that is not NULL."""
    first, *rest = [value for value in values if not _null(value)] or [Const(None)]
    if not rest or isinstance(first, Const) or first.present is None:
        return first
    return case([(Truth(first.present), first)], coalesced(rest))


def without(value: Value, nothing: Value, schema: Schema) -> Value:
    """NULLIF: NULL in the place of one value."""
    equal = compared("==", value, nothing, schema)
    return case([(equal, Const(None))], value)


def group_of(value: Value, schema: Schema, what: str) -> tuple[Node, tuple[Level | bool | None, ...]]:
    """A value as a group: an expression with few values, and what they are. NULL is a group of its own.

    Args:
        value: the value.
        schema: what is public about the columns.
        what: what the statement calls it.
    """
    if isinstance(value, Const):
        raise QueryError(f"{what} is the same for every row: leave it out of GROUP BY")
    if isinstance(value, Truth):
        if value.no is None:
            return value.yes, (False, True)
        return Where(value.yes, Constant(1), Where(value.no, Constant(0), Constant(-1))), (None, False, True)
    choice = few(value, schema)
    if choice is None:
        kind = "date_trunc('month', x)" if isinstance(value, Day) else "floor(x / 10) * 10"
        raise QueryError(
            f"{what} has no short list of values to group by: write {kind}, or CASE WHEN x < 10 THEN …"
        )
    levels = list(dict.fromkeys(choice.levels))
    same = len(levels) == len(choice.levels)
    if isinstance(levels[0], Fraction):
        levels.sort()
    same = same and tuple(levels) == choice.levels
    if same and choice.present is None:
        return choice.code, choice.levels
    node: Node = Lookup(choice.code, tuple((levels.index(level),) for level in choice.levels))
    if choice.present is None:
        return node, tuple(levels)
    return Where(choice.present, node, Constant(-1)), (None, *levels)
