"""The lines of a ledger: how they are written, sealed, and found out if they were changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, Literal

from sulq.errors import LedgerError
from sulq.wire import canonical, digest

EntryKind = Literal["charge", "answer"]
RESTORE = "bring back a sound copy, or name another file if this one never was a ledger"


@dataclass(frozen=True)
class Entry:
    """One line of a ledger: a charge, which has no answer, or an answer, which has no cost of its own.

    `spent` is the sum of all charges up to this line, `time` is UTC, `previous` the hash of the line before.

    >>> from sulq.ledger.ledger import Ledger
    >>> ledger = Ledger(None, "epsilon", Fraction(1), {})
    >>> _ = ledger.release("tree", "how many?", Fraction(1, 4), lambda: "20187")
    >>> for entry in ledger.entries():
    ...     print(entry.number, entry.kind, entry.cost, entry.answer, entry.spent)
    1 charge 1/4 None 1/4
    2 answer 0 20187 1/4
    """

    number: int
    kind: EntryKind
    run: str
    question: str
    cost: Fraction
    answer: str | None
    spent: Fraction
    time: str
    previous: str
    hash: str


@dataclass(frozen=True)
class Run:
    """What one run was charged and answered, from its first entry's time to its last's.

    >>> from sulq.ledger.ledger import Ledger
    >>> ledger = Ledger(None, "epsilon", Fraction(1), {})
    >>> _ = ledger.release("tree", "how many?", Fraction(1, 4), lambda: "20187")
    >>> [run] = ledger.runs()
    >>> run.name, run.charges, run.answers, run.spent
    ('tree', 1, 1, Fraction(1, 4))
    """

    name: str
    charges: int
    answers: int
    spent: Fraction
    first: str
    last: str


COLUMNS = [field.name for field in fields(Entry)]
SELECT = f"SELECT {', '.join(COLUMNS)}, question_hash FROM entries"
INSERT = f"INSERT INTO entries VALUES ({', '.join('?' * len(COLUMNS))}, ?)"


def faults(rows: Iterable[Sequence[Any]], seal: str, head: str | None, total: Fraction) -> Iterator[str]:
    number = 0
    spent: Fraction | None = Fraction(0)
    seen: set[tuple[str, str, str]] = set()
    for row in rows:
        here = f"entry {row[0]}"
        if row[0] != number + 1:
            yield f"{here} comes straight after entry {number}: what was between them is missing"
        elif row[8] != seal:
            yield f"{here} does not continue what comes before it"
        number, seal = row[0] or 0, row[9]  # no number at all if the table's own description is damaged
        try:
            entry = entry_in(row)
        except LedgerError:
            yield f"{here} was changed after it was written"
            spent = None
            continue
        if entry.cost < 0 or (spent is not None and entry.spent != spent + entry.cost):
            yield f"{here} says that {entry.spent} is spent, which is not what the charges add up to"
        if entry.spent > total:
            yield f"{here} brings the charges to {entry.spent}, and the budget is {total}"
        if (entry.kind, entry.run, entry.question) in seen:
            yield f"{here} is a second {entry.kind} for one question of run {entry.run!r}"
        if entry.kind == "answer" and ("charge", entry.run, entry.question) not in seen:
            yield f"{here} answers a question of run {entry.run!r} that was not charged before"
        seen.add((entry.kind, entry.run, entry.question))
        spent = entry.spent
    if head != f"{number} {seal}":
        yield f"entry {number} is not how the ledger ended: what came last was removed, changed or added"


def entry_in(row: Sequence[Any]) -> Entry:
    """The entry in a row, if that is as it was written."""
    number, kind, run, question, cost, answer, spent, time, previous, seal, question_hash = row
    with suppress(AttributeError, TypeError, ValueError, ZeroDivisionError):  # whatever damage may look like
        if (seal, question_hash) == (seal_of(row), digest(question)):
            return Entry(
                number, kind, run, question, Fraction(cost), answer, Fraction(spent), time, previous, seal
            )
    raise LedgerError(f"entry {number} was changed after it was written; nothing was released; {RESTORE}")


def seal_of(row: Sequence[Any]) -> str:
    """The hash of an entry: of all its columns but the last, with the hash of the entry before among them."""
    return digest(canonical(dict(zip(COLUMNS[:-1], row, strict=False))))


def as_text(value: Fraction) -> str:
    return f"{value.numerator}/{value.denominator}"


def exact_amount(amount: Fraction) -> Fraction:
    if not isinstance(amount, Fraction) or amount < 0:
        raise LedgerError(f"a budget or a charge is an exact Fraction of at least 0, not {amount!r}")
    return amount
