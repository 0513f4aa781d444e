"""Columns plus public offsets: vectors that are computed in one pass over their columns.

Rows minus a public centre, or minus the centre that is nearest to them, are such vectors.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sulq.loops import Moved, Moves, Norm
from sulq.queries.facts import Number
from sulq.queries.scope import Batch, Floats, RowExpression, Scope

MOST_CODES = 2**8


@dataclass(frozen=True)
class MovedColumns:
    """A vector of columns as encoded that move by public numbers.

    Args:
        leaves: the column of each coordinate.
        moves: how the columns move.
        choice: what the offsets depend on; None if on nothing.
        still: whether no coordinate moves.
    """

    leaves: tuple[RowExpression, ...]
    moves: Moves
    choice: RowExpression | None = None
    still: bool = False

    @classmethod
    def column(cls, leaf: RowExpression) -> MovedColumns:
        one = np.ones(1)
        return cls((leaf,), Moves(one, np.zeros((1, 1)), -np.inf * one, np.inf * one), still=True)

    def finer(self, shift: int) -> MovedColumns | None:
        """The vector on a grid this many bits finer; None stands for a coarser one, where values are truncated."""
        if not 0 <= shift <= 64:
            return None
        by, m = 2.0**shift, self.moves
        scaled = Moves(by * m.factors, by * m.offsets, by * m.low, by * m.high)
        return self if shift == 0 else MovedColumns(self.leaves, scaled, self.choice)

    def plus(self, choice: RowExpression | None, offsets: Floats) -> MovedColumns | None:
        """The vector plus public numbers; None if there are bounds or offsets already."""
        m = self.moves
        if m.offsets.any() or np.isfinite(m.low).any() or np.isfinite(m.high).any():
            return None
        return MovedColumns(self.leaves, Moves(m.factors, offsets, m.low, m.high), choice)

    def between(self, low: float, high: float) -> MovedColumns:
        """The vector with every coordinate brought between two bounds."""
        m = self.moves
        bounded = Moves(m.factors, m.offsets, m.low.clip(low, high), m.high.clip(low, high))
        return MovedColumns(self.leaves, bounded, self.choice)

    def matrix(self, batch: Batch, norms: Sequence[Norm] = ()) -> Moved:
        """The vector on a block of rows, after it was shortened to some norms."""
        code = None if self.choice is None else batch.code(self.choice)
        columns = batch.encoded([leaf.key for leaf in self.leaves])
        return Moved(columns, None if self.still else self.moves, code, norms)


def regrid(shift: int) -> list[Norm]:
    """Brings a vector to a grid `shift` bits finer, as `regridded` does: as a norm that nothing is too long for."""
    return [Norm(2.0 ** max(-64, min(shift, 64)), 1, math.inf)] if shift else []


def joined_moves(parts: Sequence[MovedColumns]) -> MovedColumns | None:
    """Vectors laid end to end; None if their offsets depend on several choices."""
    choices = {part.choice.key: part.choice for part in parts if part.choice is not None}
    if len(choices) > 1:
        return None
    codes = max(part.moves.offsets.shape[1] for part in parts)
    offsets = [np.broadcast_to(m.offsets, (len(m.factors), codes)) for m in (part.moves for part in parts)]
    return MovedColumns(
        tuple(leaf for part in parts for leaf in part.leaves),
        Moves(
            np.concatenate([part.moves.factors for part in parts]),
            np.concatenate(offsets),
            np.concatenate([part.moves.low for part in parts]),
            np.concatenate([part.moves.high for part in parts]),
        ),
        next(iter(choices.values()), None),
        all(part.still for part in parts),
    )


def public_table(
    expression: RowExpression, choices: dict[str, RowExpression], on: int, scope: Scope
) -> Floats | None:
    """An expression's value for each possible code of what it depends on; None if that is too much.

    Args:
        expression: it depends on nothing but the choices.
        choices: the choices, by key.
        on: the grid of the values.
        scope: what the expression is read against.
    """
    if not choices:
        return Batch(scope, {}, 1).number(expression, on)
    [choice, *others] = choices.values()
    size = scope.code(choice).size
    if others or size > MOST_CODES:
        return None
    facts = scope.facts(choice)
    first = int(facts.low[0]) if isinstance(facts, Number) else 0
    batch = Batch(scope, {}, size)
    batch.keep(choice, np.arange(first, first + size))
    return batch.number(expression, on)
