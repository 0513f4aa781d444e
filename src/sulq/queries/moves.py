"""Columns plus public offsets: vectors that are computed in one pass over their columns.

Rows minus a public centre, or minus the centre that is nearest to them, are such vectors.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sulq import loops
from sulq.loops import Finish, Moved, Moves, Norm, Step
from sulq.queries.facts import Number
from sulq.queries.scope import Batch, Floats, RowExpression, Scope, Values

MOST_CODES = 2**8
FEW_COLUMNS = 4
"""So few columns are built before they are added up: the loop for products is for several."""


@dataclass(frozen=True)
class MovedColumns:
    """A vector of columns as encoded that move by public numbers.

    Args:
        leaves: the column of each coordinate.
        moves: how the columns move.
        choice: what the offsets depend on; None if on nothing.
        weight: a single number that each row is multiplied by, and its grid; None if by nothing.
        still: whether no coordinate moves.
    """

    leaves: tuple[RowExpression, ...]
    moves: Moves
    choice: RowExpression | None = None
    weight: tuple[RowExpression, int] | None = None
    still: bool = False

    @classmethod
    def column(cls, leaf: RowExpression) -> MovedColumns:
        one = np.ones(1)
        return cls((leaf,), Moves(one, np.zeros((1, 1)), -np.inf * one, np.inf * one, one), still=True)

    def on(self, shift: int) -> MovedColumns | None:
        """The vector on a grid this many bits finer; None if that is not known to be a single step."""
        m = self.moves
        if shift == 0:
            return self
        if self.weight is not None or abs(shift) > 64:
            return None
        by = 2.0**shift
        if m.finish is not None:
            if (m.finish.grid != 1).any():
                return None
            return replace(self, moves=replace(m, finish=replace(m.finish, grid=by * m.finish.grid)))
        if (m.coarser != 1).any():
            return None
        if shift > 0:
            return replace(
                self,
                moves=Moves(by * m.factors, by * m.offsets, by * m.low, by * m.high, m.coarser),
                still=False,
            )
        return replace(self, moves=replace(m, coarser=by * m.coarser), still=False)

    def plus(self, choice: RowExpression | None, offsets: Floats) -> MovedColumns | None:
        """The vector plus public numbers; None if it has bounds or offsets, or is truncated, already."""
        m = self.moves
        free = not m.offsets.any() and np.isinf(m.low).all() and np.isinf(m.high).all()
        if not free or not self._unfinished or (m.coarser != 1).any():
            return None
        return replace(self, moves=replace(m, offsets=offsets), choice=choice, still=False)

    def between(self, low: float, high: float) -> MovedColumns | None:
        """The vector with every coordinate brought between two bounds; None if it is truncated before."""
        m = self.moves
        if not self._unfinished or (m.coarser != 1).any():
            return None
        return replace(
            self, moves=replace(m, low=m.low.clip(low, high), high=m.high.clip(low, high)), still=False
        )

    def squared(self) -> MovedColumns | None:
        """The squares of all coordinates; None if they are multiplied or scaled already."""
        finish = Finish.nothing(len(self.leaves))
        return self._finished(replace(finish, squared=~finish.squared))

    def scaled(self, middle: Floats, stretch: Floats) -> MovedColumns | None:
        """The vector stretched about a middle, and rounded; None if it is multiplied or scaled already."""
        return self._finished(replace(Finish.nothing(len(self.leaves)), middle=middle, stretch=stretch))

    @property
    def _unfinished(self) -> bool:
        return self.weight is None and self.moves.finish is None

    def _finished(self, finish: Finish) -> MovedColumns | None:
        if not self._unfinished:
            return None
        return replace(self, moves=replace(self.moves, finish=finish), still=False)

    def times(self, weight: RowExpression, bits: int) -> MovedColumns | None:
        """The vector times a single number, which is taken on a grid; None if it is multiplied already."""
        return replace(self, weight=(weight, bits)) if self.weight is None else None

    def summed_as_read(self, steps: Sequence[Step]) -> bool:
        """Whether it takes less time to add up the columns while they are read than to build them before."""
        return len(self.leaves) >= FEW_COLUMNS and (not self.still or bool(steps))

    def matrix(self, batch: Batch, norms: Sequence[Norm] = ()) -> Moved:
        """The vector on a block of rows, after it was shortened to some norms."""
        code = None if self.choice is None else batch.code(self.choice)
        columns = batch.encoded([leaf.key for leaf in self.leaves])
        weight = None if self.weight is None else batch.number(*self.weight)[0]
        return Moved(columns, None if self.still else self.moves, code, weight, norms)


def column_sums(columns: Sequence[Values], rows: int, steps: Sequence[Step], weight: Floats | None) -> Floats:
    """The sums of columns as they are read, which are not built: those of one group that has all rows."""
    everyone = loops.Members(np.zeros(rows, dtype=np.uint8), 1)
    return np.asarray(loops.product(everyone, columns, steps, weight)[0])


def regrid(shift: int) -> list[Norm]:
    """Brings a vector to a grid `shift` bits finer, as `regridded` does: a norm that nothing exceeds."""
    return [Norm(grid_factor(shift), 1, math.inf)] if shift else []


def grid_factor(shift: int) -> float:
    """What brings integers to a grid `shift` bits finer; more than 64 only where all is zero."""
    return float(2.0 ** max(-64, min(shift, 64)))


def joined_moves(parts: Sequence[MovedColumns]) -> MovedColumns | None:
    """Vectors laid end to end; None if their offsets depend on several choices."""
    choices = {part.choice.key: part.choice for part in parts if part.choice is not None}
    if len(choices) > 1 or any(part.weight is not None for part in parts):
        return None
    codes = max(part.moves.offsets.shape[1] for part in parts)
    offsets = [np.broadcast_to(m.offsets, (len(m.factors), codes)) for m in (part.moves for part in parts)]
    ends = [part.moves.finish or Finish.nothing(len(part.leaves)) for part in parts]
    finish = Finish(
        np.concatenate([end.squared for end in ends]),
        np.concatenate([end.middle for end in ends]),
        np.concatenate([end.stretch for end in ends]),
        np.concatenate([end.grid for end in ends]),
    )
    return MovedColumns(
        tuple(leaf for part in parts for leaf in part.leaves),
        Moves(
            np.concatenate([part.moves.factors for part in parts]),
            np.concatenate(offsets),
            np.concatenate([part.moves.low for part in parts]),
            np.concatenate([part.moves.high for part in parts]),
            np.concatenate([part.moves.coarser for part in parts]),
            finish if any(part.moves.finish is not None for part in parts) else None,
        ),
        next(iter(choices.values()), None),
        still=all(part.still for part in parts),
    )


def public_table(
    expression: RowExpression, choices: Mapping[str, RowExpression], on: int, scope: Scope
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
