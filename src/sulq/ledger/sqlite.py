"""A ledger in a SQLite file: how the file is made, opened and guarded, and what SQLite's complaints mean.

Everything that was committed is in the one file. SQLite's other way, a log beside the file (WAL), would leave
the last commits out of a copy of the file, and the copy would look sound. A rollback journal has only what
undoes a commit that was cut off, and is gone when the commit is done.
"""

from __future__ import annotations

import os
import random
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from sulq.errors import LedgerError
from sulq.ledger.chain import RESTORE
from sulq.ledger.sqlite_tables import (
    APPLICATION,
    FIRST_FORMAT,
    FORMAT,
    SqliteTransaction,
    format_of,
    make,
    migrate,
)
from sulq.ledger.store import Store
from sulq.privacy.memory import check_process, refuse_copy

PATIENCE = 60  # seconds to wait while others write
TURN = 0.1  # seconds that SQLite waits by itself, during which nobody can interrupt
T = TypeVar("T")

ADVICE = {
    sqlite3.SQLITE_BUSY: f"others have kept it locked for {PATIENCE} seconds: ask again later",
    sqlite3.SQLITE_FULL: "make room on the disk and ask again",
    sqlite3.SQLITE_IOERR: "see that the disk works and has room, and ask again",
    sqlite3.SQLITE_READONLY: "open it for writing, and see that the file and its folder may be written",
    sqlite3.SQLITE_CANTOPEN: "see that it exists, and that the file and its folder may be written",
}

gate = threading.RLock()
"""Whoever touches a ledger's file holds it, and so does a fork."""


FAILURES = (sqlite3.Error, UnicodeError, OSError)


def refusal(name: str, error: BaseException) -> LedgerError:
    """What SQLite or the file system complain of, in words that say what to do."""
    if isinstance(error, sqlite3.Error):
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        complaint, advice = str(error), ADVICE.get(code, RESTORE)
    elif isinstance(error, OSError):
        complaint, advice = str(error.strerror), "see that its folder exists and may be written"
    else:  # the error itself would carry the text
        complaint, advice = "a text is damaged", RESTORE
    return LedgerError(f"ledger {name}: {complaint}; nothing was released; {advice}")


def _cause(error: BaseException) -> BaseException | None:
    return None if isinstance(error, UnicodeError) else error


@contextmanager
def guarded(name: str) -> Iterator[None]:
    """One thread at a time, and complaints in words that say what to do."""
    with gate:
        try:
            yield
        except FAILURES as error:
            raise refusal(name, error) from _cause(error)


def connect(uri: str) -> sqlite3.Connection:
    connection = sqlite3.connect(uri, uri=True, timeout=TURN, isolation_level=None, check_same_thread=False)
    # SQLite's own complaint about damaged text would quote it; replaced letters are for verify() to find.
    connection.text_factory = lambda text: text.decode(errors="replace")
    # A commit is done when the journal's name is gone from the folder. If the power fails before that is on
    # the disk, the journal is back, and would undo the charge of an answer that was given: EXTRA waits.
    patiently(lambda: connection.execute("PRAGMA synchronous = EXTRA"))
    # On macOS an ordinary fsync may stop at the drive's cache.
    patiently(lambda: connection.execute("PRAGMA fullfsync = ON"))
    return connection


def patiently(step: Callable[[], T]) -> T:
    """Do one step, again and again while others have the file locked; the waiting can be interrupted."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return step()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
        time.sleep(random.uniform(0, TURN))  # at random, lest two who are in each other's way meet again


def begin(connection: sqlite3.Connection, mode: str) -> None:
    """Begin a transaction, and wait for the lock that it needs first."""
    patiently(lambda: connection.execute(f"BEGIN {mode}"))
    if mode == "DEFERRED":  # until something is read
        patiently(lambda: connection.execute("SELECT 1 FROM sqlite_schema").fetchone())


def strays(path: Path) -> list[Path]:
    """What SQLite may keep beside a file while it writes, as far as it is there."""
    beside = (path.with_name(f"{path.name}-{kind}") for kind in ("journal", "wal"))
    return [file for file in beside if file.exists()]


def place(path: Path) -> tuple[int, int] | None:
    """Which file a path leads to."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


class SqliteStore(Store):
    """A ledger in one SQLite file, or in memory.

    Args:
        path: the file, None for memory.
        read_only: whether nothing may be written.

    >>> store = SqliteStore(None)
    >>> store.create({"head": "0 begun"})
    >>> with store.transaction(write=True) as transaction:
    ...     transaction.put("head", "1 more")
    >>> store.declared()
    {'head': '1 more'}
    """

    def __init__(self, path: str | Path | None, read_only: bool = False) -> None:
        self.path = None if path is None else Path(path).resolve()
        self.name = "in memory" if self.path is None else str(self.path)
        self.read_only = read_only
        self._process = os.getpid()
        self._closed = False
        self._connection: sqlite3.Connection | None = None
        self._place: tuple[int, int] | None = None  # of the file that was opened
        with gate:
            _stores.add(self)

    def create(self, meta: Mapping[str, str]) -> None:
        with guarded(self.name):
            if self.path is None:
                if self._connection is None:
                    self._connection = connect(":memory:")
                    make(self._connection, meta)
            else:
                self._create(self.path, meta)

    def declared(self) -> dict[str, str]:
        with guarded(self.name):
            if self.path is None:
                return self._meta(self.connection())
            if self._place is None:
                self._place = place(self.path)
            with closing(connect(f"{self.path.as_uri()}?mode=rw")) as connection:
                begin(connection, "DEFERRED")
                [(application,)] = connection.execute("PRAGMA application_id")
                version = format_of(connection)
                if application != APPLICATION or version not in (FIRST_FORMAT, FORMAT):
                    known = f"a ledger of format {version}" if application == APPLICATION else "not a ledger"
                    raise LedgerError(f"{self.path} is {known}, and format {FORMAT} was expected; {RESTORE}")
                [(state,)] = connection.execute("PRAGMA integrity_check(1)")
                if state != "ok":
                    raise LedgerError(f"ledger {self.path} is damaged: {state}; {RESTORE}")
                return self._meta(connection)

    def upgrade(self) -> None:
        if self.path is None:
            return
        with guarded(self.name):
            version = patiently(self._bring_into_one_file)
            if version != FORMAT:
                with closing(connect(f"{self.path.as_uri()}?mode=rw")) as connection:
                    begin(connection, "IMMEDIATE")
                    if format_of(connection) == FIRST_FORMAT:  # nobody else did it meanwhile
                        migrate(connection)
                    patiently(lambda: connection.execute("COMMIT"))

    @contextmanager
    def transaction(self, write: bool) -> Iterator[SqliteTransaction]:
        with gate:
            try:
                connection = self.connection()
                try:
                    begin(connection, "IMMEDIATE" if write else "DEFERRED")
                    self._check_place()
                    first_format = self.read_only and format_of(connection) == FIRST_FORMAT
                    yield SqliteTransaction(connection, first_format)
                    patiently(lambda: connection.execute("COMMIT"))
                finally:
                    connection.rollback()  # nothing to do after a commit
            except FAILURES as error:
                raise refusal(self.name, error) from _cause(error)

    def close(self) -> None:
        with guarded(self.name):
            self._closed = True
            self.disconnect()

    def connection(self) -> sqlite3.Connection:
        """The open connection, which is made now if there is none."""
        if self._closed:
            raise LedgerError(f"ledger {self.name} is closed; nothing was released; open it again")
        if self.path is None:
            check_process(self._process, "a ledger", "give the ledger a file")
        if self._connection is None:
            if self.path is None:
                raise LedgerError("a ledger in memory has to be created first; nothing was released")
            self._connection = connect(f"{self.path.as_uri()}?mode=rw")
            self._connection.execute(f"PRAGMA query_only = {self.read_only}")
        return self._connection

    def disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def __reduce__(self) -> tuple[type[SqliteStore], tuple[Any, ...]]:
        if self.path is None:
            refuse_copy("a ledger", "give it a file")
        return SqliteStore, (self.path, self.read_only)

    @staticmethod
    def _meta(connection: sqlite3.Connection) -> dict[str, str]:
        return dict(connection.execute("SELECT key, value FROM meta ORDER BY key"))

    def _create(self, path: Path, meta: Mapping[str, str]) -> None:
        """Link a finished file into place unless there is one: nobody ever sees it half made, or empty."""
        left = strays(path)  # before the file is looked for, which whoever makes it does first
        if not path.exists():
            if left:
                raise LedgerError(
                    f"ledger {path} is gone, but {left[0].name} is there, which belongs to it; nothing was "
                    "released; bring back the ledger, or remove what is left of it"
                )
            with TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as folder:
                draft = Path(folder, "draft")
                with closing(connect(f"{draft.as_uri()}?mode=rwc")) as connection:
                    make(connection, meta)
                with suppress(FileExistsError):
                    os.link(draft, path)

    def _bring_into_one_file(self) -> int:
        """Bring what an earlier version kept in a log beside the file into the file; the file's format.

        Only who has the file alone can do that, so nobody keeps it open while they wait.
        """
        assert self.path is not None
        with closing(connect(f"{self.path.as_uri()}?mode=rw")) as connection:
            connection.execute("PRAGMA journal_mode = DELETE")
            return format_of(connection)

    def _check_place(self) -> None:
        """Refuse if the path leads to another file than was opened.

        Whoever goes by the path would find less spent than was.
        """
        if self.path is not None and place(self.path) != self._place:
            raise LedgerError(
                f"ledger {self.path} is no longer the file that was opened: that was removed, or another was "
                "put in its place; nothing was released; bring it back, and open it again"
            )


# SQLite's locks and shared memory belong to one process, so no connection may cross a fork: all of them are
# closed before it, and each side opens its own when it next needs one.
_stores: weakref.WeakSet[SqliteStore] = weakref.WeakSet()


def _before_fork() -> None:
    gate.acquire()
    for store in _stores:
        if store.path is not None:
            store.disconnect()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=gate.release, after_in_child=gate.release)
