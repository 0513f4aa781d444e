"""CSV files: one line is one row, whatever is on it.

Rows of a table are public in number and differ only in themselves between neighbouring tables. So must the
lines of a file: no cell can move, make or swallow another row. What cannot be read on a line is a missing
cell of that line. Only the first line, which names the columns, can be refused.
"""

from __future__ import annotations

import csv
import gzip
import io
import threading
import zlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from sulq import loops
from sulq.errors import SchemaError, SulqError
from sulq.loops.plain import Bytes
from sulq.schema import DELIMITERS, Csv
from sulq.sources.files import OpenFile

CHUNK = 2**22
"""How many bytes are read at once; more if a line is longer."""
MOST_ROWS = 2**17
"""How many rows of a chunk are cut at once."""


USUAL = Csv()


class CsvFiles:
    """CSV files of one header, in order; threads share their chunks."""

    whole = True
    ordered = True

    def __init__(self, paths: Sequence[Path], quoted_newlines: bool, written: Csv = USUAL) -> None:
        self._files = [(OpenFile.of(path), _header(path, written)) for path in paths]
        self.encoding = written.encoding
        self.across = quoted_newlines
        first = self._files[0][1]
        for file, header in self._files:
            if (header.delimiter, header.names) != (first.delimiter, first.names):
                raise SchemaError(f"{str(file.path)!r} and {str(paths[0])!r} have different headers")
        self.delimiter, self._names = first.delimiter, first.names
        self.types: Mapping[str, pa.DataType] = dict.fromkeys(self._names, pa.large_string())

    @cached_property
    def rows(self) -> int:
        """How many rows there are. Line ends are counted, and quotes looked for if they may hold some."""
        return sum(chunk.rows for chunk in self._chunks())

    def parts(self, columns: Sequence[str], many: int) -> list[Iterator[tuple[str, int, pa.Array]]]:
        wanted = {self._names.index(name): name for name in columns}
        chunks = _Shared(self._chunks())
        return [self._part(dict(sorted(wanted.items())), chunks) for _ in range(many)]

    def _part(
        self, wanted: Mapping[int, str], chunks: Iterator[CsvChunk]
    ) -> Iterator[tuple[str, int, pa.Array]]:
        for start, _, text in chunks:
            while len(text):
                cut = loops.cut_csv(text, self.delimiter, self.across, True, list(wanted), MOST_ROWS)
                for name, starts, lengths in zip(wanted.values(), cut.starts, cut.lengths, strict=True):
                    yield name, start, _texts(*loops.gather_csv(text, starts, lengths))
                start += cut.starts.shape[1]
                text = text[cut.consumed :]

    def chunks(self) -> Iterator[CsvChunk]:
        """All files in pieces of whole rows, as text in UTF-8: for who looks at lines and not at cells."""
        return self._chunks()

    def _chunks(self) -> Iterator[CsvChunk]:
        """All files in pieces of whole rows."""
        start = 0
        for file, _ in self._files:
            for text, rows in self._pieces(file):
                yield CsvChunk(start, rows, text)
                start += rows

    def _pieces(self, file: OpenFile) -> Iterator[tuple[Bytes, int]]:
        file.check()
        try:
            with _opened(file.path, self.encoding) as stream:
                stream.readline()
                rest = b""
                # Reading as much again as there is keeps the copying of a long line linear.
                while block := stream.read(max(CHUNK, len(rest))):
                    text = np.frombuffer(rest + block, dtype=np.uint8)
                    rows, end = self._whole_rows(text, len(rest))
                    if rows:
                        yield text[:end], rows
                    rest = text[end:].tobytes()
                if rest:
                    text = np.frombuffer(rest, dtype=np.uint8)
                    yield text, self._whole_rows(text, 0, last=True)[0]
                return
        except (OSError, EOFError, zlib.error):
            pass  # what it says is of no use to anyone
        raise SulqError(f"{str(file.path)!r} cannot be read to its end: it is gone or damaged")

    def _whole_rows(self, text: Bytes, searched: int, last: bool = False) -> tuple[int, int]:
        """How many whole rows there are, and where they end; no line ends among the bytes searched before."""
        if self.across:
            cut = loops.cut_csv(text, self.delimiter, True, last, (), len(text))
            return cut.starts.shape[1], cut.consumed
        if last:
            return 1, len(text)
        ends = text[searched:] == ord("\n")
        rows = int(np.count_nonzero(ends))
        return rows, len(text) - int(ends[::-1].argmax()) if rows else 0


class CsvChunk(NamedTuple):
    """Some whole rows: the number of the first, how many they are, and their text."""

    start: int
    rows: int
    text: Bytes


class _Header(NamedTuple):
    delimiter: int
    names: tuple[str, ...]


class _Shared:
    """An iterator that several threads may take from."""

    def __init__(self, chunks: Iterator[CsvChunk]) -> None:
        self._chunks = chunks
        self._turn = threading.Lock()

    def __iter__(self) -> _Shared:
        return self

    def __next__(self) -> CsvChunk:
        with self._turn:
            return next(self._chunks)


class _InUtf8:
    """A file in another encoding, read as if it were in UTF-8. What cannot be decoded is U+FFFD."""

    def __init__(self, file: Any, encoding: str) -> None:
        self._text = io.TextIOWrapper(file, encoding, "replace", newline="\n")

    def read(self, size: int) -> bytes:
        return self._text.read(size).encode()

    def readline(self) -> bytes:
        return self._text.readline().encode()

    def __enter__(self) -> _InUtf8:
        return self

    def __exit__(self, *_: object) -> None:
        self._text.close()


def _opened(path: Path, encoding: str) -> Any:
    """A file's bytes in UTF-8, unpacked if they are packed. No text begins as gzip does."""
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    if encoding != "utf-8":
        return _InUtf8(gzip.open(path) if packed else path.open("rb"), encoding)
    return gzip.open(path) if packed else path.open("rb")


def _header(path: Path, written: Csv) -> _Header:
    try:
        with _opened(path, written.encoding) as file:
            line = file.readline()
    except (OSError, EOFError, zlib.error):
        raise SchemaError(f"the header of {str(path)!r} cannot be read") from None
    except UnicodeError:
        raise SchemaError(
            f"{str(path)!r} does not begin as utf-16 does: declare utf-16-le, utf-16-be or another encoding"
        ) from None
    if b"\r" in line.removesuffix(b"\n").removesuffix(b"\r"):
        raise SchemaError(
            f"the first line of {str(path)!r} has a carriage return in it: lines must end in a line feed"
        )
    try:
        text = line.decode("utf-8-sig")
        delimiter = written.delimiter or max(DELIMITERS, key=text.count)
        names = tuple(name.strip() for name in next(csv.reader([text], delimiter=delimiter), []))
    except UnicodeDecodeError:
        raise SchemaError(
            f"the header of {str(path)!r} is not in UTF-8: declare how it is written, by encoding= or in "
            '[csv] of the schema, as encoding = "latin-1"'
        ) from None
    except csv.Error:
        raise SchemaError(f"the header of {str(path)!r} cannot be read") from None
    if not all(names) or not names or len(set(names)) < len(names):
        raise SchemaError(f"the first line of {str(path)!r} must name the columns, each once")
    return _Header(ord(delimiter), names)


def _texts(offsets: Any, data: Bytes, present: Any) -> pa.Array:
    """Cells that lie one behind the other, as an array of text."""
    mask = None if present.all() else pa.py_buffer(np.packbits(present, bitorder="little"))
    return pa.LargeStringArray.from_buffers(len(present), pa.py_buffer(offsets), pa.py_buffer(data), mask)
