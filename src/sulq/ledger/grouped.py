"""A store for many threads at once: one thread writes for all of them, and commits what they wrote together.

A durable commit waits for the disk. Where every thread commits for itself, the disk serves them one after
another, and whoever is unlucky waits long. Here threads take turns within one transaction, in the order in
which they came; then one commit serves all of them, and each goes on once that commit is done.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from typing import NoReturn

from sulq.errors import LedgerError, SulqError
from sulq.ledger.store import Store, Transaction
from sulq.privacy.memory import refuse_copy

MOST = 64
"""How many threads share a commit at most: others, also in other processes, want to write too."""


class _Turn:
    """One thread's part of a shared transaction."""

    def __init__(self) -> None:
        self.begun: Future[Transaction] = Future()
        self.ended = threading.Event()
        self.committed: Future[None] = Future()
        self.failure: BaseException | None = None


class GroupedStore(Store):
    """Another store, in which threads that write at the same time share a commit.

    What one thread does is undone if it raises a SulqError, and the others are not touched. If the database
    itself fails, all who shared the commit are told so, and nothing of theirs was written.

    A thread that is within a transaction must not begin another.

    Args:
        inner: the store that keeps the ledger.

    >>> from fractions import Fraction
    >>> from sulq.ledger.ledger import Ledger
    >>> from sulq.ledger.sqlite import SqliteStore
    >>> with Ledger(GroupedStore(SqliteStore(None)), "epsilon", Fraction(1), {}) as ledger:
    ...     ledger.release("tree", "how many?", Fraction(1, 4), lambda: "20187")
    '20187'
    """

    def __init__(self, inner: Store) -> None:
        self.inner = inner
        self.name = inner.name
        self.path = getattr(inner, "path", None)
        self.read_only = inner.read_only
        self._process = os.getpid()
        self._queue: SimpleQueue[_Turn | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._closed = False
        self._writer = threading.Thread(target=self._write, name="ledger", daemon=True)
        self._writer.start()

    def create(self, meta: Mapping[str, str]) -> None:
        self.inner.create(meta)

    def declared(self) -> dict[str, str]:
        return self.inner.declared()

    def upgrade(self) -> None:
        self.inner.upgrade()

    @contextmanager
    def transaction(self, write: bool) -> Iterator[Transaction]:
        if not write:
            with self.inner.transaction(False) as transaction:
                yield transaction
            return
        turn = _Turn()
        self._enqueue(turn)
        try:
            yield turn.begun.result()
        except BaseException as failure:
            turn.failure = failure
            turn.ended.set()
            if isinstance(failure, SulqError):
                raise
            turn.committed.result()  # what the database complains of, in words that say what to do
            raise
        turn.ended.set()
        turn.committed.result()

    def close(self) -> None:
        """Write for all who are waiting, and then for nobody."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._queue.put(None)
        self._writer.join()
        self.inner.close()

    def _enqueue(self, turn: _Turn) -> None:
        with self._lock:
            if self._closed or self._process != os.getpid():
                raise LedgerError(f"ledger {self.name} is closed; nothing was released; open it again")
            self._queue.put(turn)

    def _write(self) -> None:
        """What the writing thread does, until the store is closed."""
        while (first := self._queue.get()) is not None:
            group: list[_Turn] = []
            failure: BaseException | None = None
            try:
                with self.inner.transaction(True) as transaction:
                    going = self._share(transaction, first, group)
            except BaseException as error:
                failure, going = error, True
            for turn in group or [first]:
                _settle(turn, failure)
            if not going:
                return

    def _share(self, transaction: Transaction, first: _Turn, group: list[_Turn]) -> bool:
        """Give turns within one transaction to all who wait for one. False if the store is to be closed."""
        turn: _Turn | None = first
        while turn is not None:
            group.append(turn)
            _take(transaction, turn)
            if len(group) == MOST:
                return True
            try:
                turn = self._queue.get_nowait()
            except Empty:
                return True
        return False

    def __reduce__(self) -> NoReturn:
        refuse_copy("a ledger that a thread of this process writes", "open it again where it is needed")


def _take(transaction: Transaction, turn: _Turn) -> None:
    """One thread's turn. Only what it raises by itself is undone alone: the database may have undone all."""
    try:
        with transaction.nested():
            turn.begun.set_result(transaction)
            turn.ended.wait()
            if turn.failure is not None:
                raise turn.failure
    except SulqError:
        if turn.failure is None:
            raise


def _settle(turn: _Turn, failure: BaseException | None) -> None:
    """Tell a thread how its commit went; one that waits for its turn still is told there."""
    if failure is None:
        turn.committed.set_result(None)
        return
    if not turn.begun.done():
        turn.begun.set_exception(failure)
    turn.committed.set_exception(failure)
