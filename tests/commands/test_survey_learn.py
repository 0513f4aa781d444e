"""`sulq survey learn`: a learner's rounds from the command line, which goes on where it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from sulq.cli import main
from sulq.hypotheses import Tree
from sulq.survey.collector import Collector
from sulq.survey.reading import read_survey
from sulq.survey.rehearsing import made_up
from sulq.survey.respondents import Respondents
from sulq.survey.server import CollectorServer, Listening

FILE = """
[survey]
title = "Health"
epsilon = 16
people = 1000
divides = "rounds"
invited = false

[questions.night]
kind = "yes-no"
text = "Do you work at night?"

[questions.sick]
kind = "yes-no"
text = "Were you sick?"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "health.toml"
    path.write_text(FILE, encoding="utf-8")
    return path


def test_a_tree_is_learned_by_the_same_command_again_and_again(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    survey = read_survey(file)
    night = [True, False] * 500
    people = made_up(survey.schema, 1000, {"night": night, "sick": night})
    tree = file.with_suffix(".json")
    command = ["survey", "learn", "tree", str(file), "--label", "sick", "--depth", "1", "--json", str(tree)]
    with CollectorServer(survey, Listening(port=0)) as server:
        crowd = Respondents(server.url, people, survey.epsilon, gathered=200)
        while (code := main([*command, "--wait", "0"])) == 1:
            assert "let people answer, and run this again" in capsys.readouterr().out
            crowd.answer()
    assert code == 0
    assert "night" in capsys.readouterr().out
    learned = Tree.from_json(tree.read_text(encoding="utf-8"))
    assert learned.predict({"night": [True, False]}).tolist() == [True, False]
    with Collector(survey) as collector:
        asked = len(collector.rounds())
    assert main(command) == 0  # the answers are there, and nobody is asked
    with Collector(survey) as collector:
        assert len(collector.rounds()) == asked


@pytest.mark.parametrize(
    ("change", "options", "why"),
    [
        (("", ""), ["--label", "tired"], "there is no column 'tired'"),
        (("", ""), ["--label", "sick", "--wait", "-1"], "'-1' is no number of seconds"),
        (("", ""), ["--label", "sick", "--close-after", "nan"], "'nan' is no number of seconds"),
        (("", ""), ["--label", "sick", "--json", "no/such.json"], "no/such.json"),
        (("rounds", "epsilon"), ["--label", "sick"], 'a learner needs one with divides = "rounds"'),
    ],
)
def test_what_cannot_be_learned_is_refused_before_anybody_is_asked(
    file: Path,
    change: tuple[str, str],
    options: list[str],
    why: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file.write_text(FILE.replace(*change) if change[0] else FILE, encoding="utf-8")
    assert main(["survey", "learn", "tree", str(file), *options]) == 2
    assert why in capsys.readouterr().err
    assert not file.with_suffix(".reports").exists()


@pytest.mark.parametrize("option", ["--csv", "--json", "--page"])
@pytest.mark.parametrize("name", ["health.toml", "health.reports", "health.reports-wal"])
def test_results_are_never_written_over_the_survey_or_its_store(
    file: Path, option: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(FILE.replace("rounds", "epsilon"), encoding="utf-8")
    assert main(["survey", "results", str(file)]) == 0
    before = file.read_bytes(), file.with_suffix(".reports").read_bytes()
    assert main(["survey", "results", str(file), option, str(file.with_name(name))]) == 2
    assert "would overwrite a file that is needed: name another" in capsys.readouterr().err
    assert (file.read_bytes(), file.with_suffix(".reports").read_bytes()) == before


def test_two_results_are_not_written_into_one_file(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(FILE.replace("rounds", "epsilon"), encoding="utf-8")
    out = str(file.with_name("out"))
    assert main(["survey", "results", str(file), "--csv", out, "--json", out]) == 2
    assert "--json" in capsys.readouterr().err and not Path(out).exists()


def test_a_plan_says_that_a_huge_epsilon_promises_nothing(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(FILE.replace("rounds", "epsilon").replace("= 16", "= 1000"), encoding="utf-8")
    main(["survey", "plan", str(file)])
    assert "ε = 1000 promises next to nothing" in capsys.readouterr().out
