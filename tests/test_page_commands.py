"""Every command of sulq on every page is run: a page with a command that does not run fails."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import sulq
from sulq.cli import main
from sulq.serve.keys import Keys
from sulq.serve.trial import trial
from tests.effort import long
from tests.test_docs import PAGES, name_of, typed

ADDRESS = "http://127.0.0.1:8443"
ROWS = 400
SCHEMA = """
[columns]
age = { type = "integer", low = 0, high = 120 }
cost = { type = "real", low = 0, high = 1000 }
doctor_visits = { type = "integer", low = 0, high = 50 }
income = { type = "category", values = ["<=50K", ">50K"] }
odd = { type = "boolean" }
plan = { type = "category", values = ["free", "paid"] }
sick = { type = "boolean" }
ward = { type = "category", values = ["east", "west"] }
"""
PARTIES = {"hospital": "sick", "registry": "smokes"}
CURATOR = '[datasets.people]\ndata = "people.csv"\nschema = "people.toml"\nepsilon = 1\n[server]\nport = 0\n'
ELSEWHERE = {
    "demo": "tests/test_cli.py::test_the_demo_shows_the_schema_a_private_tree_an_exact_one_and_what_is_next",
    "audit": "tests/audits/test_catalogue.py::test_a_check_holds",
    "audit --only noise,kills": "tests/audits/test_catalogue.py::test_a_check_holds",
    "audit --report audit.html": "tests/commands/test_audit.py::test_findings_are_printed_as_json_and_written_as_a_page",
    "audit --full --json": "tests/commands/test_audit.py::test_findings_are_printed_as_json_and_written_as_a_page",
    "survey learn tree health.toml --label sick --depth 2 --json tree.json": "tests/commands/test_survey_learn.py::"
    "test_a_tree_is_learned_by_the_same_command_again_and_again",
    "survey serve sick.toml --workers 4": "tests/survey/test_collector.py::test_several_processes_collect_together_and_one_that_is_killed_is_replaced",
    "survey rounds health.toml": "tests/commands/test_survey_learn.py::"
    "test_a_tree_is_learned_by_the_same_command_again_and_again",
}
"""Commands that take long, or need people who answer: the test that runs them."""
APART = ("docs/beyond.md", "docs/models.md", "docs/serve.md")
"""Pages whose commands are examples of promises that differ: each has a budget of its own."""
CERTIFICATE = "req -x509 -newkey rsa:2048 -nodes -days 2 -keyout host.key -out host.pem -subj /CN=localhost"
COMMANDS = {page: list(typed(page)) for page in PAGES}


def folder_of_a_reader(folder: Path) -> None:
    """What the pages take for granted: a table, its schema and a service's configuration."""
    rng = np.random.default_rng(0)
    columns = {
        "age": rng.integers(18, 90, ROWS),
        "cost": rng.integers(0, 1000, ROWS),
        "doctor_visits": rng.integers(0, 20, ROWS),
        "income": np.where(rng.random(ROWS) < 0.3, ">50K", "<=50K"),
        "odd": rng.integers(0, 2, ROWS),
        "plan": np.where(rng.random(ROWS) < 0.5, "free", "paid"),
        "sick": rng.integers(0, 2, ROWS),
        "ward": np.where(rng.random(ROWS) < 0.5, "east", "west"),
    }
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    (folder / "people.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "people.toml").write_text(SCHEMA, encoding="utf-8")
    (folder / "curator.toml").write_text(CURATOR, encoding="utf-8")
    for party, flag in PARTIES.items():
        held = f'[columns]\nperson = {{ type = "integer", low = 0, high = 1000000 }}\n{flag} = {{ type = "boolean" }}\n'
        (folder / f"{party}.toml").write_text(held, encoding="utf-8")
    with Keys(str(folder / "people.csv.keys")) as keys:
        keys.add("ada")


def ledger_of_a_reader() -> None:
    """What was spent under a schema that had a column less."""
    schema = sulq.Schema.of("people.toml")
    before = sulq.Schema({name: kind for name, kind in schema.items() if name != "ward"})
    sulq.open("people.csv", before).curator(epsilon=1, ledger="people.csv.ledger").ask(
        sulq.Round([sulq.count()], share="1/2")
    )


def serves(words: list[str]) -> bool:
    return "serve" in words[:2] and "--check" not in words


@contextlib.contextmanager
def service() -> Iterator[tuple[str, str]]:
    curator = sulq.open("people.csv", "people.toml").curator(epsilon=100, ledger=":memory:")
    with trial(people=curator) as (url, key):
        yield url, key


def ran(words: list[str], monkeypatch: pytest.MonkeyPatch) -> tuple[int, str]:
    """How a command ends, and what it says."""
    if words[0] == "ledger" and not Path("people.csv.ledger").exists():
        ledger_of_a_reader()
    said = io.StringIO()
    with contextlib.ExitStack() as stack:
        if ADDRESS in words:
            url, key = stack.enter_context(service())
            monkeypatch.setenv("SULQ_KEY", key)
            words = [url if word == ADDRESS else word for word in words]
        stack.enter_context(contextlib.redirect_stdout(said))
        stack.enter_context(contextlib.redirect_stderr(said))
        try:
            return main(words), said.getvalue()
        except SystemExit as ended:  # --help and --version end a command
            return int(ended.code or 0), said.getvalue()


@pytest.mark.parametrize("page", [page for page in PAGES if COMMANDS[page]], ids=name_of)
def test_every_command_of_a_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one folder, in order, and under one budget. What noise makes of an answer is not looked at."""
    folder_of_a_reader(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    for words in COMMANDS[page]:
        if " ".join(words) in ELSEWHERE or serves(words):
            continue
        if name_of(page) in APART and words[0] != "ledger":
            for path in Path().glob("*.ledger*"):
                path.unlink()
        code, said = ran(words, monkeypatch)
        assert code == 0, f"sulq {' '.join(words)}\n{said}"


@long
@pytest.mark.parametrize(
    "words",
    [
        words
        for each in COMMANDS.values()
        for words in each
        if serves(words) and " ".join(words) not in ELSEWHERE
    ],
)
def test_every_service_of_a_page_starts_and_ends(words: list[str], tmp_path: Path) -> None:
    folder_of_a_reader(tmp_path)
    start = [sys.executable, "-m", "sulq"]
    if words[0] == "survey":
        subprocess.run([*start, "survey", "new", words[2]], cwd=tmp_path, check=True, capture_output=True)
        subprocess.run(["openssl", *CERTIFICATE.split()], cwd=tmp_path, check=True, capture_output=True)
    process = subprocess.Popen(
        [*start, *words, *([] if "curator.toml" in words else ["--port", "0"])],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1", "COLUMNS": "200"},
    )
    assert process.stdout is not None
    said = ""
    while "started" not in said:
        said += (line := process.stdout.readline())
        assert line, f"sulq {' '.join(words)}\n{said}"
    process.send_signal(signal.SIGTERM)
    rest, _ = process.communicate(timeout=60)
    assert process.returncode in (0, -signal.SIGTERM) and "Traceback" not in said + rest


@pytest.mark.parametrize("command", ELSEWHERE)
def test_what_runs_elsewhere_is_on_a_page_and_its_test_is_there(command: str) -> None:
    assert any(" ".join(words) == command for each in COMMANDS.values() for words in each)
    path, name = ELSEWHERE[command].split("::")
    assert f"def {name}(" in (Path(__file__).parents[1] / path).read_text(encoding="utf-8")
