"""Row expressions: what a query may compute of one row.

An expression is a small tree. Each node says what is known of its value before any row is read (`facts`),
computes its value on a block of encoded rows (`value`) and the sum of it (`sums`), and has a canonical form
as data (`form`), so that equal questions are recognised, stored and sent. Nothing about a bound is ever
taken on trust: it follows from the schema.

This module is long because expressions make each other: the + of a node makes an `Add`, which is a node.
"""

from __future__ import annotations

import datetime
import math
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cache, cached_property, reduce
from typing import Any, ClassVar

import numpy as np

from sulq.dates import PARTS, WEEKDAYS, Date
from sulq.errors import QueryError, SchemaError
from sulq.loops.plain import Step, stepped
from sulq.queries.facts import (
    LIMIT_BITS,
    Code,
    Number,
    common_bits,
    factors,
    flag,
    number,
    square_of_sum,
    widened,
)
from sulq.queries.scope import Batch, Floats, Scope, Values, once
from sulq.schema import Boolean, Category, Integer, Real, text
from sulq.wire import canonical, digest, shown

MOST_DEPTH = 120
"""Python's stack, at five calls a level, has room for more in any program that is not deep itself."""
ISIN_CHAIN = 32
REAL_BITS = 30
INTEGER_BITS = 36


class Node(ABC):
    """The base of all row expressions. It says what Python's operators mean on them.

    However an expression comes about (written, replaced, read back, unpickled), it is made by its
    constructor, and the constructor refuses what makes no sense.

    >>> import sulq
    >>> people = sulq.open({"age": [10, 50, 90]}, {"age": sulq.Integer(0, 120)})
    >>> grown = (sulq.col("age") >= 18) & ~(sulq.col("age") >= 65)
    >>> people.values(grown).tolist()
    [False, True, False]
    >>> people.values(2 * sulq.col("age") - 1).tolist()
    [19.0, 99.0, 179.0]
    """

    wire: ClassVar[str]
    """What a form calls this kind of expression. It never changes, whatever the class is called."""
    depth = 1
    """How many expressions lie inside each other, this one included."""

    def __post_init__(self) -> None:
        deepest = 0
        for name, several in operands_of(type(self)):
            value = getattr(self, name)
            operands = value if several else (value,)
            if not isinstance(operands, tuple) or not all(isinstance(item, Node) for item in operands):
                wanted = "a tuple of row expressions" if several else "a row expression"
                raise QueryError(f"{self.described()} takes {wanted} as {name}, not {shown(value)}")
            deepest = max([deepest, *(item.depth for item in operands)])
        if deepest >= MOST_DEPTH:
            raise QueryError(f"row expressions can lie at most {MOST_DEPTH} deep inside each other")
        object.__setattr__(self, "depth", deepest + 1)

    def __reduce__(self) -> tuple[Callable[..., Node], tuple[Any, ...]]:
        # Cached facts stay behind: with a key that does not fit, an expression would borrow another's bounds.
        values = [getattr(self, field.name) for field in fields(self) if field.init]  # type: ignore[arg-type]
        return type(self), tuple(values)

    @abstractmethod
    def facts(self, scope: Scope) -> Number | Code:
        """What is known of the value from the schema alone; raises QueryError if it makes no sense."""

    @abstractmethod
    def value(self, batch: Batch) -> Values:
        """The value on every row of a block: integers on the grid, shape (width, rows); codes: (rows,)."""

    def sums(self, batch: Batch, steps: Sequence[Step] = (), weight: Floats | None = None) -> Floats:
        """The sum over the block, exact: see `facts` for why.

        Args:
            batch: the block of rows.
            steps: what every row's value goes through first.
            weight: a number for each row, which its value is then multiplied by.
        """
        values = stepped(batch.number(self), steps)
        return np.asarray(values.sum(axis=1) if weight is None else values @ weight)

    def coordinates(self, batch: Batch, on: int) -> Sequence[Values]:
        """A number's coordinates on a grid, one by one; not copied where they are columns as encoded."""
        return list(batch.number(self, on))

    def breadth(self, scope: Scope) -> int:
        """The most numbers a row that summing this builds on its way."""
        return self.densest(scope)

    @once
    def densest(self, scope: Scope) -> int:
        """The widest value among this expression and all it is made of."""
        facts = scope.facts(self)
        width = facts.width if isinstance(facts, Number) else 1
        return max([width, *(child.densest(scope) for child in _children(self))])

    def described(self) -> str:
        """What to call it in a message."""
        return f"this {self.wire}"

    @cached_property
    def form(self) -> dict[str, Any]:
        """The expression as plain data; `sulq.queries.reading.parse` reads it back."""
        operands = {field.name: _plain(getattr(self, field.name)) for field in fields(self)}  # type: ignore[arg-type]
        return {"node": self.wire} | operands

    @cached_property
    def key(self) -> str:
        """Names the expression: equal for equal forms, on every machine."""
        return digest(canonical(self.form))

    def leaves(self) -> dict[str, Leaf]:
        """The encoded columns the expression looks at, by key."""
        return {key: leaf for child in _children(self) for key, leaf in child.leaves().items()}

    def given(self, **values: Operand) -> Node:
        """The expression with columns replaced: `φ.given(label=-col("label"))`."""
        return self.substituted({name: node(value) for name, value in values.items()})

    def substituted(self, replacements: Mapping[str, Node]) -> Node:
        """The expression with the columns of these names replaced."""

        def new(value: Any) -> Any:
            if isinstance(value, Node):
                return value.substituted(replacements)
            return tuple(map(new, value)) if isinstance(value, tuple) else value

        return type(self)(**{f.name: new(getattr(self, f.name)) for f in fields(self)})  # type: ignore[arg-type]

    def isin(self, *values: str | int) -> Node:
        """Whether a category is one of these values."""
        if not values:
            raise QueryError("isin needs at least one value")
        each: list[Node] = [Compare("==", self, node(value)) for value in values]
        while len(each) > 1:
            each = [reduce(Or, each[i : i + ISIN_CHAIN]) for i in range(0, len(each), ISIN_CHAIN)]
        return each[0]

    def __add__(self, other: Operand) -> Node:
        return Add(self, node(other))

    def __radd__(self, other: Operand) -> Node:
        return Add(node(other), self)

    def __sub__(self, other: Operand) -> Node:
        return Add(self, -node(other))

    def __rsub__(self, other: Operand) -> Node:
        return Add(node(other), -self)

    def __mul__(self, other: Operand) -> Node:
        return Multiply(self, node(other))

    def __rmul__(self, other: Operand) -> Node:
        return Multiply(node(other), self)

    def __neg__(self) -> Node:
        return Multiply(Constant(-1), self)

    def __and__(self, other: Operand) -> Node:
        return And(self, node(other))

    def __or__(self, other: Operand) -> Node:
        return Or(self, node(other))

    def __invert__(self) -> Node:
        return Not(self)

    def __lt__(self, other: Operand) -> Node:
        return Compare("<", self, node(other))

    def __le__(self, other: Operand) -> Node:
        return Compare("<=", self, node(other))

    def __gt__(self, other: Operand) -> Node:
        return Compare(">", self, node(other))

    def __ge__(self, other: Operand) -> Node:
        return Compare(">=", self, node(other))

    def __eq__(self, other: Operand) -> Node:  # type: ignore[override]
        return Compare("==", self, node(other))

    def __ne__(self, other: Operand) -> Node:  # type: ignore[override]
        return Compare("!=", self, node(other))

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise QueryError("a row expression has no truth value of its own: use & | ~ instead of and, or, not")


Operand = Node | int | float | str


@dataclass(frozen=True, eq=False)
class Leaf(Node):
    """What a source keeps an encoded array of: a column as it is, or on another scale."""

    name: str

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise QueryError(f"a column's name or a row expression is needed here, not {shown(self.name)}")

    def value(self, batch: Batch) -> Values:
        return batch.columns[self.key]

    def leaves(self) -> dict[str, Leaf]:
        return {self.key: self}

    def described(self) -> str:
        return f"column {self.name!r}"


@dataclass(frozen=True, eq=False)
class Column(Leaf):
    """The value of a column."""

    wire = "column"

    def facts(self, scope: Scope) -> Number | Code:
        kind = scope.schema[self.name]
        if isinstance(kind, Category):
            return Code(len(kind.levels), kind.levels)
        if isinstance(kind, Boolean):
            return flag()
        bits, low, high = column_grid(kind)
        return number(bits, np.array([low]), np.array([high]), rounded=isinstance(kind, Real) or bits < 0)

    def substituted(self, replacements: Mapping[str, Node]) -> Node:
        return replacements.get(self.name, self)

    def year(self) -> Node:
        """The year of a date, a number."""
        return DatePart(self, "year")

    def month(self) -> Node:
        """The month of a date, a number from 1 to 12."""
        return DatePart(self, "month")

    def weekday(self) -> Node:
        """The day of the week of a date, one of "Monday" to "Sunday"."""
        return DatePart(self, "weekday")

    def years_at(self, day: str | datetime.date) -> Node:
        """The whole years from a date to a public day, as ages are counted; negative if the date is later.

        >>> col("born").years_at("2024-01-01") >= 18
        Compare(relation='>=', left=YearsAt(inner=Column(name='born'), day='2024-01-01'), ...
        """
        return YearsAt(self, str(day))


@dataclass(frozen=True, eq=False)
class Known(Leaf):
    """Whether a row has a number or a date in a column, before a public constant takes the place of none."""

    wire = "known"

    def facts(self, scope: Scope) -> Number:
        kind = scope.schema[self.name]
        if not isinstance(kind, Real | Integer) or not kind.drop_missing:
            raise QueryError(
                f"column {self.name!r} does not keep which cells are missing: numbers and dates do that are "
                'declared with missing = "drop" (in Python, drop_missing=True)'
            )
        return flag()

    def described(self) -> str:
        return f"whether column {self.name!r} is known"


def column_grid(kind: Real | Integer) -> tuple[int, int, int]:
    """The grid a column is encoded on, and its bounds there: 30 bits for a real, 36 for an integer.

    An integer of up to 36 bits is held exactly.
    """
    largest = max(abs(kind.low), abs(kind.high))
    if isinstance(kind, Integer):
        bits = min(0, INTEGER_BITS - int(largest).bit_length())
    else:
        bits = REAL_BITS - math.frexp(largest)[1]
    low, high = (truncated(Fraction(bound), bits) for bound in (kind.low, kind.high))
    return bits, low, high


def truncated(value: Fraction, bits: int) -> int:
    """A number in steps of 2^-bits, towards zero."""
    return math.trunc(value * Fraction(2) ** bits)


def date_kind(inner: Node, scope: Scope) -> Date:
    """What is public about a column of dates, or a refusal."""
    kind = scope.schema[inner.name] if isinstance(inner, Column) else None
    if not isinstance(kind, Date):
        raise QueryError(f"{inner.described()} is not a column of dates")
    return kind


@dataclass(frozen=True, eq=False)
class DatePart(Node):
    """The year, the month or the weekday of a column of dates."""

    wire = "date part"

    inner: Node
    part: str

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.part not in PARTS:
            raise QueryError(f"a date has no {shown(self.part)}; it has {', '.join(PARTS)}")

    def facts(self, scope: Scope) -> Number | Code:
        kind = date_kind(self.inner, scope)
        if self.part == "weekday":
            return Code(len(WEEKDAYS), WEEKDAYS)
        low, high = (kind.first.year, kind.last.year) if self.part == "year" else (1, 12)
        return number(0, np.array([low]), np.array([high]), rounded=False)

    def value(self, batch: Batch) -> Values:
        days = batch.number(self.inner)[0].astype(np.int64)
        return np.asarray(self._calendar(batch.scope)[days])

    @once
    def _calendar(self, scope: Scope) -> Values:
        return date_kind(self.inner, scope).calendar(self.part)

    def described(self) -> str:
        return f"the {self.part} of {self.inner.described() if isinstance(self.inner, Node) else 'a date'}"


@dataclass(frozen=True, eq=False)
class YearsAt(Node):
    """The whole years from a column of dates to a public day."""

    wire = "years at"

    inner: Node
    day: str

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            object.__setattr__(self, "day", datetime.date.fromisoformat(self.day).isoformat())
        except (TypeError, ValueError):
            raise QueryError(f"{shown(self.day)} is not a day: write it as 2024-01-31") from None

    def facts(self, scope: Scope) -> Number:
        years = self._years(scope)
        return number(0, years[-1:], years[:1], rounded=False)

    def value(self, batch: Batch) -> Values:
        return np.asarray(self._years(batch.scope)[batch.number(self.inner)[0].astype(np.int64)])

    @once
    def _years(self, scope: Scope) -> Values:
        return date_kind(self.inner, scope).years(self.day)


@dataclass(frozen=True, eq=False)
class Constant(Node):
    """A public number, or a category's value to compare with. 1, 1.0 and True are one constant."""

    wire = "constant"

    constant: float | str

    def __post_init__(self) -> None:
        value = self.constant
        if isinstance(value, np.generic):
            value = value.item()
        if not isinstance(value, int | float | str):
            raise QueryError(f"{shown(value)} cannot be part of a row expression")
        if not isinstance(value, str):
            if not abs(value) <= 1e200:  # neither what is not a number, nor what no float can hold
                raise QueryError(f"the constant {shown(value)} must be finite and at most 1e200 in size")
            value = int(value) if float(value).is_integer() else float(value) if abs(value) > 1e-200 else 0
        object.__setattr__(self, "constant", value)

    def grid(self) -> tuple[int, int, bool]:
        """Its grid, its value there, and whether anything was truncated."""
        exact = Fraction(self._number())
        if exact == 0:
            return 0, 0, False
        twos = exact.denominator.bit_length() - 1
        room = LIMIT_BITS - math.frexp(float(exact))[1]
        bits = min(twos, room)
        return bits, truncated(exact, bits), bits < twos

    def facts(self, scope: Scope) -> Number | Code:
        bits, value, rounded = self.grid()
        return number(bits, np.array([value]), np.array([value]), rounded=rounded)

    def value(self, batch: Batch) -> Values:
        return np.broadcast_to(np.float64(self.grid()[1]), (1, batch.rows))

    def densest(self, scope: Scope) -> int:
        return 1

    def _number(self) -> float:
        if isinstance(self.constant, str):
            raise QueryError(f"the text {self.constant!r} can only be compared with a category by == or !=")
        return self.constant


@dataclass(frozen=True, eq=False)
class Add(Node):
    """The sum of two values, coordinate by coordinate."""

    wire = "add"

    left: Node
    right: Node

    def facts(self, scope: Scope) -> Number:
        left, right = scope.number(self.left), scope.number(self.right)
        width = max(left.width, right.width)
        bits = common_bits(left, right)
        a, b = (widened(side.on(bits), width) for side in (left, right))
        return number(
            bits,
            a.low + b.low,
            a.high + b.high,
            norm1=a.norm1 + b.norm1,
            square=square_of_sum(a.square, b.square),
            spread1=a.spread1 + b.spread1,
            spread_square=square_of_sum(a.spread_square, b.spread_square),
            rounded=a.rounded or b.rounded,
        )

    def value(self, batch: Batch) -> Values:
        bits = batch.scope.number(self).bits
        return batch.number(self.left, bits) + batch.number(self.right, bits)


@dataclass(frozen=True, eq=False)
class Multiply(Node):
    """The product of two values, coordinate by coordinate."""

    wire = "multiply"

    left: Node
    right: Node

    def facts(self, scope: Scope) -> Number:
        left, right = self._factors(scope)
        width = max(left.width, right.width)
        a, b = widened(left, width), widened(right, width)
        corners = np.stack([a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high])
        low, high = corners.min(axis=0), corners.max(axis=0)
        if self.left.key == self.right.key:
            low = np.where((a.low < 0) & (a.high > 0), 0, low).clip(min=0)
        return number(
            a.bits + b.bits,
            low,
            high,
            norm1=min(a.magnitude * b.norm1, b.magnitude * a.norm1),
            square=min(a.magnitude**2 * b.square, b.magnitude**2 * a.square),
            rounded=a.rounded or b.rounded,
        )

    def value(self, batch: Batch) -> Values:
        left, right = self._factors(batch.scope)
        return batch.number(self.left, left.bits) * batch.number(self.right, right.bits)

    @once
    def _factors(self, scope: Scope) -> tuple[Number, Number]:
        return factors(scope.number(self.left), scope.number(self.right))


def _day(kind: Date, text: str) -> int:
    try:
        return kind.day(text)
    except SchemaError as error:
        raise QueryError(str(error)) from None


COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


@dataclass(frozen=True, eq=False)
class Compare(Node):
    """A comparison of two numbers, or of a category with one of its values.

    Numbers are compared on the coarser of the grids on which they were truncated, so that the value 0.1 in
    a column equals the constant 0.1.
    """

    wire = "compare"

    relation: str
    left: Node
    right: Node

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.relation, str) or self.relation not in COMPARISONS:
            raise QueryError(f"unknown comparison {shown(self.relation)}; there are {' '.join(COMPARISONS)}")

    def facts(self, scope: Scope) -> Number:
        if self._category(scope) is None:
            self._bits(scope)
        return flag()

    def value(self, batch: Batch) -> Values:
        compare = COMPARISONS[self.relation]
        level = self._category(batch.scope)
        if level is not None:
            side, position = level
            return np.asarray(compare(batch.code(side), position))
        bits = self._bits(batch.scope)
        left, right = self._sides(batch.scope)
        return np.asarray(compare(batch.number(left, bits), batch.number(right, bits)))

    @once
    def _sides(self, scope: Scope) -> tuple[Node, Node]:
        """What is compared: of dates, the numbers of their days."""
        sides = self.left, self.right
        for side, other in (sides, sides[::-1]):
            kind = scope.schema[side.name] if isinstance(side, Column) else None
            if isinstance(kind, Date) and isinstance(other, Constant) and isinstance(other.constant, str):
                day = Constant(_day(kind, other.constant))
                return (side, day) if side is self.left else (day, side)
        return sides

    @once
    def _bits(self, scope: Scope) -> int:
        left, right = (scope.number(side) for side in self._sides(scope))
        if left.width != 1 or right.width != 1:
            raise QueryError("only single numbers can be compared, not vectors")
        truncated_on = min(
            (side.bits for side in (left, right) if side.rounded), default=max(left.bits, right.bits)
        )
        return min(truncated_on, common_bits(left, right, room=52))

    @once
    def _category(self, scope: Scope) -> tuple[Node, int] | None:
        """The category's side and the position of the value it is compared with, if it is one."""
        for side, other in ((self.left, self.right), (self.right, self.left)):
            if not isinstance(side, Constant) and isinstance(scope.facts(side), Code):
                levels = scope.code(side).levels or ()
                if self.relation not in ("==", "!=") or not isinstance(other, Constant):
                    raise QueryError(
                        f"{side.described()} is a category: compare it with one of its values by == or !="
                    )
                if (value := text(other.constant)) not in levels:
                    raise QueryError(f"{side.described()} has no value {value!r}; it has {', '.join(levels)}")
                return side, levels.index(value)
        return None


@dataclass(frozen=True, eq=False)
class And(Node):
    """Whether two conditions both hold."""

    wire = "and"

    left: Node
    right: Node

    def facts(self, scope: Scope) -> Number:
        scope.condition(self.left)
        scope.condition(self.right)
        return flag()

    def value(self, batch: Batch) -> Values:
        return batch.condition(self.left) & batch.condition(self.right)


@dataclass(frozen=True, eq=False)
class Or(Node):
    """Whether at least one of two conditions holds."""

    wire = "or"

    left: Node
    right: Node

    facts = And.facts

    def value(self, batch: Batch) -> Values:
        return batch.condition(self.left) | batch.condition(self.right)


@dataclass(frozen=True, eq=False)
class Not(Node):
    """Whether a condition does not hold."""

    wire = "not"

    inner: Node

    def facts(self, scope: Scope) -> Number:
        scope.condition(self.inner)
        return flag()

    def value(self, batch: Batch) -> Values:
        return ~batch.condition(self.inner)


def node(value: Operand) -> Node:
    """An expression from an expression or a constant."""
    return value if isinstance(value, Node) else Constant(value)


def col(name: str) -> Column:
    """The value of a column, to make expressions of.

    Args:
        name: the column's name in the schema.

    >>> (col("age") >= 65).form["relation"]
    '>='
    """
    return Column(name)


def known(name: str) -> Known:
    """Whether a row has a number or a date in a column, instead of a missing cell or one that is none.

    Rows without one are left out by `where`: of a mean, both the total and the count are then of the others.

    Args:
        name: a column that is declared with `drop_missing=True` (in TOML: `missing = "drop"`).

    >>> import sulq
    >>> bills = sulq.open({"cost": [100, None, 300]}, {"cost": sulq.Real(0, 1000, drop_missing=True)})
    >>> asked = [sulq.mean("cost"), sulq.mean("cost", where=known("cost"))]
    >>> [answer.value for answer in bills.exact().ask(sulq.Round(asked))]
    [300.0, 200.0]
    """
    return Known(name)


def named(value: str | Node) -> Node:
    """A column by its name, or an expression as it is.

    No constants: who writes `count("sex" == "m")` has asked Python, which says False.

    >>> named("age").key == col("age").key
    True
    """
    return value if isinstance(value, Node) else col(value)


def measured(value: Operand) -> Node:
    """A number by the name of its column, as an expression, or a constant."""
    return col(value) if isinstance(value, str) else node(value)


@cache
def operands_of(cls: type[Node]) -> list[tuple[str, bool]]:
    """The fields of a class that hold expressions, and whether they hold several."""
    kinds = {"Node": False, "tuple[Node, ...]": True}
    return [(field.name, kinds[str(field.type)]) for field in fields(cls) if field.type in kinds]  # type: ignore[arg-type]


def _children(expression: Node) -> list[Node]:
    children: list[Node] = []
    for field in fields(expression):  # type: ignore[arg-type]
        value = getattr(expression, field.name)
        children.extend(
            item for item in (value if isinstance(value, tuple) else (value,)) if isinstance(item, Node)
        )
    return children


def _plain(value: Any) -> Any:
    if isinstance(value, Node):
        return value.form
    return [_plain(item) for item in value] if isinstance(value, tuple) else value
