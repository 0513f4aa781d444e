"""When an answer leaves: at a time that follows from public facts, because running times tell.

How long a sum takes may depend on the rows: on how many meet a condition, or on what lies in a cache. So an
answer waits for the next time of a public grid: `first` seconds after its request arrived, or 2, 4, 8, …
times that. All that is left to see is which of these it was, and a doubling grid has few of them.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

from sulq.errors import QueryError


@dataclass(frozen=True)
class Schedule:
    """The times at which answers leave.

    Args:
        first: the first of them, in seconds after the request arrived; 0 lets answers leave when they are
            ready, which is not private.

    >>> Schedule(0.1).after(0.02), Schedule(0.1).after(0.25), Schedule(0).after(0.25)
    (0.1, 0.4, 0.25)
    """

    first: float = 0.1

    def __post_init__(self) -> None:
        number = not isinstance(self.first, bool) and isinstance(self.first, int | float)
        if not number or not 0 <= self.first <= 3600:
            raise QueryError(f"the schedule's first time is 0 to 3600 seconds, not {self.first!r}")

    def after(self, seconds: float) -> float:
        """When an answer leaves that was ready after so many seconds."""
        if self.first == 0:
            return seconds
        leaves = float(self.first)
        while leaves < seconds:
            leaves *= 2
        return leaves

    async def wait(self, arrived: float) -> None:
        """Wait until an answer may leave.

        Args:
            arrived: when its request arrived, by `time.monotonic`.
        """
        if self.first:
            leaves = arrived + self.after(time.monotonic() - arrived)
            await asyncio.sleep(max(0.0, leaves - time.monotonic()))
