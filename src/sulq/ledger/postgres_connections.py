"""Connections to a Postgres server: a few for each store, replaced when they are lost, none across a fork."""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from sulq.errors import LedgerError
from sulq.ledger.places import Address
from sulq.ledger.postgres_failures import comes_back, lost, refusal

if TYPE_CHECKING:
    from psycopg import Connection

RETURN = 20.0  # seconds to wait for a server that was there before
MOST = 8
"""How many connections a store has at the same time."""
OLDEST = 13
SETTINGS = {
    "application_name": "sulq ledger",
    "connect_timeout": "10",
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
}
"""How a connection is made, unless the address says something else. A dead network is noticed in a minute."""


class Connections:
    """The connections of one store.

    Args:
        address: which database.
        read_only: whether nothing will be written.
    """

    def __init__(self, address: Address, read_only: bool) -> None:
        self.address = address
        self.commit_mode = "on"
        self._read_only = read_only
        self._closed = False
        self._met = False  # whether the server was ever there
        self.forget()
        _all.add(self)

    def forget(self) -> None:
        """Begin anew without any connection: after a fork, those there are belong to another process."""
        self._idle: list[Connection[Any]] = []
        self._lock = threading.Lock()
        self._room = threading.BoundedSemaphore(MOST)

    def close(self) -> None:
        """Let go of the server; from now on nobody gets a connection."""
        self._closed = True
        self._drop_idle()

    @contextmanager
    def first(self, statements: str) -> Iterator[tuple[Connection[Any], list[Any]]]:
        """A connection that nobody else uses meanwhile, and what the first statements on it returned.

        What is not committed at the end is undone. Whatever goes wrong is a LedgerError.

        Args:
            statements: they may begin a transaction. A connection that is found to be lost by then is
                replaced: nothing was begun, so nothing is lost.
        """
        try:
            import psycopg
        except ModuleNotFoundError:
            raise LedgerError("a ledger in Postgres needs psycopg: pip install 'sulq[postgres]'") from None
        if self._closed:
            raise LedgerError(f"ledger {self.address} is closed; nothing was released; open it again")
        with self._room:
            connection: Connection[Any] | None = None
            try:
                if (connection := self._idle_one()) is not None:
                    try:
                        rows = _fetched(connection, statements)
                    except psycopg.Error as error:
                        if not lost(error, connection):
                            raise
                        connection.close()
                        self._drop_idle()
                        connection = None
                if connection is None:
                    connection = self._connect()
                    rows = _fetched(connection, statements)
                yield connection, rows
            except (psycopg.Error, UnicodeError) as error:
                # What the server says in full, and where it was raised, may repeat a question or an answer.
                raise refusal(str(self.address), error) from None
            finally:
                if connection is not None:
                    self._give_back(connection)

    def _idle_one(self) -> Connection[Any] | None:
        with self._lock:
            return self._idle.pop() if self._idle else None

    def _drop_idle(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _give_back(self, connection: Connection[Any]) -> None:
        from psycopg.pq import TransactionStatus

        with suppress(Exception):  # whatever is wrong with it, there will be another
            if connection.info.transaction_status != TransactionStatus.IDLE:
                connection.execute("ROLLBACK")
            with self._lock:
                if not self._closed and connection.info.transaction_status == TransactionStatus.IDLE:
                    self._idle.append(connection)
                    return
        with suppress(Exception):
            connection.close()

    def _connect(self) -> Connection[Any]:
        """A new connection. A server that was there before is given time to come back."""
        import psycopg
        from psycopg.conninfo import conninfo_to_dict

        settings: dict[str, Any] = SETTINGS | conninfo_to_dict(self.address.url) | {"client_encoding": "utf8"}
        deadline = time.monotonic() + (RETURN if self._met else 0)
        while True:
            try:
                # What is prepared belongs to a session, which a pooler may exchange.
                connection = psycopg.connect(**settings, autocommit=True, prepare_threshold=None)
                self._check_server(connection)
                self._met = True
                return connection
            except psycopg.OperationalError as error:
                if time.monotonic() > deadline or not comes_back(error):
                    raise
            time.sleep(0.1)

    def _check_server(self, connection: Connection[Any]) -> None:
        """Refuse a server that forgets what it confirmed, and remember how it confirms."""
        names = ("fsync", "synchronous_commit", "server_version_num")
        shown = ", ".join(f"pg_catalog.current_setting('{name}')" for name in names)
        [(fsync, mode, version)] = _fetched(connection, f"SELECT {shown}")
        wrong = ""
        if int(version) // 10_000 < OLDEST:
            wrong = f"the server is older than Postgres {OLDEST}"
        elif fsync != "on" and not self._read_only:
            wrong = "the server has fsync switched off, so that a crash would bring back what was spent"
        if wrong:
            connection.close()
            raise LedgerError(f"ledger {self.address}: {wrong}; nothing was released; use another server")
        # One that waits until replicas show a commit goes on to do so; all others wait for the disk at least.
        self.commit_mode = "remote_apply" if mode == "remote_apply" else "on"


def _fetched(connection: Connection[Any], statements: str) -> list[Any]:
    """What the last of several statements returns."""
    cursor = connection.execute(statements.encode())
    while cursor.nextset():
        pass
    return list(cursor.fetchall())


# A connection belongs to the process that made it: a child begins with none, and leaves its parent's alone.
_all: weakref.WeakSet[Connections] = weakref.WeakSet()


def _after_fork() -> None:
    for each in _all:
        each.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
