"""Waiting for something, but not for ever."""

from __future__ import annotations

import time
from collections.abc import Callable


def wait_until(condition: Callable[[], bool], seconds: float = 120, every: float = 0.01) -> None:
    """Wait until a condition holds. If it does not come to hold, the test fails.

    Args:
        condition: what is waited for.
        seconds: how long, on a machine that is busy.
        every: seconds between two looks.
    """
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited {seconds} s in vain"
        time.sleep(every)
