"""A learner asks people over the wire: the same law as a crowd, nobody asked twice, restarts on both sides."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sulq
import sulq.theory
from sulq.errors import AdaptivityError, BudgetError, SulqError
from sulq.local.device import Device
from sulq.sources.table import TableSource
from sulq.survey.file import SurveyFile
from sulq.survey.kept import KeptTally
from sulq.survey.oracle import Collected, StillOpenError, collected
from sulq.survey.respondents import Respondents
from sulq.survey.server import CollectorServer
from tests.effort import either, long
from tests.survey.surveys import HERE, people, survey

PATIENCE = 300.0
"""Seconds that a learner waits for people, so that what keeps them away is seen."""
CENSUS: dict[str, Any] = {
    "married": {"kind": "yes-no", "text": "Are you married?"},
    "schooling": {"kind": "one-of", "text": "Schooling?", "choices": ["school", "college", "doctor"]},
    "age": {"kind": "number", "text": "Age?", "low": 17, "high": 90, "step": 1},
    "hours": {"kind": "number", "text": "Hours a week?", "low": 0, "high": 99, "step": 1},
    "rich": {"kind": "yes-no", "text": "Do you earn more than 50,000?"},
}


def census(made: SurveyFile, rows: int) -> TableSource:
    """Rich is who is married and went to college, but for one in twenty."""
    rng = np.random.default_rng(7)
    married = rng.random(rows) < 0.5
    schooling = np.array(["school", "college", "doctor"])[rng.choice(3, rows, p=[0.5, 0.4, 0.1])]
    rich = (married & (schooling != "school")) ^ (rng.random(rows) < 0.05)
    return people(made, rows, married=married, schooling=schooling, rich=rich)


@contextmanager
def answering(made: SurveyFile, crowd: Respondents, restarts: bool = False) -> Iterator[None]:
    """A collector that people come to, a few at a time; now and then it is ended and started again."""
    done = threading.Event()
    failures: list[BaseException] = []

    def come() -> None:
        try:
            while not done.is_set():
                with CollectorServer(made, HERE) as server:
                    crowd.move_to(server.url)
                    came = 0
                    while not done.is_set() and not (restarts and came > 3):
                        came += bool(crowd.answer(most=1 + crowd.rows.rows // 20))
                        done.wait(0.02)
        except BaseException as failure:
            failures.append(failure)
            raise

    thread = threading.Thread(target=come)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
        if failures:
            raise failures[0]


def learner_survey(folder: Path, rows: int, **about: Any) -> SurveyFile:
    settings: dict[str, Any] = {"divides": "rounds", "people": rows, "epsilon": 40} | about
    return survey(folder, CENSUS, **settings)


def test_a_tree_is_learned_over_the_wire_and_the_collector_may_be_restarted(tmp_path: Path) -> None:
    """At this ε and number of people every split is that of the exact tree, but for a chance far below 10⁻⁶."""
    rows = either(4_000, 100_000)
    made = learner_survey(tmp_path, rows)
    everybody = census(made, rows)
    with collected(made).collector as inviting:
        links = inviting.invite(rows)
    crowd = Respondents("http://127.0.0.1", everybody, made.epsilon, links, gathered=500)
    learner = sulq.ID3("rich", features=["married", "schooling"], depth=2)
    oracle = collected(made, wait=PATIENCE)
    with answering(made, crowd, restarts=True):
        tree = learner.learn(oracle)
    exact = learner.learn(everybody.exact())
    cases = {
        "married": [True, True, True, False, False, False],
        "schooling": ["school", "college", "doctor"] * 2,
    }
    assert tree.predict(cases).tolist() == exact.predict(cases).tolist()
    assert set(tree.predict(cases).tolist()) == {True, False}
    # Everyone sent once: nothing was refused, and what was asked is what came.
    assert set(crowd.outcomes) == {"accepted"}
    asked = oracle.collector.rounds()
    assert len(asked) > 1
    received = sum(sum(oracle.collector.received(kept.number).values()) for kept in asked)
    assert received == rows - crowd.left == crowd.outcomes["accepted"]
    assert all(kept.is_full(oracle.collector.received(kept.number)) for kept in asked)


def test_answers_are_within_their_error_bars_and_equal_those_of_a_crowd_in_law(tmp_path: Path) -> None:
    """Each of 8 answers strays beyond its radius with a chance of 10⁻⁸."""
    rows = 2_000
    made = learner_survey(tmp_path, rows, epsilon=2, invited=False)
    everybody = census(made, rows)
    round_ = sulq.Round(
        [sulq.mean("rich"), sulq.count(by="schooling"), sulq.mean("age"), sulq.count(by=["married", "rich"])],
        share="9/10",
    )
    oracle, crowd = collected(made, wait=PATIENCE), everybody.crowd(made.epsilon)
    with answering(made, Respondents("http://127.0.0.1", everybody, made.epsilon, gathered=500)):
        answers = oracle.ask(round_)
    assert oracle.questionnaire(round_) == crowd.questionnaire(round_)
    truths = everybody.exact().ask(sulq.Round(round_.queries))
    for answer, truth in zip(answers, truths, strict=True):
        assert np.abs(np.asarray(answer.value) - truth.value).max() <= np.max(answer.radius(1e-8))
    # A crowd makes the same answers, with the same laws of their errors, from the same tallies.
    kept = oracle.collector.tallies(1)
    alike = crowd.answers(round_, [kept[item.key].tally for item in crowd.questionnaire(round_).items])
    assert [answer.to_json() for answer in answers] == [answer.to_json() for answer in alike]
    assert oracle.cost(round_) == crowd.cost(round_)
    assert oracle.error(round_, 0.05) == crowd.error(round_, 0.05)
    assert oracle.influence(round_) == crowd.influence(round_)
    assert oracle.promise == crowd.promise


def test_a_learner_that_is_run_again_is_given_its_answers_and_nobody_is_asked(tmp_path: Path) -> None:
    made = learner_survey(tmp_path, 200, invited=False)
    round_ = sulq.Round([sulq.mean("rich")], share="1/2")
    with pytest.raises(StillOpenError, match="round 1 has 0 of 100 reports"):
        collected(made, wait=0).ask(round_, "study")
    crowd = Respondents("http://127.0.0.1", census(made, 200), made.epsilon, gathered=50)
    with answering(made, crowd):
        [answer] = collected(made, wait=PATIENCE).ask(round_, "study")
    again = collected(made, wait=0)
    assert again.ask(round_, "study")[0].value == answer.value
    assert (again.left, crowd.left) == (100, 100)
    # Another run asks other people, of whom there are just enough, and a third finds too few.
    with pytest.raises(StillOpenError):
        again.ask(round_, "other")
    with pytest.raises(BudgetError, match="people"):
        again.ask(round_, "third")
    assert [kept.run for kept in again.collector.rounds()] == ["study", "other"]


def test_a_learner_that_is_started_anew_for_every_round_asks_as_many_people_as_one_that_waits(
    tmp_path: Path,
) -> None:
    made = learner_survey(tmp_path, 1000, invited=False)
    everybody = census(made, 1000)
    learner, starts = sulq.ID3("rich", features=["married", "schooling"], depth=2), 0
    with CollectorServer(made, HERE) as server:
        crowd = Respondents(server.url, everybody, made.epsilon, gathered=500)
        tree = None
        while tree is None:
            starts += 1
            with suppress(StillOpenError):
                tree = learner.learn(collected(made, wait=0))
            crowd.answer()
        rounds = server.collector.rounds()
        assert starts == len(rounds) + 1 > 2
        assert all(kept.planned == server.collector.received(kept.number) for kept in rounds)
    asked = sum(sum(kept.planned.values()) for kept in rounds)
    assert asked == crowd.outcomes["accepted"] <= 1000


def test_a_round_closes_by_time_once_everything_asked_has_a_report(tmp_path: Path) -> None:
    made = learner_survey(tmp_path, 400, invited=False)
    oracle = collected(made, seconds=0.0, wait=0.2)
    round_ = sulq.Round([sulq.mean("rich"), sulq.mean("age")], share="1")
    with pytest.raises(StillOpenError):
        oracle.ask(round_)
    crowd = Respondents("http://127.0.0.1", census(made, 400), made.epsilon, gathered=50)
    with CollectorServer(made, HERE) as server:
        crowd.move_to(server.url)
        crowd.answer(most=60)
        answers = oracle.ask(round_)
    received = oracle.collector.received(1)
    assert sum(received.values()) == 60
    # Error bars are for those who came, and not for those who were expected.
    assert answers[0].radius(0.05) > oracle.error(round_, 0.05)[0]  # type: ignore[operator]


@pytest.mark.parametrize("came", [0, 60])
def test_a_learner_does_not_wait_for_people_once_the_survey_is_closed(tmp_path: Path, came: int) -> None:
    made = learner_survey(tmp_path, 400, invited=False)
    round_ = sulq.Round([sulq.mean("rich"), sulq.mean("age")], share="1")
    with pytest.raises(StillOpenError):
        collected(made, wait=0).ask(round_)
    if came:
        with CollectorServer(made, HERE) as server:
            Respondents(server.url, census(made, 400), made.epsilon, gathered=50).answer(most=came)
    over = collected(replace(made, closes=datetime(2020, 1, 1, tzinfo=UTC)))
    if came:  # those who came are who is asked
        assert len(over.ask(round_)) == 2
        assert sum(over.collector.received(1).values()) == came
    else:
        with pytest.raises(SulqError, match="the survey is closed, and round 1 has not all reports"):
            over.ask(round_)


def test_a_link_is_good_for_one_round_of_all(tmp_path: Path) -> None:
    made = learner_survey(tmp_path, 100)
    oracle = collected(made, wait=0)
    [link] = oracle.collector.invite(1)
    rows = census(made, 100).only(np.arange(1))
    for number, outcome in ((1, "accepted"), (2, "used")):
        with pytest.raises(StillOpenError):
            oracle.ask(sulq.Round([sulq.mean("rich")], share="1/4"), f"run {number}")
        with CollectorServer(made, HERE) as server:
            crowd = Respondents(server.url, rows, made.epsilon, [link])
            crowd.answer()
        assert crowd.outcomes == {outcome: 1}
        oracle.collector.end(number)


def test_what_devices_cannot_report_is_refused_before_anybody_is_asked(tmp_path: Path) -> None:
    made = learner_survey(tmp_path, 100)
    oracle = Collected(
        collected(made).source, made.epsilon, method="paper", collector=collected(made).collector, wait=0
    )
    with pytest.raises(SulqError, match="'paper'"):
        oracle.ask(sulq.Round([sulq.mean("rich")], share="1/2"))
    assert oracle.collector.rounds() == []


def test_a_survey_of_one_round_refuses_a_second_beforehand_and_after_a_restart(tmp_path: Path) -> None:
    made = learner_survey(tmp_path, 100)

    def opened() -> Collected:
        usual = collected(made)
        return Collected(usual.source, made.epsilon, interactive=False, collector=usual.collector, wait=0)

    first, second = (sulq.Round([sulq.mean(name)], share="1/4") for name in ("rich", "married"))
    with pytest.raises(StillOpenError):
        opened().ask(first)
    oracle = opened()
    for refused in (oracle.afford, oracle.ask):
        with pytest.raises(AdaptivityError, match="answers one round"):
            refused(second)
    assert not oracle.afford(first), "it is there already"
    assert len(oracle.collector.rounds()) == 1


def test_a_survey_with_questions_of_its_own_is_no_learners(tmp_path: Path) -> None:
    with pytest.raises(SulqError, match='divides = "rounds"'):
        collected(survey(tmp_path))


def test_m_liars_move_the_answers_of_a_learner_by_at_most_m_times_their_influence(tmp_path: Path) -> None:
    made = learner_survey(tmp_path, 400, epsilon=2)
    everybody, liars = census(made, 400), 9
    round_ = sulq.Round([sulq.count(by="schooling"), sulq.total("age"), sulq.count(where="rich")], share=1)
    oracle = collected(made, wait=0)
    items = oracle.questionnaire(round_).items
    honest = [Device(everybody, made.epsilon).report(item).numbers.tolist() for item in items]
    before = oracle.answers(
        round_, [KeptTally.made_of(*each).tally for each in zip(items, honest, strict=True)]
    )
    # Cohorts are everybody here, so that influence is that of one report among 400.
    most = [item.randomizer.influence(400) * 400 for item in items]
    moved = np.zeros(len(items))
    for lie in (0, 1, 2, 3, 4095, -1, 10**9, 0.5):
        spoiled = [[*([lie] * liars), *reports[liars:]] for reports in honest]
        after = oracle.answers(
            round_, [KeptTally.made_of(*each).tally for each in zip(items, spoiled, strict=True)]
        )
        pairs = zip(after, before, strict=True)
        moved = np.maximum(moved, [np.abs(np.subtract(one.value, other.value)).max() for one, other in pairs])
    assert (moved <= liars * np.array(most) * (1 + 1e-9)).all()
    assert (moved >= liars * np.array(most) / 4).all()


@long
def test_a_masked_parity_is_learned_over_the_wire(tmp_path: Path) -> None:
    """At this ε every bit is decided by margins of more than 20 standard errors."""
    rows = sulq.theory.masked_parity_rows([1, 0, 1, 1], 1, 8000, np.random.default_rng(0))
    asked: dict[str, Any] = {
        name: {"kind": "yes-no", "text": name} for name in ("x0", "x1", "x2", "x3", "switch", "label")
    }
    asked["index"] = {"kind": "number", "text": "index", "low": 0, "high": 3, "step": 1}
    made = survey(tmp_path, asked, divides="rounds", people=8000, epsilon=20, invited=False)
    people_ = sulq.open(rows, made.schema)
    assert isinstance(people_, TableSource)
    learner = sulq.theory.MaskedParity(share=1, bits=["x0", "x1", "x2", "x3"])
    with answering(made, Respondents("http://127.0.0.1", people_, made.epsilon, gathered=500)):
        rule = learner.learn(collected(made, wait=PATIENCE))
    assert rule.describe() == learner.learn(people_.exact()).describe()


@pytest.mark.parametrize("learner", ["table", "conjunction", "kmeans", "perceptron", "pairs"])
@long
def test_every_learner_learns_over_the_wire(tmp_path: Path, learner: str) -> None:
    rows = 3_000
    made = learner_survey(tmp_path, rows, invited=False)
    everybody = census(made, rows)
    learners: dict[str, Any] = {
        "table": sulq.Table(by=["married"], means=["age"], share="1/2"),
        "conjunction": sulq.Conjunction("rich", features=["married"], share="1/2"),
        "kmeans": sulq.KMeans(2, ["age", "hours"]),
        "perceptron": sulq.Perceptron("rich", features=["age", "hours"], iterations=2),
        "pairs": sulq.Pairs(["married", "schooling", "rich"]),
    }
    with answering(made, Respondents("http://127.0.0.1", everybody, made.epsilon, gathered=500)):
        assert learners[learner].learn(collected(made, wait=PATIENCE)) is not None
