"""Reading and writing the versioned forms of what passes between a device and a collector."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sulq.errors import QueryError


def opened(form: object, kind: str, version: int, keys: Sequence[str]) -> Mapping[str, Any]:
    """A form whose version is known and that has just these keys; anything else is refused.

    Args:
        form: what was received.
        kind: what it should be the form of.
        version: the version that is known.
        keys: what such a form holds, beside its version.

    >>> opened({"tally": 2, "reports": 5}, "tally", 1, ["reports"])
    Traceback (most recent call last):
    sulq.errors.QueryError: this is no tally of version 1, the one that is known here
    """
    stated = form.get(kind) if isinstance(form, Mapping) else None
    if stated != version or isinstance(stated, bool):
        raise QueryError(f"this is no {kind} of version {version}, the one that is known here")
    assert isinstance(form, Mapping)
    if form.keys() != {kind, *keys}:
        raise QueryError(f"the form of a {kind} has {', '.join(keys)}, and nothing else")
    return form


def to_json(form: Mapping[str, Any]) -> str:
    """A form as compact JSON."""
    return json.dumps(form, separators=(",", ":"), allow_nan=False)


def from_json(text: str | bytes, kind: str) -> Any:
    """The form that is written as JSON.

    >>> from_json("?", "tally")
    Traceback (most recent call last):
    sulq.errors.QueryError: this is not the JSON of a tally
    """
    try:
        return json.loads(text)
    except (ValueError, TypeError, RecursionError):
        raise QueryError(f"this is not the JSON of a {kind}") from None
