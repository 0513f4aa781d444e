"""Running totals of any number of blocks."""

from __future__ import annotations

import numpy as np
import pytest

from sulq.queries.facts import EXACT
from sulq.queries.kernel import Totals


@pytest.mark.parametrize("blocks", [1, 511, 512, 513, 2000])
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_no_number_of_blocks_overflows(blocks: int, threads: int) -> None:
    largest = np.array([EXACT, -EXACT, 1, 0])
    workers = [Totals([np.zeros(4, dtype=np.int64), np.zeros(1, dtype=np.int64)]) for _ in range(threads)]
    for block in range(blocks):
        workers[block % threads].add([largest, np.array([3])])
    first, *others = workers
    for other in others:
        first.merge(other)
    many, one = (total.tolist() for total in first.result())
    assert many == [blocks * EXACT, -blocks * EXACT, blocks, 0]
    assert one == [3 * blocks]
