"""What people's browsers can do: the rows, expressions and randomizers that the JavaScript has."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sulq.errors import QueryError
from sulq.local.item import Item
from sulq.local.shapes import Ball, Box, Keyed

STATIC = Path(__file__).parent / "static"
"""What browsers are served as it is."""


@dataclass(frozen=True)
class Knowledge:
    """What the JavaScript of a device knows, by the names that forms use.

    Args:
        nodes: the kinds of row expressions.
        randomizers: the randomizers.
        numbers: how many numbers of a row it works out at once, at most.

    >>> "compare" in KNOWN.nodes, "function" in KNOWN.nodes, "paper" in KNOWN.randomizers
    (True, False, False)
    """

    nodes: frozenset[str]
    randomizers: frozenset[str]
    numbers: int

    @classmethod
    def read(cls) -> Knowledge:
        """What the file beside the JavaScript says, which is the one list of it."""
        listed = json.loads((STATIC / "device" / "knows.json").read_text(encoding="utf-8"))
        return cls(frozenset(listed["nodes"]), frozenset(listed["randomizers"]), listed["numbers"])


KNOWN = Knowledge.read()


def refuse_unknown(item: Item) -> None:
    """Refuse, when a survey is made, an item that a browser could not report on.

    Args:
        item: what devices are to be asked.

    >>> from fractions import Fraction
    >>> import sulq
    >>> from sulq.local.item import item_of
    >>> from sulq.queries.scope import Scope
    >>> scope = Scope(sulq.Schema({"age": sulq.Integer(0, 120)}))
    >>> refuse_unknown(item_of(sulq.col("age"), scope, Fraction(1)))
    >>> refuse_unknown(item_of(sulq.col("age"), scope, Fraction(1), method="paper"))
    Traceback (most recent call last):
    sulq.errors.QueryError: browsers report by the methods 'best' and 'printed', not 'paper'
    """
    if item.method == "paper":
        raise QueryError("browsers report by the methods 'best' and 'printed', not 'paper'")
    if item.rows != 1:
        raise QueryError(f"browsers report on one row, not on {item.rows}: a survey's schema has no unit")
    form = item.form()
    if unknown := {*_named(form, "node")} - KNOWN.nodes:
        raise QueryError(f"browsers do not know the row expression {', '.join(map(repr, sorted(unknown)))}")
    if not 1 <= _width(item) <= KNOWN.numbers:
        raise QueryError(f"browsers work out {KNOWN.numbers} numbers of a row, not {_width(item)}")
    if unknown := {*_named(form["randomizer"], "is")} - KNOWN.randomizers:
        raise QueryError(f"browsers do not know the randomizer {', '.join(map(repr, sorted(unknown)))}")


def _width(item: Item) -> int:
    """How many numbers of a row an item is about."""
    match item.shape:
        case Box(lows, _) | Keyed(_, Box(lows, _)):
            return len(lows)
        case Ball(size, _):
            return size
        case _:
            return 1


def _named(form: Any, name: str) -> Iterator[str]:
    """What a form, and all forms inside of it, have under a name."""
    if isinstance(form, dict):
        if isinstance(form.get(name), str):
            yield form[name]
        for value in form.values():
            yield from _named(value, name)
    elif isinstance(form, list):
        for value in form:
            yield from _named(value, name)
