"""How SQL compares values of one row, and joins conditions: by the three-valued logic of NULL."""

from __future__ import annotations

import datetime
import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import reduce

from sulq.errors import QueryError
from sulq.queries.arithmetic import Compare, Not
from sulq.queries.expressions import Constant
from sulq.queries.node import Node
from sulq.queries.scope import scope_of
from sulq.schema import Schema
from sulq.statements.arithmetic import needed
from sulq.statements.values import (
    Const,
    Day,
    FewValued,
    Level,
    Num,
    Truth,
    Value,
    both,
    common,
    matching,
    truth,
    words,
)

TESTS: dict[str, Callable[[Level, Level], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


def compared(relation: str, left: Value, right: Value, schema: Schema) -> Value:
    """Whether two values are in a relation: < <= > >= == !=."""
    if any(isinstance(side, Const) and side.value is None for side in (left, right)):
        raise QueryError("a comparison with NULL is never true: write IS NULL, or IS NOT NULL")
    if isinstance(left, Const) and not isinstance(right, Const):
        return compared(TURNED[relation], right, left, schema)
    if isinstance(left, Day) or isinstance(right, Day):
        return _of_days(relation, left, right)
    if isinstance(right, Const):
        return _with_constant(relation, left, right, schema)
    if isinstance(left, Truth) and isinstance(right, Truth):
        left, right = (Num(side.yes, present=side.present) for side in (left, right))
    if words(left) != "a number" or words(right) != "a number":
        raise QueryError(
            f"{words(left)} cannot be compared with {words(right)}: compare columns with constants"
        )
    a, b = needed(left, relation), needed(right, relation)
    _, [first, second] = common(a, b)
    return truth(Compare(relation, first, second), both(a.present, b.present))


def _with_constant(relation: str, left: Value, right: Const, schema: Schema) -> Value:
    value = right.value
    if isinstance(left, Const):
        if type(left.value) is not type(value):
            raise QueryError(f"{words(left)} cannot be compared with {words(right)}")
        return Const(TESTS[relation](left.value, value))  # type: ignore[arg-type]
    if isinstance(left, Truth) and isinstance(value, bool) and relation in ("==", "!="):
        same = value == (relation == "==")
        return left if same else negated(left)
    if isinstance(left, FewValued):
        value = _as_level(left, value, relation)
        return matching(left, lambda level: TESTS[relation](level, value))
    if isinstance(left, Num) and isinstance(value, Fraction):
        relation = relation if left.scale > 0 else TURNED[relation]
        return truth(_limit(relation, left.node, value / left.scale, schema), left.present)
    raise QueryError(f"{words(left)} cannot be compared with {words(right)}")


def _as_level(choice: FewValued, value: object, relation: str) -> Level:
    first = choice.levels[0]
    if isinstance(first, datetime.date) and isinstance(value, str):
        value = day_in(value)
    if isinstance(value, bool) or type(value) is not type(first):
        kind = words(Const(value))  # type: ignore[arg-type]
        raise QueryError(f"{words(choice)} cannot be compared with {kind}")
    if isinstance(value, str) and relation in ("==", "!=") and value not in choice.levels:
        levels = list(dict.fromkeys(map(str, choice.levels)))
        name = getattr(choice.code, "name", None)
        where = f"column {name!r}" if name else "this expression"
        raise QueryError(f"{where} has no value {value!r}; it has {', '.join(levels[:50])}")
    return value


def _limit(relation: str, node: Node, limit: Fraction, schema: Schema) -> Node:
    """A comparison with a public number: exact where the expression is, else on its grid."""
    exact = limit.denominator <= 10**6 and not scope_of(schema).number(node).rounded
    if exact and Fraction(float(limit)) != limit:
        return Compare(relation, limit.denominator * node, Constant(limit.numerator))
    return Compare(relation, node, Constant(float(limit)))


def _of_days(relation: str, left: Value, right: Value) -> Value:
    if not isinstance(left, Day):
        return compared(TURNED[relation], right, left, None)  # type: ignore[arg-type]
    if isinstance(right, Day):
        shift = left.kind.day(right.kind.first)
        return truth(Compare(relation, left.column, right.column + shift), both(left.present, right.present))
    value = right.value if isinstance(right, Const) else None
    if not isinstance(value, str | datetime.date):
        raise QueryError(f"a date cannot be compared with {words(right)}: write DATE '2024-01-31'")
    day = left.kind.day(day_in(value))
    return truth(Compare(relation, left.column, Constant(day)), left.present)


def day_in(value: str | datetime.date) -> datetime.date:
    """A date, or the date that a text writes."""
    if isinstance(value, datetime.date):
        return value
    try:
        return datetime.date.fromisoformat(value)
    except ValueError:
        raise QueryError(f"{value[:40]!r} is not a date: write it as '2024-01-31'") from None


def negated(value: Value) -> Value:
    """NOT."""
    if isinstance(value, Const) and isinstance(value.value, bool):
        return Const(not value.value)
    if isinstance(value, Truth):
        if value.no is not None:
            return Truth(value.no, value.yes, value.either)
        return Truth(value.yes.inner if isinstance(value.yes, Not) else ~value.yes)
    raise QueryError(f"NOT takes a condition, not {words(value)}")


def joined(conditions: Sequence[Value], every: bool) -> Value:
    """Conditions joined by AND, if every one must hold, or by OR."""
    what = "AND" if every else "OR"
    truths: list[Truth] = []
    for each in conditions:
        if isinstance(each, Const) and isinstance(each.value, bool):
            if each.value != every:
                return each
        elif isinstance(each, Truth):
            truths.append(each)
        else:
            raise QueryError(f"{what} takes conditions, not {words(each)}: compare it with something")
    join = _both_hold if every else _one_holds
    while len(truths) > 1:  # in pairs, so that many conditions do not lie deep inside each other
        truths = [reduce(join, truths[start : start + 2]) for start in range(0, len(truths), 2)]
    return truths[0] if truths else Const(every)


def _both_hold(left: Truth, right: Truth) -> Truth:
    no = None
    if left.no is not None or right.no is not None:
        no = (~left.yes if left.no is None else left.no) | (~right.yes if right.no is None else right.no)
    return Truth(left.yes & right.yes, no)


def _one_holds(left: Truth, right: Truth) -> Truth:
    no = None
    if left.no is not None or right.no is not None:
        no = (~left.yes if left.no is None else left.no) & (~right.yes if right.no is None else right.no)
    return Truth(left.yes | right.yes, no)
