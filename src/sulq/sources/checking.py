"""Whether a table has the columns of a schema, in types that can be read. No row is looked at for it."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from sulq.errors import SchemaError
from sulq.schema import Schema
from sulq.sources.encoding import check_type
from sulq.sources.people import check_person_type

MOST_NAMES = 50
"""A message lists no more columns than this: tables may have thousands."""


def columns_of(schema: Schema) -> list[str]:
    """The columns that are read: those of the schema, and the one that says whom a row is about."""
    person = [] if schema.unit is None else [schema.unit.column]
    return list(dict.fromkeys([*schema, *person]))


def check_columns(schema: Schema, types: Mapping[str, pa.DataType]) -> None:
    """Refuse a table that lacks a column, or has one in a type that cannot be read.

    Args:
        schema: what is public about the columns.
        types: the columns that the table has.
    """
    for name in columns_of(schema):
        if name not in types:
            raise SchemaError(f"the data has no column {name!r}; it has {_names(types)}")
    for name, kind in schema.items():
        check_type(name, kind, types[name])
    if schema.unit is not None:
        check_person_type(schema.unit.column, types[schema.unit.column])


def _names(columns: Mapping[str, pa.DataType]) -> str:
    """The columns on one line, also where a name has line ends or controls a terminal."""
    names = [name if name.isprintable() else repr(name) for name in columns]
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
