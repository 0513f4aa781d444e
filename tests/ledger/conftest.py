"""What tests of ledgers share."""

import sqlite3
from pathlib import Path

import pytest

from tests.ledger import ledgers
from tests.ledger.homes import Files, Home, Schemas
from tests.ledger.ledgers import Stepping, stepping_postgres


@pytest.fixture(params=["sqlite", "postgres"])
def home(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """Where the ledgers of the test are; those that `opened` finds without a name are there too."""
    postgres = request.param == "postgres"
    place = Schemas(request.getfixturevalue("postgres")) if postgres else Files(tmp_path)
    monkeypatch.setattr(ledgers, "nameless", place.new)
    return place


@pytest.fixture
def stepping(monkeypatch: pytest.MonkeyPatch) -> type[Stepping]:
    """All connections to a database call `Stepping.step`, which may be set, before and after a statement."""
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *args, **named: connect(*args, **named, factory=Stepping))
    monkeypatch.setattr(Stepping, "step", staticmethod(lambda: None))
    stepping_postgres(monkeypatch)
    return Stepping
