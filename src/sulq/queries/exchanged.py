"""Sums over the rows that satisfy one condition: how far an exchanged row moves all of them together.

Either both rows satisfy the condition, and each sum moves by at most the difference between two values; or
one does, and each sum moves by at most one value; or none does. It is the same case for all the sums.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Literal, NamedTuple

from sulq.queries.codes import OneHot
from sulq.queries.facts import ceil_sqrt
from sulq.queries.node import Node
from sulq.queries.products import Outer
from sulq.queries.query import Neighbours, Query, moves, worst
from sulq.queries.scope import Scope
from sulq.queries.vectors import Only

ROOT_BITS = 20
"""Roots are rounded up to multiples of 2^-20 steps of a grid."""


def moves_where(
    scope: Scope, part: Node, neighbours: Neighbours
) -> tuple[tuple[Fraction, Fraction], tuple[Fraction, Fraction]] | None:
    """How far an exchanged row moves a sum with a condition: if both rows satisfy it, and if one does.

    Each as its 1-norm and the square of its 2-norm. None where rows only come or go, or where there is no
    condition.
    """
    if neighbours != "replace" or not isinstance(part, Only):
        return None
    whole, inner = scope.number(part), scope.number(part.inner)
    each = scope.schema.rows_per_unit * whole.unit
    inside = min(inner.spread1, whole.spread1), min(inner.spread_square, whole.spread_square)
    alone = min(inner.norm1, whole.norm1), min(inner.square, whole.square)
    return (inside[0] * each, inside[1] * each**2), (alone[0] * each, alone[1] * each**2)


class VectorMoves(NamedTuple):
    """How far one person moves a sum of vectors: the 2-norms of what moves in each group, added up.

    Args:
        width: how many numbers a vector has.
        moves: how far one person moves the sum, in natural units.
        inside: with a condition, how far an exchanged row moves it if both rows satisfy it.
        alone: how far it moves if one of them does.
    """

    width: int
    moves: Fraction
    inside: Fraction
    alone: Fraction


def vector_moves(scope: Scope, part: Node, neighbours: Neighbours) -> VectorMoves | None:
    """The same for a sum of one vector, or of one for each group; None where single numbers are summed.

    Rows that are exchanged are in the same group, whose sum moves by at most the difference of two vectors,
    or in two groups, whose sums move by at most a vector each.

    Args:
        scope: the schema.
        part: the row expression that is summed.
        neighbours: which tables are neighbours.

    >>> import math, sulq
    >>> schema = sulq.Schema({"x": sulq.Real(0, 1), "y": sulq.Real(0, 1), "sick": sulq.Boolean()})
    >>> from sulq.queries.scope import scope_of
    >>> for by in (None, "sick"):
    ...     [part] = sulq.total(sulq.vector("x", "y"), by=by).parts
    ...     print(round(float(vector_moves(scope_of(schema), part, "replace").moves) / math.sqrt(2), 6))
    1.0
    2.0
    """
    value = part.inner if isinstance(part, Only) else part
    if isinstance(value, OneHot):
        return None
    grouped = isinstance(value, Outer) and isinstance(value.left, OneHot)
    facts = scope.number(value)
    if isinstance(value, Outer) and grouped:
        groups, facts = value.factors_of(scope)
        grouped = groups.width > 1
    if facts.width == 1:
        return None
    each = scope.schema.rows_per_unit * scope.number(value).unit
    length, apart = (
        Fraction(ceil_sqrt(square << 2 * ROOT_BITS), 1 << ROOT_BITS) * each
        for square in (facts.square, facts.spread_square)
    )
    inside = max(apart, 2 * length) if grouped else apart
    exchanged = max(inside, length) if isinstance(part, Only) else inside
    return VectorMoves(facts.width, worst(length, exchanged, scope.schema, neighbours), inside, length)


def moved_together(
    scope: Scope, queries: list[Query], order: Literal[1, 2], neighbours: Neighbours
) -> Fraction:
    """How far one person moves all sums together: in the 1-norm, or the square of the 2-norm."""
    total, inside, alone = Fraction(0), dict[str, Fraction](), dict[str, Fraction]()
    for query in queries:
        for part in query.parts:
            moved = moves_where(scope, part, neighbours)
            if moved is None or query.where is None:
                total += moves(scope, part, order, neighbours)
            else:
                name = query.where.key
                inside[name] = inside.get(name, Fraction(0)) + moved[0][order - 1]
                alone[name] = alone.get(name, Fraction(0)) + moved[1][order - 1]
    return total + sum((max(inside[name], alone[name]) for name in inside), Fraction(0))
