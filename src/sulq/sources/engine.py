"""What an engine of many machines does for sulq: encode rows into blocks once, and add up blocks.

Both are functions of Arrow batches, so an engine needs to do no more than map: batches in, batches out.
Blocks stay wherever the engine keeps them. Sums are integers, so it does not matter which machine added what,
in which order, or how often a machine had to begin anew, as long as the result of each task is counted once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sulq import errors
from sulq.errors import QueryError, SulqError
from sulq.queries.buckets import Identifier
from sulq.queries.expressions import Known, col
from sulq.queries.facts import BLOCK
from sulq.queries.kernel import Kernel
from sulq.queries.node import Leaf, Node
from sulq.queries.scope import Floats, Scope, scope_of
from sulq.queries.vectors import Feature, scaled
from sulq.schema import Schema, drops
from sulq.sources.encoding import dtype_of_leaf, encoded
from sulq.sources.people import counted_rows

OTHER_CODE = "the machines that do the work have another sulq than this one"
CHANGED = "the files have changed since they were opened"
"""These stand in the error of a task, and are looked for there."""


@cache
def code_digest() -> str:
    """A digest of all of sulq's Python code: machines with another one might add up otherwise."""
    root = Path(errors.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


@dataclass(frozen=True)
class BlockLayout:
    """How blocks of a table are laid out: a row of binary cells each, one for each encoded column.

    Args:
        schema: what is public about the columns.
        code: the digest of the code that laid them out.
    """

    schema: Schema
    code: str

    @classmethod
    def of(cls, schema: Schema) -> BlockLayout:
        """The layout of a table, by the code of this machine."""
        return cls(schema, code_digest())

    def check(self) -> None:
        """Refuse to work with other code than whoever gave the work has."""
        if self.code != code_digest():
            raise SulqError(OTHER_CODE)

    @cached_property
    def leaves(self) -> dict[str, Leaf]:
        """Every column, of those that keep it which cells are known, and whom rows are about."""
        known = [Known(name) for name, kind in self.schema.items() if drops(kind)]
        people = [] if self.schema.unit is None else [Identifier(self.schema.unit.column)]
        return {leaf.key: leaf for leaf in [*map(col, self.schema), *known, *people]}

    @cached_property
    def names(self) -> dict[str, str]:
        """What the binary cell of an encoded column is called, by the key of its leaf."""
        return {key: f"c{place}" for place, key in enumerate(self.leaves)}

    @property
    def arrow(self) -> pa.Schema:
        cells = [(name, pa.binary()) for name in self.names.values()]
        return pa.schema([("rows", pa.int64()), *cells])

    def block(self, columns: Mapping[str, NDArray[Any]], rows: int) -> pa.RecordBatch:
        """One block, as a batch of one row."""
        cells = [pa.array([columns[key].tobytes()], pa.binary()) for key in self.leaves]
        return pa.record_batch([pa.array([rows], pa.int64()), *cells], self.arrow)

    def read(self, batch: pa.RecordBatch, wanted: Mapping[str, Leaf]) -> Iterator[tuple[int, dict[str, Any]]]:
        """The blocks in a batch: how many rows, and the columns that are wanted.

        Args:
            batch: rows of binary cells, of which some may have been left out.
            wanted: the leaves to read; a feature is made of the column that it scales.
        """
        scope = scope_of(self.schema)
        for place, rows in enumerate(batch.column("rows").to_pylist()):
            block = {}
            for key, leaf in wanted.items():
                kept = self.kept(leaf)
                cell = batch.column(self.names[kept.key])[place].as_buffer()
                values = np.frombuffer(cell, dtype=dtype_of_leaf(kept, self.schema))
                block[key] = on_scale(values, leaf, scope)
            yield rows, block

    def check_parts(self, parts: Sequence[Node]) -> None:
        """Refuse row expressions of columns that machines do not keep."""
        for part in parts:
            for leaf in part.leaves().values():
                self.kept(leaf)

    def kept(self, leaf: Leaf) -> Leaf:
        """The leaf whose values are kept, of which another can be made."""
        if leaf.key not in self.leaves and isinstance(leaf, Identifier):
            raise QueryError(
                f"the machines keep no identifiers of column {leaf.name!r}: declare it as the unit, the "
                "column that names people"
            )
        return col(leaf.name) if isinstance(leaf, Feature) else leaf


def on_scale(values: NDArray[Any], leaf: Leaf, scope: Scope) -> NDArray[Any]:
    """The values of a leaf, made of those of the leaf that is kept for it (`BlockLayout.kept`)."""
    if not isinstance(leaf, Feature):
        return values
    feature = np.empty(len(values), dtype=dtype_of_leaf(leaf, scope.schema))
    np.copyto(feature, scaled(values[np.newaxis], scope.number(col(leaf.name)))[0], casting="unsafe")
    return feature


def blocks_of(layout: BlockLayout, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Encode rows that come in batches of any size: the task of the first pass.

    Where the schema has a unit, all rows of each person must be among these batches.

    Args:
        layout: how blocks are laid out.
        batches: columns as they came, by their names.
    """
    layout.check()
    if layout.schema.unit is not None:
        yield from _blocks_of_people(layout, batches)
        return
    waiting: list[pa.RecordBatch] = []
    many = 0
    for batch in batches:
        waiting.append(batch)
        many += batch.num_rows
        if many >= BLOCK:
            yield from _encoded(layout, pa.Table.from_batches(waiting))
            waiting, many = [], 0
    if many:
        yield from _encoded(layout, pa.Table.from_batches(waiting))


def _encoded(layout: BlockLayout, table: pa.Table) -> Iterator[pa.RecordBatch]:
    for start in range(0, table.num_rows, BLOCK):
        piece = table.slice(start, BLOCK)
        yield layout.block(_columns(layout, piece), piece.num_rows)


def _columns(layout: BlockLayout, table: pa.Table) -> dict[str, NDArray[Any]]:
    scope = scope_of(layout.schema)
    names = {leaf.name for leaf in layout.leaves.values()}
    cells = {name: _whole(table.column(name)) for name in names}
    return {key: encoded(cells[leaf.name], leaf, scope) for key, leaf in layout.leaves.items()}


def _whole(column: pa.ChunkedArray) -> pa.Array:
    whole = column.combine_chunks()
    return whole.combine_chunks() if isinstance(whole, pa.ChunkedArray) else whole


def _blocks_of_people(layout: BlockLayout, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    unit = layout.schema.unit
    assert unit is not None
    collected = list(batches)
    if not collected:
        return
    table = pa.Table.from_batches(collected)
    columns = _columns(layout, table)
    # Whom a row names is no part of which rows count: one machine with all rows does not hash it either.
    values = [columns[key] for key, leaf in layout.leaves.items() if not isinstance(leaf, Identifier)]
    counted = counted_rows(unit, table.column(unit.column), values)
    for start in range(0, len(counted), BLOCK):
        at = counted[start : start + BLOCK]
        yield layout.block({key: values[at] for key, values in columns.items()}, len(at))


PARTIAL = pa.schema(
    [
        ("rows", pa.int64()),
        ("blocks", pa.int64()),
        ("recent", pa.binary()),
        ("folded", pa.string()),
    ]
)
"""What a task that adds up returns: one row."""


@dataclass(frozen=True)
class Adding:
    """What is to be added up over blocks.

    Args:
        layout: how the blocks are laid out.
        parts: row expressions, each once.
        rows: how many rows there are in all.
    """

    layout: BlockLayout
    parts: Sequence[Node]
    rows: int

    def kernel(self) -> Kernel:
        return Kernel(self.parts, scope_of(self.layout.schema), self.rows)

    @property
    def numbers(self) -> int:
        """How many integers a partial result has."""
        return sum(len(each) for each in self.kernel().nothing().result())

    def cells(self) -> list[str]:
        """The binary cells that are looked at."""
        kept = [self.layout.kept(leaf) for leaf in self.leaves.values()]
        return list(dict.fromkeys(self.layout.names[leaf.key] for leaf in kept))

    @property
    def leaves(self) -> Mapping[str, Leaf]:
        """The columns that are looked at, by their keys."""
        return self.kernel().leaves

    def partial(self, batches: Iterable[pa.RecordBatch]) -> pa.RecordBatch:
        """The integers of some blocks: the task of every later pass."""
        self.layout.check()
        leaves = self.leaves
        return self.added(block for batch in batches for block in self.layout.read(batch, leaves))

    def added(self, blocks: Iterable[tuple[int, Mapping[str, NDArray[Any]]]]) -> pa.RecordBatch:
        """The integers of some blocks: how many rows each has, and the columns that are looked at."""
        kernel = self.kernel()
        totals, seen = kernel.nothing(), 0
        room: dict[str, Floats] = {}
        for rows, columns in blocks:
            for start in range(0, rows, kernel.block):
                stop = min(start + kernel.block, rows)
                piece = {key: values[start:stop] for key, values in columns.items()}
                totals.add(kernel.sums(piece, stop - start, room))
            seen += rows
        return _partial(seen, *totals.packed())

    def merged(self, partials: Iterable[pa.RecordBatch]) -> pa.RecordBatch:
        """Many partial results as one."""
        totals, seen = self.kernel().nothing(), 0
        for batch in partials:
            for rows, *packed in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                totals.merge_packed(*packed)
                seen += rows
        return _partial(seen, *totals.packed())

    def totals(self, partials: Iterable[pa.RecordBatch]) -> tuple[int, list[NDArray[np.object_]]]:
        """How many rows all partial results have together, and the sum of each expression."""
        whole = self.merged(partials)
        kernel = self.kernel()
        totals = kernel.nothing()
        rows, *packed = (column[0].as_py() for column in whole.columns)
        totals.merge_packed(*packed)
        return rows, kernel.totals(totals)


def _partial(rows: int, blocks: int, recent: bytes, folded: str) -> pa.RecordBatch:
    return pa.record_batch(
        [
            pa.array([each], field.type)
            for each, field in zip((rows, blocks, recent, folded), PARTIAL, strict=True)
        ],
        PARTIAL,
    )
