from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import sulq
from sulq.plans.rehearsal import made_up, rehearse
from sulq.plans.watching import Watched
from sulq.sources.readers import PIECE

COLUMNS = {
    "age": sulq.Integer(18, 65),
    "height": sulq.Real(-1.5, 2.5),
    "plan": sulq.Category(["a", "b"]),
    "sick": sulq.Boolean(),
}
SCHEMA = sulq.Schema(COLUMNS)
BY_PERSON = sulq.Schema(COLUMNS, sulq.Unit("person", rows=3))


def test_made_up_rows_are_uniform_over_what_a_row_could_hold() -> None:
    rows = 12_000
    source = made_up(SCHEMA, rows)
    ages, heights = source.values(sulq.col("age")), source.values(sulq.col("height"))
    assert set(ages) == set(range(18, 66))
    assert heights.min() >= -1.5
    assert heights.max() <= 2.5
    # The seed is fixed, so nothing here is up to chance from run to run.
    assert abs(heights.mean() - 0.5) < 0.05
    levels = np.bincount(source.values(sulq.col("plan")))
    assert len(levels) == 3
    assert np.abs(levels - rows / 3).max() < 300
    assert abs(source.values(sulq.col("sick")).mean() - 0.5) < 0.03


def test_made_up_rows_are_the_same_for_the_same_seed_and_come_in_pieces() -> None:
    rows = PIECE + 17
    first, again, other = (made_up(SCHEMA, rows, seed).values(sulq.col("age")) for seed in (3, 3, 4))
    assert len(first) == rows
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert not np.array_equal(first[:17], first[PIECE:])


@pytest.mark.parametrize("unit", ["person", "plan", "age"])
def test_made_up_people_have_as_many_rows_as_may_count(unit: str) -> None:
    """Also where the column that tells people apart is one that may be asked about."""
    assert made_up(sulq.Schema(COLUMNS, sulq.Unit(unit, rows=3)), 100).rows == 100


def test_a_number_of_rows_is_a_whole_one() -> None:
    for rows in (0, -1, 2.0, True):
        with pytest.raises(sulq.QueryError, match="rows must be a whole number"):
            made_up(SCHEMA, rows)  # type: ignore[arg-type]


@pytest.mark.parametrize("schema", [SCHEMA, BY_PERSON])
@pytest.mark.parametrize("budget", [{"epsilon": 1}, {"rho": "0.1"}, {"epsilon": 1, "delta": "1e-6"}])
def test_every_learner_can_be_rehearsed_within_its_budget(
    schema: sulq.Schema, budget: dict[str, float | str]
) -> None:
    learners: list[sulq.Learner] = [  # type: ignore[type-arg]
        sulq.ID3("sick", depth=2),
        sulq.KMeans(3),
        sulq.PCA(1),
        sulq.Perceptron("sick", iterations=3),
        sulq.Conjunction("sick", [sulq.col("age") > 40], share=1),
    ]
    for learner in learners:
        plan = rehearse(learner, schema, 2000, **budget)  # type: ignore[arg-type]
        assert plan.rounds
        assert [asked.number for asked in plan.rounds] == list(range(1, len(plan.rounds) + 1))
        assert 0 < plan.cost <= plan.total
        assert all(asked.cost == asked.charged for asked in plan.rounds)


@pytest.mark.parametrize("schema", [SCHEMA, BY_PERSON])
def test_of_many_rows_each_made_up_row_stands_for_several(schema: sulq.Schema) -> None:
    """A rehearsal for 2^50 rows takes no longer than one for 2^20, and its counts are those of 2^50."""
    few, many = (rehearse(sulq.Table(["sick"]), schema, rows, epsilon=1) for rows in (2**20, 2**50))
    assert (few.rows, many.rows) == (2**20, 2**50)
    assert many.rounds[0].questions == few.rounds[0].questions
    for plan, rows in ((few, 2**20), (many, 2**50)):
        assert isinstance(plan.hypothesis, sulq.hypotheses.Tabulation)
        counts = plan.hypothesis.columns()["count"]
        assert sum(counts[:2]) == pytest.approx(rows, abs=1000)
        assert counts[0] == pytest.approx(rows / 2, rel=0.01)
    with pytest.raises(sulq.QueryError, match="rows must be a whole number from 1 to 1125899906842624"):
        rehearse(sulq.Table(["sick"]), schema, 2**50 + 1, epsilon=1)


def test_costs_and_errors_are_those_a_curator_states_for_the_same_questions() -> None:
    learner = sulq.Conjunction("sick", [sulq.col("age") > 40, sulq.col("height") > 1], share="1/4")
    plan = rehearse(learner, SCHEMA, 5000, epsilon=2, neighbours="replace")
    rows = {"age": [30] * 5000, "height": [1.0] * 5000, "plan": ["a"] * 5000, "sick": [True] * 5000}
    curator = sulq.open(rows, SCHEMA).curator(epsilon=2)
    round_ = next(learner.rounds(SCHEMA))
    [asked] = plan.rounds
    [question] = asked.questions
    assert asked.cost == curator.cost(round_) == Fraction(1, 2)
    assert (question.times, question.numbers, asked.queries, asked.numbers) == (2, 1, 2, 2)
    [first, second] = curator.error(round_, 0.05)
    assert first is not None
    # A mean's error is worked out from the mean, which differs by a rounding.
    assert question.error == pytest.approx(first, rel=1e-9)
    assert first == second
    assert (plan.promise, plan.unit, plan.total) == (curator.promise, "epsilon", 2)


def test_what_the_budget_cannot_pay_is_refused_in_the_rehearsal_too() -> None:
    with pytest.raises(sulq.BudgetError):
        rehearse(sulq.Conjunction("sick", [sulq.col("age") > 40], error=1e-6), SCHEMA, 100, epsilon=1)


def test_questions_are_told_in_words_and_alike_ones_together() -> None:
    watched = Watched(made_up(SCHEMA, 50).exact())
    age = sulq.col("age")
    watched.ask(
        sulq.Round(
            [
                sulq.count(by="plan"),
                sulq.count(by=sulq.bins(age, [30, 50])),
                sulq.count(where=sulq.col("sick")),
                sulq.mean(sulq.col("sick")),
                sulq.total(sulq.features("age", "height"), by="sick"),
                sulq.choose(["plan", "age"], label="sick", by="plan"),
            ]
        )
    )
    [asked] = watched.asked
    assert asked.describe() == (
        "2 × how many rows, in 3 groups; how many rows meet a condition; which share of the rows meets a "
        "condition; the sum of 2 numbers, in 2 groups; which of 2 candidates predicts best, in 3 groups"
    )
    assert asked.queries == 6
    assert asked.numbers == 3 + 3 + 1 + 1 + 4 + 3
    assert asked.cost == 0
    assert asked.errors() == "none; none; none; none; none"


def test_a_round_that_is_asked_again_is_known_to_be_stored() -> None:
    told: list[tuple[int, bool]] = []
    curator = made_up(SCHEMA, 50).curator(epsilon=1)
    watched = Watched(curator, lambda asked, done: told.append((asked.number, done)))
    round_ = sulq.Round([sulq.count(by="plan")], share=0.25)
    watched.ask(round_, "a")
    watched.ask(round_, "b")
    watched.ask(round_, "a")
    assert [asked.stored for asked in watched.asked] == [False, False, True]
    assert [asked.charged for asked in watched.asked] == [Fraction(1, 4), Fraction(1, 4), 0]
    assert told == [(1, False), (1, True), (2, False), (2, True), (3, False), (3, True)]
    [question] = watched.asked[0].questions
    assert question.error == curator.error(round_, 0.05)[0]
    assert question.precision() == f"± {question.error:g} rows"


def test_an_error_that_cannot_be_stated_is_unknown() -> None:
    """The mean of no rows at all."""
    watched = Watched(made_up(SCHEMA, 3).exact())
    watched.ask(sulq.Round([sulq.mean(sulq.col("age"), where=sulq.col("age") > 65)]))
    assert watched.asked[0].errors() == "unknown"


def test_made_up_rows_follow_counts_that_are_known() -> None:
    known = {"age": [0.0, -3.2, 30, 10], "height": [1, 3], "plan": [0, 7, -1], "sick": [1, 9]}
    source = made_up(SCHEMA, 8_000, known=known)
    ages, heights = source.values(sulq.col("age")), source.values(sulq.col("height"))
    # Of 48 ages the third and the fourth quarter, three to one. The seed is fixed.
    assert set(ages) == set(range(42, 66))
    assert abs((ages < 54).mean() - 0.75) < 0.02
    assert abs((heights > 0.5).mean() - 0.75) < 0.02
    assert -1.5 <= heights.min() <= heights.max() <= 2.5
    assert set(source.values(sulq.col("plan"))) == {1}
    assert abs(source.values(sulq.col("sick")).mean() - 0.9) < 0.02


def test_a_rehearsal_can_use_what_was_paid_for() -> None:
    rare = {"sick": [1000.0, 1.0]}
    learner = sulq.Perceptron("sick", ["age"], iterations=4)
    usual, known = (rehearse(learner, SCHEMA, 2_000, epsilon=1, known=own) for own in (None, rare))
    assert usual.rounds[0].cost == known.rounds[0].cost


@pytest.mark.parametrize(
    "known", [{"plan": [1, 2]}, {"sick": [0, -1]}, {"age": [np.inf]}, {"sick": [1, 2, 3]}, {"age": []}]
)
def test_counts_that_do_not_fit_are_refused(known: dict[str, list[float]]) -> None:
    with pytest.raises(sulq.QueryError, match="takes"):
        made_up(SCHEMA, 10, known=known)
