"""Row groups of Parquet files whose encoded columns a machine keeps in files of its own.

A machine that has encoded a column of some row groups writes it down, one file each, and later maps the file
into memory. Nothing depends on whether the file is there: a machine that has none makes it anew.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from sulq.errors import SulqError
from sulq.queries.facts import BLOCK
from sulq.queries.node import Leaf
from sulq.queries.scope import scope_of
from sulq.sources.encoding import dtype_of_leaf, encoded
from sulq.sources.engine import CHANGED, BlockLayout, on_scale

ROWS_AT_ONCE = 2**20
"""How many rows of a file go together, at least, if its row groups are smaller."""


@dataclass(frozen=True)
class RowGroups:
    """Some row groups of a Parquet file that every machine can read.

    Args:
        path: the file.
        first: the first row group.
        stop: the row group after the last.
        rows: how many rows they have.
        size: how many bytes the file had when it was opened.
    """

    path: str
    first: int
    stop: int
    rows: int
    size: int

    def batches(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Columns of these row groups as they are, block by block. Files that have changed are refused."""
        if Path(self.path).stat().st_size != self.size:
            raise SulqError(CHANGED)
        with pq.ParquetFile(self.path, pre_buffer=False) as file:
            yield from file.iter_batches(BLOCK, range(self.first, self.stop), names, use_threads=False)

    def encoded(self, layout: BlockLayout, leaves: Sequence[Leaf]) -> dict[str, NDArray[Any]]:
        """The encoded columns of these row groups, by the keys of the leaves.

        Args:
            layout: how columns are laid out.
            leaves: what to encode.
        """
        scope = scope_of(layout.schema)
        columns = {leaf.key: np.empty(self.rows, dtype_of_leaf(leaf, layout.schema)) for leaf in leaves}
        done = 0
        for batch in self.batches(list(dict.fromkeys(leaf.name for leaf in leaves))):
            for leaf in leaves:
                values = encoded(batch.column(leaf.name), leaf, scope)
                columns[leaf.key][done : done + len(values)] = values
            done += batch.num_rows
        return columns


def row_groups(paths: Iterable[Path]) -> list[RowGroups]:
    """All row groups of some files: several small ones of a file go together."""
    groups = []
    for path in paths:
        metadata, size = pq.read_metadata(path), path.stat().st_size
        first = rows = 0
        for number in range(metadata.num_row_groups):
            rows += metadata.row_group(number).num_rows
            if rows >= ROWS_AT_ONCE or number == metadata.num_row_groups - 1:
                groups.append(RowGroups(str(path), first, number + 1, rows, size))
                first, rows = number + 1, 0
    return groups


@dataclass(frozen=True)
class KeptGroups:
    """The row groups of some files, as machines see them that keep what they have encoded.

    Args:
        layout: how columns are laid out.
        groups: the row groups, which tasks know by their numbers.
        name: a name that no other source has. Files of other sources are never taken for these.
    """

    layout: BlockLayout
    groups: tuple[RowGroups, ...]
    name: str

    def blocks(
        self, numbers: Iterable[int], wanted: Mapping[str, Leaf]
    ) -> Iterator[tuple[int, dict[str, NDArray[Any]]]]:
        """The rows of some row groups, block by block: how many there are, and the columns that are wanted.

        Args:
            numbers: which row groups.
            wanted: the leaves to read; a feature is made of the column that it scales.
        """
        self.layout.check()
        scope = scope_of(self.layout.schema)
        kept = {key: self.layout.kept(leaf) for key, leaf in wanted.items()}
        for number in numbers:
            group = self.groups[number]
            if group.rows:
                columns = self._columns(number, {leaf.key: leaf for leaf in kept.values()})
                for start in range(0, group.rows, BLOCK):
                    piece = {key: columns[leaf.key][start : start + BLOCK] for key, leaf in kept.items()}
                    rows = min(BLOCK, group.rows - start)
                    yield rows, {key: on_scale(piece[key], leaf, scope) for key, leaf in wanted.items()}

    def forget(self) -> None:
        """Remove what this machine has kept."""
        room = _room()
        if room is not None:
            shutil.rmtree(room / self.name, ignore_errors=True)

    def _columns(self, number: int, leaves: Mapping[str, Leaf]) -> dict[str, NDArray[Any]]:
        group, room = self.groups[number], _room()
        if room is None:
            return group.encoded(self.layout, list(leaves.values()))
        folder = room / self.name / str(number)
        there = {key: self._mapped(folder, leaf, group.rows) for key, leaf in leaves.items()}
        columns = {key: values for key, values in there.items() if values is not None}
        missing = [leaf for key, leaf in leaves.items() if key not in columns]
        if missing:
            made = group.encoded(self.layout, missing)
            with suppress(OSError):  # a full disk: then the columns are made anew every time
                _write(folder, {self.layout.names[key]: values for key, values in made.items()})
            columns |= made
        return columns

    def _mapped(self, folder: Path, leaf: Leaf, rows: int) -> NDArray[Any] | None:
        type_ = dtype_of_leaf(leaf, self.layout.schema)
        try:
            return np.memmap(folder / self.layout.names[leaf.key], type_, "r", shape=(rows,))
        except (OSError, ValueError):
            return None


def _write(folder: Path, columns: Mapping[str, NDArray[Any]]) -> None:
    """Write files, each as a whole or not at all, also when two tasks do it at once."""
    folder.parent.mkdir(mode=0o700, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as aside:
        for name, values in columns.items():
            values.tofile(Path(aside, name))
            Path(aside, name).replace(folder / name)


def _room() -> Path | None:
    """Where files lie that Spark removes when the executor ends: in the folder of its own blocks."""
    folders = os.environ.get("SPARK_LOCAL_DIRS")
    return Path(folders.split(",")[0]) if folders else None
