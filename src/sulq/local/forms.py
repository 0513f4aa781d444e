"""Versioned plain data: what all that passes between a device and a collector has in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

from sulq.wire import canonical, members, of_json, versioned

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
        """The form as JSON, for `from_json`."""
        return canonical(self.form())

    @classmethod
    def from_json(cls, text: str) -> Self:
        """That whose form is written in this JSON."""
        return cls.of(of_json(text, f"{'an' if cls.kind[0] in 'aeio' else 'a'} {cls.kind}"))


def opened(form: object, kind: str, keys: Sequence[str]) -> Mapping[str, Any]:
    """A form whose version is known and that has just these keys; anything else is refused.

    Args:
        form: what was received.
        kind: what it should be the form of.
        keys: what such a form holds, beside its version.

    >>> opened({"tally": 2, "reports": 5}, "tally", ["reports"])
    Traceback (most recent call last):
    sulq.errors.QueryError: this is a tally of version 2, and version 1 is the one that is known here
    """
    article = "an" if kind[0] in "aeio" else "a"
    return members(versioned(form, kind, VERSION), f"{article} {kind}", [kind, *keys])
