"""What a ledger needs of the place where it is kept. Another database is another `Store`.

A store keeps rows and texts, and knows nothing of hashes, budgets and accounts. It promises three things:

- what was done in a transaction is done as a whole or not at all, and once it is committed it stays, whatever
  then happens to the process or the machine;
- a transaction that writes keeps all other writers out from its beginning, in all threads and processes;
- a transaction sees one state of the ledger throughout.

Whatever goes wrong in a store is a LedgerError of one line that ends with what to do, and never repeats a
question or an answer.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager

from sulq.ledger.chain import Row


class Transaction(ABC):
    """What can be done with a ledger's rows while nobody changes them.

    A row of an entry has the values of `chain.COLUMNS`, or all of them but the last two if it was written
    before there were accounts. A row of an account is as `accounts.row_of` makes it.
    """

    seen: tuple[int, str] | None = None
    """Number and hash of the last entry that was read or written within the transaction."""

    @abstractmethod
    def nested(self) -> AbstractContextManager[None]:
        """A part of the transaction, which is undone by itself if something is raised inside."""

    @abstractmethod
    def last(self) -> Row | None:
        """The entry with the highest number, None if there is none."""

    @abstractmethod
    def hash_at(self, number: int) -> str | None:
        """The hash of an entry, None if there is no entry of that number."""

    @abstractmethod
    def find(self, run: str, question_hash: str) -> Iterable[Row]:
        """The charge and the answer of a question in a run, as far as there are any."""

    @abstractmethod
    def rows(self) -> Iterable[Row]:
        """All entries, in the order of their numbers. Read to the end within the transaction."""

    def rows_of(self, run: str, begins: bool = False) -> Iterable[Row]:
        """The charges and answers of a run, in the order of their numbers; a store may find them faster.

        Args:
            run: the name of the run.
            begins: whether all runs are meant whose names begin so.
        """
        meant = str.startswith if begins else str.__eq__
        return [row for row in self.rows() if row[1] != "cap" and meant(row[2], run)]

    def page(self, after: int, most: int | None, run: str | None = None) -> Iterable[Row]:
        """Entries in the order of their numbers; a store may find them faster.

        Args:
            after: the number of the entry before the first.
            most: how many at most; None for all.
            run: only the charges and answers of this run.
        """
        rows = self.rows() if run is None else self.rows_of(run)
        return [row for row in rows if row[0] > after][:most]

    def run_names(self, begins: str, after: str | None, most: int | None) -> list[str]:
        """The names of runs, in order, as UTF-8 puts them; a store may find them faster.

        Args:
            begins: how they begin.
            after: the name before the first; None to begin with the first.
            most: how many at most; None for all.
        """
        names = {row[2] for row in self.rows() if row[1] != "cap"}
        return [name for name in in_order(names, after) if name.startswith(begins)][:most]

    def account_page(self, after: str | None, most: int | None) -> list[Row]:
        """The rows of accounts, in the order of their names; a store may find them faster.

        Args:
            after: the name before the first; None to begin with the first.
            most: how many at most; None for all.
        """
        kept = self.accounts()
        return [kept[name] for name in in_order(kept, after)][:most]

    @abstractmethod
    def has_hash(self, seal: str) -> bool:
        """Whether an entry has this hash."""

    @abstractmethod
    def append(self, row: Row) -> None:
        """Add an entry. An entry of the same number, or of the same run, question and kind, is an error."""

    @abstractmethod
    def get(self, key: str) -> str | None:
        """One of the texts beside the entries."""

    @abstractmethod
    def put(self, key: str, value: str) -> None:
        """Change one of the texts beside the entries that are there since the ledger was created."""

    @abstractmethod
    def accounts(self, names: Iterable[str] | None = None) -> Mapping[str, Row]:
        """The rows of these accounts as far as there are any, or of all accounts, by their names."""

    @abstractmethod
    def put_account(self, row: Row) -> None:
        """Write the row of an account, in the place of what was there."""

    @abstractmethod
    def damage(self) -> list[str]:
        """What the database itself finds wrong with its tables, in words."""


class Store(ABC):
    """A place where one ledger is kept.

    A store that can be pickled is in another process the same place. One that cannot raises a LedgerError.

    Args:
        name: how messages speak of the place; it never has a password in it.
        read_only: whether nothing may be written.
    """

    name: str
    read_only: bool

    @abstractmethod
    def create(self, meta: Mapping[str, str]) -> None:
        """Make an empty ledger with these texts beside it, whole or not at all, unless there is a ledger."""

    @abstractmethod
    def declared(self) -> dict[str, str]:
        """All texts beside the entries. What is no ledger, of a later format, or damaged is refused."""

    @abstractmethod
    def upgrade(self) -> None:
        """Bring a ledger of an earlier version into today's form; others may try to at the same time."""

    @abstractmethod
    def transaction(self, write: bool) -> AbstractContextManager[Transaction]:
        """A transaction: committed at the end, undone if something is raised.

        A place that is not the one that was opened, or a closed store, is refused at the beginning.

        Args:
            write: whether something will be written. Then others who want to write wait, from now on.
        """

    @abstractmethod
    def close(self) -> None:
        """Let go of the place; from now on every transaction is refused."""


def in_order(names: Iterable[str], after: str | None) -> list[str]:
    """Names as UTF-8 puts them in order, from the one after another on.

    Args:
        names: the names.
        after: the other name, None for all.

    >>> in_order(["tree", "forest", "grove"], after="forest")
    ['grove', 'tree']
    """
    return [name for name in sorted(names, key=str.encode) if after is None or name.encode() > after.encode()]
