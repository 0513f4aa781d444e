"""What tests of ledgers share."""

import sqlite3

import pytest

from tests.ledger.ledgers import Stepping


@pytest.fixture
def stepping(monkeypatch: pytest.MonkeyPatch) -> type[Stepping]:
    """All connections to SQLite are of this class, whose `step` may be set."""
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *args, **named: connect(*args, **named, factory=Stepping))
    monkeypatch.setattr(Stepping, "step", staticmethod(lambda: None))
    return Stepping
