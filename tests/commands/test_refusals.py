"""What `sulq learn` will not do, which it says in one line and before anything is spent."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from sulq.cli import main
from tests.commands.people import spent

Captured = pytest.CaptureFixture[str]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["tree", "--label", "flu"], "There is no default"),
        (["tree", "--label", "flu", "--epsilon", "1", "--exact"], "given: --epsilon and --exact"),
        (["tree", "--label", "flu", "--epsilon", "1", "--rho", "1"], "given: --epsilon and --rho"),
        (["tree", "--label", "flu", "--rho", "1", "--delta", "1e-6"], "--delta goes with --epsilon"),
        (
            ["tree", "--label", "flu", "--epsilon", "1", "--accounting", "zcdp"],
            "--accounting goes with --epsilon and --delta",
        ),
        (["tree", "--label", "flu", "--epsilon", "0"], "epsilon must be a positive, finite number"),
        (["tree", "--label", "flu", "--epsilon", "-1"], "epsilon must be a positive, finite number"),
        (["tree", "--label", "flu", "--epsilon", "inf"], "epsilon must be a positive, finite number"),
        (["tree", "--label", "flu", "--epsilon", "much"], "epsilon must be a positive, finite number"),
        (["tree", "--label", "flu", "--epsilon", "1", "--delta", "2"], "delta must be"),
        (["tree", "--label", "flu", "--exact", "--dry-run"], "--dry-run shows what a budget buys"),
        (["tree", "--label", "flu", "--epsilon", "1", "--rows", "9"], "--rows is for --dry-run"),
        (["tree", "--label", "flu", "--epsilon", "1", "--share", "2"], "share must be"),
        (["tree", "--label", "flu", "--epsilon", "1", "--ledger", ":memory:"], "--ledger must be a file"),
        (["tree", "--label", "flu", "--epsilon", "1", "--features", "weight"], "no column 'weight'"),
        (["tree", "--label", "flu", "--epsilon", "1", "--features", "age,age"], "named twice"),
        (["tree", "--label", "flu", "--epsilon", "1", "--bins", "age=3,2"], "increasing order"),
        (["tree", "--label", "flu", "--epsilon", "1", "--depth", "-1"], "depth must be"),
        (["tree", "--label", "age", "--epsilon", "1"], "is a number: compare it"),
        (["tree", "--label", "fever", "--epsilon", "1"], "there is no column 'fever'"),
        (["tree", "--epsilon", "1"], "required: --label; see `sulq learn tree --help`"),
        (["kmeans", "--k", "0", "--epsilon", "1"], "k must be a whole number from 1"),
        (["kmeans", "--k", "601", "--epsilon", "1"], "601 clusters are more than there are rows, 600"),
        (["kmeans", "--k", "two", "--epsilon", "1"], "invalid int value"),
        (["pca", "--components", "3", "--epsilon", "1"], "components must be a whole number from 1 to 2"),
        (
            ["pca", "--components", "1", "--norm", "0", "--epsilon", "1"],
            "norm must be a positive, finite number",
        ),
        (
            ["perceptron", "--label", "flu", "--norm", "nan", "--epsilon", "1"],
            "norm must be a positive, finite number, got nan",
        ),
        (["conjunction", "--label", "flu", "--error", "2", "--epsilon", "1"], "error must be"),
        (["conjunction", "--label", "flu", "--error", "1e-6", "--epsilon", "1"], "the charge of epsilon"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line_and_leaves_no_ledger(
    arguments: list[str], complaint: str, people: list[str], tmp_path: Path, capsys: Captured
) -> None:
    before = sorted(tmp_path.iterdir())
    assert main(["learn", arguments[0], *people, *arguments[1:]]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("sulq: ")
    assert complaint in said.err
    assert said.err.count("\n") == 1
    assert sorted(tmp_path.iterdir()) == before


def test_a_label_that_can_only_have_one_value_is_refused(tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "people.csv").write_text("a,b\nx,1\nx,2\n")
    (tmp_path / "people.toml").write_text(
        '[columns.a]\ntype = "category"\nvalues = ["x"]\nmissing = "x"\n[columns.b]\ntype = "boolean"\n'
    )
    data, schema = str(tmp_path / "people.csv"), str(tmp_path / "people.toml")
    assert main(["learn", "tree", data, "--schema", schema, "--label", "a", "--epsilon", "1"]) == 2
    assert "can only have one value" in capsys.readouterr().err


def test_missing_files_and_holes_in_a_schema_are_refused(
    people: list[str], tmp_path: Path, capsys: Captured
) -> None:
    rest = ["--label", "flu", "--epsilon", "1"]
    assert main(["learn", "tree", str(tmp_path / "none.csv"), *people[1:], *rest]) == 2
    assert "no file" in capsys.readouterr().err
    assert main(["learn", "tree", people[0], "--schema", str(tmp_path / "none.toml"), *rest]) == 2
    assert "cannot read the schema" in capsys.readouterr().err
    holes = tmp_path / "holes.toml"
    holes.write_text('[columns.age]\ntype = "integer"\nlow = ___\nhigh = ___\n')
    assert main(["learn", "tree", people[0], "--schema", str(holes), *rest]) == 2
    assert "still has holes" in capsys.readouterr().err


def test_results_that_cannot_be_written_are_refused_before_anything_is_spent(
    people: list[str], tmp_path: Path, capsys: Captured
) -> None:
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    command = ["learn", "tree", *people, "--label", "flu", "--epsilon", "1"]
    same = str(tmp_path / "same")
    for result in ("--report", "--json"):
        for path in ("missing/out", ".", "people.csv", "people.toml", "people.csv.ledger"):
            assert main([*command, result, str(tmp_path / path)]) == 2
            said = capsys.readouterr().err
            assert f"cannot write {result}" in said or "would overwrite" in said
    assert main([*command, "--report", same, "--json", same]) == 2
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_ledger_of_another_budget_is_refused(people: list[str], tmp_path: Path, capsys: Captured) -> None:
    command = ["learn", "pca", *people, "--components", "1", "--share", "1/4"]
    assert main([*command, "--epsilon", "1"]) == 0
    for other in (["--epsilon", "2"], ["--rho", "1"], ["--epsilon", "1", "--neighbours", "add-remove"]):
        assert main([*command, *other]) == 2
        assert "was made for something else" in capsys.readouterr().err
    assert spent(tmp_path / "people.csv.ledger") == Fraction(1, 4)


def test_a_run_that_could_not_be_paid_to_its_end_is_not_begun(
    people: list[str], tmp_path: Path, capsys: Captured
) -> None:
    tree = ["learn", "tree", *people, "--label", "flu", "--depth", "1", "--epsilon", "1", "--share"]
    assert main([*tree, "3/4"]) == 0
    assert main([*tree, "1/2"]) == 2
    assert "this may cost ε = 0.5, and ε = 0.25 of 1 is left" in capsys.readouterr().err
    assert spent(tmp_path / "people.csv.ledger") == Fraction(3, 4)
    assert main([*tree, "1/4"]) == 0
    assert main([*tree, "1/5"]) == 2
    assert "the budget is spent" in capsys.readouterr().err
    assert main([*tree, "3/4"]) == 0  # an old run is free also when nothing is left
