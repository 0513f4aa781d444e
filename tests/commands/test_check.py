"""`sulq check` names every fault of a messy file, loudly and for the owner alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sulq.cli import main

Captured = pytest.CaptureFixture[str]
SCHEMA = """
[unit]
column = "pid"
rows = 2
[columns.ward]
type = "category"
values = ["Cardiology", "Oncology"]
[columns.cost]
type = "real"
low = 0
high = 5000
missing = 0
[columns.age]
type = "integer"
low = 0
high = 120
[columns.smoker]
type = "boolean"
[columns.city]
type = "category"
values = ["Zürich", "Bern"]
"""
LINES = [
    "pid;ward;cost;age;smoker;city",
    *["1;Cardiology;12.5;30;true;Bern"] * 4,
    "2;Cardiology  ;1,234.50;30;false;Zürich",
    "3;oncology;$ 7;-1;ja;Bern",
    "4;Oncolgy;9999;130;true;Bern",
    "5;O;NA;;false;Bern",
    ";xyz;;50;true;Bern",
    "6;Oncology",
    "",
    '7;"Oncology;1;2;true;Bern',
    "8;Oncology;1;2;true;Bern;more",
]


@pytest.fixture
def messy(tmp_path: Path) -> list[str]:
    (tmp_path / "t.csv").write_bytes(("\n".join(LINES) + "\n").encode("cp1252"))
    (tmp_path / "t.toml").write_text(SCHEMA, encoding="utf-8")
    return ["check", str(tmp_path / "t.csv"), "--schema", str(tmp_path / "t.toml")]


def found(arguments: list[str], capsys: Captured) -> tuple[int, dict[tuple[str, str], dict[str, Any]]]:
    code = main([*arguments, "--json"])
    form = json.loads(capsys.readouterr().out)
    assert form["worry"] == bool(code)
    assert form["rows"] == len(LINES) - 1
    return code, {(finding["where"], finding["what"]): finding for finding in form["findings"]}


def test_every_planted_fault_is_named_with_its_number(messy: list[str], capsys: Captured) -> None:
    code, findings = found(messy, capsys)
    assert code == 1
    assert {place: finding["many"] for place, finding in findings.items()} == {
        ("lines", "empty"): 1,
        ("lines", "short"): 1,
        ("lines", "long"): 1,
        ("lines", "with an open quote"): 1,
        ("encoding", "not in utf-8"): 1,
        ("ward", "missing"): 2,
        ("ward", "not listed"): 5,
        ("cost", "missing"): 5,
        ("cost", "not a number"): 2,
        ("cost", "above 5000"): 1,
        ("age", "missing"): 4,
        ("age", "below 0"): 1,
        ("age", "above 120"): 1,
        ("smoker", "missing"): 3,
        ("smoker", "neither true nor false"): 1,
        ("city", "missing"): 4,
        ("people", "more than 2 rows"): 1,
        ("people", "rows of nobody"): 2,
    }


def test_rules_are_proposed_that_mend_what_can_be_mended(
    messy: list[str], capsys: Captured, tmp_path: Path
) -> None:
    _, findings = found(messy, capsys)
    ward, cost, letters = (
        findings[place]
        for place in [("ward", "not listed"), ("cost", "not a number"), ("encoding", "not in utf-8")]
    )
    assert ward["try"] == [
        "trim = true",
        "fold_case = true",
        'aliases = { "Oncolgy" = "Oncology", "O" = "Oncology" }',
    ]
    assert ward["spellings"]["Cardiology  "] == 1
    assert cost["try"] == ['thousands = ","', 'strip = "$"']
    assert letters["try"] == ["[csv]", 'encoding = "cp1252"']
    mended = SCHEMA.replace('"Oncology"]', "\n".join(['"Oncology"]', *ward["try"]]))
    mended = mended.replace("high = 5000", "\n".join(["high = 5000", *cost["try"]])) + "\n".join(
        letters["try"]
    )
    (tmp_path / "t.toml").write_text(mended, encoding="utf-8")
    _, rest = found(messy, capsys)
    assert rest["ward", "not listed"]["spellings"] == {"xyz": 1}
    assert ("cost", "not a number") not in rest
    assert not any(where == "encoding" for where, _ in rest)


def test_what_a_fault_does_to_a_mean_is_said_in_numbers(messy: list[str], capsys: Captured) -> None:
    _, findings = found(messy, capsys)
    # Numbers: four times 12.5, 9999 (clamped to 5000) and 1; 13 rows, of which 7 become 0.
    assert findings["cost", "not a number"]["effect"] == (
        "become 0: the mean is 388.538, and 841.833 without them"
    )
    assert findings["cost", "above 5000"]["effect"] == (
        "become 5000: the mean of the numbers is 841.833, and was 1675 before"
    )


def test_the_banner_says_loudly_that_it_is_not_private(messy: list[str], capsys: Captured) -> None:
    main(messy)
    shown = capsys.readouterr()
    assert shown.err.startswith("NOT PRIVATE.")
    assert "do not" in shown.err
    for words in ("'Cardiology  '", "thousands", "not a number", "13 rows"):
        assert words in shown.out


def test_a_tidy_file_is_nothing_to_worry_about(messy: list[str], capsys: Captured, tmp_path: Path) -> None:
    rows = "".join(f"{i};Oncology;{i};{i};true;Bern\n" for i in range(120))
    (tmp_path / "t.csv").write_text(f"{LINES[0]}\n{rows}", encoding="utf-8")
    assert main(messy) == 0
    assert "120 rows: every cell is as the schema says." in capsys.readouterr().out
    (tmp_path / "t.csv").write_text(f"{LINES[0]}\n{rows}7;Oncology;;3;true;Bern\n", encoding="utf-8")
    assert main(messy) == 0, "one cell in a hundred may be missing"
    assert "missing" in capsys.readouterr().out
    (tmp_path / "t.csv").write_text(f"{LINES[0]}\n", encoding="utf-8")
    assert main(messy) == 0, "no rows, no worry"


def test_a_refusal_is_one_line(messy: list[str], capsys: Captured, tmp_path: Path) -> None:
    for more in (
        ["--encoding", "utf-16"],
        ["--encoding", "nonsense"],
        ["--delimiter", "x"],
        ["--table", "t"],
    ):
        assert main([*messy, *more]) == 2
        assert capsys.readouterr().err.splitlines()[-1].startswith("sulq: ")
