"""A survey's file: what it says, and how every mistake is refused."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest

from sulq.errors import SulqError
from sulq.survey.planning import plan_of
from sulq.survey.reading import read_survey, survey_of
from sulq.survey.starting import START
from tests.survey.surveys import EVERY_KIND, PAID, TOWN

NUMBER: dict[str, Any] = {"kind": "number", "text": "n", "low": 0, "high": 10}
ABOUT: dict[str, Any] = {"title": "Bribes", "epsilon": 2, "people": 1000}


def test_the_file_to_begin_with_is_a_survey_that_can_work(tmp_path: Path) -> None:
    path = tmp_path / "sick.toml"
    path.write_text(START, encoding="utf-8")
    made = read_survey(path)
    assert plan_of(made).enough
    assert made.store == str(tmp_path / "sick.reports")
    # What is commented out is valid too.
    path.write_text(re.sub(r"^# (?=\w+ = )", "", START, flags=re.MULTILINE), encoding="utf-8")
    assert read_survey(path).busiest == 200


def test_texts_come_in_every_language() -> None:
    both = {"en": "Bribes", "de": "Bestechung"}
    text = {"en": "Did you?", "de": "Haben Sie?"}
    made = survey_of(
        {
            "survey": ABOUT | {"title": both, "languages": ["en", "de"]},
            "questions": {"paid": PAID | {"text": text}},
        }
    )
    assert made.form()["title"] == both
    assert made.questions[0].words("de") == "Haben Sie?"


def test_texts_and_times_may_change_and_what_was_promised_may_not() -> None:
    made = survey_of({"survey": ABOUT, "questions": EVERY_KIND})
    told = {**EVERY_KIND, "paid": EVERY_KIND["paid"] | {"text": "Another text"}}
    assert survey_of({"survey": ABOUT | {"people": 7}, "questions": told}).id == made.id
    for change in (
        {"epsilon": 3},
        {"keeps": "reports"},
        {"invited": False},
        {"divides": "people"},
        {"title": "x"},
    ):
        assert survey_of({"survey": ABOUT | change, "questions": EVERY_KIND}).id != made.id


@pytest.mark.parametrize(
    ("about", "questions", "words"),
    [
        ({"epsilon": 0}, {}, "epsilon"),
        ({"epsilon": -1}, {}, "epsilon"),
        ({"divides": "both"}, {}, "divides is one of epsilon, people, rounds, not 'both'"),
        ({"keeps": "all"}, {}, "keeps is one of reports, tallies, not 'all'"),
        ({"people": 0}, {}, "people must be a whole number from 1"),
        ({"precision": 5}, {}, "precision is a share between 0 and 1"),
        ({"confidence": 0.2}, {}, "confidence is at least 0.5"),
        ({"languages": []}, {}, "languages are a list of short names"),
        ({"languages": ["en", "de"]}, {}, 'title is a text in each language, as {en = "…", de = "…"}'),
        ({"title": {"de": "x"}}, {}, "en is missing, de is not one of them"),
        ({"opens": "soon"}, {}, "opens is a date, as opens = 2027-01-31"),
        ({"colour": 1}, {}, "[survey] has no setting 'colour'; it takes title, about"),
        ({}, {"paid": PAID | {"kind": "maybe"}}, "kind in [questions.paid] is one of yes-no, one-of"),
        ({}, {"paid": PAID | {"colour": 1}}, "[questions.paid] has no setting 'colour'; it takes kind"),
        ({}, {"paid": {"kind": "yes-no"}}, "[questions.paid] needs text"),
        ({}, {"paid": PAID | {"weight": 0}}, "weight"),
        ({}, {"paid": PAID | {"choices": ["a", "b"]}}, "has choices, and only one-of"),
        ({}, {"town": TOWN | {"choices": ["a"]}}, "needs 2 to 1000 choices, not 1"),
        ({}, {"town": TOWN | {"choices": ["a", "a"]}}, "has a choice twice"),
        ({}, {"town": TOWN | {"choices": ["1", "1.0"]}}, "texts that read as the same number are one choice"),
        ({}, {"town": TOWN | {"choices": ["a", " "]}}, "has a choice without a text"),
        ({}, {"n": NUMBER | {"high": math.inf}}, "low must be less than high"),
        ({}, {"n": NUMBER | {"low": -math.inf}}, "low must be less than high"),
        ({}, {"n": NUMBER | {"step": 0}}, "step is more than 0"),
        ({}, {"n": NUMBER | {"step": 11}}, "step is more than 0, and at most from low to high"),
        ({"confidence": 1}, {}, "confidence is at least 0.5 and below 1, as 0.95, not 1"),
        ({}, {"town": TOWN | {"choices": 5}}, "are a list of texts, or a table"),
        ({}, {"n": {"kind": "number", "text": "n"}}, "low and high are what a number question has"),
        ({}, {"n": {"kind": "number", "text": "n", "low": 3, "high": 1}}, "low must be less than high"),
        (
            {},
            {"n": {"kind": "number", "text": "n", "low": "1", "high": 3}},
            "low in [questions.n] is a number",
        ),
        ({}, {"paid": PAID | {"low": 1, "high": 2}}, "low and high are what a number question has"),
        ({}, {"paid": PAID | {"by": "town"}}, "names question 'town', which is not there; there are paid"),
        ({}, {"paid": PAID | {"by": "paid"}}, "cannot be compared by itself"),
        ({}, {"paid": PAID | {"alone": False}}, "nothing would be asked"),
        ({}, EVERY_KIND | {"amount": EVERY_KIND["amount"] | {"by": "town"}}, "is of kind number, and groups"),
        ({}, EVERY_KIND | {"paid": PAID | {"by": "amount"}}, "must be yes-no, one-of or scale"),
        ({}, {"2nd": PAID}, "is named by 1 to 64 letters"),
        ({"divides": "rounds"}, {"paid": PAID | {"by": "town"}, "town": TOWN}, "by is for surveys without"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_mistake_is_one_line_that_says_what_is_valid(
    about: dict[str, Any], questions: dict[str, Any], words: str
) -> None:
    with pytest.raises(SulqError) as refused:
        survey_of({"survey": ABOUT | about, "questions": questions or {"paid": PAID}})
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("missing", ["epsilon", "title", "people"])
def test_what_has_no_default_must_be_said(missing: str) -> None:
    about = {name: value for name, value in ABOUT.items() if name != missing}
    with pytest.raises(SulqError, match=rf"\[survey\] needs {missing}"):
        survey_of({"survey": about, "questions": {"paid": PAID}})


def test_a_file_that_is_not_there_or_no_toml_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SulqError, match="sulq survey new"):
        read_survey(tmp_path / "nothing.toml")
    (tmp_path / "bad.toml").write_text("[survey", encoding="utf-8")
    with pytest.raises(SulqError, match="is not TOML"):
        read_survey(tmp_path / "bad.toml")
