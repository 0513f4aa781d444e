"""Queries: counts, totals and means.

A query is answered by the sums over all rows of its `parts`, vector-valued row expressions. Everything else
about it (groups, conditions, means) is a way of writing those expressions and of reading their sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

from sulq.errors import QueryError
from sulq.queries.codes import Cross, OneHot
from sulq.queries.expressions import Constant, Node, Operand, measured, named
from sulq.queries.products import Outer
from sulq.queries.scope import Scope
from sulq.queries.vectors import Only

Neighbours = Literal["replace", "add-remove"]
Statistic = Literal["count", "total", "mean"]
By = Node | str | Sequence[Node | str] | None
Exact = int | float | str | Fraction


@dataclass(frozen=True, eq=False)
class Query:
    """One statistic: a count, a total or a mean, of some rows (`where`), in groups (`by`).

    How well it should be answered is part of the question: either every number of the answer within
    `tolerance` but for a chance of `beta`, or an error that is smaller the larger its `weight` is among
    the queries of its round.
    """

    statistic: Statistic
    value: Node
    where: Node | None
    by: tuple[Node, ...]
    weight: Fraction = Fraction(1)
    tolerance: Fraction | None = None
    beta: Fraction | None = None

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
            row = groups if isinstance(value, Constant) and value.constant == 1 else Outer(groups, value)
        return row if self.where is None else Only(self.where, row)

    def shape(self, scope: Scope) -> tuple[int, ...]:
        """The shape of the answer: one axis for each `by`, then the value's own if it is a vector."""
        groups = tuple(scope.code(choice).size for choice in self.by)
        width = scope.number(self.value).width
        return groups if width == 1 else (*groups, width)

    @property
    def form(self) -> dict[str, Any]:
        return {
            "statistic": self.statistic,
            "value": self.value.form,
            "where": None if self.where is None else self.where.form,
            "by": [choice.form for choice in self.by],
            "weight": str(self.weight),
            "tolerance": None if self.tolerance is None else str(self.tolerance),
            "beta": None if self.beta is None else str(self.beta),
        }


def moves(scope: Scope, part: Node, order: Literal[1, 2], neighbours: Neighbours) -> Fraction:
    """How far one person moves one sum: its 1-norm, or the square of its 2-norm, in natural units."""
    facts, rows = scope.number(part), scope.schema.rows_per_unit
    if order not in (1, 2):
        raise QueryError(f"a sensitivity has order 1 or 2, not {order!r}")
    come_or_go, exchanged = (
        (facts.norm1, facts.spread1) if order == 1 else (facts.square, facts.spread_square)
    )
    if neighbours == "add-remove":
        worst = come_or_go
    elif neighbours == "replace":
        worst = exchanged if rows == 1 else max(exchanged, come_or_go)
    else:
        raise QueryError(f"neighbours are 'replace' or 'add-remove', not {neighbours!r}")
    return worst * (rows * facts.unit) ** order


def count(
    where: str | Node | None = None,
    by: By = None,
    *,
    weight: Exact = 1,
    tolerance: Exact | None = None,
    beta: Exact | None = None,
) -> Query:
    """How many rows there are, of those that satisfy `where`, in each group of `by`."""
    return _query("count", Constant(1), where, by, weight, tolerance, beta)


def total(
    value: Operand,
    where: str | Node | None = None,
    by: By = None,
    *,
    weight: Exact = 1,
    tolerance: Exact | None = None,
    beta: Exact | None = None,
) -> Query:
    """The sum of a number or a vector over the rows."""
    return _query("total", measured(value), where, by, weight, tolerance, beta)


def mean(
    value: Operand,
    where: str | Node | None = None,
    by: By = None,
    *,
    weight: Exact = 1,
    tolerance: Exact | None = None,
    beta: Exact | None = None,
) -> Query:
    """The average of a number or a vector over the rows: a total divided by a count."""
    return _query("mean", measured(value), where, by, weight, tolerance, beta)


def rational(name: str, value: Exact, most: int | None = None) -> Fraction:
    """A positive number as the fraction its shortest decimal denotes: 0.1 is a tenth."""
    try:
        exact = Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        exact = Fraction(0)
    if exact <= 0 or (most is not None and exact > most):
        limit = "" if most is None else f" and at most {most}"
        raise QueryError(f"{name} must be a positive number{limit}, not {value!r}")
    return exact


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
    weight: Exact,
    tolerance: Exact | None,
    beta: Exact | None,
) -> Query:
    if (tolerance is None) != (beta is None):
        raise QueryError("tolerance and beta go together: how far off, and how often it may be further")
    return Query(
        statistic,
        value,
        None if where is None else named(where),
        choices_of(by),
        rational("weight", weight),
        None if tolerance is None else rational("tolerance", tolerance),
        None if beta is None else rational("beta", beta, most=1),
    )
