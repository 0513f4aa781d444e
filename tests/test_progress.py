"""Bars are drawn for a person who waits at a terminal; sources say how far they are, and draw nothing."""

from __future__ import annotations

import io
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

import pytest

import sulq
from sulq import progress
from sulq.reporting import Progress, listening


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def drawn(monkeypatch: pytest.MonkeyPatch, screen: io.StringIO, patience: float, shown: bool = True) -> str:
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setattr(progress, "PATIENCE", patience)
    with progress.shown() if shown else nullcontext(), Progress("summing", 10) as work:
        for _ in range(10):
            work.advance(1)
    return screen.getvalue()


class Heard:
    """A listener that writes down what it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, int | None, int]] = []

    def __call__(self, what: str, total: int | None) -> AbstractContextManager[Callable[[int], None]]:
        return nullcontext(lambda done: self.told.append((what, total, done)))


def test_a_bar_is_drawn_on_a_terminal_once_it_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "summing" in drawn(monkeypatch, Terminal(), patience=-1)
    assert drawn(monkeypatch, Terminal(), patience=60) == ""


def test_nothing_is_drawn_where_nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    assert drawn(monkeypatch, io.StringIO(), patience=-1) == ""


def test_nothing_is_drawn_unless_somebody_asked_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert drawn(monkeypatch, Terminal(), patience=-1, shown=False) == ""


def test_a_source_says_how_far_it_has_read_and_summed() -> None:
    people, heard = sulq.open({"sick": [True] * 10}, {"sick": sulq.Boolean()}), Heard()
    with listening(heard):
        people.sums([sulq.col("sick")])
    assert {what for what, _, _ in heard.told} == {"reading", "summing"}
    assert ("reading", 10, 10) in heard.told
    assert heard.told[-1] == ("summing", 10, 10)
    people.sums([sulq.col("sick")])
    assert heard.told[-1] == ("summing", 10, 10), "nobody is told any more"


def test_of_work_within_other_work_only_the_outer_is_told() -> None:
    heard = Heard()
    with listening(heard):
        with Progress("all of it", 2) as outer:
            with Progress("a part of it", 5) as inner:
                inner.advance(5)
            outer.advance(2)
        with Progress("more", 1) as later:
            later.advance(1)
    assert heard.told == [("all of it", 2, 2), ("more", 1, 1)]


def test_what_is_done_in_several_threads_adds_up() -> None:
    heard = Heard()
    with listening(heard), Progress("summing", 4000) as work:
        threads = [threading.Thread(target=lambda: [work.advance(1) for _ in range(1000)]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert work.done == 4000
    assert [done for _, _, done in heard.told] == list(range(1, 4001))


def test_the_command_line_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    from sulq import cli

    def work(console: object) -> None:
        with Progress("demonstrating", 1) as demonstration:
            demonstration.advance(1)

    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setattr(progress, "PATIENCE", -1)
    monkeypatch.setattr(cli, "demo", work)
    assert cli.main(["demo"]) == 0
    assert "demonstrating" in screen.getvalue()


def test_importing_sulq_does_not_import_what_draws() -> None:
    code = "import sys, sulq; sys.exit('rich.progress' in sys.modules or 'sulq.progress' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
