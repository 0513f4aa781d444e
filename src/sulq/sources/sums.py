"""What adds up: the interface of everything that can be asked for sums, and a way to implement it.

A new engine implements two things: how many rows there are, and the exact sums of row expressions over them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sulq.errors import SchemaError, SulqError
from sulq.numbers import several
from sulq.queries.kernel import Kernel
from sulq.queries.node import Leaf, Node
from sulq.queries.scope import Floats, Scope, Values, scope_of
from sulq.reporting import Progress
from sulq.schema import Schema
from sulq.sources.files import Place

Block: TypeAlias = tuple[int, Mapping[str, Values]]
"""How many rows a block has, and its encoded columns by the keys of their leaves."""
OTHER_ROWS = "the data does not have as many rows as it says it has"


class Sums(ABC):
    """Rows that can be asked for sums, and for nothing else.

    Args:
        schema: what is public about the columns: a Schema, a dict, or the path of a TOML file.
        files: the files or the database that hold the rows, if any do. A curator's ledger lies beside them.
    """

    counts_people = False
    """Whether `rows` and `sums` leave out what a person has beyond the schema's unit.

    A source that does not do this refuses every schema with a unit: one person could count too often.
    """

    def __init__(self, schema: Schema | Mapping[str, Any] | str | Path, files: Place | None = None) -> None:
        self.schema = Schema.of(schema)
        if self.schema.unit is not None and not self.counts_people:
            raise SchemaError(
                f"a {type(self).__name__} does not know people with several rows: give it a schema without a "
                "unit, and one row a person, or open the rows with sulq.open"
            )
        self.scope = scope_of(self.schema)
        """Remembers what follows from the schema about each expression."""
        self.files = files

    @property
    @abstractmethod
    def rows(self) -> int:
        """How many rows count. No cell is looked at for it, unless a unit makes that depend on cells."""

    @abstractmethod
    def sums(self, parts: Sequence[Node]) -> list[NDArray[np.object_]]:
        """The exact sum of each row expression over all rows, as integers in steps of its grid.

        Args:
            parts: row expressions; one may be there several times.
        """

    def check(self, parts: Sequence[Node]) -> None:  # noqa: B027, most sources have all columns at any time
        """Refuse, before anything is charged, row expressions that these rows cannot be asked for.

        Args:
            parts: the row expressions.
        """

    def close(self) -> None:  # noqa: B027, most sources hold nothing
        """Give back memory, files and connections, if there are any."""

    def __repr__(self) -> str:
        return f"<sulq source of {several(len(self.schema), 'column', 'columns')}: {', '.join(self.schema)}>"


def sums_of_blocks(
    parts: Sequence[Node], scope: Scope, rows: int, blocks: Callable[[Mapping[str, Leaf]], Iterable[Block]]
) -> list[NDArray[np.object_]]:
    """What `Sums.sums` returns, from rows that come in blocks of any size and in any order.

    Args:
        parts: the row expressions to add up.
        scope: the scope of the source.
        rows: how many rows all blocks have together.
        blocks: takes the leaves that the expressions look at, by their keys, and hands out all rows, with a
            column for each leaf, as `sulq.sources.encoding.encoded` makes it.

    >>> import pyarrow as pa, sulq
    >>> from sulq.sources.encoding import encoded
    >>> scope, ages = Scope(sulq.Schema({"age": sulq.Integer(0, 120)})), [[31, 64], [70, 200, None]]
    >>> def blocks(leaves):
    ...     for block in ages:
    ...         yield len(block), {key: encoded(pa.array(block), leaf, scope) for key, leaf in leaves.items()}
    >>> [total] = sums_of_blocks([sulq.col("age")], scope, 5, blocks)
    >>> total
    array([345], dtype=object)
    """
    different = {part.key: part for part in parts}
    kernel = Kernel(list(different.values()), scope, rows)
    totals = kernel.nothing()
    room: dict[str, Floats] = {}
    with Progress("summing", rows) as progress:
        for size, columns in blocks(kernel.leaves):
            for start in range(0, size, kernel.block):
                stop = min(start + kernel.block, size)
                piece = {key: columns[key][start:stop] for key in kernel.leaves}
                totals.add(kernel.sums(piece, stop - start, room))
            progress.advance(size)
    if progress.done != rows:
        raise SulqError(OTHER_ROWS)
    by_key = dict(zip(different, kernel.totals(totals), strict=True))
    return [by_key[part.key] for part in parts]
