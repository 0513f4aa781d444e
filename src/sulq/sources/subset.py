"""Some rows of a table: a chunk of a sample, or the people asked one question."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from sulq.errors import QueryError
from sulq.queries.node import Leaf
from sulq.renamed import moved
from sulq.sources.loading import Columns


class Subset(Columns):
    """The columns of a table at some places; copies only the columns it is asked about.

    Args:
        whole: the columns of all rows.
        at: the places of the rows, from 0, each once, in the order in which they are to come.

    >>> import sulq
    >>> people = sulq.open({"age": [31, 64, 70]}, {"age": sulq.Integer(0, 120)})
    >>> people.only(np.array([2, 0])).values(sulq.col("age"))
    array([70., 31.])
    """

    def __init__(self, whole: Columns, at: NDArray[np.intp]) -> None:
        super().__init__(whole._reader, whole.scope, whole._storage.limit, whole.threads)
        self.at = _places(at, whole.rows)
        self._whole, self._rows = whole, len(self.at)

    def _load(self, leaves: Mapping[str, Leaf]) -> None:
        missing = {key: leaf for key, leaf in leaves.items() if key not in self._columns}
        for key, column in self._whole.load(missing).items():
            values = column.read(0, column.rows)[self.at]
            with self._storage.all_or_nothing():
                picked = self._storage.column(values.dtype, len(values))
                picked.write(0, values)
            self._columns[key] = picked


def _places(at: NDArray[np.intp], rows: int) -> NDArray[np.intp]:
    """A copy of places that are some: columns are loaded one by one, and all must have the same rows."""
    places = np.array(at)
    whole = places.dtype.kind in "iu" or not places.size
    if places.ndim != 1 or not whole or places.min(initial=0) < 0 or places.max(initial=-1) >= rows:
        raise QueryError("rows are taken by their places: a list of whole numbers from 0 to the last row's")
    taken = np.zeros(rows, dtype=bool)
    taken[places.astype(np.intp, copy=False)] = True
    if np.count_nonzero(taken) < len(places):
        # A person would count as often as their row does, and be charged once.
        raise QueryError("every row is taken once: a place is named twice")
    return places.astype(np.intp, copy=False)


__getattr__ = moved("sulq.sources.subset", {"Cohort": "sulq.sources.subset.Subset"})
