"""Who is signed in: a browser holds a random id, the service holds the id of the key. No key is kept."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sulq.serve.keys import AccessKey, Keys
from sulq.serve.refusals import RefusedError
from sulq.wire import digest

IDLE, LONGEST = 30 * 60, 12 * 60 * 60
"""After so many seconds without a request, and after so many in all, one has to sign in again."""
PATIENCE = 10  # seconds
MOST = 10_000
"""How many sessions there may be; then the oldest end."""


TABLES = """
    CREATE TABLE IF NOT EXISTS sessions (
        id TEXT PRIMARY KEY NOT NULL, key TEXT NOT NULL, began REAL NOT NULL, seen REAL NOT NULL
    );
    CREATE INDEX IF NOT EXISTS oldest ON sessions (seen);
    CREATE TABLE IF NOT EXISTS secret (only INTEGER PRIMARY KEY CHECK (only = 1), value BLOB NOT NULL);
"""


class Sessions:
    """The sessions of a console, which end with the service: in memory, or in a file that processes share.

    Only hashes of their ids are kept, so the memory of one session cannot be used for another.

    Args:
        path: the file, None for memory. Whoever starts the processes makes and removes it.
        clock: says the time, in seconds; the same in all processes.

    >>> from tempfile import TemporaryDirectory
    >>> sessions = Sessions()
    >>> with TemporaryDirectory() as folder, Keys(f"{folder}/curator.keys") as keys:
    ...     ada = sessions.begin(keys.of(keys.add("ada")))
    ...     sessions.key_of(ada, keys).name
    'ada'
    """

    def __init__(self, path: str | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(
            path or ":memory:", timeout=PATIENCE, isolation_level=None, check_same_thread=False
        )
        self._connection.execute("PRAGMA synchronous = OFF")  # a machine that fails ends all sessions anyway
        self._connection.executescript(TABLES)
        with self._written() as connection:
            connection.execute("INSERT OR IGNORE INTO secret VALUES (1, ?)", (secrets.token_bytes(32),))
            [self._secret] = connection.execute("SELECT value FROM secret").fetchone()

    def begin(self, key: AccessKey) -> str:
        """A new session of whoever has shown this key: its id."""
        session, now = secrets.token_urlsafe(32), self._clock()
        with self._written() as connection:
            oldest = "SELECT id FROM sessions ORDER BY seen DESC, rowid DESC LIMIT -1 OFFSET ?"
            connection.execute(f"DELETE FROM sessions WHERE id IN ({oldest})", (MOST - 1,))
            connection.execute(
                "INSERT INTO sessions VALUES (?, ?, ?, ?)", (digest(session), key.id, now, now)
            )
        return session

    def key_of(self, session: str, keys: Keys) -> AccessKey:
        """Whose session it is, or a refusal. A key that was revoked meanwhile is valid no more.

        Args:
            session: the id of the session.
            keys: all keys there are.
        """
        now = self._clock()
        with self._written() as connection:
            row = connection.execute(
                "UPDATE sessions SET seen = ? WHERE id = ? AND seen >= ? AND began >= ? RETURNING key",
                (now, digest(session), now - IDLE, now - LONGEST),
            ).fetchone()
        if row is None:
            self.end(session)
            raise RefusedError("key_missing", "sign in with your key")
        try:
            return keys.still(row[0])
        except RefusedError:
            self.end(session)
            raise

    def end(self, session: str) -> None:
        """Let a session be none any more."""
        with self._written() as connection:
            connection.execute("DELETE FROM sessions WHERE id = ?", (digest(session),))

    def token(self, session: str) -> str:
        """What a form of this session must bring, which a page from elsewhere cannot know."""
        return hmac.new(self._secret, session.encode(), hashlib.sha256).hexdigest()

    @contextmanager
    def _written(self) -> Iterator[sqlite3.Connection]:
        with self._lock, self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            yield self._connection
