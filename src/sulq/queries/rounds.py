"""Queries and rounds: what a learner asks, all at once.

A query is a sum over all rows of one vector-valued row expression, `row`. Everything else about it
(grouping, conditions, means) is a way of writing that expression and of reading the sum.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

from sulq.errors import QueryError
from sulq.queries.codes import Cross, OneHot
from sulq.queries.expressions import Constant, Node, Operand, Scope, col, node
from sulq.queries.facts import Number, ceil_sqrt
from sulq.queries.vectors import Only, Outer
from sulq.schema import Schema

Neighbours = Literal["replace", "add-remove"]
Statistic = Literal["count", "total", "mean"]
By = Node | str | Sequence[Node | str] | None


@dataclass(frozen=True)
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


@dataclass(frozen=True)
class Round:
    """Queries asked at once: one interaction with whoever answers.

    `share` is the part of the run's budget the round may cost, where it costs anything and its queries do
    not state tolerances. `repeat` tells apart rounds that ask the same again, for fresh noise.

    >>> from sulq.queries.expressions import col
    >>> from sulq.schema import Boolean, Real
    >>> round_ = Round([count(where=col("sick")), total(col("cost"))])
    >>> schema = Schema({"sick": Boolean(), "cost": Real(0, 100)})
    >>> round_.sensitivity(schema, order=1)
    Fraction(101, 1)
    """

    queries: tuple[Query, ...]

    def __init__(self, queries: Iterable[Query]) -> None:
        given = tuple(queries)
        if not given or not all(isinstance(query, Query) for query in given):
            raise QueryError("a round is a list of at least one query: count, total or mean")
        object.__setattr__(self, "queries", given)

    @property
    def form(self) -> dict[str, Any]:
        """The round as plain data, in canonical form; `sulq.queries.canonical.parse_round` reads it back."""
        return {"queries": [query.form for query in self.queries]}

    @cached_property
    def canonical(self) -> str:
        return json.dumps(self.form, sort_keys=True, separators=(",", ":"))

    @property
    def key(self) -> str:
        """Names the round: equal for equal questions, on every machine."""
        return hashlib.sha256(self.canonical.encode()).hexdigest()

    def sensitivity(
        self, schema: Schema | Scope, order: Literal[1, 2], neighbours: Neighbours = "replace"
    ) -> Fraction:
        """How far all the round's sums together can move, in the 1- or 2-norm, with one person's rows.

        With `replace` one person's rows are exchanged for others (the number of rows is public); with
        `add-remove` they come or go. A person of several rows moves the sums by at most that many times
        one row's share: their rows are exchanged in pairs, and where one of the two has more, the rest
        come or go. The 2-norm is rounded up to a 2^-40th of a grid step or less.
        """
        scope = schema if isinstance(schema, Scope) else Scope(schema)
        parts = [scope.number(part) for query in self.queries for part in query.parts]
        moves = [_moves(part, order, neighbours, scope.schema.rows_per_unit) for part in parts]
        joint = sum(moves, Fraction(0))
        return joint if order == 1 else _root_up(joint)


def _moves(part: Number, order: int, neighbours: str, rows: int) -> Fraction:
    """How far one sum moves: its 1-norm, or the square of its 2-norm, in natural units."""
    come_or_go, exchanged = (part.norm1, part.spread1) if order == 1 else (part.square, part.spread_square)
    if neighbours == "add-remove":
        worst = come_or_go
    elif neighbours == "replace":
        worst = exchanged if rows == 1 else max(exchanged, come_or_go)
    else:
        raise QueryError(f"neighbours are 'replace' or 'add-remove', not {neighbours!r}")
    if order not in (1, 2):
        raise QueryError(f"a sensitivity has order 1 or 2, not {order!r}")
    return worst * (rows * part.unit) ** order


def _root_up(value: Fraction) -> Fraction:
    """√value, rounded up to about 40 bits more than it has."""
    scale = 1 << max(0, 40 + value.denominator.bit_length() - value.numerator.bit_length() // 2)
    return Fraction(ceil_sqrt(math.ceil(value * scale * scale)), scale)


def count(where: Node | None = None, by: By = None) -> Query:
    """How many rows there are, of those that satisfy `where`, in each group of `by`."""
    return Query("count", Constant(1), where, _choices(by))


def total(value: Operand, where: Node | None = None, by: By = None) -> Query:
    """The sum of a number or a vector over the rows."""
    return Query("total", node(value), where, _choices(by))


def mean(value: Operand, where: Node | None = None, by: By = None) -> Query:
    """The average of a number or a vector over the rows: a total divided by a count."""
    return Query("mean", node(value), where, _choices(by))


def _choices(by: By) -> tuple[Node, ...]:
    if by is None:
        return ()
    given = by if isinstance(by, Sequence) and not isinstance(by, str) else [by]
    return tuple(col(choice) if isinstance(choice, str) else choice for choice in given)
