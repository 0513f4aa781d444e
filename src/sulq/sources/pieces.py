"""What a reader is: the way to rows, which come as pieces of Arrow columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

import pyarrow as pa

Piece = tuple[str, int, pa.Array]
"""Some rows of a column: its name, the number of the first row, the values."""


class Reader(Protocol):
    """Says which columns there are, of which type and how many rows; hands out the rows in parts.

    A reader that is not `ordered` might meet the rows in another order at its next scan. Where that is so,
    or where every scan costs as much as one for all columns, `whole` is set and all columns are read in one.
    """

    types: Mapping[str, pa.DataType]
    whole: bool
    ordered: bool

    @property
    def rows(self) -> int:
        """How many rows there are. They may be counted for it, but no cell is looked at."""
        ...

    def parts(self, columns: Sequence[str], many: int) -> Sequence[Iterator[Piece]]:
        """At most so many parts, which together have every row of these columns once.

        Args:
            columns: which columns.
            many: how many parts there may be, to be read side by side.
        """
        ...


def pieces(batches: Iterable[pa.RecordBatch], start: int) -> Iterator[Piece]:
    """The columns of batches, one after the other.

    Args:
        batches: rows in order.
        start: the number of the first row.
    """
    for batch in batches:
        for name, array in zip(batch.schema.names, batch.columns, strict=True):
            yield name, start, array
        start += batch.num_rows
