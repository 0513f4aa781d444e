"""Folds: rows dealt into equal parts by a public hash of what they say."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sulq.errors import QueryError
from sulq.queries.expressions import named
from sulq.queries.facts import Code
from sulq.queries.node import Node
from sulq.queries.scope import Batch, Scope, Values
from sulq.wire import encodable, shown

Hashes = NDArray[np.uint64]
MOST_FOLDS = 1000


@dataclass(frozen=True, eq=False)
class Fold(Node):
    """Which of so many folds a row falls into: a public hash of some of its values decides.

    The fold depends on this row alone, so a sum over a fold moves as far by one row as any sum with a
    condition. Rows with equal values fall into the same fold.
    """

    wire = "fold"

    values: tuple[Node, ...]
    folds: int
    salt: str

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.values:
            raise QueryError("folds need at least one column whose values are hashed")
        if type(self.folds) is not int or not 2 <= self.folds <= MOST_FOLDS:
            raise QueryError(f"the number of folds is from 2 to {MOST_FOLDS}, not {shown(self.folds)}")
        if not encodable(self.salt):
            raise QueryError(f"the salt of folds is a text of whole letters, not {shown(self.salt)}")

    def facts(self, scope: Scope) -> Code:
        for value in self.values:
            scope.facts(value)
        return Code(self.folds, tuple(map(str, range(self.folds))))

    def value(self, batch: Batch) -> Values:
        columns = [row for value in self.values for row in np.atleast_2d(batch.value(value))]
        hashes = row_hashes(self.salt, batch.rows, columns)
        return np.asarray((hashes % np.uint64(self.folds)).astype(np.min_scalar_type(self.folds)))


def fold(values: str | Node | Sequence[str | Node], folds: int = 5, salt: str = "") -> Fold:
    """Which of so many folds a row falls into, a number from 0, by a public hash of some of its values.

    Name the column that says whose row it is, where there is one: then all rows of a person are in one fold.
    Without such a column, name all columns. Then equal rows fall into the same fold.

    Args:
        values: the columns or expressions whose values are hashed.
        folds: how many folds there are.
        salt: a public text; another salt deals the rows otherwise.

    >>> import sulq
    >>> people = sulq.open({"id": range(1000)}, {"id": sulq.Integer(0, 999)})
    >>> sizes = people.exact().ask(sulq.Round([sulq.count(by=fold("id", 4))]))[0].value
    >>> int(sizes.sum()), bool(sizes.min() > 200)
    (1000, True)
    """
    given = [values] if isinstance(values, str | Node) else values
    return Fold(tuple(map(named, given)), folds, salt)


def row_hashes(salt: str, rows: int, columns: Iterable[NDArray[np.generic]]) -> Hashes:
    """A 64-bit hash of each row's encoded values; a bijective mix after every column.

    Args:
        salt: a public text.
        rows: how many rows there are.
        columns: the encoded values of the rows, column by column: whole numbers of any type.
    """
    seed = int.from_bytes(hashlib.sha256(salt.encode()).digest()[:8], "little")
    hashes = np.full(rows, seed, dtype=np.uint64)
    for values in columns:
        hashes ^= values.astype(np.int64).view(np.uint64)
        # Steele, Lea and Flood's finalizer of SplitMix64.
        hashes += np.uint64(0x9E3779B97F4A7C15)
        hashes = (hashes ^ (hashes >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        hashes = (hashes ^ (hashes >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        hashes ^= hashes >> np.uint64(31)
    return hashes
