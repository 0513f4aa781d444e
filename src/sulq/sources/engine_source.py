"""Rows that an engine of many machines adds up: what Spark and Dask have in common."""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sulq.errors import SulqError
from sulq.queries.node import Node
from sulq.schema import Schema
from sulq.sources.engine import Adding, BlockLayout
from sulq.sources.source import Source
from sulq.sources.sums import OTHER_ROWS


class EngineSource(Source):
    """Rows on an engine. What it returns are partial sums, each of which is counted once.

    Args:
        schema: what is public about the columns.
        place: where the rows are.
    """

    counts_people = True

    def __init__(self, schema: Schema, place: Any) -> None:
        super().__init__(schema, place)
        self._layout = BlockLayout.of(schema)
        self._lock = threading.Lock()

    @abstractmethod
    def _summed(self, adding: Adding) -> Iterable[pa.RecordBatch]:
        """The partial sums of all rows; called by one thread at a time."""

    def check(self, parts: Sequence[Node]) -> None:
        self._layout.check_parts(parts)

    def sums(self, parts: Sequence[Node]) -> list[NDArray[np.object_]]:
        rows = self.rows
        different = {part.key: part for part in parts}
        adding = Adding(self._layout, tuple(different.values()), rows)
        with self._lock:
            partials = self._summed(adding)
        seen, totals = adding.totals(partials)
        if seen != rows:
            raise SulqError(OTHER_ROWS)
        by_key = dict(zip(different, totals, strict=True))
        return [by_key[part.key] for part in parts]
