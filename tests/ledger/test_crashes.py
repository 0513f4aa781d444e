"""However a process ends, and however many there are, recorded charges cover every answer that came out."""

from __future__ import annotations

import itertools
import os
import pickle
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from functools import partial
from pathlib import Path

import pytest

from sulq.errors import BudgetError, LedgerError
from sulq.ledger.ledger import Ledger
from tests.effort import either
from tests.ledger.homes import Home, Place
from tests.ledger.ledgers import (
    COST,
    KILLED,
    Received,
    Stepping,
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


def countdown(steps: int) -> Callable[[], None]:
    """A step that ends the process, without any goodbye, when it is called for the last time."""
    left = itertools.count(steps, -1)

    def step() -> None:
        if next(left) == 0:
            os._exit(KILLED)

    return step


def ask_three(path: Place, received: Received, on_second: Callable[[], None] = lambda: None) -> None:
    ledger = opened(path)
    for i in range(3):
        if i == 1:
            on_second()
        received.add(f"q{i}", ledger.release("run", f"q{i}", COST, token))
    ledger.close()


def test_a_release_may_be_cut_off_at_any_step(tmp_path: Path, home: Home, stepping: type[Stepping]) -> None:
    def cut_off(path: Place, received: Received, steps: int) -> None:
        def arm() -> None:
            stepping.step = staticmethod(countdown(steps))

        ask_three(path, received, arm)

    pending = answered = 0
    for steps in itertools.count(0, home.stride):
        path, received = home / f"{steps}.ledger", Received(tmp_path / f"{steps}.received")
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
    assert pending > 5 // home.stride, "no crash fell between a charge and its answer"
    # Where only some of the steps are tried, it may be none of the few that come after the commit.
    assert answered > 0 or home.stride > 1, "no crash fell between storing an answer and returning it"


def test_a_release_may_be_broken_off_by_an_exception_at_any_step(
    stepping: type[Stepping], home: Home
) -> None:
    for steps in itertools.count(0, home.stride):
        ledger = opened(None)
        left = itertools.count(steps, -1)

        def step(left: Iterator[int] = left) -> None:
            if next(left) == 0:
                raise KeyboardInterrupt

        try:
            stepping.step = staticmethod(step)
            ledger.release("run", "q", COST, token)
            break  # more steps than a release has
        except KeyboardInterrupt:
            stepping.step = staticmethod(lambda: None)
        assert ledger.verify() == []
        assert ledger.spent in (0, COST)
        ledger.release("run", "q", COST, token)
        assert ledger.spent == COST
    assert steps > 20


def test_a_crash_while_an_answer_is_computed_wastes_no_second_charge(home: Home) -> None:
    path = home / "ledger"
    crash = child(lambda: opened(path).release("run", "q", COST, lambda: os._exit(KILLED)))
    assert ending(crash) == KILLED
    with opened(path) as ledger:
        assert (charged(ledger), stored(ledger)) == (["q"], {})
        ledger.release("run", "q", COST, lambda: "42")
        assert ledger.spent == COST
        assert ledger.verify() == []


def test_a_creation_cut_off_at_any_step_leaves_no_ledger_or_a_whole_one(
    home: Home, stepping: type[Stepping], monkeypatch: pytest.MonkeyPatch
) -> None:
    link = os.link

    def interrupted_link(draft: Path, path: Path) -> None:
        stepping.step()
        link(draft, path)
        stepping.step()

    monkeypatch.setattr(os, "link", interrupted_link)

    def cut_off(path: Place, steps: int) -> None:
        stepping.step = staticmethod(countdown(steps))
        opened(path)

    for steps in itertools.count(0, home.stride):
        path = home / f"{steps}.ledger"
        if ending(child(partial(cut_off, path, steps))) == 0:
            break
        with opened(path) as ledger:
            ledger.release("run", "q", COST, token)
            assert ledger.verify() == []
    assert steps > 10


@pytest.mark.parametrize("seed", range(2))
def test_two_workers_may_be_killed_at_any_moment(tmp_path: Path, home: Home, seed: int) -> None:
    """40 kills a seed with the thorough effort; both workers ask the same questions, so they race for each as well."""
    moments = random.Random(seed)
    path, received = home / "ledger", Received(tmp_path / "received")
    before: dict[str, str] = {}
    for turn in range(either(10, 20) // min(2, home.stride)):
        pulse, heartbeat = os.pipe()
        work = partial(ask_forever, path, received, max(0, len(before) - 3), heartbeat)
        workers = [child(work) for _ in range(2)]
        os.close(heartbeat)
        if turn % 2:
            # Every other time let them get somewhere, however busy the machine: both ask three old questions.
            for _ in range(7):
                os.read(pulse, 1)
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


def test_sixteen_processes_never_overspend_a_budget_of_five(home: Home) -> None:
    """In every other race the racers also race to create the file."""
    for heat in range(max(2, either(2, 30) // min(2, home.stride))):
        path = home / f"{heat}.ledger"
        if heat % 2:
            opened(path, total=5).close()
        gate, starter = os.pipe()

        def run(name: int, path: Place = path, gate: int = gate, starter: int = starter) -> None:
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


@pytest.mark.parametrize("where", ["nameless", "named"])
def test_eight_threads_never_overspend_a_budget_of_five(home: Home, where: str) -> None:
    for heat in range(10 // home.stride):
        ledger = opened(None if where == "nameless" else home / f"{heat}.ledger", total=5)
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


def test_a_forked_process_shares_the_budget_of_a_file(home: Home) -> None:
    ledger = opened(home / "ledger")
    ledger.release("parent", "q", COST, token)
    assert ending(child(lambda: ledger.release("child", "q", COST, token))) == 0
    assert ledger.spent == 2 * COST
    assert [run.name for run in ledger.runs()] == ["parent", "child"]


def test_a_forked_process_loses_nothing_when_its_parent_closes_the_file(home: Home) -> None:
    """The last to close a file tidies its log away; a child must count as one who has it open."""
    ledger = opened(home / "ledger")
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
    with opened(home / "ledger") as again:
        assert charged(again) == ["q", "before", "after"]
        assert again.verify() == []


def test_a_process_may_fork_while_its_threads_release(home: Home) -> None:
    ledger = opened(home / "ledger", total=1000)
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


def test_a_pickled_ledger_is_the_same_file(home: Home) -> None:
    ledger = opened(home / "ledger")
    copy = pickle.loads(pickle.dumps(ledger))
    copy.release("run", "q", COST, token)
    assert ledger.spent == COST
    reader = pickle.loads(pickle.dumps(Ledger.read(home / "ledger")))
    with pytest.raises(LedgerError, match="nothing was released"):
        reader.release("run", "another", COST, never)


def test_a_ledger_in_memory_cannot_be_pickled() -> None:
    with pytest.raises(LedgerError, match="cannot be copied"):
        pickle.dumps(opened(None))
