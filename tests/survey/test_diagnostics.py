"""Made-up reports: what is noticed, how rarely honest people are suspected, and how little a lie can do."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sulq.local import randomizer as randomizers
from sulq.local.blocks import DesignResponse
from sulq.local.cap import CapReport
from sulq.local.coordinates import CoordinateReport
from sulq.local.hadamard import HadamardResponse
from sulq.local.kary import KaryResponse
from sulq.local.keyed import KeyedReport
from sulq.local.laplace import LaplaceReport
from sulq.local.onebit import OneBitReport
from sulq.local.piecewise import PiecewiseReport
from sulq.local.response import RandomizedResponse
from sulq.local.sphere import SphereReport
from sulq.local.unary import UnaryResponse
from sulq.local.window import WindowReport
from sulq.survey.asking import items_of
from sulq.survey.collector import Collector
from sulq.survey.diagnostics import _fit, _range, diagnose
from sulq.survey.kept import KeptTally
from sulq.survey.law import class_counts, classes_of, impossible_among
from sulq.survey.results import results_of
from tests.effort import either, most, runs
from tests.survey.surveys import EVERY_KIND, people, sent_by, survey

LAWS: list[tuple[Any, Any]] = [
    (RandomizedResponse(1), np.array([True, False, True])),
    (OneBitReport(0, 10, 1), np.array([0.0, 3.0, 10.0])),
    (KaryResponse(5, 1), np.array([0, 3, 4])),
    (HadamardResponse(12, 1), np.array([0, 7, 11])),
    (DesignResponse(20, 1), np.array([0, 7, 19])),
    (UnaryResponse(12, 1, optimised=True), np.array([0, 7, 11])),
    (PiecewiseReport(0, 10, 2), np.array([0.0, 3.0, 10.0])),
    (WindowReport(0, 10, 2), np.array([0.0, 3.0, 10.0])),
    (LaplaceReport(0, 10, 1), np.array([0.0, 3.0, 10.0])),
    (CoordinateReport([0, 0, 0], [1, 1, 1], 1), np.array([[0.0, 1, 0], [1, 1, 1], [0, 0, 0.5]])),
    (KeyedReport(3, [0, 0], [1, 1], 1), (np.array([0, 1, 2]), np.array([[0.0, 1], [1, 1], [0, 0.5]]))),
    (CapReport(3, 2, 2), np.array([[2.0, 0, 0], [-2, 0, 0], [0, 1, 1]])),
    (SphereReport(3, 2, 1), np.array([[2.0, 0, 0], [-2, 0, 0], [0, 1, 1]])),
    (KeyedReport(3, [0], [1], 1), (np.array([0, 1, 2]), np.array([[0.0], [1], [0.5]]))),
]
NAMES = [type(randomizer).__name__ for randomizer, _ in LAWS]
LONG = {"kind": "one-of", "text": "Which?", "choices": [f"choice {number}" for number in range(500)]}
TEXTS = {"kind": "one-of", "text": "Which?", "choices": [f"choice {number}" for number in range(40)]}


@pytest.mark.parametrize(("randomizer", "values"), LAWS, ids=NAMES)
def test_the_classes_of_reports_are_as_frequent_as_the_law_says(randomizer: Any, values: Any) -> None:
    """200,000 reports for each value: six standard errors, so a false alarm in 10⁻⁸ for each class."""
    classes, times = classes_of(randomizer), 200_000
    assert classes is not None
    for place in range(3):
        one = (
            tuple(part[[place] * times] for part in values)
            if isinstance(values, tuple)
            else values[[place] * times]
        )
        reports = randomizer.sample(one)
        shares = class_counts(randomizer, reports) / times
        slack = 6 * np.sqrt(np.maximum(shares, 1e-4) / times)
        assert (shares >= classes.low - slack).all()
        assert (shares <= classes.high + slack).all()
        assert impossible_among(randomizer, reports[:200].tolist()) == 0


@pytest.mark.parametrize(("randomizer", "values"), LAWS, ids=NAMES)
def test_what_no_device_can_draw_is_noticed(randomizer: randomizers.Randomizer, values: Any) -> None:
    strange = [None, "x", -(10**12), 10**12, 0.5, [], {}, [[1]], float("nan")]
    assert impossible_among(randomizer, strange) == len(strange)


def honest(folder: Path, epsilon: int = 4, **about: Any) -> Collector:
    """A survey of honest people."""
    made = survey(
        folder, EVERY_KIND | {"which": TEXTS}, epsilon=epsilon, **about, divides="people", keeps="reports"
    )
    collector = Collector(made)
    rows = people(made, 400)
    for asked in items_of(made):
        report = asked.item.randomizer.sample(_values(rows, asked.item))
        sent_by(collector, asked, np.asarray(report).tolist())
    return collector


def _values(rows: Any, item: Any) -> Any:
    from sulq.local.device import Device

    return Device(rows, item.epsilon)._values(item)


def test_honest_surveys_raise_an_alarm_at_most_at_the_stated_rate(tmp_path: Path) -> None:
    """At a rate of 1/4 alarms are in at most a quarter of surveys, but for a chance of 10⁻⁸."""
    times, alarms = runs(100, least=10), 0
    for number in range(times):
        folder = tmp_path / str(number)
        folder.mkdir()
        with honest(folder, busiest=100_000) as collector:
            alarms += any(check.alarm for check in diagnose(collector, rate=0.25))
    assert alarms <= most(times, 0.25)


@pytest.mark.parametrize("question", ["paid by town", "often", "amount", "whom", "which"])
def test_people_who_all_answer_alike_raise_an_alarm_at_most_at_the_stated_rate(
    tmp_path: Path, question: str
) -> None:
    """Theirs is the mix that comes nearest to the bounds. The share of alarms is tested but for a chance of 10⁻⁸."""
    made = survey(tmp_path, EVERY_KIND | {"which": TEXTS}, divides="people", epsilon=1)
    [asked] = [each for each in items_of(made) if each.name == question]
    times, rate, n = either(100, 4000), 0.1, 300
    values = np.repeat(_values(people(made, 1), asked.item), n, axis=0)
    alarms = 0
    for _ in range(times):
        kept = KeptTally.made_of(asked.item, np.asarray(asked.item.randomizer.sample(values)).tolist())
        [fit] = _fit(asked.item, kept, rate / 2)
        alarms += fit.alarm or _range(asked.item, kept, rate / 2).alarm
    assert alarms <= most(times, rate)


def attack(folder: Path, reports: list[Any], question: str, **about: Any) -> set[str]:
    """Which alarms there are if somebody sends these reports, beside honest people."""
    with honest(folder, **about) as collector:
        [asked] = [each for each in items_of(collector.survey) if each.name == question]
        sent_by(collector, asked, reports)
        checks = diagnose(collector, rate=1e-8)
    return {check.name for check in checks if check.alarm}


def test_somebody_who_always_sends_the_same_answer_is_noticed(tmp_path: Path) -> None:
    """Twenty among 400 are not noticed: that many may well have that answer."""
    for reports, alarms in ((4000, {"fit to the law", "possible estimates"}), (20, set())):
        folder = tmp_path / str(reports)
        folder.mkdir()
        assert (
            attack(folder, [2] * reports, "often", epsilon=1) & {"fit to the law", "possible estimates"}
            == alarms
        )


def test_somebody_who_sets_one_bit_and_no_other_is_noticed(tmp_path: Path) -> None:
    made = survey(tmp_path, {"which": LONG}, epsilon=5)
    [asked] = items_of(made)
    assert isinstance(asked.item.randomizer, UnaryResponse)
    with Collector(made) as collector:
        sent_by(collector, asked, [[1] + [0] * 62] * 30)
        alarms = {check.name for check in diagnose(collector) if check.alarm}
    assert "fit to the law" in alarms


def test_reports_that_no_device_draws_are_noticed_and_count_as_one_that_does(tmp_path: Path) -> None:
    assert attack(tmp_path, [10**9], "often") == {"impossible reports"}


def test_a_device_that_answers_with_several_links_is_noticed_where_reports_are_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Collector, "method", "printed")
    made = survey(tmp_path, {"amount": EVERY_KIND["amount"]}, epsilon=2, keeps="reports")
    with Collector(made) as collector:
        [asked] = collector.asked
        assert isinstance(asked.item.randomizer, PiecewiseReport)
        drawn = asked.item.randomizer.sample(np.full(300, 20.0)).tolist()
        sent_by(collector, asked, drawn)
        assert not any(check.alarm for check in diagnose(collector, rate=1e-8))
        sent_by(collector, asked, [drawn[0]] * 12)
        assert {check.name for check in diagnose(collector, rate=1e-8) if check.alarm} == {"equal reports"}


def test_a_burst_is_noticed_where_the_survey_says_how_many_may_come(tmp_path: Path) -> None:
    clock = [datetime(2027, 1, 1, tzinfo=UTC)]
    made = survey(tmp_path, epsilon=1, busiest=20)
    [asked] = items_of(made)
    with Collector(made, clock=lambda: clock[0]) as collector:
        for _ in range(30):
            sent_by(collector, asked, [0, 1] * 8)
            clock[0] += timedelta(minutes=10)
        assert not any(check.alarm for check in diagnose(collector))
        sent_by(collector, asked, [0, 1] * 60)
        assert {check.name for check in diagnose(collector) if check.alarm} == {"bursts"}


@pytest.mark.parametrize("question", ["paid by town", "often", "amount", "whom", "which"])
def test_m_liars_move_no_answer_by_more_than_m_times_their_influence(tmp_path: Path, question: str) -> None:
    """The worst report of all is searched for; and what is no report at all is tried too."""
    made = survey(tmp_path, EVERY_KIND | {"which": TEXTS}, divides="people")
    [asked] = [each for each in items_of(made) if each.name == question]
    randomizer, liars, n = asked.item.randomizer, 7, 100
    rows = people(made, n)
    reports = np.asarray(randomizer.sample(_values(rows, asked.item))).tolist()
    lies: list[Any] = [None, -(10**9), 10**9, "x", [255] * 5, [0] * 5, *(reports[:20]), *range(12)]
    bound = randomizer.influence(n) * liars * (1 + 1e-9)
    before = asked.item.estimate(randomizer.tally(reports, asked.item.key))
    moved = []
    for lie in lies:
        after = asked.item.estimate(randomizer.tally([*([lie] * liars), *reports[liars:]], asked.item.key))
        moved.append(float(np.abs(after - before).max()))
    assert max(moved) <= bound
    assert max(moved) >= bound / 4  # so the bound is about what liars can do, and not only above it
    with Collector(made) as collector:
        worst = lies[int(np.argmax(moved))]
        sent_by(collector, asked, [*([worst] * liars), *reports[liars:]])
        [after] = [each.values for each in results_of(collector).questions if each.asked.name == question]
    assert np.abs(after - before).max() == pytest.approx(max(moved))
