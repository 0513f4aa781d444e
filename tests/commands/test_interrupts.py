"""Ctrl-C ends a command soon, with one line and exit code 130, whatever it is doing."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest

from sulq.cli import main
from sulq.errors import BudgetError
from sulq.ledger.ledger import Ledger
from sulq.plans.watching import Watched
from tests.commands.people import write_people
from tests.effort import long

TREE = ["--label", "flu", "--depth", "1", "--epsilon", "1"]
STAYS = (
    "sulq: interrupted; what was spent stays spent, and what it bought is kept: the same command again goes on "
    "from there, and what was answered already is free"
)
INTERRUPTIBLE = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
"""Where tests run in the background, a shell may have told them to ignore interrupts."""
SLOW_READING = """
import sys, time
from sulq.cli import main
from sulq.sources.csv_files import CsvFiles
part = CsvFiles._part

def slowly(self, wanted, chunks):
    pieces = list(part(self, wanted, chunks))
    if not pieces:  # the other thread has them all
        return
    for number in range(100_000):
        print("reading", flush=True)
        time.sleep(0.01)
        yield pieces[number % len(pieces)]

CsvFiles._part = slowly
sys.exit(main(sys.argv[1:]))
"""
AUDITING = """
import sys
from concurrent.futures import ProcessPoolExecutor
from sulq.cli import main
submit = ProcessPoolExecutor.submit

def said(*given):
    work = submit(*given)
    print("begun", flush=True)
    return work

ProcessPoolExecutor.submit = said
sys.exit(main(sys.argv[1:]))
"""
WAITING = """
import sys
from sulq.cli import main
from sulq.ledger import sqlite

class Random:
    def uniform(self, low, high):
        print("waiting", flush=True)
        return high

sqlite.random = Random()
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture
def interruptible() -> Iterator[None]:
    """This process raises KeyboardInterrupt at Ctrl-C, as one that a shell starts does."""
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, usual)


def interrupted(script: str, arguments: list[str], at: bytes) -> tuple[int, list[str]]:
    """Interrupt a script when it says that it has come so far; its exit code, and what it says to that."""
    command = [sys.executable, "-c", f"{INTERRUPTIBLE}\n{script}", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == at
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)  # to wait, or to read on, takes longer
    return process.returncode, errors.decode().splitlines()


def test_a_read_is_interrupted_with_one_line(tmp_path: Path) -> None:
    people = write_people(tmp_path, unit=True)
    code, errors = interrupted(SLOW_READING, ["learn", "tree", *people, *TREE], b"reading")
    assert (code, errors) == (130, [STAYS])


@long
def test_an_exact_read_is_interrupted_with_one_word(tmp_path: Path) -> None:
    people = write_people(tmp_path)
    code, errors = interrupted(
        SLOW_READING, ["learn", "tree", *people, "--label", "flu", "--exact"], b"reading"
    )
    assert (code, errors[-1]) == (130, "sulq: interrupted")
    assert not any("Traceback" in line for line in errors)


def test_waiting_for_a_ledger_is_interrupted_with_one_line(tmp_path: Path) -> None:
    people = write_people(tmp_path)
    assert main(["learn", "tree", *people, *TREE, "--share", "1/2"]) == 0
    with closing(sqlite3.connect(tmp_path / "people.csv.ledger")) as other:
        other.execute("BEGIN EXCLUSIVE")
        code, errors = interrupted(WAITING, ["learn", "tree", *people, *TREE, "--share", "1/4"], b"waiting")
    assert (code, errors) == (130, [STAYS])


def test_who_interrupts_the_printing_has_the_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("sulq.commands.learn.show_outcome", interrupt)
    report = tmp_path / "tree.html"
    people = write_people(tmp_path)
    assert main(["learn", "tree", *people, *TREE, "--report", str(report)]) == 130
    assert capsys.readouterr().err.splitlines()[-1] == STAYS
    assert report.exists()


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_that_a_library_turns_into_an_error_is_still_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As when Ctrl-C is pressed while pandas is being imported."""

    def importing(*_: object, **__: object) -> None:
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise AttributeError("partially initialized module") from None

    monkeypatch.setattr("sulq.cli.draft", importing)
    assert main(["schema", "draft", "people.csv"]) == 130
    assert capsys.readouterr().err == "sulq: interrupted\n"


def test_a_table_is_interrupted_with_one_line_and_goes_on_for_free(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["table", *write_people(tmp_path), "--by", "income", "--epsilon", "1"]
    code, errors = interrupted(SLOW_READING, command, b"reading")
    assert (code, errors[-1]) == (130, STAYS)
    assert main(command) == 0
    with Ledger.read(tmp_path / "people.csv.ledger") as ledger:
        assert ledger.spent == 1
    assert main(command) == 0
    assert "answered from the ledger" in capsys.readouterr().err


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("name", ["check", "dry run"])
def test_what_spends_nothing_is_interrupted_without_a_word_of_spending(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    people = write_people(tmp_path, unit=True)
    commands = {
        "check": ["check", *people],
        "dry run": ["learn", "kmeans", *people, "--k", "2", "--epsilon", "1", "--rows", "600", "--dry-run"],
    }
    for work in ("sulq.commands.check.inspect", "sulq.runs.run.rehearse"):
        monkeypatch.setattr(work, lambda *_, **__: signal.raise_signal(signal.SIGINT))
    assert main(commands[name]) == 130
    assert capsys.readouterr().err.splitlines()[-1] == "sulq: interrupted"
    assert not (tmp_path / "people.csv.ledger").exists()


def test_a_plan_that_is_interrupted_says_nothing_of_spending(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("sulq.commands.plan.plan", interrupt)
    assert main(["plan", "conjunction", "--dimension", "4", "--epsilon", "1"]) == 130
    assert capsys.readouterr().err == "sulq: interrupted\n"


def test_a_run_that_is_refused_on_the_way_says_what_it_has_spent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    people = write_people(tmp_path)
    ask = Watched.ask

    def refusing(self: Watched, *given: object) -> object:
        if self.asked:
            raise BudgetError("epsilon", Fraction(3, 4), Fraction(1, 4))
        return ask(self, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(Watched, "ask", refusing)
    command = ["learn", "perceptron", *people, "--label", "flu", "--epsilon", "100", "--run", "mine"]
    assert main(command) == 2
    with Ledger.read(tmp_path / "people.csv.ledger") as ledger:
        spent = ledger.spent
    assert spent > 0
    said = capsys.readouterr().err.splitlines()[-1]
    assert "nothing was spent" not in said
    assert f"run mine has spent ε = {float(spent):g} so far: the same run goes on from there" in said


@long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_audit_that_is_ended_leaves_no_process_behind(number: signal.Signals) -> None:
    """Checks run in processes of their own, which would go on for as long as an hour."""
    script, checks = f"{INTERRUPTIBLE}\n{AUDITING}", "learners,transcripts"
    command = [sys.executable, "-c", script, "audit", "--full", "--only", checks]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as running:
        try:
            assert running.stdout is not None and b"begun" in running.stdout.readline()
            time.sleep(1)
            running.send_signal(number)
            # All that is said is known once no process has the other end of the pipe.
            said, _ = running.communicate(timeout=60)
        finally:
            running.kill()
    assert running.returncode == 128 + number
    assert b"Traceback" not in said
