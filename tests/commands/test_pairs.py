"""`sulq learn pairs` and `sulq synthesize`: from a file to tables, and from tables to rows."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pandas as pd
import pytest

import sulq
from sulq.cli import main
from sulq.hypotheses import PairsRelease
from sulq.talk.columns import with_error
from tests.commands.people import write_people

Captured = pytest.CaptureFixture[str]
COLUMNS = ["age", "height", "income", "cough", "flu"]


def release_in(folder: Path, *more: str) -> Path:
    path = folder / "release.json"
    words = [*write_people(folder), "--epsilon", "4", "--delta", "1e-6", "--json", str(path), *more]
    assert main(["learn", "pairs", *words]) == 0
    return path


def test_a_dry_run_says_how_large_and_how_noisy_it_is(people: list[str], capsys: Captured) -> None:
    assert main(["learn", "pairs", *people, "--epsilon", "1", "--dry-run"]) == 0
    shown = capsys.readouterr().out
    assert "It would be 10 tables of two of 5 columns" in shown
    assert "are off by at most ±" in shown


def test_a_dry_run_names_what_it_would_leave_out(tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "people.csv").write_text("a,b\n" + "1,2\n" * 50)
    values = [str(number) for number in range(100)]
    (tmp_path / "people.toml").write_text(
        "".join(f'[columns.{name}]\ntype = "category"\nvalues = {values}\n' for name in "ab")
    )
    words = [str(tmp_path / "people.csv"), "--schema", str(tmp_path / "people.toml"), "--epsilon", "1"]
    assert main(["learn", "pairs", *words, "--dry-run"]) == 0
    assert "Left out: a × b." in capsys.readouterr().out


def test_rows_are_drawn_from_a_release_alone(tmp_path: Path, capsys: Captured) -> None:
    path = release_in(tmp_path, "--label", "flu", "--report", str(tmp_path / "report.html"))
    assert "<svg" in (tmp_path / "report.html").read_text()
    for gone in tmp_path.glob("people*"):
        gone.unlink()
    before = set(tmp_path.iterdir())
    for kind in ("csv", "parquet"):
        out = tmp_path / f"rows.{kind}"
        assert main(["synthesize", str(path), "--rows", "200", "--out", str(out), "--seed", "1"]) == 0
        rows = pd.read_csv(out) if kind == "csv" else pd.read_parquet(out)
        assert list(rows.columns) == COLUMNS and len(rows) == 200
        assert rows["age"].between(0, 100).all() and set(rows["income"]) <= {"<=50K", ">50K"}
    shown = capsys.readouterr().out
    assert "200 synthetic rows" in shown and "1e-06" in shown and "nothing was spent" in shown
    assert set(tmp_path.iterdir()) - before == {tmp_path / "rows.csv", tmp_path / "rows.parquet"}


def test_a_report_has_every_published_count_beside_the_synthetic_one(
    tmp_path: Path, capsys: Captured
) -> None:
    path, out = release_in(tmp_path), tmp_path / "rows.html"
    words = ["--rows", "3000", "--out", str(tmp_path / "rows.csv"), "--report", str(out)]
    assert main(["synthesize", str(path), *words]) == 0
    assert f"written: {out}" in capsys.readouterr().out.replace("\n", "")
    release, page = PairsRelease.from_json(path.read_text()), out.read_text()
    assert page.count("<details>") == len(release.columns) + len(release.tables)
    assert "<svg" in page and "prefers-color-scheme: dark" in page and "nothing was spent" in page
    assert "<strong>(ε, δ) = (4, 1e-06)</strong> is the promise of the release" in page
    assert sha256(path.read_bytes()).hexdigest() in page
    for one, other in release.pairs:
        answer = release.table(one, other)
        assert f"<summary>{one} × {other}</summary>" in page
        assert with_error(float(answer.value.ravel()[0]), answer.radius(0.05)) in page


def test_differences_of_all_tables_are_written(tmp_path: Path) -> None:
    path, out = release_in(tmp_path), tmp_path / "differences.csv"
    words = ["--rows", "3000", "--out", str(tmp_path / "rows.csv"), "--differences", str(out)]
    assert main(["synthesize", str(path), *words]) == 0
    release = PairsRelease.from_json(path.read_text())
    differences = pd.read_csv(out)
    assert len(differences) == len(release.columns) + len(release.tables)
    assert differences["total variation"].max() < 0.2


def test_pairs_and_columns_can_be_named(tmp_path: Path) -> None:
    path = release_in(tmp_path, "--columns", "age,flu,cough", "--pair", "age,flu", "--bins", "age=18,65")
    release = PairsRelease.from_json(path.read_text())
    assert release.pairs == (("age", "flu"),)
    assert release.table("age", "flu").value.shape == (3, 2)
    assert release.additive("flu").predict({"age": [30, 80]}).shape == (2,)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--pair", "age"], "a pair is two columns with a comma between"),
        (["--label", "x"], "'x'"),
        (["--columns", "age"], "at least two columns"),
        (["--columns", "age,x"], "'x'"),
    ],
)
def test_what_cannot_be_paired_is_refused_in_a_line(
    words: list[str], message: str, people: list[str], capsys: Captured, tmp_path: Path
) -> None:
    assert main(["learn", "pairs", *people, "--epsilon", "1", *words]) == 2
    errors = capsys.readouterr().err
    assert message in errors and errors.count("\n") == 1
    assert not list(tmp_path.glob("*.ledger"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["{release}", "--rows", "0", "--out", "rows.csv"], "rows"),
        (["{release}", "--rows", "100000000000", "--out", "rows.csv"], "whole number from 1 to 50000000"),
        (["{release}", "--rows", "5", "--out", "rows.txt"], "ends in .csv or .parquet"),
        (["nowhere.json", "--rows", "5", "--out", "rows.csv"], "cannot read nowhere.json"),
        (["{rule}", "--rows", "5", "--out", "rows.csv"], "is a rule, and no release"),
        (["{broken}", "--rows", "5", "--out", "rows.csv"], "hypothesis"),
        (["{release}", "--rows", "5", "--out", "nowhere/rows.parquet"], "cannot write"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_a_line(
    words: list[str], message: str, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = sulq.Pairs(["sex", "plan"]).learn(sulq.randhie().exact())
    rule = sulq.hypotheses.Rule(release.schema, None, (sulq.col("limited"),))
    texts = {"release": release.to_json(), "rule": rule.to_json(), "broken": "{}"}
    files = {name: tmp_path / f"{name}.json" for name in texts}
    for name, path in files.items():
        path.write_text(texts[name])
    monkeypatch.chdir(tmp_path)
    assert main(["synthesize", *(word.format(**files) for word in words)]) == 2
    errors = capsys.readouterr().err
    assert message in errors and errors.count("\n") == 1
