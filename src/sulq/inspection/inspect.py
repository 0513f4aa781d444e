"""Look at a table as its owner may: every cell, every line, every person."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from sulq.inspection.columns import ColumnTally
from sulq.inspection.findings import Finding, Inspection
from sulq.inspection.lines import LineTally
from sulq.reporting import Progress
from sulq.schema import Schema, Unit
from sulq.sources.csv_files import CsvFiles
from sulq.sources.opening import reader_for
from sulq.sources.people import people_of


def inspect(
    data: Any,
    schema: Any,
    *,
    table: str | None = None,
    quoted_newlines: bool = False,
    encoding: str | None = None,
    delimiter: str | None = None,
) -> Inspection:
    """What is wrong with a table, exactly. **Not private**: for the owner's eyes only, and never to publish.

    Args:
        data: what `sulq.open` takes.
        schema: what `sulq.open` takes.
        table: the table of a DuckDB file.
        quoted_newlines: a quoted cell of a CSV file may have line ends.
        encoding: how a CSV file writes letters.
        delimiter: what stands between the cells of a CSV file.

    >>> import sulq
    >>> people = {"sex": ["female", "Female", "male", "x"]}
    >>> [finding] = inspect(people, {"sex": sulq.Category(["female", "male"])}).findings
    >>> finding.what, finding.many, dict(finding.spellings), finding.try_
    ('not listed', 2, {'Female': 1, 'x': 1}, ('fold_case = true',))
    """
    declared = Schema.of(schema)
    reader = reader_for(data, declared, table, quoted_newlines, encoding, delimiter)
    columns = {name: ColumnTally(name, kind) for name, kind in declared.items()}
    unit = declared.unit
    people: dict[int, pa.Array] = {}
    names = sorted({*declared, *([unit.column] if unit else [])})
    rows = reader.rows
    with Progress("checking", rows * len(names)) as progress:
        for part in reader.parts(names, 1):
            for name, start, cells in part:
                if name in columns and not (unit and name == unit.column):
                    columns[name].add(cells)
                if unit and name == unit.column:
                    people[start] = cells
                progress.advance(len(cells))
    findings = [finding for tally in columns.values() for finding in tally.findings()]
    if isinstance(reader, CsvFiles):
        lines = LineTally(reader)
        lines.run()
        findings = [*lines.findings(), *findings]
    if unit:
        whose = pa.chunked_array([people[start] for start in sorted(people)], reader.types[unit.column])
        findings += _of_people(unit, whose)
    return Inspection(rows, tuple(findings))


def _of_people(unit: Unit, column: pa.ChunkedArray) -> Iterator[Finding]:
    """Who has more rows than count, and which rows count for nobody."""
    whose = people_of(column)
    rows = np.bincount(whose[whose >= 0])
    rows = rows[rows > 0]
    over, lost = int((rows > unit.rows).sum()), int((rows - unit.rows).clip(0).sum())
    nobody = int((whose < 0).sum())
    if over:
        what = f"more than {unit.rows} rows"
        effect = f"{lost:,} of their rows are left out; one person has {rows.max():,}"
        yield Finding("people", what, over, len(rows), effect, {})
    if nobody:
        effect = f"rows whose {unit.column!r} names nobody are left out"
        yield Finding("people", "rows of nobody", nobody, len(whose), effect, {})
