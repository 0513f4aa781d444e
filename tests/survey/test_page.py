"""docs/survey.md: its commands are commands, and lead from nothing to a first estimate."""

from __future__ import annotations

import csv
import json
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from xml.etree import ElementTree

import httpx
import pytest

import sulq
from sulq.cli import _parser, main
from sulq.survey.oracle import StillOpenError, collected
from sulq.survey.reading import read_survey
from sulq.survey.rehearsing import made_up
from sulq.survey.respondents import Respondents

PAGE = Path(__file__).parents[2] / "docs" / "survey.md"
BLOCKS = re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
COMMANDS = [line for text in BLOCKS for line in text.splitlines() if line.startswith("sulq ")]
NEW, PLAN, REHEARSE, INVITE, SERVE, RESULTS, CHECK = COMMANDS[:7]


def words(command: str) -> list[str]:
    return shlex.split(command.partition(" > ")[0])[1:]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_of_the_page_is_one(command: str) -> None:
    assert _parser().parse_args(words(command)).run


def started(command: str, port: int) -> subprocess.Popen[bytes]:
    arguments = [sys.executable, "-m", "sulq", *words(command), "--port", str(port)]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=Path.cwd())
    for _ in range(600):
        with suppress(httpx.TransportError):
            httpx.get(f"http://127.0.0.1:{port}/healthz").raise_for_status()
            return process
        assert process.poll() is None
        time.sleep(0.1)
    raise AssertionError("the collector did not start")


def test_the_page_leads_from_nothing_to_a_first_estimate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    assert main(words(NEW)) == 0
    assert main(words(PLAN)) == 0
    assert ElementTree.parse(tmp_path / "sick.svg").getroot().tag.endswith("svg")
    assert main(words(REHEARSE)) == 0
    assert "was promised" in capsys.readouterr().out
    assert main(words(INVITE)) == 0
    links = [line.partition("#")[2] for line in capsys.readouterr().out.splitlines()]
    assert len(set(links)) == 50
    made = read_survey(tmp_path / "sick.toml")
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
    process = started(SERVE, port)
    try:
        crowd = Respondents(f"http://127.0.0.1:{port}", made_up(made.schema, 50), made.epsilon, links)
        crowd.answer()
        assert crowd.outcomes == {"accepted": 50}
        assert main(words(RESULTS)) == 0  # while the collector runs
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)
    assert process.returncode in (0, -signal.SIGTERM)
    assert main(words(CHECK)) in (0, 1)  # an honest survey raises an alarm once in a thousand
    told = capsys.readouterr().out
    assert "What no test can show" in told
    rows = list(csv.DictReader((tmp_path / "results.csv").read_text().splitlines()))
    assert sum(int(row["reports"]) for row in rows if row["answer"] in ("office: no", "never", "mean")) == 50
    assert json.loads((tmp_path / "results.json").read_text())["survey"] == made.id
    assert "<svg" in (tmp_path / "results.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "refusal"),
    [
        (["plan", "nothing.toml"], "sulq: cannot read nothing.toml"),
        (["new", "there.toml"], "sulq: there.toml is there already: name another file"),
        (["invite", "there.toml", "--people", "0"], "sulq: --people must be a whole number from 1"),
        (["serve", "there.toml", "--host", "0.0.0.0"], "sulq: without TLS, anybody on the way"),
        (["serve", "there.toml", "--workers", "2"], "sulq: 2 workers cannot share a store that is a file"),
        (["rehearse", "there.toml", "--people", "0"], "sulq: people must be a whole number from 1"),
    ],
    ids=" ".join,
)
def test_what_cannot_be_done_is_refused_in_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    refusal: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["survey", "new", "there.toml"]) == 0
    capsys.readouterr()
    assert main(["survey", *arguments]) == 2
    said = capsys.readouterr().err
    assert said.startswith(refusal)
    assert said.count("\n") == 1


def test_a_plan_with_too_few_people_says_what_would_help(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    main(["survey", "new", "sick.toml"])
    text = Path("sick.toml").read_text(encoding="utf-8").replace("people = 6000", "people = 60")
    Path("sick.toml").write_text(text, encoding="utf-8")
    assert main(["survey", "plan", "sick.toml"]) == 1
    assert "60 people are too few: expect 5,888 people" in " ".join(capsys.readouterr().out.split())


def test_the_rounds_of_a_learner_and_who_is_missing_are_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    about = 'title = "Health"\nepsilon = 2\npeople = 100\ndivides = "rounds"\n'
    question = '[questions.sick]\nkind = "yes-no"\ntext = "Were you sick?"\n'
    Path("health.toml").write_text(f"[survey]\n{about}{question}", encoding="utf-8")
    with pytest.raises(StillOpenError):
        collected("health.toml", wait=0).ask(sulq.Round([sulq.mean("sick")], share="1/2"), "study")
    assert main(["survey", "rounds", "health.toml"]) == 0
    assert re.search(r"1 +study +open +randomized response +0 +50", capsys.readouterr().out)
    assert main(["survey", "results", "health.toml"]) == 2
    assert "asked by a learner" in capsys.readouterr().err
    assert main(["survey", "check", "health.toml"]) == 0


def test_links_are_kept_as_hashes_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    main(["survey", "new", "sick.toml"])
    capsys.readouterr()
    main(["survey", "invite", "sick.toml", "--people", "3", "--url", "https://a.example/"])
    links = capsys.readouterr().out.split()
    assert all(link.startswith("https://a.example/#") for link in links)
    kept = b"".join(path.read_bytes() for path in tmp_path.glob("sick.reports*"))
    assert not any(link.partition("#")[2].encode() in kept for link in links)
    assert Path("sick.reports").stat().st_mode & 0o077 == 0
