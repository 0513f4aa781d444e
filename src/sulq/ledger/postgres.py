"""A ledger in Postgres, which many servers share: how they take turns, and how a commit is confirmed.

One rule keeps writers apart: who writes has locked the table `turns`, from the beginning of the transaction
to its end. Postgres gives this lock in the order of arrival, and takes it back from whoever is gone. It
belongs to a transaction and not to a session, so a pooler between the two does no harm. What a transaction
sees is fixed after it has the lock: nobody is refused because another was faster, and nothing is tried again.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sulq.errors import LedgerError
from sulq.ledger import postgres_steps as tables
from sulq.ledger.chain import RESTORE
from sulq.ledger.places import Address
from sulq.ledger.postgres_connections import Connections
from sulq.ledger.postgres_failures import AGAIN, lost
from sulq.ledger.postgres_tables import END, PostgresTransaction
from sulq.ledger.purpose import HEAD
from sulq.ledger.store import Store

if TYPE_CHECKING:
    from psycopg import Connection, Cursor

PATIENCE = 60  # seconds to wait while others write
# Names are looked for in Postgres's own schema, whatever somebody put elsewhere under the same names.
SAFE = "SET LOCAL search_path = pg_catalog, pg_temp;"
# A timeout of statements would also cut off the wait for a replica, and the commit would look durable.
GUARD = """SET LOCAL synchronous_commit = {commit}; SET LOCAL statement_timeout = 0;
    SET LOCAL lock_timeout = {wait}; SET LOCAL idle_in_transaction_session_timeout = {wait};"""
KNOWN = "SELECT version, ledger FROM {schema}.format"
READ = f"BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY; {SAFE}"
WRITE = f"""BEGIN ISOLATION LEVEL REPEATABLE READ; {SAFE} {GUARD}
    LOCK TABLE {{schema}}.turns IN EXCLUSIVE MODE;"""
# A table that is not there yet cannot be locked, so those who would make one take turns by a number.
MAKE = f"BEGIN ISOLATION LEVEL READ COMMITTED; {SAFE} {GUARD} SELECT pg_advisory_xact_lock({{key}})"
RELATIONS = """SELECT c.relname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n
    ON n.oid = c.relnamespace WHERE n.nspname = '{name}'"""


class PostgresStore(Store):
    """A ledger in a schema of a Postgres database.

    Args:
        address: which database, and which schema.
        read_only: whether nothing may be written.

    >>> PostgresStore(Address.of("postgresql:///clinic?schema=people")).name
    'postgresql:///clinic?schema=people'
    """

    def __init__(self, address: Address, read_only: bool = False) -> None:
        self.address = address
        self.name = str(address)
        self.read_only = read_only
        self._connections = Connections(address, read_only)
        self._schema = f'"{address.schema}"'
        self._ledger: str | None = None  # which ledger was opened: one that is made anew is another

    def exists(self) -> bool:
        """Whether there is a ledger. Something else in its place is refused."""
        with self._first(RELATIONS) as (_, relations):
            return self._is_ledger(relations)

    def create(self, meta: Mapping[str, str]) -> None:
        if self.exists():
            return
        with self._first(MAKE) as (connection, _):
            if not self._is_ledger(self._run(connection, RELATIONS).fetchall()):  # nobody did it meanwhile
                self._run(connection, "CREATE SCHEMA IF NOT EXISTS {schema}")
                self._step(connection, 0)
                known = (len(tables.STEPS), secrets.token_hex(16))
                self._run(connection, "INSERT INTO {schema}.format VALUES (%s, %s)", known)
                for key, value in meta.items():
                    texts = (key.encode(), value.encode())
                    self._run(connection, "INSERT INTO {schema}.meta VALUES (%s, %s)", texts)
            self._run(connection, "COMMIT")

    def declared(self) -> dict[str, str]:
        with self._first(READ + KNOWN) as (connection, known):
            version, ledger = self._format(known)
            if not 0 < version <= len(tables.STEPS):
                raise LedgerError(
                    f"{self.name} is a ledger of format {version}, and format {len(tables.STEPS)} was "
                    f"expected; {RESTORE}"
                )
            transaction = PostgresTransaction(connection, self._schema)
            if damage := transaction.unlogged():
                raise LedgerError(f"ledger {self.name} is damaged: {damage[0]}; {RESTORE}")
            if self._ledger is None:
                self._ledger = ledger
            return transaction.meta()

    def upgrade(self) -> None:
        with self._first(READ + KNOWN) as (_, known):
            version, _ = self._format(known)
        if version < len(tables.STEPS):
            with self._first(WRITE + KNOWN) as (connection, known):
                self._step(connection, self._format(known)[0])  # none if somebody else did it meanwhile
                self._run(connection, "UPDATE {schema}.format SET version = %s", (len(tables.STEPS),))
                self._run(connection, "COMMIT")

    @contextmanager
    def transaction(self, write: bool) -> Iterator[PostgresTransaction]:
        if write and self.read_only:
            raise LedgerError(
                f"ledger {self.name} was opened to be read; nothing was released; open it for writing"
            )
        with self._first((WRITE if write else READ) + END) as (connection, known):
            if self._format(known) != (len(tables.STEPS), self._ledger):
                raise LedgerError(
                    f"ledger {self.name} is no longer the one that was opened: that was removed, another was "
                    "put in its place, or it is of another format; nothing was released; open it again"
                )
            transaction = PostgresTransaction(connection, self._schema, known[0][2:])
            yield transaction
            unconfirmed = self._commit(connection, transaction)
        if unconfirmed is not None:
            self._look_for(*unconfirmed)

    def close(self) -> None:
        self._connections.close()

    def __reduce__(self) -> tuple[type[PostgresStore], tuple[Any, ...]]:
        return PostgresStore, (self.address, self.read_only)

    def _commit(
        self, connection: Connection[Any], transaction: PostgresTransaction
    ) -> tuple[int, str] | None:
        """Commit. If the connection is lost before the server says how that went: the entry to look for."""
        import psycopg

        try:
            ended = transaction.commit()
        except psycopg.Error as error:
            if transaction.written is None or not lost(error, connection):
                raise
            return transaction.written
        if ended != "COMMIT":
            raise LedgerError(f"ledger {self.name}: the server undid it all; nothing was released; {AGAIN}")
        return None

    def _look_for(self, number: int, seal: str) -> None:
        """Refuse if an entry was not committed.

        The one whose commit is in question has the lock until it is done or undone, so after that the answer
        is final. And this look commits something itself: then all that was committed before is as durable.
        """
        with self.transaction(write=True) as transaction:
            there = transaction.hash_at(number) == seal
            if (head := transaction.get(HEAD)) is not None:
                transaction.put(HEAD, head)
        if not there:
            raise LedgerError(
                f"ledger {self.name}: the connection was lost before anything was written; nothing was "
                f"released; {AGAIN}"
            )

    def _format(self, rows: list[Any]) -> tuple[int, str]:
        if len(rows) != 1:
            raise LedgerError(f"ledger {self.name} does not say which format it has; {RESTORE}")
        version, ledger, *_ = rows[0]
        return version, ledger

    def _is_ledger(self, rows: list[Any]) -> bool:
        relations = {name for (name,) in rows}
        if relations and not relations.issuperset(tables.TABLES):
            raise LedgerError(
                f"{self.name} is not a ledger: there are other tables in the schema {self.address.schema}; "
                "nothing was changed; name another schema, as ?schema=people"
            )
        return bool(relations)

    def _step(self, connection: Connection[Any], version: int) -> None:
        """Bring the tables of a format into today's; of format 0 there are none."""
        for statement in (each for step in tables.STEPS[version:] for each in step):
            self._run(connection, statement.format(self._schema))

    @contextmanager
    def _first(self, statements: str) -> Iterator[tuple[Connection[Any], list[Any]]]:
        """A connection on which these statements are done, and what the last of them returned."""
        with self._connections.first(self._filled(statements)) as begun:
            yield begun

    def _run(
        self, connection: Connection[Any], statement: str, values: tuple[Any, ...] | None = None
    ) -> Cursor[Any]:
        return connection.execute(self._filled(statement).encode(), values)

    def _filled(self, statement: str) -> str:
        key = hashlib.sha256(f"sulq ledger {self.address.schema}".encode()).digest()[:8]
        return statement.format(
            schema=self._schema,
            name=self.address.schema,
            commit=self._connections.commit_mode,
            wait=int(1000 * PATIENCE),
            key=int.from_bytes(key, "big", signed=True),
        )
