"""What people write on a command line, read against a schema: conditions, lists of columns, edges."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sulq.errors import QueryError
from sulq.queries.expressions import known
from sulq.queries.node import Node
from sulq.queries.written import comparison, number_in
from sulq.schema import Date, Kind, Schema

SYNTAX = "COLUMN, COLUMN==VALUE, COLUMN>NUMBER, or with !=, >=, < or <=, or known(COLUMN)"
DAY = re.compile(r"\d+-")


def condition_in(text: str, schema: Schema) -> str | Node:
    """A column's name, or a column compared with a value: `COLUMN==VALUE`, `COLUMN>NUMBER`.

    What stands before the first relation that has a column before it is the column; all after it is the
    value, so a category's value may begin with `>`, as census incomes do. Quotes around it are optional.

    >>> from sulq.schema import Category, Integer
    >>> schema = Schema({"age": Integer(0, 120), "income": Category(["<=50K", ">50K"])})
    >>> condition_in("age", schema)
    'age'
    >>> condition_in("income == >50K", schema)
    Compare(relation='==', left=Column(name='income'), right=Constant(constant='>50K'))
    >>> condition_in("age>=65", schema)
    Compare(relation='>=', left=Column(name='age'), right=Constant(constant=65))
    >>> condition_in("known(age)", schema)
    Known(name='age')
    """
    written = text.strip()
    if written in schema:
        return written
    inside = re.fullmatch(r"known\((.*)\)", written)
    if inside and inside[1].strip() in schema:
        return known(inside[1].strip())
    # Of two relations at one place the longer comes first, so >= is not read as > and a value "=…".
    for relation in re.finditer("==|!=|>=|<=|>|<", written):
        name, value = written[: relation.start()].strip(), written[relation.end() :].strip()
        if name in schema:
            return comparison(name, relation.group(), _unquoted(value), schema)
    names = ", ".join(schema)
    if written.isidentifier():
        raise QueryError(f"there is no column {written!r}; the schema has {names}")
    raise QueryError(f"cannot read {text!r}: write {SYNTAX}; the schema has {names}")


def columns_in(texts: Sequence[str] | None, schema: Schema) -> list[str] | None:
    """The columns that were named, one at a time or several with commas between; None if none were.

    >>> from sulq.schema import Boolean
    >>> columns_in(["age,sick", "a,b"], Schema({name: Boolean() for name in ("age", "sick", "a,b")}))
    ['age', 'sick', 'a,b']
    """
    parts = listed(texts, schema)
    for name in parts or ():
        schema[name]  # a name that is not there is refused here, with the names that are
    return parts


def listed(texts: Sequence[str] | None, schema: Schema) -> list[str] | None:
    """The parts between commas; a column whose own name has a comma is one part."""
    if texts is None:
        return None
    whole = [[text] if text in schema else [part.strip() for part in text.split(",")] for text in texts]
    parts = [part for each in whole for part in each if part]
    if not parts:
        raise QueryError(f"no feature is named; the schema has {', '.join(schema)}")
    return parts


def edges_in(
    texts: Sequence[str], schema: Schema, what: str = "bins", example: str = "1,2,4"
) -> dict[str, list[float]]:
    """Numbers by column, from `COLUMN=1,2,4`; of dates they may be days, as in `COLUMN=1950-01-01`.

    Args:
        texts: the columns with their numbers.
        schema: what is public about the columns.
        what: what an error calls the numbers.
        example: numbers for an error to show.

    >>> from sulq.schema import Boolean
    >>> edges_in(["age=18,65"], Schema({"age": Boolean()}))
    {'age': [18.0, 65.0]}
    """
    edges: dict[str, list[float]] = {}
    for text in texts:
        name, equals, numbers = text.rpartition("=")
        name = name.strip()
        if not equals or name not in schema:
            raise QueryError(
                f"cannot read the {what} {text!r}: write COLUMN={example} with a column of the schema"
            )
        if name in edges:
            raise QueryError(f"column {name!r} has its {what} given twice")
        edges[name] = [
            _edge(number.strip(), schema[name], f"what the {what} of {name!r} are")
            for number in numbers.split(",")
        ]
    return edges


def _edge(written: str, kind: Kind, what: str) -> float:
    if isinstance(kind, Date) and DAY.match(written):
        return float(kind.day(written))
    return float(number_in(written, what))


def _unquoted(value: str) -> str:
    quoted = len(value) >= 2 and value[0] == value[-1] and value[0] in "'\""
    return value[1:-1] if quoted else value
