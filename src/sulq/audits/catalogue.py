"""All that the audit tries, and running it: check by check, several at once where there are several cores."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sulq.audits import (
    attempts,
    choices,
    conversions,
    costs,
    curators,
    devices,
    laws,
    learners,
    ledger_faults,
    ledgers,
    parties,
    promised,
    public_facts,
    randomizers,
    sensitivity,
    services,
    vectors,
)
from sulq.audits.findings import AuditFinding, Check, Effort, exact
from sulq.errors import SulqError
from sulq.reporting import Progress

MODULES = (
    laws,
    choices,
    randomizers,
    conversions,
    costs,
    sensitivity,
    curators,
    learners,
    ledgers,
    ledger_faults,
    attempts,
    public_facts,
    promised,
    parties,
    devices,
    services,
    vectors,
)
CHECKS: dict[str, Check] = {check.name: check for module in MODULES for check in module.CHECKS}
FIRST = ("parity", "transcripts", "randomizers", "sensitivity", "errors", "learners", "noise")
"""What takes longest begins first, so that no core waits for it in the end."""


@dataclass(frozen=True)
class Examined:
    """A check, what it found, and how long it took.

    Args:
        check: the name of the check.
        findings: what it found.
        seconds: how long it took.
    """

    check: str
    findings: tuple[AuditFinding, ...]
    seconds: float

    @property
    def holds(self) -> bool:
        """Whether every claim withstood."""
        return all(finding.holds for finding in self.findings)

    @property
    def tried(self) -> tuple[AuditFinding, ...]:
        """The findings about what could be examined here."""
        return tuple(finding for finding in self.findings if finding.tried)

    @property
    def form(self) -> dict[str, Any]:
        """What was found, as plain data."""
        about = CHECKS[self.check]
        found = [finding.form for finding in self.findings]
        return {
            "check": self.check,
            "title": about.title,
            "how": about.how,
            "holds": self.holds,
            "seconds": round(self.seconds, 2),
            "findings": found,
        }


def named(names: Iterable[str]) -> list[str]:
    """The names of checks, all of them if none is named; refused if one is not known.

    >>> named(["coins"])
    ['coins']
    >>> named(["luck"])
    Traceback (most recent call last):
    sulq.errors.SulqError: there is no check 'luck'; there are answers, calibration, coins, ...
    """
    chosen = list(dict.fromkeys(names)) or list(CHECKS)
    for name in chosen:
        if name not in CHECKS:
            raise SulqError(f"there is no check {name!r}; there are {', '.join(sorted(CHECKS))}")
    return chosen


def examine(name: str, effort: Effort = "quick") -> Examined:
    """Run one check. A check that fails to run has found something: that is a finding as well.

    Args:
        name: its name.
        effort: "quick" or "full".

    >>> examine("poisoning").holds
    True
    """
    begun = time.monotonic()
    findings: list[AuditFinding] = []
    try:
        findings.extend(CHECKS[name].run(effort))
    except Exception as error:
        where = f"{type(error).__name__}: {error}"
        findings.append(exact(CHECKS[name].title, "the check runs", where, "any error", False))
    return Examined(name, tuple(findings), time.monotonic() - begun)


def audited(names: Sequence[str], effort: Effort = "quick", jobs: int | None = None) -> Iterator[Examined]:
    """Run checks, and say of each what it found as soon as it has ended.

    Args:
        names: their names.
        effort: "quick" or "full".
        jobs: how many run at once; by default one a core, but not more than two.
    """
    at_once = min(2, os.cpu_count() or 1, len(names)) if jobs is None else jobs
    order = sorted(names, key=lambda name: FIRST.index(name) if name in FIRST else len(FIRST))
    with Progress("auditing", len(names)) as progress:
        if at_once < 2:
            for name in order:
                yield examine(name, effort)
                progress.advance(1)
            return
        # Fresh processes: the checks of the ledger fork, which a process with threads must not.
        with ProcessPoolExecutor(at_once, multiprocessing.get_context("spawn")) as pool, _ending_with_us():
            for ended in as_completed([pool.submit(examine, name, effort) for name in order]):
                yield ended.result()
                progress.advance(1)


@contextmanager
def _ending_with_us() -> Iterator[None]:
    """Processes that are started within end once nobody waits for them, in the middle of a check, too."""
    before = set(multiprocessing.active_children())
    try:
        with _told_to_end():
            yield
    except BaseException:
        for process in set(multiprocessing.active_children()) - before:
            process.terminate()
        raise


@contextmanager
def _told_to_end() -> Iterator[None]:
    """Whoever ends this process from outside interrupts it; only a process's main thread can see to that."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    former = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, former)


def _interrupt(number: int, _: Any) -> None:
    raise SystemExit(128 + number)
