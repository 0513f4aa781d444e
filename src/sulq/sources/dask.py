"""Parquet files on Dask: its workers encode row groups once, keep the blocks in their memory, and add up.

Dask sends a task where the blocks are, makes those of a lost worker anew, and has one result for each task.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sulq.errors import SchemaError, SulqError
from sulq.reporting import Progress
from sulq.schema import Schema
from sulq.sources.checking import check_columns, columns_of
from sulq.sources.engine import CHANGED, OTHER_CODE, Adding, BlockLayout, blocks_of
from sulq.sources.engine_source import EngineSource
from sulq.sources.files import Files
from sulq.sources.kept_groups import RowGroups, row_groups
from sulq.sources.people import person_keys
from sulq.sources.readers import Parquet

AT_ONCE = 64
"""So many partial results are merged by one task."""
PILES = 32
"""Into so many piles people with several rows are divided."""
FAILS = "Dask cannot do this to its end: workers are lost, or files are gone or damaged; its own log has more"
KNOWN = {
    OTHER_CODE: f"{OTHER_CODE}: install the same on every worker",
    CHANGED: f"{CHANGED}: open them again",
    "No module named": "the workers of Dask cannot import sulq or what it needs: install it on every worker",
}
"""What a failure may say, by what stands in the message of the task: each is public."""


def is_client(engine: object) -> bool:
    """Whether something is a client of Dask, or the address of its scheduler."""
    if isinstance(engine, str):
        return engine.startswith(("tcp://", "tls://"))
    return type(engine).__module__.startswith("distributed")


class DaskSource(EngineSource):
    """Rows of Parquet files, which the workers of Dask add up. Made by `sulq.open`, with `engine=`.

    Args:
        client: whose workers do the work.
        schema: what is public about the columns.
        place: the files.
        groups: their row groups.
    """

    def __init__(self, client: Any, schema: Schema, place: Files, groups: Sequence[RowGroups]) -> None:
        super().__init__(schema, place)
        self._client, self._groups = client, groups
        self._rows = None if schema.unit else sum(group.rows for group in groups)
        self._kept: list[Any] = []

    @property
    def rows(self) -> int:
        with self._lock:
            if self._rows is None:
                self._rows = sum(self._done("reading", [self._task(_size, kept) for kept in self._blocks()]))
            return self._rows

    def _summed(self, adding: Adding) -> Iterable[pa.RecordBatch]:
        partials = [self._task(adding.partial, kept) for kept in self._blocks()]
        merged = [partials[at : at + AT_ONCE] for at in range(0, len(partials), AT_ONCE)]
        return self._done("summing", [self._task(adding.merged, some) for some in merged], adding.rows)

    def close(self) -> None:
        """Let the workers forget the encoded blocks."""
        with self._lock:
            self._kept = []  # Dask forgets what nobody holds any more

    def _blocks(self) -> list[Any]:
        """What the workers keep: lists of blocks."""
        if not self._kept and self.schema.unit is None:
            self._kept = [self._task(_encoded, self._layout, group) for group in self._groups]
        elif not self._kept:
            piles = [self._task(_divided, self._layout, group) for group in self._groups]
            chosen = [[self._task(list.__getitem__, each, pile) for each in piles] for pile in range(PILES)]
            self._kept = [self._task(_together, self._layout, pieces) for pieces in chosen]
        return self._kept

    def _task(self, work: Any, *given: Any) -> Any:
        return self._client.submit(work, *given, pure=False)

    def _done(self, what: str, futures: list[Any], rows: int | None = None) -> list[Any]:
        """The results of some tasks, which are cancelled if somebody interrupts."""
        from distributed import as_completed

        try:
            with Progress(what, rows) as progress:
                for number, _ in enumerate(as_completed(futures)):
                    total = rows or 0
                    progress.advance(total * (number + 1) // len(futures) - total * number // len(futures))
            return list(self._client.gather(futures))
        except BaseException as error:
            self._client.cancel([*futures, *self._kept], force=True)
            self._kept = []
            if not isinstance(error, Exception):
                raise
            text = str(error)
        raise SulqError(next((words for sign, words in KNOWN.items() if sign in text), FAILS))


def open_on_dask(data: Any, schema: Schema, table: str | None, engine: Any) -> DaskSource:
    """Parquet files on Dask; the arguments are those of `sulq.open`.

    Args:
        data: the path of Parquet files that all workers can read.
        schema: what is public about the columns.
        table: refused: files have no tables.
        engine: a client of Dask, or the address of its scheduler.
    """
    if not isinstance(data, str | Path):
        raise SchemaError("engine= with Dask goes with the path of Parquet files")
    files = Files.find(data, table)
    if not files.suffixes <= {"parquet", "pq"}:
        raise SchemaError("engine= is for Parquet files: write the rows as Parquet first")
    check_columns(schema, Parquet(files.paths, ()).types)
    return DaskSource(_client(engine), schema, files, row_groups(files.paths))


def _client(engine: Any) -> Any:
    if not isinstance(engine, str):
        return engine
    try:
        from distributed import Client
    except ImportError:
        raise SchemaError("rows on Dask need more packages: pip install 'sulq[dask]'") from None
    return Client(engine)


def _encoded(layout: BlockLayout, group: RowGroups) -> list[pa.RecordBatch]:
    return list(blocks_of(layout, group.batches(columns_of(layout.schema))))


def _size(blocks: list[pa.RecordBatch]) -> int:
    return sum(block.column("rows")[0].as_py() for block in blocks)


def _divided(layout: BlockLayout, group: RowGroups) -> list[pa.Table]:
    """The rows of a row group in piles, by whose they are; rows of nobody are left out."""
    assert layout.schema.unit is not None
    table = pa.Table.from_batches(group.batches(columns_of(layout.schema)))
    keys = person_keys(table.column(layout.schema.unit.column))
    pile = np.array([-1 if key is None else zlib.crc32(key) % PILES for key in keys.to_pylist()])
    return [table.filter(pa.array(pile == number)) for number in range(PILES)]


def _together(layout: BlockLayout, pieces: list[pa.Table]) -> list[pa.RecordBatch]:
    return list(blocks_of(layout, (batch for piece in pieces for batch in piece.to_batches())))
