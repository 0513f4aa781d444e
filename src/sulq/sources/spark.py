"""Rows on Spark: the executors encode them into blocks once, keep the blocks, and add up.

Blocks are rows of a cached DataFrame, each with one binary cell for every encoded column. So Spark keeps them
in the executors' memory or on their disks, moves the work to them, makes those of a lost executor anew, and
counts the result of every task once, however often the task was run. Where executors read Parquet files
themselves, the cached rows are mere numbers of row groups: they bring a task to the executor that has the
encoded columns, in files of its own. Only DataFrames are used, which classic Spark and Spark Connect both
have. The cluster is inside the curator's wall: it sees the rows.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from sulq.errors import LedgerError, SchemaError
from sulq.schema import Schema
from sulq.sources.checking import check_columns, columns_of
from sulq.sources.engine import Adding, BlockLayout, blocks_of
from sulq.sources.engine_source import EngineSource
from sulq.sources.files import Files
from sulq.sources.kept_groups import KeptGroups, RowGroups, row_groups
from sulq.sources.people import person_keys
from sulq.sources.readers import Parquet
from sulq.sources.spark_jobs import done, session_of, stated

Batches = Iterator[pa.RecordBatch]
KEY = "sulq person"
"""The column by which the rows of a person are brought together."""
MOST_TASKS = 2**10
"""How many tasks add up, at most: each has a result of its own."""
MERGERS = 16
MOST_NUMBERS = 2**24
"""How many numbers the driver merges by itself: beyond, tasks do most of it."""
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

    beside = property(ledger)


class SparkSource(EngineSource):
    """Rows on Spark, which add up there. Made by `sulq.open`.

    Args:
        frame: a DataFrame of the columns that are needed.
        schema: what is public about the columns.
        place: where the rows are.
    """

    def __init__(self, frame: Any, schema: Schema, place: Cluster | Files) -> None:
        super().__init__(schema, place)
        self._frame = frame
        self._rows: int | None = None
        self._kept: Any = None

    @property
    def rows(self) -> int:
        with self._lock:
            if self._rows is None and self.schema.unit is None:
                self._rows = int(done(self._frame, "counting", lambda: self._frame.count()))
            elif self._rows is None:
                sizes = self._blocks().select("rows")
                self._rows = sum(row.rows for row in done(sizes, "reading", sizes.collect))
            return self._rows

    def _summed(self, adding: Adding) -> Iterable[pa.RecordBatch]:
        partials = _merged(self._partials(adding), adding)
        table = done(partials, "summing", partials.toArrow, adding.rows)
        return table.to_batches()  # type: ignore[no-any-return]

    def close(self) -> None:
        """Let the executors forget the encoded blocks."""
        with self._lock:
            kept, self._kept = self._kept, None
            if kept is not None:
                done(kept, "forgetting", lambda: self._forget(kept))

    def _partials(self, adding: Adding) -> Any:
        """What every task has added up."""
        blocks = self._blocks().select("rows", *adding.cells()).coalesce(MOST_TASKS)
        return blocks.mapInArrow(lambda batches: iter([adding.partial(batches)]), PARTIAL)

    def _blocks(self) -> Any:
        """The blocks. Spark makes them when they are first asked for."""
        if self._kept is None:
            unit, layout = self.schema.unit, self._layout
            frame = self._frame if unit is None else _together(self._frame, unit.column)
            cells = "".join(f", {name} binary" for name in layout.names.values())
            encoder = _encoder(layout)
            self._kept = frame.mapInArrow(encoder, "rows bigint" + cells).persist()
        return self._kept

    def _forget(self, kept: Any) -> None:
        kept.unpersist()


class SparkFiles(SparkSource):
    """Parquet files that the executors of Spark read themselves. Made by `sulq.open`, with `engine=`.

    Args:
        session: whose executors do the work.
        schema: what is public about the columns.
        place: the files.
        groups: their row groups.
    """

    def __init__(self, session: Any, schema: Schema, place: Files, groups: Sequence[RowGroups]) -> None:
        numbers = session.range(0, len(groups), 1, min(max(1, len(groups)), MOST_TASKS))
        super().__init__(numbers, schema, place)
        self._groups = KeptGroups(self._layout, tuple(groups), f"sulq-{uuid.uuid4().hex}")
        self._rows = sum(group.rows for group in groups)

    def _partials(self, adding: Adding) -> Any:
        if self._kept is None:
            self._kept = self._frame.persist()
        groups = self._groups

        def added(batches: Batches) -> Batches:
            numbers = (number for batch in batches for number in batch.column(0).to_pylist())
            yield adding.added(groups.blocks(numbers, adding.leaves))

        return self._kept.mapInArrow(added, PARTIAL)

    def _forget(self, kept: Any) -> None:
        groups = self._groups

        def forgotten(batches: Batches) -> Batches:
            groups.forget()
            yield from batches

        kept.mapInArrow(forgotten, "id bigint").count()
        kept.unpersist()


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
            "engine= is a session of Spark, a client of Dask, or an address, spark://…, sc://… or tcp://…, "
            f"not {type(engine).__name__}"
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
    return SparkFiles(session, schema, files, row_groups(files.paths))


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


def _merged(partials: Any, adding: Adding) -> Any:
    """The same integers in few rows: where they are many numbers, tasks merge what others have added up."""
    if adding.numbers * MOST_TASKS <= MOST_NUMBERS:
        return partials
    merged = partials.repartition(MERGERS)
    return merged.mapInArrow(lambda batches: iter([adding.merged(batches)]), PARTIAL)
