"""A ledger that was made for something else says in words what differs."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import sulq
from sulq.errors import LedgerError
from sulq.ledger.ledger import Ledger
from sulq.wire import digest

COST = sulq.Real(0, 100, missing=0)


def people(**columns: Any) -> sulq.Source:
    schema = {"cost": COST} | columns
    return sulq.open({name: [1] * 10 for name in schema}, schema)


def refused(path: Path, source: sulq.Source, **settings: Any) -> str:
    with pytest.raises(LedgerError) as refusal:
        source.curator(**({"epsilon": 1} | settings), ledger=path)
    return str(refusal.value)


@pytest.mark.parametrize("dealt", [{}, {"answering": "chunks", "queries": 2}])
def test_a_corrected_schema_is_told_from_the_old_one_in_words(tmp_path: Path, dealt: dict[str, Any]) -> None:
    people().curator(epsilon=1, ledger=tmp_path / "ledger", **dealt).ledger.close()
    corrected = people(cost=sulq.Real(0, 200, missing=0), ward=sulq.Boolean())
    said = refused(tmp_path / "ledger", corrected, **dealt)
    assert "the schema is another (column 'cost': high was 100.0, is 200.0; column 'ward' is new)" in said
    assert said.endswith(
        "open it with what it was made for: another ledger would be a second budget on the same people, and "
        "both promises add up"
    )
    assert "\n" not in said
    assert corrected.schema.hash not in said


def test_other_settings_are_told_in_words(tmp_path: Path) -> None:
    people().curator(epsilon=1, ledger=tmp_path / "ledger").ledger.close()
    said = refused(tmp_path / "ledger", people(), epsilon=2, neighbours="add-remove")
    assert "the promise was ε = 1 (pure) and is ε = 2 (pure)" in said
    assert "neighbours was replace and is add-remove" in said
    assert "the number of rows was 10 and is not stated" in said
    assert "the budget" not in said, "which the promise has said"
    said = refused(tmp_path / "ledger", people(), answering="chunks", queries=2)
    assert (
        "the way of answering was not stated and is chunks; the number of chunks was not stated and is 2"
        in said
    )


def old(path: Path) -> None:
    """Make a ledger as earlier versions did, which kept the schema's hash only."""
    people().curator(epsilon=1, ledger=path).ledger.close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DELETE FROM meta WHERE key = 'schema'")
        connection.commit()


def test_a_ledger_that_has_only_a_hash_of_its_schema_opens_with_that_schema(tmp_path: Path) -> None:
    old(tmp_path / "ledger")
    curator = people().curator(epsilon=1, ledger=tmp_path / "ledger")
    curator.ask(sulq.Round([sulq.count()], share=1))
    assert curator.ledger.verify() == []
    curator.ledger.close()
    with Ledger.read(tmp_path / "ledger") as ledger:
        assert (ledger.verify(), ledger.schema) == ([], None)


def test_a_ledger_that_has_only_a_hash_of_its_schema_says_so(tmp_path: Path) -> None:
    old(tmp_path / "ledger")
    said = refused(tmp_path / "ledger", people(ward=sulq.Boolean()))
    assert "earlier version, which kept only a hash of its schema" in said


def test_the_terms_of_a_ledger_are_those_of_earlier_versions(tmp_path: Path) -> None:
    """The chain of hashes begins with them, so a ledger of an earlier version would no longer verify."""
    terms = {"unit": "epsilon", "total": "1/1", "fact schema": '"hash"', "fact rows": "10"}
    begun = digest(json.dumps(terms, sort_keys=True, separators=(",", ":")))
    facts = {"schema": "hash", "rows": 10}
    assert Ledger(None, "epsilon", Fraction(1), facts, schema={"columns": {}}).seal == begun


def test_a_schema_that_was_changed_in_the_file_is_not_believed(tmp_path: Path) -> None:
    people().curator(epsilon=1, ledger=tmp_path / "ledger").ledger.close()
    with closing(sqlite3.connect(tmp_path / "ledger")) as connection:
        connection.execute("UPDATE meta SET value = '{}' WHERE key = 'schema'")
        connection.commit()
    people().curator(epsilon=1, ledger=tmp_path / "ledger").ledger.close()
    assert "cannot be said" in refused(tmp_path / "ledger", people(ward=sulq.Boolean()))


def test_a_ledger_that_is_read_knows_its_schema(tmp_path: Path) -> None:
    people().curator(epsilon=1, ledger=tmp_path / "ledger").ledger.close()
    with Ledger.read(tmp_path / "ledger") as ledger:
        assert sulq.Schema.of(ledger.schema) == people().schema
