"""Sums over the rows that satisfy one condition: how far an exchanged row moves all of them together.

Either both rows satisfy the condition, and each sum moves by at most the difference between two values; or
one does, and each sum moves by at most one value; or none does. It is the same case for all the sums.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

from sulq.queries.node import Node
from sulq.queries.query import Neighbours, Query, moves
from sulq.queries.scope import Scope
from sulq.queries.vectors import Only


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
