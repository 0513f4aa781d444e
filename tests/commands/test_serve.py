"""`sulq serve` and `sulq key` on the command line."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sulq.cli import main
from sulq.serve.keys import Keys
from tests.serve.services import write_people


def test_a_check_says_what_would_be_served(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    people = write_people(tmp_path)
    command = ["serve", str(people), "--schema", str(tmp_path / "people.toml")]
    assert main([*command, "--epsilon", "1", "--check"]) == 0
    assert "people: ε = 1 (pure), replace, rows: 2,000, would be served" in capsys.readouterr().out
    assert not (tmp_path / "people.csv.ledger").exists()
    (tmp_path / "curator.toml").write_text(
        '[datasets.ours]\ndata = "people.csv"\nschema = "people.toml"\nrho = "1/8"\n'
    )
    assert main(["serve", str(tmp_path / "curator.toml"), "--check"]) == 0
    assert "ours: ρ = 0.125" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--epsilon", "1"], "Give --schema FILE"),
        (["--schema", "people.toml"], "a budget is epsilon, or rho"),
        (["--schema", "people.toml", "--epsilon", "1", "--cap", "ada"], "write a cap as ANALYST=AMOUNT"),
        (["--schema", "people.toml", "--epsilon", "1", "--host", "0.0.0.0"], "without TLS"),
        (["--schema", "people.toml", "--epsilon", "1", "--name", "a/b"], "a data set is called by"),
        (["--schema", "people.toml", "--epsilon", "1", "--certificate", "x"], "go together"),
        (["--schema", "nothing.toml", "--epsilon", "1"], "nothing.toml"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(
    tmp_path: Path,
    options: list[str],
    words: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    write_people(tmp_path)
    assert main(["serve", "people.csv", *options]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("sulq: ") and words in line
    assert not (tmp_path / "people.csv.ledger").exists()


def test_a_configuration_leaves_no_room_for_options(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", str(tmp_path / "curator.toml"), "--epsilon", "1", "--keys", "k"]) == 2
    assert "leave out --epsilon, --keys" in capsys.readouterr().err


def test_keys_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "curator.keys")
    assert main(["key", "list", path]) == 2
    assert "`sulq key add` makes one" in capsys.readouterr().err
    assert main(["key", "add", path, "ada", "--dataset", "people", "--expires", "2999-01-01"]) == 0
    secret = capsys.readouterr().out.strip()
    with Keys(path) as keys:
        key = keys.of(secret)
    assert (key.name, key.scope, key.datasets) == ("ada", "analyst", ("people",))
    assert main(["key", "list", path]) == 0
    listed = capsys.readouterr().out
    assert key.id in listed and "2999-01-01" in listed and secret not in listed
    assert main(["key", "revoke", path, key.id]) == 0
    assert main(["key", "revoke", path, "nobody"]) == 2
    assert "there is no key 'nobody'" in capsys.readouterr().err
    assert main(["key", "add", path, "bob", "--expires", "2001-01-01"]) == 2
    assert "would be valid never" in capsys.readouterr().err


def test_the_owners_key_is_shown_once_and_a_signal_ends_it_in_order(tmp_path: Path) -> None:
    people = write_people(tmp_path)
    command = [
        sys.executable,
        "-m",
        "sulq",
        "serve",
        str(people),
        "--schema",
        str(tmp_path / "people.toml"),
    ]
    for start in range(2):
        process = subprocess.Popen(
            [*command, "--epsilon", "1", "--port", "0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONUNBUFFERED": "1", "COLUMNS": "200"},
        )
        assert process.stderr is not None
        while '"started"' not in process.stderr.readline():
            assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        printed, logged = process.communicate(timeout=60)
        assert re.search(r"serving people at http://127\.0\.0\.1:\d+", printed)
        assert ("sulq_" in printed) == (start == 0)
        assert '"stopped"' in logged and "sulq_" not in logged and "Traceback" not in logged
