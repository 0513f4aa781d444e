"""The ways in: Parquet and CSV files, DuckDB, Postgres, and frames in memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sulq.errors import SchemaError, SulqError
from sulq.schema import Csv
from sulq.sources import frames
from sulq.sources.csv_files import USUAL, CsvFiles
from sulq.sources.files import Files, OpenFile
from sulq.sources.pieces import Piece, Reader, pieces
from sulq.sources.postgres import PostgresRows, is_address

PIECE = 2**17
TOGETHER = 16
"""How many row groups of a column are read in one go, at most."""
RUNS = 64
"""Into how many runs a file is divided, at least, for threads to share: if it has as many row groups."""
LARGE_GROUP = 2**20
"""Row groups of more rows are read a piece at a time: slower, but memory does not grow with them."""
QUERY_FAILS = (
    "DuckDB cannot read this to its end: a file is gone or damaged, or the query fails on some row "
    "(TRY_CAST instead of CAST makes what cannot be read a missing value)"
)
CSV = frozenset(("csv", "tsv", "txt"))


class Parquet:
    """Parquet files, a column of a few row groups at a time."""

    whole = False
    ordered = True

    def __init__(self, paths: Sequence[Path], texts: Sequence[str]) -> None:
        """`texts` are the columns whose dictionaries are worth keeping."""
        self._files: list[tuple[OpenFile, pq.FileMetaData]] = []
        self._texts = texts
        for path in paths:
            try:
                metadata = pq.read_metadata(path)
            except (OSError, pa.ArrowException):
                raise SchemaError(f"{str(path)!r} is not a readable Parquet file") from None
            self._files.append((OpenFile.of(path), metadata))
        stored = self._files[0][1].schema
        first = stored.to_arrow_schema()
        self.types: Mapping[str, pa.DataType] = {field.name: field.type for field in first}
        self.rows = sum(metadata.num_rows for _, metadata in self._files)
        leaves = [stored.column(i) for i in range(len(stored))]
        # What lies inside another column has a path that is longer than its name.
        self._numbers = {leaf.name: i for i, leaf in enumerate(leaves) if leaf.name == leaf.path}
        for file, metadata in self._files[1:]:
            if metadata.schema.to_arrow_schema() != first:
                raise SchemaError(f"{str(file.path)!r} has other columns or types than {str(paths[0])!r}")

    def parts(self, columns: Sequence[str], many: int) -> list[Iterator[Piece]]:
        waiting: deque[_Run] = deque()
        start = 0
        for place, (file, metadata) in enumerate(self._files):
            file.check()
            number = metadata.num_row_groups
            together = max(1, min(number * len(columns) // RUNS, TOGETHER))
            for first in range(0, number, together):
                groups = range(first, min(first + together, number))
                rows = [metadata.row_group(group).num_rows for group in groups]
                piece = PIECE if max(rows) > LARGE_GROUP else max(*rows, 1)
                waiting += [_Run(place, name, groups, start, piece) for name in columns]
                start += sum(rows)
        return [self._part(waiting, columns) for _ in range(many)]

    def _part(self, waiting: deque[_Run], columns: Sequence[str]) -> Iterator[Piece]:
        """Whatever no other part has taken, so that all of them end at about the same time."""
        # Arrow would check a text before it makes a dictionary of it, and fail on one that is not Unicode.
        dictionaries = [name for name in columns if pa.types.is_dictionary(self.types[name])]
        texts = [*dictionaries, *(name for name in self._texts if name in columns)]
        for file, runs in groupby(_taken(waiting), key=attrgetter("file")):
            path, metadata = self._files[file][0].path, self._files[file][1]
            # pre_buffer would hold a whole run in memory.
            settings = {"metadata": metadata, "read_dictionary": texts, "pre_buffer": False}
            try:
                with pq.ParquetFile(path, **settings) as opened:
                    for run in runs:
                        # By number, which the file's own `iter_batches` works out anew for every call.
                        own = [self._numbers[run.name]]
                        batches = opened.reader.iter_batches(run.piece, run.groups, own, use_threads=False)
                        yield from pieces(batches, run.start)
            except (OSError, pa.ArrowException):
                raise SulqError(f"{str(path)!r} cannot be read to its end: it is damaged") from None


class _Run(NamedTuple):
    """A column of some row groups, of which so many rows are read at once."""

    file: int
    name: str
    groups: range
    start: int
    piece: int


def _taken(waiting: deque[_Run]) -> Iterator[_Run]:
    """What is waiting, one after the other; several threads may take from the same."""
    while True:
        try:
            yield waiting.popleft()
        except IndexError:
            return


class MemoryTable:
    """Columns that are in memory already."""

    whole = False
    ordered = True

    def __init__(self, table: pa.Table) -> None:
        self._table = table
        self.types: Mapping[str, pa.DataType] = {field.name: field.type for field in table.schema}
        self.rows = table.num_rows

    def parts(self, columns: Sequence[str], many: int) -> list[Iterator[Piece]]:
        table = self._table.select(list(columns))
        rows = max(1, -(-table.num_rows // many))
        return [
            pieces(table.slice(start, rows).to_batches(PIECE), start)
            for start in range(0, table.num_rows, rows)
        ]


class Relation:
    """Anything DuckDB can scan, streamed in one go."""

    whole = True
    ordered = False

    def __init__(self, relation: duckdb.DuckDBPyRelation) -> None:
        self._relation = relation
        try:
            self.types: Mapping[str, pa.DataType] = {
                field.name: field.type for field in relation.limit(0).to_arrow_table().schema
            }
        except duckdb.Error as error:
            raise SchemaError(f"DuckDB cannot read this: {str(error).splitlines()[0]}") from None

    def parts(self, columns: Sequence[str], many: int) -> list[Iterator[Piece]]:
        return [self._part(columns)]

    def _part(self, columns: Sequence[str]) -> Iterator[Piece]:
        quoted = ", ".join('"' + name.replace('"', '""') + '"' for name in columns)
        try:
            yield from pieces(self._relation.project(quoted).to_arrow_reader(PIECE), 0)
            return
        except (duckdb.Error, OSError, pa.ArrowException):
            pass  # what it says may quote a row, so it is not even kept as the reason
        raise SulqError(QUERY_FAILS)

    @property
    def rows(self) -> int:
        try:
            [(rows,)] = self._relation.aggregate("count(*)").fetchall()
            return int(rows)
        except duckdb.Error:
            pass
        raise SulqError(QUERY_FAILS)


def reader(
    data: Any,
    columns: Sequence[str],
    texts: Sequence[str],
    table: str | None = None,
    quoted_newlines: bool = False,
    written: Csv = USUAL,
    query: str | None = None,
) -> Reader:
    """The reader for a path, a glob, a frame, arrays, a DuckDB relation, or the address of a database."""
    if is_address(data) and not quoted_newlines:
        return PostgresRows(data, table, query, columns)
    if query is not None and not is_address(data):
        raise SchemaError("query= is about Postgres: give the address of a database, postgresql://host/name")
    if isinstance(data, str | Path) and not is_address(data):
        data = Files.find(data, table)
    if isinstance(data, Files):
        return _files(data, texts, quoted_newlines, written)
    if quoted_newlines:
        raise SchemaError("quoted_newlines= is about CSV files; this is not one")
    if table is not None:
        raise SchemaError("table= names a table of a DuckDB file; this is not one")
    if isinstance(data, duckdb.DuckDBPyRelation):
        return Relation(data)
    if isinstance(data, pa.RecordBatch):
        data = pa.table(data)
    if isinstance(data, pa.Table):
        return MemoryTable(data)
    library = type(data).__module__.partition(".")[0]
    if library == "polars" and hasattr(data, "lazy"):
        return MemoryTable(frames.of_polars(data, columns))
    if library == "pandas" and hasattr(data, "columns"):
        return MemoryTable(
            frames.table({str(name): data[name] for name in data.columns if str(name) in columns})
        )
    if isinstance(data, np.ndarray):
        return MemoryTable(frames.table(frames.named(data, columns)))
    if isinstance(data, Mapping):
        return MemoryTable(frames.table({name: data[name] for name in data if name in columns}))
    raise SchemaError(
        f"cannot open a {type(data).__name__}: give a path, a pandas, Polars or Arrow table, NumPy arrays, a "
        "DuckDB relation or the address of a Postgres database"
    )


def _files(files: Files, texts: Sequence[str], quoted_newlines: bool, written: Csv) -> Reader:
    named, table = repr(str(files.given)), files.table
    if len(files.suffixes) > 1:
        raise SchemaError(f"{named} matches files of several kinds: {', '.join(sorted(files.suffixes))}")
    [suffix] = files.suffixes
    if quoted_newlines and suffix not in CSV:
        raise SchemaError(f"quoted_newlines= is about CSV files; {named} is not one")
    if suffix in ("duckdb", "db"):
        if table is None:
            raise SchemaError(f"{named} is a database: say which table= to open")
        if len(files.paths) > 1:
            raise SchemaError(f"{named} matches {len(files.paths)} databases: name one")
        try:
            connection = duckdb.connect(str(files.paths[0]), read_only=True)
        except duckdb.Error:
            raise SchemaError(f"{named} is not a DuckDB database that can be read") from None
        if (table,) not in connection.sql("SELECT table_name FROM information_schema.tables").fetchall():
            raise SchemaError(f"no table {table!r} in {named}")
        return Relation(connection.table(table))
    if table is not None:
        raise SchemaError(f"table= names a table of a DuckDB file; {named} is not one")
    if suffix in ("parquet", "pq"):
        return Parquet(files.paths, texts)
    if suffix in CSV:
        return CsvFiles(files.paths, quoted_newlines, written)
    raise SchemaError(f"{named} is neither Parquet (.parquet), CSV (.csv, .tsv, .txt) nor DuckDB (.duckdb)")
