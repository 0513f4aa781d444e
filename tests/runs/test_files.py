"""A result is in its file as a whole, or the file is as it was."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest

from sulq.cli import main
from sulq.errors import SulqError
from sulq.runs.files import write_whole
from tests.commands.people import write_people
from tests.ledger.ledgers import KILLED, child, ending


def test_a_kill_in_the_middle_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "tree.json"
    path.write_text("before")

    def work() -> None:
        monkeypatch.setattr(os, "fsync", lambda _: os._exit(KILLED))
        write_whole(path, "after" * 100_000)

    assert ending(child(work)) == KILLED
    assert path.read_text() == "before"
    write_whole(path, "after")
    assert path.read_text() == "after"


def test_a_full_disk_leaves_the_file_as_it_was_and_nothing_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "tree.json"
    path.write_text("before")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(SulqError, match=r"cannot write .*tree.json: No space left on device"):
        write_whole(path, "after")
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_keeps_its_permissions_and_a_new_one_gets_the_usual(tmp_path: Path) -> None:
    kept, new, usual = tmp_path / "kept", tmp_path / "new", tmp_path / "usual"
    kept.write_text("before")
    kept.chmod(0o640)
    usual.write_text("")
    write_whole(kept, "after")
    write_whole(new, "after")
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (kept, new, usual)]
    assert modes == [0o640, modes[2], modes[2]]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("before")
    link.symlink_to(target)
    write_whole(link, "after")
    assert link.is_symlink()
    assert target.read_text() == "after"


def test_a_pipe_or_a_device_is_written_as_it_is(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_whole(pipe, "after")
    assert os.read(reader, 100) == b"after"
    os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    write_whole(os.devnull, "after")


def test_a_file_that_fails_does_not_keep_the_other_from_being_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    people = write_people(tmp_path)
    report, json = tmp_path / "tree.html", tmp_path / "tree.json"
    replace = Path.replace

    def failing(self: Path, target: Any) -> Path:
        if Path(target).name == "tree.html":
            raise OSError(28, "No space left on device")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", failing)
    command = ["learn", "tree", *people, "--label", "flu", "--epsilon", "1"]
    assert main([*command, "--report", str(report), "--json", str(json)]) == 2
    said = capsys.readouterr()
    assert "error at 95 %" in said.out, "what was learned is shown all the same"
    assert f"cannot write {report}: No space left on device; the same command again costs nothing" in said.err
    assert json.exists()
    assert not report.exists()
