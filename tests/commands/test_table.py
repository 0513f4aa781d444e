"""`sulq table`: from a file to figures with bounds, on the road of `sulq learn`."""

from __future__ import annotations

import csv
import re
import shlex
from fractions import Fraction
from pathlib import Path

import pytest

import sulq
from sulq.cli import _parser, main
from sulq.commands.learners import run_name
from sulq.commands.table import TABLE
from sulq.hypotheses import Tabulation
from sulq.ledger.ledger import Ledger
from tests.commands.people import write_people

Captured = pytest.CaptureFixture[str]
MEASURES = [
    "--by",
    "income,cough",
    "--mean",
    "height",
    "--median",
    "age",
    "--rate",
    "flu,age>50",
    "--sum",
    "age",
]
BUDGETS = {
    "epsilon": ["--epsilon", "4"],
    "delta": ["--epsilon", "4", "--delta", "1e-6"],
    "rho": ["--rho", "0.5", "--neighbours", "add-remove"],
}


def spent(ledger: Path) -> Fraction:
    with Ledger.read(ledger) as opened:
        return opened.spent


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("unit", [False, True])
def test_a_table_goes_from_a_file_to_all_of_its_results(
    budget: str, unit: bool, tmp_path: Path, capsys: Captured
) -> None:
    people = write_people(tmp_path, unit=unit)
    out = {name: tmp_path / f"out.{name}" for name in ("csv", "json", "report")}
    files = [word for name, path in out.items() for word in (f"--{name}", str(path))]
    assert main(["table", *people, *MEASURES, "--where", "age>=18", *BUDGETS[budget], *files]) == 0
    shown = capsys.readouterr()
    table = Tabulation.from_json(out["json"].read_text())
    names = ["count", "sum age", "mean height", "share flu", "share age > 50", "median age"]
    assert list(table.names) == names and table.origin is not None and table.origin.rounds == 1
    assert out["csv"].read_text() == table.to_csv(margins=True)
    lines = list(csv.reader(out["csv"].open()))
    assert len(lines) == 1 + 4 + 2 + 2 + 1 and len(lines[0]) == 2 + 4 * 6
    assert table._repr_html_() in out["report"].read_text() and table.picture() in out["report"].read_text()
    assert "only rows with age >= 18" in " ".join(shown.out.split())
    assert "the same command again costs nothing" in shown.out and shown.out.count("written: ") == 3
    assert spent(tmp_path / "people.csv.ledger") > 0


def test_the_same_table_again_costs_nothing_also_in_whole_numbers(
    people: list[str], tmp_path: Path, capsys: Captured
) -> None:
    command = ["table", *people, "--by", "income", "--epsilon", "1", "--share", "1/4", "--csv"]
    for number, option in enumerate([[], [], ["--whole"]]):
        assert main([*command, str(tmp_path / f"{number}.csv"), *option]) == 0
        assert spent(tmp_path / "people.csv.ledger") == Fraction(1, 4)
    first, second, whole = ((tmp_path / f"{number}.csv").read_text() for number in range(3))
    assert first == second
    counts = [float(line["count"]) for line in csv.DictReader(whole.splitlines())]
    assert counts[0] + counts[1] == counts[2] == 600
    assert "answered from the ledger" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("epsilon", "bounds"),
    [
        ("0.02", ["count: ± 4,200 rows;", "sum age: ± 310,000;"]),
        ("0.2", ["count: ± 420 rows;", "sum age: ± 31,000;"]),
        ("40000", ["count: ± 0 rows\n", "sum age: ± 0\n", "share flu: ± 0 %\n", "median age: ± 0\n"]),
    ],
)
def test_a_dry_run_says_what_figures_would_be_off_by_and_spends_nothing(
    epsilon: str, bounds: list[str], people: list[str], tmp_path: Path, capsys: Captured
) -> None:
    """The bounds of counts and sums follow from ε alone. Quotients and quantiles are rehearsed with noise: where it
    drowns 600 rows, the median of an age from 0 to 100 may be anything, so its bound is 50 or more."""
    before = sorted(tmp_path.iterdir())
    csv_file = ["--csv", str(tmp_path / "out.csv")]
    assert main(["table", *people, *MEASURES, "--epsilon", epsilon, "--dry-run", *csv_file]) == 0
    assert sorted(tmp_path.iterdir()) == before
    shown = capsys.readouterr().out
    assert "If rows spread evenly over the cells" in shown and "nothing was spent" in " ".join(shown.split())
    assert [bound for bound in bounds if bound not in shown] == []
    [(median, within)] = re.findall(r"median age: ± (\d+)(?:; (\d) of 4 within the noise)?\n", shown)
    assert (
        (median, within) == ("0", "")
        if epsilon == "40000"
        else 50 <= int(median) <= 100 and within in ("3", "4")
    )


def test_figures_within_the_noise_are_said_in_words(people: list[str], capsys: Captured) -> None:
    assert main(["table", *people, "--by", "income", "--epsilon", "0.001"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "count: 2 of 2 are within the noise (in brackets)" in shown


def test_exact_tables_come_with_a_warning_and_no_ledger(
    people: list[str], tmp_path: Path, capsys: Captured
) -> None:
    assert main(["table", *people, "--by", "cough", "--quantile", "height=0.1,0.9", "--exact"]) == 0
    shown = capsys.readouterr()
    assert shown.err.startswith("EXACT ANSWERS, NO PRIVACY.") and "90 % quantile height" in shown.out
    assert not (tmp_path / "people.csv.ledger").exists()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--by", "income"], "There is no default"),
        (["--by", "town", "--epsilon", "1"], "there is no column 'town'"),
        (["--by", "height", "--epsilon", "1"], "use bins with public edges"),
        (["--by", "height", "--bins", "height=2,1", "--epsilon", "1"], "increasing order"),
        (["--by", "income,income", "--epsilon", "1"], "a group is named twice"),
        (["--mean", "income", "--epsilon", "1"], "is a category, not a number"),
        (["--median", "weight", "--epsilon", "1"], "no column 'weight'"),
        (["--rate", "age", "--epsilon", "1"], "is not true or false"),
        (["--quantile", "age", "--epsilon", "1"], "cannot read the quantiles 'age': write COLUMN=0.25,0.75"),
        (["--quantile", "age=2", "--epsilon", "1"], "a level between 0 and 1, not 2.0"),
        (["--where", "age", "--epsilon", "1"], "is not true or false"),
        (["--where", "age>200", "--epsilon", "1"], "is the same for every row"),
        (["--csv", "/nowhere/out.csv", "--epsilon", "1"], "cannot write --csv"),
        (["--csv", "same", "--json", "same", "--epsilon", "1"], "would overwrite"),
        (["--share", "2", "--epsilon", "1"], "share must be"),
    ],
)
def test_what_is_no_table_is_refused_in_one_line_and_leaves_no_ledger(
    arguments: list[str],
    complaint: str,
    people: list[str],
    tmp_path: Path,
    capsys: Captured,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    assert main(["table", *people, *arguments]) == 2
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.startswith("sulq: ") and complaint in shown.err
    assert shown.err.count("\n") == 1 and sorted(tmp_path.iterdir()) == before


def test_help_teaches_by_examples_that_can_be_read(people: list[str], capsys: Captured) -> None:
    with pytest.raises(SystemExit) as left:
        main(["table", "--help"])
    assert left.value.code == 0
    shown = capsys.readouterr().out
    for example in TABLE.examples:
        assert f"sulq table people.csv --schema people.toml {example}" in shown
        assert _parser().parse_args(["table", *people, *shlex.split(example)]).epsilon == "1"


def test_the_name_of_a_run_follows_from_what_is_asked() -> None:
    one, two = sulq.Table(["a"], where=sulq.col("b") > 3), sulq.Table(["a"], where=sulq.col("b") > 4)
    whole = sulq.Table(["a"], where=sulq.col("b") > 3, whole=True)
    assert run_name("table", one) == run_name("table", whole) != run_name("table", two)
