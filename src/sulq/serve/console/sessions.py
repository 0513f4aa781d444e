"""Who is signed in: a browser holds a random id, the service holds the id of the key. No key is kept."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from sulq.serve.keys import AccessKey, Keys
from sulq.serve.refusals import RefusedError
from sulq.wire import digest

IDLE, LONGEST = 30 * 60, 12 * 60 * 60
"""After so many seconds without a request, and after so many in all, one has to sign in again."""
MOST = 10_000
"""How many sessions there may be; then the oldest end."""


@dataclass(frozen=True)
class _Session:
    key: str
    began: float
    seen: float


class Sessions:
    """The sessions of a console, in memory: they end with the service.

    Only hashes of their ids are kept, so the memory of one session cannot be used for another.

    Args:
        clock: says the time, in seconds.

    >>> from tempfile import TemporaryDirectory
    >>> sessions = Sessions()
    >>> with TemporaryDirectory() as folder, Keys(f"{folder}/curator.keys") as keys:
    ...     ada = sessions.begin(keys.of(keys.add("ada")))
    ...     sessions.key_of(ada, keys).name
    'ada'
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._sessions: dict[str, _Session] = {}
        self._secret = secrets.token_bytes(32)

    def begin(self, key: AccessKey) -> str:
        """A new session of whoever has shown this key: its id."""
        session, now = secrets.token_urlsafe(32), self._clock()
        with self._lock:
            while len(self._sessions) >= MOST:
                del self._sessions[next(iter(self._sessions))]
            self._sessions[digest(session)] = _Session(key.id, now, now)
        return session

    def key_of(self, session: str, keys: Keys) -> AccessKey:
        """Whose session it is, or a refusal. A key that was revoked meanwhile is valid no more.

        Args:
            session: the id of the session.
            keys: all keys there are.
        """
        now, place = self._clock(), digest(session)
        with self._lock:
            kept = self._sessions.pop(place, None)
            if kept is None or now - kept.seen > IDLE or now - kept.began > LONGEST:
                raise RefusedError("key_missing", "sign in with your key")
            self._sessions[place] = _Session(kept.key, kept.began, now)
        try:
            return keys.still(kept.key)
        except RefusedError:
            self.end(session)
            raise

    def end(self, session: str) -> None:
        """Let a session be none any more."""
        with self._lock:
            self._sessions.pop(digest(session), None)

    def token(self, session: str) -> str:
        """What a form of this session must bring, which a page from elsewhere cannot know."""
        return hmac.new(self._secret, session.encode(), hashlib.sha256).hexdigest()
