"""Versioned plain data: what all that passes between a device and a collector has in common."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

from sulq.errors import QueryError

VERSION = 1
"""Of all forms here."""


class Versioned(ABC):
    """What has a form, plain data with a version, and so JSON both ways."""

    kind: ClassVar[str]
    """What its form calls itself."""

    @abstractmethod
    def form(self) -> dict[str, Any]:
        """It as plain data; `of` reads it back."""

    @classmethod
    @abstractmethod
    def of(cls, form: Mapping[str, Any]) -> Self:
        """That which has this form. A version that is not known is refused, and so is what is no form."""

    def to_json(self) -> str:
        """The form as compact JSON, for `from_json`."""
        return json.dumps(self.form(), separators=(",", ":"), allow_nan=False)

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """That whose form is written in this JSON."""
        try:
            form = json.loads(text)
        except (ValueError, TypeError, RecursionError):
            raise QueryError(f"this is not the JSON of {_with_article(cls.kind)}") from None
        return cls.of(form)


def opened(form: object, kind: str, keys: Sequence[str]) -> Mapping[str, Any]:
    """A form whose version is known and that has just these keys; anything else is refused.

    Args:
        form: what was received.
        kind: what it should be the form of.
        keys: what such a form holds, beside its version.

    >>> opened({"tally": 2, "reports": 5}, "tally", ["reports"])
    Traceback (most recent call last):
    sulq.errors.QueryError: this is no tally of version 1, the one that is known here
    """
    stated = form.get(kind) if isinstance(form, Mapping) else None
    if type(stated) is not int or stated != VERSION:
        raise QueryError(f"this is no {kind} of version {VERSION}, the one that is known here")
    assert isinstance(form, Mapping)
    if form.keys() != {kind, *keys}:
        raise QueryError(f"the form of {_with_article(kind)} has {', '.join(keys)}, and nothing else")
    return form


def _with_article(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeio" else f"a {kind}"
