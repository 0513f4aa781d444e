"""Where a ledger is kept, as people name it: a file, or a schema in a Postgres database."""

from __future__ import annotations

import re
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TypeAlias
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from sulq.errors import LedgerError
from sulq.wire import shown

SCHEMES = ("postgresql://", "postgres://")
SCHEMA = "sulq"
NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")
"""What a schema of Postgres may be called here: names that mean the same with quotes and without."""


@dataclass(frozen=True)
class Address:
    """A ledger in a Postgres database, which has a schema to itself.

    Args:
        text: the address as people write it. It never has a password.
        url: the address as Postgres's own library reads it.
        schema: the name of the schema.

    >>> Address.of("postgresql://curator@db.example/clinic?schema=people").schema
    'people'
    >>> Address.of("postgresql://curator:secret@db.example/clinic")
    Traceback (most recent call last):
    sulq.errors.LedgerError: the address of a ledger never has a password: it would be shown in messages ...
    """

    text: str
    url: str
    schema: str = SCHEMA

    @classmethod
    def of(cls, text: str) -> Address:
        """The address that a text is, or a refusal.

        Args:
            text: as "postgresql://USER@HOST/DATABASE?schema=NAME"; all parts are optional, and the
                environment (PGHOST, PGSERVICE and the like) says what is left out.
        """
        try:
            parts = urlsplit(text)
            settings = parse_qsl(parts.query, keep_blank_values=True)
        except ValueError:
            raise LedgerError("the address of a ledger is not one that can be read") from None
        secret = any("password" in name.lower() or "secret" in name.lower() for name, _ in settings)
        if secret or ":" in parts.netloc.rpartition("@")[0]:
            raise LedgerError(
                "the address of a ledger never has a password: it would be shown in messages and kept in "
                "histories; give it by PGPASSWORD, by a password file (PGPASSFILE) or by a service file "
                "(PGSERVICE)"
            )
        schemas = [value for name, value in settings if name == "schema"] or [SCHEMA]
        if len(schemas) > 1 or not NAME.fullmatch(schemas[0]) or schemas[0].startswith("pg_"):
            raise LedgerError(
                "the schema of a ledger is one name of at most 63 small letters, digits and _, which begins "
                f"with a letter and not with pg_, and not {shown(', '.join(schemas))}"
            )
        others = urlencode([(name, value) for name, value in settings if name != "schema"])
        return cls(text, urlunsplit(parts._replace(query=others, fragment="")), schemas[0])

    def __str__(self) -> str:
        return self.text


Place: TypeAlias = "Path | Address"


def place_of(name: str | Path | Address) -> Place:
    """The place that people name.

    Args:
        name: the path of a file, or the address of a database.

    >>> place_of("people.csv.ledger").name, str(place_of("postgresql:///clinic?schema=people"))
    ('people.csv.ledger', 'postgresql:///clinic?schema=people')
    """
    if isinstance(name, str) and name.startswith(SCHEMES):
        return Address.of(name)
    if not isinstance(name, str | PathLike | Address):
        raise LedgerError(
            "a ledger is the path of a file, or an address as postgresql://HOST/DATABASE?schema=NAME, not "
            f"{shown(name)}"
        )
    return name if isinstance(name, Address) else Path(name)
