"""Some rows of a source: a chunk of a sample, or the people asked one question."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from sulq.queries.expressions import Leaf
from sulq.sources.source import Source


class Cohort(Source):
    """The rows of a source at some places; copies only the columns it is asked about.

    >>> import sulq
    >>> people = sulq.open({"age": [31, 64, 70]}, {"age": sulq.Integer(0, 120)})
    >>> people.only(np.array([2, 0])).values(sulq.col("age"))
    array([70., 31.])
    """

    def __init__(self, whole: Source, at: NDArray[np.intp]) -> None:
        super().__init__(whole._reader, whole.schema, whole._storage.limit, whole._threads)
        self.scope = whole.scope
        self._whole, self._at, self._rows = whole, at, len(at)

    def _load(self, leaves: Mapping[str, Leaf]) -> None:
        for key, leaf in leaves.items():
            if key not in self._columns:
                whole = self._whole.column(leaf)
                values = whole.read(0, whole.rows)[self._at]
                with self._storage.all_or_nothing():
                    column = self._storage.column(values.dtype, len(values))
                    column.write(0, values)
                self._columns[key] = column
