"""The everyday job, as a stranger does it: from a messy file to a published table and a tree, in five commands."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sulq
from sulq.cli import main
from tests.messy import COUNTED, DIAGNOSES, SCHEMA, WARDS, Messy, messy

PLAIN = """
[unit]
column = "patient"
rows = 2

[columns.ward]
type = "category"
values = ["Cardiology", "Oncology", "Neurology", "Rehabilitation Zürich"]

[columns.diagnosis]
type = "category"
values = ["mild", "severe"]

[columns.cost]
type = "real"
low = 0
high = 20000

[columns.born]
type = "date"
first = 1920-01-01
last = 2010-12-31

[columns.readmitted]
type = "boolean"
"""
"""The schema as somebody would declare it who thinks that the file is tidy."""
FALSE_ALARM = 1e-7
"""The chance that figures which are right are not between the bounds that are asked for here."""


@pytest.fixture(scope="module")
def patients() -> Messy:
    return messy()


def run(*arguments: object) -> int:
    return main([str(argument) for argument in arguments])


def written(folder: Path, table: Messy, encoding: str) -> tuple[Path, Path]:
    """The file of the patients, and the schema that the owner ended up with."""
    data, schema = folder / "patients.csv", folder / "patients.toml"
    table.write(data, encoding)
    declared = "" if encoding == "utf-8" else f'\n[csv]\nencoding = "{encoding}"\n'
    schema.write_text(SCHEMA.format(csv=declared), encoding="utf-8")
    return data, schema


def checked(data: Path, schema: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, list[dict[str, Any]]]:
    capsys.readouterr()
    code = run("check", data, "--schema", schema, "--json")
    return code, json.loads(capsys.readouterr().out)["findings"]


def test_check_names_every_planted_fault_and_how_to_mend_it(
    patients: Messy, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, schema = tmp_path / "patients.csv", tmp_path / "plain.toml"
    patients.write(data, "cp1252")
    schema.write_text(PLAIN, encoding="utf-8")
    code, findings = checked(data, schema, capsys)
    assert code == 1
    named = {(finding["where"], finding["what"]): finding for finding in findings}
    assert named["encoding", "not in utf-8"]["try"] == ["[csv]", 'encoding = "cp1252"']
    schema.write_text(PLAIN + '\n[csv]\nencoding = "cp1252"\n', encoding="utf-8")
    _, findings = checked(data, schema, capsys)
    named = {(finding["where"], finding["what"]): finding for finding in findings}
    assert {place: named[place]["many"] for place in patients.planted} == patients.planted
    assert named["ward", "not listed"]["try"] == [
        "trim = true",
        "fold_case = true",
        'aliases = { "Onc." = "Oncology" }',
    ]
    assert named["cost", "not a number"]["try"] == ['thousands = ","', 'strip = "$"']
    assert named["born", "not a date"]["try"] == ['format = "%d.%m.%Y"']
    assert named["readmitted", "neither true nor false"]["try"] == ['missing = "drop"']
    unread = set(named) - set(patients.planted)
    assert unread == {("born", "not a date")}, "no other fault is there: dates need a format"


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252"])
def test_five_commands_lead_to_a_table_and_a_tree_that_are_right(
    patients: Messy, encoding: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, schema = written(tmp_path, patients, encoding)
    assert run("schema", "draft", data, "--encoding", encoding) == 0
    drafted = capsys.readouterr().out
    assert '# column = "patient"' in drafted
    assert 'format = "%d.%m.%Y"' in drafted

    run("check", data, "--schema", schema)
    shown = capsys.readouterr().out
    assert not re.search("ward|not a date|encoding", shown), "what could be mended is mended"

    budget = ("--epsilon", 6, "--share", "1/2")
    made = ("--by", "ward,diagnosis", "--mean", "cost", "--rate", "readmitted", "--median", "born")
    table = tmp_path / "table.json"
    page = ("--csv", tmp_path / "table.csv", "--report", tmp_path / "table.html", "--json", table)
    assert run("table", data, "--schema", schema, *made, *budget, *page) == 0
    tree = tmp_path / "tree.json"
    learned = ("--label", "readmitted", "--report", tmp_path / "tree.html", "--json", tree)
    assert run("learn", "tree", data, "--schema", schema, *learned, *budget) == 0

    assert run("ledger", "verify", f"{data}.ledger") == 0
    check_table(sulq.Hypothesis.from_json(table.read_text(encoding="utf-8")), patients.truth)
    check_tree(sulq.Hypothesis.from_json(tree.read_text(encoding="utf-8")), patients.truth)
    published = pd.read_csv(tmp_path / "table.csv")
    assert set(published["ward"]) == {*WARDS, "(other)", "(all)"}
    assert "Rehabilitation Zürich" in (tmp_path / "table.html").read_text(encoding="utf-8")


def check_table(table: Any, truth: pd.DataFrame) -> None:
    """Hold every figure against the rows without a flaw."""
    born = sulq.Date("1920-01-01", "2010-12-31")
    groups = {
        (ward, diagnosis): truth[(truth["ward"] == ward) & (truth["diagnosis"] == diagnosis)]
        for ward in WARDS
        for diagnosis in DIAGNOSES
    }
    of_group = {
        "count": len,
        "mean cost": lambda rows: rows["cost"].mean(),
        "share readmitted": lambda rows: rows["readmitted"].dropna().astype(float).mean(),
        "median born": lambda rows: born.day(
            rows["born"].dropna().sort_values().iloc[(_known(rows) - 1) // 2].date()
        ),
    }
    assert table.names == tuple(of_group)
    assert table.labels == ((*WARDS, "(other)"), DIAGNOSES)
    for name, figure in of_group.items():
        figures = table.figures(name, beta=FALSE_ALARM)
        low, high = figures.low[: len(WARDS)].ravel(), figures.high[: len(WARDS)].ravel()
        exact = np.array([figure(rows) for rows in groups.values()])
        assert ((low - 1e-6 <= exact) & (exact <= high + 1e-6)).all(), name
    # Where commas made costs 10,000, the mean would be off by 6,000: these bounds would not hold the truth.
    assert (table.figures("mean cost", by=[], beta=FALSE_ALARM).radius < 1_500).all()
    assert (table.figures("share readmitted", by=[], beta=FALSE_ALARM).radius < 0.05).all()


def _known(rows: pd.DataFrame) -> int:
    return int(rows["born"].notna().sum())


def check_tree(tree: Any, truth: pd.DataFrame) -> None:
    """The label follows from the diagnosis, four times out of five."""
    assert "diagnosis" in tree.describe()
    known = truth[truth["readmitted"].notna()]
    guesses = np.char.lower(np.asarray(tree.predict(known), dtype=str))
    assert np.mean(guesses == np.where(known["readmitted"], "true", "false")) > 0.75


def test_the_truth_is_what_exact_answers_give(patients: Messy, tmp_path: Path) -> None:
    """The generator's truth, to the last row, from both encodings: so the noise is all that is left to err."""
    for encoding in ("utf-8", "cp1252"):
        data, schema = written(tmp_path, patients, encoding)
        learner = sulq.Table(["ward"], sums=["cost"], means=["cost"], shares=["readmitted"])
        table = learner.learn(sulq.open(data, schema).exact())
        wards = [patients.truth[patients.truth["ward"] == ward] for ward in WARDS]
        assert table.figures("count").value.tolist() == [*map(len, wards), 0]
        assert table.figures("sum cost").value[:-1] == pytest.approx([rows["cost"].sum() for rows in wards])
        means = [rows["cost"].mean() for rows in wards]
        assert table.figures("mean cost").value[:-1] == pytest.approx(means, abs=0.01)
        rates = [rows["readmitted"].dropna().astype(float).mean() for rows in wards]
        assert table.figures("share readmitted").value[:-1] == pytest.approx(rates)
    assert patients.planted["people", f"more than {COUNTED} rows"] > 50
