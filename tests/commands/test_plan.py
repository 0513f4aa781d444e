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
    assert "0.00448" in out
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
            "--dimension must be a whole number from 1 to 2000, got 0",
        ),
        (
            ["masked-parity", "--dimension", "99999999", "--epsilon", "1"],
            "--dimension must be a whole number from 1 to 2000, got 99999999",
        ),
        (["conjunction", "--dimension", "4", "--model", "curator"], "state epsilon"),
        (["conjunction", "--dimension", "4", "--epsilon", "0"], "at 0 nothing can be learned"),
        (["conjunction", "--dimension", "4", "--epsilon", "1", "--error", "0"], "error must lie"),
        (
            ["conjunction", "--dimension", "4", "--epsilon", "1", "--error", "1"],
            "at 1 any rule will do; an error of 0.01",
        ),
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
        (["--calibration", "sulq-laplace"], "fixes the number of queries T beforehand: state queries"),
        (["--calibration", "sulq-laplace", "--queries", "50", "--model", "crowd"], "are a curator's"),
    ],
)
def test_settings_of_the_papers_noise_that_make_no_sense_are_refused(
    papers: list[str], says: str, capsys: Captured
) -> None:
    assert main(["plan", "conjunction", "--dimension", "4", "--epsilon", "1", *papers]) != 0
    assert says in capsys.readouterr().err


def parties_schemas(folder: Path) -> list[str]:
    named = []
    for name, flag, number in (("hospital", "sick", "pay"), ("registry", "smokes", "age")):
        path = folder / f"{name}.toml"
        path.write_text(
            '[columns.person]\ntype = "integer"\nlow = 0\nhigh = 1000000\n'
            f'[columns.{flag}]\ntype = "boolean"\n[columns.{number}]\ntype = "real"\nlow = 0\nhigh = 10\n'
        )
        named += ["--party", f"{name}={path}"]
    return ["parties", *named, "--key", "person", "--epsilon", "1"]


def test_parties_are_told_buckets_errors_and_how_many_people_it_takes(
    capsys: Captured, tmp_path: Path
) -> None:
    start = parties_schemas(tmp_path)
    out = said(capsys, *start, "--by", "smokes", "sick", "--people", "100000", "--within", "0.01")
    for words in (
        "4,096 buckets for about 100,000 people",
        "880 by noise",
        "it takes 104,704 people",
        "ε = 2",
    ):
        assert words in out
    assert "1,000,000" in out and "10,000" in out, "ten times as many people, and a tenth of them"
    more = said(capsys, *start, "--product", "age", "pay", "--people", "1000000", "--delta", "1e-6")
    assert "8,192 buckets" in more and "(2, 2e-06)" in more
    schema = Path(start[2].split("=")[1])
    schema.write_text(schema.read_text().replace("high = 10\n", "high = 10000000000\n"))
    wide = said(capsys, *start, "--product", "age", "pay", "--people", "1000000")
    assert "e+15" in wide and "…" not in wide, "a table of 80 columns has every figure"
    assert "Nothing is estimated across parties" in said(capsys, *start, "--by", "sick", "--people", "100")
    assert "no number of people is enough" in said(
        capsys, *start, "--by", "smokes", "sick", "--people", "100", "--within", "1e-9"
    )


def test_parties_may_name_people_by_columns_of_their_own(capsys: Captured, tmp_path: Path) -> None:
    start = parties_schemas(tmp_path)
    registry = tmp_path / "registry.toml"
    registry.write_text(registry.read_text().replace("person", "pid"))
    asked = ["--by", "smokes", "sick", "--people", "100000"]
    keys = start.index("--key") + 1
    assert "4,096 buckets" in said(capsys, *start[:keys], "person", "pid", *start[keys + 1 :], *asked)
    for names, words in (
        (["person"], "registry: no column 'person'; the schema has pid, smokes, age"),
        (["person", "pid", "pid"], "or a name for each party"),
    ):
        assert main(["plan", *start[:keys], *names, *start[keys + 1 :], *asked]) != 0
        assert words in capsys.readouterr().err


def test_what_parties_cannot_plan_is_refused_in_a_line(capsys: Captured, tmp_path: Path) -> None:
    start = parties_schemas(tmp_path)
    for more, words in (
        (["--by", "nobody", "--people", "10"], "no party has a column 'nobody'"),
        (["--by", "smokes", "sick", "--people", "0"], "people must be a whole number from 1"),
        (
            ["--by", "sick", "--people", "10", "--within", "0.1"],
            "nothing of this is estimated across parties",
        ),
        (["--by", "smokes", "sick", "--people", "10", "--within", "nan"], "within"),
        (["--by", "smokes", "sick", "--people", "10", "--share", "2"], "share"),
        (
            ["--by", "smokes", "sick", "--people", "10", "--party", "nothing"],
            "--party needs a name and a schema",
        ),
        (["--by", "smokes", "sick", "--people", "10", *start[3:5]], "the same name"),
    ):
        assert main(["plan", *start, *more]) != 0
        assert words in capsys.readouterr().err
