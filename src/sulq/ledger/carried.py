"""Schemas that a ledger was carried over to: how that is recorded, read back and checked.

Carrying over is an entry like any other, in a run of its own and at no cost: so it is sealed into the chain
of hashes. The terms that a ledger was made for stay as they were, and the last schema that it was carried
over to is the one that it is opened with.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sulq.changes import each_change
from sulq.errors import LedgerError
from sulq.ledger.chain import RESTORE
from sulq.ledger.purpose import FACT, SCHEMA
from sulq.ledger.record import find
from sulq.ledger.store import Store
from sulq.wire import canonical, digest

RUN = "(schema)"
"""The run that changes of the schema are recorded in."""
VERSION = 1
"""Of the form of what is recorded."""


@dataclass(frozen=True)
class Carry:
    """A schema that a ledger was carried over to.

    Args:
        schema: the schema, as text.
        words: what is different from the schema before, in words.
        columns: the columns whose cells may be read otherwise since; None for all of them.

    >>> Carry('{"columns": {}}', ("column 'ward' is new",), ()).touches({"cost"})
    False
    """

    schema: str
    words: tuple[str, ...]
    columns: tuple[str, ...] | None

    def touches(self, columns: Iterable[str] | None) -> bool:
        """Whether a question that looks at these columns, None for all, may mean something else since."""
        if self.columns is None or columns is None:
            return self.columns != ()
        return not set(self.columns).isdisjoint(columns)

    @property
    def text(self) -> str:
        """What is recorded."""
        columns = None if self.columns is None else list(self.columns)
        return canonical(
            {"carry": VERSION, "schema": self.schema, "words": list(self.words), "columns": columns}
        )

    @classmethod
    def of(cls, text: str) -> Carry:
        """What was recorded, read back."""
        form = json.loads(text)
        if form["carry"] != VERSION:
            raise ValueError
        columns = None if form["columns"] is None else tuple(form["columns"])
        return cls(form["schema"], tuple(form["words"]), columns)


def question(number: int) -> str:
    """The text that the ledger knows a change of its schema by: the first, the second, and so on."""
    return canonical({"carry": number})


def carried_in(store: Store) -> tuple[Carry, ...]:
    """The schemas that a ledger was carried over to, in order."""
    carried: list[Carry] = []
    with store.transaction(write=False) as transaction:
        while (stored := find(transaction, RUN, question(len(carried) + 1))[2]) is not None:
            try:
                carried.append(Carry.of(stored))
            except (KeyError, TypeError, ValueError):
                raise LedgerError(
                    f"ledger {store.name} has a change of its schema that cannot be read: a later version "
                    f"wrote it, or it is damaged; {RESTORE}"
                ) from None
    return tuple(carried)


def carried_since(carried: Sequence[Carry], columns: Iterable[str] | None) -> int | None:
    """The number of the last change of a schema since which these columns may be read otherwise, if any.

    Args:
        carried: the changes, in order.
        columns: the columns that a question looks at; None for all of them.
    """
    touched = [number for number, carry in enumerate(carried, 1) if carry.touches(columns)]
    return touched[-1] if touched else None


def as_carried(kept: Mapping[str, str], carried: Sequence[Carry]) -> dict[str, str]:
    """The terms of a ledger, with the schema that it was carried over to last."""
    if not carried:
        return dict(kept)
    text = carried[-1].schema
    return dict(kept) | {SCHEMA: text, f"{FACT}{SCHEMA}": canonical(digest(text))}


def carried_to(kept: Mapping[str, str], after: Mapping[str, Any]) -> Carry:
    """What would be recorded if a ledger were carried over to another schema, or a refusal.

    With a unit, which of a person's rows count is decided by all their columns: so all cells count as read
    otherwise.

    Args:
        kept: the terms of the ledger as they are now.
        after: the other schema, as `Schema.form` gives it.
    """
    before = json.loads(kept.get(SCHEMA, "null"))
    if before is None:
        raise LedgerError("this ledger is of an earlier version, which kept only a hash of its schema")
    if f"{FACT}answering" in kept:
        raise LedgerError("a ledger of chunks is for its schema alone: each chunk answers one question")
    found = each_change(before, after)
    if refused := [f"{change.words}: {change.refused}" for change in found if change.refused]:
        raise LedgerError(f"this cannot be carried over: {'; '.join(refused)}; nothing was changed")
    if not found:
        raise LedgerError("the ledger has this schema already; nothing was changed")
    names = tuple(dict.fromkeys(change.column for change in found if change.column is not None))
    words = tuple(change.words for change in found)
    return Carry(json.dumps(after), words, None if before.get("unit") else names)


def carry_faults(kept: Mapping[str, str], carried: Sequence[Carry]) -> list[str]:
    """What is wrong with the changes of a ledger's schema, all compared anew."""
    faults = []
    for number, carry in enumerate(carried, 1):
        try:
            expected = carried_to(as_carried(kept, carried[: number - 1]), json.loads(carry.schema))
        except (LedgerError, ValueError, AttributeError):
            expected = None
        if expected is None or expected.columns != carry.columns:
            faults.append(f"change {number} of the schema is none that can be carried over")
    return faults
