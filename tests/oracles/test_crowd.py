"""The local model: everyone is asked once, by a randomizer of their own ε, and error bars hold."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sulq
from sulq.local.device import Device
from sulq.local.lr import at_most_power
from sulq.oracles.crowd import Crowd
from tests.effort import EFFORT, either, most, runs

col = sulq.col
SCHEMA = sulq.Schema(
    {
        "sick": sulq.Boolean(),
        "age": sulq.Real(0, 100),
        "visits": sulq.Integer(0, 9),
        "town": sulq.Category(["a", "b", "c"], missing="a"),
    }
)
ROWS = 20_000


def people(rows: int = ROWS, seed: int = 0) -> sulq.Source:
    rng = np.random.default_rng(seed)
    columns: dict[str, Any] = {
        "sick": rng.random(rows) < 0.3,
        "age": rng.uniform(0, 100, rows),
        "visits": rng.integers(0, 10, rows),
        "town": rng.choice(["a", "b", "c"], rows, p=[0.6, 0.3, 0.1]),
    }
    return sulq.open(columns, SCHEMA)


PEOPLE, FEWER = people(), people(5_000)
SURVEYS = runs(120, least=60)
CENTRES = [[-0.5, 0.0], [0.5, 0.5], [0.5, -0.5]]
QUERIES: dict[str, sulq.Query] = {
    "a flag": sulq.mean(col("sick")),
    "a count": sulq.count(where=col("sick") & (col("age") > 40)),
    "a number": sulq.mean(col("age")),
    "a table": sulq.count(by=["town", "sick"]),
    "a wide table": sulq.count(by=["town", "visits", "sick"]),
    "some rows of a table": sulq.count(where=col("sick"), by="town"),
    "sums by group": sulq.total(
        sulq.features("age", "visits"), by=sulq.nearest(sulq.features("age", "visits"), CENTRES)
    ),
    "some rows of sums by group": sulq.total(col("age"), where=col("sick"), by="town"),
    "a vector": sulq.total(sulq.features("age", "visits")),
    "a short vector": sulq.total(sulq.features("age", "visits", norm=0.5)),
    "second moments": sulq.total(sulq.gram(sulq.features("age", "visits"))),
    "a mean of some": sulq.mean(col("age"), where=col("sick")),
    "means by group": sulq.mean(col("visits"), by="town"),
}


@pytest.mark.parametrize("method", ["best", "paper"])
@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES.keys())
@pytest.mark.parametrize("share", [Fraction(1, 3), 1])
def test_error_bars_hold_as_often_as_they_say(query: sulq.Query, share: Any, method: Any) -> None:
    """Each survey is further off than its radius once in ten, at most. And the radius is of use: an eighth of it is
    enough at most every second time (0.44 was the most, in 400 surveys of each query). False alarms have a chance of
    10⁻⁸ each. Of 60 surveys, a radius of 15 standard deviations is caught with a chance of 99 %, where an honest one
    has at most 5; of 120, one of 12 standard deviations with a chance of 99.9 %."""
    [truth] = FEWER.exact().ask(sulq.Round([query]))
    asked = sulq.Round([query], share)
    failures = close = 0
    for _ in range(SURVEYS):
        [answer] = FEWER.crowd(epsilon=2, method=method).ask(asked)
        assert np.shape(answer.value) == np.shape(truth.value)
        off = np.abs(answer.value - truth.value)
        failures += bool(np.any(off > answer.radius(0.1)))
        close += bool(np.all(off <= np.asarray(answer.radius(0.1)) / 8))
    assert failures <= most(SURVEYS, 0.1)
    if not (query.statistic == "mean" and (query.where is not None or query.by)):  # a quotient's may be large
        assert close <= most(SURVEYS, 0.5)


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES.keys())
def test_answers_are_without_bias(query: sulq.Query) -> None:
    """The mean of 300 surveys of 2,000 people, within 6 of its standard errors in every number: at most 60
    numbers a query and 13 queries, so a false alarm comes once in 10⁶ runs. Of 60 surveys, it is within 8: by
    Student's law with 59 degrees of freedom, that is as rare."""
    surveys, errors = (60, 8) if EFFORT == "quick" else (300, 6)
    some = people(2_000, seed=1)
    if query.statistic == "mean" and (query.where is not None or query.by):
        query = sulq.total(query.value, where=query.where, by=list(query.by) or None)
    [truth] = some.exact().ask(sulq.Round([query]))
    asked = sulq.Round([query], share="1/2")
    found = np.array([np.ravel(some.crowd(epsilon=3).ask(asked)[0].value) for _ in range(surveys)])
    error = found.std(axis=0, ddof=1) / np.sqrt(len(found))
    assert np.all(np.abs(found.mean(axis=0) - np.ravel(truth.value)) <= errors * error)


@pytest.mark.parametrize("epsilon", ["0.1", "1", "5/2"])
@pytest.mark.parametrize("method", ["best", "paper"])
def test_nobody_reports_by_more_than_their_epsilon(epsilon: str, method: Any) -> None:
    crowd = PEOPLE.crowd(epsilon=epsilon, method=method)
    for query in QUERIES.values():
        for part in query.parts:
            survey = crowd.survey(part)
            if not survey.needless:
                randomizer = survey.randomizer
                if randomizer.exponent is None:
                    assert at_most_power(randomizer.ratio, Fraction(epsilon))
                else:
                    assert randomizer.exponent <= Fraction(epsilon)


def test_a_person_with_several_rows_shares_epsilon_among_them() -> None:
    columns = {"who": np.repeat(np.arange(50), 4), "sick": np.tile([True, False], 100)}
    schema = sulq.Schema({"sick": sulq.Boolean()}, unit=sulq.Unit("who", rows=4))
    crowd = sulq.open(columns, schema).crowd(epsilon=2)
    assert crowd.survey(col("sick")).randomizer.epsilon == pytest.approx(0.5)
    assert crowd.survey(col("sick")).randomizer.epsilon <= 0.5 + 1e-12


def test_everyone_is_asked_at_most_once() -> None:
    seen: list[int] = []
    source = sulq.open({"id": np.arange(1_000)}, {"id": sulq.Integer(0, 999)})
    crowd = source.crowd(epsilon=1)
    only = source.only

    def watched(at: Any) -> sulq.Source:
        seen.extend(at.tolist())
        return only(at)

    source.only = watched  # type: ignore[method-assign]
    asked = sulq.Round([sulq.mean(col("id")), sulq.count(where=col("id") > 3)], share="0.4")
    crowd.ask(asked)
    crowd.ask(asked)
    crowd.ask(asked, run="another")
    assert len(seen) == len(set(seen)) == 1_000 - crowd.left
    with pytest.raises(sulq.BudgetError) as refused:
        crowd.ask(asked, run="a third")
    assert refused.value.unit == "people"
    assert len(seen) == 1_000 - crowd.left, "a refusal asks nobody"
    assert (crowd.rounds, crowd.queries) == (2, 4)


def test_a_crowd_that_is_not_interactive_answers_one_round() -> None:
    crowd = PEOPLE.crowd(epsilon=1, interactive=False)
    first = sulq.Round([sulq.mean(col("sick"))], share="1/4")
    [answer] = crowd.ask(first)
    assert crowd.ask(first)[0].value == answer.value, "the same question of the same run is not a second one"
    with pytest.raises(sulq.errors.AdaptivityError, match="interactive=True"):
        crowd.ask(sulq.Round([sulq.mean(col("age"))], share="1/4"))
    with pytest.raises(sulq.errors.AdaptivityError):
        crowd.ask(first, run="another")
    assert crowd.rounds == 1


def test_cohorts_follow_from_tolerances_and_are_known_before() -> None:
    crowd = PEOPLE.crowd(epsilon=2)
    asked = sulq.Round(
        [
            sulq.mean(col("sick"), tolerance="0.05", beta="0.1"),
            sulq.count(by="town", tolerance=2_000, beta="0.1"),
        ]
    )
    cost = crowd.cost(asked)
    errors = crowd.error(asked, 0.1)
    assert errors[0] == pytest.approx(0.05, rel=0.01) and errors[1] == pytest.approx(2_000, rel=0.01)
    crowd.ask(asked)
    assert crowd.left == ROWS - cost
    with pytest.raises(sulq.BudgetError) as refused:
        crowd.ask(sulq.Round([sulq.mean(col("sick"), tolerance="0.001", beta="0.1")]))
    assert refused.value.requested > 10**6, "and it says how many would be needed"


def test_one_made_up_report_moves_an_answer_by_no_more_than_stated() -> None:
    crowd = PEOPLE.crowd(epsilon=1)
    for query in QUERIES.values():
        for part in query.parts:
            survey = crowd.survey(part)
            if survey.needless:
                continue
            some = PEOPLE.only(np.arange(200))
            reports = Device(some, crowd.epsilon).report(survey.item).numbers
            before = survey.randomizer.estimate(reports)
            for lie in reports[1:40]:
                made_up = reports.copy()
                made_up[0] = lie
                moved = np.abs(survey.randomizer.estimate(made_up) - before).max()
                assert moved <= survey.randomizer.influence(200) * (1 + 1e-9)
    asked = sulq.Round([sulq.count(where=col("sick"))], share="1/2")
    [influence] = crowd.influence(asked)
    assert 1 < influence < 10, "one of 10,000 reports on 20,000 people, at ε = 1, counts for some of them"


LEARNERS: list[Callable[[], sulq.Learner]] = [
    lambda: sulq.ID3("sick", depth=2, ahead=1),
    lambda: sulq.ID3("sick", depth=2, pick="counts"),
    lambda: sulq.KMeans(2),
    lambda: sulq.PCA(1),
    lambda: sulq.SVD(1),
    lambda: sulq.Perceptron("sick", iterations=3),
    lambda: sulq.Conjunction("sick", [col("age") > 50, col("visits") > 3], share=1),
]


@pytest.mark.parametrize("make", LEARNERS)
def test_every_learner_runs_on_it_unchanged(make: Callable[[], sulq.Learner]) -> None:
    hypothesis = make().learn(PEOPLE.crowd(epsilon=4))
    assert hypothesis.origin is not None
    assert hypothesis.origin.promise == "ε = 4 (pure, local)"
    assert hypothesis.describe()


def test_with_enough_people_it_learns_what_there_is() -> None:
    """Two clusters and a rule, 200,000 people, ε = 4: far from any chance of failure."""
    rng = np.random.default_rng(0)
    rows = 200_000
    x = np.where(rng.random(rows) < 0.5, rng.normal(2, 0.5, rows), rng.normal(8, 0.5, rows))
    a, b = rng.random(rows) < 0.7, rng.random(rows) < 0.7
    columns: dict[str, Any] = {"x": x, "a": a, "b": b, "y": a & b}
    flags = dict.fromkeys(("a", "b", "y"), sulq.Boolean())
    source = sulq.open(columns, {"x": sulq.Real(0, 10)} | flags)
    centres = sulq.KMeans(2, ["x"]).learn(source.crowd(epsilon=4))
    assert np.allclose(sorted(np.ravel(centres.natural)), [2, 8], atol=0.3)
    rule = sulq.Conjunction("y", error="0.2", confidence="0.999999").learn(source.crowd(epsilon=4))
    assert rule.describe() == "a and b"
    tree = sulq.ID3("y", ["a", "b"], depth=2).learn(source.crowd(epsilon=4))
    assert np.array_equal(tree.predict(columns), columns["y"])


def test_masked_parity_needs_interaction() -> None:
    """d = 16, ε = 1, 270,000 people: each run succeeds with probability 0.95. More than 6 failures in 12 runs, or 5 in 5,
    come with a chance below 10⁻⁶; a learner that succeeds half the time fails 7 times in 12 four times in ten."""
    secret = tuple(np.random.default_rng(5).integers(0, 2, 16).tolist())
    rows = sulq.theory.masked_parity_rows(secret, 1, 270_000, np.random.default_rng(6))
    source = sulq.open(rows, sulq.theory.masked_parity_schema(16))
    tries, failures = either(5, 12), 0
    for _ in range(tries):
        rule = sulq.theory.MaskedParity(confidence="0.95").learn(source.crowd(epsilon=1))
        failures += (rule.secret, rule.mask) != (secret, 1)
    assert failures <= most(tries, 0.05, alarm=1e-6)
    with pytest.raises(sulq.errors.AdaptivityError):
        sulq.theory.MaskedParity().learn(source.crowd(epsilon=1, interactive=False))
    weak = sulq.theory.MaskedParity(adaptive=False).learn(source.crowd(epsilon=1, interactive=False))
    assert weak.mask is None
    assert np.mean(weak.predict(rows) != rows["label"]) == pytest.approx(1 / 4, abs=0.01)


@pytest.mark.parametrize("epsilon", [0, -1, "nan", None, "much"])
def test_there_is_no_default_and_no_senseless_epsilon(epsilon: Any) -> None:
    with pytest.raises(sulq.SulqError):
        PEOPLE.crowd(epsilon=epsilon)
    with pytest.raises(TypeError):
        PEOPLE.crowd()  # type: ignore[call-arg]


def test_the_paper_s_report_is_noisier() -> None:
    part = QUERIES["a flag"].parts[0]
    paper, best = (Crowd(PEOPLE, Fraction(1), method).survey(part) for method in ("paper", "best"))
    assert paper.randomizer.variance(1) > 2 * best.randomizer.variance(1)


def test_who_comes_too_late_is_refused_and_has_asked_nobody() -> None:
    """Six threads want a third of the people each: three of them get it."""
    crowd = sulq.open({"sick": [True, False] * 3_000}, {"sick": sulq.Boolean()}).crowd(epsilon=1)
    asked = sulq.Round([sulq.mean(sulq.col("sick")), sulq.mean(~sulq.col("sick"))], share="1/3")

    def ask(run: int) -> str:
        try:
            crowd.ask(asked, run=f"{run}")
        except sulq.BudgetError:
            return "refused"
        return "told"

    with ThreadPoolExecutor(6) as threads:
        outcomes = list(threads.map(ask, range(6)))
    assert sorted(outcomes) == ["refused"] * 3 + ["told"] * 3
    assert crowd.left == 0


def test_answers_from_tallies_have_the_error_bars_of_as_many_people_as_reported() -> None:
    """Of 10,000 who are asked, only 2,500 answer, to two collectors."""
    crowd = PEOPLE.crowd(epsilon=1)
    half, eighth = (sulq.Round([sulq.mean(col("sick"))], share=share) for share in ("1/2", "1/8"))
    [item] = crowd.questionnaire(half).items
    tallies = []
    for at in (np.arange(1_000), np.arange(1_000, 2_500)):
        report = Device(PEOPLE.only(at), crowd.epsilon).report(item)
        tallies.append(item.tally(report, people=len(at)))
    [answer] = crowd.answers(half, [tallies[0] + tallies[1]])
    assert answer.radius(0.05) == pytest.approx(crowd.error(eighth, 0.05)[0])
    assert abs(answer.value - 0.3) < answer.radius(1e-9) + 0.02
    assert crowd.left == ROWS and crowd.rounds == 0, "nobody was asked by the crowd itself"


def test_tallies_that_do_not_belong_to_a_round_are_refused() -> None:
    crowd = PEOPLE.crowd(epsilon=1)
    round_ = sulq.Round([sulq.mean(col("sick")), sulq.mean(col("age"))], share="1/2")
    sick, age = (
        item.tally(Device(PEOPLE, crowd.epsilon).report(item), people=ROWS)
        for item in crowd.questionnaire(round_).items
    )
    assert len(crowd.answers(round_, [sick, age])) == 2
    for wrong in ([], [sick], [sick, age, age]):
        with pytest.raises(sulq.QueryError, match=f"one tally for each of its items, not {len(wrong)}"):
            crowd.answers(round_, wrong)
    with pytest.raises(sulq.QueryError, match="of another item"):
        crowd.answers(round_, [age, sick])
