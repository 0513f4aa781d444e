"""What a learner that asks for one release says before it: what is released, at what cost, and how precise it is."""

from __future__ import annotations

from pathlib import Path

import pytest

import sulq
from sulq.plans.rehearsal import priced
from tests.commands.releases import (
    PARITY,
    SELECT,
    STUMP,
    Captured,
    run,
    words,
    write_people,
)


@pytest.fixture
def people(tmp_path: Path) -> list[str]:
    return write_people(tmp_path)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (PARITY, ["which parity of 4 features fits the rows", "wrong on at most 20 %", "rows on"]),
        ([*PARITY, "--constant"], ["which parity of 5 features"]),
        (STUMP, ["which of 12 hypotheses is wrong least often"]),
        ([*STUMP, "--error", "0.1"], ["at most 10 % of the population beyond the best, 95 % sure"]),
        (SELECT, ["which of 16 hypotheses"]),
        ([*SELECT, "--negations"], ["which of 81 hypotheses"]),
        ([*SELECT, "--size", "2", "--negations"], ["which of 33 hypotheses"]),
    ],
)
def test_a_dry_run_says_what_is_released_at_what_cost_and_leaves_nothing(
    arguments: list[str],
    told: list[str],
    people: list[str],
    tmp_path: Path,
    capsys: Captured,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "300")  # a narrow table would break its lines anywhere
    before = sorted(tmp_path.iterdir())
    more = ["--epsilon", "40", "--share", "1/2", "--dry-run", "--report", str(tmp_path / "out.html")]
    assert run(arguments, people, *more) == 0
    assert sorted(tmp_path.iterdir()) == before
    said = words(capsys.readouterr().out)
    told = [
        *told,
        "A rehearsal under ε = 40 (pure). The data was not asked, and nothing was spent.",
        "In all ε = 20 of 40; ",
    ]
    for part in told:
        assert part in said
    assert ("rows on" in said) == ("--error" in arguments)


@pytest.mark.parametrize(
    ("learner", "asked", "precision", "needed"),
    [
        (
            sulq.Parity("odd", ["a", "b"], error="0.05"),
            "which parity of 2 features fits the rows",
            "if the label is one, wrong on at most 5 % of the population, 95 % sure, from {} rows on",
            sulq.classes.sizes.parity_rows(2, 0.05, 0.05, 1),
        ),
        (
            sulq.Select(sulq.classes.Parities(["a", "b"]), "odd", error="0.1", confidence="0.9"),
            "which of 4 hypotheses is wrong least often",
            "at most 10 % of the population beyond the best, 90 % sure, from {} rows on",
            sulq.classes.sizes.occam_rows(4, 0.1, 0.1, 1),
        ),
        (
            sulq.Select(sulq.classes.Stumps(["a"]), "odd"),
            "which of 4 hypotheses is wrong least often",
            # (4 − 1)·exp(−r/2) reaches 0.05 at 8.2.
            "8 rows below the best",
            None,
        ),
    ],
)
def test_what_a_release_promises_follows_from_its_settings(
    learner: sulq.Parity | sulq.Select, asked: str, precision: str, needed: int | None, people: list[str]
) -> None:
    curator = sulq.open(people[0], people[2]).curator(epsilon=1, ledger=":memory:")
    plan = priced(learner, curator.offer)
    assert plan is not None
    [line] = plan.rounds[0].questions
    assert line.describe() == asked
    assert line.precision() == precision.format(None if needed is None else f"{needed:,}")
    assert plan.cost == 1
    assert curator.spent == 0


def test_a_dry_run_with_a_number_of_rows_reads_no_row(
    people: list[str], capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(*_: object) -> None:
        raise AssertionError("a row was read")

    monkeypatch.setattr("sulq.sources.csv_files.CsvFiles._chunks", read)
    assert run(PARITY, people, "--epsilon", "20", "--dry-run", "--rows", "100000") == 0
    assert "rows on" in words(capsys.readouterr().out)
    assert run(PARITY, people, "--epsilon", "20", "--dry-run", "--rows", "10") == 2
    assert "and there are 10;" in capsys.readouterr().err
    with pytest.raises(AssertionError, match="a row was read"):
        run(PARITY, people, "--epsilon", "20", "--dry-run")


def test_where_the_number_of_rows_is_private_none_is_needed_to_rehearse(
    tmp_path: Path, capsys: Captured
) -> None:
    people = write_people(tmp_path, unit=True)
    assert run(PARITY, people, "--epsilon", "40", "--dry-run") == 0
    assert "rows on" in words(capsys.readouterr().out)
    # Two rows each: half of the budget is for either, and too few rows cannot be refused.
    assert run([*PARITY, "--error", "0.0001"], people, "--epsilon", "40") == 0
    assert run(STUMP, people, "--epsilon", "40", "--share", "0") == 2
