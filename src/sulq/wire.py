"""Plain data as text: written in one way only, so that equal things have equal texts and hashes."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from sulq.errors import LedgerError


def canonical(value: Any) -> str:
    """Plain data as JSON, in the one way that ledgers and hashes know it by.

    >>> canonical({"b": 1, "a": [True, None]})
    '{"a":[true,null],"b":1}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def digest(text: str) -> str:
    """The SHA-256 hash of a text.

    >>> digest("")[:8]
    'e3b0c442'
    """
    return hashlib.sha256(text.encode()).hexdigest()


def check_text(what: str, given: object) -> None:
    """Refuse what a file would not give back as it was: its entry would look changed for good.

    >>> check_text("the name of a run", 1)
    Traceback (most recent call last):
    sulq.errors.LedgerError: the name of a run must be a text, not of type int; nothing was released
    """
    if not isinstance(given, str):
        raise LedgerError(f"{what} must be a text, not of type {type(given).__name__}; nothing was released")
    try:
        given.encode()
    except UnicodeEncodeError:  # would carry the text
        raise LedgerError(f"{what} has letters that UTF-8 cannot write; nothing was released") from None


def check_run(run: object) -> None:
    """Refuse a name that no ledger could keep, also where there is none: a run may move to one."""
    check_text("the name of a run", run)
