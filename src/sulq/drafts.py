"""A draft of a schema: the types a table's columns seem to have, and holes where public facts belong.

The draft holds nothing of the data but its columns' names and types. Bounds and categories are for the
user to fill in from public knowledge: read off the data they would give away its extremes.
"""

from __future__ import annotations

import json
import re
from itertools import islice
from typing import Any

import pyarrow as pa

from sulq.errors import SchemaError
from sulq.schema import HOLE
from sulq.sources.encoding import parsed
from sulq.sources.readers import Reader, reader

LOOKED_AT = 1000
"""Of a column of text, so many cells are looked at to tell numbers from words."""


def draft(data: Any, table: str | None = None) -> str:
    """A schema in TOML for a file or table, to be completed by hand."""
    opened = reader(data, (), (), table)
    if not opened.types:
        raise SchemaError("there are no columns to describe")
    lines = [
        "# A draft: the types are what the columns look like, and may be changed.",
        f"# Replace every {HOLE} by public knowledge about the column (the range of the scale it is",
        "# measured on, the answers a form offers), never by what you see in this data: that would",
        "# publish its extremes.",
        "# Columns nobody should ask about can be deleted.",
        "",
        "# Whose privacy? By default one row's. If a person can have several rows, name the column",
        "# that tells people apart, and how many rows of a person may count:",
        "# [unit]",
        f'# column = "{HOLE}"',
        f"# rows = {HOLE}",
    ]
    for name, kind in _kinds(opened).items():
        lines += ["", f"[columns.{_key(name)}]", f'type = "{kind}"']
        if kind == "category":
            lines += [f'values = {HOLE}   # every answer there can be, as in ["yes", "no"]']
        elif kind != "boolean":
            lines += [f"low = {HOLE}", f"high = {HOLE}"]
    return "\n".join(lines) + "\n"


def _kinds(opened: Reader) -> dict[str, str]:
    unclear = [name for name, type_ in opened.types.items() if pa.types.is_string(type_)]
    first: dict[str, pa.Array] = {}
    if opened.whole and unclear:
        [part] = opened.parts(unclear, 1)
        first = {name: array[:LOOKED_AT] for name, _, array in islice(part, len(unclear))}
    return {name: _kind(type_, first.get(name)) for name, type_ in opened.types.items()}


def _kind(type_: pa.DataType, cells: pa.Array | None) -> str:
    if pa.types.is_boolean(type_):
        return "boolean"
    if pa.types.is_integer(type_):
        return "integer"
    if pa.types.is_floating(type_) or pa.types.is_decimal(type_):
        return "real"
    if cells is not None and cells.null_count < len(cells):
        known = len(cells) - cells.null_count
        for kind, sql in (
            ("boolean", "CASE WHEN lower(x) IN ('true', 'false') THEN 1 END"),
            ("integer", "CASE WHEN regexp_full_match(x, '\\s*[+-]?[0-9]+\\s*') THEN 1 END"),
            ("real", "TRY_CAST(x AS DOUBLE)"),
        ):
            read = parsed(cells, sql)
            if len(read) - read.null_count == known:
                return kind
    return "category"


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name, ensure_ascii=False)
