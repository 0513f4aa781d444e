"""How two schemas differ, in words: for whoever corrected one after its ledger was made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

NAMED = 5
"""Of many values so many are named."""


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
    return list(_changes(before, after))


def _changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    old, new = before.get("columns", {}), after.get("columns", {})
    for name in {**old, **new}:
        yield from _of_one(f"column {name!r}", old.get(name), new.get(name))
    if [name for name in old if name in new] != [name for name in new if name in old]:
        yield "the columns are in another order"
    yield from _of_one("the unit", before.get("unit"), after.get("unit"))
    yield from _of_one("what is said of CSV files", before.get("csv"), after.get("csv"))


def _of_one(what: str, old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> Iterator[str]:
    if old is None or new is None:
        if old != new:
            yield f"{what} is {'new' if old is None else 'gone'}"
        return
    if old.get("type") != new.get("type"):
        yield f"{what} was {old.get('type')}, is {new.get('type')}"
        return
    for setting in {**old, **new}:
        was, now = old.get(setting), new.get(setting)
        if isinstance(was, list | tuple) and isinstance(now, list | tuple):
            yield from (f"{what}: {words}" for words in _of_values(list(was), list(now)))
        elif was != now:
            yield f"{what}: {setting} was {_written(was)}, is {_written(now)}"


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
