"""A chain of entries in a store: how it is read and continued, and noticed if it went back in time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from sulq.errors import LedgerError
from sulq.ledger.accounts import (
    RUN,
    WHOLE,
    Account,
    Books,
    account_in,
    accounts_of,
    capped,
    charged,
    check_account,
    counted,
    default_of,
    row_of,
    standing,
)
from sulq.ledger.chain import RESTORE, Entry, EntryKind, entry_in, faults, head_of, new_row
from sulq.ledger.purpose import HEAD
from sulq.ledger.store import Store, Transaction
from sulq.wire import digest


class Record:
    """The chain in a store, as one who has it open sees it.

    Args:
        store: where it is kept.
        beginning: the hash that the first entry continues.
    """

    def __init__(self, store: Store, beginning: str) -> None:
        self.store = store
        self.beginning = beginning
        self._seen = (0, beginning)  # number and hash of an entry that the store must still have
        self._first: str | None = None

    @contextmanager
    def transaction(self, write: bool = False) -> Iterator[Transaction]:
        """All that is done inside happens, or none of it. An older state than was seen before is refused."""
        # What was seen before it began: a read shows the moment of its beginning, and others go on writing.
        number, seal = self._seen
        with self.store.transaction(write) as transaction:
            transaction.seen = None
            if number and transaction.hash_at(number) != seal:
                raise LedgerError(
                    f"ledger {self.store.name} no longer has entry {number} as it was: an older copy was put "
                    f"in its place, or it was changed; nothing was released; {RESTORE}"
                )
            yield transaction
            seen = transaction.seen
        if seen is not None:  # and committed: from now on the store must have it
            self._seen = max(self._seen, seen)

    def last(self, transaction: Transaction) -> Entry | None:
        """The last entry, the one entry that a new one has to trust."""
        row = transaction.last()
        last = None if row is None else entry_in(row)
        number, seal = (0, self.beginning) if last is None else (last.number, last.hash)
        if transaction.get(HEAD) != head_of(number, seal):
            raise LedgerError(
                f"ledger {self.store.name} did not end with entry {number}: it was changed from outside, and "
                f"verify() says more; nothing was released; {RESTORE}"
            )
        transaction.seen = number, seal
        return last

    def append(self, transaction: Transaction, last: Entry | None, kind: EntryKind, **about: Any) -> None:
        """Add an entry after the last one."""
        time = datetime.now(UTC).isoformat(timespec="milliseconds")
        row = new_row(last, self.beginning, time, kind, **about)
        number, seal = row[0], row[9]
        transaction.append(row)
        transaction.put(HEAD, head_of(number, seal))
        transaction.seen = number, seal

    def charge(
        self,
        transaction: Transaction,
        unit: str,
        total: Fraction,
        run: str,
        question: str,
        cost: Fraction,
        account: str | None,
    ) -> None:
        """Charge a question to all its accounts, or to none of them."""
        last = self.last(transaction)
        names = accounts_of(run, account)
        known = accounts_in(transaction, *names)
        budget = Account(WHOLE, spent_at(last), total)
        for after in charged(unit, budget, counted(names, known), known, cost):
            transaction.put_account(row_of(after))
        self.append(transaction, last, "charge", run=run, question=question, cost=cost, account=account)

    def answer(self, transaction: Transaction, run: str, question: str, answer: str) -> None:
        """Store the answer to a question that was charged."""
        last = self.last(transaction)
        self.append(transaction, last, "answer", run=run, question=question, answer=answer)

    def first_question(self) -> str | None:
        """See `Ledger.first_question`. Entries never change, so the store is asked for the first one once."""
        if self._first is None:
            with self.transaction() as transaction:
                row = next(iter(transaction.rows()), None)
                self._first = None if row is None else entry_in(row).question
        return self._first

    def cap(self, transaction: Transaction, name: str, cap: Fraction) -> None:
        """Give an account a cap, unless that is its cap already."""
        known = accounts_in(transaction)
        if name.startswith(RUN) and name not in known and default_of(name) not in known:
            # From now on this run is counted, or all runs are: what they were charged before counts too.
            before = Books.of(Fraction(0), map(entry_in, transaction.rows())).accounts
            for run, account in before.items():
                if run not in known and name in (run, default_of(run)):
                    known[run] = account
                    transaction.put_account(row_of(account))
        after = capped(name, cap, known)
        if after == known.get(name):
            return
        transaction.put_account(row_of(after))
        self.append(transaction, self.last(transaction), "cap", account=name, cap=cap)

    def standing(self, name: str, total: Fraction, capped_only: bool = False) -> tuple[Account, Account]:
        """An account with the cap that holds for it, and the whole budget.

        What an account without a cap has spent is added up from all entries, unless it is not wanted.
        """
        check_account(name)
        with self.transaction() as transaction:
            known = accounts_in(transaction, name)
            if not capped_only and not counted([name], known):
                known = Books.of(total, map(entry_in, transaction.rows())).accounts
            return standing(name, known), Account(WHOLE, spent_at(self.last(transaction)), total)

    def faults(self, total: Fraction, seal: str | None) -> list[str]:
        """See `Ledger.verify`."""
        with self.transaction() as transaction:
            damage = transaction.damage()
            books = Books(total)
            wrong = list(faults(transaction.rows(), self.beginning, transaction.get(HEAD), books))
            wrong += books.differences(transaction.accounts())
            if seal not in (None, self.beginning) and not transaction.has_hash(str(seal)):
                wrong.append(f"no entry has the hash {seal}: this is an older copy, or another ledger")
            return [*(f"the file is damaged: {line}" for line in damage), *wrong]


def find(
    transaction: Transaction, run: str, question: str, formerly: str | None = None
) -> tuple[str, Entry | None, str | None]:
    """What is stored of a question: the text it is stored under, its charge and its answer."""
    entries = {entry.kind: entry for entry in map(entry_in, transaction.find(run, digest(question)))}
    if not entries and formerly is not None:
        earlier = find(transaction, run, formerly)
        return (question, None, None) if earlier[1] is None else earlier
    answer = entries.get("answer")
    return question, entries.get("charge"), None if answer is None else answer.answer


def accounts_in(transaction: Transaction, *names: str) -> dict[str, Account]:
    """Some accounts and their defaults, as far as they are kept; all accounts if no name is given."""
    wanted = (*names, *map(default_of, names)) if names else None
    return {name: account_in(row) for name, row in transaction.accounts(wanted).items()}


def spent_at(last: Entry | None) -> Fraction:
    """What all charges add up to."""
    return Fraction(0) if last is None else last.spent
