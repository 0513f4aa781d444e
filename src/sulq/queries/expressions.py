"""Columns and constants, which all other row expressions are made of."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np

from sulq.errors import QueryError
from sulq.queries.facts import (
    LIMIT_BITS,
    Code,
    Number,
    flag,
    number,
)
from sulq.queries.node import Leaf, Node, Operand, made, operand
from sulq.queries.scope import Batch, Scope, Values
from sulq.renamed import moved
from sulq.schema import Boolean, Category, Integer, Real, drops
from sulq.wire import shown

REAL_BITS = 30
INTEGER_BITS = 36


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
        return made("date part", self, "year")

    def month(self) -> Node:
        """The month of a date, a number from 1 to 12."""
        return made("date part", self, "month")

    def weekday(self) -> Node:
        """The day of the week of a date, one of "Monday" to "Sunday"."""
        return made("date part", self, "weekday")

    def years_at(self, day: str | datetime.date) -> Node:
        """The whole years from a date to a public day, as ages are counted; negative if the date is later.

        >>> col("born").years_at("2024-01-01") >= 18
        Compare(relation='>=', left=YearsAt(inner=Column(name='born'), day='2024-01-01'), ...
        """
        return made("years at", self, str(day))


@dataclass(frozen=True, eq=False)
class Known(Leaf):
    """Whether a row has a number or a date in a column, before a public constant takes the place of none."""

    wire = "known"

    def facts(self, scope: Scope) -> Number:
        if not drops(scope.schema[self.name]):
            raise QueryError(
                f"column {self.name!r} does not keep which cells are missing: numbers, dates and booleans do "
                'that are declared with missing = "drop" (in Python, drop_missing=True)'
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


def public_value(value: object) -> float | str:
    """A public number or text as constants hold it: whole numbers as int, and nothing that is not finite.

    >>> public_value(np.float64(2.0)), public_value(True), public_value(0.5), public_value("a")
    (2, 1, 0.5, 'a')
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        return value
    if not isinstance(value, int | float):
        raise QueryError(f"{shown(value)} cannot be part of a row expression")
    if not abs(value) <= 1e200:  # neither what is not a number, nor what no float can hold
        raise QueryError(f"the constant {shown(value)} must be finite and at most 1e200 in size")
    return int(value) if float(value).is_integer() else float(value) if abs(value) > 1e-200 else 0


@dataclass(frozen=True, eq=False)
class Constant(Node):
    """A public number, or a category's value to compare with. 1, 1.0 and True are one constant."""

    wire = "constant"

    constant: float | str

    def __post_init__(self) -> None:
        object.__setattr__(self, "constant", public_value(self.constant))

    @cached_property
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
        bits, value, rounded = self.grid
        return number(bits, np.array([value]), np.array([value]), rounded=rounded)

    def value(self, batch: Batch) -> Values:
        return np.broadcast_to(np.float64(self.grid[1]), (1, batch.rows))

    def densest(self, scope: Scope) -> int:
        return 1

    def _number(self) -> float:
        if isinstance(self.constant, str):
            raise QueryError(f"the text {self.constant!r} can only be compared with a category by == or !=")
        return self.constant


def col(name: str) -> Column:
    """The value of a column, to make expressions of.

    Args:
        name: the column's name in the schema.

    >>> (col("age") >= 65).form["relation"]
    '>='
    """
    return _column(name) if isinstance(name, str) else Column(name)


@lru_cache(maxsize=1024, typed=True)
def _column(name: str) -> Column:
    """A column that many ask for: what follows from its name is worked out once."""
    return Column(name)


def known(name: str) -> Known:
    """Whether a row has a number, a date or a truth value in a column, instead of a cell that is none.

    Totals and means of such a column leave the other rows out by themselves. `known` says so of conditions
    and groups, which read the column's public constant: `count(where=known("cost") & (col("cost") > 100))`.

    Args:
        name: a column that is declared with `drop_missing=True` (in TOML: `missing = "drop"`).

    >>> import sulq
    >>> bills = sulq.open({"cost": [100, None, 300]}, {"cost": sulq.Real(0, 1000, drop_missing=True)})
    >>> asked = [sulq.mean("cost"), sulq.count(where=known("cost")), sulq.count(where=~known("cost"))]
    >>> [answer.value for answer in bills.exact().ask(sulq.Round(asked))]
    [200.0, 2.0, 1.0]
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
    return col(value) if isinstance(value, str) else operand(value)


__getattr__ = moved(
    "sulq.queries.expressions",
    {name: f"sulq.queries.arithmetic.{name}" for name in ("Add", "And", "Compare", "Multiply", "Not", "Or")}
    | {name: f"sulq.queries.node.{name}" for name in ("Leaf", "Node")}
    | {"node": "sulq.queries.node.operand"},
)
