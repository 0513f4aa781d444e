"""Public tables: a number, or a vector of numbers, for each possible value of a choice."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sulq.errors import QueryError
from sulq.queries.expressions import named, truncated
from sulq.queries.facts import Number, number
from sulq.queries.node import Node
from sulq.queries.public import public_list, public_numbers
from sulq.queries.scope import Batch, Scope, Values, once

TABLE_BITS = 30


@dataclass(frozen=True, eq=False)
class Lookup(Node):
    """A public number, or vector of numbers, for each possibility of a choice."""

    wire = "lookup"

    choice: Node
    table: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        table = tuple(map(public_numbers, public_list(self.table)))
        if not table or len({len(entry) for entry in table}) != 1 or not table[0]:
            raise QueryError("a lookup table needs one entry for each possibility, all of the same length")
        object.__setattr__(self, "table", table)

    def facts(self, scope: Scope) -> Number:
        size = scope.code(self.choice).size
        if size != len(self.table):
            raise QueryError(f"the lookup table has {len(self.table)} entries for {size} possibilities")
        bits, entries, rounded = self._grid(scope)
        columns = np.array(entries, dtype=np.int64)
        return number(
            bits,
            columns.min(axis=0),
            columns.max(axis=0),
            norm1=max(sum(map(abs, entry)) for entry in entries),
            square=max(sum(x * x for x in entry) for entry in entries),
            rounded=rounded,
        )

    def choices(self) -> dict[str, Node]:
        return {self.choice.key: self.choice}

    def value(self, batch: Batch) -> Values:
        table = np.array(self._grid(batch.scope)[1], dtype=np.float64).T
        return np.asarray(table.take(batch.code(self.choice), axis=1))

    @once
    def _grid(self, scope: Scope) -> tuple[int, list[list[int]], bool]:
        exact = [[Fraction(x) for x in entry] for entry in self.table]
        largest = float(max(abs(x) for entry in exact for x in entry))
        finest = max(x.denominator.bit_length() - 1 for entry in exact for x in entry)
        bits = min(finest, TABLE_BITS - math.frexp(largest)[1])
        return bits, [[truncated(x, bits) for x in entry] for entry in exact], bits < finest


def lookup(choice: str | Node, table: Sequence[float] | Sequence[Sequence[float]]) -> Lookup:
    """A public number, or vector of numbers, for each possible value of a choice.

    Args:
        choice: a category, a bin, the nearest centre, a truth value or a small whole number.
        table: the number or vector for each possible value, in order.

    >>> import sulq
    >>> people = sulq.open({"age": [10, 90]}, {"age": sulq.Integer(0, 120)})
    >>> people.values(sulq.lookup(sulq.bins("age", [18, 65]), [0, 1, 0.5])).tolist()
    [0.0, 0.5]
    """
    entries = tuple(tuple(e) if isinstance(e, Sequence | np.ndarray) else (e,) for e in table)
    return Lookup(named(choice), entries)
