"""A ledger a page at a time: what a page costs does not grow with the ledger."""

from __future__ import annotations

from dataclasses import dataclass

from sulq.ledger.accounts import Account, account_in
from sulq.ledger.chain import Entry, RunTotals, entry_in, runs_in
from sulq.ledger.record import Record


@dataclass(frozen=True)
class Pages:
    """The pages of a ledger. Made by it, as `ledger.pages`.

    Args:
        record: the chain of its entries.

    >>> from fractions import Fraction
    >>> from sulq.ledger.ledger import Ledger
    >>> ledger = Ledger(None, "epsilon", Fraction(1), {})
    >>> for run in ("tree", "forest", "grove"):
    ...     _ = ledger.release(run, "how many?", Fraction(1, 4), lambda: "20187", account="analyst:ada")
    >>> [entry.run for entry in ledger.pages.entries(after=2, most=2)]
    ['forest', 'forest']
    >>> [run.name for run in ledger.pages.runs(after="forest", most=2)]
    ['grove', 'tree']
    >>> ledger.pages.accounts(most=2)
    [Account(name='analyst:ada', spent=Fraction(3, 4), cap=None)]
    """

    record: Record

    def entries(self, after: int = 0, most: int | None = None, run: str | None = None) -> list[Entry]:
        """Entries in the order of their numbers.

        Args:
            after: the number of the entry before the first.
            most: how many at most; None for all.
            run: only the charges and answers of this run.
        """
        with self.record.transaction() as transaction:
            return [entry_in(row) for row in transaction.page(after, most, run)]

    def runs(self, begins: str = "", after: str | None = None, most: int | None = None) -> list[RunTotals]:
        """Runs in the order of their names, and what they were charged.

        Args:
            begins: how their names begin.
            after: the name before the first; None to begin with the first.
            most: how many at most; None for all.
        """
        with self.record.transaction() as transaction:
            names = transaction.run_names(begins, after, most)
            return [totals for name in names for totals in runs_in(map(entry_in, transaction.rows_of(name)))]

    def accounts(self, after: str | None = None, most: int | None = None) -> list[Account]:
        """Accounts in the order of their names: those of analysts, and those of runs that a cap holds for.

        Args:
            after: the name before the first; None to begin with the first.
            most: how many at most; None for all.
        """
        with self.record.transaction() as transaction:
            return [account_in(row) for row in transaction.account_page(after, most)]
