"""`sulq learn … --at URL`, `sulq table … --at URL` and `sulq sql … --at URL`: the command line without the file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import sulq
from sulq.cli import main
from tests.serve.services import Running, running


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("service")) as service:
        yield service


@pytest.fixture(autouse=True)
def key(service: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SULQ_KEY", service.keys.add("ada"))


def table(service: Running, *options: str) -> list[str]:
    return ["table", "people", "--at", service.url, "--by", "plan", "--share", "1/16", *options]


def test_a_table_and_a_tree_without_the_file(
    service: Running, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {name: str(tmp_path / name) for name in ("t.csv", "t.json", "t.html")}
    options = ["--csv", files["t.csv"], "--json", files["t.json"], "--report", files["t.html"]]
    assert main(table(service, *options)) == 0
    printed = capsys.readouterr().out
    assert "free" in printed and f"people at {service.url.removeprefix('http://')}" in printed
    assert json.loads(Path(files["t.json"]).read_text()) and "free" in Path(files["t.csv"]).read_text()
    assert "The promise" in Path(files["t.html"]).read_text()
    spent = service.curator.spent
    assert spent == sulq.PureDP("1/2").epsilon
    assert main(table(service)) == 0
    assert "answered from the ledger" in capsys.readouterr().err
    assert service.curator.spent == spent
    tree = [
        "learn",
        "tree",
        "people",
        "--at",
        service.url,
        "--label",
        "sick",
        "--depth",
        "1",
        "--share",
        "1/16",
    ]
    assert main(tree) == 0
    assert service.curator.spent == 2 * spent


def test_a_dry_run_spends_nothing(service: Running, capsys: pytest.CaptureFixture[str]) -> None:
    before = service.curator.spent
    assert main(table(service, "--dry-run", "--mean", "age")) == 0
    assert "is left for you in people at" in capsys.readouterr().out
    assert service.curator.spent == before


SELECT = "SELECT plan, count(*), avg(age) FROM people GROUP BY plan"


def sql(service: Running, statement: str, *options: str) -> list[str]:
    return ["sql", "people", statement, "--at", service.url, "--share", "1/16", *options]


def test_a_select_without_the_file(
    service: Running, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = service.curator.spent
    for explains in ([f"EXPLAIN {SELECT}"], [SELECT, "--dry-run"]):
        assert main(sql(service, *explains)) == 0
        printed = capsys.readouterr().out
        assert "0.5 of 8" in printed and "spent" in printed
        assert service.curator.spent == before
    written = tmp_path / "t.csv"
    assert main(sql(service, SELECT, "--csv", str(written))) == 0
    assert "free" in capsys.readouterr().out and "free" in written.read_text()
    assert service.curator.spent == before + sulq.PureDP("1/2").epsilon
    assert main(sql(service, SELECT)) == 0
    assert service.curator.spent == before + sulq.PureDP("1/2").epsilon


@pytest.mark.parametrize(
    ("statement", "options", "words"),
    [
        (f"EXPLAIN {SELECT}", ["--schema", "people.toml"], "leave out --schema"),
        (f"EXPLAIN {SELECT}", ["--epsilon", "1"], "leave out --epsilon"),
        ("EXPLAIN SELECT nobody FROM people", [], "nobody"),
        ("SELECT max(age) FROM people", [], "max"),
    ],
)
def test_a_select_that_makes_no_sense_there_is_refused_in_one_line(
    service: Running, statement: str, options: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = service.curator.spent
    assert main(sql(service, statement, *options)) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("sulq: ") and words in line
    assert service.curator.spent == before


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--epsilon", "1"], "leave out --epsilon"),
        (["--exact", "--neighbours", "add-remove"], "leave out --exact, --neighbours"),
        (["--schema", "people.toml", "--ledger", "x"], "leave out --schema, --ledger"),
        (["--rows", "10"], "--rows is for --dry-run"),
        (["--where", "nobody"], "there is no column 'nobody'"),
        (["--share", "1", "--run", "dear"], "exceeds what is left"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(
    service: Running, options: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    service.curator.ask(sulq.Round([sulq.count(where="sick")], "1/80"), "something was spent")
    before = service.curator.spent
    assert main(table(service, *options)) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("sulq: ") and words in line
    assert service.curator.spent == before


def test_a_curator_who_is_not_there_is_told_in_one_line(
    service: Running, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SULQ_KEY", "sulq_0_0")
    assert main(table(service)) == 2
    assert "this key is not known here" in capsys.readouterr().err
    assert main(["table", "nothing", "--at", "http://elsewhere.example", "--by", "plan"]) == 2
    assert "in the clear" in capsys.readouterr().err


def test_a_file_still_needs_a_schema(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["table", "people.csv", "--by", "plan", "--epsilon", "1"]) == 2
    assert "Give --schema FILE" in capsys.readouterr().err
    assert main(["sql", "people.csv", f"EXPLAIN {SELECT}", "--epsilon", "1"]) == 2
    assert "Give --schema FILE" in capsys.readouterr().err
