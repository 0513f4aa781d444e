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


MOST_COMPARED = 2**16
"""So many numbers of a table are compared with all its entries, to see how far two of these are apart."""


def _apart(entries: list[list[int]]) -> dict[str, int]:
    """How far two entries of a table are apart at most; nothing, if it is large, or numbers are."""
    numbers = len(entries) * len(entries[0])
    if numbers * len(entries) > MOST_COMPARED or max(abs(x) for entry in entries for x in entry) > 2**24:
        return {}
    table = np.array(entries, dtype=np.int64)
    differences = np.abs(table[:, np.newaxis] - table[np.newaxis])
    squares = (differences * differences).sum(axis=2)
    return {"spread1": int(differences.sum(axis=2).max()), "spread_square": int(squares.max())}


def _steps(x: float, bits: int) -> int:
    """What `truncated` says of a public number: quickly, since a table may have many of them."""
    if isinstance(x, int):  # of any size
        return x << bits if bits >= 0 else truncated(Fraction(x), bits)
    # Times a power of two a float is exact, unless it is far less than a step.
    return math.trunc(math.ldexp(x, bits))


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
            **({} if scope.former else _apart(entries)),
        )

    def choices(self) -> dict[str, Node]:
        return {self.choice.key: self.choice}

    def value(self, batch: Batch) -> Values:
        table = np.array(self._grid(batch.scope)[1], dtype=np.float64).T
        return np.asarray(table.take(batch.code(self.choice), axis=1))

    @once
    def _grid(self, scope: Scope) -> tuple[int, list[list[int]], bool]:
        largest = max(abs(x) for entry in self.table for x in entry)
        finest = max(x.as_integer_ratio()[1].bit_length() - 1 for entry in self.table for x in entry)
        bits = min(finest, TABLE_BITS - math.frexp(largest)[1])
        return bits, [[_steps(x, bits) for x in entry] for entry in self.table], bits < finest


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
