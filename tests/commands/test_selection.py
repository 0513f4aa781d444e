"""The learners of `sulq learn` that ask for one release: parities, stumps, and conjunctions that are chosen."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

import sulq
from sulq.cli import main
from sulq.commands.learners import run_name
from sulq.plans.watching import AskedRound, Watched
from tests.commands.releases import (
    NO_PARITY,
    PARITY,
    RUNS,
    SELECT,
    STUMP,
    Captured,
    Text,
    run,
    spent,
    words,
    write_people,
)


@pytest.fixture
def people(tmp_path: Path) -> list[str]:
    return write_people(tmp_path)


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("budget", [["--epsilon", "20"], ["--rho", "100", "--neighbours", "add-remove"]])
def test_a_release_runs_from_a_file_to_its_results(
    name: str, budget: list[str], people: list[str], tmp_path: Path, capsys: Captured
) -> None:
    """The right hypothesis leads by hundreds of rows, so at these budgets another has a chance below 1e-30.

    A parity is missed with a chance of at most 1e-9, by its confidence.
    """
    arguments, said = RUNS[name]
    results = ["--report", str(tmp_path / "out.html"), "--json", str(tmp_path / "out.json")]
    assert run(arguments, people, *budget, *results) == 0
    told = capsys.readouterr()
    kind = {"parity": sulq.hypotheses.ParityRule, "stump": sulq.hypotheses.Selected}.get(
        arguments[0], sulq.hypotheses.Rule
    )
    hypothesis = kind.from_json((tmp_path / "out.json").read_text())
    assert hypothesis.describe() == said
    assert hypothesis.origin is not None
    assert told.out.startswith(f"{said}\n")
    assert f"{hypothesis.origin.run}: the same command again costs nothing" in told.out
    *warnings, asked = told.err.splitlines()
    assert asked.startswith("round 1: which ")
    assert all(line.startswith("warning: ") for line in warnings)
    page = (tmp_path / "out.html").read_text()
    assert hypothesis.picture() in page
    assert "sulq.Hypothesis.from_json" in page
    assert "What it cost" in page
    assert spent(tmp_path) == Fraction(budget[1])


def test_a_parity_is_tested_on_rows_of_its_own(people: list[str], capsys: Captured) -> None:
    """All parts may say ⊥, with a chance of 2^-13. Another parity is found with a chance below 1e-30."""
    arguments = [*PARITY[:5], "--amplification", "test-set", "--error", "0.5", "--confidence", "0.99"]
    assert run(arguments, people, "--epsilon", "20", "--dry-run") == 0
    assert run(arguments, people, "--rho", "100", "--neighbours", "add-remove") == 2
    assert "a test set needs a public number of rows" in capsys.readouterr().err
    assert run(arguments, people, "--epsilon", "20") == 0
    assert capsys.readouterr().out.startswith(("a xor c\n", "⊥: no parity was found"))


def test_the_same_release_again_costs_nothing_and_another_name_is_another_run(
    people: list[str], tmp_path: Path, capsys: Captured
) -> None:
    more = ["--epsilon", "40", "--share", "1/4"]
    for _ in range(2):
        assert run(PARITY, people, *more) == 0
        assert spent(tmp_path) == 10
    told = capsys.readouterr()
    assert "answered from the ledger" in told.err
    assert "only ε = 0 of it now" in told.out
    assert run(PARITY, people, *more, "--run", "another") == 0
    assert spent(tmp_path) == 20
    assert run(STUMP, people, *more) == run(SELECT, people, *more) == 0
    assert run(STUMP, people, "--epsilon", "40", "--share", "1/8") == 2
    assert "the budget is spent" in capsys.readouterr().err
    assert run(STUMP, people, *more) == 0
    assert main(["ledger", "show", str(tmp_path / "people.csv.ledger"), "--entries"]) == 0
    shown = capsys.readouterr().out
    assert "solve" in shown and "pick" in shown


def test_that_no_parity_was_found_is_an_outcome(people: list[str], tmp_path: Path, capsys: Captured) -> None:
    """Each run solves the equations of over a thousand rows of 16 kinds, every kind with both labels a hundred
    times: that no two contradict each other has a chance below 1e-30.
    """
    results = ["--report", str(tmp_path / "out.html"), "--json", str(tmp_path / "out.json")]
    assert run(NO_PARITY, people, "--epsilon", "4", *results) == 0
    told = capsys.readouterr()
    assert "⊥: no parity was found." in words(told.out)
    assert "was at most 5 %" in words(told.out)
    assert "the same command again costs nothing" in told.out
    assert not sulq.hypotheses.Nothing.from_json((tmp_path / "out.json").read_text())
    page = (tmp_path / "out.html").read_text()
    said = words(Text(page).said)
    for part in (
        "No parity found in people.csv",
        "⊥: no parity was found.",
        "ε = 4 (pure)",
        "This run cost ε = 4",
    ):
        assert part in said
    assert "from_json" not in page and page.count("<svg") == 1  # what ε means is drawn all the same
    assert spent(tmp_path) == 4


@pytest.mark.parametrize("name", RUNS)
def test_exact_answers_show_what_privacy_took(name: str, people: list[str], capsys: Captured) -> None:
    arguments, said = RUNS[name]
    assert run(arguments, people, "--exact") == 0
    told = capsys.readouterr()
    assert told.out.startswith(f"{said}\n")
    assert "NO PRIVACY" in told.err


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([*PARITY, "--epsilon", "0.1"], "rows, and there are 4000; nothing was spent"),
        (
            [*NO_PARITY, "--epsilon", "0.01"],
            "insufficient samples: an error of 0.2 with d = 4 and ε = 0.01 needs",
        ),
        (
            [*STUMP, "--error", "0.001", "--epsilon", "1"],
            "an error of 0.001 among 12 hypotheses at ε = 1 needs",
        ),
        ([*SELECT, "--error", "0.001", "--epsilon", "1"], "insufficient samples"),
        ([*SELECT, "--error", "0", "--epsilon", "1"], "error must"),
        ([*PARITY, "--confidence", "1", "--epsilon", "9"], "beta must"),
        ([*PARITY, "--sampling", "paper", "--epsilon", "90"], "at most 2"),
        ([*PARITY, "--share", "2", "--epsilon", "1"], "share must be"),
        (["parity", "--label", "age", "--epsilon", "9"], "not true or false"),
        (["parity", "--label", "plan", "--epsilon", "9"], "not true or false"),
        (["parity", "--label", "odd", "--features", "a,age", "--epsilon", "9"], "not true or false"),
        (["parity", "--label", "odd", "--features", "a,odd", "--epsilon", "9"], "own features"),
        (["parity", "--label", "odd", "--features", ",", "--epsilon", "9"], "no feature is named"),
        (["stump", "--label", "height", "--epsilon", "1"], "not true or false"),
        (["stump", "--label", "odd", "--features", "a,a", "--epsilon", "1"], "named twice"),
        (["stump", "--label", "odd", "--features", "odd", "--epsilon", "1"], "own features"),
        (["stump", "--label", "odd", "--features", "weight", "--epsilon", "1"], "no column 'weight'"),
        (
            ["stump", "--label", "odd", "--features", "a", "--bins", "age=3", "--epsilon", "1"],
            "'age' is none",
        ),
        (["stump", "--label", "odd", "--bins", "plan=3", "--epsilon", "1"], "'plan' is none"),
        ([*SELECT[:1], *SELECT[2:], "--size", "2", "--epsilon", "1"], "go with --select"),
        ([*SELECT[:1], *SELECT[2:], "--bins", "age=3", "--epsilon", "1"], "go with --select"),
        ([*SELECT, "--bins", "age=3", "--epsilon", "1"], "--bins go with --size"),
        ([*SELECT, "--size", "0", "--epsilon", "1"], "a whole number from 1"),
        ([*SELECT[:5], "a,age", "--epsilon", "1"], "not true or false"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line_and_leaves_no_ledger(
    arguments: list[str], complaint: str, people: list[str], tmp_path: Path, capsys: Captured
) -> None:
    before = sorted(tmp_path.iterdir())
    assert run(arguments, people) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("sulq: ")
    assert complaint in said.err
    assert said.err.count("\n") == 1
    assert sorted(tmp_path.iterdir()) == before


def test_a_class_too_large_for_memory_is_refused_with_its_size(tmp_path: Path, capsys: Captured) -> None:
    names = [f"x{i}" for i in range(40)]
    (tmp_path / "people.csv").write_text(f"{','.join(names)}\n")
    (tmp_path / "people.toml").write_text("".join(f'[columns.{name}]\ntype = "boolean"\n' for name in names))
    data = [str(tmp_path / "people.csv"), "--schema", str(tmp_path / "people.toml"), "--label", "x0"]
    for more, size in (([], 2**39), (["--negations"], 3**39)):
        assert main(["learn", "conjunction", *data, "--select", *more, "--epsilon", "1"]) == 2
        assert f"{size} hypotheses here, too many" in capsys.readouterr().err
    assert not (tmp_path / "people.csv.ledger").exists()


def test_a_charge_is_on_record_before_a_release_looks_at_a_row(
    people: list[str], tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:

        def interrupted(*_: object) -> None:
            raise KeyboardInterrupt

        patched.setattr("sulq.classes.pick.choose", interrupted)
        assert run(STUMP, people, "--epsilon", "40") == 130
    assert "interrupted" in capsys.readouterr().err
    assert spent(tmp_path) == 40
    assert run(STUMP, people, "--epsilon", "40") == 0
    assert spent(tmp_path) == 40


def test_the_names_of_runs_follow_from_all_settings() -> None:
    learners = [
        sulq.Parity("odd"),
        sulq.Parity("odd", constant=True),
        sulq.Parity("odd", amplification="test set"),
        sulq.Select(sulq.classes.Stumps(), "odd"),
        sulq.Select(sulq.classes.Stumps(edges={"age": [3]}), "odd"),
        sulq.Select(sulq.classes.Conjunctions(), "odd"),
        sulq.Select(sulq.classes.SmallConjunctions(2), "odd"),
        sulq.Select(sulq.classes.SmallConjunctions(3), "odd"),
        sulq.Select(sulq.classes.SmallConjunctions(2, [sulq.col("age") > 3]), "odd"),
        sulq.Select(sulq.classes.SmallConjunctions(2, [sulq.col("age") > 4]), "odd"),
    ]
    assert len({run_name("learn", learner) for learner in learners}) == len(learners)
    assert run_name("learn", sulq.Select(sulq.classes.Conjunctions(), "odd")) == run_name(
        "learn", learners[5]
    )


def test_a_release_is_watched_like_every_round(people: list[str]) -> None:
    curator = sulq.open(people[0], people[2]).curator(epsilon=1, ledger=":memory:").part("1/2")
    told: list[tuple[AskedRound, bool]] = []
    learner = sulq.Select(sulq.classes.Stumps(["a"]), "odd")
    watched = Watched(curator, lambda *said: told.append(said))
    learner.learn(watched)
    assert curator.spent == watched.spent == Fraction(1, 2)
    assert [done for _, done in told] == [False, True]
    assert watched.asked[0].charged == Fraction(1, 2)
    learner.learn(watched)
    assert watched.asked[1].stored
