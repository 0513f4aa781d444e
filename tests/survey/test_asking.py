"""What devices are asked, what a person pays for it, and how many people a precision takes."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from sulq.errors import SulqError
from sulq.local.lr import at_most_power
from sulq.survey.asking import items_of
from sulq.survey.planning import plan_of
from tests.survey.surveys import EVERY_KIND, PAID, survey


@pytest.mark.parametrize("divides", ["epsilon", "people"])
def test_a_person_never_pays_more_than_the_survey_promises(tmp_path: Path, divides: str) -> None:
    weighted = EVERY_KIND | {"often": EVERY_KIND["often"] | {"weight": 3}}
    made = survey(tmp_path, weighted, epsilon="7/3", divides=divides)
    asked = items_of(made)
    ratios = [each.item.randomizer.ratio for each in asked]
    if divides == "epsilon":
        together = Fraction(1)
        for ratio in ratios:
            together *= ratio
        assert at_most_power(together, made.epsilon)
        assert sum(each.item.epsilon for each in asked) == made.epsilon
        assert {each.people for each in asked} == {1000}
    else:
        assert all(at_most_power(ratio, made.epsilon) for ratio in ratios)
        assert [each.people for each in asked] == [166, 500, 166, 166]


def test_the_plan_names_the_fewest_people_that_keep_the_precision(tmp_path: Path) -> None:
    made = survey(tmp_path, EVERY_KIND, people=20_000, precision=0.04)
    plan = plan_of(made)
    for question in plan.questions:
        tails = question.asked.tails
        assert tails.radius(question.needed, made.beta) <= question.precision
        assert tails.radius(question.needed - 1, made.beta) > question.precision
    assert plan.picture().count("<polyline") == 4


def test_too_few_people_get_advice_that_works(tmp_path: Path) -> None:
    made = survey(tmp_path, EVERY_KIND, people=500)
    plan = plan_of(made)
    assert not plan.enough
    assert f"expect {plan.needed:,} people" in plan.advice
    assert plan_of(survey(tmp_path, EVERY_KIND, people=plan.needed)).enough
    assert not plan_of(survey(tmp_path, EVERY_KIND, people=plan.needed - 1)).enough


@pytest.mark.parametrize("precision", [0.001, 0.004, 0.05])
@pytest.mark.parametrize("people", [1, 100, 150, 160, 200, 1000, 5000])
def test_people_are_enough_if_and_only_if_their_error_is_small_enough(
    tmp_path: Path, people: int, precision: float
) -> None:
    """At ε = 8 few people lie: 150 tell the truth with 95 %, and one of 160 may not."""
    [paid] = plan_of(
        survey(tmp_path, {"paid": PAID}, epsilon=8, people=people, precision=precision)
    ).questions
    assert paid.enough == (paid.radius <= precision)
    assert paid.asked.tails.radius(paid.needed, 0.05) <= precision


def test_an_epsilon_that_says_nothing_and_a_question_for_nobody_are_refused(tmp_path: Path) -> None:
    rare = {"paid": PAID, "other": PAID | {"weight": "1/10000000000"}}
    with pytest.raises(SulqError, match="says nothing: give it a larger weight"):
        plan_of(survey(tmp_path, rare))
    with pytest.raises(SulqError, match="would be put to nobody"):
        plan_of(survey(tmp_path, rare, divides="people"))
    with pytest.raises(SulqError, match="asked by a learner"):
        plan_of(survey(tmp_path, divides="rounds"))
