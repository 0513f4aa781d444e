"""Whoever interrupts a long read or sum, or whatever fails in one thread, stops all threads soon."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence

import polars  # noqa: F401, it changes how interrupts reach a thread that waits
import pyarrow as pa
import pytest

import sulq
from sulq.queries.scope import Scope
from sulq.schema import Schema
from sulq.sources.loading import Columns
from sulq.sources.passes import share_out
from sulq.sources.pieces import Piece
from sulq.sources.table import TableSource

MANY = 2000
"""Pieces of a part; to read them all takes ten seconds."""


@pytest.fixture(autouse=True)
def interruptible() -> Iterator[None]:
    """Where tests run in the background, a shell may have told them to ignore interrupts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class Slow:
    """Rows that come in two parts, slowly, and a moment at which something happens."""

    types = {"sick": pa.bool_()}  # noqa: RUF012
    whole = False

    def __init__(self, at_fifth: Callable[[], None]) -> None:
        self.at_fifth = at_fifth
        self.many, self.pause = MANY, 0.005
        self.read = 0

    @property
    def rows(self) -> int:
        return 2 * self.many

    def parts(self, columns: Sequence[str], many: int) -> list[Iterator[Piece]]:
        return [self._part(0), self._part(self.many)]

    def _part(self, first: int) -> Iterator[Piece]:
        for start in range(first, first + self.many):
            time.sleep(self.pause)
            self.read += 1
            if start == 5:
                self.at_fifth()
            yield "sick", start, pa.array([True])


def slow(at_fifth: Callable[[], None]) -> tuple[Slow, TableSource]:
    rows = Slow(at_fifth)
    scope = Scope(Schema({"sick": sulq.Boolean()}))
    return rows, TableSource(Columns(rows, scope, 10**9, threads=2))


def test_an_interrupted_read_ends_soon_as_an_interrupt() -> None:
    rows, source = slow(lambda: os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        source.exact().ask(sulq.Round([sulq.count(where=sulq.col("sick"))]))
    assert 5 < rows.read < MANY / 2


def test_a_read_that_fails_in_one_thread_ends_soon_in_the_others() -> None:
    def fail() -> None:
        raise sulq.SulqError("cannot be read")

    rows, source = slow(fail)
    with pytest.raises(sulq.SulqError, match="cannot be read"):
        source.exact().ask(sulq.Round([sulq.count(where=sulq.col("sick"))]))
    assert 5 < rows.read < MANY / 2


def test_an_interrupted_sum_ends_soon_and_is_right_the_next_time(monkeypatch: pytest.MonkeyPatch) -> None:
    people = sulq.open({"sick": [True] * 10}, {"sick": sulq.Boolean()}, threads=2)
    asked = sulq.Round([sulq.count(where=sulq.col("sick"))])
    people.exact().ask(asked)
    done = 0

    def work(_: object, task: int) -> None:
        nonlocal done
        time.sleep(0.005)
        done += 1
        if task == 5:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        share_out(work, [None, None], iter(range(MANY)))
    assert 5 < done < MANY / 2
    assert people.exact().ask(asked)[0].value == 10


def test_a_charge_that_was_interrupted_stays_and_the_answer_comes_at_no_further_cost() -> None:
    rows, source = slow(lambda: os.kill(os.getpid(), signal.SIGINT))
    curator = source.curator(epsilon=1, neighbours="add-remove")
    asked = sulq.Round([sulq.count(where=sulq.col("sick"))], share="1/2")
    with pytest.raises(KeyboardInterrupt):
        curator.ask(asked)
    assert curator.spent == curator.ledger.total / 2
    rows.pause, rows.at_fifth = 0, lambda: None
    curator.ask(asked)
    assert curator.spent == curator.ledger.total / 2
