"""The lines of a ledger: how they are written, sealed, and found out if they were changed.

An entry's hash covers the entry and the hash of the entry before it. So whoever changes one has to change all
that follow, and the last of them, the seal, shows it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, Protocol

from sulq.errors import LedgerError
from sulq.wire import canonical, digest

EntryKind = Literal["charge", "answer", "cap"]
RESTORE = "bring back a sound copy, or name another file if this one never was a ledger"
Row = Sequence[Any]
"""An entry as a store keeps it: the values of COLUMNS, in that order. Amounts are texts, as "1/10"."""


@dataclass(frozen=True)
class Entry:
    """One line of a ledger.

    A charge has a cost and no answer. An answer has no cost. A cap has neither: it says how much an account
    may be charged from then on.

    Args:
        number: 1 for the first line, and so on.
        kind: "charge", "answer" or "cap".
        run: the run that asked, "" for a cap.
        question: what was asked, "" for a cap.
        cost: what was charged, 0 but for a charge.
        answer: what was answered, None but for an answer.
        spent: the sum of all charges up to this line.
        time: when the line was written, in UTC.
        previous: the hash of the line before, or of what the ledger was made for.
        hash: the hash of this line.
        account: who was charged, if that was said, or whose cap this is.
        cap: how much the account may be charged in all, None but for a cap.

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
    account: str | None = None
    cap: Fraction | None = None


@dataclass(frozen=True)
class RunTotals:
    """What one run was charged and answered.

    Args:
        name: the run's name.
        charges: how many questions were charged.
        answers: how many of them were answered.
        spent: the sum of its charges.
        first: the time of its first entry.
        last: the time of its last entry.

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


SEALED = ("number", "kind", "run", "question", "cost", "answer", "spent", "time", "previous")
COLUMNS = (*SEALED, "hash", "question_hash", "account", "cap")
"""What a store keeps of an entry. The first format of a file did not have the last two."""


class Rules(Protocol):
    """Who says whether an entry is allowed after those before it."""

    def enter(self, entry: Entry) -> Iterable[str]:
        """What is wrong with an entry that comes next, in words."""

    def miss(self) -> None:
        """An entry that comes next cannot be read."""


def new_row(
    after: Entry | None,
    beginning: str,
    time: str,
    kind: EntryKind,
    *,
    run: str = "",
    question: str = "",
    cost: Fraction = Fraction(0),
    answer: str | None = None,
    account: str | None = None,
    cap: Fraction | None = None,
) -> Row:
    """The row of an entry that continues a chain.

    Args:
        after: the last entry, None if there is none yet.
        beginning: the hash that the first entry continues.
        time: when the entry is written.
        kind, run, question, cost, answer, account, cap: as in `Entry`.
    """
    number, spent, previous = 0, Fraction(0), beginning
    if after is not None:
        number, spent, previous = after.number, after.spent, after.hash
    about = (run, question, as_text(cost), answer, as_text(spent + cost), time, previous)
    further = (account, None if cap is None else as_text(cap))
    row = (number + 1, kind, *about)
    return (*row, _seal(row, *further), digest(question), *further)


def entry_in(row: Row) -> Entry:
    """The entry in a row, if that is as it was written."""
    with suppress(AttributeError, TypeError, ValueError, ZeroDivisionError):  # whatever damage may look like
        number, kind, run, question, cost, answer, spent, time, previous, seal, question_hash, *further = row
        if (seal, question_hash) == (seal_of(row), digest(question)):
            account, cap = further or (None, None)
            return Entry(
                number,
                kind,
                run,
                question,
                Fraction(cost),
                answer,
                Fraction(spent),
                time,
                previous,
                seal,
                account,
                None if cap is None else Fraction(cap),
            )
    raise LedgerError(f"entry {row[0]} was changed after it was written; nothing was released; {RESTORE}")


def seal_of(row: Row) -> str:
    """The hash that the entry in a row must have."""
    return _seal(row, *row[len(SEALED) + 2 :])


def _seal(row: Row, account: str | None = None, cap: str | None = None) -> str:
    sealed = dict(zip(SEALED, row, strict=False))
    # An entry without an account has the hash that it had before there were accounts.
    if account is not None:
        sealed["account"] = account
    if cap is not None:
        sealed["cap"] = cap
    return digest(canonical(sealed))


def head_of(number: int, seal: str) -> str:
    """How a ledger ends, kept apart from the entries so that a missing last one shows."""
    return f"{number} {seal}"


def faults(rows: Iterable[Row], seal: str, head: str | None, rules: Rules) -> Iterator[str]:
    """What is wrong with a chain, in words.

    Args:
        rows: its entries, in order.
        seal: the hash that the first of them must continue.
        head: how the chain should end.
        rules: says what is wrong with entries that are as they were written.
    """
    number = 0
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
            rules.miss()
            continue
        yield from rules.enter(entry)
    if head != head_of(number, seal):
        yield f"entry {number} is not how the ledger ended: what came last was removed, changed or added"


def runs_in(entries: Iterable[Entry]) -> list[RunTotals]:
    """The runs of a ledger, in the order in which they began."""
    runs: dict[str, RunTotals] = {}
    for entry in entries:
        if entry.kind != "cap":
            run = runs.get(entry.run, RunTotals(entry.run, 0, 0, Fraction(0), entry.time, entry.time))
            charges = run.charges + (entry.kind == "charge")
            answers = run.answers + (entry.kind == "answer")
            runs[run.name] = RunTotals(
                run.name, charges, answers, run.spent + entry.cost, run.first, entry.time
            )
    return list(runs.values())


def as_text(value: Fraction) -> str:
    return f"{value.numerator}/{value.denominator}"


def exact_amount(amount: Fraction) -> Fraction:
    if not isinstance(amount, Fraction) or amount < 0:
        raise LedgerError(f"a budget, a cap or a charge is an exact Fraction of at least 0, not {amount!r}")
    return amount
