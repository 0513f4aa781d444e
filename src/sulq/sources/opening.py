"""Opening: the way from a file, a frame or arrays to a source. Refusals come before a row is read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from sulq.errors import SchemaError
from sulq.numbers import whole
from sulq.queries.scope import scope_of
from sulq.schema import Category, Csv, Schema
from sulq.sources.csv_files import USUAL
from sulq.sources.encoding import check_type
from sulq.sources.files import Files
from sulq.sources.loading import Columns
from sulq.sources.people import check_person_type
from sulq.sources.readers import CSV, Reader, reader
from sulq.sources.table import TableSource


def open(
    data: Any,
    schema: Any,
    *,
    table: str | None = None,
    quoted_newlines: bool = False,
    encoding: str | None = None,
    delimiter: str | None = None,
    memory: int | str | None = None,
    threads: int | None = None,
) -> TableSource:
    """Open rows for questions.

    No row of a file is read yet.

    In a CSV file one line is one row, whatever is on it.

    Args:
        data: the path of a Parquet or CSV file (or a glob of several), a DuckDB relation or the path of a
            DuckDB file with `table`, a pandas, Polars or Arrow table, a dict of arrays, or a NumPy array
            whose columns are the schema's in order.
        schema: a Schema, a dict, or the path of a TOML file.
        table: the table of a DuckDB file.
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

    >>> import numpy as np, sulq
    >>> people = sulq.open({"age": np.array([31, 64, 70])}, {"age": sulq.Integer(0, 120)})
    >>> people.exact().ask(sulq.Round([sulq.count(where=sulq.col("age") >= 65)]))[0].value
    1.0
    """
    declared = Schema.of(schema)
    files = Files.find(data, table) if isinstance(data, str | Path) else None
    named = None if files else table
    opened = reader_for(files or data, declared, named, quoted_newlines, encoding, delimiter)
    return TableSource(Columns(opened, scope_of(declared), _bytes(memory), _threads(threads)), files)


def reader_for(
    data: Any,
    schema: Schema,
    table: str | None = None,
    quoted_newlines: bool = False,
    encoding: str | None = None,
    delimiter: str | None = None,
) -> Reader:
    """The way to the rows of a schema, or a refusal; the arguments are those of `open`."""
    person = schema.unit.column if schema.unit else None
    texts = [name for name, kind in schema.items() if isinstance(kind, Category) and name != person]
    names = [*schema, *([] if person is None or person in schema else [person])]
    if isinstance(data, str | Path):
        data, table = Files.find(data, table), None
    if (encoding or delimiter) is not None and not (isinstance(data, Files) and data.suffixes <= CSV):
        raise SchemaError("encoding= and delimiter= are about CSV files; this is not one")
    usual = schema.csv or USUAL
    written = Csv(usual.encoding if encoding is None else encoding, delimiter or usual.delimiter)
    opened = reader(data, names, texts, table, quoted_newlines, written)
    for name in names:
        if name not in opened.types:
            raise SchemaError(f"the data has no column {name!r}; it has {', '.join(opened.types)}")
    for name, kind in schema.items():
        check_type(name, kind, opened.types[name])
    if person is not None:
        check_person_type(person, opened.types[person])
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
