"""Where the ledgers of a test are: files in a folder, or schemas of a Postgres server. All tests of both are the same."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from sulq.ledger.chain import seal_of
from sulq.ledger.ledger import Ledger
from sulq.ledger.places import Address, place_of
from sulq.ledger.purpose import HEAD
from sulq.ledger.stores import store_at
from tests.effort import either
from tests.postgres import PostgresServer

Place = str | Path


class Files:
    """Ledgers in SQLite; one without a name is in memory."""

    stride = either(3, 1)
    """Of all steps at which something may go wrong, every so many are tried."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __truediv__(self, name: str) -> Place:
        return self.folder / name

    def new(self) -> Place | None:
        return None


class Schemas:
    """Ledgers in Postgres."""

    stride = either(5, 1)

    def __init__(self, server: PostgresServer) -> None:
        self.server = server
        self._named: dict[str, str] = {}

    def __truediv__(self, name: str) -> Place:
        return self._named.setdefault(name, self.server.url())

    def new(self) -> Place | None:
        return self.server.url()


Home = Files | Schemas


@contextmanager
def raw(place: Place) -> Iterator[Any]:
    """A connection to the database of a ledger, past the ledger."""
    known = place_of(place)
    if not isinstance(known, Address):
        with closing(sqlite3.connect(known)) as connection:
            yield connection
            connection.commit()
        return
    import psycopg

    with psycopg.connect(known.url, autocommit=True) as connection:
        connection.execute(f"SET search_path = {known.schema}".encode())
        yield connection


def edit(place: Place, *statements: str) -> None:
    """Change a ledger from outside."""
    with raw(place) as connection:
        if isinstance(place_of(place), Address):
            connection.execute("SET session_replication_role = replica")  # which triggers leave alone
            for statement in statements:
                connection.execute(
                    statement.replace("CAST(x'ff' AS TEXT)", "x'ff'").replace("x'ff'", r"'\xff'").encode()
                )
            return
        connection.executescript("DROP TRIGGER IF EXISTS no_change; DROP TRIGGER IF EXISTS no_removal;")
        for statement in statements:
            connection.execute(statement)


def reseal(place: Place, *statements: str) -> list[str]:
    """The findings after an edit by someone who recomputes the whole chain of hashes."""
    edit(place, *statements)
    with Ledger.read(place) as ledger:
        seal = ledger._record.beginning
        with ledger._store.transaction(write=False) as reading:
            rows = list(reading.rows())
    edit(place, "DELETE FROM entries")
    store = store_at(place)
    store.declared()
    with store.transaction(write=True) as transaction:
        for number, row in enumerate(rows, 1):
            values = [number, *row[1:8], seal, "", *row[10:]]
            values[9] = seal = seal_of(values)
            transaction.append(values)
        assert transaction.get(HEAD) != f"{len(rows)} {seal}"
        transaction.put(HEAD, f"{len(rows)} {seal}")
    store.close()
    with Ledger.read(place) as ledger:
        return ledger.verify()


def backends(server: PostgresServer) -> list[int]:
    """The processes of the server that serve ledgers of this process."""
    import psycopg

    deadline = time.monotonic() + 60
    while True:  # a server that lost a process lets nobody in for a moment
        try:
            with server.connect() as connection:
                rows = connection.execute(
                    "SELECT pid FROM pg_stat_activity WHERE application_name = 'sulq ledger'"
                ).fetchall()
            return [pid for (pid,) in rows]
        except psycopg.OperationalError:
            assert time.monotonic() < deadline
            time.sleep(0.05)
