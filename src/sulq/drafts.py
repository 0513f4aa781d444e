"""A draft of a schema: a table's columns with the types it declares, and holes where public facts belong.

The draft is made from names and declared types alone: no cell is looked at, also not for the rules that it
proposes as comments. A type that was guessed from cells would be a fact about the rows, and the schema is
public. A CSV file declares no types, so there the type is a hole too. Bounds and categories are for the user
to fill in from public knowledge: read off the data they would give away its extremes.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pyarrow as pa

from sulq.errors import SchemaError
from sulq.schema import HOLE, Csv
from sulq.sources.cells import is_day, is_number, is_text
from sulq.sources.csv_files import USUAL, CsvFiles
from sulq.sources.readers import reader

RANGE = [f"low = {HOLE}", f"high = {HOLE}"]
VALUES = [f'values = {HOLE}   # every answer there can be, as in ["yes", "no"]']
DAYS = ['type = "date"', f"first = {HOLE}   # the first day there can be, as 1900-01-01", f"last = {HOLE}"]
DATE = ['# By its name this may be a date. If it is written as 31.12.2024, add: format = "%d.%m.%Y"', *DAYS]
AMOUNT = [
    '# By its name this may be an amount. If it is written as 1,234.5, add: thousands = ","',
    '# If it is written as 1.234,5 €, add: thousands = ".", decimal = "," and strip = "€"',
    'type = "real"',
    *RANGE,
]
SEX = [
    "# By its name this may be a sex. If forms were filled in by hand, add: trim = true, fold_case = true",
    '# and aliases = { "F" = "female", "M" = "male" }',
    'type = "category"',
    'values = ___   # every answer that the form offers, as in ["female", "male"]'.replace("___", HOLE),
]
WHO = "# By its name this may say whose row it is: name it in [unit] above, or delete it."
EMPTY = [
    "",
    '# Where cells may be empty: missing = "drop" leaves such rows out of sums and means of the column, and',
    "# missing = 0 says what they count as. In a category they are a group of their own.",
]
RULES = [
    "",
    "# Where forms were filled in by hand, a category may need rules for spellings:",
    '# trim = true, fold_case = true, aliases = { "F" = "female" }',
]
PERSON = (
    r"(^|_)(id|pid|patient|person|people|subject|participant|respondent|client|customer|member|user)(_|$)"
)
"""By such a name a column may say whose row it is."""
NAMES = {
    r"(^|_)(sex|gender)(_|$)": SEX,
    r"(^|_)(date|datum|dob|born|birth\w*)(_|$)": DATE,
    r"(^|_)(costs?|price|amount|income|salary|wages?|eur|euro|usd)(_|$)": AMOUNT,
}
"""By these names a column is taken for dates, amounts or a sex. That is a guess, and the draft says so."""
ANYTHING = [
    f'type = "{HOLE}"   # integer, real, category, boolean or date; delete the lines below it does not need',
    f"low = {HOLE}      # integer and real: the ends of the scale",
    f"high = {HOLE}",
    f'values = {HOLE}   # category: every answer there can be, as in ["yes", "no"]',
]


def draft(data: Any, table: str | None = None, csv: Csv = USUAL) -> str:
    """A schema in TOML for a file or table, to be completed by hand.

    Args:
        data: the file or table, as `sulq.open` takes it.
        table: the table, if the data is a DuckDB database.
        csv: how CSV files are written, if not as usual; the draft will say so.
    """
    opened = reader(data, (), (), table, written=csv)
    if not opened.types:
        raise SchemaError("there are no columns to describe")
    typed = not isinstance(opened, CsvFiles)
    person = next((name for name in opened.types if re.search(PERSON, name, re.IGNORECASE)), None)
    lines = [
        "# A draft, made from the names and types of the columns: no cell was looked at.",
        "# Types are guesses, and may be changed."
        if typed
        else "# A CSV file does not say its columns' types.",
        f"# Replace every {HOLE} by public knowledge about the column (the range of the scale it is",
        "# measured on, the answers a form offers), never by what you see in this data: that would",
        "# publish its extremes.",
        "# Columns nobody should ask about can be deleted.",
        "",
        "# Whose privacy? By default one row's. If a person can have several rows, name the column",
        "# that tells people apart, and how many rows of a person may count:",
        "# [unit]",
        f"# column = {json.dumps(person or HOLE, ensure_ascii=False)}",
        f"# rows = {HOLE}",
    ]
    if csv != USUAL:
        written = {name: value for name, value in vars(csv).items() if value is not None}
        lines += ["", "[csv]", *(f"{name} = {json.dumps(value)}" for name, value in written.items())]
    for name, type_ in opened.types.items():
        whose = [WHO] if name == person else []
        described = _described(type_, name) if typed else _anything(name)
        lines += ["", f"[columns.{_key(name)}]", *whose, *described]
    lines += EMPTY
    if not typed or any(map(is_text, opened.types.values())):
        lines += RULES
    return "\n".join(lines) + "\n"


def _anything(name: str, otherwise: list[str] = ANYTHING) -> list[str]:
    """What a column of unknown type may be, guessed from its name."""
    return next((lines for names, lines in NAMES.items() if re.search(names, name, re.IGNORECASE)), otherwise)


def _described(type_: pa.DataType, name: str) -> list[str]:
    """What a column of a declared type may be, with holes; texts may be anything, by their name."""
    if pa.types.is_boolean(type_):
        return ['type = "boolean"']
    if pa.types.is_integer(type_):
        return ['type = "integer"', *RANGE]
    if is_number(type_):
        return ['type = "real"', *RANGE]
    if is_day(type_):
        return DAYS
    if is_text(type_):
        return _anything(name, ['type = "category"', *VALUES])
    return [
        f"# The table has {type_} here: convert it to numbers, booleans or text, or delete it.",
        *ANYTHING,
    ]


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name, ensure_ascii=False)
