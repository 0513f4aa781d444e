"""Cutting CSV in NumPy and Python: what the compiled loops return."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Bytes = NDArray[np.uint8]
NEWLINE, RETURN, QUOTE = b'\n\r"'


class Cut(NamedTuple):
    """Where the cells of some fields of a CSV text are: a row of each array for each field.

    A length of -1 is a missing cell. The rows end at `consumed`.
    """

    starts: Integers
    lengths: Integers
    consumed: int


def cut_csv(text: Bytes, delimiter: int, across: bool, last: bool, wanted: Sequence[int], room: int) -> Cut:
    """Cut the text of a CSV file into rows, `room` of them at most, and find the cells of the wanted fields.

    A row is a line, which ends in one line feed and at most one carriage return before it. A cell that begins
    with a quote ends at the next one that is not doubled. If it ends nowhere in its row, or elsewhere than
    before a delimiter, it cannot be read and is missing; in the first case, so is the rest of the row. Empty
    cells are missing, and so are those of fields that a row does not have.

    `across` lets a quoted cell have line ends. `last` says that nothing follows the text, so that a row may
    end where the text does. `wanted` are numbers of fields, in order.
    """
    whole = text.tobytes()
    if across and b'"' in whole:
        return _cut_across(whole, delimiter, last, wanted, room)
    ends = np.flatnonzero(text == NEWLINE)[:room]
    begin = np.append(0, ends + 1)
    stop = ends - ((ends > begin[:-1]) & (text[ends - 1] == RETURN))
    if last and len(ends) < room and begin[-1] < len(text):
        begin, stop = np.append(begin, len(text)), np.append(stop, len(text))
    consumed, begin = int(begin[-1]), begin[:-1]
    marks = np.append(np.flatnonzero(text == delimiter), len(text))
    first, after = np.searchsorted(marks[:-1], begin), np.searchsorted(marks[:-1], stop)
    starts, lengths = np.empty((2, len(wanted), len(begin)), dtype=np.int64)
    right = begin
    for place, field in enumerate(wanted):
        there = after - first >= field
        left = marks[np.minimum(first + field - 1, len(marks) - 1)] + 1 if field else begin
        starts[place] = np.where(there, left, begin)
        right = np.where(after - first > field, marks[np.minimum(first + field, len(marks) - 1)], stop)
        lengths[place] = np.where(there & (right > starts[place]), right - starts[place], -1)
    quotes = np.flatnonzero(text == QUOTE)
    # A quote behind the last cell that is wanted changes nothing.
    quoted = np.searchsorted(quotes, begin) < np.searchsorted(quotes, right)
    for row in np.flatnonzero(quoted):
        cells, _ = csv_cells(whole, int(begin[row]), int(stop[row]), delimiter)
        _place(cells, wanted, int(begin[row]), starts[:, row], lengths[:, row])
    return Cut(starts, lengths, consumed)


def _cut_across(whole: bytes, delimiter: int, last: bool, wanted: Sequence[int], room: int) -> Cut:
    rows: list[tuple[int, list[tuple[int, int]]]] = []
    at = 0
    while at < len(whole) and len(rows) < room:
        cells, end = csv_cells(whole, at, len(whole), delimiter)
        if end == len(whole) and not last:
            break
        rows.append((at, cells))
        at = min(end + 1, len(whole))
    starts, lengths = np.empty((2, len(wanted), len(rows)), dtype=np.int64)
    for row, (begin, cells) in enumerate(rows):
        _place(cells, wanted, begin, starts[:, row], lengths[:, row])
    return Cut(starts, lengths, at)


def _place(
    cells: list[tuple[int, int]], wanted: Sequence[int], begin: int, starts: Integers, lengths: Integers
) -> None:
    """Write the cells of the wanted fields; those that are not there begin where the row does."""
    for place, field in enumerate(wanted):
        starts[place], lengths[place] = cells[field] if field < len(cells) else (begin, -1)


def csv_cells(whole: bytes, at: int, stop: int, delimiter: int) -> tuple[list[tuple[int, int]], int]:
    """The start and length of each cell from `at` on, up to a line end outside quotes; and where that is."""
    cells: list[tuple[int, int]] = []
    while True:
        readable, start = True, at
        if whole[at : at + 1] == b'"' and at < stop:
            start = at + 1
            end = whole.find(b'"', start, stop)
            while end >= 0 and end + 1 < stop and whole[end + 1] == QUOTE:
                end = whole.find(b'"', end + 2, stop)
            if end < 0:
                return cells, stop
            at = _cell_end(whole, end + 1, stop, delimiter)
            follows = whole[end + 1 : at]
            readable = not follows or (follows == b"\r" and at < stop and whole[at] == NEWLINE)
        else:
            at = end = _cell_end(whole, at, stop, delimiter)
            if at < stop and whole[at] == NEWLINE and end > start and whole[end - 1] == RETURN:
                end -= 1
        cells.append((start, end - start if readable and end > start else -1))
        if at == stop or whole[at] == NEWLINE:
            return cells, at
        at += 1


def _cell_end(whole: bytes, at: int, stop: int, delimiter: int) -> int:
    ends = (whole.find(mark, at, stop) for mark in (delimiter, NEWLINE))
    return min((end for end in ends if end >= 0), default=stop)


def gather_csv(text: Bytes, starts: Integers, lengths: Integers) -> tuple[Integers, Bytes, NDArray[np.bool_]]:
    """The cells one behind the other: where each begins and the last ends, their bytes, and which are there.

    Of a quoted cell each doubled quote is put once. A cell that is not text in UTF-8 is missing.
    """
    sizes, present = np.maximum(lengths, 0), lengths >= 0
    special = np.flatnonzero((text == QUOTE) | (text >= 128))
    odd = np.flatnonzero(np.searchsorted(special, starts) < np.searchsorted(special, starts + sizes))
    cells = [_cell(text, int(starts[i]), int(lengths[i])) for i in odd]
    present[odd] = [cell is not None for cell in cells]
    sizes[odd] = [len(cell or b"") for cell in cells]
    offsets = np.append(0, np.cumsum(sizes))
    data = text[np.repeat(starts - offsets[:-1], sizes) + np.arange(offsets[-1])]
    for i, cell in zip(odd, cells, strict=True):
        data[offsets[i] : offsets[i + 1]] = np.frombuffer(cell or b"", dtype=np.uint8)
    return offsets, data, present


def _cell(text: Bytes, start: int, length: int) -> bytes | None:
    cell = text[start : start + length].tobytes()
    try:
        cell.decode()
    except UnicodeDecodeError:
        return None
    return cell.replace(b'""', b'"') if start > 0 and text[start - 1] == QUOTE else cell
