"""What randomizers and shapes have in common: a form, so that a device can be told what to run."""

from __future__ import annotations

from dataclasses import fields
from fractions import Fraction
from typing import Any, ClassVar

from sulq.wire import canonical

VERSION = 1
"""Of the form of a randomizer."""
STEPS = ("lies", "own", "other")
"""Chances in steps of 2^-64: too long for the numbers of many readers of JSON, so they are texts."""


class Formed:
    """Something that has a form: its name, and its fields as plain data.

    >>> from sulq.local.shapes import Interval
    >>> Interval(0.0, 1.0).form
    {'is': 'interval', 'low': 0.0, 'high': 1.0}
    """

    wire: ClassVar[str]
    """What a form calls it. It never changes, whatever the class is called."""

    @property
    def form(self) -> dict[str, Any]:
        """It as plain data."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return {"is": self.wire} | {name: _plain(name, value) for name, value in values.items()}


class FormedRandomizer(Formed):
    """A randomizer that has a form, and a version.

    >>> from sulq.local.response import RandomizedResponse
    >>> RandomizedResponse(epsilon=1).form
    {'randomizer': 1, 'is': 'response', 'lies': '4961093570831980854'}
    """

    @property
    def form(self) -> dict[str, Any]:
        """The randomizer as plain data, with its exact chances; `sulq.local.randomizer_of` reads it back."""
        return {"randomizer": VERSION} | super().form

    def to_json(self) -> str:
        """The randomizer as JSON; `sulq.local.randomizer_from_json` reads it back."""
        return canonical(self.form)


def _plain(name: str, value: Any) -> Any:
    if isinstance(value, Formed):
        return {key: each for key, each in value.form.items() if key != "randomizer"}
    if isinstance(value, Fraction) or name in STEPS:
        return str(value)
    if hasattr(value, "_asdict"):
        return value._asdict()
    return list(value) if isinstance(value, tuple) else value
