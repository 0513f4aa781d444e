"""Whoever works with matrices leaves the number of threads as they found it, in whatever order they leave."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sulq.loops import one_thread
from sulq.loops.one_thread import OneThread


@pytest.fixture
def two_threads() -> Iterator[None]:
    before = [(each, each.num_threads) for each in one_thread._libraries()]
    for each, _ in before:
        each.set_num_threads(2)
    yield
    for each, number in before:
        each.set_num_threads(number)


def threads() -> set[int]:
    return {each.num_threads for each in one_thread._libraries()}


def test_who_leaves_last_takes_it_back(two_threads: None) -> None:
    alone = OneThread()
    before = threads()
    alone.__enter__()
    alone.__enter__()  # another thread, which does not know of the first
    assert threads() == {1}
    alone.__exit__()
    assert threads() == {1}
    alone.__exit__()
    assert threads() == before


def test_an_error_takes_it_back_too(two_threads: None) -> None:
    before = threads()
    with pytest.raises(ZeroDivisionError), OneThread():
        raise ZeroDivisionError
    assert threads() == before
