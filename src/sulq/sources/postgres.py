"""Rows in Postgres: a table, a view or a query, read once in one snapshot and streamed as Arrow.

The connection is read-only and stays in one transaction from opening to the end of the reading, so that the
number of rows and all columns are of one moment. Afterwards it is closed: later questions use what was kept.

What the server says is repeated only of what it says before it looks at a row: whether it can be reached, and
whether the table and its columns are there.
"""

from __future__ import annotations

import re
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import parse_qsl

import pyarrow as pa

from sulq.errors import LedgerError, SchemaError, SulqError
from sulq.sources.pieces import Piece, pieces

T = TypeVar("T")
SCHEMES = ("postgresql://", "postgres://")
SNAPSHOT = "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"
READING_FAILS = (
    "Postgres cannot read this to its end: the connection is lost, the server stops it, or the query fails "
    "on some row (a cast that can fail does); open it again"
)
NOT_PERMITTED = "42501"
FORBIDDEN = (
    "Postgres does not let this role read this table or these columns: GRANT SELECT on them, or on a view of "
    "them"
)
MISSING_PACKAGE = "rows in Postgres need more packages: pip install 'sulq[postgres]'"
SECRETS = {"password", "sslpassword", "scram_client_key", "scram_server_key", "oauth_client_secret"}
FINITE = ("date", "timestamp", "timestamptz")
"""Types with an infinity, which Arrow does not have: it counts as missing."""
AS_TEXT = ("bpchar", "citext", "uuid", "inet", "cidr", "macaddr", "macaddr8", "oid", "xid")
"""Types that Arrow has as something else than what people write. A cast to text cannot fail."""
REASON = r"^.*?(ERROR:|FATAL:|error:|failed:|Failed to connect:)\s*(FATAL:\s*)?"
"""What stands before the reason in the messages of libpq and of the server."""
EXACT = ("numeric", "money")
"""Exact decimal numbers, which come as texts."""


def is_address(data: object) -> bool:
    """Whether something is the address of a Postgres database."""
    return isinstance(data, str) and data.startswith(SCHEMES)


@dataclass(frozen=True)
class Database:
    """Where rows in a database are, as far as it may be written down: without address and credentials.

    Args:
        table: the table or view; None for a query.
    """

    table: str | None

    def ledger(self) -> Path:
        """Refused: nothing lies beside a database."""
        raise LedgerError(
            "rows in Postgres have no ledger beside them: say with ledger= (--ledger) where it is remembered "
            "what was spent on them, always the same"
        )

    @property
    def beside(self) -> Path:
        return self.ledger()


class PostgresRows:
    """The rows of a table, a view or a query, in one snapshot.

    Args:
        address: a libpq URL without a password, as "postgresql://host/database".
        table: the name of a table or view, with its schema if need be: "health.people".
        query: instead of a table, a SELECT.
        needed: the columns that will be read.
    """

    whole = True
    ordered = False

    def __init__(self, address: str, table: str | None, query: str | None, needed: Sequence[str]) -> None:
        _check_address(address)
        self._rows_of = _from(table, query)
        connection = _connected(address)
        self._cursor: Any = connection.cursor()
        self._end = weakref.finalize(self, _end, self._cursor, connection)
        try:
            columns = _said(self._described, "cannot read this")
            _check_names(columns.names, needed)
            self._written = {field.name: _as_read(field) for field in columns}
            self._check_permission([name for name in needed if name in self._written])
        except BaseException:
            self.close()
            raise
        self.types: Mapping[str, pa.DataType] = {field.name: _type_of(field) for field in columns}

    def _described(self) -> pa.Schema:
        """The columns. The server analyses the query for it and runs nothing."""
        self._cursor.execute(SNAPSHOT)
        return self._cursor.adbc_execute_schema(f"SELECT * FROM {self._rows_of}")

    def _check_permission(self, names: Sequence[str]) -> None:
        """Refuse what this role may not read. The server starts the query for it, and asks it for no row."""
        try:
            self._run(f"SELECT {self._chosen(names)} FROM {self._rows_of} LIMIT 0").fetchall()
            return
        except Exception as error:
            forbidden = getattr(error, "sqlstate", None) == NOT_PERMITTED
        raise SchemaError(FORBIDDEN if forbidden else READING_FAILS)

    def _chosen(self, names: Sequence[str]) -> str:
        return ", ".join(self._written[name] for name in names)

    @property
    def rows(self) -> int:
        counted = self._read(lambda: self._run(f"SELECT pg_catalog.count(*) FROM {self._rows_of}").fetchall())
        return int(counted[0][0])

    def parts(self, columns: Sequence[str], many: int) -> list[Iterator[Piece]]:
        return [self._part(columns)]

    def _part(self, columns: Sequence[str]) -> Iterator[Piece]:
        statement = f"SELECT {self._chosen(columns)} FROM {self._rows_of}"
        try:
            stream = self._read(lambda: self._run(statement).fetch_record_batch())
            yield from pieces(self._batches(stream), 0)
        finally:
            self.close()

    def _batches(self, stream: pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
        while (batch := self._read(lambda: next(stream, None))) is not None:
            yield pa.record_batch([_unwrapped(column) for column in batch.columns], batch.schema.names)

    def _run(self, statement: str) -> Any:
        if not self._end.alive:
            raise SulqError("the snapshot of these rows was read and is closed: open them again")
        self._cursor.execute(statement)
        return self._cursor

    def _read(self, step: Callable[[], T]) -> T:
        """What a step that looks at rows returns. What the server says of a failure may quote a row."""
        try:
            return step()
        except SulqError:
            raise
        except Exception:
            pass  # not even kept as the reason
        self.close()
        raise SulqError(READING_FAILS)

    def close(self) -> None:
        """End the snapshot, and the connection with it; so does forgetting the reader."""
        self._end()


def _end(*things: Any) -> None:
    """Close a cursor and its connection, whatever state they are in."""
    for thing in things:
        with suppress(Exception):
            thing.close()


def _check_address(address: str) -> None:
    """Refuse a password in an address: addresses are kept in shells, scripts and lists of processes."""
    rest = address.partition("://")[2]
    # As libpq reads it, not as browsers do: a ? or # before the first @ is a part of the password.
    login, at, place = rest.partition("@")
    if not at or "/" in login:
        login, place = rest.partition("?")[0].rpartition("@")[0], rest
    names = {name for name, _ in parse_qsl(place.partition("?")[2])}
    if login.partition(":")[2] or names & SECRETS:
        raise SchemaError(
            "the address of a database must not have a password in it: put it into PGPASSWORD, into a "
            "password file (~/.pgpass), or name a service of a service file (PGSERVICE)"
        )


def _check_names(names: Sequence[str], needed: Sequence[str]) -> None:
    """Refuse a query in which one name stands for several columns that will be read."""
    for name in needed:
        if names.count(name) > 1:
            raise SchemaError(f"the query has several columns {name!r}: give them names of their own with AS")


def _from(table: str | None, query: str | None) -> str:
    """What stands behind FROM."""
    if (table is None) == (query is None):
        raise SchemaError("say what to open in the database: table= (a table or view) or query= (a SELECT)")
    if table is not None:
        return ".".join(_quoted(name) for name in table.split(".", 1))
    assert query is not None
    # A line end before the bracket, because a query may end with a comment.
    return f"({query.strip().removesuffix(';')}\n) AS rows"


def _quoted(name: str) -> str:
    if not name or "\0" in name:
        raise SchemaError(f"{name!r} is not the name of a table")
    return '"' + name.replace('"', '""') + '"'


def _connected(address: str) -> Any:
    try:
        from adbc_driver_postgresql import dbapi
    except ImportError:
        raise SchemaError(MISSING_PACKAGE) from None
    return _said(lambda: dbapi.connect(address, autocommit=True), "cannot be reached")


def _said(step: Callable[[], T], what: str) -> T:
    """What a step that looks at no row returns; the server's reason is repeated, its first line."""
    try:
        return step()
    except Exception as error:
        reason = re.sub(REASON, "", str(error), count=1, flags=re.DOTALL)
        raise SchemaError(f"Postgres {what}: {reason.strip().splitlines()[0]}") from None


def _as_read(field: pa.Field) -> str:
    """How a column is written in a SELECT, such that Arrow has what people mean."""
    name, type_ = _quoted(field.name), _name_of_type(field)
    if type_ in FINITE:
        return f"CASE WHEN pg_catalog.isfinite({name}) THEN {name} END AS {name}"
    cast = "text" if type_ in AS_TEXT else "numeric" if type_ == "money" else None
    return name if cast is None else f"{name}::pg_catalog.{cast} AS {name}"


def _type_of(field: pa.Field) -> pa.DataType:
    """The type of a column as it will be read."""
    if _name_of_type(field) in (*AS_TEXT, *EXACT):
        return pa.string()
    return field.type


def _name_of_type(field: pa.Field) -> str:
    return str((field.metadata or {}).get(b"POSTGRESQL:type", b""), "utf-8")


def _unwrapped(column: pa.Array) -> pa.Array:
    """Exact numbers come as texts in a wrapping of their own."""
    return column.storage if isinstance(column, pa.ExtensionArray) else column
