"""Queries: counts, totals and means.

A query is answered by the sums over all rows of its `parts`, vector-valued row expressions. Everything else
about it (groups, conditions, means) is a way of writing those expressions and of reading their sums.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, TypeVar, get_args

from sulq.errors import QueryError
from sulq.numbers import Numeric, make_rational
from sulq.queries.codes import Cross, OneHot
from sulq.queries.expressions import Constant, measured, named
from sulq.queries.node import Node, Operand
from sulq.queries.node_forms import node_of, nodes_of
from sulq.queries.products import Outer
from sulq.queries.question import QUESTIONS, Question
from sulq.queries.scope import Scope
from sulq.queries.vectors import Only
from sulq.schema import Schema
from sulq.wire import exact, members

Neighbours = Literal["replace", "add-remove"]
Statistic = Literal["count", "total", "mean"]
T = TypeVar("T", int, Fraction)
By = Node | str | Sequence[Node | str] | None


@dataclass(frozen=True, eq=False)
class Query(Question):
    """One statistic: a count, a total or a mean. `sulq.count`, `sulq.total` and `sulq.mean` make one.

    How well it should be answered is part of the question: by a tolerance, or by a weight.

    Args:
        statistic: "count", "total" or "mean".
        value: what is summed of every row; of a count, the constant 1.
        where: a condition; only rows that satisfy it count. None for all rows.
        by: the groups: expressions with few possible values. There is a number for each combination of them.
        weight: the larger the weight is among the queries of a round, the smaller is the error.
        tolerance: every number of the answer is within this of the truth, but for a chance of `beta`.
        beta: the chance that some number of the answer misses the tolerance. It goes with a tolerance.

    >>> count(where="sick", by="sex").statistic
    'count'
    """

    statistic: Statistic
    value: Node
    where: Node | None
    by: tuple[Node, ...]
    weight: Fraction = Fraction(1)
    tolerance: Fraction | None = None
    beta: Fraction | None = None

    def __post_init__(self) -> None:
        if self.statistic not in get_args(Statistic):
            raise QueryError(f"a query is a count, a total or a mean, not {self.statistic!r}")
        check_operands("a query", self.value, *(() if self.where is None else (self.where,)))
        check_groups("a query", self.by)
        if self.statistic == "count" and not is_one(self.value):
            raise QueryError("a count counts every row once: of other values, ask for the total")
        if (self.tolerance is None) != (self.beta is None):
            raise QueryError("tolerance and beta go together: how far off, and how often it may be further")
        make_rational(self, "weight")
        if self.tolerance is not None:
            make_rational(self, "tolerance")
            make_rational(self, "beta", most=1)

    def __reduce__(self) -> tuple[type[Query], tuple[Any, ...]]:
        return Query, tuple(getattr(self, field.name) for field in fields(self))

    @cached_property
    def parts(self) -> tuple[Node, ...]:
        """The row expressions whose sums answer the query: one, or total and count for a mean."""
        if self.statistic == "mean":
            return self._grouped(self.value), self._grouped(Constant(1))
        return (self._grouped(self.value),)

    def _grouped(self, value: Node) -> Node:
        if not self.by:
            row = value
        else:
            groups = OneHot(self.by[0] if len(self.by) == 1 else Cross(self.by))
            row = groups if is_one(value) else Outer(groups, value)
        return row if self.where is None else Only(self.where, row)

    def shape(self, scope: Scope) -> tuple[int, ...]:
        """The shape of the answer: one axis for each `by`, then the value's own if it is a vector."""
        groups = tuple(scope.code(choice).size for choice in self.by)
        width = scope.number(self.value).width
        return groups if width == 1 else (*groups, width)

    @property
    def form(self) -> dict[str, Any]:
        """The query as plain data; `Query.of` reads it back."""
        return {
            "query": self.statistic,
            "value": self.value.form,
            "where": None if self.where is None else self.where.form,
            "by": [choice.form for choice in self.by],
            "weight": str(self.weight),
            "tolerance": None if self.tolerance is None else str(self.tolerance),
            "beta": None if self.beta is None else str(self.beta),
        }

    @classmethod
    def of(cls, form: Mapping[str, Any]) -> Query:
        """The query with this form.

        >>> Query.of(count(where="sick").form).where.name
        'sick'
        """
        names = ["query", "value", "where", "by", "weight", "tolerance", "beta"]
        given = members(form, "a count, total or mean", names)
        return cls(
            given["query"],
            node_of(given["value"]),
            None if given["where"] is None else node_of(given["where"]),
            nodes_of(given["by"], "the groups of a query"),
            exact(given["weight"], "a weight"),  # type: ignore[arg-type]
            None if given["tolerance"] is None else exact(given["tolerance"], "a tolerance"),  # type: ignore[arg-type]
            None if given["beta"] is None else exact(given["beta"], "beta"),  # type: ignore[arg-type]
        )


QUESTIONS |= dict.fromkeys(get_args(Statistic), Query.of)


def moves(scope: Scope, part: Node, order: Literal[1, 2], neighbours: Neighbours) -> Fraction:
    """How far one person moves one sum: its 1-norm, or the square of its 2-norm, in natural units."""
    facts, schema = scope.number(part), scope.schema
    if order not in (1, 2):
        raise QueryError(f"a sensitivity has order 1 or 2, not {order!r}")
    norms = (facts.norm1, facts.spread1) if order == 1 else (facts.square, facts.spread_square)
    return worst(*norms, schema, neighbours) * (schema.rows_per_unit * facts.unit) ** order


def reach(scope: Scope, part: Node, neighbours: Neighbours) -> Fraction:
    """How far one person moves any one coordinate of a sum, in natural units."""
    facts, schema = scope.number(part), scope.schema
    widest = int((facts.high - facts.low).max())
    return worst(facts.magnitude, widest, schema, neighbours) * schema.rows_per_unit * facts.unit


def worst(come_or_go: T, exchanged: T, schema: Schema, neighbours: Neighbours) -> T:
    """What one of a person's rows can do: come or go, be exchanged for another, or either.

    With a unit it can do either: a row may come to name nobody, or another person may have fewer.
    """
    if neighbours == "add-remove":
        return come_or_go
    if neighbours == "replace":
        return exchanged if schema.unit is None else max(exchanged, come_or_go)
    raise QueryError(f"neighbours are 'replace' or 'add-remove', not {neighbours!r}")


def count(
    where: str | Node | None = None,
    by: By = None,
    *,
    weight: Numeric = 1,
    tolerance: Numeric | None = None,
    beta: Numeric | None = None,
) -> Query:
    """How many rows there are.

    Args:
        where: a condition; only rows that satisfy it count.
        by: columns or expressions with few possible values; there is a count for each combination of them.
        weight: the larger the weight is among the queries of a round, the smaller is the error.
        tolerance: how far from the truth a count may be, but for a chance of `beta`.
        beta: the chance that some count misses the tolerance.

    >>> import sulq
    >>> rows = {"sex": ["f", "m", "f"], "sick": [True, True, False]}
    >>> people = sulq.open(rows, {"sex": sulq.Category(["f", "m"], missing="f"), "sick": sulq.Boolean()})
    >>> people.exact().ask(sulq.Round([sulq.count(where="sick", by="sex")]))[0].value
    array([1., 1.])
    """
    return _query("count", Constant(1), where, by, weight, tolerance, beta)


def total(
    value: Operand,
    where: str | Node | None = None,
    by: By = None,
    *,
    weight: Numeric = 1,
    tolerance: Numeric | None = None,
    beta: Numeric | None = None,
) -> Query:
    """The sum of a number or a vector over the rows.

    Where the schema says `missing = "drop"`, rows that miss a cell of the value add nothing.

    Args:
        value: what is summed: the name of a column, an expression or a constant.
        where: a condition; only rows that satisfy it count.
        by: columns or expressions with few possible values; there is a total for each combination of them.
        weight: the larger the weight is among the queries of a round, the smaller is the error.
        tolerance: how far from the truth each number may be, but for a chance of `beta`.
        beta: the chance that some number misses the tolerance.

    >>> import sulq
    >>> people = sulq.open({"age": [20, 50, 80]}, {"age": sulq.Integer(0, 120)})
    >>> people.exact().ask(sulq.Round([sulq.total("age", where=sulq.col("age") >= 50)]))[0].value
    130.0
    """
    return _query("total", measured(value), where, by, weight, tolerance, beta)


def mean(
    value: Operand,
    where: str | Node | None = None,
    by: By = None,
    *,
    weight: Numeric = 1,
    tolerance: Numeric | None = None,
    beta: Numeric | None = None,
) -> Query:
    """The average of a number or a vector over the rows: a total divided by a count.

    Where the schema says `missing = "drop"`, it is over the rows that have all cells of the value.

    Args:
        value: what is averaged: the name of a column, an expression or a constant.
        where: a condition; only rows that satisfy it count.
        by: columns or expressions with few possible values; there is a mean for each combination of them.
        weight: the larger the weight is among the queries of a round, the smaller is the error.
        tolerance: how far from the truth each number may be, but for a chance of `beta`.
        beta: the chance that some number misses the tolerance.

    >>> import sulq
    >>> people = sulq.open({"age": [20, 50, 80]}, {"age": sulq.Integer(0, 120)})
    >>> people.exact().ask(sulq.Round([sulq.mean("age")]))[0].value
    50.0
    """
    return _query("mean", measured(value), where, by, weight, tolerance, beta)


def check_operands(what: str, *operands: object) -> None:
    """Refuse what is not a row expression."""
    for operand in operands:
        if not isinstance(operand, Node):
            raise QueryError(f"{what} is made of row expressions, not of {operand!r}")


def check_groups(what: str, by: object) -> None:
    """Refuse groups that are not a tuple of row expressions."""
    if not isinstance(by, tuple):
        raise QueryError(f"{what} has a tuple of row expressions as its groups, not {by!r}")
    check_operands(what, *by)


def is_one(value: Node) -> bool:
    """Whether an expression is the constant 1, whose sum is a count."""
    return isinstance(value, Constant) and value.constant == 1


def choices_of(by: By) -> tuple[Node, ...]:
    """Grouping expressions from names, expressions or lists of them."""
    if by is None:
        return ()
    given = by if isinstance(by, Sequence) and not isinstance(by, str) else [by]
    return tuple(map(named, given))


def _query(
    statistic: Statistic,
    value: Node,
    where: str | Node | None,
    by: By,
    weight: Numeric,
    tolerance: Numeric | None,
    beta: Numeric | None,
) -> Query:
    condition = None if where is None else named(where)
    return Query(statistic, value, condition, choices_of(by), weight, tolerance, beta)  # type: ignore[arg-type]
