"""The one file is the whole ledger at every moment; a ledger whose file was exchanged gives nothing away."""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import sqlite3
import time
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

import sulq
from sulq.errors import LedgerError
from sulq.ledger.ledger import Ledger
from tests.ledger.ledgers import (
    COST,
    charged,
    child,
    ending,
    never,
    opened,
    stored,
    token,
)

PAGE = 4096


def copied(path: Path) -> tuple[list[str], list[str], list[str]]:
    """What a copy of the one file says: which questions were charged, which answered, and what is wrong."""
    copy = path.parent / "copies" / "ledger"
    shutil.rmtree(copy.parent, ignore_errors=True)
    copy.parent.mkdir()
    shutil.copyfile(path, copy)
    with Ledger.read(copy) as ledger:
        return charged(ledger), list(stored(ledger)), ledger.verify()


def test_a_copy_of_an_open_ledger_has_everything(tmp_path: Path) -> None:
    with opened(tmp_path / "ledger") as ledger:
        for i in range(3):
            ledger.release("run", f"q{i}", COST, token)
        assert copied(tmp_path / "ledger") == (["q0", "q1", "q2"], ["q0", "q1", "q2"], [])


def test_a_copy_between_a_charge_and_its_answer_has_the_charge(tmp_path: Path) -> None:
    found: list[tuple[list[str], list[str], list[str]]] = []

    def answer() -> str:
        found.append(copied(tmp_path / "ledger"))
        return "42"

    with opened(tmp_path / "ledger") as ledger:
        ledger.release("run", "q", COST, answer)
    assert found == [(["q"], [], [])]


def test_a_copy_after_a_kill_has_everything_that_came_out(tmp_path: Path) -> None:
    pulse, heartbeat = os.pipe()

    def work() -> None:
        ledger = opened(tmp_path / "ledger")
        for i in range(3):
            ledger.release("run", f"q{i}", COST, token)
        ledger.release("run", "q3", COST, wait)

    def wait() -> str:
        os.write(heartbeat, b"!")
        time.sleep(60)
        return "42"

    worker = child(work)
    os.read(pulse, 1)
    os.kill(worker, signal.SIGKILL)
    assert ending(worker) == -signal.SIGKILL
    assert copied(tmp_path / "ledger") == (["q0", "q1", "q2", "q3"], ["q0", "q1", "q2"], [])


def test_a_copy_made_in_the_middle_of_a_commit_is_whole_or_found_out(tmp_path: Path) -> None:
    """Pages may reach a copy in any mixture of before and after: of small commits, and of one that splits."""
    path = tmp_path / "ledger"
    found_out = 0
    for size in (10, 3000):
        with opened(path, total=1000) as ledger:
            ledger.release("run", f"before {size}", COST, lambda size=size: "x" * size)  # type: ignore[misc]
            before = path.read_bytes()
            with pytest.raises(ZeroDivisionError):
                ledger.release("run", f"charged {size}", COST, lambda: str(1 / 0))
            between = path.read_bytes()
            ledger.release("run", f"charged {size}", COST, lambda size=size: "x" * size)  # type: ignore[misc]
        after = path.read_bytes()
        for old, new in ((before, between), (between, after)):
            found_out += _check_every_mixture(tmp_path / f"torn{size}", old, new)
    assert found_out > 10


def _check_every_mixture(path: Path, old: bytes, new: bytes) -> int:
    states = []
    for whole in (old, new):
        path.write_bytes(whole)
        with Ledger.read(path) as ledger:
            states.append(list(ledger.entries()))
    assert states[0] == states[1][:-1], "one commit, one entry"
    pages = range(0, len(new), PAGE)
    changed = [at for at in pages if old[at : at + PAGE] != new[at : at + PAGE]]
    assert 2 <= len(changed) <= 8
    noticed = 0
    for many in range(len(changed) + 1):
        for chosen in itertools.combinations(changed, many):
            torn = bytearray(old.ljust(len(new), b"\0") if any(at >= len(old) for at in chosen) else old)
            for at in chosen:
                torn[at : at + PAGE] = new[at : at + PAGE]
            path.write_bytes(torn)
            try:
                with Ledger.read(path) as ledger:
                    if ledger.verify():
                        noticed += 1
                    else:
                        assert list(ledger.entries()) in states
                        assert ledger.spent in (states[0][-1].spent, states[1][-1].spent)
            except LedgerError:
                noticed += 1
    return noticed


def logged(path: Path) -> None:
    """Make a ledger as earlier versions left one after a kill: with entries in a log beside the file."""
    with opened(path) as ledger:
        ledger.release("run", "early", COST, lambda: "1")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")

    def crash() -> None:
        # query_only leaves the journal as it is; it is lifted for the entry alone.
        ledger = Ledger.read(path)
        ledger._store.connection().execute("PRAGMA query_only = OFF")
        ledger.release("run", "late", COST, lambda: "2")
        os._exit(9)

    assert ending(child(crash)) == 9
    assert path.with_name("ledger-wal").stat().st_size > 0
    assert copied(path)[:2] == (["early"], ["early"])


def test_a_ledger_with_a_log_beside_it_can_be_read(tmp_path: Path) -> None:
    logged(tmp_path / "ledger")
    with Ledger.read(tmp_path / "ledger") as ledger:
        assert stored(ledger) == {"early": "1", "late": "2"}
        assert ledger.verify() == []


def test_a_ledger_with_a_log_beside_it_becomes_one_file_when_it_is_opened(tmp_path: Path) -> None:
    logged(tmp_path / "ledger")
    with opened(tmp_path / "ledger") as ledger:
        assert copied(tmp_path / "ledger") == (["early", "late"], ["early", "late"], [])
        assert not tmp_path.joinpath("ledger-wal").exists()
        assert ledger.release("run", "late", COST, never) == "2"
        ledger.release("run", "new", COST, token)
        assert copied(tmp_path / "ledger")[1] == ["early", "late", "new"]


def test_processes_that_open_a_ledger_with_a_log_at_once_all_get_their_turn(tmp_path: Path) -> None:
    logged(tmp_path / "ledger")
    runners = [
        child(lambda i=i: opened(tmp_path / "ledger").release(f"run {i}", "q", COST, token))  # type: ignore[misc]
        for i in range(8)
    ]
    assert [ending(runner) for runner in runners] == [0] * 8
    assert copied(tmp_path / "ledger")[2] == []
    with opened(tmp_path / "ledger") as ledger:
        assert ledger.remaining == 0


def test_a_ledger_on_a_medium_that_may_not_be_written_can_be_read() -> None:
    """Not under `tmp_path`, which other users cannot enter."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        with opened(folder / "ledger") as ledger:
            ledger.release("run", "q", COST, token)
        folder.joinpath("ledger").chmod(0o444)
        folder.chmod(0o555)

        def work() -> None:
            if os.getuid() == 0:
                os.setuid(65534)  # nobody: the superuser may write anywhere
            with Ledger.read(folder / "ledger") as ledger:
                assert (ledger.spent, ledger.verify()) == (COST, [])

        assert ending(child(work)) == 0
        folder.chmod(0o755)


def test_a_ledger_that_is_removed_while_it_is_open_gives_nothing_away(tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    with opened(path) as ledger:
        ledger.release("run", "q", COST, token)
        path.rename(tmp_path / "elsewhere")
        for question in ("q", "another"):
            with pytest.raises(
                LedgerError, match=r"no longer the file that was opened.*nothing was released"
            ):
                ledger.release("run", question, COST, never)
        with pytest.raises(LedgerError, match="no longer the file"):
            _ = ledger.spent
        assert list(tmp_path.iterdir()) == [tmp_path / "elsewhere"], "and no new one is made"
        tmp_path.joinpath("elsewhere").rename(path)
        assert ledger.release("run", "another", COST, lambda: "42") == "42"


def test_a_ledger_that_is_removed_while_an_answer_is_computed_gives_nothing_away(tmp_path: Path) -> None:
    path = tmp_path / "ledger"

    def answer() -> str:
        path.unlink()
        return "secret"

    with opened(path) as ledger, pytest.raises(LedgerError, match="no longer the file") as refused:
        ledger.release("run", "q", COST, answer)
    assert "secret" not in str(refused.value)


def test_a_new_file_in_the_place_of_an_open_ledger_is_no_second_budget(tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    with opened(path) as ledger:
        ledger.release("run", "q", Fraction(1), token)
        path.unlink()
        with opened(path) as second:
            assert second.spent == 0
        with pytest.raises(LedgerError, match="another was put in its place"):
            ledger.release("run", "another", COST, never)


def test_an_older_copy_written_over_an_open_ledger_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    with opened(path) as ledger:
        ledger.release("run", "q0", COST, token)
        older = path.read_bytes()
        ledger.release("run", "q1", COST, token)
        path.write_bytes(older)
        for question in ("q0", "q1", "q2"):
            with pytest.raises(LedgerError, match=r"no longer has entry 4.*nothing was released"):
                ledger.release("run", question, COST, never)
    assert path.read_bytes() == older


def test_an_older_copy_written_over_a_ledger_while_an_answer_is_computed_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    with opened(path) as ledger:
        older = path.read_bytes()

        def answer() -> str:
            path.write_bytes(older)
            return "secret"

        with pytest.raises(LedgerError, match="no longer has entry 1"):
            ledger.release("run", "q", COST, answer)
    with opened(path) as ledger:
        assert (ledger.spent, ledger.verify()) == (0, [])


def test_a_file_exchanged_across_a_fork_is_noticed(tmp_path: Path) -> None:
    """A fork closes the file, so that its number may go to the next file that is made."""
    path = tmp_path / "ledger"
    ledger = opened(path)
    ledger.release("run", "q", COST, token)

    def work() -> None:
        path.unlink()
        opened(path).close()
        with pytest.raises(LedgerError, match="nothing was released"):
            ledger.release("run", "another", COST, never)

    assert ending(child(work)) == 0
    with pytest.raises(LedgerError, match="nothing was released"):
        ledger.release("run", "another", COST, never)


def test_a_curator_whose_ledger_is_removed_answers_nothing(tmp_path: Path) -> None:
    people = sulq.open({"sick": [True, False] * 50}, {"sick": sulq.Boolean()})
    curator = people.curator(epsilon=1, ledger=tmp_path / "ledger")
    asked = sulq.Round([sulq.count(where=sulq.col("sick"))], share="1/2")
    curator.ask(asked)
    tmp_path.joinpath("ledger").unlink()
    for run in ("main", "another"):
        with pytest.raises(LedgerError, match="no longer the file that was opened"):
            curator.ask(asked, run)
