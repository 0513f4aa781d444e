from __future__ import annotations

import io
import re
import shlex
from fractions import Fraction
from pathlib import Path

import pytest
from rich.console import Console

import sulq
from sulq.cli import _parser, main
from sulq.commands.checks import ledger_place
from sulq.commands.learners import COMMANDS, run_name
from sulq.commands.show import told_of
from sulq.plans.watching import Watched
from sulq.talk.answers import Answer
from tests.commands.people import spent, write_people

Captured = pytest.CaptureFixture[str]

LEARNERS = {
    "tree": ["--label", "income == >50K", "--depth", "2", "--bins", "age=25,51,75"],
    "classifier": ["--label", "flu"],
    "regressor": ["--label", "age"],
    "additive": ["--label", "flu", "--refinements", "2", "--bins", "age=25,51,75"],
    "linear": ["--label", "height", "--features", "age,flu"],
    "logistic": ["--label", "flu", "--steps", "1"],
    "bayes": ["--label", "flu", "--bins", "age=25,51,75"],
    "list": ["--label", "flu", "--length", "2"],
    "kmeans": ["--k", "2", "--features", "age,height"],
    "pca": ["--components", "1", "--norm", "1.5"],
    "perceptron": ["--label", "flu", "--iterations", "2", "--keep", "average"],
    "conjunction": ["--label", "flu", "--features", "cough,age>50", "--negations", "--share", "1/2"],
    "parity": [
        "--label",
        "flu",
        "--features",
        "cough",
        "--constant",
        "--error",
        "0.5",
        "--confidence",
        "0.9",
    ],
    "pairs": ["--label", "flu", "--columns", "age,cough,flu"],
    "stump": ["--label", "income == >50K", "--bins", "age=25,51,75"],
}
ROUNDS = [name for name in LEARNERS if name not in ("parity", "stump")]
KINDS: dict[str, type[sulq.Hypothesis]] = {
    "tree": sulq.hypotheses.Tree,
    "kmeans": sulq.hypotheses.Centres,
    "pca": sulq.hypotheses.Components,
    "classifier": sulq.Hypothesis,
    "regressor": sulq.hypotheses.AdditiveModel,
    "additive": sulq.hypotheses.AdditiveModel,
    "linear": sulq.hypotheses.LinearModel,
    "logistic": sulq.hypotheses.LogisticModel,
    "bayes": sulq.hypotheses.AdditiveModel,
    "list": sulq.hypotheses.RuleList,
    "perceptron": sulq.hypotheses.Halfspace,
    "conjunction": sulq.hypotheses.Rule,
    "parity": sulq.hypotheses.ParityRule,
    "pairs": sulq.hypotheses.PairsRelease,
    "stump": sulq.hypotheses.Selected,
}


def test_every_command_has_a_test() -> None:
    assert {command.name for command in COMMANDS} == set(LEARNERS) == set(KINDS)


@pytest.mark.parametrize("name", [*ROUNDS, "stump"])
@pytest.mark.parametrize("budget", [["--epsilon", "2"], ["--rho", "0.5", "--neighbours", "add-remove"]])
def test_each_learner_runs_from_a_file_to_its_results(
    name: str, budget: list[str], people: list[str], tmp_path: Path, capsys: Captured
) -> None:
    results = ["--report", str(tmp_path / "out.html"), "--json", str(tmp_path / "out.json")]
    assert main(["learn", name, *people, *LEARNERS[name], *budget, *results]) == 0
    said = capsys.readouterr()
    assert "the same command again costs nothing" in said.out
    assert said.err.startswith("round 1: ")
    hypothesis = KINDS[name].from_json((tmp_path / "out.json").read_text())
    assert hypothesis.origin is not None
    assert said.err.count("\n") == hypothesis.origin.rounds
    assert hypothesis.origin.run in said.out
    assert hypothesis.picture() in (tmp_path / "out.html").read_text()
    assert 0 < spent(tmp_path / "people.csv.ledger") <= 2


def test_a_file_in_the_place_of_a_learner_is_classified_by_whichever_fits(
    people: list[str], tmp_path: Path, capsys: Captured
) -> None:
    report = tmp_path / "out.html"
    assert main(["learn", *people, "--label", "flu", "--epsilon", "2", "--report", str(report)]) == 0
    assert "Chosen: " in capsys.readouterr().out
    assert "<p>Chosen: " in report.read_text()
    assert main(["learn", *people, "--label", "flu", "--epsilon", "2", "--dry-run"]) == 0
    assert "Chosen here: " in capsys.readouterr().out


def test_a_number_without_the_name_of_a_learner_is_refused_with_the_name_of_the_command_that_predicts_it(
    people: list[str], tmp_path: Path, capsys: Captured
) -> None:
    assert main(["learn", *people, "--label", "age", "--epsilon", "2"]) == 2
    assert "age is a number, and no class: `sulq learn regressor` predicts it" in capsys.readouterr().err
    assert not (tmp_path / "people.csv.ledger").exists()


def test_the_same_command_again_costs_nothing_and_says_the_same(
    people: list[str], tmp_path: Path, capsys: Captured
) -> None:
    command = ["learn", "tree", *people, *LEARNERS["tree"], "--epsilon", "1", "--share", "1/4"]
    results = []
    for number in range(2):
        path = tmp_path / f"{number}.json"
        assert main([*command, "--json", str(path)]) == 0
        results.append(path.read_text())
        assert spent(tmp_path / "people.csv.ledger") == Fraction(1, 4)
    said = capsys.readouterr()
    assert results[0] == results[1]
    assert "only ε = 0 of it now" in said.out
    assert "answered from the ledger" in said.err
    assert main([*command, "--run", "another"]) == 0
    assert spent(tmp_path / "people.csv.ledger") == Fraction(1, 2)


def test_a_run_that_was_interrupted_goes_on_where_it_stopped(
    people: list[str], tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ["learn", "perceptron", *people, *LEARNERS["perceptron"], "--epsilon", "100"]
    ask = Watched.ask

    def interrupted(self: Watched, round_: sulq.Round, run: str = "main") -> list[Answer]:
        if len(self.asked) == 1:
            raise KeyboardInterrupt
        return ask(self, round_, run)

    with monkeypatch.context() as patched:
        patched.setattr(Watched, "ask", interrupted)
        assert main(command) == 130
    assert "interrupted" in capsys.readouterr().err
    assert spent(tmp_path / "people.csv.ledger") == 30, "a first look"
    assert main(command) == 0
    assert spent(tmp_path / "people.csv.ledger") <= 100
    warning, first, *_ = capsys.readouterr().err.splitlines()
    assert warning.startswith("warning: ε = 100 promises next to nothing")
    assert "answered from the ledger" in first


@pytest.mark.parametrize("name", ROUNDS)
def test_a_dry_run_spends_nothing_and_leaves_nothing(
    name: str, people: list[str], tmp_path: Path, capsys: Captured
) -> None:
    before = sorted(tmp_path.iterdir())
    results = ["--report", str(tmp_path / "out.html"), "--dry-run"]
    assert main(["learn", name, *people, *LEARNERS[name], "--epsilon", "1", *results]) == 0
    assert sorted(tmp_path.iterdir()) == before
    said = capsys.readouterr().out
    for words in ("600 made-up rows", "nothing was spent", "error at 95 %", "people.csv.ledger"):
        assert words in " ".join(said.split())


def test_a_dry_run_says_what_is_left_of_a_budget_and_leaves_it(
    people: list[str], tmp_path: Path, capsys: Captured
) -> None:
    command = ["learn", "pca", *people, "--components", "1", "--epsilon", "1", "--share", "1/4"]
    assert main(command) == 0
    capsys.readouterr()
    assert main([*command, "--dry-run"]) == 0
    assert "ε = 0.75 of 1 is left" in " ".join(capsys.readouterr().out.split())
    assert spent(tmp_path / "people.csv.ledger") == Fraction(1, 4)
    command[command.index("--epsilon") + 1] = "2"
    assert main([*command, "--dry-run"]) == 2
    assert (
        "the promise was ε = 1 (pure) and is ε = 2 (pure): the run would be refused"
        in capsys.readouterr().err
    )


def test_where_the_number_of_rows_is_not_public_a_dry_run_has_to_be_told(
    tmp_path: Path, capsys: Captured
) -> None:
    command = ["learn", "pca", *write_people(tmp_path, unit=True), "--components", "1", "--epsilon", "1"]
    assert main([*command, "--dry-run"]) == 2
    assert "--rows N" in capsys.readouterr().err
    assert main([*command, "--dry-run", "--rows", "5000"]) == 0
    assert "5,000 made-up rows" in capsys.readouterr().out


def test_a_dry_run_with_a_number_of_rows_reads_no_row(
    people: list[str], capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(*_: object) -> None:
        raise AssertionError("a row was read")

    monkeypatch.setattr("sulq.sources.csv_files.CsvFiles._chunks", read)
    command = ["learn", "pca", *people, "--components", "1", "--epsilon", "1", "--dry-run"]
    assert main([*command, "--rows", "100"]) == 0
    with pytest.raises(AssertionError, match="a row was read"):
        main(command)


def test_exact_answers_come_with_a_warning_and_no_ledger(
    people: list[str], tmp_path: Path, capsys: Captured
) -> None:
    report = tmp_path / "out.html"
    assert main(["learn", "tree", *people, *LEARNERS["tree"], "--exact", "--report", str(report)]) == 0
    said = capsys.readouterr()
    assert said.err.startswith("EXACT ANSWERS, NO PRIVACY.")
    assert "must not be published" in report.read_text()
    assert not (tmp_path / "people.csv.ledger").exists()


def test_pruning_decides_what_is_shown_and_not_what_is_kept_and_costs_nothing(
    people: list[str], tmp_path: Path, capsys: Captured
) -> None:
    command = ["learn", "tree", *people, *LEARNERS["tree"], "--epsilon", "1"]
    shown, kept = [], []
    for prune in ("--prune", "--no-prune"):
        files = ["--json", str(tmp_path / prune), "--report", str(tmp_path / f"{prune}.html")]
        assert main([*command, prune, *files]) == 0
        shown.append(len(re.findall(r" rows? ", capsys.readouterr().out)))
        kept.append((tmp_path / prune).read_text())
    assert kept[0] == kept[1], "the second run is answered from the ledger"
    tree = sulq.hypotheses.Tree.from_json(kept[0])
    assert shown[0] <= shown[1]
    assert len(re.findall(r" rows?, ", tree.describe(prune=False))) == len(tree.ends)
    assert "±" in (tmp_path / "--prune.html").read_text()


def test_the_ledger_is_where_a_curator_would_have_put_it(people: list[str], tmp_path: Path) -> None:
    source = sulq.open(people[0], people[2])
    assert source.curator(epsilon=1).ledger.path == Path(ledger_place(source, None)).resolve()


def test_the_name_of_a_run_follows_from_all_settings_of_a_learner() -> None:
    learners: list[sulq.Learner] = [  # type: ignore[type-arg]
        sulq.ID3("sick"),
        sulq.ID3(sulq.col("age") > 50),
        sulq.ID3(sulq.col("age") > 51),
        sulq.ID3("sick", bins={"age": [1]}),
        sulq.ID3("sick", bins={"age": [2]}),
        sulq.ID3("sick", share="1/2"),
    ]
    assert len({run_name("tree", learner) for learner in learners}) == len(learners)
    assert run_name("tree", sulq.ID3("sick", bins={"age": [1]})) == run_name("tree", learners[3])


@pytest.mark.parametrize("name", [None, *LEARNERS])
def test_help_teaches_by_example(name: str | None, capsys: Captured) -> None:
    with pytest.raises(SystemExit) as left:
        main(["learn", *([] if name is None else [name]), "--help"])
    assert left.value.code == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "sulq learn" in shown
    assert "--dry-run" in shown
    assert name is not None or "`sulq learn people.csv ...` is `sulq learn classifier" in shown
    assert "option_strings" not in shown  # what argparse makes of a bare percent sign


def test_the_examples_of_every_command_can_be_read(people: list[str]) -> None:
    """They are for a table with other columns, so only the command line itself is tried."""
    for command in COMMANDS:
        for example in command.examples:
            options = _parser().parse_args(["learn", command.name, *people, *shlex.split(example)])
            assert options.epsilon == "1"


def test_on_a_terminal_one_line_tells_of_the_round_and_goes_away() -> None:
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=60)
    watched = Watched(sulq.randhie().curator(epsilon=1), told_of(console, None))
    watched.ask(sulq.Round([sulq.count(by="plan")], share=0.1))
    shown = screen.getvalue()
    assert "round 1: how many rows, in 5 groups" in shown
    assert "\n" not in shown
    assert shown.endswith("\r\x1b[2K")


def test_line_ends_in_quotes_are_read_where_they_are_declared(tmp_path: Path, capsys: Captured) -> None:
    people = write_people(tmp_path)
    data = Path(people[0])
    header, first, *lines = data.read_text().splitlines()
    data.write_text("\n".join([f"{header},note", f'{first},"two\nlines"', *lines, ""]))
    command = ["learn", "pca", *people, "--components", "1", "--epsilon", "1", "--dry-run"]
    told = []
    for option in ([], ["--quoted-newlines"]):
        assert main([*command, *option]) == 0
        told.append(capsys.readouterr().out)
    assert "601 made-up rows" in told[0]
    assert "600 made-up rows" in told[1]


def test_a_run_that_an_earlier_version_began_has_the_same_name() -> None:
    label, features = sulq.col("age") >= 50, [~sulq.col("a")]
    assert run_name("tree", sulq.ID3(label, ["sex"], depth=2)) == "tree-9c4e851b"
    assert run_name("conjunction", sulq.Conjunction("y", features)) == "conjunction-8620221e"
    assert run_name("kmeans", sulq.KMeans(3)) == "kmeans-0184d2de"


def test_a_setting_that_came_later_is_no_part_of_a_runs_name_unless_it_is_stated() -> None:
    """So that a run that began before the setting goes on under its name, at no further cost."""
    for plain, stated in (
        (sulq.ID3("y"), sulq.ID3("y", pick="counts", gamma=5)),
        (sulq.KMeans(3), sulq.KMeans(3, step="paper")),
        (sulq.SVD(1), sulq.SVD(1, scaled=False)),
        (sulq.Perceptron("y"), sulq.Perceptron("y", stop=2)),
    ):
        assert run_name("x", plain) != run_name("x", stated)
    assert run_name("kmeans", sulq.KMeans(3)) == "kmeans-0184d2de"
