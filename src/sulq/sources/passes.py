"""A pass over all rows: threads share out the blocks, and their integers are added up.

What comes out are integers that no order of rows, block size or number of threads can change.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from itertools import takewhile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sulq.loops.one_thread import one_thread
from sulq.queries.kernel import Kernel, Totals
from sulq.queries.node import Leaf, Node
from sulq.queries.scope import Floats, Scope
from sulq.reporting import Progress
from sulq.sources.storage import StoredColumn

HEED = 0.1
"""Seconds in which an interrupt is heeded, at most."""


def summed(
    parts: Sequence[Node],
    scope: Scope,
    rows: int,
    load: Callable[[Mapping[str, Leaf]], Mapping[str, StoredColumn]],
    threads: int,
) -> list[NDArray[np.object_]]:
    """What `Sums.sums` returns, of columns that are kept encoded.

    Args:
        parts: the row expressions to add up.
        scope: the scope of the source.
        rows: how many rows there are.
        load: the encoded columns of some leaves.
        threads: how many threads share the blocks.
    """
    different = {part.key: part for part in parts}
    kernel = Kernel(list(different.values()), scope, rows)
    columns = load(kernel.leaves)
    starts = range(0, rows, kernel.block)
    workers: list[tuple[Totals, dict[str, Floats]]] = [
        (kernel.nothing(), {}) for _ in range(max(1, min(threads, len(starts))))
    ]
    with Progress("summing", rows) as progress:

        def work(worker: tuple[Totals, dict[str, Floats]], start: int) -> None:
            totals, room = worker
            stop = min(start + kernel.block, rows)
            block = {key: column.read(start, stop) for key, column in columns.items()}
            totals.add(kernel.sums(block, stop - start, room))
            progress.advance(stop - start)

        if len(starts) == 1:
            work(workers[0], 0)  # to start a thread would take longer than the sums of a small table
        else:
            share_out(work, workers, iter(starts))
    running = workers[0][0]
    for totals, _ in workers[1:]:
        running.merge(totals)
    by_key = dict(zip(different, kernel.totals(running), strict=True))
    return [by_key[part.key] for part in parts]


def share_out(work: Callable[[Any, Any], None], own: Sequence[Any], tasks: Any) -> None:
    """Do every task, on as many threads as there are members of `own`, each with its own member.

    If one of them fails, or somebody interrupts, the others stop after the piece or the block at hand.
    """
    turn = threading.Lock()
    done = object()
    over = threading.Event()

    def labour(mine: Any) -> None:
        try:
            while not over.is_set():
                with turn:
                    task = next(tasks, done)
                if task is done:
                    return
                # A task may be a whole part of the rows, which is read piece by piece.
                work(mine, _until(over, task) if isinstance(task, Iterator) else task)
        except BaseException:
            over.set()
            raise

    # The blocks are small: BLAS with threads of its own would only get in the way of ours.
    with one_thread, ThreadPoolExecutor(len(own)) as pool:
        try:
            labours = [pool.submit(labour, mine) for mine in own]
            # Polars, once imported, keeps an interrupt from waking a thread that waits for long.
            while wait(labours, HEED, FIRST_EXCEPTION).not_done and not over.is_set():
                pass
            for finished in labours:
                finished.result()
        finally:
            over.set()


def _until(over: threading.Event, pieces: Iterator[Any]) -> Iterator[Any]:
    return takewhile(lambda _: not over.is_set(), pieces)
