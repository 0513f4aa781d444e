"""What SQL computes of numbers, of one row."""

from __future__ import annotations

import math
import operator
from fractions import Fraction
from functools import partial

from sulq.errors import QueryError
from sulq.queries.cases import Clip, Where
from sulq.queries.codes import Bins
from sulq.queries.node import Node
from sulq.queries.scope import scope_of
from sulq.schema import Schema
from sulq.statements.values import Const, FewValued, Num, Value, both, common, few, mapped, numbered, words

MOST_STEPS = 1024


def needed(value: Value, what: str) -> Num:
    """A value as a number, or a refusal."""
    if isinstance(value, Const) and value.value is None:
        raise QueryError(f"{what} of NULL is NULL for every row: leave it out")
    number = numbered(value)
    if number is None:
        raise QueryError(f"{what} takes numbers, not {words(value)}")
    return number


def added(left: Value, right: Value, what: str = "+") -> Value:
    """The sum of two numbers."""
    a, b = needed(left, what), needed(right, what)
    for one, other in ((left, right), (right, left)):
        if isinstance(other, Const) and isinstance(other.value, Fraction):
            plus = other.value
            if isinstance(one, Const) and isinstance(one.value, Fraction):
                return Const(one.value + plus)
            if isinstance(one, FewValued):
                return mapped(one, partial(operator.add, plus))
            if plus == 0:
                return one
    scale, [first, second] = common(a, b)
    return Num(first + second, scale, both(a.present, b.present))


def scaled(value: Value, factor: Fraction, what: str = "*") -> Value:
    """A number times a public one."""
    if isinstance(value, Const) and isinstance(value.value, Fraction):
        return Const(value.value * factor)
    if factor == 0:
        raise QueryError(f"{what} by 0 is 0 for every row: leave it out")
    number = needed(value, what)
    if isinstance(value, FewValued):
        return mapped(value, partial(operator.mul, factor))
    return Num(number.node, number.scale * factor, number.present)


def multiplied(left: Value, right: Value) -> Value:
    """The product of two numbers."""
    for one, other in ((left, right), (right, left)):
        if isinstance(other, Const) and isinstance(other.value, Fraction):
            return scaled(one, other.value)
    a, b = needed(left, "*"), needed(right, "*")
    return Num(a.node * b.node, a.scale * b.scale, both(a.present, b.present))


def divided(left: Value, right: Value) -> Value:
    """A number divided by a public one."""
    needed(left, "/")
    if not isinstance(right, Const) or not isinstance(right.value, Fraction):
        raise QueryError(
            "a quotient of two columns has no bounds: divide by a constant, or divide totals, as in "
            "sum(a) / sum(b)"
        )
    if right.value == 0:
        raise QueryError("division by 0 is NULL for every row: leave it out")
    return scaled(left, 1 / right.value, "/")


def floored(value: Value, schema: Schema) -> Value:
    """The largest whole number that is not above a number."""
    if isinstance(value, Const) and isinstance(value.value, Fraction):
        return Const(Fraction(math.floor(value.value)))
    if isinstance(value, FewValued):
        needed(value, "floor")
        return mapped(value, lambda level: Fraction(math.floor(level)))  # type: ignore[arg-type]
    number = needed(value, "floor")
    node, scale = (number.node, number.scale) if number.scale > 0 else (-number.node, -number.scale)
    low, high = bounds(node, schema)
    first, last = math.floor(low * scale), max(math.floor(high * scale), math.floor(low * scale) + 1)
    if last - first > MOST_STEPS:
        raise QueryError(
            f"floor has {last - first + 1:,} possible values here: divide first, as in floor(x / 10) * 10"
        )
    edges = tuple(float(step / scale) for step in range(first + 1, last + 1))
    return FewValued(
        Bins(node, edges), tuple(Fraction(step) for step in range(first, last + 1)), number.present
    )


def whole_quotient(left: Value, right: Value, schema: Schema) -> Value:
    """The whole part of a quotient of whole numbers that are not negative."""
    return floored(divided(_natural(left, right, "//", schema), right), schema)


def remainder(left: Value, right: Value, schema: Schema) -> Value:
    """What is left over by a division of whole numbers that are not negative."""
    choice = few(_natural(left, right, "%", schema), schema)
    if choice is None:
        raise QueryError("% takes numbers of at most 65,536 possible values")
    divisor = right.value  # type: ignore[union-attr]
    return mapped(choice, lambda level: Fraction(level % divisor))  # type: ignore[operator]


def _natural(left: Value, right: Value, what: str, schema: Schema) -> Value:
    whole = isinstance(right, Const) and isinstance(right.value, Fraction) and right.value.denominator == 1
    number = needed(left, what)
    facts, scale = scope_of(schema).number(number.node), number.scale
    if not whole or right.value <= 0 or facts.bits > 0 or scale.denominator > 1:  # type: ignore[union-attr,operator]
        raise QueryError(f"{what} takes a whole number and a positive constant: write floor(x / 10) instead")
    if min(int(facts.low[0]) * scale, int(facts.high[0]) * scale) < 0:
        raise QueryError(f"{what} takes numbers from 0, as SQL rounds others up: write floor(x / 10) instead")
    return left


def absolute(value: Value, schema: Schema) -> Value:
    """A number without its sign."""
    if isinstance(value, Const):
        return value if value.value is None else Const(abs(needed(value, "abs").scale))
    number = needed(value, "abs")
    if (choice := few(value, schema)) is not None and isinstance(value, FewValued):
        return mapped(choice, lambda level: abs(level))  # type: ignore[arg-type]
    node = Where(number.node < 0, -number.node, number.node)
    low, high = bounds(number.node, schema)
    return Num(Clip(node, 0, float(max(-low, high))), abs(number.scale), number.present)


def clamped(value: Value, bound: Fraction, most: bool, schema: Schema) -> Value:
    """A number that is brought to a public bound where it is beyond it: `least` or `greatest`.

    Args:
        value: the number.
        bound: the public bound.
        most: whether the bound is the most there can be.
        schema: what is public about the columns.
    """
    number = needed(value, "least" if most else "greatest")
    low, high = bounds(number.node, schema)
    limit = bound / number.scale
    low, high = (low, min(high, limit)) if most == (number.scale > 0) else (max(low, limit), high)
    if low > high:
        raise QueryError(f"every row is beyond {float(bound):g}: it would be the same for every row")
    return Num(Clip(number.node, float(low), float(high)), number.scale, number.present)


def bounds(node: Node, schema: Schema) -> tuple[Fraction, Fraction]:
    """Between which bounds a number is, as the schema says."""
    facts = scope_of(schema).number(node)
    return int(facts.low[0]) * facts.unit, int(facts.high[0]) * facts.unit
