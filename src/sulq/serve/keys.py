"""Keys: who may ask, and what. A key is shown once, when it is made; only its hash is kept."""

from __future__ import annotations

import hmac
import json
import os
import re
import secrets
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Literal, get_args

from sulq.errors import SulqError
from sulq.serve.refusals import RefusedError
from sulq.wire import digest, shown

KeyScope = Literal["owner", "analyst"]
APPLICATION = int.from_bytes(b"sulk", "big")
PREFIX = "sulq"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")
PATIENCE = 10  # seconds
KNOWN = "SELECT application_id, (SELECT COUNT(*) FROM sqlite_master) FROM pragma_application_id"
NOBODY = digest("nobody's key")
TABLE = """CREATE TABLE IF NOT EXISTS keys (
    id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL, scope TEXT NOT NULL, datasets TEXT,
    created TEXT NOT NULL, expires TEXT, revoked TEXT, hash TEXT NOT NULL
) WITHOUT ROWID"""


@dataclass(frozen=True)
class AccessKey:
    """What is kept of a key, but for its hash.

    Args:
        id: names the key; no secret.
        name: whose it is. All keys of one name share the account `analyst:NAME`.
        scope: "owner" may do everything, "analyst" may ask.
        datasets: the data sets it is for, None for all.
        created: when it was made.
        expires: from when on it is not valid any more, None if it does not expire.
        revoked: when it was revoked, None if it was not.
    """

    id: str
    name: str
    scope: KeyScope
    datasets: tuple[str, ...] | None
    created: datetime
    expires: datetime | None = None
    revoked: datetime | None = None

    @property
    def owner(self) -> bool:
        return self.scope == "owner"

    @property
    def administers(self) -> bool:
        """Whether it may make, see and revoke keys: one for some data sets could make itself one for all."""
        return self.owner and self.datasets is None

    def allows(self, dataset: str) -> bool:
        """Whether the key is for this data set."""
        return self.datasets is None or dataset in self.datasets

    def form(self) -> dict[str, Any]:
        """The key as plain data, without its secret."""
        return {
            "id": self.id,
            "name": self.name,
            "scope": self.scope,
            "datasets": None if self.datasets is None else list(self.datasets),
            "created": _text(self.created),
            "expires": _text(self.expires),
            "revoked": _text(self.revoked),
        }


class Keys:
    """The keys of a service, in a SQLite file that only its owner may read.

    Args:
        path: the file; it is made if it is not there.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder, Keys(f"{folder}/curator.keys") as keys:
    ...     secret = keys.add("ada", datasets=["people"])
    ...     keys.of(secret).name, len(secret) > 43
    ('ada', True)
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._lock = threading.Lock()
        try:
            if not self.path.exists():
                os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
            self._connection = sqlite3.connect(
                self.path, timeout=PATIENCE, isolation_level=None, check_same_thread=False
            )
            # One statement, so that a file which another process makes at this moment is not mistaken.
            with closing(self._connection.execute(KNOWN)) as answer:
                known, tables = answer.fetchone()
            if known == 0 and not tables:
                self._connection.execute(f"PRAGMA application_id = {APPLICATION}")
                known = APPLICATION
            if known != APPLICATION:
                raise SulqError(f"{self.path} is not a file of keys; `sulq key add` makes one")
            self._connection.execute(TABLE)
        except (OSError, sqlite3.Error) as error:
            raise SulqError(f"cannot open the keys in {self.path}: {_complaint(error)}") from None

    def add(
        self,
        name: str,
        scope: KeyScope = "analyst",
        datasets: Sequence[str] | None = None,
        expires: datetime | None = None,
    ) -> str:
        """Make a key, and return its secret text, which cannot be had again.

        Args:
            name: whose it is.
            scope: "owner" or "analyst".
            datasets: the data sets it is for, None for all.
            expires: from when on it is not valid any more.
        """
        if not isinstance(name, str) or not NAME.fullmatch(name):
            raise SulqError(
                f"whose key it is, is said by 1 to 64 letters, digits or . _ @ - and not by {shown(name)}"
            )
        if scope not in get_args(KeyScope):
            known = ", ".join(get_args(KeyScope))
            raise SulqError(f"the scope of a key is one of {known}, not {shown(scope)}")
        number = secrets.token_hex(4)
        secret = f"{PREFIX}_{number}_{secrets.token_urlsafe(32)}"
        kept = None if datasets is None else json.dumps(list(datasets))
        now = datetime.now(UTC)
        row = (number, name, scope, kept, _text(now), _text(expires), None, digest(secret))
        with self._guarded() as connection:
            connection.execute("INSERT INTO keys VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
        return secret

    def of(self, secret: str) -> AccessKey:
        """The key with this secret text, or a refusal.

        How long that takes says nothing on how near a guess was: hashes are compared, in constant time.
        """
        number = secret.split("_", 2)[1] if secret.count("_") >= 2 else ""
        with self._guarded() as connection:
            row = connection.execute("SELECT * FROM keys WHERE id = ?", (number,)).fetchone()
        kept = NOBODY if row is None else row[-1]
        try:
            given = digest(secret)
        except UnicodeEncodeError:
            given = NOBODY[::-1]
        if not hmac.compare_digest(given, kept) or row is None:
            raise RefusedError("key_unknown", "this key is not known here: see that all of it was copied")
        return _valid(_key(row))

    def still(self, number: str) -> AccessKey:
        """The key of an id that showed its secret before, or a refusal if it is valid no more.

        Args:
            number: the id of the key.
        """
        with self._guarded() as connection:
            row = connection.execute("SELECT * FROM keys WHERE id = ?", (number,)).fetchone()
        if row is None:
            raise RefusedError("key_unknown", "this key is not known here any more")
        return _valid(_key(row))

    def list(self) -> list[AccessKey]:
        """All keys, in the order in which they were made."""
        with self._guarded() as connection:
            return [_key(row) for row in connection.execute("SELECT * FROM keys ORDER BY created, id")]

    def revoke(self, number: str) -> None:
        """Let a key be valid no more, from now on.

        Args:
            number: the id of the key.
        """
        now = _text(datetime.now(UTC))
        with self._guarded() as connection:
            done = connection.execute(
                "UPDATE keys SET revoked = COALESCE(revoked, ?) WHERE id = ?", (now, number)
            )
        if not done.rowcount:
            words = f"there is no key {shown(number)}; `sulq key list` shows all there are"
            raise RefusedError("not_found", words)

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def __enter__(self) -> Keys:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _guarded(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                yield self._connection
            except sqlite3.Error as error:
                raise SulqError(f"cannot use the keys in {self.path}: {_complaint(error)}") from None


def check_scope(key: AccessKey, owner: bool) -> None:
    """Refuse what only the owner may do to everybody else.

    Args:
        key: who asks.
        owner: whether only the owner may do it.
    """
    if owner and not key.owner:
        raise RefusedError("not_allowed", "only a key of the owner may do this")


def check_administers(key: AccessKey) -> None:
    """Refuse what is about keys to all but an owner of all data sets.

    Args:
        key: who asks.
    """
    if not key.administers:
        words = "only a key of the owner that is for all data sets may make, list or revoke keys"
        raise RefusedError("not_allowed", words)


def moment(text: str) -> datetime:
    """The moment that a date, or a date with a time, says; without a zone it is in UTC.

    >>> moment("2027-01-01").isoformat()
    '2027-01-01T00:00:00+00:00'
    >>> moment("soon")
    Traceback (most recent call last):
    sulq.errors.SulqError: write when a key expires as 2027-01-31, or 2027-01-31T12:00:00Z, not as 'soon'
    """
    try:
        at = datetime.combine(date.fromisoformat(text), datetime.min.time()) if len(text) <= 10 else None
        at = datetime.fromisoformat(text) if at is None else at
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        raise SulqError(
            f"write when a key expires as 2027-01-31, or 2027-01-31T12:00:00Z, not as {shown(text)}"
        ) from None


def _valid(key: AccessKey) -> AccessKey:
    if key.revoked is not None:
        raise RefusedError("key_revoked", f"key {key.id} was revoked: ask the owner for another")
    if key.expires is not None and key.expires <= datetime.now(UTC):
        raise RefusedError("key_expired", f"key {key.id} has expired: ask the owner for another")
    return key


def _key(row: Sequence[Any]) -> AccessKey:
    number, name, scope, datasets, created, expires, revoked, _ = row
    return AccessKey(
        number,
        name,
        scope,
        None if datasets is None else tuple(json.loads(datasets)),
        datetime.fromisoformat(created),
        None if expires is None else datetime.fromisoformat(expires),
        None if revoked is None else datetime.fromisoformat(revoked),
    )


def _text(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat(timespec="seconds")


def _complaint(error: Exception) -> str:
    return str(error.strerror) if isinstance(error, OSError) else str(error)
