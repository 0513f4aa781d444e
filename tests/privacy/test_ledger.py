"""Whatever happens to a process or to a file, recorded charges cover every answer that came out."""

from __future__ import annotations

import itertools
import os
import pickle
import random
import resource
import secrets
import signal
import sqlite3
import statistics
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from fractions import Fraction
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn

import pytest

from sulq.errors import BudgetError, LedgerError
from sulq.privacy import entries, ledger_file
from sulq.privacy.ledger import JSON, Entry, Ledger

FACTS: dict[str, JSON] = {"schema": "9f86d081", "neighbours": "replace", "rows": 20190, "delta": "1/1000000"}
COST = Fraction(1, 10)
KILLED = 9


def opened(path: Path | None, total: Fraction | int = 1) -> Ledger:
    return Ledger(path, "epsilon", Fraction(total), FACTS)


def token() -> str:
    """An answer that is never drawn twice, so that an answer drawn again cannot pass for the stored one."""
    return secrets.token_hex(8)


def never() -> NoReturn:
    raise AssertionError("an answer was computed that should not be")


def child(work: Callable[[], object]) -> int:
    """Do the work in a forked process; its id. It ends with 0, with 1 after a BudgetError, else with 2."""
    process = os.fork()
    if process:
        return process
    signal.alarm(120)  # a child that hangs is killed, and its test fails
    status = 2
    try:
        work()
        status = 0
    except BudgetError:
        status = 1
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def ending(process: int) -> int:
    """How a child ended: its exit status, or minus the signal that killed it."""
    _, status = os.waitpid(process, 0)
    return os.waitstatus_to_exitcode(status)


class Interrupted(sqlite3.Connection):
    """A connection that calls `step` before and after each statement."""

    step: Callable[[], None] = staticmethod(lambda: None)

    def execute(self, *arguments: Any) -> sqlite3.Cursor:
        type(self).step()
        cursor = super().execute(*arguments)
        type(self).step()
        return cursor


@pytest.fixture
def interruptible(monkeypatch: pytest.MonkeyPatch) -> type[Interrupted]:
    connect = sqlite3.connect
    monkeypatch.setattr(
        sqlite3, "connect", lambda *args, **named: connect(*args, **named, factory=Interrupted)
    )
    monkeypatch.setattr(Interrupted, "step", staticmethod(lambda: None))
    return Interrupted


def countdown(steps: int) -> Callable[[], None]:
    """A step that ends the process, without any goodbye, when it is called for the last time."""
    left = itertools.count(steps, -1)

    def step() -> None:
        if next(left) == 0:
            os._exit(KILLED)

    return step


class Received:
    """The answers that processes got out of a ledger, written down the moment they came."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def add(self, question: str, answer: str) -> None:
        file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(file, f"{question} {answer}\n".encode())
        os.close(file)

    def pairs(self) -> set[tuple[str, str]]:
        lines = self.path.read_text().splitlines() if self.path.exists() else []
        return {(question, answer) for question, answer in map(str.split, lines)}


def stored(ledger: Ledger) -> dict[str, str]:
    return {entry.question: entry.answer for entry in ledger.entries() if entry.answer is not None}


def charged(ledger: Ledger) -> list[str]:
    return [entry.question for entry in ledger.entries() if entry.kind == "charge"]


def check_that_charges_cover(ledger: Ledger, received: Received) -> None:
    assert ledger.verify() == []
    questions = charged(ledger)
    assert len(questions) == len(set(questions))
    assert set(stored(ledger)) <= set(questions)
    assert received.pairs() <= stored(ledger).items()
    assert ledger.spent == COST * len(questions)


def test_a_charge_is_recorded_before_its_answer(tmp_path: Path) -> None:
    ledger = opened(tmp_path / "ledger")

    def answer() -> str:
        with Ledger.read(tmp_path / "ledger") as other:
            assert charged(other) == ["q"]
            assert other.spent == COST
        return "42"

    assert ledger.release("run", "q", COST, answer) == "42"
    assert [entry.kind for entry in ledger.entries()] == ["charge", "answer"]


def test_an_answer_is_stored_before_it_is_returned(tmp_path: Path) -> None:
    with opened(tmp_path / "ledger") as ledger:
        ledger.release("run", "q", COST, lambda: "42")
        with Ledger.read(tmp_path / "ledger") as other:
            assert stored(other) == {"q": "42"}


def test_an_equal_question_of_the_same_run_is_free_and_gets_the_stored_answer() -> None:
    ledger = opened(None)
    ledger.release("run", "q", COST, lambda: "42")
    assert ledger.release("run", "q", COST, never) == "42"
    assert ledger.spent == COST


def test_an_equal_question_of_another_run_is_charged_anew() -> None:
    ledger = opened(None)
    ledger.release("run", "q", COST, lambda: "42")
    assert ledger.release("another", "q", COST, lambda: "43") == "43"
    assert ledger.spent == 2 * COST


def test_an_empty_answer_is_an_answer() -> None:
    ledger = opened(None)
    assert ledger.release("run", "q", COST, lambda: "") == ""
    assert ledger.release("run", "q", COST, never) == ""


def test_ten_tenths_are_exactly_one() -> None:
    ledger = opened(None)
    for i in range(10):
        ledger.release("run", f"q{i}", COST, token)
    assert ledger.remaining == 0
    with pytest.raises(BudgetError) as refused:
        ledger.release("run", "one more", Fraction(1, 10**30), never)
    assert refused.value.requested == refused.value.excess == Fraction(1, 10**30)
    assert refused.value.remaining == 0
    assert ledger.release("run", "for nothing", Fraction(0), lambda: "public") == "public"


def test_a_refused_question_leaves_no_trace_and_the_run_goes_on() -> None:
    ledger = opened(None)
    ledger.release("run", "q0", Fraction(2, 3), token)
    before = list(ledger.entries())
    with pytest.raises(BudgetError) as refused:
        ledger.release("run", "q1", Fraction(1, 2), never)
    assert (refused.value.remaining, refused.value.excess) == (Fraction(1, 3), Fraction(1, 6))
    assert list(ledger.entries()) == before
    ledger.release("run", "q1", Fraction(1, 3), token)
    assert ledger.remaining == 0
    assert ledger.verify() == []


def test_if_computing_an_answer_fails_its_charge_stays_and_is_not_taken_twice() -> None:
    ledger = opened(None)
    with pytest.raises(ZeroDivisionError):
        ledger.release("run", "q", COST, lambda: str(1 / 0))
    assert ledger.spent == COST
    assert ledger.release("run", "q", COST, lambda: "42") == "42"
    assert ledger.spent == COST


def test_an_old_charge_does_not_cover_a_dearer_answer() -> None:
    ledger = opened(None)
    with pytest.raises(ZeroDivisionError):
        ledger.release("run", "q", COST, lambda: str(1 / 0))
    with pytest.raises(LedgerError, match="more than that covers"):
        ledger.release("run", "q", 2 * COST, never)
    assert ledger.spent == COST


def test_the_answer_that_is_stored_first_is_the_answer(tmp_path: Path) -> None:
    slow, fast = opened(tmp_path / "ledger"), opened(tmp_path / "ledger")

    def overtaken() -> str:
        assert fast.release("run", "q", COST, lambda: "first") == "first"
        return "second"

    assert slow.release("run", "q", COST, overtaken) == "first"
    assert slow.spent == COST
    assert stored(slow) == {"q": "first"}


def test_an_answer_may_itself_ask_the_ledger() -> None:
    ledger = opened(None)
    inner = ledger.release("run", "outer", COST, lambda: ledger.release("run", "inner", COST, lambda: "42"))
    assert inner == "42"
    assert ledger.verify() == []


@pytest.mark.parametrize("cost", [0.1, 1, Fraction(-1, 10), "1/10"])
def test_a_charge_is_an_exact_fraction_of_at_least_zero(cost: Any) -> None:
    ledger = opened(None)
    with pytest.raises(LedgerError, match="exact Fraction"):
        ledger.release("run", "q", cost, never)
    assert ledger.spent == 0


def test_a_budget_has_a_known_unit() -> None:
    with pytest.raises(LedgerError, match="epsilon"):
        Ledger(None, "dollars", Fraction(1), {})


def test_text_that_cannot_be_stored_is_refused_and_not_repeated() -> None:
    ledger = opened(None)
    with pytest.raises(LedgerError, match="nothing was released") as refused:
        ledger.release("run", "q", COST, lambda: "secret \ud800")
    assert "secret" not in str(refused.value)
    assert refused.value.__cause__ is None
    assert ledger.release("run", "q", COST, lambda: "42") == "42"
    assert ledger.spent == COST


def test_runs_are_counted_apart() -> None:
    ledger = opened(None)
    ledger.release("tree", "q0", COST, token)
    ledger.release("means", "q0", 2 * COST, token)
    ledger.release("tree", "q1", COST, token)
    with pytest.raises(ZeroDivisionError):
        ledger.release("tree", "q2", COST, lambda: str(1 / 0))
    tree, means = ledger.runs()
    assert (tree.name, tree.charges, tree.answers, tree.spent) == ("tree", 3, 2, 3 * COST)
    assert (means.name, means.charges, means.answers, means.spent) == ("means", 1, 1, 2 * COST)
    assert tree.first <= means.first <= means.last <= tree.last


def test_entries_are_chained() -> None:
    ledger = opened(None)
    for i in range(3):
        ledger.release("run", f"q{i}", COST, token)
    entries = list(ledger.entries())
    assert [entry.number for entry in entries] == [1, 2, 3, 4, 5, 6]
    assert all(later.previous == earlier.hash for earlier, later in itertools.pairwise(entries))
    assert entries[0].time.endswith("+00:00")


def test_a_closed_ledger_releases_nothing() -> None:
    with opened(None) as ledger:
        pass
    with pytest.raises(LedgerError, match="closed"):
        ledger.release("run", "q", COST, never)


def test_every_commit_is_forced_to_the_disk(tmp_path: Path) -> None:
    with opened(tmp_path / "ledger") as ledger:
        settings = [ledger._connected().execute(f"PRAGMA {name}") for name in ("journal_mode", "synchronous")]
        assert [setting.fetchone() for setting in settings] == [("wal",), (2,)]  # 2 is FULL


def ask_three(path: Path, received: Received, on_second: Callable[[], None] = lambda: None) -> None:
    ledger = opened(path)
    for i in range(3):
        if i == 1:
            on_second()
        received.add(f"q{i}", ledger.release("run", f"q{i}", COST, token))
    ledger.close()


def test_a_release_may_be_cut_off_at_any_step(tmp_path: Path, interruptible: type[Interrupted]) -> None:
    def cut_off(path: Path, received: Received, steps: int) -> None:
        def arm() -> None:
            interruptible.step = staticmethod(countdown(steps))

        ask_three(path, received, arm)

    pending = answered = 0
    for steps in itertools.count():
        path, received = tmp_path / f"{steps}.ledger", Received(tmp_path / f"{steps}.received")
        if ending(child(partial(cut_off, path, received, steps))) == 0:
            break  # more steps than the rest of the run has
        with opened(path) as ledger:
            check_that_charges_cover(ledger, received)
            before = stored(ledger)
            pending += charged(ledger) == ["q0", "q1"] and list(before) == ["q0"]
            answered += list(before) == ["q0", "q1"] and len(received.pairs()) == 1
        ask_three(path, received)
        with opened(path) as ledger:
            check_that_charges_cover(ledger, received)
            assert before.items() <= stored(ledger).items()
            assert ledger.spent == 3 * COST
    assert steps > 40
    assert pending > 5, "no crash fell between a charge and its answer"
    assert answered > 0, "no crash fell between storing an answer and returning it"


def test_a_release_may_be_broken_off_by_an_exception_at_any_step(interruptible: type[Interrupted]) -> None:
    for steps in itertools.count():
        ledger = opened(None)
        left = itertools.count(steps, -1)

        def step(left: Iterator[int] = left) -> None:
            if next(left) == 0:
                raise KeyboardInterrupt

        try:
            interruptible.step = staticmethod(step)
            ledger.release("run", "q", COST, token)
            break  # more steps than a release has
        except KeyboardInterrupt:
            interruptible.step = staticmethod(lambda: None)
        assert ledger.verify() == []
        assert ledger.spent in (0, COST)
        ledger.release("run", "q", COST, token)
        assert ledger.spent == COST
    assert steps > 20


def test_a_crash_while_an_answer_is_computed_wastes_no_second_charge(tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    crash = child(lambda: opened(path).release("run", "q", COST, lambda: os._exit(KILLED)))
    assert ending(crash) == KILLED
    with opened(path) as ledger:
        assert (charged(ledger), stored(ledger)) == (["q"], {})
        ledger.release("run", "q", COST, lambda: "42")
        assert ledger.spent == COST
        assert ledger.verify() == []


def test_a_creation_cut_off_at_any_step_leaves_no_ledger_or_a_whole_one(
    tmp_path: Path, interruptible: type[Interrupted], monkeypatch: pytest.MonkeyPatch
) -> None:
    link = os.link

    def interrupted_link(draft: Path, path: Path) -> None:
        interruptible.step()
        link(draft, path)
        interruptible.step()

    monkeypatch.setattr(os, "link", interrupted_link)

    def cut_off(path: Path, steps: int) -> None:
        interruptible.step = staticmethod(countdown(steps))
        opened(path)

    for steps in itertools.count():
        path = tmp_path / f"{steps}.ledger"
        if ending(child(partial(cut_off, path, steps))) == 0:
            break
        with opened(path) as ledger:
            ledger.release("run", "q", COST, token)
            assert ledger.verify() == []
    assert steps > 10


def ask_forever(path: Path, received: Received, first: int = 0, heartbeat: int | None = None) -> None:
    ledger = opened(path, total=1000)
    for i in itertools.count(first):
        received.add(f"q{i}", ledger.release("run", f"q{i}", COST, token))
        if heartbeat is not None:
            os.write(heartbeat, b"!")


@pytest.mark.parametrize("seed", range(5))
def test_two_workers_may_be_killed_at_any_moment(tmp_path: Path, seed: int) -> None:
    """40 kills a seed, 200 in all; both workers ask the same questions, so they race for each as well."""
    moments = random.Random(seed)
    path, received = tmp_path / "ledger", Received(tmp_path / "received")
    before: dict[str, str] = {}
    for turn in range(20):
        pulse, heartbeat = os.pipe()
        work = partial(ask_forever, path, received, max(0, len(before) - 3), heartbeat)
        workers = [child(work) for _ in range(2)]
        os.close(heartbeat)
        if turn % 2:
            os.read(pulse, 4)  # every other time let them get somewhere, however busy the machine
        for worker in workers:
            time.sleep(moments.uniform(0, 0.015))
            os.kill(worker, signal.SIGKILL)
        assert [ending(worker) for worker in workers] == [-signal.SIGKILL] * 2
        os.close(pulse)
        with opened(path, total=1000) as ledger:
            check_that_charges_cover(ledger, received)
            assert before.items() <= stored(ledger).items()
            before = stored(ledger)
    assert len(before) >= 4


@pytest.mark.parametrize("race", range(5))
def test_sixteen_processes_never_overspend_a_budget_of_five(tmp_path: Path, race: int) -> None:
    """10 races each, 50 in all; in every other one the racers also race to create the file."""
    for heat in range(10):
        path = tmp_path / f"{heat}.ledger"
        if heat % 2:
            opened(path, total=5).close()
        gate, starter = os.pipe()

        def run(name: int, path: Path = path, gate: int = gate, starter: int = starter) -> None:
            os.close(starter)
            os.read(gate, 1)
            opened(path, total=5).release(f"run {name}", "q", Fraction(1), token)

        runners = [child(partial(run, name)) for name in range(16)]
        os.close(gate)
        os.close(starter)
        assert sorted(ending(runner) for runner in runners) == [0] * 5 + [1] * 11
        with opened(path, total=5) as ledger:
            assert ledger.verify() == []
            assert ledger.remaining == 0
            assert [run.answers for run in ledger.runs()] == [1] * 5


@pytest.mark.parametrize("where", ["memory", "file"])
def test_eight_threads_never_overspend_a_budget_of_five(tmp_path: Path, where: str) -> None:
    for heat in range(10):
        ledger = opened(None if where == "memory" else tmp_path / f"{heat}.ledger", total=5)
        start = threading.Barrier(8)

        def run(name: int, ledger: Ledger = ledger, start: threading.Barrier = start) -> str:
            start.wait()
            try:
                return ledger.release(f"run {name}", "q", Fraction(1), lambda: "released")
            except BudgetError:
                return "refused"

        with ThreadPoolExecutor(8) as pool:
            outcomes = list(pool.map(run, range(8)))
        assert sorted(outcomes) == ["refused"] * 3 + ["released"] * 5
        assert ledger.verify() == []
        ledger.close()


def test_a_forked_process_shares_the_budget_of_a_file(tmp_path: Path) -> None:
    ledger = opened(tmp_path / "ledger")
    ledger.release("parent", "q", COST, token)
    assert ending(child(lambda: ledger.release("child", "q", COST, token))) == 0
    assert ledger.spent == 2 * COST
    assert [run.name for run in ledger.runs()] == ["parent", "child"]


def test_a_forked_process_loses_nothing_when_its_parent_closes_the_file(tmp_path: Path) -> None:
    """The last to close a file tidies its log away; a child must count as one who has it open."""
    ledger = opened(tmp_path / "ledger")
    ledger.release("parent", "q", COST, token)
    ready, tell_ready = os.pipe()
    closed, tell_closed = os.pipe()

    def work() -> None:
        ledger.release("child", "before", COST, token)
        os.write(tell_ready, b"!")
        os.read(closed, 1)
        ledger.release("child", "after", COST, token)

    process = child(work)
    os.read(ready, 1)
    ledger.close()
    os.write(tell_closed, b"!")
    assert ending(process) == 0
    with opened(tmp_path / "ledger") as again:
        assert charged(again) == ["q", "before", "after"]
        assert again.verify() == []


def test_a_process_may_fork_while_its_threads_release(tmp_path: Path) -> None:
    ledger = opened(tmp_path / "ledger", total=1000)
    over = threading.Event()

    def work(name: str) -> None:
        for i in itertools.count():
            ledger.release(name, f"q{i}", COST, token)
            if over.is_set():
                break

    with ThreadPoolExecutor(3) as pool:
        threads = [pool.submit(work, f"thread {i}") for i in range(3)]
        children = [child(partial(ledger.release, f"child {i}", "q", COST, token)) for i in range(20)]
        endings = [ending(process) for process in children]
        over.set()
    assert endings == [0] * 20
    assert [thread.exception() for thread in threads] == [None] * 3
    assert ledger.verify() == []
    assert {f"child {i}" for i in range(20)} <= {run.name for run in ledger.runs()}


def test_a_ledger_in_memory_is_no_use_in_a_forked_process() -> None:
    ledger = opened(None)

    def work() -> None:
        with pytest.raises(LedgerError, match="second copy of the budget"):
            ledger.release("child", "q", COST, never)

    assert ending(child(work)) == 0
    ledger.release("parent", "q", COST, token)


def test_a_pickled_ledger_is_the_same_file(tmp_path: Path) -> None:
    ledger = opened(tmp_path / "ledger")
    copy = pickle.loads(pickle.dumps(ledger))
    copy.release("run", "q", COST, token)
    assert ledger.spent == COST
    reader = pickle.loads(pickle.dumps(Ledger.read(tmp_path / "ledger")))
    with pytest.raises(LedgerError, match="nothing was released"):
        reader.release("run", "another", COST, never)


def test_a_ledger_in_memory_cannot_be_pickled() -> None:
    with pytest.raises(LedgerError, match="cannot be copied"):
        pickle.dumps(opened(None))


def test_the_last_of_ten_thousand_releases_costs_no_more_than_the_first() -> None:
    """Counted in steps of SQLite's machine; and in time, taking turns with a new ledger on equal terms."""
    ledger = opened(None, total=10_000)
    connection = ledger._connected()

    def steps(question: int) -> int:
        count = itertools.count()
        connection.set_progress_handler(lambda: next(count) < 0, 1)
        ledger.release("run", str(question), COST, token)
        connection.set_progress_handler(None, 1)
        return next(count)

    first = [steps(i) for i in range(500)]
    for i in range(500, 9_500):
        if i % 500:
            ledger.release("run", str(i), COST, token)
        else:
            assert steps(i) < 2 * max(first)
    last = [steps(i) for i in range(9_500, 10_000)]
    assert min(first) > 50
    assert statistics.median(last) < 1.1 * statistics.median(first)

    def seconds(ledger: Ledger, question: int) -> float:
        start = time.perf_counter()
        ledger.release("timed", str(question), COST, token)
        return time.perf_counter() - start

    young = opened(None, total=10_000)
    pairs = [(seconds(ledger, i), seconds(young, i)) for i in range(500)]
    old_time, young_time = (statistics.median(times) for times in zip(*pairs, strict=True))
    assert old_time < 2 * young_time


@pytest.fixture
def finished(tmp_path: Path) -> Path:
    """A closed ledger of ten releases: charges are the odd entries, answers the even ones."""
    with opened(tmp_path / "ledger") as ledger:
        for i in range(10):
            ledger.release("run", f"q{i}", COST, lambda: "[1.5]")
    return tmp_path / "ledger"


def edit(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("DROP TRIGGER no_change; DROP TRIGGER no_removal;")
        for statement in statements:
            connection.execute(statement)
        connection.commit()


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
def test_verify_names_what_was_tampered_with(finished: Path, statements: list[str], named: str) -> None:
    edit(finished, *statements)
    with Ledger.read(finished) as ledger:
        findings = ledger.verify()
    assert any(finding.startswith(named) for finding in findings), findings


def reseal(path: Path, *statements: str) -> list[str]:
    """The findings after an edit by someone who recomputes the whole chain of hashes."""
    edit(path, *statements)
    with closing(sqlite3.connect(path)) as connection:
        (head,) = connection.execute("SELECT value FROM meta WHERE key = 'head'").fetchone()
        with Ledger.read(path) as ledger:
            seal = ledger._terms_hash
        rows = connection.execute(f"{entries.SELECT} ORDER BY number").fetchall()
        for number, row in enumerate(rows, 1):
            values = [number, *row[1:8], seal]
            seal = entries.seal_of(values)
            connection.execute("DELETE FROM entries WHERE number = ?", (row[0],))
            connection.execute(entries.INSERT, (*values, seal, row[10]))
        connection.execute("UPDATE meta SET value = ? WHERE key = 'head'", (f"{len(rows)} {seal}",))
        assert head != f"{len(rows)} {seal}"
        connection.commit()
    with Ledger.read(path) as ledger:
        return ledger.verify()


def test_a_forger_of_all_hashes_must_still_get_the_sums_right(finished: Path) -> None:
    findings = reseal(finished, "UPDATE entries SET cost = '1/100' WHERE number = 5")
    assert [finding.split(" says")[0] for finding in findings] == ["entry 5"]


def test_a_forger_of_all_hashes_cannot_hide_an_answer_without_a_charge(finished: Path) -> None:
    findings = reseal(finished, "DELETE FROM entries WHERE number = 19")
    assert any("entry 19 answers a question of run 'run' that was not charged before" in f for f in findings)


def test_a_forger_of_all_hashes_cannot_hide_a_second_charge(finished: Path) -> None:
    copy = ", ".join("21" if name == "number" else name for name in entries.COLUMNS)
    findings = reseal(
        finished,
        "DROP INDEX once",
        f"INSERT INTO entries SELECT {copy}, question_hash FROM entries WHERE number = 19",
    )
    assert any("entry 21 is a second charge for one question" in finding for finding in findings)


def test_a_forger_of_all_hashes_cannot_hide_spending_beyond_the_budget(finished: Path) -> None:
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
def test_a_tampered_end_frees_no_budget(finished: Path, statement: str) -> None:
    edit(finished, statement)
    with opened(finished) as ledger, pytest.raises(LedgerError, match="nothing was released"):
        ledger.release("run", "another", COST, never)


def test_a_tampered_answer_is_not_released(finished: Path) -> None:
    edit(finished, "UPDATE entries SET answer = '[2.5]' WHERE number = 6")
    with opened(finished) as ledger, pytest.raises(LedgerError, match="entry 6") as refused:
        ledger.release("run", "q2", COST, never)
    assert "2.5" not in str(refused.value)


def test_entries_are_guarded_against_accidents(finished: Path) -> None:
    with closing(sqlite3.connect(finished)) as connection:
        for accident in ("DELETE FROM entries", "UPDATE entries SET cost = '0/1'"):
            with pytest.raises(sqlite3.IntegrityError, match="entries never"):
                connection.execute(accident)


@pytest.mark.parametrize(
    ("unit", "total", "facts", "said"),
    [
        ("rho", 1, FACTS, "unit is epsilon in the file and rho here"),
        ("epsilon", 2, FACTS, "total is 1/1 in the file and 2/1 here"),
        ("epsilon", 1, FACTS | {"rows": 7}, "fact rows is 20190 in the file and 7 here"),
        ("epsilon", 1, FACTS | {"seed": None}, "fact seed is missing in the file and null here"),
        ("epsilon", 1, {}, 'fact neighbours is "replace" in the file and missing here'),
    ],
)
def test_a_file_made_for_something_else_is_refused(
    finished: Path, unit: str, total: int, facts: dict[str, Any], said: str
) -> None:
    with pytest.raises(LedgerError) as refused:
        Ledger(finished, unit, Fraction(total), facts)
    assert said in str(refused.value)
    assert "name another file" in str(refused.value)
    with opened(finished) as ledger:
        assert ledger.remaining == 0


def test_facts_come_back_as_they_were_given(finished: Path) -> None:
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


def test_a_ledger_of_a_later_format_is_refused(finished: Path) -> None:
    edit(finished, "PRAGMA user_version = 2")
    with pytest.raises(LedgerError, match="format 2, and format 1 was expected"):
        opened(finished)


def test_a_truncated_file_is_noticed(finished: Path) -> None:
    whole = finished.read_bytes()
    for size in [0, 1, 99, 100, 4095, *range(4096, len(whole), 2048), len(whole) - 1]:
        finished.write_bytes(whole[:size])
        try:
            _, findings = contents(finished)
        except LedgerError:
            continue
        assert findings, f"cut to {size} bytes of {len(whole)}"


def test_a_flipped_bit_is_noticed_if_it_matters(finished: Path) -> None:
    whole = finished.read_bytes()
    entries, _ = contents(finished)
    places = random.Random(0)
    noticed = 0
    for _ in range(400):
        damaged = bytearray(whole)
        damaged[places.randrange(len(whole))] ^= 1 << places.randrange(8)
        finished.write_bytes(damaged)
        try:
            found, findings = contents(finished)
            assert findings or found == entries
            noticed += bool(findings)
        except LedgerError:
            noticed += 1
    assert noticed > 100


def test_a_damaged_index_cannot_hide_a_stored_answer(finished: Path) -> None:
    index = "CREATE UNIQUE INDEX once ON entries (run, question_hash, kind)"
    edit(finished, "DROP INDEX once", f"{index} WHERE number != 6")
    edit_schema = f"UPDATE sqlite_schema SET sql = '{index}' WHERE name = 'once'"
    with closing(sqlite3.connect(finished)) as connection:
        connection.executescript(f"PRAGMA writable_schema = ON; {edit_schema};")
    with pytest.raises(LedgerError, match="row 6 missing from index"):
        opened(finished)


def test_a_lost_file_whose_log_remains_is_not_a_new_budget(tmp_path: Path) -> None:
    path, received = tmp_path / "ledger", Received(tmp_path / "received")

    def crash() -> None:
        opened(path).release("run", "q", COST, token)
        os._exit(KILLED)

    assert ending(child(crash)) == KILLED
    path.unlink()
    try:
        with opened(path) as ledger:
            check_that_charges_cover(ledger, received)
            assert ledger.spent == COST
    except LedgerError:
        pass


def test_a_full_database_releases_nothing_and_loses_nothing(tmp_path: Path) -> None:
    ledger = opened(tmp_path / "ledger", total=1000)
    ledger.release("run", "q", COST, lambda: "42")
    connection = ledger._connected()
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
    monkeypatch.setattr(ledger_file, "PATIENCE", 0.05)
    with opened(tmp_path / "ledger") as ledger, closing(sqlite3.connect(tmp_path / "ledger")) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerError, match="kept it locked"):
            ledger.release("run", "q", COST, never)
        other.rollback()
        ledger.release("run", "q", COST, token)


def test_a_file_opened_for_reading_is_not_written(finished: Path) -> None:
    before = finished.read_bytes()
    with Ledger.read(finished) as ledger:
        assert stored(ledger)["q3"] == "[1.5]"
        with pytest.raises(LedgerError, match="open it for writing"):
            ledger.release("run", "another", Fraction(0), never)
    assert finished.read_bytes() == before
    assert [path.name for path in finished.parent.iterdir()] == ["ledger"]
