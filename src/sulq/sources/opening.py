"""Opening: the way from a file, a database, a frame or arrays to a source.

Refusals come before a row is read.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sulq.errors import SchemaError
from sulq.numbers import whole
from sulq.queries.scope import scope_of
from sulq.schema import Category, Csv, Schema
from sulq.sources.checking import check_columns, columns_of
from sulq.sources.csv_files import USUAL
from sulq.sources.dask import DaskSource, is_client, open_on_dask
from sulq.sources.files import Files
from sulq.sources.loading import Columns
from sulq.sources.pieces import Reader
from sulq.sources.postgres import Database, is_address
from sulq.sources.readers import CSV, reader
from sulq.sources.spark import SparkSource, is_frame, is_session, open_on_spark
from sulq.sources.table import TableSource


def open(
    data: Any,
    schema: Any,
    *,
    table: str | None = None,
    query: str | None = None,
    quoted_newlines: bool = False,
    encoding: str | None = None,
    delimiter: str | None = None,
    memory: int | str | None = None,
    threads: int | None = None,
    engine: Any = None,
) -> TableSource | SparkSource | DaskSource:
    """Open rows for questions.

    No row of a file is read yet.

    In a CSV file one line is one row, whatever is on it.

    Args:
        data: the path of a Parquet or CSV file (or a glob of several), a DuckDB relation or the path of a
            DuckDB file with `table`, the address of a Postgres database ("postgresql://host/name", without a
            password) with `table` or `query`, a pandas, Polars or Arrow table, a dict of arrays, or a NumPy
            array whose columns are the schema's in order.
        schema: a Schema, a dict, or the path of a TOML file.
        table: the table of a DuckDB file, or the table or view of a Postgres database, with its schema if
            need be: "health.people".
        query: instead of a table of a Postgres database, a SELECT. It runs in a read-only transaction.
        quoted_newlines: a cell of a CSV file that is in quotes may have line ends. Then one quote that is
            never closed swallows all rows after it, so one person's cell can change what others count: say it
            only of files that are known to be well-formed, as their privacy then rests on that.
        encoding: how a CSV file writes letters, as "latin-1"; by default as the schema's `csv` says, or else
            UTF-8.
        delimiter: what stands between the cells of a CSV file; by default as the schema's `csv` says, or else
            that of , ; | and tab which the first line has most of.
        memory: how much the encoded columns may take ("4GB", or bytes; half of what is free by default)
            before they go to temporary files.
        threads: how many threads read and add up; by default as many as there are cores.
        engine: who does the work, if it is not this process: a session of Spark, a client of Dask, or the
            address of either ("spark://…", "sc://…", "tcp://…"), for Parquet files that all its machines can
            read.

    >>> import numpy as np, sulq
    >>> people = sulq.open({"age": np.array([31, 64, 70])}, {"age": sulq.Integer(0, 120)})
    >>> people.exact().ask(sulq.Round([sulq.count(where=sulq.col("age") >= 65)]))[0].value
    1.0
    """
    declared = Schema.of(schema)
    if engine is not None or is_frame(data) or is_session(data):
        given = {"query": query, "encoding": encoding, "delimiter": delimiter, "memory": memory}
        given |= {"threads": threads, "quoted_newlines": quoted_newlines or None}
        meaningless = [f"{name}=" for name, value in given.items() if value is not None]
        if meaningless:
            raise SchemaError(f"{', '.join(meaningless)}: the engine decides this, so leave it out")
        return (open_on_dask if is_client(engine) else open_on_spark)(data, declared, table, engine)
    return open_here(
        data,
        declared,
        table=table,
        query=query,
        quoted_newlines=quoted_newlines,
        encoding=encoding,
        delimiter=delimiter,
        memory=memory,
        threads=threads,
    )


def open_here(
    data: Any,
    schema: Schema | Mapping[str, Any] | str | Path,
    *,
    table: str | None = None,
    query: str | None = None,
    quoted_newlines: bool = False,
    encoding: str | None = None,
    delimiter: str | None = None,
    memory: int | str | None = None,
    threads: int | None = None,
) -> TableSource:
    """Rows that this process reads; the arguments are those of `open`."""
    declared = Schema.of(schema)
    place: Files | Database | None = None
    if is_address(data):
        place = Database(table)
    elif isinstance(data, str | Path):
        place = data = Files.find(data, table)
    named = None if isinstance(place, Files) else table
    opened = reader_for(data, declared, named, quoted_newlines, encoding, delimiter, query)
    return TableSource(Columns(opened, scope_of(declared), _bytes(memory), _threads(threads)), place)


def reader_for(
    data: Any,
    schema: Schema,
    table: str | None = None,
    quoted_newlines: bool = False,
    encoding: str | None = None,
    delimiter: str | None = None,
    query: str | None = None,
) -> Reader:
    """The way to the rows of a schema, or a refusal; the arguments are those of `open`."""
    person = schema.unit.column if schema.unit else None
    texts = [name for name, kind in schema.items() if isinstance(kind, Category) and name != person]
    if isinstance(data, str | Path) and not is_address(data):
        data, table = Files.find(data, table), None
    if (encoding or delimiter) is not None and not (isinstance(data, Files) and data.suffixes <= CSV):
        raise SchemaError("encoding= and delimiter= are about CSV files; this is not one")
    usual = schema.csv or USUAL
    written = Csv(usual.encoding if encoding is None else encoding, delimiter or usual.delimiter)
    opened = reader(data, columns_of(schema), texts, table, quoted_newlines, written, query)
    check_columns(schema, opened.types)
    return opened


def _bytes(memory: int | str | None) -> int:
    if memory is None:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    if isinstance(memory, str):
        for suffix, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3), ("B", 1)):
            number = memory.removesuffix(suffix).strip()
            if number != memory and number.replace(".", "", 1).isdigit():
                return int(float(number) * factor)
    elif isinstance(memory, int) and memory >= 0:
        return memory
    raise SchemaError(f"memory is a number of bytes or a text such as '4GB', not {memory!r}")


def _threads(threads: int | None) -> int:
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return whole("threads", threads, 1, error=SchemaError)
