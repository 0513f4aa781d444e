"""Where a collector keeps what it was sent: a SQLite file, or a schema of a Postgres database.

A transaction is done as a whole or not at all, and once it is committed it stays. Statements are the same for
both databases: parameters are written as question marks.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sulq.errors import SulqError
from sulq.ledger.places import Address, place_of

if TYPE_CHECKING:
    from psycopg import Connection

APPLICATION = 0x53515359  # "SQSY"
KNOWN = "SELECT application_id, (SELECT COUNT(*) FROM sqlite_master) FROM pragma_application_id"
LOCK = f"SELECT pg_advisory_xact_lock({APPLICATION})"
"""In Postgres one process writes at a time, as in SQLite."""
PATIENCE = 60.0
"""Seconds to wait while others write."""
SETTINGS = (
    "journal_mode = WAL", "synchronous = FULL", "secure_delete = ON", f"application_id = {APPLICATION}",
)  # fmt: skip


LOGGED = 0.5
"""Seconds for which commits stay in SQLite's log, at most."""


class CommitLostError(SulqError):
    """Nobody knows whether a commit was done: the database did not say."""


class SurveyDatabase(ABC):
    """One connection to a database, which threads take turns to use."""

    @contextmanager
    def transaction(self, write: bool = False) -> Iterator[SurveyDatabase]:
        """All that is done inside is done, or nothing of it.

        Args:
            write: whether anything is written.
        """
        with self._lock():
            self._begin(write)
            try:
                yield self
            except BaseException:
                self._undo()
                raise
            self._commit()

    @abstractmethod
    def all(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """The rows that a statement returns."""

    @abstractmethod
    def run(self, statement: str, values: Sequence[Any] = ()) -> int:
        """How many rows a statement changed."""

    @abstractmethod
    def many(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run a statement for each of some rows."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the database."""

    @abstractmethod
    def _lock(self) -> threading.RLock: ...

    @abstractmethod
    def _begin(self, write: bool) -> None: ...

    @abstractmethod
    def _commit(self) -> None: ...

    @abstractmethod
    def _undo(self) -> None: ...


class SqliteDatabase(SurveyDatabase):
    """A SQLite file. A commit is on the disk when it is done; others may read meanwhile.

    The log of commits is emptied within half a second, or once nobody reads it any more, and what is
    overwritten is gone. Otherwise one copy of the log would show for many people which report came with which
    link.

    Args:
        path: the file; it is made if it is not there, and only its owner may read it.
    """

    def __init__(self, path: Path) -> None:
        self._turns = threading.RLock()
        self._emptied = float("-inf")
        self._later: threading.Timer | None = None
        try:
            if not path.exists():
                os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
            self._connection = sqlite3.connect(
                path, timeout=PATIENCE, isolation_level=None, check_same_thread=False, cached_statements=256
            )
            # One statement, so that a file which another process makes at this moment is not mistaken.
            [(known, tables)] = self._patiently(KNOWN)
            if known not in (0, APPLICATION) or (tables and known == 0):
                raise SulqError(f"{path} is not what a collector keeps: name another file as store")
            for setting in SETTINGS:
                self._patiently(f"PRAGMA {setting}")
        except (OSError, sqlite3.Error) as error:
            raise SulqError(f"cannot keep a survey in {path}: {error}") from None

    def _patiently(self, statement: str) -> list[tuple[Any, ...]]:
        """What a statement returns; SQLite does not always wait if another process begins the same file."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                return self._connection.execute(statement).fetchall()
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise
            time.sleep(0.01)

    def all(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with self._turns:  # lest a reader sees what another thread has not committed yet
            return self._connection.execute(statement, values).fetchall()

    def run(self, statement: str, values: Sequence[Any] = ()) -> int:
        return self._connection.execute(statement, values).rowcount

    def many(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        self._connection.executemany(statement, rows)

    def close(self) -> None:
        with self._turns:
            if self._later is not None:
                self._later.cancel()
                self._later = None
                self._empty()
            self._connection.close()

    def _lock(self) -> threading.RLock:
        return self._turns

    def _begin(self, write: bool) -> None:
        self._connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")

    def _commit(self) -> None:
        try:
            self._connection.execute("COMMIT")
        except BaseException:
            self._undo()
            raise
        if self._later is None and (time.monotonic() - self._emptied < LOGGED or not self._empty()):
            self._empty_soon()

    def _empty(self) -> bool:
        """Empty the log, unless somebody reads it right now; whether it was done.

        What is committed stays so, whatever happens here: nobody is told that it was not kept.
        """
        self._connection.execute("PRAGMA busy_timeout = 0")
        try:
            [(busy, _, _)] = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        except sqlite3.OperationalError:
            busy = True
        self._connection.execute(f"PRAGMA busy_timeout = {int(1000 * PATIENCE)}")
        self._emptied = time.monotonic()
        return not busy

    def _empty_soon(self) -> None:
        self._later = threading.Timer(LOGGED, self._empty_later)
        self._later.daemon = True
        self._later.start()

    def _empty_later(self) -> None:
        with self._turns:
            if self._later is None:  # it was closed meanwhile
                return
            self._later = None
            if not self._empty():
                self._empty_soon()

    def _undo(self) -> None:
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")


class PostgresDatabase(SurveyDatabase):
    """A schema of a Postgres database, which several processes may share.

    Args:
        address: which database, and which schema of it.
    """

    def __init__(self, address: Address) -> None:
        self._address = address
        self._turns = threading.RLock()
        self._connection: Connection[Any] = self._connected()

    def all(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        from psycopg import OperationalError
        from psycopg.pq import TransactionStatus

        query = statement.replace("?", "%s").encode()
        with self._turns:
            inside = self._connection.info.transaction_status == TransactionStatus.INTRANS
            try:
                return list(self._connection.execute(query, values).fetchall())
            except OperationalError:
                if inside:
                    raise
                self._reconnect()
                return list(self._connection.execute(query, values).fetchall())

    def run(self, statement: str, values: Sequence[Any] = ()) -> int:
        return self._connection.execute(statement.replace("?", "%s").encode(), values).rowcount

    def many(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        with self._connection.cursor() as cursor:
            cursor.executemany(statement.replace("?", "%s").encode(), rows)

    def close(self) -> None:
        with self._turns:
            self._connection.close()

    def _lock(self) -> threading.RLock:
        return self._turns

    def _begin(self, write: bool) -> None:
        from psycopg import OperationalError

        begin = f"BEGIN; {LOCK}" if write else "BEGIN"
        try:
            self._connection.execute(begin.encode())
        except OperationalError:
            # Nothing was begun, so nothing is lost: the server may have been restarted.
            self._reconnect()
            self._connection.execute(begin.encode())

    def _commit(self) -> None:
        from psycopg import OperationalError

        try:
            self._connection.execute(b"COMMIT")
        except OperationalError:
            raise CommitLostError("the database did not say whether this was kept") from None

    def _undo(self) -> None:
        if not self._connection.closed:
            self._connection.execute(b"ROLLBACK")

    def _reconnect(self) -> None:
        self._connection.close()
        self._connection = self._connected()

    def _connected(self) -> Connection[Any]:
        try:
            import psycopg
        except ModuleNotFoundError:
            raise SulqError("a survey in Postgres needs psycopg: pip install 'sulq[postgres]'") from None
        try:
            connection = psycopg.connect(self._address.url, autocommit=True)
            schema = self._address.schema
            connection.execute(f"BEGIN; {LOCK}; CREATE SCHEMA IF NOT EXISTS {schema}; COMMIT".encode())
            connection.execute(f"SET search_path TO {schema}; SET synchronous_commit TO on".encode())
            return connection
        except psycopg.Error as error:
            words = " ".join(str(error).split())
            raise SulqError(f"cannot keep a survey in {self._address}: {words}") from None


def database_at(store: str) -> SurveyDatabase:
    """The database that a survey's file names as its store.

    Args:
        store: the path of a file, or an address, as "postgresql:///clinic?schema=bribes".
    """
    place = place_of(store)
    return PostgresDatabase(place) if isinstance(place, Address) else SqliteDatabase(place)
