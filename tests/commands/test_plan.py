from __future__ import annotations

from pathlib import Path

import pytest

from sulq.cli import main
from tests.commands.people import write_people

Captured = pytest.CaptureFixture[str]


def said(capsys: Captured, *arguments: str) -> str:
    assert main(["plan", *arguments]) == 0
    return capsys.readouterr().out


def test_rows_are_told_for_every_trust_model_and_drawn_against_epsilon(
    capsys: Captured, tmp_path: Path
) -> None:
    picture = tmp_path / "rows.svg"
    out = said(capsys, "conjunction", "--dimension", "5", "--epsilon", "1", "--svg", str(picture))
    for words in ("a sample, no privacy", "a trusted curator", "a crowd", "rows, tight", "Theorem 7"):
        assert words in out
    assert "5 queries, the finest of tolerance 0.01" in out
    assert "Rows it takes to learn a conjunction of 5 bits" in out
    assert picture.read_text().count("<polyline") == 3


def test_with_rows_the_error_or_the_confidence_is_told(capsys: Captured) -> None:
    asked = ["--dimension", "4", "--epsilon", "1", "--rows", "20000", "--model", "curator"]
    out = said(capsys, "conjunction", *asked)
    assert "error, tight" in out
    assert "0.0061" in out
    assert "confidence, tight" in said(capsys, "masked-parity", *asked)


def test_without_epsilon_the_smallest_is_told(capsys: Captured) -> None:
    out = said(capsys, "parity", "--dimension", "8", "--rows", "5000", "--error", "0.05")
    assert "ε, tight" in out
    assert "Theorem 4.4 (full paper)" in out


def test_one_model_that_cannot_is_told_what_it_could(capsys: Captured) -> None:
    out = said(capsys, "masked-parity", "--dimension", "8", "--epsilon", "1", "--rows", "5000")
    assert "a crowd, nobody is trusted: 5,000 rows are too few: learning it exactly" in " ".join(out.split())


def test_wrong_labels_and_a_rehearsal(capsys: Captured, tmp_path: Path) -> None:
    out = said(capsys, "conjunction", "--dimension", "3", "--epsilon", "1", "--noise-rate", "0.2")
    assert "Theorem 8" in out
    _, _, schema = write_people(tmp_path)
    out = said(
        capsys,
        "tree",
        "--schema",
        schema,
        "--label",
        "flu",
        "--depth",
        "2",
        "--rows",
        "5000",
        "--epsilon",
        "1",
    )
    assert "An estimate: a rehearsal under ε = 1 (pure) on 5,000 made-up rows." in out
    assert "error at 95 %" in out


@pytest.mark.parametrize(
    ("arguments", "refusal"),
    [
        (
            ["conjunction", "--dimension", "0", "--epsilon", "1"],
            "--dimension must be a whole number from 1, got 0",
        ),
        (["conjunction", "--dimension", "4", "--model", "curator"], "state epsilon"),
        (["conjunction", "--dimension", "4", "--epsilon", "0"], "at 0 nothing can be learned"),
        (["conjunction", "--dimension", "4", "--epsilon", "1", "--error", "0"], "error must lie"),
        (["parity", "--dimension", "4", "--epsilon", "1", "--svg", "/nowhere/x.svg"], "cannot write"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(arguments: list[str], refusal: str, capsys: Captured) -> None:
    assert main(["plan", *arguments]) == 2
    told = capsys.readouterr().err
    assert refusal in told
    assert told.count("\n") == 1


def test_the_papers_noise_is_planned_for_a_curator(capsys: Captured) -> None:
    papers = ["--calibration", "sulq-laplace", "--queries", "50"]
    out = said(capsys, "conjunction", "--dimension", "8", "--epsilon", "1", *papers)
    assert "20,228" in out and "18,587" in out and "Theorem 3" in out
    assert "a crowd" not in out and "a sample" not in out
    out = said(capsys, "masked-parity", "--dimension", "4", "--epsilon", "1", *papers)
    assert "Theorem 3" in out
    gaussian = ["--calibration", "sulq-gaussian", "--queries", "500", "--delta", "1e-6"]
    out = said(capsys, "conjunction", "--dimension", "8", "--rows", "100000", *gaussian)
    assert "0.878" in out and "Theorem 1" in out
    out = said(capsys, "conjunction", "--dimension", "8", "--epsilon", "1", *gaussian, "--gamma", "1e-6")
    assert "Theorem 4" in out


def test_the_picture_leaves_out_where_the_papers_theorem_does_not_hold(capsys: Captured) -> None:
    """At ε = 5 its variance would be below 4."""
    few = ["--calibration", "sulq-gaussian", "--queries", "3", "--delta", "0.5"]
    out = said(capsys, "conjunction", "--dimension", "2", "--error", "0.4", "--epsilon", "0.2", *few)
    drawn = out.split("Rows it takes")[1]
    assert "0.2" in drawn and "\n  5 " not in drawn


@pytest.mark.parametrize(
    ("papers", "says"),
    [
        (["--queries", "50"], "queries, delta and gamma go with the SuLQ paper's calibrations"),
        (["--calibration", "sulq-gaussian", "--queries", "50"], "'sulq-gaussian' has a delta"),
        (["--calibration", "sulq-laplace"], "the number of queries T"),
        (["--calibration", "sulq-laplace", "--queries", "50", "--model", "crowd"], "are a curator's"),
    ],
)
def test_settings_of_the_papers_noise_that_make_no_sense_are_refused(
    papers: list[str], says: str, capsys: Captured
) -> None:
    assert main(["plan", "conjunction", "--dimension", "4", "--epsilon", "1", *papers]) != 0
    assert says in capsys.readouterr().err
