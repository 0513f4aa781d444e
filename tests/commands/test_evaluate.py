"""`sulq evaluate`: a hypothesis from a file, judged on a file or elsewhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import sulq
from sulq.cli import main
from tests.serve.services import running

SCHEMA = '[columns]\nold = "boolean"\nsick = "boolean"\n'


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    """A table of 400 rows, its schema and a rule about it."""
    lines = ["old,sick", *["true,true"] * 150, *["true,false"] * 50, *["false,false"] * 200]
    names = {
        name: str(tmp_path / name)
        for name in ("people.csv", "people.toml", "tree.json", "out.json", "out.html")
    }
    Path(names["people.csv"]).write_text("\n".join(lines) + "\n")
    Path(names["people.toml"]).write_text(SCHEMA)
    people = sulq.open(names["people.csv"], names["people.toml"])
    Path(names["tree.json"]).write_text(sulq.ID3("sick", depth=1).learn(people.exact()).to_json())
    return names


def command(files: dict[str, str], *more: str) -> list[str]:
    return [
        "evaluate",
        files["people.csv"],
        "--schema",
        files["people.toml"],
        "--model",
        files["tree.json"],
        *more,
    ]


def test_a_tree_is_evaluated_charged_and_written_down(files: dict[str, str], capsys: Any) -> None:
    options = ["--epsilon", "1", "--share", "1/4", "--json", files["out.json"], "--report", files["out.html"]]
    assert main(command(files, *options)) == 0
    printed = capsys.readouterr().out
    assert "are told right" in printed and "ε = 0.75" in printed
    evaluation = sulq.Hypothesis.from_json(Path(files["out.json"]).read_text())
    assert isinstance(evaluation, sulq.hypotheses.Evaluation)
    assert "<polygon" in Path(files["out.html"]).read_text()
    assert main(command(files, *options)) == 0
    assert "answered from the ledger" in capsys.readouterr().err


def test_a_dry_run_says_the_cost_and_spends_nothing(files: dict[str, str], capsys: Any) -> None:
    assert main(command(files, "--epsilon", "1", "--share", "1/4", "--dry-run")) == 0
    assert "In all ε = 0.25 of 1" in capsys.readouterr().out
    assert not Path(files["people.csv"] + ".ledger").exists()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--model", "nowhere.json"], "cannot read --model nowhere.json: No such file or directory"),
        (["--label", "old", "--where", "tall"], "there is no column 'tall'"),
        (["--bins", "1"], "the number of bins"),
    ],
)
def test_a_refusal_is_one_line_and_spends_nothing(
    files: dict[str, str], capsys: Any, more: list[str], said: str
) -> None:
    assert main(command(files, "--epsilon", "1", *more)) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1 and said in lines[0]
    assert not Path(files["people.csv"] + ".ledger").exists()


def test_a_file_that_is_no_hypothesis_is_refused(files: dict[str, str], capsys: Any) -> None:
    Path(files["tree.json"]).write_text("{}")
    assert main(command(files, "--epsilon", "1")) == 2
    assert "hypothesis" in capsys.readouterr().err


def test_a_hypothesis_is_evaluated_elsewhere(
    files: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    (tmp_path / "service").mkdir()
    with running(tmp_path / "service") as service:
        monkeypatch.setenv("SULQ_KEY", service.keys.add("ada"))
        schema = service.curator.schema
        rule = sulq.hypotheses.Selected(schema, None, sulq.col("sick"), "sick")
        Path(files["tree.json"]).write_text(rule.to_json())
        spent = service.curator.spent
        asked = ["evaluate", "people", "--at", service.url, "--model", files["tree.json"], "--label", "sick"]
        assert main([*asked, "--share", "1/16", "--json", files["out.json"]]) == 0
        assert service.curator.spent > spent
    assert json.loads(Path(files["out.json"]).read_text())["is"] == "evaluation"
