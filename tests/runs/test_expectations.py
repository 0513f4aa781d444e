"""What to expect is said in words, and what is odd about a request is said before it is paid for."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from sulq.cli import main
from sulq.plans.watching import AskedRound, QuestionLine
from sulq.privacy.budget import budget
from sulq.runs.expectations import odd_requests, to_expect

SCHEMA = '[columns]\nold = { type = "boolean" }\nrich = { type = "boolean" }\nsick = { type = "boolean" }\n'


def asked(*lines: QuestionLine) -> list[AskedRound]:
    return [AskedRound(number, (line,), Fraction(1)) for number, line in enumerate(lines, 1)]


def counts(error: float | None, numbers: int = 8) -> QuestionLine:
    return QuestionLine("how many rows", numbers, "rows", error=error)


def choice(error: float | None) -> QuestionLine:
    return QuestionLine("which predicts best", 1, "best", error=error)


@pytest.mark.parametrize(
    ("lines", "rows", "sentences"),
    [
        (
            [counts(100.0)],
            5000,
            ["With 5,000 rows and ε = 0.3, counts are off by up to 100: groups of fewer"],
        ),
        ([counts(100.0)], 600, ["if rows spread evenly over 8 groups, all of them are within the noise."]),
        ([counts(100.0)], 90, ["nothing can be told from noise; ask for less, or spend more."]),
        # What a hypothesis is made of is asked for last.
        ([counts(900.0), counts(100.0)], 5000, ["off by up to 100:"]),
        ([choice(611.0), counts(77.0)], 500, ["off by up to 77:", "(100 %) worse than the best: expect no"]),
        (
            [choice(611.0), counts(77.0)],
            5000,
            ["off by up to 77:", "611 rows (12 %) worse than the best: exp"],
        ),
        (
            [choice(50.0)],
            50_000,
            ["the first choice may be 50 rows (0.10 %) worse than the best: what tells"],
        ),
        ([counts(0.0)], 5000, []),
        ([counts(None)], 5000, []),
        ([counts(9.0)], None, []),
        ([QuestionLine("the sum", 1, "units", error=3.0)], 100, []),
    ],
)
def test_what_to_expect_depends_on_rows_and_noise(
    lines: list[QuestionLine], rows: int | None, sentences: list[str]
) -> None:
    expected = to_expect(asked(*lines), rows, "ε = 0.3")
    assert len(expected) == len(sentences)
    assert all(part in sentence for sentence, part in zip(expected, sentences, strict=True))


@pytest.mark.parametrize(
    ("terms", "rows", "odd"),
    [
        ({"epsilon": 1}, 100, []),
        ({"epsilon": "19.9", "delta": "0.009"}, None, []),
        ({"epsilon": 20}, 100, ["ε = 20 promises"]),
        ({"epsilon": 1, "delta": "0.01"}, 100, ["δ = 0.01 promises"]),
        ({"rho": 9}, 100, ["ρ = 9, about ε = "]),
        ({"rho": 1}, 100, []),
        ({"epsilon": 1}, 0, ["there are no rows"]),
        ({"epsilon": 1}, None, []),
        ({"epsilon": 1000, "delta": "0.5"}, 0, ["δ = 0.5 promises", "ε = 1000 promises", "there are no"]),
    ],
)
def test_odd_requests_are_named(terms: dict[str, Any], rows: int | None, odd: list[str]) -> None:
    sentences = odd_requests(budget(terms.get("epsilon"), terms.get("delta"), terms.get("rho")), rows)
    assert len(sentences) == len(odd)
    assert all(sentence.startswith(start) for sentence, start in zip(sentences, odd, strict=True))


def test_exact_answers_are_warned_of_elsewhere() -> None:
    assert odd_requests(None, 0) == []


@pytest.fixture
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    Path("people.toml").write_text(SCHEMA)
    Path("person.toml").write_text('[unit]\ncolumn = "who"\nrows = 1\n' + SCHEMA)
    Path("people.csv").write_text("who,old,rich,sick\n")
    return ["people.csv", "--schema", "people.toml", "--label", "sick", "--depth", "1"]


def test_an_odd_request_is_met_with_a_warning_before_it_is_paid_for(
    people: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["learn", "tree", *people, "--epsilon", "1000"]) == 0
    errors = capsys.readouterr().err
    assert "warning: ε = 1000 promises next to nothing" in errors
    assert errors.index("warning: there are no rows") < errors.index("round 1")


def test_an_odd_rehearsal_is_met_with_the_same_warning(
    people: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    odd = ["--epsilon", "1", "--delta", "0.5", "--rows", "9", "--dry-run"]
    assert main(["learn", "tree", *people, *odd]) == 0
    assert "warning: δ = 0.5 promises next to nothing" in capsys.readouterr().err


@pytest.mark.parametrize("private", [["--neighbours", "add-remove"], ["--schema", "person.toml"]])
def test_where_the_number_of_rows_is_private_an_empty_file_is_not_mentioned(
    people: list[str], private: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["learn", "tree", *people, "--epsilon", "1", *private]) == 0
    assert "warning" not in capsys.readouterr().err


def test_a_refusal_is_one_line_without_warnings(
    people: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["learn", "tree", *people, "--epsilon", "1000", "--share", "2"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_dry_run_says_in_words_what_to_expect(
    people: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["learn", "tree", *people, "--epsilon", "0.1", "--rows", "100", "--dry-run"]) == 0
    shown = capsys.readouterr().out
    assert "With 100 rows and ε = 0.1, counts are off by up to" in shown
    assert "predicts best" not in shown  # so few rows are only counted
    assert main(["learn", "tree", *people, "--epsilon", "0.1", "--rows", "1000", "--dry-run"]) == 0
    assert "worse than the best: expect only what tells very much to be found" in " ".join(
        capsys.readouterr().out.split()
    )


def test_a_refusal_by_the_ledger_is_one_line_too(
    people: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["learn", "tree", *people, "--epsilon", "1"]) == 0
    capsys.readouterr()
    assert main(["learn", "tree", *people, "--epsilon", "1000"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_no_rows_cannot_be_rehearsed_on_unless_a_number_is_given(
    people: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["learn", "tree", *people, "--epsilon", "1", "--dry-run"]) == 2
    assert capsys.readouterr().err == "sulq: there are no rows: say how many to rehearse on, --rows N\n"
