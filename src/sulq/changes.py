"""How two schemas differ, in words, and which differences a ledger can live with.

A ledger promises every person that all answers together cost at most its budget. Every answer keeps its own
part of that promise, whatever schema it was asked under: its noise fits that schema's bounds, and it is about
the same people, told apart in the same way. So what must stay is who is protected, and what stored answers
mean: bounds, kinds, lists of values and rules for missing cells, by which their noise is read. What may
change is what no stored answer speaks of (a new column, the order of columns), and rules by which more
spellings are understood. A stored answer that looks at a column with such a new rule is about cells as they
were read before: it is not given again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

NAMED = 5
"""Of many values so many are named."""
BOUNDS = "stored answers have noise for what it was, and could not be read any more"
MISSING = "it says what a row adds where a cell is missing, and stored answers would contradict new ones"
READING = "cells that were understood before would be read otherwise"
PROTECTED = "it says who is protected"
FILES = "it says which rows and cells a file has"
GONE = "stored answers are about it: leave it in the schema, and do not ask about it"
REASONS = {
    **dict.fromkeys(("low", "high", "first", "last", "values"), BOUNDS),
    **dict.fromkeys(("missing", "drop_missing"), MISSING),
}


@dataclass(frozen=True)
class Change:
    """One difference between two schemas.

    Args:
        words: what differs.
        refused: why a ledger cannot live with it; None if it can.
        column: the column whose cells may be read otherwise since, if there is one.
    """

    words: str
    refused: str | None = None
    column: str | None = None


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """What is different in the second of two schemas, in words.

    Args:
        before: the first schema, as `Schema.form` gives it.
        after: the second schema, as `Schema.form` gives it.

    >>> from sulq.schema import Boolean, Real, Schema
    >>> before = Schema({"cost": Real(0, 100, missing=0)})
    >>> after = Schema({"cost": Real(0, 200, missing=0), "ward": Boolean()})
    >>> changes(before.form(), after.form())
    ["column 'cost': high was 100.0, is 200.0", "column 'ward' is new"]
    """
    return [change.words for change in each_change(before, after)]


def each_change(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Change]:
    """The differences between two schemas, one by one.

    Args:
        before: the first schema, as `Schema.form` gives it.
        after: the second schema, as `Schema.form` gives it.

    >>> from sulq.schema import Category, Schema
    >>> before, after = Category(["f", "m"]), Category(["f", "m"], aliases={"F": "f"})
    >>> [change] = each_change(Schema({"sex": before}).form(), Schema({"sex": after}).form())
    >>> change.words, change.refused, change.column
    ("column 'sex': 'F' is new among its aliases", None, 'sex')
    """
    return list(_changes(before, after))


def _changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Change]:
    old, new = before.get("columns", {}), after.get("columns", {})
    for name in {**old, **new}:
        yield from _of_column(name, old.get(name), new.get(name))
    if [name for name in old if name in new] != [name for name in new if name in old]:
        yield Change("the columns are in another order")
    yield from _of_one("the unit", before.get("unit"), after.get("unit"), PROTECTED)
    yield from _of_one("what is said of CSV files", before.get("csv"), after.get("csv"), FILES)


def _of_column(name: str, old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> Iterator[Change]:
    what = f"column {name!r}"
    if old is None or new is None:
        yield Change(f"{what} is new") if old is None else Change(f"{what} is gone", GONE)
    elif old.get("type") != new.get("type"):
        yield Change(f"{what} was {old.get('type')}, is {new.get('type')}", BOUNDS)
    else:
        for setting in {**old, **new}:
            yield from _of_setting(name, setting, old.get(setting), new.get(setting))


def _of_one(
    what: str, old: Mapping[str, Any] | None, new: Mapping[str, Any] | None, reason: str
) -> Iterator[Change]:
    if (old is None) != (new is None):
        yield Change(f"{what} is {'new' if old is None else 'gone'}", reason)
    elif old is not None and new is not None:
        for setting in {**old, **new}:
            was, now = old.get(setting), new.get(setting)
            if was != now:
                yield Change(f"{what}: {setting} was {_written(was)}, is {_written(now)}", reason)


def _of_setting(name: str, setting: str, was: Any, now: Any) -> Iterator[Change]:
    what = f"column {name!r}"
    if setting == "aliases":
        yield from _of_aliases(name, dict(was or {}), dict(now or {}))
    elif isinstance(was, list | tuple) and isinstance(now, list | tuple):
        for words in _of_values(list(was), list(now)):
            yield Change(f"{what}: {words}", REASONS.get(setting, READING))
    elif was != now:
        # Each of these is a rule by which texts are understood that were not understood before.
        wider = (
            (setting in ("trim", "fold_case") and not was)
            or (setting == "thousands" and was is None)
            or (setting == "strip" and set(was or "") <= set(now or ""))
        )
        words = f"{what}: {setting} was {_written(was)}, is {_written(now)}"
        yield Change(words, None if wider else REASONS.get(setting, READING), name)


def _of_aliases(name: str, was: dict[str, str], now: dict[str, str]) -> Iterator[Change]:
    what = f"column {name!r}"
    if added := [alias for alias in now if alias not in was]:
        words = f"{_listed(added)} {'is' if len(added) == 1 else 'are'} new among its aliases"
        yield Change(f"{what}: {words}", None, name)
    if removed := [alias for alias in was if alias not in now]:
        words = f"{_listed(removed)} {'is' if len(removed) == 1 else 'are'} gone from its aliases"
        yield Change(f"{what}: {words}", READING, name)
    for alias in was.keys() & now.keys():
        if was[alias] != now[alias]:
            words = f"the alias {alias!r} was {was[alias]!r}, is {now[alias]!r}"
            yield Change(f"{what}: {words}", READING, name)


def _of_values(old: list[str], new: list[str]) -> Iterator[str]:
    added = [value for value in new if value not in old]
    removed = [value for value in old if value not in new]
    if added:
        yield f"{_listed(added)} {'is' if len(added) == 1 else 'are'} new among its values"
    if removed:
        yield f"{_listed(removed)} {'is' if len(removed) == 1 else 'are'} gone from its values"
    if [value for value in old if value in new] != [value for value in new if value in old]:
        yield "its values are in another order"


def _listed(values: Iterable[str]) -> str:
    named = [repr(value) for value in values]
    more = [f"{len(named) - NAMED} more"] if len(named) > NAMED else []
    return ", ".join([*named[:NAMED], *more])


def _written(value: object) -> str:
    return "not given" if value is None else repr(value)
