"""Matrices on one thread.

Those of a few hundred columns gain little from more, and on a busy machine lose much: threads that wait for
each other keep the processors that they wait for.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar

from threadpoolctl import ThreadpoolController

P = ParamSpec("P")
R = TypeVar("R")


def one_thread() -> AbstractContextManager[Any]:
    """Within this, NumPy's matrices are worked on by one thread.

    >>> with one_thread():
    ...     pass
    """
    return _libraries().limit(limits=1, user_api="blas")  # type: ignore[no-any-return]


def on_one_thread(function: Callable[P, R]) -> Callable[P, R]:
    """A function that works on one thread.

    Args:
        function: what works on matrices.

    >>> on_one_thread(abs)(-1)
    1
    """

    @wraps(function)
    def alone(*args: P.args, **settings: P.kwargs) -> R:
        with one_thread():
            return function(*args, **settings)

    return alone


@cache
def _libraries() -> ThreadpoolController:
    """What NumPy has loaded: to look it up takes a while."""
    return ThreadpoolController()
