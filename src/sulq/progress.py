"""A progress bar, shown only to a person and only when there is something to wait for."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType

import rich.console
import rich.progress

PATIENCE = 1.0
"""Seconds before a bar appears."""


class Progress:
    """Counts what is done; draws it on a terminal once it takes longer than a moment.

    >>> with Progress("summing", 3) as progress:
    ...     progress.advance(3)
    """

    def __init__(self, what: str, total: int | None) -> None:
        self._what = what
        self._total = total
        self.done = 0
        self._started = time.monotonic()
        self._lock = threading.Lock()
        self._bar: rich.progress.Progress | None = None

    def advance(self, amount: int) -> None:
        """Say that this much more is done; from any thread."""
        with self._lock:
            self.done += amount
            if self._bar is None and time.monotonic() - self._started > PATIENCE and sys.stderr.isatty():
                self._bar = _bar()
                self._bar.start()
                self._bar.add_task(self._what, total=self._total)
            if self._bar is not None:
                self._bar.update(self._bar.task_ids[0], completed=self.done)

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()


def _bar() -> rich.progress.Progress:
    return rich.progress.Progress(
        rich.progress.TextColumn("{task.description}"),
        rich.progress.BarColumn(),
        rich.progress.TaskProgressColumn(),
        rich.progress.TimeRemainingColumn(),
        console=rich.console.Console(stderr=True),
        transient=True,
    )
