"""The ledger under faults, races and kills: what comes out was paid for, and nothing is paid twice."""

from __future__ import annotations

import os
import secrets
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from sulq.audits.findings import AuditFinding, Check, Effort, all_of, not_tried
from sulq.errors import BudgetError
from sulq.ledger.ledger import Ledger
from sulq.ledger.purpose import JSON

FACTS: dict[str, JSON] = {"schema": "audit", "rows": 10}
FORKS = hasattr(os, "fork") and sys.platform != "win32"


def opened(path: Path | None, total: int) -> Ledger:
    return Ledger(path, "epsilon", Fraction(total), FACTS)


def races(effort: Effort) -> Iterator[AuditFinding]:
    """Many who see budget left at once: no more is released than there is."""
    failures, heats = [], 3 if effort == "quick" else 100
    with tempfile.TemporaryDirectory() as folder:
        for heat in range(heats):
            ledger = opened(Path(folder, f"{heat}.ledger") if heat % 2 else None, 5)
            start = threading.Barrier(8)

            def run(name: int, ledger: Ledger = ledger, start: threading.Barrier = start) -> bool:
                start.wait()
                try:
                    ledger.release(f"run {name}", "q", Fraction(1), lambda: "released")
                except BudgetError:
                    return False
                return True

            with ThreadPoolExecutor(8) as pool:
                released = sum(pool.map(run, range(8)))
            if released != 5 or ledger.spent != 5 or ledger.verify():
                failures.append(f"8 threads: {released} answers for 5, {ledger.spent} spent")
            ledger.close()
    yield all_of("8 threads and a budget for 5", "5 answers", failures, heats)
    if not FORKS:
        return
    failures, heats = [], 2 if effort == "quick" else 40
    with tempfile.TemporaryDirectory() as folder:
        for heat in range(heats):
            path = Path(folder, f"{heat}.ledger")

            def release(name: int, path: Path = path) -> None:
                opened(path, 5).release(f"run {name}", "q", Fraction(1), lambda: "released")

            endings = [ending(each) for each in [child(partial(release, name)) for name in range(10)]]
            with opened(path, 5) as ledger:
                if endings.count(0) != 5 or ledger.spent != 5 or ledger.verify():
                    failures.append(f"10 processes: {endings.count(0)} answers for 5, {ledger.spent} spent")
    yield all_of("10 processes and a budget for 5", "5 answers", failures, heats)


def kills(effort: Effort) -> Iterator[AuditFinding]:
    """Processes that are killed at any moment: every answer that came out is in the ledger, and paid."""
    if not FORKS:
        yield not_tried("processes that are killed", "this system does not fork")
        return
    failures, turns = [], 12 if effort == "quick" else 400
    with tempfile.TemporaryDirectory() as folder:
        path, received = Path(folder, "killed.ledger"), Path(folder, "received")
        received.touch()
        before: dict[str, str] = {}
        for turn in range(turns):
            first = max(0, len(before) - 2)
            worker = child(partial(_ask_forever, path, received, first))
            time.sleep(0.02 + 0.004 * (turn % 9))
            os.kill(worker, signal.SIGKILL)
            ending(worker)
            with opened(path, 10**6) as ledger:
                entries = list(ledger.entries())
                stored = {entry.question: str(entry.answer) for entry in entries if entry.answer is not None}
                charged = [entry.question for entry in entries if entry.answer is None]
                lines = [
                    line.split(" ") for line in received.read_text().splitlines() if line.count(" ") == 1
                ]
                wrong = [question for question, answer in lines if stored.get(question) != answer]
                if (
                    wrong
                    or len(set(charged)) != len(charged)
                    or not set(stored) <= set(charged)
                    or ledger.verify()
                ):
                    failures.append(
                        f"after kill {turn + 1}: {len(wrong)} answers that nobody paid for, or a broken "
                        "ledger"
                    )
                if any(stored.get(question) != answer for question, answer in before.items()):
                    failures.append(f"after kill {turn + 1}: a stored answer was changed")
                before = stored
    yield all_of(
        f"{turns} kills at any moment",
        "every answer that came out was charged first, once, and is stored",
        failures,
        turns,
    )


def _ask_forever(path: Path, received: Path, first: int) -> None:
    ledger = opened(path, 10**6)
    with received.open("a") as out:
        for number in range(first, first + 10**6):
            answer = ledger.release("run", f"q{number}", Fraction(1, 10), lambda: secrets.token_hex(4))
            out.write(f"q{number} {answer}\n")
            out.flush()


def child(work: Callable[[], Any]) -> int:
    """A process that does this, and ends with 0 if it went well."""
    process = os.fork()
    if process:
        return process
    code = 1
    try:
        work()
        code = 0
    finally:
        os._exit(code)


def ending(process: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


CHECKS = (
    Check("races", "Double spending", "Threads and processes that all see budget left, at once.", races),
    Check(
        "kills",
        "Crashes",
        "A process that asks and asks is killed at any moment; what it had passed on is compared with the "
        "ledger.",
        kills,
    ),
)
