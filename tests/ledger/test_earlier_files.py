"""A file that an earlier version wrote opens and goes on, and its seals stay what they were."""

from __future__ import annotations

import itertools
import os
import shutil
import sqlite3
from contextlib import closing
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from sulq.errors import BudgetError, LedgerError
from sulq.ledger.ledger import Ledger
from tests.effort import long
from tests.ledger.ledgers import COST, KILLED, child, ending, never, opened, stored, token

SEAL = "7d1dcbca789df6ff1cd9955971eb9d06101cef90ce14b51998ec8b89b6abd1e3"
FIRST_FORMAT = f"""
PRAGMA application_id = 1937075313;
PRAGMA user_version = 1;
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE entries (
    number INTEGER PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('charge', 'answer')),
    run TEXT NOT NULL,
    question TEXT NOT NULL,
    cost TEXT NOT NULL,
    answer TEXT CHECK ((answer IS NULL) = (kind = 'charge')),
    spent TEXT NOT NULL,
    time TEXT NOT NULL,
    previous TEXT NOT NULL,
    hash TEXT NOT NULL,
    question_hash TEXT NOT NULL
);
CREATE UNIQUE INDEX once ON entries (run, question_hash, kind);
CREATE TRIGGER no_change BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'entries never change'); END;
CREATE TRIGGER no_removal BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'entries never go'); END;
INSERT INTO meta VALUES
    ('unit', 'epsilon'), ('total', '1/1'), ('fact schema', '"9f86d081"'), ('fact neighbours', '"replace"'),
    ('fact rows', '20190'), ('fact delta', '"1/1000000"'), ('head', '5 {SEAL}');
INSERT INTO entries VALUES(1,'charge','tree','how many?','1/4',NULL,'1/4','2026-01-02T03:04:05.001+00:00',
    '0e7fc2e79fa780ecbfea13874aaa14af098917cd7ffa415eb15cc255d22e69ed',
    '32955593f8ccc14d4181209a5db720423249866c85371562eb2f7b15b91ea3c0',
    'a84049d63720febe1cc1f077c0f95a024c12f33c7e5464c9677c79b3e169c80f');
INSERT INTO entries VALUES(2,'answer','tree','how many?','0/1','[20187]','1/4','2026-01-02T03:04:05.002+00:00',
    '32955593f8ccc14d4181209a5db720423249866c85371562eb2f7b15b91ea3c0',
    '089e888e470dfd43c1ea697929b77c365964667d3242d72a1dd4cbe0b52e1ede',
    'a84049d63720febe1cc1f077c0f95a024c12f33c7e5464c9677c79b3e169c80f');
INSERT INTO entries VALUES(3,'charge','means','how old?','1/10',NULL,'7/20','2026-01-02T03:04:05.003+00:00',
    '089e888e470dfd43c1ea697929b77c365964667d3242d72a1dd4cbe0b52e1ede',
    '3262a62524ff9ed03f15189f75eda35891ff6b6b54f9fc0d7abe7f5b6bac80c1',
    '443e9de2198730a9985750a0effb6a791994360615134bede633878f30416227');
INSERT INTO entries VALUES(4,'answer','means','how old?','0/1','[42]','7/20','2026-01-02T03:04:05.004+00:00',
    '3262a62524ff9ed03f15189f75eda35891ff6b6b54f9fc0d7abe7f5b6bac80c1',
    '001c366adcc8c84585e07117faa583a8e4c069c67a4f1d37a86252e9ea8035f7',
    '443e9de2198730a9985750a0effb6a791994360615134bede633878f30416227');
INSERT INTO entries VALUES(5,'charge','tree','how tall?','1/20',NULL,'2/5','2026-01-02T03:04:05.005+00:00',
    '001c366adcc8c84585e07117faa583a8e4c069c67a4f1d37a86252e9ea8035f7',
    '{SEAL}',
    '2be4299546510a1db0f99b4db623606d60e4fed0e86a58b509bab116701f102a');
"""


@pytest.fixture
def first(tmp_path: Path) -> Path:
    """A file of the first format: two questions that were answered, and one that was charged only."""
    with closing(sqlite3.connect(tmp_path / "ledger")) as connection:
        connection.executescript(FIRST_FORMAT)
    return tmp_path / "ledger"


def test_a_file_of_the_first_format_is_read_and_left_as_it_is(first: Path) -> None:
    before = first.read_bytes()
    with Ledger.read(first) as ledger:
        assert (ledger.seal, ledger.spent, ledger.verify(SEAL)) == (SEAL, Fraction(2, 5), [])
        assert stored(ledger) == {"how many?": "[20187]", "how old?": "[42]"}
        assert [(account.name, account.spent, account.cap) for account in ledger.accounts()] == [
            ("run:tree", Fraction(3, 10), None),
            ("run:means", Fraction(1, 10), None),
        ]
        assert ledger.spent_of("run:tree") == Fraction(3, 10)
        with pytest.raises(LedgerError, match="open it for writing"):
            ledger.release("tree", "how far?", COST, never)
    assert first.read_bytes() == before


def test_a_file_of_the_first_format_opens_and_goes_on(first: Path) -> None:
    with opened(first) as ledger:
        assert (ledger.seal, ledger.remaining, ledger.verify(SEAL)) == (SEAL, Fraction(3, 5), [])
        assert ledger.release("tree", "how many?", Fraction(1, 4), never) == "[20187]"
        assert ledger.release("tree", "how tall?", Fraction(1, 20), lambda: "[7]") == "[7]"
        assert ledger.spent == Fraction(2, 5), "it was charged before"
        ledger.release("tree", "how far?", COST, token)
        assert ledger.verify(SEAL) == []
    with opened(first) as ledger:
        assert (ledger.spent, ledger.verify(SEAL)) == (Fraction(1, 2), [])
    assert [path.name for path in first.parent.iterdir()] == ["ledger"]


def test_runs_of_a_file_of_the_first_format_may_get_caps(first: Path) -> None:
    with opened(first) as ledger:
        with pytest.raises(LedgerError, match="'run:tree' has spent 3/10 already"):
            ledger.set_cap("run:*", Fraction(1, 4))
        ledger.set_cap("run:*", Fraction(3, 10))
        with pytest.raises(BudgetError):
            ledger.release("tree", "how far?", COST, never)
        ledger.release("means", "how far?", COST, token, account="analyst:ada")
        assert ledger.remaining_of("run:means") == COST
        assert ledger.verify(SEAL) == []


@long
def test_a_file_is_brought_into_todays_form_as_a_whole_or_not_at_all(
    first: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def version(path: Path) -> int:
        with closing(sqlite3.connect(path)) as connection:
            [(version,)] = connection.execute("PRAGMA user_version")
            return int(version)

    connect, versions = sqlite3.connect, []

    def cut_off(path: Path, steps: int) -> None:
        left = itertools.count(steps, -1)

        class Cut(sqlite3.Connection):
            def execute(self, *arguments: Any) -> sqlite3.Cursor:
                if next(left) == 0:
                    os._exit(KILLED)
                return super().execute(*arguments)

        monkeypatch.setattr(sqlite3, "connect", lambda *args, **named: connect(*args, **named, factory=Cut))
        opened(path)

    for steps in itertools.count():
        path = first.with_name(f"{steps}.ledger")
        shutil.copyfile(first, path)
        if ending(child(partial(cut_off, path, steps))) == 0:
            break
        versions.append(version(path))
        with opened(path) as ledger:
            assert (ledger.seal, ledger.verify()) == (SEAL, [])
            assert ledger.release("tree", "how tall?", Fraction(1, 20), lambda: "[7]") == "[7]"
    assert versions.count(1) > 20
    assert versions == sorted(versions)


def test_processes_that_open_a_file_of_the_first_format_at_once_all_get_their_turn(first: Path) -> None:
    def work(name: int) -> None:
        opened(first).release(f"run {name}", "q", COST, token, account="analyst:ada")

    runners = [child(lambda name=name: work(name)) for name in range(6)]  # type: ignore[misc]
    assert [ending(runner) for runner in runners] == [0] * 6
    with opened(first) as ledger:
        assert (ledger.remaining, ledger.spent_of("analyst:ada"), ledger.verify(SEAL)) == (0, 6 * COST, [])


def test_a_reader_sees_a_file_through_while_it_is_brought_into_todays_form(first: Path) -> None:
    with Ledger.read(first) as reader:
        assert reader.spent == Fraction(2, 5)
        with opened(first) as ledger:
            ledger.set_cap("analyst:ada", COST)
            ledger.release("tree", "how far?", COST, token, account="analyst:ada")
            assert reader.spent_of("analyst:ada") == COST
            assert (reader.spent, reader.verify(SEAL)) == (Fraction(1, 2), [])


def test_a_damaged_file_of_the_first_format_opens_and_frees_no_budget(first: Path) -> None:
    with closing(sqlite3.connect(first)) as connection:
        connection.executescript("DROP TRIGGER no_change; UPDATE entries SET spent = '0/1' WHERE number = 5")
        connection.execute("CREATE TRIGGER no_change BEFORE UPDATE ON entries BEGIN SELECT 1; END")
    with opened(first) as ledger:
        assert ledger.verify()[0] == "entry 5 was changed after it was written"
        with pytest.raises(LedgerError, match="entry 5 was changed"):
            ledger.release("tree", "how far?", COST, never)
