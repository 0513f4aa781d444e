"""`sulq sql`: from a file and a SELECT to figures with bounds, on the road of `sulq learn`."""

from __future__ import annotations

import csv
import re
import shlex
import sys
from fractions import Fraction
from pathlib import Path

import pytest

import sulq
from sulq.cli import _parser, main
from sulq.commands.sql import SQL
from sulq.ledger.ledger import Ledger
from tests.commands.people import write_people

Captured = pytest.CaptureFixture[str]
SELECT = (
    "SELECT income, cough, count(*) AS n, avg(height), median(age), count(*) FILTER (WHERE flu) / count(*) AS rate "
    "FROM people WHERE age >= 18 GROUP BY ROLLUP (income, cough)"
)
BUDGETS = {
    "epsilon": ["--epsilon", "4"],
    "delta": ["--epsilon", "4", "--delta", "1e-6"],
    "rho": ["--rho", "0.5", "--neighbours", "add-remove"],
}


@pytest.fixture
def people(tmp_path: Path) -> list[str]:
    return write_people(tmp_path)


def spent(ledger: Path) -> Fraction:
    with Ledger.read(ledger) as opened:
        return opened.spent


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("unit", [False, True])
def test_a_select_goes_from_a_file_to_all_of_its_results(
    budget: str, unit: bool, tmp_path: Path, capsys: Captured
) -> None:
    people = write_people(tmp_path, unit=unit)
    out = {name: tmp_path / f"out.{name}" for name in ("csv", "json", "report")}
    files = [word for name, path in out.items() for word in (f"--{name}", str(path))]
    assert main(["sql", *people, SELECT, *BUDGETS[budget], *files]) == 0
    shown = capsys.readouterr()
    result = sulq.hypotheses.ResultSet.from_json(out["json"].read_text())
    assert result.names == ("income", "cough", "n", "avg(height)", "median(age)", "rate")
    assert result.statement == SELECT and result.origin is not None and result.origin.rounds == 1
    assert out["csv"].read_text() == result.to_csv()
    lines = list(csv.reader(out["csv"].open()))
    assert len(lines) == 1 + 4 + 2 + 1 and len(lines[0]) == 2 + 4 * 4
    assert result._repr_html_() in out["report"].read_text() and result.picture() in out["report"].read_text()
    assert "the same command again costs nothing" in shown.out and shown.out.count("written: ") == 3
    assert spent(tmp_path / "people.csv.ledger") > 0


def test_the_same_questions_cost_nothing_however_the_result_is_shown(
    people: list[str], tmp_path: Path, capsys: Captured
) -> None:
    first = "SELECT income, avg(age) AS a FROM people GROUP BY income"
    other = "SELECT round(avg(age), 1) AS mean, income FROM x GROUP BY 2 HAVING avg(age) > 60 ORDER BY 1 DESC LIMIT 1"
    for text in (first, first, other):
        assert main(["sql", *people, text, "--epsilon", "1", "--share", "1/4"]) == 0
        assert spent(tmp_path / "people.csv.ledger") == Fraction(1, 4)
    assert capsys.readouterr().err.count("answered from the ledger") == 2
    assert main(["sql", *people, "SELECT avg(age) FROM people", "--epsilon", "1", "--share", "1/4"]) == 0
    assert spent(tmp_path / "people.csv.ledger") == Fraction(1, 2)


def test_a_dry_run_says_what_figures_would_be_off_by_and_spends_nothing(
    people: list[str], tmp_path: Path, capsys: Captured
) -> None:
    before = sorted(tmp_path.iterdir())
    assert (
        main(["sql", *people, SELECT, "--epsilon", "0.2", "--dry-run", "--csv", str(tmp_path / "o.csv")]) == 0
    )
    shown = capsys.readouterr().out
    assert sorted(tmp_path.iterdir()) == before
    assert "If rows spread evenly over the groups" in shown and "nothing was spent" in " ".join(shown.split())
    assert re.search(r"\n  n: ± \d+", shown) and re.search(r"avg\(height\): ± [\d.]+", shown)


@pytest.mark.parametrize("budget", BUDGETS)
def test_explain_shows_every_question_and_its_cost_and_spends_nothing(
    budget: str, people: list[str], tmp_path: Path, capsys: Captured
) -> None:
    before = sorted(tmp_path.iterdir())
    text = "explain SELECT income, avg(height), median(age) FROM people GROUP BY income"
    assert main(["sql", *people, text, *BUDGETS[budget], "--share", "1/2"]) == 0
    assert sorted(tmp_path.iterdir()) == before
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("  ")[0] for line in lines[1:6]] == [
        "how many rows, in 2 groups",
        "how many rows, in all",
        "the sum of it, less 1.25 a row, in 2 groups",
        "how many rows between 11 edges, in 2 groups",
        "how many rows between 102 edges, in 2 groups",
    ]
    assert "avg(height)" in lines[1] and "median(age)" in lines[5] and "202" in lines[5]
    assert lines[-1].startswith("One round, for ") and lines[-1].endswith("Nothing was spent.")
    costs = [float(re.findall(r"≈? ?([\d.]+(?:e-\d+)?) +(?:none|± )", line)[0]) for line in lines[1:6]]
    whole = Fraction(1, 2) * (Fraction(1, 2) if budget == "rho" else 4)
    if budget != "delta":
        assert sum(costs) == pytest.approx(float(whole), rel=1e-4)


def test_explain_needs_no_budget_for_exact_answers(people: list[str], capsys: Captured) -> None:
    assert main(["sql", *people, "EXPLAIN SELECT count(*) FROM people", "--exact"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "question       for       numbers",
        "how many rows  count(*)        1",
    ]


def test_exact_results_come_with_a_warning_and_no_ledger(
    people: list[str], tmp_path: Path, capsys: Captured
) -> None:
    assert main(["sql", *people, "SELECT count(*) AS n FROM people", "--exact"]) == 0
    shown = capsys.readouterr()
    assert shown.err.startswith("EXACT ANSWERS, NO PRIVACY.") and "600" in shown.out
    assert not (tmp_path / "people.csv.ledger").exists()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["SELECT count(*) FROM people"], "There is no default"),
        (["--epsilon", "1"], "required: statement; see `sulq sql --help`"),
        (
            ["SELECT max(age) FROM people", "--epsilon", "1"],
            "the largest value is one person's: ask for a quantile",
        ),
        (["EXPLAIN SELECT max(age) FROM p", "--epsilon", "1"], "the largest value is one person's"),
        (["SELECT * FROM people", "--epsilon", "1", "--dry-run"], "this shows single rows"),
        (["SELECT town FROM people", "--epsilon", "1"], "no column 'town'"),
        (["SELECT count( FROM", "--epsilon", "1"], "cannot read this SQL"),
        (
            ["SELECT count(*) FROM people", "--bins", "town=3", "--epsilon", "1"],
            "with a column of the schema",
        ),
        (["SELECT median(age) FROM p", "--bins", "age=3,2", "--epsilon", "1"], "increasing order"),
        (["SELECT count(*) FROM people", "--share", "2", "--epsilon", "1"], "share must be"),
        (
            ["SELECT count(*) FROM people", "--csv", "/nowhere/out.csv", "--epsilon", "1"],
            "cannot write --csv",
        ),
    ],
)
def test_what_is_not_answered_is_refused_in_one_line_and_leaves_no_ledger(
    arguments: list[str], complaint: str, people: list[str], tmp_path: Path, capsys: Captured
) -> None:
    before = sorted(tmp_path.iterdir())
    assert main(["sql", *people, *arguments]) == 2
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.startswith("sulq: ") and complaint in shown.err
    assert shown.err.count("\n") == 1 and sorted(tmp_path.iterdir()) == before


def test_no_message_depends_on_a_row(tmp_path: Path, capsys: Captured) -> None:
    """Files that nobody may tell apart give the same refusals, explanations and shapes of results."""
    header, cells = (
        "age,height,income,cough,flu",
        {"none": "", "one": "20,1.5,>50K,true,false", "odd": 'x,,"",2,NaN'},
    )
    found = {}
    for name, line in cells.items():
        folder = tmp_path / name
        folder.mkdir()
        people = write_people(folder, rows=1)
        (folder / "people.csv").write_text(f"{header}\n" + (f"{line}\n" if line else ""))
        outcomes = []
        for text in (
            SELECT,
            f"EXPLAIN {SELECT}",
            "SELECT max(age) FROM p",
            "SELECT height FROM p GROUP BY 1",
            "SELECT (",
        ):
            options = ["--epsilon", "1", "--neighbours", "add-remove"]
            code = main(["sql", *people, text, *options, "--csv", str(folder / "out.csv")])
            shown = capsys.readouterr()
            explains = text.startswith("EXPLAIN") or code == 2
            outcomes.append((code, shown.out if explains else "", shown.err if explains else ""))
        table = list(csv.reader((folder / "out.csv").open()))
        found[name] = outcomes, [line[:2] for line in table], table[0]
    assert found["none"] == found["one"] == found["odd"]
    assert [code for code, *_ in found["none"][0]] == [0, 0, 2, 2, 2]


def test_without_its_parser_it_says_what_to_install(
    people: list[str], capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in [
        name for name in sys.modules if name.split(".")[0] == "sqlglot" or name.startswith("sulq.statements.")
    ]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "sqlglot", None)
    assert main(["sql", *people, "SELECT count(*) FROM p", "--epsilon", "1"]) == 2
    assert (
        capsys.readouterr().err
        == "sulq: SQL is read by sqlglot, which is not installed: pip install 'sulq[sql]'\n"
    )


def test_help_teaches_by_examples_that_can_be_read(people: list[str], capsys: Captured) -> None:
    with pytest.raises(SystemExit) as left:
        main(["sql", "--help"])
    assert left.value.code == 0
    shown = capsys.readouterr().out
    for example in SQL.examples:
        assert f"sulq sql people.csv --schema people.toml {example}" in shown
        assert _parser().parse_args(["sql", *people, *shlex.split(example)]).epsilon == "1"
