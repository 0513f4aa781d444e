"""Whatever happens to its file, a ledger says so and gives nothing away."""

from __future__ import annotations

import os
import random
import resource
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

import sulq
from sulq.errors import LedgerError
from sulq.ledger import chain, sqlite
from sulq.ledger.chain import Entry
from sulq.ledger.ledger import Ledger
from tests.ledger.homes import Home, Place, edit, raw, reseal
from tests.ledger.ledgers import (
    COST,
    FACTS,
    KILLED,
    Received,
    ask_forever,
    charged,
    check_that_charges_cover,
    child,
    ending,
    never,
    opened,
    stored,
    token,
)


def finish(place: Place) -> Place:
    """A closed ledger of ten releases: charges are the odd entries, answers the even ones."""
    with opened(place) as ledger:
        for i in range(10):
            ledger.release("run", f"q{i}", COST, lambda: "[1.5]")
    return place


@pytest.fixture
def finished(home: Home) -> Place:
    """A ledger in any store."""
    return finish(home / "ledger")


@pytest.fixture
def finished_file(tmp_path: Path) -> Path:
    """A ledger in a file."""
    return Path(finish(tmp_path / "ledger"))


@pytest.mark.parametrize(
    ("statements", "named"),
    [
        (["UPDATE entries SET answer = '[2.5]' WHERE number = 6"], "entry 6 was changed"),
        (["UPDATE entries SET cost = '1/100' WHERE number = 5"], "entry 5 was changed"),
        (["UPDATE entries SET cost = 'cheap' WHERE number = 5"], "entry 5 was changed"),
        (["UPDATE entries SET run = 'walk' WHERE number = 7"], "entry 7 was changed"),
        (["UPDATE entries SET question = 'q' WHERE number = 7"], "entry 7 was changed"),
        (["UPDATE entries SET question_hash = 'q' WHERE number = 7"], "entry 7 was changed"),
        (["UPDATE entries SET spent = '1/10' WHERE number = 20"], "entry 20 was changed"),
        (["UPDATE entries SET answer = x'ff' WHERE number = 8"], "entry 8 was changed"),
        (["UPDATE entries SET answer = CAST(x'ff' AS TEXT) WHERE number = 8"], "entry 8 was changed"),
        (["UPDATE entries SET time = '2001-01-01' WHERE number = 1"], "entry 1 was changed"),
        (["DELETE FROM entries WHERE number = 9"], "entry 10 comes straight after entry 8"),
        (["DELETE FROM entries WHERE number = 1"], "entry 2 comes straight after entry 0"),
        (["DELETE FROM entries WHERE number = 20"], "entry 19 is not how the ledger ended"),
        (["DELETE FROM entries WHERE number > 4"], "entry 4 is not how the ledger ended"),
        (["DELETE FROM entries"], "entry 0 is not how the ledger ended"),
        (["DELETE FROM meta WHERE key = 'head'"], "entry 20 is not how the ledger ended"),
        (["UPDATE meta SET value = '100/1' WHERE key = 'total'"], "entry 1 does not continue"),
        (["UPDATE meta SET value = '7' WHERE key = 'fact rows'"], "entry 1 does not continue"),
        (
            [
                "UPDATE entries SET number = 0 WHERE number = 5",
                "UPDATE entries SET number = 5 WHERE number = 7",
                "UPDATE entries SET number = 7 WHERE number = 0",
            ],
            "entry 5 was changed",
        ),
    ],
)
def test_verify_names_what_was_tampered_with(finished: Place, statements: list[str], named: str) -> None:
    edit(finished, *statements)
    with Ledger.read(finished) as ledger:
        findings = ledger.verify()
    assert any(finding.startswith(named) for finding in findings), findings


def test_a_forger_of_all_hashes_must_still_get_the_sums_right(finished: Place) -> None:
    findings = reseal(finished, "UPDATE entries SET cost = '1/100' WHERE number = 5")
    assert [finding.split(" says")[0] for finding in findings] == ["entry 5"]


def test_a_forger_of_all_hashes_cannot_hide_an_answer_without_a_charge(finished: Place) -> None:
    findings = reseal(finished, "DELETE FROM entries WHERE number = 19")
    assert any("entry 19 answers a question of run 'run' that was not charged before" in f for f in findings)


def test_a_forger_of_all_hashes_cannot_hide_a_second_charge(finished: Place) -> None:
    copy = ", ".join("21" if name == "number" else name for name in chain.COLUMNS)
    findings = reseal(
        finished,
        "DROP INDEX once",
        f"INSERT INTO entries SELECT {copy} FROM entries WHERE number = 19",
    )
    assert any("entry 21 is a second charge for one question" in finding for finding in findings)


def test_a_forger_of_all_hashes_cannot_hide_spending_beyond_the_budget(finished: Place) -> None:
    raised = "UPDATE entries SET {0} = '11/10' WHERE number >= 19 AND {0} = '1/1'"
    findings = reseal(finished, "UPDATE entries SET cost = '2/10' WHERE number = 19", raised.format("spent"))
    assert "entry 19 brings the charges to 11/10, and the budget is 1" in findings


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM entries WHERE number > 2",
        "UPDATE entries SET spent = '0/1' WHERE number = 20",
        "DELETE FROM meta WHERE key = 'head'",
    ],
)
def test_a_tampered_end_frees_no_budget(finished: Place, statement: str) -> None:
    edit(finished, statement)
    with opened(finished) as ledger, pytest.raises(LedgerError, match="nothing was released"):
        ledger.release("run", "another", COST, never)


def test_a_tampered_answer_is_not_released(finished: Place) -> None:
    edit(finished, "UPDATE entries SET answer = '[2.5]' WHERE number = 6")
    with opened(finished) as ledger, pytest.raises(LedgerError, match="entry 6") as refused:
        ledger.release("run", "q2", COST, never)
    assert "2.5" not in str(refused.value)


def test_entries_are_guarded_against_accidents(finished: Place) -> None:
    with raw(finished) as connection:
        for accident in ("DELETE FROM entries", "UPDATE entries SET cost = '0/1'"):
            with pytest.raises(connection.DatabaseError, match="entries never"):
                connection.execute(accident)


@pytest.mark.parametrize(
    ("unit", "total", "facts", "said"),
    [
        ("rho", 1, FACTS, "the budget was epsilon = 1 and is rho = 1"),
        ("epsilon", 2, FACTS, "the budget was epsilon = 1 and is epsilon = 2"),
        ("epsilon", 1, FACTS | {"rows": 7}, "the number of rows was 20190 and is 7"),
        ("epsilon", 1, FACTS | {"seed": None}, "seed was not stated and is null"),
        ("epsilon", 1, {}, "neighbours was replace and is not stated"),
    ],
)
def test_a_file_made_for_something_else_is_refused(
    finished: Place, unit: str, total: int, facts: dict[str, Any], said: str
) -> None:
    with pytest.raises(LedgerError) as refused:
        Ledger(finished, unit, Fraction(total), facts)
    assert said in str(refused.value)
    assert "another ledger would be a second budget on the same people" in str(refused.value)
    with opened(finished) as ledger:
        assert ledger.remaining == 0


def test_facts_come_back_as_they_were_given(finished: Place) -> None:
    with Ledger.read(finished) as ledger:
        assert (ledger.unit, ledger.total, ledger.facts) == ("epsilon", Fraction(1), FACTS)


def contents(path: Path) -> tuple[list[Entry], list[str]]:
    with opened(path) as ledger:
        return list(ledger.entries()), ledger.verify()


def test_a_missing_file_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="see that it exists"):
        Ledger.read(tmp_path / "ledger")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("garbage", [b"", b"not a ledger", b"SQLite format 3\0", bytes(5000)])
def test_a_file_that_is_no_ledger_is_refused_and_left_alone(tmp_path: Path, garbage: bytes) -> None:
    path = tmp_path / "ledger"
    path.write_bytes(garbage)
    for way in (opened, Ledger.read):
        with pytest.raises(LedgerError, match="never was a ledger"):
            way(path)
    assert path.read_bytes() == garbage


def test_another_database_is_refused(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "other")) as connection:
        connection.execute("CREATE TABLE precious (data)")
    with pytest.raises(LedgerError, match="not a ledger"):
        opened(tmp_path / "other")


def test_a_ledger_of_a_later_format_is_refused(finished_file: Path) -> None:
    edit(finished_file, "PRAGMA user_version = 3")
    with pytest.raises(LedgerError, match="format 3, and format 2 was expected"):
        opened(finished_file)


def test_a_truncated_file_is_noticed(finished_file: Path) -> None:
    whole = finished_file.read_bytes()
    for size in [0, 1, 99, 100, 4095, *range(4096, len(whole), 2048), len(whole) - 1]:
        finished_file.write_bytes(whole[:size])
        try:
            _, findings = contents(finished_file)
        except LedgerError:
            continue
        assert findings, f"cut to {size} bytes of {len(whole)}"


def test_a_flipped_bit_is_noticed_if_it_matters(finished_file: Path) -> None:
    whole = finished_file.read_bytes()
    entries, _ = contents(finished_file)
    places = random.Random(0)
    noticed = 0
    flips = 400
    for _ in range(flips):
        damaged = bytearray(whole)
        damaged[places.randrange(len(whole))] ^= 1 << places.randrange(8)
        finished_file.write_bytes(damaged)
        try:
            found, findings = contents(finished_file)
            assert findings or found == entries
            noticed += bool(findings)
        except LedgerError:
            noticed += 1
    assert noticed > flips / 4


def test_a_damaged_index_cannot_hide_a_stored_answer(finished_file: Path) -> None:
    index = "CREATE UNIQUE INDEX once ON entries (run, question_hash, kind)"
    edit(finished_file, "DROP INDEX once", f"{index} WHERE number != 6")
    edit_schema = f"UPDATE sqlite_schema SET sql = '{index}' WHERE name = 'once'"
    with closing(sqlite3.connect(finished_file)) as connection:
        connection.executescript(f"PRAGMA writable_schema = ON; {edit_schema};")
    with pytest.raises(LedgerError, match=r"row 6 missing from index|wrong # of entries in index"):
        opened(finished_file)


def test_a_lost_file_whose_journal_remains_is_not_a_new_budget(tmp_path: Path) -> None:
    path = tmp_path / "ledger"

    def crash() -> None:
        ledger = opened(path)
        ledger.release("run", "q", COST, token)
        with ledger._record.transaction(write=True) as transaction:
            ledger._record.charge(transaction, "epsilon", Fraction(1), "run", "another", COST, None)
            os._exit(KILLED)

    assert ending(child(crash)) == KILLED
    whole = path.read_bytes()
    path.unlink()
    with pytest.raises(LedgerError, match="ledger-journal is there, which belongs to it"):
        opened(path)
    path.write_bytes(whole)
    with opened(path) as ledger:
        assert (ledger.spent, ledger.verify()) == (COST, [])


def test_a_full_database_releases_nothing_and_loses_nothing(tmp_path: Path) -> None:
    ledger = opened(tmp_path / "ledger", total=1000)
    ledger.release("run", "q", COST, lambda: "42")
    connection = ledger._store.connection()
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(LedgerError, match="nothing was released; make room on the disk") as refused:
        ledger.release("run", "long", COST, lambda: "secret" * 5000)
    assert "secret" not in str(refused.value)
    assert ledger.release("run", "q", COST, never) == "42"
    assert stored(ledger) == {"q": "42"}
    assert ledger.verify() == []
    connection.execute("PRAGMA max_page_count = 1000000")
    assert ledger.release("run", "long", COST, lambda: "43") == "43"
    assert ledger.spent == 2 * COST
    assert ledger.verify() == []


@pytest.mark.parametrize("room", range(0, 60_000, 7_500))
def test_a_full_disk_releases_nothing_and_loses_nothing(tmp_path: Path, room: int) -> None:
    path, received = tmp_path / "ledger", Received(tmp_path / "received")
    opened(path, total=1000).close()

    def work() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        limit = path.stat().st_size + room
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        with pytest.raises(LedgerError, match="nothing was released; see that"):
            ask_forever(path, received)

    assert ending(child(work)) == 0
    with opened(path, total=1000) as ledger:
        check_that_charges_cover(ledger, received)
        for question in charged(ledger):
            received.add(question, ledger.release("run", question, COST, token))
        check_that_charges_cover(ledger, received)


@pytest.fixture
def locked_folder() -> Iterator[Path]:
    """A folder that anyone may read but not write; not under `tmp_path`, which other users cannot enter."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        with opened(folder / "ledger") as ledger:
            ledger.release("run", "q", COST, token)
        folder.chmod(0o555)
        yield folder
        folder.chmod(0o755)


def test_a_folder_that_may_not_be_written_releases_nothing(locked_folder: Path) -> None:
    def work() -> None:
        if os.getuid() == 0:
            os.setuid(65534)  # nobody: the superuser may write anywhere
        with pytest.raises(LedgerError, match="folder exists and may be written"):
            opened(locked_folder / "new")
        with pytest.raises(LedgerError, match="folder may be written"):
            opened(locked_folder / "ledger").release("run", "another", COST, never)

    assert ending(child(work)) == 0
    assert [path.name for path in locked_folder.iterdir()] == ["ledger"]


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="folder exists"):
        opened(tmp_path / "nowhere" / "ledger")


def test_a_ledger_that_others_keep_locked_releases_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "PATIENCE", 0.05)
    with opened(tmp_path / "ledger") as ledger, closing(sqlite3.connect(tmp_path / "ledger")) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerError, match="kept it locked"):
            ledger.release("run", "q", COST, never)
        other.rollback()
        ledger.release("run", "q", COST, token)


def test_a_file_opened_for_reading_is_not_written(finished_file: Path) -> None:
    before = finished_file.read_bytes()
    with Ledger.read(finished_file) as ledger:
        assert stored(ledger)["q3"] == "[1.5]"
        with pytest.raises(LedgerError, match="open it for writing"):
            ledger.release("run", "another", Fraction(0), never)
    assert finished_file.read_bytes() == before
    assert [path.name for path in finished_file.parent.iterdir()] == ["ledger"]


def test_a_schema_that_was_changed_from_outside_is_noticed(tmp_path: Path) -> None:
    path, schema = tmp_path / "ledger", sulq.Schema({"sick": sulq.Boolean()})
    Ledger(path, "epsilon", Fraction(1), {"schema": schema.hash}, schema=schema.form()).close()
    with Ledger.read(path) as ledger:
        assert ledger.verify() == []
    edit(path, """UPDATE meta SET value = '{"columns": {}}' WHERE key = 'schema'""")
    with Ledger.read(path) as ledger:
        assert ledger.verify() == ["the schema that is kept is not the one that the ledger was made for"]


def test_a_name_that_became_something_else_than_a_text_is_noticed(finished_file: Path) -> None:
    with opened(finished_file) as ledger:
        ledger.set_cap("run:*", Fraction(1))
    edit(finished_file, "UPDATE accounts SET name = x'71' WHERE name = 'run:run'")
    with Ledger.read(finished_file) as ledger:
        assert len(ledger.verify()) == 2
    with closing(sqlite3.connect(finished_file)) as connection:
        connection.execute("UPDATE meta SET key = NULL WHERE key = 'head'")
        connection.commit()
    with pytest.raises(LedgerError, match="no longer says what it was made for"):
        Ledger.read(finished_file)
