"""A table with all kinds of columns and of faults, as sulq reads it and as DuckDB has it once it is clean."""

from __future__ import annotations

import datetime
from functools import cache
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

import sulq

ROWS = 3000
WARDS = ("north", "south", "west")
FIRST, LAST = datetime.date(1920, 1, 1), datetime.date(2019, 12, 31)
SCHEMA: dict[str, Any] = {
    "ward": sulq.Category(WARDS),
    "sex": sulq.Category(["female", "male"], missing="female"),
    "sick": sulq.Boolean(),
    "age": sulq.Integer(0, 99),
    "visits": sulq.Integer(0, 20, drop_missing=True),
    "cost": sulq.Real(0, 4096, drop_missing=True),
    "debt": sulq.Real(-512, 512, missing=0),
    "born": sulq.Date(FIRST, LAST),
    "left_on": sulq.Date("2018-03-10", "2019-11-20", drop_missing=True),
    "person": sulq.Integer(0, ROWS),
    "smokes": sulq.Boolean(drop_missing=True),
}


@cache
def raw() -> dict[str, list[Any]]:
    """The rows as a file might have them: with missing cells, and with values that are not in the schema."""
    rng = np.random.default_rng(16)

    def holes(values: list[Any], part: float) -> list[Any]:
        return [None if gap else value for value, gap in zip(values, rng.random(ROWS) < part, strict=True)]

    days = [FIRST + datetime.timedelta(days=int(day)) for day in rng.integers(0, 36500, ROWS)]
    stays = [
        datetime.date(2018, 3, 1) + datetime.timedelta(days=int(day)) for day in rng.integers(0, 650, ROWS)
    ]
    return {
        "ward": holes(rng.choice([*WARDS, "attic"], ROWS, p=[0.5, 0.3, 0.15, 0.05]).tolist(), 0.05),
        "sex": holes(rng.choice(["female", "male"], ROWS).tolist(), 0.05),
        "sick": holes((rng.random(ROWS) < 0.3).tolist(), 0.05),
        "age": holes(rng.integers(-5, 110, ROWS).tolist(), 0.05),
        "visits": holes(rng.integers(0, 25, ROWS).tolist(), 0.2),
        "cost": holes((rng.integers(-100, 20000, ROWS) / 4).tolist(), 0.3),
        "debt": holes((rng.integers(-2500, 2500, ROWS) / 4).tolist(), 0.1),
        "born": holes(days, 0.05),
        "left_on": holes(stays, 0.25),
        "person": (np.arange(ROWS) // 2).tolist(),
        "smokes": holes((rng.random(ROWS) < 0.6).tolist(), 0.3),
    }


def cleaned(kind: Any, cell: Any) -> Any:
    """A cell as the schema has it: NULL only where missing cells are kept."""
    if isinstance(kind, sulq.Category):
        return cell if cell in kind.values else kind.missing or "(other)"
    if isinstance(kind, sulq.Boolean):
        return (None if kind.drop_missing else kind.missing) if cell is None else cell
    if isinstance(kind, sulq.Date):
        missing = None if kind.drop_missing else kind.date(kind.missing)
        return missing if cell is None else min(max(cell, kind.first), kind.last)
    return (
        (None if kind.drop_missing else kind.missing) if cell is None else min(max(cell, kind.low), kind.high)
    )


@cache
def database() -> duckdb.DuckDBPyConnection:
    """DuckDB with the clean table, called people."""
    table = {name: [cleaned(kind, cell) for cell in raw()[name]] for name, kind in SCHEMA.items()}
    connection = duckdb.connect()
    connection.register("clean", pa.table(table))
    connection.execute("CREATE TABLE people AS SELECT * FROM clean")
    return connection


@cache
def people(unit: bool = False) -> sulq.Source:
    schema = sulq.Schema(SCHEMA, sulq.Unit("person", rows=2) if unit else None)
    return sulq.open(pa.table(raw()), schema)
