"""Labelled numbers as columns: for data frames, for CSV files, for notebooks and for people."""

from __future__ import annotations

import csv
import importlib
import io
import math
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from sulq.errors import QueryError, SulqError

Columns: TypeAlias = Mapping[str, Sequence[Any]]
"""Columns by their names, all of one length."""
Library = Literal["pandas", "polars"]
MOST_SHOWN = 200
"""How many rows of a table are shown in a notebook."""
GREY = "color:#8a8f98"
FORMULAS = ("=", "+", "-", "@", "\t", "\r")
"""What spreadsheets take for the beginning of a formula."""


def frame(columns: Columns, library: Library | None = None) -> Any:
    """Columns as a data frame.

    Args:
        columns: the columns.
        library: "pandas" or "polars"; None for the first of them that is installed.

    >>> frame({"ward": ["A", "B"], "value": [3.0, 4.0]}, "polars").shape
    (2, 2)
    >>> frame({}, "arrow")
    Traceback (most recent call last):
    sulq.errors.QueryError: a frame is one of pandas, polars, not 'arrow'
    """
    known = get_args(Library)
    if library is not None and library not in known:
        raise QueryError(f"a frame is one of {', '.join(known)}, not {library!r}")
    for name in known if library is None else (library,):
        try:
            return importlib.import_module(name).DataFrame({key: list(each) for key, each in columns.items()})
        except ImportError:
            continue
    wanted = "neither pandas nor polars is" if library is None else f"{library} is not"
    raise SulqError(f"{wanted} installed: install one, as with `pip install pandas`, or use to_csv")


def csv_text(columns: Columns) -> str:
    """Columns as the text of a CSV file. Cells are empty where a number is infinite or is none.

    A name that a spreadsheet would take for a formula has an apostrophe before it.

    >>> print(csv_text({"ward": ["A", "B, north"], "radius": [3.5, math.inf]}), end="")
    ward,radius
    A,3.5
    "B, north",
    >>> print(csv_text({"ward": ["=1+1", "-5"]}), end="")
    ward
    '=1+1
    -5
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(_harmless, columns))
    for row in zip(*columns.values(), strict=True):
        writer.writerow(["" if isinstance(x, float) and not math.isfinite(x) else _harmless(x) for x in row])
    return text.getvalue()


def _harmless(cell: Any) -> Any:
    """A cell that no spreadsheet calculates. Numbers stay as they are, also those in texts."""
    if not isinstance(cell, str) or not cell.startswith(FORMULAS):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell


def written(text: str, path: str | Path | None) -> str | None:
    """A text, or None once it was written to a file.

    Args:
        text: the text.
        path: the file; None if the text itself is wanted.
    """
    if path is None:
        return text
    try:
        Path(path).write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        raise SulqError(f"cannot write {path}: {error.strerror}") from None
    return None


def html_table(
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    grey: Sequence[Sequence[bool]],
    labels: int,
    caption: str,
    most: int = MOST_SHOWN,
) -> str:
    """A table in HTML that needs no style sheet.

    Args:
        headings: what stands above the columns.
        rows: the cells, as texts.
        grey: of each cell, whether it is within the noise.
        labels: so many columns on the left are names; the others are numbers, which stand to the right.
        caption: what stands below the table.
        most: so many rows are shown.

    >>> "&lt;b&gt;" in html_table(["ward", "value"], [["<b>", "3 ± 1"]], [[False, False]], 1, "")
    True
    """

    def cell(tag: str, place: int, text: str, quiet: bool = False) -> str:
        side = "left" if place < labels else "right"
        style = f"text-align:{side};padding:.15em .8em .15em 0" + (f";{GREY}" if quiet else "")
        # A number and its error stay on one line: on a narrow page the table is moved sideways.
        style += ";white-space:nowrap" if tag == "td" and place >= labels else ""
        hint = ' title="within the noise"' if quiet else ""
        return f'<{tag} style="{style}"{hint}>{escape(text)}</{tag}>'

    def row(tag: str, texts: Sequence[str], quiet: Sequence[bool]) -> str:
        cells = (cell(tag, place, *pair) for place, pair in enumerate(zip(texts, quiet, strict=True)))
        return f"<tr>{''.join(cells)}</tr>"

    body = "".join(row("td", *pair) for pair in list(zip(rows, grey, strict=True))[:most])
    more = f" {len(rows) - most:,} more rows are not shown." if len(rows) > most else ""
    below = f'<p style="{GREY};margin:.3em 0">{escape(caption + more)}</p>' if caption + more else ""
    head = row("th", headings, [False] * len(headings))
    table = f"<table><thead>{head}</thead><tbody>{body}</tbody></table>"
    return f'<div style="overflow-x:auto">{table}</div>{below}'


def plain_table(headings: Sequence[str], rows: Sequence[Sequence[str]], labels: int) -> str:
    """A table as text: names to the left, numbers to the right.

    >>> print(plain_table(["ward", "value"], [["A", "13 ± 2"], ["Birth", "4 ± 2"]], 1))
    ward    value
    A      13 ± 2
    Birth   4 ± 2
    """
    lines = [headings, *rows]
    widths = [max(len(line[place]) for line in lines) for place in range(len(headings))]
    return "\n".join(
        "  ".join(
            text.ljust(wide) if place < labels else text.rjust(wide)
            for place, (text, wide) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def with_error(value: float, radius: float, most: int = 12) -> str:
    """A number and how far off it may be, with the digits that mean something.

    Args:
        value: the number.
        radius: how far off it may be.
        most: how many digits behind the point there are at most.

    >>> with_error(3747.26, 259.4), with_error(0.12345, 0.0123), with_error(12, 0), with_error(5, math.inf)
    ('3,747 ± 260', '0.123 ± 0.013', '12', '–')
    """
    if not math.isfinite(value) or not math.isfinite(radius):
        return "–"
    if radius == 0:
        return signed(f"{float(f'{value:.6g}') + 0.0:,.12g}")
    digits = min(most, max(0, 1 - math.floor(math.log10(radius))))
    up = math.ceil(radius * 10**digits - 1e-9) / 10**digits
    return f"{signed(f'{round(value, digits) + 0.0:,.{digits}f}')} ± {up:,.{digits}f}"


def signed(number: str) -> str:
    """A number with a minus sign in place of a hyphen."""
    return number.replace("-", "−")


def distinct(names: Sequence[str]) -> list[str]:
    """Names for columns, each of them once.

    >>> distinct(["age", "sex", "age"])
    ['age', 'sex', 'age 2']
    """
    taken: list[str] = []
    for name in names:
        number, new = 1, name
        while new in taken:
            number += 1
            new = f"{name} {number}"
        taken.append(new)
    return taken
