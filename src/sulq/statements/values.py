"""What an expression in SQL is of one row: a public constant, a number, one of few values, a truth or a day.

A cell can be NULL only in a column that is declared with `missing = "drop"`. So a value says when it is there
(`present`, None for always), and a truth says when it is true and when it is false, as SQL has it.

A number is an expression times a public fraction. The fraction is multiplied in at the very end, or goes into
what a number is compared with, so that `cost / 3` is as exact as `cost`.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from sulq.dates import Date
from sulq.errors import QueryError
from sulq.queries.arithmetic import Compare
from sulq.queries.expressions import Column, Constant
from sulq.queries.lookups import Lookup
from sulq.queries.node import Node
from sulq.queries.scope import scope_of
from sulq.schema import Schema

Level: TypeAlias = Fraction | str | datetime.date
MOST_LEVELS = 2**16


@dataclass(frozen=True, eq=False)
class Const:
    """A public constant; None for NULL."""

    value: Fraction | str | bool | datetime.date | None


@dataclass(frozen=True, eq=False)
class Num:
    """A number: an expression times a public fraction, which is not 0."""

    node: Node
    scale: Fraction = Fraction(1)
    present: Node | None = None


@dataclass(frozen=True, eq=False)
class FewValued:
    """One of few public values, by their number."""

    code: Node
    levels: tuple[Level, ...]
    present: Node | None = None


@dataclass(frozen=True, eq=False)
class Truth:
    """Whether something holds: where it is true, and where it is false. None if that is everywhere else.

    `either` is where it is true or false, if that can be said in a shorter way than by these two.
    """

    yes: Node
    no: Node | None = None
    either: Node | None = None

    @property
    def present(self) -> Node | None:
        """Where it is true or false; None for everywhere."""
        if self.no is None or self.either is not None:
            return self.either
        return self.yes | self.no


@dataclass(frozen=True, eq=False)
class Day:
    """A column of dates."""

    column: Column
    kind: Date
    present: Node | None = None


Value: TypeAlias = Const | Num | FewValued | Truth | Day


def both(one: Node | None, other: Node | None) -> Node | None:
    """Where two conditions hold, None being everywhere."""
    if one is None or other is None or one.key == other.key:
        return other if one is None else one
    return one & other


def truth(condition: Node, present: Node | None) -> Truth:
    """A condition that is unknown where something is not present."""
    return Truth(condition) if present is None else Truth(present & condition, present & ~condition, present)


def words(value: Value) -> str:
    """What kind of value it is, for errors."""
    if isinstance(value, Const):
        kind = {str: "a text", bool: "true or false", datetime.date: "a date", Fraction: "a number"}
        return "NULL" if value.value is None else kind[type(value.value)]
    if isinstance(value, FewValued):
        return "a number" if isinstance(value.levels[0], Fraction) else "a text"
    return "a number" if isinstance(value, Num) else "a date" if isinstance(value, Day) else "true or false"


def mapped(value: FewValued, function: Callable[[Level], Level]) -> FewValued:
    """A choice with another value in the place of each."""
    return FewValued(value.code, tuple(function(level) for level in value.levels), value.present)


def numbered(value: Value) -> Num | None:
    """A value as a number; None if it is none."""
    if isinstance(value, Num):
        return value
    if isinstance(value, Const) and isinstance(value.value, Fraction):
        return Num(Constant(1), value.value) if value.value else Num(Constant(0))
    if isinstance(value, FewValued):
        numbers = [level for level in value.levels if isinstance(level, Fraction)]
        if len(numbers) < len(value.levels):
            return None
        whole = math.lcm(*(number.denominator for number in numbers))
        if max(abs(number * whole) for number in numbers) > 2**36:
            raise QueryError("the numbers of this CASE have too many digits: write them with fewer")
        table = tuple((int(number * whole),) for number in numbers)
        return Num(Lookup(value.code, table), Fraction(1, whole), value.present)
    return None


def few(value: Value, schema: Schema) -> FewValued | None:
    """A value as one of few; None if it has no short list of values."""
    if isinstance(value, FewValued):
        return value
    if isinstance(value, Truth):
        return None
    if isinstance(value, Day):
        if value.kind.high >= MOST_LEVELS:
            return None
        days = range(int(value.kind.high) + 1)
        return FewValued(value.column, tuple(value.kind.date(day) for day in days), value.present)
    if isinstance(value, Num):
        facts = scope_of(schema).number(value.node)
        if facts.width == 1 and facts.bits == 0 and int(facts.high[0]) - int(facts.low[0]) < MOST_LEVELS:
            steps = range(int(facts.low[0]), int(facts.high[0]) + 1)
            return FewValued(value.node, tuple(value.scale * step for step in steps), value.present)
    return None


def matching(choice: FewValued, test: Callable[[Level], bool]) -> Truth:
    """Whether the value of a choice is among those that pass a test on public values."""
    passed = [test(level) for level in choice.levels]
    if sum(passed) == 1 and isinstance(choice.code, Column) and isinstance(choice.levels[0], str):
        node: Node = Compare("==", choice.code, Constant(str(choice.levels[passed.index(True)])))
    else:
        node = Lookup(choice.code, tuple((int(each),) for each in passed))
    return truth(node, choice.present)


def common(*numbers: Num) -> tuple[Fraction, list[Node]]:
    """A fraction, and expressions that times the fraction are these numbers."""
    whole = math.lcm(*(number.scale.denominator for number in numbers))
    unit = math.gcd(*(int(number.scale * whole) for number in numbers))
    scale = Fraction(unit, whole)
    return scale, [times(number.node, number.scale / scale) for number in numbers]


def times(node: Node, factor: Fraction) -> Node:
    """An expression times a whole number."""
    whole = int(factor)
    if isinstance(node, Constant) and not isinstance(node.constant, str):
        return Constant(node.constant * whole)
    return node if whole == 1 else whole * node
