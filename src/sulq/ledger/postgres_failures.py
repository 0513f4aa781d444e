"""What Postgres complains of, in words that say what to do and repeat nothing that was asked or answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sulq.errors import LedgerError
from sulq.ledger.chain import RESTORE

if TYPE_CHECKING:
    from psycopg import Connection

AGAIN = "ask again: what was charged is not charged again"
SERVER = "see that the server is there and lets this role in, and ask again"
ADVICE = {
    "08": AGAIN,
    "25006": "this server or role only reads: name the primary server, and a role that may write",
    "28": "see that the role and its password (PGPASSWORD, PGPASSFILE or PGSERVICE) are right",
    "3D": "make the database first, or name another",
    "3F": "see that it exists",
    "42501": "grant the role what docs/curator.md lists, or use another role",
    "42P01": "see that it exists",
    "53": "make room on the server, and ask again",
    "55P03": "others have kept it locked for too long: ask again later",
    "57": AGAIN,
    "58": "see that the server's disk works and has room, and ask again",
}
"""By the code of an error, or by the class that its first two letters are."""
QUIET = ("22", "23")
"""Classes of errors whose words repeat what was to be written."""
LOST = ("57P01", "57P02", "57P03", "57P05", "25P03", "25P04")
"""The server ended the connection, or is about to."""
STARTING = ("57P01", "57P02", "57P03", "53300")
"""The server will be there in a while."""


def refusal(name: str, error: Exception) -> LedgerError:
    """What went wrong, in one line.

    Args:
        name: how messages speak of the ledger.
        error: an error of psycopg, or of a text that cannot be read.
    """
    code = getattr(error, "sqlstate", None)
    if isinstance(error, UnicodeError) or (code or "").startswith(QUIET):
        complaint = f"the tables are not as they were made{f' ({code})' if code else ''}"
        return LedgerError(f"ledger {name}: {complaint}; nothing was released; {RESTORE}")
    primary = getattr(getattr(error, "diag", None), "message_primary", None)
    lines = str(primary or error).splitlines()
    complaint = lines[0].strip() if lines else type(error).__name__
    advice = SERVER if code is None else ADVICE.get(code) or ADVICE.get(code[:2]) or RESTORE
    return LedgerError(f"ledger {name}: {complaint}; nothing was released; {advice}")


def lost(error: Exception, connection: Connection[Any]) -> bool:
    """Whether a connection is gone, so that nobody said how a statement ended: the server had no word in it.

    Args:
        error: what was raised.
        connection: the connection.
    """
    code = getattr(error, "sqlstate", None)
    return connection.closed or code is None or code in LOST or code.startswith("08")


def comes_back(error: Exception) -> bool:
    """Whether a server that cannot be reached may be there in a while: it is starting, or nobody answers.

    Args:
        error: what was raised when a connection was to be made.
    """
    code = getattr(error, "sqlstate", None)
    return code in STARTING if code else "password" not in str(error)
