"""The catalogue of known attacks, which stands in `attacks.toml`: what each is, and which checks try it."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Attack:
    """A known attack.

    Args:
        name: what it is called.
        what: what is done.
        whom: whom it hit.
        tried: what is tried here.
        checks: the checks that try it.
    """

    name: str
    what: str
    whom: str
    tried: str
    checks: tuple[str, ...]


def attacks() -> list[Attack]:
    """All of them, in the order in which a report tells of them.

    >>> attacks()[0].name, attacks()[0].checks
    ('Floating point', ('floating-point', 'noise', 'coins'))
    """
    listed = tomllib.loads(Path(__file__).with_name("attacks.toml").read_text(encoding="utf-8"))["attack"]
    return [Attack(**(each | {"checks": tuple(each["checks"])})) for each in listed]
