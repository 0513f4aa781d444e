"""Matrices on one thread.

Those of a few hundred columns gain little from more, and on a busy machine lose much: threads that wait for
each other keep the processors that they wait for.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar

from threadpoolctl import ThreadpoolController

P = ParamSpec("P")
R = TypeVar("R")


class OneThread:
    """Within this, NumPy's matrices are worked on by one thread.

    Who comes first sets that, for the whole process, and who leaves last takes it back.

    >>> with one_thread:
    ...     pass
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._before: list[tuple[Any, int]] = []

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                threads = [(library, library.num_threads) for library in _libraries()]
                self._before = [(library, number) for library, number in threads if number != 1]
                for library, _ in self._before:
                    library.set_num_threads(1)
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                for library, number in self._before:
                    library.set_num_threads(number)

    def forked(self) -> None:
        """In a child process, of whose parent other threads were inside."""
        self._lock = threading.Lock()


one_thread = OneThread()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=one_thread.forked)


def on_one_thread(function: Callable[P, R]) -> Callable[P, R]:
    """A function that works on one thread.

    Args:
        function: what works on matrices.

    >>> on_one_thread(abs)(-1)
    1
    """

    @wraps(function)
    def alone(*args: P.args, **settings: P.kwargs) -> R:
        with one_thread:
            return function(*args, **settings)

    return alone


@cache
def _libraries() -> list[Any]:
    """What NumPy has loaded: to look it up takes a while."""
    return [each for each in ThreadpoolController().lib_controllers if each.user_api == "blas"]
