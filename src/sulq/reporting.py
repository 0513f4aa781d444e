"""How far a long piece of work has come: whoever does the work says it, and whoever listens may draw it.

Nothing is drawn here. `sulq.progress` draws bars on a terminal.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import TypeAlias

Listener: TypeAlias = Callable[[str, int | None], AbstractContextManager[Callable[[int], None]]]
"""Takes the name of a piece of work and its total, if that is known, and is told how much is done so far."""

_LISTENER: ContextVar[Listener | None] = ContextVar("sulq_listener", default=None)


@contextmanager
def listening(listener: Listener | None) -> Iterator[None]:
    """Tell a listener of all work that begins within the `with` block, in this thread.

    Args:
        listener: called at the beginning of each piece of work; None for nobody.

    >>> from contextlib import nullcontext
    >>> def listener(what, total):
    ...     print(f"{what}, {total} in all")
    ...     return nullcontext(print)
    >>> with listening(listener), Progress("summing", 3) as progress:
    ...     progress.advance(2)
    ...     progress.advance(1)
    summing, 3 in all
    2
    3
    """
    before = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(before)


class Progress:
    """Counts what is done of a piece of work, and tells whoever listens where the work began.

    Work within other work is not told: the outer work is what somebody waits for.

    Args:
        what: a name for the work, such as "reading".
        total: how much there is to do; None if that is not known.

    >>> with Progress("summing", 3) as progress:
    ...     progress.advance(3)
    >>> progress.done
    3
    """

    def __init__(self, what: str, total: int | None) -> None:
        self.done = 0
        self._what = what
        self._total = total
        self._lock = threading.Lock()
        self._tell: Callable[[int], None] | None = None
        self._until_the_end = ExitStack()

    def advance(self, amount: int) -> None:
        """Say that this much more is done; from any thread."""
        with self._lock:
            self.done += amount
            if self._tell is not None:
                self._tell(self.done)

    def __enter__(self) -> Progress:
        listener = _LISTENER.get()
        if listener is not None:
            self._until_the_end.enter_context(listening(None))
            self._tell = self._until_the_end.enter_context(listener(self._what, self._total))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._until_the_end.__exit__(kind, error, trace)
