"""docs/serve.md: its commands are commands, and lead from nothing to a second analyst's table."""

from __future__ import annotations

import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import tomllib
from fractions import Fraction
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sulq
from sulq.cli import _parser, main
from sulq.serve.config import read_settings
from sulq.serve.server import Server
from tests.effort import either
from tests.serve.services import running, write_people

PAGE = Path(__file__).parents[2] / "docs" / "serve.md"
BLOCKS = re.findall(r"^```(sh|toml)\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
SHELL = [text for kind, text in BLOCKS if kind == "sh"]
INSTALL, MAKE, SERVE, ADA, BOB, LOOK = SHELL[:6]
"""The blocks that lead from nothing to a second analyst's table, in order."""
KEY = re.compile(r"^export SULQ_KEY=\$\((.*)\)$")
COMMANDS = [
    KEY.sub(r"\1", line)
    for text in SHELL
    for line in text.splitlines()
    if line.startswith("sulq ") or KEY.match(line)
]
ADDRESS = "http://127.0.0.1:8443"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_of_the_page_is_one(command: str) -> None:
    assert _parser().parse_args(shlex.split(command)[1:]).run


def test_the_configuration_of_the_page_is_one(tmp_path: Path) -> None:
    [text] = [text for kind, text in BLOCKS if "[datasets.visits]" in text]
    (tmp_path / "curator.toml").write_text(text, encoding="utf-8")
    for name in ("curator.pem", "curator.key"):
        (tmp_path / name).touch()
    told = read_settings(tmp_path / "curator.toml")
    assert [each.name for each in told.datasets] == ["people", "visits"] and told.url.startswith("https://")


def test_the_service_of_several_data_sets_starts_as_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_people(tmp_path)
    pq.write_table(pa.table({"days": [1, 2, 3]}), "visits.parquet")
    Path("visits.toml").write_text('[columns.days]\ntype = "integer"\nlow = 0\nhigh = 30\n')
    [text] = [text for kind, text in BLOCKS if "[datasets.visits]" in text]
    here = {'"0.0.0.0"': '"127.0.0.1"', "port = 8443": "port = 0", "certificate =": "#", "private_key =": "#"}
    for words, others in here.items():  # test_tls.py has certificates
        assert words in text
        text = text.replace(words, others)
    Path("curator.toml").write_text(text)
    started: list[Server] = []
    monkeypatch.setattr(Server, "run", lambda server: started.append(server.__enter__()))
    for command in COMMANDS:
        if "curator.toml" in command:
            assert main(shlex.split(command)[1:]) == 0
    printed = capsys.readouterr().out
    assert "visits: ρ = 0.125" in printed and "serving people, visits at http" in printed
    [server] = started
    try:
        owner = re.search(r"shown this once: (\S+)", printed)
        assert owner is not None
        assert sulq.connect(server.url, owner.group(1), "visits").remaining == Fraction(1, 8)
    finally:
        server.__exit__()


def test_the_question_by_hand_is_answered(tmp_path: Path) -> None:
    [text] = [text for kind, text in BLOCKS if text.startswith("curl ")]
    words = shlex.split(text.replace("\\\n", " "))
    [address] = [word for word in words if word.startswith("https://")]
    headers = [words[place + 1] for place, word in enumerate(words) if word == "-H"]
    with running(tmp_path) as service:
        secret = service.client("ada").secret
        sent = dict(header.replace("$SULQ_KEY", secret).split(": ", 1) for header in headers)
        url = service.url + urlsplit(address).path
        response = httpx.post(url, headers=sent, content=words[words.index("-d") + 1], verify=False)
        assert response.status_code == 200, response.text
        [answer] = response.json()["answers"]
        assert abs(answer["value"] - 500) < 100


def test_the_page_leads_from_nothing_to_a_second_analysts_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The commands one after the other, in this process; what listens until a signal listens until the test ends."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    subprocess.run(["bash", "-euc", MAKE], check=True)
    started: list[Server] = []
    monkeypatch.setattr(Server, "run", lambda server: started.append(server.__enter__()))
    for line in (SERVE + ADA + BOB + LOOK).splitlines():
        words = shlex.split(KEY.sub(r"\1", line))[1:]
        if words[0] == "serve":
            words += ["--port", "0"]
        words = [word.replace(ADDRESS, started[0].url) if started else word for word in words]
        assert main(words) == 0, line
        printed = capsys.readouterr().out
        if KEY.match(line):
            monkeypatch.setenv("SULQ_KEY", printed.strip())
    [server] = started
    try:
        ledger = server.service.desks["people"].curator.ledger
        assert [ledger.spent_of(f"analyst:{name}") * 4 for name in ("ada", "bob")] == [1, 1]
        assert "free" in Path("table.csv").read_text() and Path("table.html").exists()
        assert "analyst:bob" in printed
    finally:
        server.__exit__()


@pytest.mark.skipif(
    either(True, False), reason="each command is a process of its own; make test-all tries it"
)
def test_the_page_works_as_it_stands_in_a_shell(tmp_path: Path) -> None:
    """What a stranger types, but for installing, in two terminals, at another port."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to(sys.executable)
    (tmp_path / "bin" / "sulq").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m sulq "$@"\n')
    (tmp_path / "bin" / "sulq").chmod(0o755)
    path = os.pathsep.join(sys.path)
    settings = os.environ | {
        "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
        "PYTHONPATH": path,
        "COLUMNS": "200",
    }
    settings.pop("SULQ_KEY", None)

    def typed(text: str) -> str:
        text = text.replace(ADDRESS, f"http://127.0.0.1:{port}")
        done = subprocess.run(
            ["bash", "-eu", "-o", "pipefail", "-c", text],
            cwd=tmp_path, env=settings, capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, (text, done.stderr)
        return done.stdout

    typed(MAKE)
    check, serve = SERVE.splitlines()
    assert "people: ε = 1 (pure)" in typed(check)
    command = [*shlex.split(serve), "--port", str(port)]
    with subprocess.Popen(command, cwd=tmp_path, env=settings, stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.DEVNULL) as service:  # fmt: skip
        try:
            assert service.stdout is not None
            while "shown this once: sulq_" not in service.stdout.readline():
                assert service.poll() is None
            assert "avg(age)" in typed(ADA)
            assert "mean age" in typed(BOB)
            seen = typed(LOOK)
            assert all(words in seen for words in ("ada", "analyst:bob", "charges")), seen
            assert (tmp_path / "table.csv").read_text().startswith("plan,count,")
        finally:
            service.send_signal(signal.SIGTERM)
            assert service.wait(60) in (0, -signal.SIGTERM)


def test_what_is_installed_is_what_the_page_needs() -> None:
    """The extras of the first block: the commands below it import nothing that these do not bring."""
    declared = tomllib.loads((PAGE.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    [extras] = re.findall(r"pip install '\.\[(.*)\]'", INSTALL)
    assert set(extras.split(",")) == {"serve", "sql"} <= set(declared["optional-dependencies"])
