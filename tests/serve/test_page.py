"""docs/serve.md: its commands are commands, and lead from nothing to a second analyst's table."""

from __future__ import annotations

import re
import shlex
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
from tests.serve.services import running, write_people

PAGE = Path(__file__).parents[2] / "docs" / "serve.md"
BLOCKS = re.findall(r"^```(sh|toml)\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
COMMANDS = [
    line for kind, text in BLOCKS if kind == "sh" for line in text.splitlines() if line.startswith("sulq ")
]
ADDRESS = "http://127.0.0.1:8443"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_of_the_page_is_one(command: str) -> None:
    assert _parser().parse_args(shlex.split(command)[1:]).run


def test_the_configuration_of_the_page_is_one(tmp_path: Path) -> None:
    [text] = [text for kind, text in BLOCKS if "[datasets.people]" in text]
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
    [text] = [text for kind, text in BLOCKS if "[datasets.people]" in text]
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
        response = httpx.post(url, headers=sent, content=words[words.index("-d") + 1])
        assert response.status_code == 200, response.text
        [answer] = response.json()["answers"]
        assert abs(answer["value"] - 500) < 100


def test_the_page_leads_from_nothing_to_a_second_analysts_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_people(tmp_path)
    started: list[Server] = []
    # What listens until a signal comes, listens here until the test ends.
    monkeypatch.setattr(Server, "run", lambda server: started.append(server.__enter__()))
    keys: dict[str, str] = {}
    for command in COMMANDS:
        words = shlex.split(command)[1:]
        if words[:2] == ["serve", "curator.toml"]:
            continue
        if words[0] == "serve":
            words += ["--port", "0"]
        words = [word.replace(ADDRESS, started[0].url) if started else word for word in words]
        if "--at" in words:
            monkeypatch.setenv("SULQ_KEY", keys["bob"])
        assert main(words) == 0, command
        printed = capsys.readouterr().out
        if words[:2] == ["key", "add"]:
            keys[words[3]] = printed.strip()
    [server] = started
    try:
        assert (
            server.service.desks["people"].curator.spent
            == server.service.desks["people"].curator.offer.total / 2
        )
        assert "free" in Path("table.csv").read_text() and Path("table.html").exists()
    finally:
        server.__exit__()
