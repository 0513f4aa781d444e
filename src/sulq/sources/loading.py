"""Columns read, cleaned and kept: each column that a question needs is read once, into a compact array."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sulq.errors import QueryError, SulqError
from sulq.queries.buckets import Identifier
from sulq.queries.expressions import Known, col
from sulq.queries.facts import BLOCK
from sulq.queries.node import Leaf
from sulq.queries.scope import Scope
from sulq.queries.vectors import scaled
from sulq.reporting import Progress
from sulq.schema import drops
from sulq.sources.encoding import Encoder, dtype_of_leaf
from sulq.sources.passes import share_out
from sulq.sources.people import counted_rows
from sulq.sources.pieces import Piece, Reader
from sulq.sources.postgres import PostgresRows
from sulq.sources.storage import Storage, StoredColumn
from sulq.sources.sums import OTHER_ROWS


class Columns:
    """The encoded columns of a table, each read when it is first asked for.

    Args:
        reader: the way to the rows.
        scope: expressions read against the schema.
        memory: how many bytes the columns may take before they go to temporary files.
        threads: how many threads read, and later add up.
    """

    def __init__(self, reader: Reader, scope: Scope, memory: int, threads: int) -> None:
        self.scope = scope
        self.schema = scope.schema
        self.threads = threads
        self._reader = reader
        self._storage = Storage(memory)
        self._columns: dict[str, StoredColumn] = {}
        self._rows: int | None = None
        self._counted: NDArray[np.intp] | None = None
        self._lock = threading.Lock()

    @property
    def rows(self) -> int:
        """How many rows count. No cell is looked at for it, unless a unit makes that depend on cells."""
        with self._lock:
            if self._rows is None and self.schema.unit is None:
                self._rows = self._reader.rows
            elif self._rows is None:
                self._load({})
            assert self._rows is not None
            return self._rows

    @property
    def ordered(self) -> bool:
        """Whether the rows come in the same order whenever they are opened."""
        return self._reader.ordered

    def check(self, leaves: Mapping[str, Leaf]) -> None:
        """Refuse identifiers that would have to be read after the other columns, from rows in no fixed order.

        Args:
            leaves: what is asked for, by key.
        """
        late = {
            leaf.name
            for key, leaf in leaves.items()
            if isinstance(leaf, Identifier) and key not in self._columns
        }
        if self.schema.unit is not None:
            late -= {self.schema.unit.column}  # who is the unit is read with the rest
        if late and not self._reader.ordered and (self._columns or self.schema.unit is not None):
            raise QueryError(
                "rows that come in no fixed order are asked for their identifiers first: open the table "
                "again, or declare the column that names people as its unit"
            )

    def load(self, leaves: Mapping[str, Leaf]) -> dict[str, StoredColumn]:
        """The encoded columns of some leaves, read and cleaned if they were not before."""
        self.check(leaves)
        with self._lock:
            self._load(leaves)
            return {key: self._columns[key] for key in leaves}

    def close(self) -> None:
        """Give back the memory and the temporary files of the encoded columns."""
        for column in self._columns.values():
            column.free()
        self._columns.clear()
        if isinstance(self._reader, PostgresRows):
            self._reader.close()

    def _load(self, leaves: Mapping[str, Leaf]) -> None:
        """Read and clean what was not read before.

        Where rows might come in another order next time, or a scan costs the same for all columns as for one,
        every column is read at the first; what is asked for on another scale is then made from what was kept.
        """
        everything = self._reader.whole or self.schema.unit is not None
        identifiers = {key: leaf for key, leaf in leaves.items() if isinstance(leaf, Identifier)}
        if everything and not self._columns:
            self._read(self._all() | identifiers)
        missing = {key: leaf for key, leaf in leaves.items() if key not in self._columns}
        if not missing:
            return
        if everything:
            self._rescale({key: leaf for key, leaf in missing.items() if key not in identifiers})
            self._identify({key: leaf for key, leaf in missing.items() if key in identifiers})
        else:
            self._read(missing)

    def _all(self) -> dict[str, Leaf]:
        """All columns, and of those that keep it, which cells are known: values do not tell that.

        Nor do they tell whom a row names. Where rows come in no fixed order, they cannot be asked for later.
        """
        known = [Known(name) for name, kind in self.schema.items() if drops(kind)]
        unit = self.schema.unit
        people = [] if unit is None or self._reader.ordered else [Identifier(unit.column)]
        return {leaf.key: leaf for leaf in [*map(col, self.schema), *known, *people]}

    def _identify(self, leaves: Mapping[str, Leaf]) -> None:
        """Read identifiers after the other columns, of the same rows."""
        assert not leaves or self._reader.ordered, "it was checked"
        for key, leaf in leaves.items():
            with self._storage.all_or_nothing():
                rows = self._reader.rows
                column = self._new_column(leaf, rows)
                self._fill({key: column}, {key: leaf}, rows)
                if self._counted is not None:
                    column = self._taken(column, self._counted)
                if column.rows != self._rows:
                    raise SulqError(OTHER_ROWS)
            self._columns[key] = column

    def _read(self, leaves: Mapping[str, Leaf]) -> None:
        rows = None if self.schema.unit else self._rows
        if rows is None and self._reader.ordered:  # else counting could mean to run a long query twice
            rows = self._reader.rows
        with self._storage.all_or_nothing():
            columns = {key: self._new_column(leaf, rows) for key, leaf in leaves.items()}
            people = self._fill(columns, leaves, rows)
            if people is not None:
                columns = self._only_counted(columns, leaves, people)
            rows_read = max(column.rows for column in columns.values())
            if self._rows not in (None, rows_read):
                raise SulqError(OTHER_ROWS)
        self._rows = rows_read
        self._columns |= columns

    def _fill(
        self, columns: Mapping[str, StoredColumn], leaves: Mapping[str, Leaf], rows: int | None
    ) -> pa.ChunkedArray | None:
        """Read and clean all rows; says whom each is about, where the schema has a unit."""
        unit = self.schema.unit
        people: dict[int, pa.Array] = {}
        names = {leaf.name for leaf in leaves.values()} | ({unit.column} if unit else set())
        of_name: dict[str, list[tuple[StoredColumn, Encoder]]] = {name: [] for name in names}
        for key, leaf in leaves.items():
            of_name[leaf.name].append((columns[key], Encoder(leaf, self.scope)))
        cells = None if rows is None else rows * len(names)
        with Progress("reading", cells) as progress:

            def work(_: None, part: Iterator[Piece]) -> None:
                for name, start, array in part:
                    for column, encoder in of_name[name]:
                        column.fill(start, array, encoder)
                    if unit and name == unit.column:
                        people[start] = array
                    progress.advance(len(array))

            parts = self._reader.parts(sorted(names), self.threads)
            if rows is not None and rows <= BLOCK:
                for part in parts:
                    work(None, part)  # to start a thread would take longer than to read a small table
            else:
                share_out(work, [None] * self.threads, iter(parts))
        if cells not in (None, progress.done):
            raise SulqError(OTHER_ROWS)
        if unit is None:
            return None
        return pa.chunked_array([people[start] for start in sorted(people)], self._reader.types[unit.column])

    def _rescale(self, leaves: Mapping[str, Leaf]) -> None:
        assert self._rows is not None
        for key, leaf in leaves.items():
            kept, facts = self._columns[col(leaf.name).key], self.scope.number(col(leaf.name))
            with self._storage.all_or_nothing():
                column = self._new_column(leaf, self._rows)
                for start in range(0, self._rows, BLOCK):
                    piece = kept.read(start, min(start + BLOCK, self._rows))
                    column.write(start, scaled(piece[np.newaxis], facts)[0])
            self._columns[key] = column

    def _only_counted(
        self, columns: dict[str, StoredColumn], leaves: Mapping[str, Leaf], people: pa.ChunkedArray
    ) -> dict[str, StoredColumn]:
        """The columns without the rows beyond what a person may contribute."""
        assert self.schema.unit is not None
        values = (
            column.read(0, column.rows)
            for key, column in columns.items()
            if not isinstance(leaves[key], Identifier)
        )
        counted = self._counted = counted_rows(self.schema.unit, people, values)
        return {key: self._taken(column, counted) for key, column in columns.items()}

    def _taken(self, column: StoredColumn, places: NDArray[np.intp]) -> StoredColumn:
        """Some rows of a column, instead of all of them."""
        values = column.read(0, column.rows)[places]
        kept = self._storage.column(values.dtype, len(places))
        kept.write(0, values)
        column.free()
        return kept

    def _new_column(self, leaf: Leaf, rows: int | None) -> StoredColumn:
        return self._storage.column(dtype_of_leaf(leaf, self.schema), rows)
