"""The columns of a release of pairs, and all that is known about them together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sulq.effects.layout import Floats
from sulq.errors import QueryError
from sulq.hypotheses.pairs.agreement import Agreement, Pair
from sulq.hypotheses.pairs.inside import UNLIKELY, rows_inside
from sulq.hypotheses.pairs.positive import PositiveTables
from sulq.queries.codes import Bins
from sulq.queries.expressions import Column
from sulq.queries.node import Node
from sulq.queries.scope import scope_of
from sulq.queries.value_names import value_names
from sulq.schema import Boolean, Category, Integer, Schema
from sulq.talk.answers import Answer


@dataclass(frozen=True)
class PairsColumn:
    """A column of a release.

    Args:
        name: the column.
        fine: for a number, the edges between which rows were counted for this column alone.
        edges: those of them that are edges in the tables.
        counts: how many rows have each value, or are between each two edges of `fine`.

    >>> age = PairsColumn("age", (20.0, 40.0, 60.0), (40.0,), Answer(np.array([5.0, 5.0, 8.0, 1.0])))
    >>> age.groups.tolist()
    [0, 0, 1, 1]
    """

    name: str
    fine: tuple[float, ...]
    edges: tuple[float, ...]
    counts: Answer

    @property
    def code(self) -> Node:
        """Which of the values in the tables a row has."""
        return Bins(Column(self.name), self.edges) if self.edges else Column(self.name)

    @property
    def groups(self) -> NDArray[np.intp]:
        """To which of the values in the tables each count belongs."""
        if not self.fine:
            return np.arange(np.size(self.counts.value))
        return np.concatenate([[0], np.searchsorted(self.edges, self.fine, side="right")])

    def check(self, schema: Schema) -> None:
        """Refuse what is no column of a release."""
        schema.attribute(self.name)
        number = not isinstance(schema[self.name], Category | Boolean)
        if number != bool(self.fine) or bool(self.edges) != number or not set(self.edges) <= set(self.fine):
            raise QueryError(
                f"column {self.name!r} of a release has edges, some of the fine ones, if it is a number"
            )
        if self.fine:
            Bins(Column(self.name), self.fine), self.code
        size = len(self.fine) + 1 if number else scope_of(schema).code(Column(self.name)).size
        if np.shape(self.counts.value) != (size,) or not np.isfinite(self.counts.value).all():
            raise QueryError(f"column {self.name!r} of a release has {size} finite counts")


@dataclass(frozen=True)
class PairsFacts:
    """All that a release says, for models to be made of.

    Args:
        schema: what is public about the columns.
        columns: the columns.
        agreement: the tables.
    """

    schema: Schema
    columns: tuple[PairsColumn, ...]
    agreement: Agreement

    @cached_property
    def positive(self) -> PositiveTables:
        """The tables, positive and without what noise explains."""
        return PositiveTables(self.agreement)

    @property
    def names(self) -> tuple[str, ...]:
        """What the columns are called."""
        return tuple(column.name for column in self.columns)

    def place(self, name: str) -> int:
        """The place of a column, or a refusal."""
        if name not in self.names:
            raise QueryError(
                f"there is no column {name!r} in this release; there are {', '.join(self.names)}"
            )
        return self.names.index(name)

    def beside(self, place: int) -> list[int]:
        """The columns that have a table with this one."""
        return [sum(pair) - place for pair in self.agreement.pairs if place in pair]

    def labels(self, place: int) -> tuple[str, ...]:
        """What the values of a column are called in the tables."""
        scope, code = scope_of(self.schema), self.columns[place].code
        return value_names(code, scope) or tuple(map(str, range(scope.code(code).size)))

    def within(self, place: int) -> Floats:
        """For each count of a column alone, how many rows it stands for: positive, as the tables have it."""
        return self._within[place]

    @cached_property
    def _within(self) -> list[Floats]:
        every = []
        for place, (column, margin) in enumerate(zip(self.columns, self.positive.margins, strict=True)):
            if not column.fine:
                every.append(margin)
                continue
            low, high = self.intervals(place)
            counts = np.asarray(column.counts.value, dtype=np.float64)
            noise = float(np.max(column.counts.deviation)), float(np.max(column.counts.radius(UNLIKELY)))
            every.append(rows_inside(counts, column.groups, margin, (high - low).clip(min=1e-12), *noise))
        return every

    def intervals(self, place: int) -> tuple[Floats, Floats]:
        """Where the intervals of a number begin and end, between which its rows were counted."""
        kind, fine = self.schema[self.columns[place].name], np.array(self.columns[place].fine)
        assert not isinstance(kind, Category | Boolean)
        low, high = float(kind.low), float(kind.high)
        if isinstance(kind, Integer):
            fine, high = np.ceil(fine), high + 1
        ends = fine.clip(low, high)
        return np.concatenate([[low], ends]), np.concatenate([ends, [high]])

    def means(self, place: int) -> tuple[Floats, float]:
        """For each value of a column in the tables its average number, and the average square of all rows.

        A truth value is 0 or 1. Between two edges numbers are taken for spread evenly.
        """
        column = self.columns[place]
        if not column.fine:
            values = np.arange(len(self.labels(place)), dtype=np.float64)
            return values, float(values**2 @ self.positive.margins[place] / self.positive.total)
        low, high = self.intervals(place)
        step = 1.0 if isinstance(self.schema[column.name], Integer) else 0.0
        middle, wide = (low + high - step) / 2, (high - low).clip(min=step)
        rows = self.within(place)
        plain = rows + 1e-9  # where there are no rows, all intervals count the same
        sums, weights = (np.bincount(column.groups, weights=w) for w in (plain * middle, plain))
        squares = middle**2 + (wide**2 - step) / 12
        return sums / weights, float(squares @ rows / self.positive.total)


def named_pairs(facts: PairsFacts, pairs: Sequence[Pair]) -> str:
    """Pairs for people, the first few of them."""
    shown = [f"{facts.names[one]} × {facts.names[other]}" for one, other in pairs[:6]]
    return ", ".join([*shown, *([f"and {len(pairs) - 6:,} more"] if len(pairs) > 6 else [])])
