"""What is wrong with the lines of CSV files: too short, too long, open quotes, and letters that are none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from sulq.inspection.findings import Finding
from sulq.loops.plain import NEWLINE, QUOTE, Bytes, csv_cells
from sulq.sources.csv_files import CsvFiles

REPLACED = "\ufffd".encode()
MOST_LINES = 1_000
"""So many lines that cannot be decoded are kept, to find an encoding for them."""
EFFECTS = {
    "empty": "each counts as a row whose cells are all missing",
    "short": "the cells that are not there are missing",
    "long": "the cells beyond the header's are ignored: is a delimiter or a decimal comma in a cell?",
    "with an open quote": "the cell with the quote and all cells after it are missing",
}


class LineTally:
    """Counts what is wrong with lines, chunk by chunk.

    Args:
        files: the files, as they were opened.
    """

    def __init__(self, files: CsvFiles) -> None:
        self._files = files
        self._width = len(files.types)
        self._lines = 0
        self._odd: Counter[str] = Counter()
        self._garbled: list[bytes] = []
        self._many_garbled = 0
        self._twice = 0

    def run(self) -> None:
        """Look at all lines."""
        for chunk in self._files.chunks():
            self._lines += chunk.rows
            if not self._files.across:  # else a line is not a row
                self._add_shapes(chunk.text)
            self._add_letters(chunk.text.tobytes())

    def _add_shapes(self, text: Bytes) -> None:
        ends = np.flatnonzero(text == NEWLINE)
        if not len(text) or text[-1] != NEWLINE:
            ends = np.append(ends, len(text))
        begins = np.append(0, ends[:-1] + 1)
        marks, quotes = (np.flatnonzero(text == sign) for sign in (self._files.delimiter, QUOTE))
        fields = np.searchsorted(marks, ends) - np.searchsorted(marks, begins) + 1
        in_quotes = np.searchsorted(quotes, ends) - np.searchsorted(quotes, begins)
        whole = text.tobytes()
        for line in np.flatnonzero(in_quotes):
            begin, end = int(begins[line]), int(ends[line])
            fields[line] = len(csv_cells(whole, begin, end, self._files.delimiter)[0])
        first = text[begins.clip(max=len(text) - 1)]
        empty = (ends == begins) | ((ends == begins + 1) & (first == ord("\r")))
        opened = in_quotes % 2 == 1
        self._odd["empty"] += int((empty & (self._width > 1)).sum())
        self._odd["with an open quote"] += int(opened.sum())
        self._odd["short"] += int(((fields < self._width) & ~empty & ~opened).sum())
        self._odd["long"] += int(((fields > self._width) & ~opened).sum())

    def _add_letters(self, text: bytes) -> None:
        if text.isascii():
            return
        utf_8 = self._files.encoding == "utf-8"
        try:
            text.decode()
            if utf_8 or (REPLACED not in text and not self._could_be_utf_8(text)):
                return
        except UnicodeDecodeError:
            pass
        for line in text.split(b"\n"):
            if line.isascii():
                continue
            if _garbled(line):
                self._many_garbled += 1
                self._garbled += [line] if len(self._garbled) < MOST_LINES else []
            elif not utf_8:
                self._twice += self._could_be_utf_8(line)

    def _could_be_utf_8(self, text: bytes) -> bool:
        """Whether text in another encoding was in UTF-8 before it was decoded: Zürich for Zürich."""
        try:
            text.decode().encode(self._files.encoding).decode()
            return True
        except UnicodeError:
            return False

    def findings(self) -> Iterator[Finding]:
        """What was found."""
        for what, many in self._odd.items():
            if many:
                yield Finding("lines", what, many, self._lines, EFFECTS[what], {})
        if self._many_garbled:
            utf_8 = self._files.encoding == "utf-8"
            effect = (
                "cells that are not in UTF-8 are missing"
                if utf_8
                else f"letters that {self._files.encoding} does not have make their cells unknown"
            )
            try_ = ("[csv]", f'encoding = "{_guess(self._garbled)}"') if utf_8 else ()
            what = f"not in {self._files.encoding}"
            yield Finding("encoding", what, self._many_garbled, self._lines, effect, {}, try_)
        if self._twice and self._twice > self._many_garbled:
            what, effect = "in UTF-8, it seems", "letters beyond ASCII are not what was written"
            try_ = ("[csv]", 'encoding = "utf-8"')
            yield Finding("encoding", what, self._twice, self._lines, effect, {}, try_)


def _garbled(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return True
    return REPLACED in line


def _guess(lines: list[bytes]) -> str:
    """An encoding that has letters for all bytes: as Windows writes them, unless it has none for some."""
    try:
        b"".join(lines).decode("cp1252")
    except UnicodeDecodeError:
        return "latin-1"
    return "cp1252"
