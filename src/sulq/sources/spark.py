"""Rows on Spark: the executors encode them into blocks once, keep the blocks, and add up.

Blocks are rows of a cached DataFrame, each with one binary cell for every encoded column. So Spark keeps them
in the executors' memory or on their disks, moves the work to them, makes those of a lost executor anew, and
counts the result of every task once, however often the task was run. Only DataFrames are used, which classic
Spark and Spark Connect both have. The cluster is inside the curator's wall: it sees the rows.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from sulq.errors import LedgerError, SchemaError, SulqError
from sulq.queries.node import Node
from sulq.schema import Schema
from sulq.sources.checking import check_columns, columns_of
from sulq.sources.engine import Adding, BlockLayout, RowGroups, blocks_of, row_groups_read
from sulq.sources.files import Files
from sulq.sources.people import person_keys
from sulq.sources.readers import Parquet
from sulq.sources.source import Source
from sulq.sources.spark_jobs import done, session_of, stated
from sulq.sources.sums import OTHER_ROWS

Batches = Iterator[pa.RecordBatch]
KEY = "sulq person"
"""The column by which the rows of a person are brought together."""
MOST_TASKS = 2**10
"""How many tasks add up, at most: each has a result of its own."""
MERGERS = 16
MOST_NUMBERS = 2**24
"""How many numbers the driver merges by itself: beyond, tasks do most of it."""
ROWS_AT_ONCE = 2**20
"""How many rows of a file one task reads, at least, if its row groups are smaller."""
ARROW = {
    "byte": pa.int8(),
    "short": pa.int16(),
    "integer": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "boolean": pa.bool_(),
    "string": pa.string(),
    "char": pa.string(),
    "varchar": pa.string(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "timestamp_ntz": pa.timestamp("us"),
}
"""In which type of Arrow columns come, by the name of Spark's type. Others are refused by that name."""
PARTIAL = "rows bigint, blocks bigint, recent binary, folded string"


def is_frame(data: object) -> bool:
    """Whether something is a DataFrame of Spark, classic or Connect."""
    return _of_spark(data) and hasattr(data, "mapInArrow")


def is_session(data: object) -> bool:
    """Whether something is a session of Spark, or the address of one."""
    if isinstance(data, str):
        return data.startswith(("spark://", "sc://"))
    return _of_spark(data) and hasattr(data, "catalog")


def _of_spark(data: object) -> bool:
    return type(data).__module__.startswith("pyspark.sql")


@dataclass(frozen=True)
class Cluster:
    """Where rows on a cluster are, as far as it may be written down.

    Args:
        table: the table of the catalog; None for a DataFrame.
    """

    table: str | None

    def ledger(self) -> Path:
        """Refused: nothing lies beside a table of a cluster."""
        raise LedgerError(
            "rows on Spark have no ledger beside them: say with ledger= (--ledger) where it is remembered "
            "what was spent on them, always the same"
        )

    @property
    def beside(self) -> Path:
        return self.ledger()


class SparkSource(Source):
    """Rows on Spark, which add up there. Made by `sulq.open`.

    Args:
        frame: a DataFrame of the columns that are needed.
        schema: what is public about the columns.
        place: where the rows are.
        groups: instead of the rows in `frame`, the row groups that the executors read themselves: `frame`
            then has a number for each.
        rows: how many rows there are, if that is known.
    """

    counts_people = True

    def __init__(
        self,
        frame: Any,
        schema: Schema,
        place: Cluster | Files,
        groups: Sequence[RowGroups] = (),
        rows: int | None = None,
    ) -> None:
        super().__init__(schema, place)
        self._layout = BlockLayout.of(schema)
        self._frame = frame
        self._groups = tuple(groups)
        self._rows = rows
        self._blocks: Any = None
        self._lock = threading.Lock()

    @property
    def rows(self) -> int:
        with self._lock:
            if self._rows is None and self.schema.unit is None:
                self._rows = int(done(self._frame, "counting", lambda: self._frame.count()))
            elif self._rows is None:
                sizes = self._kept().select("rows")
                self._rows = sum(row.rows for row in done(sizes, "reading", sizes.collect))
            return self._rows

    def check(self, parts: Sequence[Node]) -> None:
        for part in parts:
            for leaf in part.leaves().values():
                self._layout.kept(leaf)

    def sums(self, parts: Sequence[Node]) -> list[NDArray[np.object_]]:
        rows = self.rows
        different = {part.key: part for part in parts}
        adding = Adding(self._layout, tuple(different.values()), rows)
        with self._lock:
            blocks = self._kept().select("rows", *adding.cells())
            partials = _partials(blocks, adding)
            table = done(partials, "summing", partials.toArrow, rows)
        seen, totals = adding.totals(table.to_batches())
        if seen != rows:
            raise SulqError(OTHER_ROWS)
        by_key = dict(zip(different, totals, strict=True))
        return [by_key[part.key] for part in parts]

    def close(self) -> None:
        """Let the executors forget the encoded blocks."""
        with self._lock:
            blocks, self._blocks = self._blocks, None
            if blocks is not None:
                done(blocks, "forgetting", blocks.unpersist)

    def _kept(self) -> Any:
        """The blocks. Spark makes them when they are first asked for."""
        if self._blocks is None:
            unit = self.schema.unit
            frame = self._frame if unit is None else _together(self._frame, unit.column)
            encoder = _group_encoder(self._layout, self._groups) if self._groups else _encoder(self._layout)
            cells = "".join(f", {name} binary" for name in self._layout.names.values())
            self._blocks = frame.mapInArrow(encoder, "rows bigint" + cells).persist()
        return self._blocks


def open_on_spark(data: Any, schema: Schema, table: str | None, engine: Any) -> SparkSource:
    """Rows on Spark; the arguments are those of `sulq.open`.

    Args:
        data: a DataFrame, a session or its address, or the path of Parquet files.
        schema: what is public about the columns.
        table: the table of the catalog, for a session.
        engine: the session, for files.
    """
    if engine is not None and not is_session(engine):
        raise SchemaError(
            f"engine= is a session of Spark or its address, spark://… or sc://…, not {type(engine).__name__}"
        )
    if engine is not None and not isinstance(data, str | Path):
        raise SchemaError("engine= goes with the path of Parquet files; a DataFrame of Spark needs none")
    if engine is not None:
        return _open_files(Files.find(data, table), session_of(engine), schema)
    if is_frame(data) and table is not None:
        raise SchemaError("table= names a table of a session; this is a DataFrame already")
    if table is None and not is_frame(data):
        raise SchemaError("say which table= of Spark's catalog to open")
    frame = data if is_frame(data) else stated(lambda: session_of(data).table(table))
    return _open_frame(frame, schema, Cluster(table))


def _open_frame(frame: Any, schema: Schema, place: Cluster | Files) -> SparkSource:
    present = [name for name in columns_of(schema) if name in frame.columns]
    chosen = stated(lambda: frame.select(*("`" + name.replace("`", "``") + "`" for name in present)))
    check_columns(schema, {field.name: _arrow_type(field.dataType) for field in frame.schema.fields})
    return SparkSource(chosen, schema, place)


def _arrow_type(type_: Any) -> pa.DataType:
    """The type in which a column will come. Nothing is run to find out: even no rows could fail on a cell."""
    name = type_.typeName()
    if name == "decimal":
        return pa.decimal128(type_.precision, type_.scale)
    return ARROW.get(name) or pa.struct([pa.field(name, pa.null())])


def _open_files(files: Files, session: Any, schema: Schema) -> SparkSource:
    """Parquet files that every executor can read: tasks read row groups, and do it faster than Spark."""
    if not files.suffixes <= {"parquet", "pq"}:
        raise SchemaError("engine= is for Parquet files; Spark itself reads others, as spark.read.csv(…)")
    if schema.unit is not None:  # all rows of a person have to come together
        return _open_frame(stated(lambda: session.read.parquet(*map(str, files.paths))), schema, files)
    opened = Parquet(files.paths, ())
    check_columns(schema, opened.types)
    groups = _row_groups(files.paths)
    numbers = session.range(0, len(groups), 1, max(1, len(groups)))
    return SparkSource(numbers, schema, files, groups, opened.rows)


def _row_groups(paths: Sequence[Path]) -> list[RowGroups]:
    """Row groups for one task each: several small ones go together."""
    groups = []
    for path in paths:
        metadata, size = pq.read_metadata(path), path.stat().st_size
        first = rows = 0
        for number in range(metadata.num_row_groups):
            rows += metadata.row_group(number).num_rows
            if rows >= ROWS_AT_ONCE or number == metadata.num_row_groups - 1:
                groups.append(RowGroups(str(path), first, number + 1, size))
                first, rows = number + 1, 0
    return groups


def _together(frame: Any, person: str) -> Any:
    """The same rows, with all rows of each person in one partition, and without rows of nobody.

    The number of partitions is stated: otherwise Spark might divide large ones again.
    """
    from pyspark.sql.types import BinaryType, StructField, StructType

    def keyed(batches: Batches) -> Batches:
        for batch in batches:
            keys = person_keys(pa.chunked_array([batch.column(person)])).cast(pa.binary())
            rows = pa.record_batch([*batch.columns, keys], [*batch.schema.names, KEY])
            yield rows.filter(keys.is_valid())

    with_key = StructType([*frame.schema.fields, StructField(KEY, BinaryType())])
    many = int(frame.sparkSession.conf.get("spark.sql.shuffle.partitions"))
    return frame.mapInArrow(keyed, with_key).repartition(many, KEY).drop(KEY)


def _encoder(layout: BlockLayout) -> Callable[[Batches], Batches]:
    return lambda batches: blocks_of(layout, map(_in_utc, batches))


def _in_utc(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Times of a time zone as those of UTC, which files have: the session's zone is no matter of the rows."""
    columns = [
        column.cast(pa.timestamp("us", "UTC"))
        if pa.types.is_timestamp(column.type) and column.type.tz is not None
        else column
        for column in batch.columns
    ]
    return pa.record_batch(columns, batch.schema.names)


def _group_encoder(layout: BlockLayout, groups: Sequence[RowGroups]) -> Callable[[Batches], Batches]:
    def encode(batches: Batches) -> Batches:
        numbers = (number for batch in batches for number in batch.column(0).to_pylist())
        return blocks_of(layout, row_groups_read(layout, (groups[number] for number in numbers)))

    return encode


def _partials(blocks: Any, adding: Adding) -> Any:
    """The integers of all blocks, in few rows."""
    added = blocks.coalesce(MOST_TASKS).mapInArrow(lambda batches: iter([adding.partial(batches)]), PARTIAL)
    if adding.numbers * MOST_TASKS <= MOST_NUMBERS:
        return added
    # The driver has little to do: tasks merge what others have added up.
    merged = added.repartition(MERGERS)
    return merged.mapInArrow(lambda batches: iter([adding.merged(batches)]), PARTIAL)
