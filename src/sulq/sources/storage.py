"""Where encoded columns are kept: in memory while they fit, and otherwise in files nobody else can open.

A file here has no name: it is unlinked as soon as it is made, so the system removes it when the process
ends, however it ends.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sized
from contextlib import contextmanager
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from sulq.errors import SulqError


class Storage:
    """Memory shared by the columns of one source, `limit` bytes of it."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used = 0
        self._made: list[StoredColumn] | None = None

    def column(self, dtype: np.dtype[Any], rows: int | None = None) -> StoredColumn:
        """A new column, of a number of rows known beforehand or growing as it is written."""
        column = StoredColumn(self, dtype, rows)
        if self._made is not None:
            self._made.append(column)
        return column

    @contextmanager
    def all_or_nothing(self) -> Iterator[None]:
        """Gives all columns back that were made in it, if it does not get to its end."""
        made = self._made = []
        try:
            yield
        except BaseException:
            for column in made:
                column.free()
            raise
        finally:
            self._made = None


class StoredColumn:
    """A column of encoded values: written once, piece by piece, and then read in blocks."""

    def __init__(self, storage: Storage, dtype: np.dtype[Any], rows: int | None) -> None:
        self._storage = storage
        self._dtype = dtype
        self._memory: NDArray[Any] | None = np.empty(0, dtype=dtype)
        self._file: BinaryIO | None = None
        self.rows = 0
        self._fixed = False
        if rows is not None:
            self._reserve(rows)
            self._fixed = True

    def write(self, start: int, values: NDArray[Any]) -> None:
        """Put values at a place."""
        self.fill(start, values, lambda values, room: np.copyto(room, values, casting="unsafe"))

    def fill(self, start: int, piece: Sized, encode: Callable[[Any, NDArray[Any]], None]) -> None:
        """Let `encode` write a piece to a place; several threads may, if the length was given.

        In memory it is written where it stays, without a copy.
        """
        stop = start + len(piece)
        if stop > self.rows:
            self._reserve(stop)
        if self._memory is not None:
            encode(piece, self._memory[start:stop])
            return
        values = np.empty(len(piece), dtype=self._dtype)
        encode(piece, values)
        data, offset = values.data.cast("B"), start * self._dtype.itemsize
        while data:
            written = os.pwrite(self._descriptor(), data, offset)
            data, offset = data[written:], offset + written

    def read(self, start: int, stop: int) -> NDArray[Any]:
        """A block of values; in memory without copying."""
        if self._memory is not None:
            return self._memory[start:stop]
        values = np.empty(stop - start, dtype=self._dtype)
        data, offset = values.data.cast("B"), start * self._dtype.itemsize
        while data:
            got = os.preadv(self._descriptor(), [data], offset)
            if got == 0:
                raise SulqError("the temporary file of an encoded column is cut short")
            data, offset = data[got:], offset + got
        return values

    def free(self) -> None:
        """Give the memory or the file back."""
        if self._memory is not None:
            self._storage.used -= self._memory.nbytes
            self._memory = None
        if self._file is not None:
            self._file.close()
            self._file = None

    def _reserve(self, rows: int) -> None:
        if self._fixed:
            raise SulqError("the data has more rows than it says it has")
        self.rows = rows
        if self._memory is None or rows <= len(self._memory):
            return
        # Growing by half keeps the copying of a stream of unknown length linear.
        capacity = rows if len(self._memory) == 0 else max(rows, len(self._memory) * 3 // 2)
        extra = (capacity - len(self._memory)) * self._dtype.itemsize
        if self._storage.used + extra <= self._storage.limit:
            if len(self._memory):
                self._memory.resize(capacity, refcheck=False)
            else:  # resize would fill it with zeros
                self._memory = np.empty(capacity, dtype=self._dtype)
            self._storage.used += extra
        else:
            self._spill()

    def _spill(self) -> None:
        kept = self._memory
        assert kept is not None
        try:
            self._file = tempfile.TemporaryFile(prefix="sulq-", buffering=0)  # noqa: SIM115
        except OSError as error:
            raise SulqError(f"no temporary file for encoded columns: {error.strerror}; set TMPDIR") from None
        self._memory = None
        self._storage.used -= kept.nbytes
        if len(kept):
            self.write(0, kept)

    def _descriptor(self) -> int:
        if self._file is None:
            raise SulqError("this source is closed")
        return self._file.fileno()
