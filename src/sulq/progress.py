"""Progress bars, shown only to a person and only when there is something to wait for."""

from __future__ import annotations

import sys
import time
from contextlib import AbstractContextManager
from types import TracebackType

import rich.console
import rich.progress

from sulq.reporting import listening

PATIENCE = 1.0
"""Seconds before a bar appears."""


def shown() -> AbstractContextManager[None]:
    """Draw a bar for whatever takes longer than a moment within the `with` block, if there is a terminal.

    The `sulq` command does so by itself. In a script or a notebook it takes one line:

    >>> import sulq
    >>> from sulq.progress import shown
    >>> with shown():
    ...     [answer] = sulq.randhie().exact().ask(sulq.Round([sulq.count()]))
    """
    return listening(Bar)


class Bar:
    """Draws how much of a piece of work is done, on a terminal, once the work takes longer than a moment.

    Args:
        what: the name of the work.
        total: how much there is to do; None if that is not known.

    >>> with Bar("summing", 3) as done:
    ...     done(3)
    """

    def __init__(self, what: str, total: int | None) -> None:
        self._what = what
        self._total = total
        self._started = time.monotonic()
        self._bar: rich.progress.Progress | None = None

    def __call__(self, done: int) -> None:
        """Draw that this much is done so far."""
        if self._bar is None and time.monotonic() - self._started > PATIENCE and sys.stderr.isatty():
            self._bar = _bar()
            self._bar.start()
            self._bar.add_task(self._what, total=self._total)
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=done)

    def __enter__(self) -> Bar:
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
