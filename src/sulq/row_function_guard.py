"""Whether a Python row function is running: then nobody answers questions.

A row function runs on people's rows. A question that it asked would be asked, and charged, because of a row.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from sulq.errors import QueryError

_here = threading.local()

_NAMES = ["INT", "TERM", "HUP", "QUIT", "BREAK", "ALRM", "VTALRM", "PROF", "USR1", "USR2"]
_INTERRUPTING = [number for name in _NAMES if (number := getattr(signal, f"SIG{name}", None)) is not None]
"""Signals whose handlers may raise: they ask a program to end, or say that a time is over."""


def enter_row_function() -> None:
    """Say that from now on this thread does nothing but run a row function."""
    _here.inside = True


def refuse_row_functions() -> None:
    """Called by whoever answers or charges.

    >>> refuse_row_functions()
    """
    if getattr(_here, "inside", False):
        raise QueryError("a row function cannot ask questions of its own")


@contextmanager
def row_functions() -> Iterator[list[BaseException]]:
    """While it lasts, this thread runs row functions, and whoever runs them drops all that they raise.

    Handlers of signals run in between. What they raise would be dropped as well, so it is kept in the list
    that this gives, and raised in the end. Whoever runs functions looks at the list after each of them.

    >>> with row_functions() as interruptions:
    ...     try:
    ...         raise KeyboardInterrupt
    ...     except BaseException:
    ...         pass
    >>> interruptions
    []
    """
    interruptions: list[BaseException] = []
    # In other threads no handler runs.
    main = threading.current_thread() is threading.main_thread()
    handlers = {
        each: handler for each in _INTERRUPTING if main and callable(handler := signal.getsignal(each))
    }
    try:
        _here.inside = True
        for each, handler in handlers.items():
            signal.signal(each, _keeping(interruptions, handler))
        yield interruptions
    finally:
        _here.inside = False
        for each, handler in handlers.items():
            signal.signal(each, handler)
    if interruptions:
        # Its traceback leads through the function, where a row is.
        interruptions[0].__context__ = None
        raise interruptions[0].with_traceback(None)


def _keeping(
    interruptions: list[BaseException], handler: Callable[[int, FrameType | None], Any]
) -> Callable[[int, FrameType | None], None]:
    """The same handler, and what it raised is kept."""

    def handle(number: int, frame: FrameType | None) -> None:
        try:
            handler(number, frame)
        except BaseException as raised:
            interruptions.append(raised)
            raise

    return handle
