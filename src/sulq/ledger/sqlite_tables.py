"""The tables of a ledger's SQLite file, how they are made, and what is read from and written to them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from sulq.ledger.chain import COLUMNS, Row
from sulq.ledger.store import Transaction

APPLICATION = int.from_bytes(b"sulq", "big")
FIRST_FORMAT = 1
"""Without accounts and caps."""
FORMAT = 2
META = "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)"
TABLES = (
    """CREATE TABLE entries (
        number INTEGER PRIMARY KEY,
        kind TEXT NOT NULL CHECK (kind = 'charge' OR kind = 'answer' OR kind = 'cap'),
        run TEXT NOT NULL,
        question TEXT NOT NULL,
        cost TEXT NOT NULL,
        answer TEXT CHECK ((answer IS NULL) = (kind != 'answer')),
        spent TEXT NOT NULL,
        time TEXT NOT NULL,
        previous TEXT NOT NULL,
        hash TEXT NOT NULL,
        question_hash TEXT NOT NULL,
        account TEXT,
        cap TEXT CHECK ((cap IS NULL) = (kind != 'cap'))
    )""",
    "CREATE UNIQUE INDEX once ON entries (run, question_hash, kind) WHERE kind != 'cap'",
    """CREATE TRIGGER no_change BEFORE UPDATE ON entries
        BEGIN SELECT RAISE(ABORT, 'entries never change'); END""",
    """CREATE TRIGGER no_removal BEFORE DELETE ON entries
        BEGIN SELECT RAISE(ABORT, 'entries never go'); END""",
    """CREATE TABLE accounts (
        name TEXT PRIMARY KEY NOT NULL, spent TEXT NOT NULL, cap TEXT, hash TEXT NOT NULL
    ) WITHOUT ROWID""",
)
# Every column is taken as it stands, so that files of the first format, which has fewer, can be read too.
SELECT = "SELECT * FROM entries"
INSERT = f"INSERT INTO entries VALUES ({', '.join('?' * len(COLUMNS))})"
PUT_ACCOUNT = """INSERT INTO accounts VALUES (?, ?, ?, ?)
    ON CONFLICT (name) DO UPDATE SET spent = excluded.spent, cap = excluded.cap, hash = excluded.hash"""


def format_of(connection: sqlite3.Connection) -> int:
    [(version,)] = connection.execute("PRAGMA user_version")
    return int(version)


class SqliteTransaction(Transaction):
    """See `Transaction`.

    Args:
        connection: a connection that has begun a transaction.
        first_format: whether the file has the first format. Then it can only be read.
    """

    def __init__(self, connection: sqlite3.Connection, first_format: bool = False) -> None:
        self._execute = connection.execute
        self._first_format = first_format

    @contextmanager
    def nested(self) -> Iterator[None]:
        self._execute("SAVEPOINT part")
        try:
            yield
        except BaseException:
            self._execute("ROLLBACK TO part")
            raise
        finally:
            self._execute("RELEASE part")

    def last(self) -> Row | None:
        row: Row | None = self._execute(f"{SELECT} ORDER BY number DESC LIMIT 1").fetchone()
        return row

    def hash_at(self, number: int) -> str | None:
        row = self._execute("SELECT hash FROM entries WHERE number = ?", (number,)).fetchone()
        return None if row is None else row[0]

    def find(self, run: str, question_hash: str) -> Iterable[Row]:
        # The first condition is word for word that of the index, or SQLite would not use it.
        where = "WHERE kind != 'cap' AND run = ? AND question_hash = ?"
        return self._execute(f"{SELECT} {where}", (run, question_hash)).fetchall()

    def rows(self) -> Iterable[Row]:
        return self._execute(f"{SELECT} ORDER BY number")

    def rows_of(self, run: str, begins: bool = False) -> Iterable[Row]:
        # Texts are compared by their bytes in UTF-8, so those that begin alike lie between these two. The
        # plus keeps SQLite from reading all entries because they lie in this order already.
        until = run[:-1] + chr(ord(run[-1]) + 1) if begins else run
        where = "run >= ? AND run < ?" if begins else "run >= ? AND run <= ?"
        return self._execute(f"{SELECT} WHERE kind != 'cap' AND {where} ORDER BY +number", (run, until))

    def page(self, after: int, most: int | None, run: str | None = None) -> Iterable[Row]:
        # The plus keeps the run's entries from being looked for among all.
        which, order = ("", "number") if run is None else ("kind != 'cap' AND run = ? AND", "+number")
        values = (after, _limit(most)) if run is None else (run, after, _limit(most))
        return self._execute(f"{SELECT} WHERE {which} {order} > ? ORDER BY {order} LIMIT ?", values)

    def run_names(self, begins: str, after: str | None, most: int | None) -> list[str]:
        # From name to name: a run may have many entries, and none of them is looked at.
        next_name = "SELECT run FROM entries WHERE kind != 'cap' AND run {} ? ORDER BY run LIMIT 1"
        names: list[str] = []
        compares, name = (">=", begins)
        if after is not None and after.encode() >= begins.encode():
            compares, name = (">", after)
        while most is None or len(names) < most:
            row = self._execute(next_name.format(compares), (name,)).fetchone()
            if row is None or not row[0].startswith(begins):
                break
            compares, name = ">", row[0]
            names.append(name)
        return names

    def account_page(self, after: str | None, most: int | None) -> list[Row]:
        if self._first_format:
            return []
        where = "WHERE name > ? ORDER BY name LIMIT ?"
        return self._execute(f"SELECT * FROM accounts {where}", (after or "", _limit(most))).fetchall()

    def has_hash(self, seal: str) -> bool:
        return self._execute("SELECT 1 FROM entries WHERE hash = ?", (seal,)).fetchone() is not None

    def append(self, row: Row) -> None:
        self._execute(INSERT, row)

    def get(self, key: str) -> str | None:
        row = self._execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return None if row is None else row[0]

    def put(self, key: str, value: str) -> None:
        self._execute("UPDATE meta SET value = ? WHERE key = ?", (value, key))

    def accounts(self, names: Iterable[str] | None = None) -> Mapping[str, Row]:
        if self._first_format:
            return {}
        if names is None:
            return {row[0]: row for row in self._execute("SELECT * FROM accounts")}
        wanted = tuple(names)
        marks = ", ".join("?" * len(wanted))
        return {
            row[0]: row for row in self._execute(f"SELECT * FROM accounts WHERE name IN ({marks})", wanted)
        }

    def put_account(self, row: Row) -> None:
        self._execute(PUT_ACCOUNT, row)

    def damage(self) -> list[str]:
        return [line for (line,) in self._execute("PRAGMA integrity_check") if line != "ok"]


def _limit(most: int | None) -> int:
    return -1 if most is None else most


def make(connection: sqlite3.Connection, meta: Mapping[str, str]) -> None:
    """Make the tables of an empty ledger, in a file that has none."""
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {FORMAT}")
    connection.execute("BEGIN")
    connection.execute(META)
    for statement in TABLES:
        connection.execute(statement)
    connection.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
    connection.execute("COMMIT")


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the tables of the first format into today's, within a transaction. No entry changes."""
    connection.execute("DROP INDEX once")
    for trigger in ("no_change", "no_removal"):
        connection.execute(f"DROP TRIGGER {trigger}")
    connection.execute("ALTER TABLE entries RENAME TO first_entries")
    for statement in TABLES:
        connection.execute(statement)
    connection.execute("INSERT INTO entries SELECT *, NULL, NULL FROM first_entries")
    connection.execute("DROP TABLE first_entries")
    connection.execute(f"PRAGMA user_version = {FORMAT}")
