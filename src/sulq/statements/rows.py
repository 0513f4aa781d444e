"""Expressions of SQL over one row, read into values."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from sqlglot import exp

from sulq.errors import QueryError
from sulq.queries.expressions import Column, Known
from sulq.schema import OTHER, Boolean, Category, Date, Schema
from sulq.statements import arithmetic, cases, comparisons, days, texts
from sulq.statements.refusals import Tree, refused, written
from sulq.statements.values import Const, Day, FewValued, Num, Truth, Value, few, truth, words

RELATIONS: dict[type[Tree], str] = {
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.EQ: "==",
    exp.NEQ: "!=",
}
NUMBERS = ("DOUBLE", "FLOAT", "DECIMAL")
WHOLE = ("TINYINT", "SMALLINT", "INT", "BIGINT", "INT128")
DATE_FUNCTIONS: dict[type[Tree], str] = {
    exp.Year: "year",
    exp.Month: "month",
    exp.Quarter: "quarter",
    exp.DayOfWeek: "dow",
    exp.DayOfWeekIso: "isodow",
    exp.Dayname: "dayname",
    exp.Monthname: "monthname",
}


@dataclass(frozen=True, eq=False)
class RowReader:
    """Reads expressions over one row.

    Args:
        schema: what is public about the columns.
        tables: what the one table is called in the statement, in lower case.
        certain: the columns of which no row that is looked at misses a cell, as WHERE says.
    """

    schema: Schema
    tables: frozenset[str]
    certain: frozenset[str] = frozenset()

    def read(self, tree: Tree) -> Value:
        """The value of an expression, or a refusal."""
        kind = type(tree)
        if kind in RELATIONS:
            return comparisons.compared(RELATIONS[kind], *self._sides(tree), self.schema)
        if kind in DATE_FUNCTIONS:
            return days.part(DATE_FUNCTIONS[kind], self.read(tree.this), written(tree))
        reader = READERS.get(kind)
        if reader is None and isinstance(tree, exp.AggFunc | exp.Filter | exp.WithinGroup):
            raise QueryError(
                f"{written(tree)}: an aggregate belongs in SELECT, HAVING or ORDER BY, not in here"
            )
        if reader is None:
            raise refused(tree)
        return reader(self, tree)

    def condition(self, tree: Tree, clause: str) -> Truth:
        """A condition that can be true of some rows and false of others."""
        value = self.read(tree)
        if isinstance(value, Const) and isinstance(value.value, bool):
            raise QueryError(f"{clause} {written(tree)} is the same for every row: leave it out")
        if not isinstance(value, Truth):
            raise QueryError(f"{clause} takes a condition, not {words(value)}: compare it with something")
        return value

    def column(self, tree: Tree) -> str:
        """The name of a column, as the schema has it."""
        table, name = tree.args.get("table"), tree.name
        if tree.args.get("db") is not None or (table is not None and table.name.lower() not in self.tables):
            raise QueryError(f"{written(tree)} is of another table: there is one, {', '.join(self.tables)}")
        same = [each for each in self.schema if each.lower() == name.lower()]
        name = name if name in self.schema else same[0] if len(same) == 1 else name
        self.schema.attribute(name)
        return name

    def _column(self, tree: Tree) -> Value:
        name = self.column(tree)
        kind, column = self.schema[name], Column(name)
        if isinstance(kind, Category):
            return FewValued(column, kind.levels)
        present = Known(name) if kind.drop_missing and name not in self.certain else None
        if isinstance(kind, Boolean):
            return truth(column, present)
        return Day(column, kind, present) if isinstance(kind, Date) else Num(column, present=present)

    def _sides(self, tree: Tree) -> tuple[Value, Value]:
        return self.read(tree.this), self.read(tree.expression)

    def _literal(self, tree: Tree) -> Value:
        if tree.args["is_string"]:
            return Const(tree.this)
        if len(tree.this) > 40 or not re.fullmatch(r"\d*\.?\d*([eE][+-]?\d{1,2})?", tree.this):
            raise QueryError(f"{tree.this[:40]} is not a number of at most 40 digits")
        return Const(Fraction(tree.this))

    def _subtract(self, tree: Tree) -> Value:
        left, right = self._sides(tree)
        if isinstance(left, Day) or isinstance(right, Day):
            return days.difference("day", right, left)
        return arithmetic.added(left, arithmetic.scaled(right, Fraction(-1), "-"), "-")

    def _power(self, tree: Tree) -> Value:
        base, exponent = self._sides(tree)
        if not isinstance(exponent, Const) or exponent.value not in (2, 3):
            raise QueryError("a power is the second or the third one, as x ^ 2")
        square = arithmetic.multiplied(base, base)
        return square if exponent.value == 2 else arithmetic.multiplied(square, base)

    def _between(self, tree: Tree) -> Value:
        if tree.args.get("symmetric"):
            raise refused(tree, "BETWEEN SYMMETRIC", "write BETWEEN with the lower bound first")
        value = self.read(tree.this)
        ends = ((">=", tree.args["low"]), ("<=", tree.args["high"]))
        each = [comparisons.compared(relation, value, self.read(end), self.schema) for relation, end in ends]
        return comparisons.joined(each, True)

    def _in(self, tree: Tree) -> Value:
        if not tree.expressions:
            raise refused(tree.args.get("query") or tree)
        value = self.read(tree.this)
        each = [comparisons.compared("==", value, self.read(one), self.schema) for one in tree.expressions]
        return comparisons.joined(each, False)

    def _is(self, tree: Tree) -> Value:
        value, other = replace(self, certain=frozenset()).read(tree.this), tree.expression
        if isinstance(other, exp.Boolean) and isinstance(value, Truth):
            no = ~value.yes if value.no is None else value.no
            return Truth(value.yes if other.this else no)
        if not isinstance(other, exp.Null):
            raise refused(tree)
        if isinstance(value, Const):
            return Const(value.value is None)
        if value.present is None:
            raise QueryError(f"{written(tree.this)} is never NULL here: {self._never_null(tree.this)}")
        return Truth(~value.present)

    def _never_null(self, tree: Tree) -> str:
        name = next((self.column(each) for each in tree.find_all(exp.Column)), None)
        kind = None if name is None else self.schema[name]
        if isinstance(kind, Category) and OTHER in kind.levels:
            return f"what is missing or not listed is the value '{OTHER}', which can be compared with"
        if isinstance(kind, Category | Boolean) or kind is None:
            return "a missing cell becomes one of the values by the rules of the schema"
        return f'column {name!r} keeps no missing cells unless it is declared with missing = "drop"'

    def _case(self, tree: Tree) -> Value:
        given = None if tree.this is None else self.read(tree.this)
        branches = []
        for each in tree.args["ifs"]:
            condition = self.read(each.this)
            if given is not None:
                condition = comparisons.compared("==", given, condition, self.schema)
            branches.append((condition, self.read(each.args["true"])))
        default = tree.args.get("default")
        return cases.case(branches, Const(None) if default is None else self.read(default))

    def _if(self, tree: Tree) -> Value:
        other = tree.args.get("false")
        otherwise = Const(None) if other is None else self.read(other)
        return cases.case([(self.read(tree.this), self.read(tree.args["true"]))], otherwise)

    def _cast(self, tree: Tree) -> Value:
        value, to = self.read(tree.this), tree.args["to"].this.name
        if to == "DATE" and isinstance(value, Day):
            return value
        if to == "DATE" and isinstance(value, Const) and isinstance(value.value, str):
            return Const(comparisons.day_in(value.value))
        number = Num(value.yes, present=value.present) if isinstance(value, Truth) else value
        if isinstance(value, Truth) and to in (*NUMBERS[:2], *WHOLE):
            return number
        if (
            to in NUMBERS
            and not tree.args["to"].expressions
            and words(value) == "a number"
            and to != "DECIMAL"
        ):
            return value
        whole = few(value, self.schema) if isinstance(value, Num | FewValued) else None
        if (
            to in WHOLE
            and whole is not None
            and all(getattr(each, "denominator", 0) == 1 for each in whole.levels)
        ):
            return value
        raise refused(tree, f"a cast to {to}", "compare or compute without it; floor(x) makes whole numbers")

    def _extreme(self, tree: Tree) -> Value:
        most = isinstance(tree, exp.Least)
        values = [self.read(each) for each in (tree.this, *tree.expressions)]
        public = [each.value for each in values if isinstance(each, Const)]
        if len(values) != 2 or len(public) != 1 or not isinstance(public[0], Fraction):
            raise QueryError(f"{written(tree)} takes a number and a constant, as in least(x, 1000)")
        [value] = [each for each in values if not isinstance(each, Const)]
        # SQL passes over NULL here, so the constant stands in its place.
        return cases.coalesced([arithmetic.clamped(value, public[0], most, self.schema), Const(public[0])])

    def _anonymous(self, tree: Tree) -> Value:
        name, given = str(tree.this).lower(), tree.expressions
        if name == "weekday" and len(given) == 1:
            return days.part("dow", self.read(given[0]), written(tree))
        if name in ("date_part", "datepart") and len(given) == 2 and isinstance(given[0], exp.Literal):
            return self._part(given[0].name, given[1], tree)
        if name in ("now", "today", "get_current_timestamp"):
            raise refused(exp.CurrentDate())
        if name in ("date_sub", "datesub"):
            raise refused(tree, name, "write date_part('year', age(DATE '2024-01-31', x)), or date_diff")
        raise refused(tree)

    def _part(self, unit: str, inner: Tree, tree: Tree) -> Value:
        if isinstance(inner, exp.Anonymous) and str(inner.this).lower() == "age":
            if unit.lower() not in ("year", "years") or len(inner.expressions) != 2:
                raise QueryError("of an age there are years: date_part('year', age(DATE '2024-01-31', x))")
            return days.years_at(*(self.read(each) for each in inner.expressions))
        return days.part(unit.lower(), self.read(inner), written(tree))

    def _difference(self, tree: Tree) -> Value:
        unit = tree.args.get("unit")
        return days.difference(
            (unit.name if unit else "").lower(), self.read(tree.expression), self.read(tree.this)
        )

    def _truncated(self, tree: Tree) -> Value:
        return days.truncated(tree.args["unit"].name.lower(), self.read(tree.this))

    def _floor(self, tree: Tree) -> Value:
        if tree.args.get("decimals") is not None:
            raise refused(tree)
        value = self.read(tree.this)
        if isinstance(tree, exp.Floor):
            return arithmetic.floored(value, self.schema)
        turned = arithmetic.floored(arithmetic.scaled(value, Fraction(-1)), self.schema)
        return arithmetic.scaled(turned, Fraction(-1))


Reader = Callable[[RowReader, Any], Value]
READERS: dict[type[Tree], Reader] = {
    exp.Column: RowReader._column,
    exp.Literal: RowReader._literal,
    exp.Boolean: lambda self, tree: Const(bool(tree.this)),
    exp.Null: lambda self, tree: Const(None),
    exp.Paren: lambda self, tree: self.read(tree.this),
    exp.Neg: lambda self, tree: arithmetic.scaled(self.read(tree.this), Fraction(-1), "-"),
    exp.Add: lambda self, tree: arithmetic.added(*self._sides(tree)),
    exp.Sub: RowReader._subtract,
    exp.Mul: lambda self, tree: arithmetic.multiplied(*self._sides(tree)),
    exp.Div: lambda self, tree: arithmetic.divided(*self._sides(tree)),
    exp.IntDiv: lambda self, tree: arithmetic.whole_quotient(*self._sides(tree), self.schema),
    exp.Mod: lambda self, tree: arithmetic.remainder(*self._sides(tree), self.schema),
    exp.Pow: RowReader._power,
    exp.Abs: lambda self, tree: arithmetic.absolute(self.read(tree.this), self.schema),
    exp.Floor: RowReader._floor,
    exp.Ceil: RowReader._floor,
    exp.Least: RowReader._extreme,
    exp.Greatest: RowReader._extreme,
    exp.And: lambda self, tree: comparisons.joined([self.read(each) for each in tree.flatten()], True),
    exp.Or: lambda self, tree: comparisons.joined([self.read(each) for each in tree.flatten()], False),
    exp.Not: lambda self, tree: comparisons.negated(self.read(tree.this)),
    exp.Between: RowReader._between,
    exp.In: RowReader._in,
    exp.Like: lambda self, tree: texts.like(*self._sides(tree), False),
    exp.ILike: lambda self, tree: texts.like(*self._sides(tree), True),
    exp.Lower: lambda self, tree: texts.changed(self.read(tree.this), str.lower, "lower"),
    exp.Upper: lambda self, tree: texts.changed(self.read(tree.this), str.upper, "upper"),
    exp.Is: RowReader._is,
    exp.Case: RowReader._case,
    exp.If: RowReader._if,
    exp.Coalesce: lambda self, tree: cases.coalesced(
        [self.read(each) for each in (tree.this, *tree.expressions)]
    ),
    exp.Nullif: lambda self, tree: cases.without(*self._sides(tree), self.schema),
    exp.Cast: RowReader._cast,
    exp.Extract: lambda self, tree: self._part(tree.this.name, tree.expression, tree),
    exp.DateDiff: RowReader._difference,
    exp.TimestampTrunc: RowReader._truncated,
    exp.DateTrunc: RowReader._truncated,
    exp.Anonymous: RowReader._anonymous,
}
