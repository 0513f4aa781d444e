"""No cap is exceeded, however many charge at once and wherever one of them is broken off."""

from __future__ import annotations

import itertools
import os
import statistics
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from functools import partial

import pytest

from sulq.errors import BudgetError
from tests.ledger.homes import Home, Place
from tests.ledger.ledgers import (
    ADA,
    BOB,
    COST,
    Stepping,
    capped,
    child,
    ending,
    opened,
    token,
)


def race(path: Place, names: list[str]) -> list[int]:
    """Let one process for each name ask for 1 at the same moment; 0 for each who got it, 1 for each refused."""
    gate, starter = os.pipe()

    def run(number: int, name: str) -> None:
        os.close(starter)
        os.read(gate, 1)
        opened(path, total=6).release(
            f"run {number % 3}", token(), Fraction(1), token, account=f"analyst:{name}"
        )

    runners = [child(partial(run, number, name)) for number, name in enumerate(names)]
    os.close(gate)
    os.close(starter)
    return [ending(runner) for runner in runners]


@pytest.mark.parametrize("heat", range(3))
def test_sixteen_processes_exceed_no_cap(home: Home, heat: int) -> None:
    """Two analysts with a cap of 2 each, and one without, race for 6."""
    path = home / "ledger"
    capped(path, total=6, ada=Fraction(2), bob=Fraction(2)).close()
    names = ["ada"] * 5 + ["bob"] * 5 + ["carl"] * 6
    released = [name for name, status in zip(names, race(path, names), strict=True) if status == 0]
    with opened(path, total=6) as ledger:
        assert (ledger.remaining, ledger.verify()) == (0, [])
        assert released.count("ada") == ledger.spent_of(ADA) <= 2
        assert released.count("bob") == ledger.spent_of(BOB) <= 2
        assert len(released) == 6


def test_sixteen_processes_exceed_no_cap_of_a_run(home: Home) -> None:
    """Three runs with 1 each: three of sixteen get through, one in each run."""
    path = home / "ledger"
    with opened(path, total=6) as ledger:
        ledger.set_cap("run:*", Fraction(1))
    assert sorted(race(path, ["ada"] * 16)) == [0] * 3 + [1] * 13
    with opened(path, total=6) as ledger:
        assert [ledger.spent_of(f"run:run {number}") for number in range(3)] == [1, 1, 1]
        assert (ledger.spent_of(ADA), ledger.verify()) == (3, [])


def test_eight_threads_exceed_no_cap(home: Home) -> None:
    ledger = capped(total=10, ada=Fraction(3))
    start = threading.Barrier(8)

    def run(number: int) -> bool:
        start.wait()
        try:
            ledger.release(f"run {number}", "q", Fraction(1), token, account=ADA)
        except BudgetError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(run, range(8))) == 3
    assert (ledger.spent, ledger.spent_of(ADA), ledger.verify()) == (3, 3, [])


def test_a_charge_or_a_cap_that_is_broken_off_at_any_step_counts_everywhere_or_nowhere(
    stepping: type[Stepping], home: Home
) -> None:
    for steps in itertools.count(0, home.stride):
        ledger = capped(ada=COST)
        left = itertools.count(steps, -1)

        def step(left: Iterator[int] = left) -> None:
            if next(left) == 0:
                raise KeyboardInterrupt

        try:
            stepping.step = staticmethod(step)
            ledger.release("tree", "q", COST, token, account=ADA)
            ledger.set_cap("run:*", 2 * COST)
            break  # more steps than there are
        except KeyboardInterrupt:
            stepping.step = staticmethod(lambda: None)
        assert ledger.verify() == []
        assert ledger.spent == ledger.spent_of(ADA) == ledger.spent_of("run:tree")
        ledger.release("tree", "q", COST, token, account=ADA)
        ledger.set_cap("run:*", 2 * COST)
        assert (ledger.spent_of(ADA), ledger.remaining_of("run:tree"), ledger.verify()) == (COST, COST, [])
    assert steps > 40


def test_with_caps_a_late_release_takes_no_more_steps_than_an_early_one() -> None:
    ledger = capped(total=10_000, ada=Fraction(10_000))
    ledger.set_cap("run:*", Fraction(10_000))
    connection = ledger._store.connection()  # type: ignore[attr-defined]

    def steps(question: int) -> int:
        count = itertools.count()
        connection.set_progress_handler(lambda: next(count) < 0, 1)
        ledger.release("run", str(question), COST, token, account=ADA)
        connection.set_progress_handler(None, 1)
        return next(count)

    first = [steps(i) for i in range(40)]
    for i in range(40, 1000):
        ledger.release("run", str(i), COST, token, account=ADA)
    last = [steps(i) for i in range(1000, 1040)]
    assert statistics.median(last) < 1.1 * statistics.median(first)
