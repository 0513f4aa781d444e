"""A run that cannot be paid to its end is refused before it begins: half of one costs half and teaches nothing."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sulq
from sulq.learners.learner import Learner
from tests.oracles.curators import people

RNG = np.random.default_rng(11)
col = sulq.col
SPEND = sulq.Round([sulq.count(where=col("a"))], share="1/10")
LEARNERS: list[Learner[Any]] = [
    sulq.ID3("y"),
    sulq.ID3("y", split="multiway"),
    sulq.ID3("y", pick="counts"),
    sulq.KMeans(2, ["pay", "age"]),
    sulq.Perceptron("y"),
    sulq.Additive("y"),
    sulq.LinearRegression("pay"),
    sulq.LogisticRegression("y"),
    sulq.NaiveBayes("y"),
    sulq.DecisionList("y", length=2),
    sulq.Classifier("y"),
    sulq.Regressor("pay"),
    sulq.PCA(1),
    sulq.SVD(1),
    sulq.Conjunction("y", share=1),
    sulq.Select(sulq.classes.Conjunctions(["a", "b"]), "y"),
    sulq.Table(["a", "b"]),
]


EXTREMES: list[dict[str, Any]] = [
    {"epsilon": "1e-12"},
    {"epsilon": "1e-50"},
    {"rho": "1e-50"},
    {"epsilon": "1e15"},
    {"epsilon": 1, "calibration": "sulq-laplace", "queries": 10**14},
    {"epsilon": "1e-9", "delta": "1e-6", "calibration": "sulq-gaussian", "queries": 10**14},
]


@pytest.mark.parametrize("promise", EXTREMES, ids=lambda promise: "-".join(map(str, promise.values())))
@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_noise_however_wide_stops_no_run_after_its_first_charge(
    learner: Learner[Any], promise: dict[str, Any]
) -> None:
    curator = people().curator(**promise)
    try:
        learner.learn(curator)
    except sulq.SulqError:
        assert curator.spent == 0


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_a_learner_takes_its_whole_cost_or_nothing(learner: Learner[Any]) -> None:
    curator = people().curator(epsilon=10)
    curator.ask(SPEND)
    with pytest.raises(sulq.BudgetError) as refused:
        learner.learn(curator, "tree")
    assert (refused.value.requested, refused.value.remaining) == (10, 9)
    assert str(refused.value) == "the charge of epsilon = 10 exceeds what is left, 9, by 1; it was not made"
    assert curator.spent == 1
    assert [run.name for run in curator.ledger.runs()] == ["main"]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_a_crowd_is_not_asked_for_half_a_run(learner: Learner[Any]) -> None:
    crowd = people(20_000).crowd(epsilon=4)
    crowd.ask(SPEND)
    left = crowd.left
    try:
        learner.learn(crowd, "tree")
    except (sulq.BudgetError, sulq.QueryError):
        assert crowd.left == left


@pytest.mark.parametrize("door", [lambda source: source.crowd(epsilon=8), lambda source: source.sample()])
@pytest.mark.parametrize(
    ("learner", "least"),
    [
        (sulq.ID3("y", pick="counts", gamma="0.01", depth=2), 24),
        (sulq.KMeans(2, ["x0", "x1"]), 27),
        (sulq.Perceptron("y"), 40),
        (sulq.Perceptron("y", iterations=30), 64),
        (sulq.Additive("y"), 54),
        (sulq.Regressor(2 * col("y"), ["x0", "x1"]), 63),
        (sulq.CrossValidate(sulq.Perceptron("y", iterations=30), folds=2), 158),
        (sulq.Holdout(sulq.Perceptron("y", iterations=30)), 79),
        (sulq.Holdout(sulq.ID3("y", pick="counts", gamma="0.01", depth=1)), 25),
    ],
)
def test_nobody_is_asked_where_later_questions_would_be_put_to_nobody(
    learner: Learner[Any], least: int, door: Callable[[sulq.Source], Any]
) -> None:
    """A tree of two levels on 5 attributes asks 2 + 10, 2 + 8 and 2 questions; a step of k-means gets 3/20.

    How many corrections of a halfspace there are, noise decides: 15 at most after the first, for 4/5 of what
    a look leaves. A model of a number asks 7 questions for 3/20 of what two looks leave.
    A fold's model gets 2/5 of the people in 2 folds, one that is held out for 4/5, and the last round 1/5.
    """
    columns = {f"x{i}": RNG.random(least) < 0.5 for i in range(5)}
    rows: dict[str, Any] = columns | {"y": columns["x0"]}
    kinds = {name: sulq.Boolean() for name in rows}
    few = door(sulq.open({name: cells[1:] for name, cells in rows.items()}, kinds))
    with pytest.raises(sulq.QueryError, match=f"{least - 1} people are too few: this run takes {least}"):
        learner.learn(few)
    assert few.left == least - 1
    learner.learn(door(sulq.open(rows, kinds)))


def test_a_part_of_a_budget_counts_as_the_whole(tmp_path: Path) -> None:
    curator = people().curator(epsilon=10)
    half = curator.part("1/2")
    half.ask(SPEND)
    with pytest.raises(sulq.BudgetError):
        sulq.ID3("y").learn(half, "tree")
    assert curator.spent == Fraction(1, 2)
    sulq.ID3("y", share="9/10").learn(half, "tree")
    assert curator.spent <= 5


class Stops(sulq.ID3):
    """A tree whose run is interrupted after its first round."""

    def rounds(self, schema: sulq.Schema) -> Any:
        growing = super().rounds(schema)
        answers = yield next(growing)
        growing.send(answers)
        raise KeyboardInterrupt


def test_a_resumed_run_needs_only_what_is_left_of_it(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    with pytest.raises(KeyboardInterrupt):
        Stops("y", share="1/2").learn(people().curator(epsilon=10, ledger=ledger), "tree")
    curator = people().curator(epsilon=10, ledger=ledger)
    begun = curator.spent
    assert 0 < begun < 5
    others = (curator.remaining - (5 - begun)) / 10
    curator.ask(sulq.Round([sulq.count(where=col("b"))], share=others), "another's")
    assert curator.remaining == 5 - begun
    sulq.ID3("y", share="1/2").learn(curator, "tree")
    assert curator.spent == 10


def test_a_resumed_run_that_can_no_longer_be_paid_is_refused_where_it_stopped(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    with pytest.raises(KeyboardInterrupt):
        Stops("y", share="1/2").learn(people().curator(epsilon=10, ledger=ledger), "tree")
    curator = people().curator(epsilon=10, ledger=ledger)
    begun = curator.spent
    curator.ask(sulq.Round([sulq.count(where=col("b"))], share="4/5"), "another's")
    with pytest.raises(sulq.BudgetError):
        sulq.ID3("y", share="1/2").learn(curator, "tree")
    assert curator.spent == begun + 8


def test_rounds_by_tolerances_are_added_up_before_the_first() -> None:
    rows = sulq.theory.masked_parity_rows([1, 0, 1, 1], 1, 4_000, np.random.default_rng(0))
    masked = sulq.open(rows, sulq.theory.masked_parity_schema(4))
    learner = sulq.theory.MaskedParity()
    whole = masked.curator(epsilon=100)
    learner.learn(whole)
    enough, first = whole.spent, next(iter(whole.ledger.entries())).cost
    assert first < enough
    short = masked.curator(epsilon=(first + enough) / 2)
    with pytest.raises(sulq.BudgetError) as refused:
        learner.learn(short)
    assert (short.spent, refused.value.requested) == (0, enough)


def test_all_rates_are_paid_for_before_the_first_is_tried() -> None:
    learner = sulq.Conjunction("y", ["a", "b"], error="0.4", share="1/2")
    curator = people(20_000).curator(epsilon=1)
    curator.ask(sulq.Round([sulq.count(where=col("a"))], share="1/2"))
    with pytest.raises(sulq.BudgetError):
        sulq.learn_at_unknown_rate(learner, curator, "y", [0, "0.1", "0.2"])
    assert curator.spent == Fraction(1, 2)
    by_tolerances = sulq.Conjunction("y", ["a", "b"], error="0.4")
    curator = people(2_000).curator(epsilon=1)
    first = curator.cost(next(by_tolerances.rounds(curator.schema)))
    assert first < 1 < 40 * first
    with pytest.raises(sulq.BudgetError):
        sulq.learn_at_unknown_rate(by_tolerances, curator, "y", [Fraction(i, 100) for i in range(40)])
    assert curator.spent == 0


def test_what_is_left_of_several_rates_is_paid_for_before_they_go_on(tmp_path: Path) -> None:
    """Interrupted between two rates, and meanwhile somebody else spends what the last question needs."""
    learner = sulq.ID3("y", ["a", "b"], depth=2)

    def curator() -> Any:
        return people(5_000).curator(epsilon=1, ledger=tmp_path / "ledger")

    first = curator()
    told = first.ask

    def stops(round_: sulq.Round, run: str = "main") -> Any:
        if "rate 3/10" in run:
            raise KeyboardInterrupt
        return told(round_, run)

    first.ask = stops
    with pytest.raises(KeyboardInterrupt):
        sulq.learn_at_unknown_rate(learner, first, "y", [0, "0.3"])
    spent = first.spent
    assert spent == Fraction(2, 5)
    again = curator()
    again.ask(SPEND, run="another's")
    with pytest.raises(sulq.BudgetError):
        sulq.learn_at_unknown_rate(learner, again, "y", [0, "0.3"])
    assert again.spent == spent + Fraction(1, 10)


@pytest.mark.parametrize(
    "learner", [sulq.PCA(1), sulq.KMeans(2, ["pay", "age"]), sulq.Perceptron("y")], ids=repr
)
def test_a_crowd_of_one_round_is_not_asked_by_a_learner_of_several(learner: Learner[Any]) -> None:
    crowd = people(3_000).crowd(epsilon=1, interactive=False)
    with pytest.raises(sulq.errors.AdaptivityError):
        learner.learn(crowd)
    assert crowd.left == 3_000
