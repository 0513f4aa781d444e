"""What is read from and written to the tables of a ledger in Postgres, within a transaction."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sulq.ledger.chain import COLUMNS, Row
from sulq.ledger.postgres_steps import PREFIX
from sulq.ledger.purpose import HEAD
from sulq.ledger.store import Transaction

if TYPE_CHECKING:
    from psycopg import Connection, Cursor

BATCH = 1000
"""How many entries are fetched at once, where all are read."""
BYTES = ("run", "question", "answer", "account")
PLACES = [COLUMNS.index(name) for name in BYTES]
ENTRIES = ", ".join(COLUMNS)
END = f"""SELECT f.version, f.ledger, m.value, {", ".join(f"e.{name}" for name in COLUMNS)}
    FROM {{schema}}.format f
    LEFT JOIN {{schema}}.meta m ON m.key = '{HEAD}'
    LEFT JOIN (SELECT * FROM {{schema}}.entries ORDER BY number DESC LIMIT 1) e ON true"""
"""Which ledger it is, and how it ends."""


class PostgresTransaction(Transaction):
    """See `Transaction`.

    The way to the server and back takes longer than most statements. So what is to be written is sent along
    with what is read or committed next, and how the ledger ends is asked for once.

    Args:
        connection: a connection that has begun a transaction.
        schema: the schema that the tables are in, as SQL writes it.
        end: what END returns: the text under "head", and the last entry; None if they are not needed.
    """

    written: tuple[int, str] | None = None
    """Number and hash of the last entry that was added."""

    def __init__(self, connection: Connection[Any], schema: str, end: Sequence[Any] | None = None) -> None:
        self._connection = connection
        self._schema = schema
        self._unsent: list[tuple[bytes, Sequence[Any]]] = []
        self._head: str | None = None
        self._last: Row | None = None
        if end is not None:
            head, *last = end
            self._head = _text(head)
            self._last = None if last[0] is None else _row(last)

    def commit(self) -> str | None:
        """Send what was not sent yet, and commit all; what the server calls that."""
        with self._connection.pipeline():
            self._send()
            cursor = self._connection.execute("COMMIT")
        return cursor.statusmessage

    def _send(self) -> None:
        unsent, self._unsent = self._unsent, []
        for statement, values in unsent:
            self._connection.execute(statement, values)

    def _write(self, statement: str, values: Sequence[Any] = ()) -> None:
        self._unsent.append((statement.format(self._schema).encode(), values))

    def _execute(self, statement: str, values: Sequence[Any] = ()) -> Cursor[Any]:
        text = statement.format(self._schema).encode()
        if not self._unsent:
            return self._connection.execute(text, values, binary=True)
        with self._connection.pipeline():
            self._send()
            return self._connection.execute(text, values, binary=True)

    def _rows(self, rest: str, values: Sequence[Any] = ()) -> list[Row]:
        return list(map(_row, self._execute(f"SELECT {ENTRIES} FROM {{0}}.entries {rest}", values)))

    @contextmanager
    def nested(self) -> Iterator[None]:
        before = self.written, self._head, self._last
        self._write("SAVEPOINT part")
        try:
            yield
        except BaseException:
            self.written, self._head, self._last = before
            self._write("ROLLBACK TO part")
            raise
        finally:
            self._write("RELEASE part")

    def last(self) -> Row | None:
        return self._last

    def hash_at(self, number: int) -> str | None:
        if self._last is not None and self._last[0] == number:
            return str(self._last[9])
        row = self._execute("SELECT hash FROM {0}.entries WHERE number = %s", (number,)).fetchone()
        return None if row is None else row[0]

    def find(self, run: str, question_hash: str) -> Iterable[Row]:
        where = "WHERE kind <> 'cap' AND sha256(run) = %s AND question_hash = %s"
        return self._rows(where, (_hash(run), question_hash))

    def rows(self) -> Iterable[Row]:
        after = -(2**63)  # damage may look like an entry 0
        while batch := self._rows("WHERE number > %s ORDER BY number LIMIT %s", (after, BATCH)):
            yield from batch
            after = batch[-1][0]

    def rows_of(self, run: str, begins: bool = False) -> Iterable[Row]:
        if not begins:
            return self._rows("WHERE kind <> 'cap' AND sha256(run) = %s ORDER BY number", (_hash(run),))
        # Names that begin alike lie between these two; no byte of UTF-8 is the highest there is.
        name = run.encode()
        until = name[:-1] + bytes([name[-1] + 1])
        where = f"substring(run FOR {PREFIX}) BETWEEN %s AND %s AND run >= %s AND run < %s"
        limits = (name[:PREFIX], until[:PREFIX], name, until)
        return self._rows(f"WHERE kind <> 'cap' AND {where} ORDER BY number", limits)

    def page(self, after: int, most: int | None, run: str | None = None) -> Iterable[Row]:
        if run is None:
            return self._rows("WHERE number > %s ORDER BY number LIMIT %s", (after, most))
        where = "WHERE kind <> 'cap' AND sha256(run) = %s AND number > %s ORDER BY number LIMIT %s"
        return self._rows(where, (_hash(run), after, most))

    def run_names(self, begins: str, after: str | None, most: int | None) -> list[str]:
        # From name to name: a run may have many entries, and few of them are looked at.
        names: list[str] = []
        name, new = begins.encode(), True
        if after is not None and after.encode() >= name:
            name, new = after.encode(), False
        while most is None or len(names) < most:
            following = self._name_after(name, new)
            if following is None or not following.startswith(begins.encode()):
                break
            name, new = following, False
            names.append(name.decode(errors="replace"))
        return names

    def _name_after(self, name: bytes, new: bool) -> bytes | None:
        """The next name of a run.

        Args:
            name: the name before it.
            new: whether this name itself may be the next.
        """
        compares = ">=" if new else ">"
        if len(name) >= PREFIX:  # several names may share what the index has of them
            same = f"kind <> 'cap' AND substring(run FOR {PREFIX}) = %s AND run {compares} %s"
            query = f"SELECT run FROM {{0}}.entries WHERE {same} ORDER BY run LIMIT 1"
            if row := self._execute(query, (name[:PREFIX], name)).fetchone():
                return bytes(row[0])
            name, compares = name[:PREFIX], ">"
        begin = f"substring(run FOR {PREFIX})"
        query = f"SELECT {begin} FROM {{0}}.entries WHERE kind <> 'cap' AND {begin} {compares} %s"
        row = self._execute(f"{query} ORDER BY {begin} LIMIT 1", (name,)).fetchone()
        if row is None or len(row[0]) < PREFIX:
            return None if row is None else bytes(row[0])
        return self._name_after(bytes(row[0]), True)

    def account_page(self, after: str | None, most: int | None) -> list[Row]:
        begin = f"substring(name FOR {PREFIX})"
        where = f"WHERE {begin} >= %s AND name > %s ORDER BY {begin}, name LIMIT %s"
        name = (after or "").encode()
        return [_account(row) for row in self._accounts(where, (name[:PREFIX], name, most))]

    def has_hash(self, seal: str) -> bool:
        if "\0" in seal:
            return False
        found = self._execute("SELECT 1 FROM {0}.entries WHERE hash = %s LIMIT 1", (seal,))
        return found.fetchone() is not None

    def append(self, row: Row) -> None:
        values = [_bytes(value) if place in PLACES else value for place, value in enumerate(row)]
        marks = ", ".join(["%s"] * len(COLUMNS))
        self._write(f"INSERT INTO {{0}}.entries ({ENTRIES}) VALUES ({marks})", values)
        self._last = row
        self.written = row[0], row[9]

    def get(self, key: str) -> str | None:
        if key == HEAD:
            return self._head
        row = self._execute("SELECT value FROM {0}.meta WHERE key = %s", (key.encode(),)).fetchone()
        return None if row is None else _text(row[0])

    def put(self, key: str, value: str) -> None:
        self._write("UPDATE {0}.meta SET value = %s WHERE key = %s", (value.encode(), key.encode()))
        if key == HEAD:
            self._head = value

    def meta(self) -> dict[str, str]:
        """All texts beside the entries."""
        rows = self._execute("SELECT key, value FROM {0}.meta ORDER BY key")
        return {str(_text(key)): str(_text(value)) for key, value in rows}

    def accounts(self, names: Iterable[str] | None = None) -> Mapping[str, Row]:
        if names is None:
            rows = self._accounts()
        else:
            rows = self._accounts("WHERE sha256(name) = ANY(%s)", (list(map(_hash, names)),))
        return {row[0]: row for row in map(_account, rows)}

    def _accounts(self, rest: str = "", values: Sequence[Any] = ()) -> Iterable[Row]:
        return self._execute(f"SELECT name, spent, cap, hash FROM {{0}}.accounts {rest}", values)

    def put_account(self, row: Row) -> None:
        name, *rest = row
        self._write(
            """INSERT INTO {0}.accounts (name, spent, cap, hash) VALUES (%s, %s, %s, %s)
            ON CONFLICT (sha256(name))
            DO UPDATE SET spent = excluded.spent, cap = excluded.cap, hash = excluded.hash""",
            (name.encode(), *rest),
        )

    def unlogged(self) -> list[str]:
        """Which tables the server would empty after a crash, in words."""
        named = self._execute(
            """SELECT relname FROM pg_class WHERE relnamespace = %s::regnamespace
            AND relkind = 'r' AND relpersistence <> 'p' ORDER BY relname""",
            (self._schema,),
        )
        return [f"table {name} is unlogged, so that a crash of the server empties it" for (name,) in named]

    def damage(self) -> list[str]:
        wrong = self.unlogged()
        [(indexes, triggers)] = self._execute(
            """SELECT (SELECT count(*) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
                WHERE i.indrelid = '{0}.entries'::regclass AND i.indisvalid AND c.relname = 'once'),
            (SELECT count(*) FROM pg_trigger WHERE tgrelid = '{0}.entries'::regclass
                AND tgname = 'no_change' AND tgenabled <> 'D')"""
        )
        if not indexes:
            wrong.append("the index that keeps a question from being charged twice is missing")
        if not triggers:
            wrong.append("what keeps entries from being changed is missing")
        return wrong


def _row(values: Sequence[Any]) -> Row:
    return [_text(value) if place in PLACES else value for place, value in enumerate(values)]


def _account(values: Sequence[Any]) -> Row:
    return (_text(values[0]), *values[1:])


def _text(value: bytes | None) -> str | None:
    """A text that was kept as bytes; what is damaged is for verify() to find."""
    return None if value is None else bytes(value).decode(errors="replace")


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()
