from __future__ import annotations

import io

import pytest

from sulq import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(monkeypatch: pytest.MonkeyPatch, screen: io.StringIO, patience: float) -> str:
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setattr(progress, "PATIENCE", patience)
    with progress.Progress("summing", 10) as bar:
        for _ in range(10):
            bar.advance(1)
    return screen.getvalue()


def test_a_bar_is_drawn_on_a_terminal_once_it_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "summing" in shown(monkeypatch, Terminal(), patience=-1)
    assert shown(monkeypatch, Terminal(), patience=60) == ""


def test_nothing_is_drawn_where_nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(monkeypatch, io.StringIO(), patience=-1) == ""
