"""Many people send at once, and share a commit: each waits for the disk, and one serves all who wait.

Whoever sends is answered after the commit that holds what they sent. One thread writes, batch after batch;
while it waits for the disk, the next batch gathers.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue

from sulq.errors import SulqError
from sulq.serve.logs import note
from sulq.survey.accepting import SentOutcome
from sulq.survey.database import CommitLostError
from sulq.survey.kept import Sent

MOST = 1024
"""How many share a commit at most."""
MOST_WAITING = 20_000
Waiting = tuple[Sent, "asyncio.Future[SentOutcome]"]


class Intake:
    """Hands what people send to a collector, in batches.

    Args:
        accept: counts a batch durably, as `Collector.accept` does.

    >>> async def main():
    ...     intake = Intake(lambda sent: ["accepted"] * len(sent))
    ...     try:
    ...         return await asyncio.gather(*(intake.submit(Sent(1, None, ())) for _ in range(3)))
    ...     finally:
    ...         intake.close()
    >>> asyncio.run(main())
    ['accepted', 'accepted', 'accepted']
    """

    def __init__(self, accept: Callable[[Sequence[Sent]], list[SentOutcome]]) -> None:
        self._accept = accept
        self._queue: SimpleQueue[Waiting | None] = SimpleQueue()
        self._closed = False
        self._writer = threading.Thread(target=self._write, name="intake", daemon=True)
        self._writer.start()

    def submit(self, sent: Sent) -> asyncio.Future[SentOutcome]:
        """Count what was sent; the outcome comes after the commit.

        Args:
            sent: what one person's device sent.
        """
        if self._closed or self._queue.qsize() >= MOST_WAITING:
            raise SulqError("too many send at once: send again in a minute")
        future: asyncio.Future[SentOutcome] = asyncio.get_running_loop().create_future()
        self._queue.put((sent, future))
        return future

    def close(self) -> None:
        """Count what waits, and then nothing more."""
        self._closed = True
        self._queue.put(None)
        self._writer.join()

    def _write(self) -> None:
        going = True
        while going:
            batch: list[Waiting] = []
            first = self._queue.get()
            if first is None:
                return
            batch.append(first)
            while len(batch) < MOST:
                try:
                    more = self._queue.get_nowait()
                except Empty:
                    break
                if more is None:
                    going = False
                    break
                batch.append(more)
            self._commit(batch)

    def _commit(self, batch: list[Waiting]) -> None:
        outcomes: list[SentOutcome] | BaseException
        try:
            outcomes = self._accept([sent for sent, _ in batch])
        except Exception as error:
            # Nothing of it was written, and what one person sent must not stop the others. But what may have
            # been written is not counted a second time: whoever sends again hears "used" if it was.
            if len(batch) > 1 and not isinstance(error, CommitLostError):
                for each in batch:
                    self._commit([each])
                return
            note("failed", error=type(error).__name__)
            outcomes = error
        futures = [future for _, future in batch]
        loop = futures[0].get_loop()
        if not loop.is_closed():
            loop.call_soon_threadsafe(_settle, futures, outcomes)


def _settle(futures: list[asyncio.Future[SentOutcome]], outcomes: list[SentOutcome] | BaseException) -> None:
    for place, future in enumerate(futures):
        if future.done():  # whoever sent is gone
            continue
        if isinstance(outcomes, BaseException):
            future.set_exception(SulqError("the collector could not keep this: send again in a minute"))
        else:
            future.set_result(outcomes[place])
