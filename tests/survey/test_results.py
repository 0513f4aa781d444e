"""Results: error bars that hold, what is grey, groups compared at the rate that is stated."""

from __future__ import annotations

import csv
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from sulq.local.best import best_randomizer
from sulq.local.frequencies import FrequencyReport
from sulq.local.kary import KaryResponse
from sulq.local.onehot import one_hot_response
from sulq.local.shapes import OneOf
from sulq.local.unary import UnaryResponse
from sulq.survey.asking import items_of
from sulq.survey.collector import Collector
from sulq.survey.comparing import joint_shares
from sulq.survey.results import results_of
from sulq.survey.results_page import results_page
from tests.effort import long, most, runs
from tests.survey.surveys import EVERY_KIND, PAID, sent_by, survey

GROUPS, ANSWERS = ("north", "south"), ("no", "yes")
RANDOMIZERS: list[FrequencyReport] = [
    KaryResponse(4, 2),
    UnaryResponse(4, 2, optimised=True),
    one_hot_response(4, 1),
]


def test_few_reports_are_grey_and_the_people_still_needed_are_named(tmp_path: Path) -> None:
    made = survey(tmp_path, epsilon=1)
    with Collector(made) as collector:
        [asked] = items_of(made)
        assert sent_by(collector, asked, [1] * 10) == ["accepted"] * 10
        [question] = results_of(collector).questions
        assert not question.meaningful
        assert question.still == question.needed - 10
        # Ten times yes is more than all people: shown as possible, and told as it is.
        assert question.values[0] > 1 == question.possible[0]
        assert question.clipped
        assert "brought into the possible range for display" in results_page(collector)
        sent_by(collector, asked, [0, 1] * 2000)
        [question] = results_of(collector).questions
        assert question.meaningful


def test_what_is_written_can_be_read_by_programs(tmp_path: Path) -> None:
    made = survey(tmp_path, EVERY_KIND, divides="people")
    with Collector(made) as collector:
        asked = items_of(made)
        sent_by(collector, asked[1], [0, 1, 2, 1])
        results = results_of(collector)
    lines = list(csv.DictReader(results.to_csv().splitlines()))
    assert [(line["question"], line["answer"]) for line in lines][4:8] == [
        ("often", "never"),
        ("often", "once"),
        ("often", "often"),
        ("amount", "mean"),
    ]
    assert [line["reports"] for line in lines[3:5]] == ["0", "4"]
    form = json.loads(results.to_json())
    assert form["questions"][1]["estimates"] == pytest.approx(
        [float(line["estimate"]) for line in lines[4:7]]
    )


@long
@pytest.mark.parametrize("randomizer", RANDOMIZERS, ids=lambda each: type(each).__name__)
def test_the_covariance_of_joint_shares_is_that_of_many_surveys(randomizer: FrequencyReport) -> None:
    """Of 4,000 surveys a correlation is off by 0.12 with a chance below 10⁻¹⁰ (more than seven of its errors)."""
    people, times = 400, 4000
    truth = np.repeat(np.arange(4), [80, 120, 160, 40])
    found = []
    for _ in range(times):
        tally = randomizer.tally(randomizer.sample(truth))
        found.append(randomizer.estimate_of(tally))
    drawn = np.random.default_rng(0).choice(truth, (times, people))  # people by lot, as the covariance has it
    by_lot = [randomizer.estimate_of(randomizer.tally(randomizer.sample(each))) for each in drawn]
    told = joint_shares(randomizer, randomizer.tally(randomizer.sample(np.tile(truth, 200))), GROUPS, ANSWERS)
    expected = np.sqrt(np.diag(told.covariance) * 200)
    assert np.std(by_lot, axis=0) == pytest.approx(expected, rel=0.11)
    scale = np.outer(expected, expected)
    assert np.abs(np.cov(np.array(by_lot).T) / scale - told.covariance * 200 / scale).max() <= 0.12
    # Those who took part are known to have taken part, so that for them the error is smaller.
    assert (np.std(found, axis=0) <= 1.11 * expected).all()


@pytest.mark.parametrize("randomizer", RANDOMIZERS, ids=lambda each: type(each).__name__)
def test_groups_that_do_not_differ_are_said_to_at_the_stated_rate_and_others_are_seen(
    randomizer: FrequencyReport,
) -> None:
    """At 5 % the share of false alarms is at most 7 % (the approximation's error), but for a chance of 10⁻⁸."""
    times, rng = runs(2000, least=300), np.random.default_rng(1)
    alarms = seen = 0
    for _ in range(times):
        for differs in (False, True):
            south = rng.random(3000) < 0.4
            yes = rng.random(3000) < np.where(south, 0.9 if differs else 0.2, 0.2)
            tally = randomizer.tally(randomizer.sample(2 * south + yes))
            [test] = joint_shares(randomizer, tally, GROUPS, ANSWERS).differences(0.05)
            seen += differs and test.p < 0.05 and test.value < 0
            alarms += not differs and test.p < 0.05
    assert alarms <= most(times, 0.07)
    assert seen >= 0.9 * times


def test_a_group_that_is_too_small_is_not_compared() -> None:
    randomizer = KaryResponse(4, 1)
    tally = randomizer.tally(randomizer.sample(np.repeat([0, 1], 1000)))
    joint = joint_shares(randomizer, tally, GROUPS, ANSWERS)
    assert joint.clear == [0]
    assert joint.differences(0.05) == ()


@pytest.mark.parametrize("epsilon", ["1/10", "2", "12"])
@pytest.mark.parametrize("people", [1, 2, 3])
def test_a_few_reports_never_show_a_difference(epsilon: str, people: int) -> None:
    """Whatever their devices drew: one report that supports several answers looks as if nothing could vary."""
    randomizer = best_randomizer(OneOf(6), Fraction(epsilon), "best")
    assert isinstance(randomizer, FrequencyReport)
    for _ in range(50):
        tally = randomizer.tally(randomizer.sample(np.arange(people)))
        joint = joint_shares(randomizer, tally, ("a", "b", "c"), ANSWERS)
        assert all(each.p > 0.05 and each.radius > 0.5 for each in joint.differences(0.05))


def test_a_page_of_results_needs_nothing_but_itself(tmp_path: Path) -> None:
    hostile = {"paid": PAID | {"text": "<script>alert(1)</script>"}}
    made = survey(tmp_path, hostile)
    with Collector(made) as collector:
        sent_by(collector, items_of(made)[0], [0, 1] * 500)
        page = results_page(collector)
    assert "<script" not in page
    assert "<svg" in page
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")
