"""The file of a ledger: its tables, how it is opened, and what SQLite's complaints mean.

Everything that was committed is in the one file. SQLite's other way, a log beside the file (WAL), would leave
the last commits out of a copy of the file, and the copy would look sound. A rollback journal has only what
undoes a commit that was cut off, and is gone when the commit is done.
"""

from __future__ import annotations

import random
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeVar

from sulq.errors import LedgerError
from sulq.ledger.chain import RESTORE

APPLICATION = int.from_bytes(b"sulq", "big")
FORMAT = 1
PATIENCE = 60  # seconds to wait while others write
TURN = 0.1  # seconds that SQLite waits by itself, during which nobody can interrupt
T = TypeVar("T")

TABLES = f"""
PRAGMA journal_mode = DELETE;
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {FORMAT};
BEGIN;
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE entries (
    number INTEGER PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('charge', 'answer')),
    run TEXT NOT NULL,
    question TEXT NOT NULL,
    cost TEXT NOT NULL,
    answer TEXT CHECK ((answer IS NULL) = (kind = 'charge')),
    spent TEXT NOT NULL,
    time TEXT NOT NULL,
    previous TEXT NOT NULL,
    hash TEXT NOT NULL,
    question_hash TEXT NOT NULL
);
CREATE UNIQUE INDEX once ON entries (run, question_hash, kind);
CREATE TRIGGER no_change BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'entries never change'); END;
CREATE TRIGGER no_removal BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'entries never go'); END;
"""

ADVICE = {
    sqlite3.SQLITE_BUSY: f"others have kept it locked for {PATIENCE} seconds: ask again later",
    sqlite3.SQLITE_FULL: "make room on the disk and ask again",
    sqlite3.SQLITE_IOERR: "see that the disk works and has room, and ask again",
    sqlite3.SQLITE_READONLY: "open it for writing, and see that the file and its folder may be written",
    sqlite3.SQLITE_CANTOPEN: "see that it exists, and that the file and its folder may be written",
}

gate = threading.RLock()
"""Whoever touches a ledger's file holds it, and so does a fork."""


@contextmanager
def guarded(path: Path | None) -> Iterator[None]:
    """One thread at a time, and what SQLite or the file system complain of in words that say what to do."""
    with gate:
        try:
            yield
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
            advice = ADVICE.get(code, RESTORE)
            raise LedgerError(f"ledger {path}: {error}; nothing was released; {advice}") from error
        except UnicodeError:  # would carry the text
            raise LedgerError(f"ledger {path}: a text is damaged; nothing was released; {RESTORE}") from None
        except OSError as error:
            advice = "see that its folder exists and may be written"
            raise LedgerError(f"ledger {path}: {error.strerror}; nothing was released; {advice}") from error


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
    patiently(lambda: connection.execute("SELECT 1 FROM sqlite_schema").fetchone())


def bring_into_one_file(path: Path) -> None:
    """Bring what an earlier version kept in a log beside the file into the file, and do without the log.

    Only who has the file alone can do that, so nobody keeps it open while they wait.
    """

    def attempt() -> None:
        with closing(connect(f"{path.as_uri()}?mode=rw")) as connection:
            connection.execute("PRAGMA journal_mode = DELETE")

    patiently(attempt)


def strays(path: Path) -> list[Path]:
    """What SQLite may keep beside a file while it writes, as far as it is there."""
    beside = (path.with_name(f"{path.name}-{kind}") for kind in ("journal", "wal"))
    return [file for file in beside if file.exists()]


def declared(path: Path) -> dict[str, str]:
    """The terms that an existing file was made for."""
    with closing(connect(f"{path.as_uri()}?mode=rw")) as connection:
        begin(connection, "DEFERRED")
        [(application,)] = connection.execute("PRAGMA application_id")
        [(version,)] = connection.execute("PRAGMA user_version")
        if (application, version) != (APPLICATION, FORMAT):
            known = f"a ledger of format {version}" if application == APPLICATION else "not a ledger"
            raise LedgerError(f"{path} is {known}, and format {FORMAT} was expected; {RESTORE}")
        [(state,)] = connection.execute("PRAGMA integrity_check(1)")
        if state != "ok":
            raise LedgerError(f"ledger {path} is damaged: {state}; {RESTORE}")
        return dict(connection.execute("SELECT key, value FROM meta WHERE key != 'head' ORDER BY key"))


def head(connection: sqlite3.Connection) -> str | None:
    """How the ledger ended, kept apart from the entries so that a missing last one shows."""
    row = connection.execute("SELECT value FROM meta WHERE key = 'head'").fetchone()
    return None if row is None else row[0]
