"""How CSV files are written: their encoding, and what stands between the cells."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from sulq.errors import SchemaError
from sulq.kinds import fill

DELIMITERS = (",", ";", "\t", "|")
"""What can stand between the cells of a CSV file."""
ENCODINGS = "utf-8(-sig)?|utf-16(-le|-be)?|ascii|iso8859-[0-9]+|cp(125|4|8)[0-9]+|koi8-[rtu]|mac-.*"
"""Encodings of CSV files, by the names that Python has for them."""


@dataclass(frozen=True)
class Csv:
    """How the CSV files of a table are written. Of other sources it says nothing.

    Args:
        encoding: how letters are written, as "latin-1", "cp1252" or "utf-16".
        delimiter: what stands between cells; by default the one of , ; | and tab that the header
            has most of.

    >>> Csv("latin-1", ";")
    Csv(encoding='iso8859-1', delimiter=';')
    """

    encoding: str = "utf-8"
    delimiter: str | None = None

    def __post_init__(self) -> None:
        fill(self, encoding=_encoding(self.encoding))
        if self.delimiter not in (None, *DELIMITERS):
            signs = " ".join(map(repr, DELIMITERS))
            raise SchemaError(f"delimiter = {self.delimiter!r} must be one of {signs}")


def _encoding(name: object) -> str:
    """The usual name of an encoding in which no letter can swallow the end of a line, or a refusal.

    In others, a cell that is cut short could take the line after it with it, which is another person's.
    """
    try:
        usual = codecs.lookup(name).name if isinstance(name, str) else ""
    except (LookupError, ValueError):
        usual = ""
    if re.fullmatch(ENCODINGS, usual):
        return usual.removesuffix("-sig")
    raise SchemaError(
        f"encoding = {name!r} must be utf-8, utf-16 or one with a byte for each letter, as latin-1 or cp1252"
    )
