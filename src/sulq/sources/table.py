"""A table as a source: files, frames, arrays or DuckDB, with its rows to be added up or looked at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sulq.queries.expressions import named
from sulq.queries.facts import BLOCK, Code
from sulq.queries.node import Node
from sulq.queries.scope import Batch
from sulq.sources.files import Place
from sulq.sources.loading import Columns
from sulq.sources.passes import summed
from sulq.sources.rows import Rows
from sulq.sources.source import Source
from sulq.sources.subset import Subset


class TableSource(Source, Rows):
    """A table whose columns are read once and then kept encoded. Made by `sulq.open`.

    Args:
        columns: the columns.
        files: the files or the database that hold the rows, if any do.
    """

    counts_people = True

    def __init__(self, columns: Columns, files: Place | None = None) -> None:
        super().__init__(columns.schema, files)
        self.scope = columns.scope
        self.columns = columns

    @property
    def rows(self) -> int:
        return self.columns.rows

    @property
    def ordered(self) -> bool:
        return self.columns.ordered

    def check(self, parts: Sequence[Node]) -> None:
        self.columns.check({key: leaf for part in parts for key, leaf in part.leaves().items()})

    def sums(self, parts: Sequence[Node]) -> list[NDArray[np.object_]]:
        columns = self.columns
        return summed(parts, self.scope, columns.rows, columns.load, columns.threads)

    def values(self, expression: str | Node) -> NDArray[Any]:
        expression = named(expression)
        rows = self.columns.rows
        stored = self.columns.load(expression.leaves())
        natural = []
        for start in range(0, max(1, rows), BLOCK):  # no rows are one empty block: the type is the same
            stop = min(start + BLOCK, rows)
            block = {key: column.read(start, stop) for key, column in stored.items()}
            natural.append(_natural(expression, Batch(self.scope, block, stop - start)))
        return np.concatenate(natural)

    def only(self, at: NDArray[np.intp]) -> TableSource:
        return TableSource(Subset(self.columns, at))

    def close(self) -> None:
        """Give back the memory and the temporary files of the encoded columns."""
        self.columns.close()


def _natural(expression: Node, batch: Batch) -> NDArray[Any]:
    facts = batch.scope.facts(expression)
    if isinstance(facts, Code):
        return batch.code(expression).copy()
    if facts.flag:
        return batch.condition(expression).copy()
    numbers = batch.number(expression).T * float(facts.unit)
    return numbers[:, 0] if facts.width == 1 else numbers
