"""Addresses of ledgers in Postgres: what is refused before any server is asked."""

from __future__ import annotations

import sys
from typing import Any

import pytest

import sulq
from sulq.cli import main
from sulq.errors import LedgerError
from sulq.ledger.ledger import Ledger
from sulq.ledger.places import Address, place_of
from sulq.ledger.stores import is_there
from tests.ledger.ledgers import opened

PEOPLE = sulq.open({"sick": [True, False]}, {"sick": sulq.Boolean()})


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://ada:hunter2@db/clinic",
        "postgres://ada:hunter2@db/clinic?schema=people",
        "postgresql://db/clinic?password=hunter2",
        "postgresql://db/clinic?sslpassword=hunter2",
        "postgresql://:hunter2@db",
        "postgresql://db/clinic?PASSWORD=hunter2",
        "postgresql://[bad:hunter2@db",
    ],
)
def test_a_password_in_an_address_is_refused_and_not_repeated(
    address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for way in (place_of, Ledger.read, is_there):
        with pytest.raises(LedgerError) as refused:
            way(address)
        assert "hunter2" not in str(refused.value) and refused.value.__cause__ is None
    assert main(["ledger", "show", address]) == 2
    printed = capsys.readouterr()
    assert "hunter2" not in printed.out + printed.err and printed.err.count("\n") == 1


@pytest.mark.parametrize("place", [5, True, b"people.ledger", ["people.ledger"]], ids=str)
def test_what_is_neither_a_path_nor_an_address_is_refused(place: Any) -> None:
    for way in (place_of, Ledger.read, lambda place: PEOPLE.curator(epsilon=1, ledger=place)):
        with pytest.raises(LedgerError, match="a ledger is the path of a file, or an address"):
            way(place)


@pytest.mark.parametrize(
    "schema",
    [
        "",
        'a"; DROP TABLE x; --',
        "People",
        "pg_catalog",
        "1a",
        "a b",
        "ä",
        "a" * 64,
        "a.b",
        "a%00",
        "a&schema=b",
    ],
)
def test_a_schema_that_is_no_plain_name_is_refused(schema: str) -> None:
    with pytest.raises(LedgerError, match="the schema of a ledger is one name"):
        place_of(f"postgresql:///clinic?schema={schema}")


def test_an_address_keeps_what_the_library_of_postgres_is_told() -> None:
    address = Address.of("postgres://ada@a:1,b:2/clinic?sslmode=verify-full&schema=people&service=x")
    assert address.url == "postgres://ada@a:1,b:2/clinic?sslmode=verify-full&service=x"
    assert (address.schema, Address.of("postgresql:///clinic").schema) == ("people", "sulq")


def test_without_psycopg_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(LedgerError, match=r"pip install 'sulq\[postgres\]'"):
        Ledger.read("postgresql:///clinic")


def test_a_server_that_is_not_there_is_one_line() -> None:
    with pytest.raises(LedgerError, match="see that the server is there") as refused:
        opened("postgresql:///clinic?host=/nowhere")  # type: ignore[arg-type]
    assert "\n" not in str(refused.value)
