"""The curator: charges first, adds the noise it says, and says how far off it is."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sulq
from sulq.privacy.noise import DiscreteLaplace
from sulq.privacy.spherical import SphericalLaplace
from sulq.privacy.tolerances import per_number
from tests.effort import fewest, most, runs
from tests.oracles.curators import SCHEMA, people, terms

col = sulq.col


# What a round costs


def test_the_cost_of_a_share_is_that_share_exactly() -> None:
    curator = people().curator(epsilon=1)
    round_ = sulq.Round([sulq.count(where=col("a")), sulq.total(col("pay"))], share="1/3")
    assert curator.cost(round_) == Fraction(1, 3)
    for run in ("one", "two", "three"):
        curator.ask(round_, run=run)
    assert curator.remaining == 0
    with pytest.raises(sulq.BudgetError) as refused:
        curator.ask(round_, run="four")
    assert (refused.value.requested, refused.value.remaining, refused.value.excess) == (
        Fraction(1, 3),
        0,
        Fraction(1, 3),
    )
    assert curator.spent == 1


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
@pytest.mark.parametrize("budget", [{"epsilon": 1}, {"rho": "0.1"}, {"epsilon": 1, "delta": 1e-6}])
def test_the_noise_of_a_round_pays_for_its_joint_sensitivity_and_not_much_more(
    budget: dict[str, Any], neighbours: Any
) -> None:
    curator = people().curator(**budget, neighbours=neighbours)
    queries = [
        sulq.count(by="age"),
        sulq.total(col("pay"), by="a", weight=3),
        sulq.total(sulq.gram(sulq.features("pay", "age", norm=1))),
        sulq.mean(col("pay")),
        sulq.choose(["a", "b", "age"], label="y", weight=2),
    ]
    round_ = sulq.Round(queries, share=0.25)
    found = terms(curator, round_)
    parts = [part for query in queries[:-1] for part in query.parts]
    scope = curator.offer.scope
    used = Fraction(0)
    for part, noise in zip(parts, found.noises, strict=True):
        facts = scope.number(part)
        moved1 = facts.norm1 if neighbours == "add-remove" else facts.spread1
        moved2 = facts.square if neighbours == "add-remove" else facts.spread_square
        if moved1 == 0:
            assert noise is None
        elif isinstance(noise, SphericalLaplace):
            used += noise.epsilon(Fraction(math.isqrt(moved2 << 40) + 1, 2**20))
        else:
            used += (
                noise.epsilon(moved1)
                if isinstance(noise, DiscreteLaplace)
                else moved2 / (2 * curator.offer.calibration.budget.prices.continuous(noise.variance))
            )
    [selection] = found.selections
    used += (
        selection.epsilon
        if "rho" not in curator.offer.calibration.unit
        else curator.offer.calibration.budget.prices.choice * selection.rho()
    )
    assert used <= found.cost
    assert used > found.cost * Fraction(999_999, 1_000_000)
    assert found.cost == curator.offer.calibration.total / 4


def test_errors_are_equal_in_units_of_one_rows_contribution_or_as_the_weights_say() -> None:
    for budget in ({"epsilon": 1}, {"rho": 1}):
        curator = people().curator(**budget)
        count, pay, heavy = curator.error(
            sulq.Round(
                [sulq.count(where=col("a")), sulq.total(col("pay")), sulq.count(where=col("b"), weight=4)],
                share=0.1,
            ),
            0.05,
        )
        assert pay / count == pytest.approx(100, rel=0.05)
        assert count / heavy == pytest.approx(4, rel=0.1)


def test_what_nobody_moves_is_free_and_exact() -> None:
    curator = people(123).curator(epsilon="0.001")
    assert curator.cost(sulq.Round([sulq.count()], share=1)) == 0
    assert curator.ask(sulq.Round([sulq.count()]))[0].value == 123
    assert curator.spent == 0
    [rows] = (
        people(7)
        .curator(epsilon=1)
        .ask(sulq.Round([sulq.choose([sulq.total(2), sulq.count(), sulq.total(5)])]))
    )
    assert (rows.value, rows.radius(0.1)) == (2, 0)
    with pytest.raises(sulq.QueryError, match="how much may this round cost"):
        people().curator(epsilon=1, neighbours="add-remove").ask(sulq.Round([sulq.count()]))


def test_a_person_of_several_rows_is_charged_for_and_their_number_is_not_public() -> None:
    data = {"who": np.arange(30) // 3, "a": np.ones(30, bool)}
    source = sulq.open(data, sulq.Schema({"a": sulq.Boolean()}, sulq.Unit("who", rows=3)))
    curator = source.curator(epsilon=1)
    [noise] = terms(curator, sulq.Round([sulq.count()], share=1)).noises
    assert noise == DiscreteLaplace(3)
    assert "rows" not in curator.ledger.facts


def test_the_laplace_mechanism_for_an_average_has_the_papers_error() -> None:
    """Theorem 3 of the lecture notes: n values in [0, b] have an error of at most (b/εn)·ln(1/δ)."""
    curator = people(1000).curator(epsilon="0.1")
    [error] = curator.error(sulq.Round([sulq.mean(col("pay"))], share=1), beta=0.05)
    assert error == pytest.approx(100 / (0.1 * 1000) * math.log(1 / 0.05), rel=1e-4)


# Tolerances


@pytest.mark.parametrize("budget", [{"epsilon": 10}, {"rho": 10}])
def test_a_tolerance_is_met_at_its_least_cost(budget: dict[str, Any]) -> None:
    curator = people().curator(**budget)
    query = sulq.count(by="age", tolerance=20, beta=0.05)
    round_ = sulq.Round([query, sulq.mean(col("pay"), tolerance=1, beta=0.01)])
    found = terms(curator, round_)
    counts, pay, rows = found.noises
    assert rows is None
    assert counts.radius(per_number(0.05, 10)) <= 20
    assert pay.radius(per_number(0.01, 1)) <= 1 * 1000 * 2**23
    wider = type(counts)(
        counts.scale * Fraction(21, 20)
        if isinstance(counts, DiscreteLaplace)
        else counts.variance * Fraction(11, 10)
    )
    assert wider.radius(per_number(0.05, 10)) > 20
    answers = curator.ask(round_)
    assert answers[0].radius(0.05) <= 20
    assert answers[1].radius(0.01) <= 1
    assert curator.spent == found.cost


def test_a_tolerance_the_budget_cannot_meet_is_refused_before_spending() -> None:
    curator = people().curator(epsilon="0.01")
    for tolerance in (1, 0.5):
        with pytest.raises(sulq.BudgetError):
            curator.ask(sulq.Round([sulq.count(where=col("a"), tolerance=tolerance, beta=0.05)]))
    assert curator.spent == 0


def test_a_tolerance_below_one_row_leaves_no_noise_but_for_a_chance_of_beta() -> None:
    curator = people().curator(epsilon=10)
    [noise] = terms(curator, sulq.Round([sulq.count(where=col("a"), tolerance=0.5, beta=0.01)])).noises
    assert noise.radius(0.01) == 0
    assert noise.tail(0) > 0.0099


@pytest.mark.parametrize(
    ("round_", "complaint"),
    [
        (lambda: sulq.Round([sulq.count(where=col("a"))]), "how much may this round cost"),
        (
            lambda: sulq.Round([sulq.count(where=col("a"), tolerance=5, beta=0.1)], share=0.1),
            "by tolerances or by a share",
        ),
        (
            lambda: sulq.Round([sulq.count(where=col("a"), tolerance=5, beta=0.1), sulq.count()]),
            "by tolerances or by a share",
        ),
        (lambda: sulq.Round([sulq.count(where=col("a"), tolerance=5)]), "go together"),
        (lambda: sulq.Round([sulq.mean(col("pay"), where=col("a"), tolerance=5, beta=0.1)]), "over all rows"),
        (
            lambda: sulq.Round([sulq.count()], share=0),
            "share must be a positive, finite number and at most 1",
        ),
        (
            lambda: sulq.Round([sulq.count()], share=1.5),
            "share must be a positive, finite number and at most 1",
        ),
        (lambda: sulq.Round([sulq.count()], share=float("nan")), "share must be"),
        (lambda: sulq.Round([sulq.count(where=col("a"), weight=-1)], share=1), "weight must be"),
        (lambda: sulq.Round([sulq.count(where=col("no"))], share=1), "no column 'no'"),
        (lambda: sulq.Round([sulq.choose([])], share=1), "nothing to choose from"),
        (lambda: sulq.Round([sulq.choose(["a"])], share=1), "without a label"),
        (lambda: sulq.Round([sulq.choose([sulq.count()], label="y")], share=1), "list of attributes"),
        (lambda: sulq.Round([sulq.choose([sulq.total(sulq.vector(1, 2))])], share=1), "single numbers"),
        (lambda: sulq.Round([sulq.choose(["pay"], label="y")], share=1), "no short list"),
        (lambda: [sulq.count()], "ask takes a Round"),
    ],
)
def test_nonsense_is_refused_and_nothing_is_spent(round_: Any, complaint: str) -> None:
    curator = people().curator(epsilon=1)
    with pytest.raises(sulq.SulqError, match=complaint):
        curator.ask(round_())
    assert curator.spent == 0
    assert list(curator.ledger.entries()) == []


@pytest.mark.parametrize(
    "budget",
    [{}, {"epsilon": 0}, {"epsilon": -1}, {"epsilon": math.nan}, {"epsilon": math.inf}, {"epsilon": "x"},
     {"epsilon": True}, {"delta": 0.1}, {"rho": 1, "epsilon": 1}, {"epsilon": 1, "delta": 1}, {"epsilon": 1, "delta": 0},
     {"epsilon": 1, "neighbours": "swap"}, {"epsilon": 1, "calibration": "loose"}, {"epsilon": 1, "queries": 3},
     {"epsilon": 1, "calibration": "sulq-laplace"}, {"epsilon": 1, "calibration": "sulq-laplace", "queries": 0},
     {"epsilon": 1, "calibration": "sulq-gaussian", "queries": 10},
     {"epsilon": 1, "calibration": "sulq-laplace", "queries": 9, "neighbours": "add-remove"}],
)  # fmt: skip
def test_budgets_that_are_none_are_refused(budget: dict[str, Any]) -> None:
    with pytest.raises(sulq.SulqError):
        people().curator(**budget)


# Answers


@pytest.mark.parametrize("budget", [{"epsilon": 40}, {"rho": 40}])
def test_error_bars_cover_the_truth_as_often_as_they_say(budget: dict[str, Any]) -> None:
    """Rounds at β = 0.2; counts are whole numbers, so their error bars may cover more than they must.

    False alarms have a chance of 1e-7 each. An error bar that misses 1.9 times as often as it says is caught in
    400 rounds with a chance of 99.8 %, and one that misses 0.3 times as often with 99.9 %; in 200 rounds, one that
    misses 2.3 times as often with 99.7 %, and one that misses a quarter as often with 87 %.
    """
    rounds = runs(400, least=200)
    source = people(200)
    queries = [sulq.count(where=col("a")), sulq.count(by=["a", "b"]), sulq.total(col("pay"))]
    truth = [answer.value for answer in source.exact().ask(sulq.Round(queries))]
    curator = source.curator(**budget)
    misses = np.zeros(len(queries))
    for run in range(rounds):
        answers = curator.ask(sulq.Round(queries, share="1/400"), run=str(run))
        for i, (answer, true) in enumerate(zip(answers, truth, strict=True)):
            misses[i] += np.abs(answer.value - true).max() > answer.radius(0.2)
    assert (misses <= most(rounds, 0.2, alarm=1e-7)).all()
    assert misses[2] >= fewest(rounds, 0.2, alarm=1e-7)


def test_the_error_bar_of_a_mean_covers_it_and_is_infinite_over_nobody() -> None:
    source = people(300)
    curator = source.curator(epsilon=1000)
    asked = [
        sulq.mean(col("pay"), where=col("a")),
        sulq.mean(col("age"), by="b"),
        sulq.mean(col("pay"), where=col("age") > 8),
    ]
    truth = source.exact().ask(sulq.Round(asked))
    for run in range(50):
        for answer, true in zip(
            curator.ask(sulq.Round(asked, share="1/1000"), run=str(run)), truth, strict=True
        ):
            # Where noise leaves nobody there is no mean, and the error bar is infinite.
            outside = np.abs(np.asarray(answer.value) - true.value) > answer.radius(1e-7)
            assert not np.any(outside)
    nobody = curator.ask(sulq.Round([sulq.mean(col("pay"), where=col("age") > 100)], share="1/100"))[0]
    assert nobody.radius(0.01) == math.inf


def test_truncated_answers_stay_in_the_public_range() -> None:
    source = people(5)
    asked = [sulq.count(where=col("a")), sulq.total(col("pay"))]
    for neighbours, highest in (("replace", 5), ("add-remove", math.inf)):
        curator = source.curator(epsilon=1, truncate=True, neighbours=neighbours)
        for run in range(40):
            count, pay = curator.ask(sulq.Round(asked, share="1/1000"), run=str(run))
            assert 0 <= count.value <= highest
            assert 0 <= pay.value <= 100 * highest


def test_noise_is_there_and_no_two_runs_have_the_same() -> None:
    curator = people().curator(epsilon=1)
    round_ = sulq.Round([sulq.total(col("pay"))], share="1/100")
    values = {curator.ask(round_, run=str(run))[0].value for run in range(20)}
    assert len(values) == 20


def test_a_choice_finds_the_best_when_it_is_clear_and_says_how_sure_it_is() -> None:
    rng = np.random.default_rng(1)
    y = rng.random(4000) < 0.5
    data = {
        "a": rng.random(4000) < 0.5,
        "b": y ^ (rng.random(4000) < 0.1),
        "y": y,
        "pay": np.zeros(4000),
        "age": rng.integers(0, 10, 4000),
    }
    source = sulq.open(data, SCHEMA)
    for curator in (
        source.exact(),
        source.curator(epsilon=1),
        source.curator(rho=0.1),
        source.curator(epsilon=1, neighbours="add-remove"),
    ):
        best, largest, grouped = curator.ask(
            sulq.Round(
                [
                    sulq.choose(["a", "b", "age"], label="y"),
                    sulq.choose(
                        [sulq.count(where=col("age") == 1), sulq.total(col("age")), sulq.total(col("pay"))]
                    ),
                    sulq.choose(["a", "b"], label="y", by="a"),
                ],
                share=0.5,
            )
        )
        assert (best.value, largest.value) == (1, 1)
        assert grouped.value.tolist() == [1, 1]
        assert 0 <= best.radius(0.01) < 1000


@pytest.mark.parametrize("value", [0.0, 1.0, 1000.0])
def test_scores_on_grids_that_are_far_apart_are_compared_whatever_the_rows(value: float) -> None:
    rows = {"a": np.full(20_000, value), "b": np.zeros(20_000)}
    people = sulq.open(rows, {"a": sulq.Real(0, 1000), "b": sulq.Real(0, 1e-4)})
    asked = sulq.Round([sulq.choose([sulq.total(sulq.col("a")), sulq.total(-sulq.col("b"))])], share=0.5)
    curator = people.curator(epsilon=10)
    [best] = curator.ask(asked)
    assert best.value == 0 or value == 0
    assert curator.spent == 5 and best.radius(0.01) < 5000
