"""Additive models: what they learn, under which oracles, and how far their error bars can be trusted."""

from __future__ import annotations

import pickle
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

import sulq
from sulq.hypotheses.effect import Effect
from sulq.learners.attributes_in_bins import public_edges
from sulq.learners.response import NumberResponse
from sulq.queries.expressions import Column
from tests.effort import either

ROWS = 4000
SCHEMA = {
    "age": sulq.Integer(0, 99),
    "pay": sulq.Real(0, 1e6),
    "town": sulq.Category(["x", "y", "z"], missing="x"),
    "sick": sulq.Boolean(),
    "plan": sulq.Category(["full", "some", "none"], missing="none"),
    "cost": sulq.Real(0, 100),
}


@cache
def people(rows: int = ROWS) -> sulq.Source:
    return sulq.open(table(rows), SCHEMA, threads=1)


@cache
def table(rows: int = ROWS) -> dict[str, Any]:
    rng = np.random.default_rng(2)
    age, town = rng.integers(0, 100, rows), rng.integers(0, 3, rows)
    pay = rng.exponential(2000, rows)
    score = (age - 50) / 12 + np.array([-1.0, 0.0, 1.0])[town] - 0.5
    sick = rng.random(rows) < 1 / (1 + np.exp(-score))
    plan = np.where(rng.random(rows) < 0.2, "some", np.where(age > 60, "full", "none"))
    cost = (20 + 0.4 * age + 10 * town + rng.normal(0, 5, rows)).clip(0, 100)
    return {
        "age": age,
        "pay": pay,
        "town": np.array(list("xyz"))[town],
        "sick": sick,
        "plan": plan,
        "cost": cost,
    }


def accuracy(model: Any, label: str) -> float:
    return float(np.mean(model.predict(table()) == table()[label]))


@pytest.mark.parametrize("promise", [{}, {"delta": "1e-6"}], ids=["pure", "approximate"])
@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_it_learns_two_classes_three_classes_and_numbers(promise: dict[str, str], neighbours: Any) -> None:
    def curator() -> sulq.Curator:
        return people().curator(epsilon=8, **promise, neighbours=neighbours)

    features = ["age", "town"]
    assert accuracy(sulq.Additive("sick", features).learn(curator()), "sick") > 0.78
    assert accuracy(sulq.Additive("plan", features).learn(curator()), "plan") > 0.75
    cost = sulq.Additive("cost", features).learn(curator())
    assert np.mean(np.abs(cost.predict(table()) - table()["cost"])) < 7


def test_likelihoods_are_those_of_the_classes_and_add_up_to_1() -> None:
    model = sulq.Additive("plan", ["age", "town"]).learn(people().exact())
    likely = model.predict_proba(table())
    assert model.classes == ("full", "some", "none")
    assert np.allclose(likely.sum(axis=1), 1) and (likely >= 0).all()
    shares = [np.mean(table()["plan"] == each) for each in model.classes]
    assert np.allclose(likely.mean(axis=0), shares, atol=0.03)
    with pytest.raises(sulq.QueryError, match="cost is a number"):
        sulq.Additive("cost", ["town"], refinements=1).learn(people().exact()).predict_proba(table())


def test_its_mistakes_can_be_counted_by_a_query() -> None:
    for label in ("sick", "plan"):
        model = sulq.Additive(label, ["age", "town"], refinements=1).learn(people().exact())
        [answer] = people().exact().ask(sulq.Round([sulq.error_rate(model, label)]))
        assert answer.value == pytest.approx(1 - accuracy(model, label))


def test_a_label_may_be_an_expression_and_is_then_no_feature() -> None:
    model = sulq.Additive(sulq.col("age") > 60, refinements=1).learn(people().exact())
    assert "age" not in {effect.name for effect in model.effects}
    assert model.effects[0].name in ("pay", "town", "sick", "plan", "cost")


ORACLES: dict[str, Any] = {
    "exact": lambda: people().exact(),
    "crowd": lambda: people().crowd(epsilon=4),
    "sample": lambda: people().sample(),
    "zero-concentrated": lambda: people().curator(rho=1),
}


@pytest.mark.parametrize("name", ORACLES)
def test_every_oracle_teaches_it(name: str) -> None:
    model = sulq.Additive("sick", ["age", "town"], refinements=1).learn(ORACLES[name]())
    assert accuracy(model, "sick") > 0.45
    assert np.isfinite(model.predict_proba(table())).all()


def test_a_tiny_budget_says_the_majority_and_nothing_else() -> None:
    rows = {"a": np.arange(600) % 2 == 0, "y": np.arange(600) % 20 == 0}
    few = sulq.open(rows, {name: sulq.Boolean() for name in rows})
    model = sulq.Additive("y").learn(few.curator(epsilon="0.02"))
    assert model.effects == () and model.origin.rounds == 2
    # 5,400 rows more have the other label. The noise of the two counts has a deviation of about 200.
    many = {name: np.tile(values, 10) for name, values in rows.items()}
    strong = sulq.Additive("y").learn(sulq.open(many, few.schema).curator(epsilon="0.05", delta="1e-3"))
    assert not strong.predict(rows).any(), "19 of 20 rows have the other label"


def test_a_run_spends_its_share_and_no_more() -> None:
    for share in (1, "1/2"):
        curator = people().curator(epsilon=1)
        sulq.Additive("sick", share=share).learn(curator)
        assert curator.ledger.spent == Fraction(share)
    hopeless = people(20).curator(epsilon="1/100")
    sulq.Additive("sick").learn(hopeless)
    assert hopeless.ledger.spent == Fraction(1, 100)


def test_a_finished_run_is_answered_from_its_ledger(tmp_path: Any) -> None:
    curator = people().curator(epsilon=1, delta="1e-6", ledger=tmp_path / "ledger")
    learner = sulq.Additive("sick", ["age", "town"])
    first, spent = learner.learn(curator), curator.ledger.spent
    assert learner.learn(curator) == first and curator.ledger.spent == spent
    assert pickle.loads(pickle.dumps(first)) == first
    assert sulq.Hypothesis.from_json(first.to_json()) == first


def test_effects_are_0_on_average_and_error_bars_are_finite() -> None:
    model = sulq.Additive("sick").learn(people().curator(epsilon=2))
    for effect in model.effects:
        added, shares = np.array(effect.added)[:, 0], np.array(effect.shares)
        assert shares.sum() == pytest.approx(1) and abs(added @ shares) < 0.01
        assert np.isfinite(effect.deviations).all()


def test_error_bars_hold_the_effects_that_exact_answers_give() -> None:
    """9 effects a run, of which 95 % are stated to be inside. At 5 % outside, of 12 runs fewer than 75 % are inside with a
    chance of 3·10^-7, and of 40 runs fewer than 85 % are with one of 10^-7, even if effects of one run miss in pairs.
    Error bars half as wide would hold about 67 %."""
    learner = sulq.Additive("sick", ["age", "town", "plan"], bins={"age": [33, 66]})
    exact = learner.learn(people().exact())
    inside = []
    for _ in range(either(12, 40)):
        model = learner.learn(people().curator(epsilon=2, delta="1e-6"))
        for noisy, true in zip(model.effects, exact.effects, strict=True):
            radii = 1.96 * np.array(noisy.deviations)
            inside.append(np.abs(np.array(noisy.added) - np.array(true.added)) <= radii)
    assert np.mean(np.concatenate(inside)) > either(75, 85) / 100


def test_bins_come_from_public_bounds_and_are_finer_near_zero() -> None:
    edges = public_edges(-100.0, 1000.0, False)
    assert 0.0 in edges and edges == sorted(set(edges))
    near = [edge for edge in edges if 0 < edge < 10]
    assert len(near) > 50
    assert public_edges(0, 9, True) == [float(edge) for edge in range(1, 10)]
    assert public_edges(3.0, 3.0, False) == []


REFUSALS: list[tuple[Any, str]] = [
    (lambda: sulq.Additive("nobody"), "no column 'nobody'"),
    (lambda: sulq.Additive("sick", ["sick"]), "sick"),
    (lambda: sulq.Additive("sick", bins={"town": [1]}), "town"),
    (lambda: sulq.Additive("sick", refinements=-1), "refinements"),
    (lambda: sulq.Additive("sick", share=2), "share"),
    (lambda: sulq.Additive(sulq.clip("cost", 0, 50) * 0), "can only have one value"),
    (lambda: sulq.Additive(sulq.vector("age", "pay")), "is a vector"),
]


@pytest.mark.parametrize(("make", "said"), REFUSALS, ids=[said for _, said in REFUSALS])
def test_what_cannot_be_learned_is_refused_before_a_row_is_read(make: Any, said: str) -> None:
    with pytest.raises(sulq.SulqError, match=said):
        next(make().rounds(sulq.Schema(SCHEMA)))


def test_words_take_neighbouring_intervals_together_and_name_what_matters_first() -> None:
    learner = sulq.Additive("sick", ["age", "town"])
    model = learner.learn(people().curator(epsilon=2, delta="1e-6"))
    first, *lines = model.describe().splitlines()
    assert first.startswith("log-odds of sick: ") and lines[0].startswith("  age: below ")
    assert all(line.count("±") <= 8 for line in lines)
    assert isinstance(model.effects[0].code, Column) or model.effects[0].code.wire == "bins"


def test_the_picture_has_stairs_for_numbers_and_bars_for_categories() -> None:
    picture = sulq.Additive("sick", ["age", "town"]).learn(people().curator(epsilon=2)).picture()
    assert "lines and bands: 95 of 100 hold what exact answers would give" in picture
    assert ">age<" in picture and ">town<" in picture and "nan" not in picture


def test_flipped_labels_teach_what_the_right_ones_do() -> None:
    """A fifth of the labels are wrong. 4,000 of 20,000 rows: the share of a class is off by less than 0.02."""
    rng = np.random.default_rng(5)
    old = rng.random(20_000) < 0.5
    sick = rng.random(20_000) < np.where(old, 0.9, 0.1)
    rows = {"old": old, "sick": sick ^ (rng.random(20_000) < 0.2)}
    people = sulq.open(rows, {"old": sulq.Boolean(), "sick": sulq.Boolean()})
    learner = sulq.Additive("sick", refinements=20)
    likely = [
        learner.learn(oracle).predict_proba({"old": [False, True]})[:, 1]
        for oracle in (people.exact(), people.exact().denoised("sick", "0.2"))
    ]
    assert np.abs(likely[0] - [0.26, 0.74]).max() < 0.03
    assert np.abs(likely[1] - [0.1, 0.9]).max() < 0.03


@pytest.mark.parametrize(("intercept", "number"), [(3.0, 100.0), (-3.0, 0.0), (0.5, 75.0)])
def test_a_number_that_noise_has_moved_beyond_its_bounds_is_at_the_bound(
    intercept: float, number: float
) -> None:
    """Both where it predicts and where it asks what is not explained: a refusal would tell of the rows."""
    schema = sulq.Schema({"old": sulq.Boolean(), "pay": sulq.Real(0, 100)})
    effect = Effect(sulq.col("old"), (0.5, 0.5), ((0.0,), (0.0,)), ((0.1,), (0.1,)))
    model = sulq.hypotheses.AdditiveModel(schema, None, sulq.col("pay"), (intercept,), (effect,))
    assert model.predict({"old": [True, False]}).tolist() == [number, number]
    unexplained = NumberResponse(model.target).residual(model.score)
    people = sulq.open({"old": [True, False], "pay": [100.0, 0.0]}, schema)
    assert len(people.exact().ask(sulq.Round([sulq.total(unexplained, by=["old"])]))[0].value) == 2


@pytest.mark.parametrize("promise", [{}, {"delta": "1e-6"}], ids=["pure", "approximate"])
def test_a_number_is_learned_where_its_bounds_are_wide(promise: dict[str, str]) -> None:
    """Of 20,000 rows with values near 100 between bounds of ±10⁵, nine tenths of the variance is explained."""
    rng = np.random.default_rng(7)
    old = rng.random(20_000) < 0.5
    rows = {"old": old, "pay": 100.0 + 60 * old + rng.normal(0, 10, 20_000)}
    schema = {"old": sulq.Boolean(), "pay": sulq.Real(-1e5, 1e5)}
    curator = sulq.open(rows, schema).curator(epsilon=1, **promise)
    model = sulq.Hypothesis.from_json(sulq.Additive("pay").learn(curator).to_json())
    assert np.abs(model.predict({"old": [False, True]}) - [100, 160]).max() < 15


def test_a_constant_number_is_told_where_noise_hides_the_rest() -> None:
    """Of 300 rows at ε = 1, on bounds of ±1000: a mean within these bounds would be off by about 10."""
    rows = {"old": [True, False] * 150, "pay": [7.0] * 300}
    schema = {"old": sulq.Boolean(), "pay": sulq.Real(-1000, 1000)}
    told = [
        sulq.Regressor("pay").learn(sulq.open(rows, schema).curator(epsilon=1)).predict({"old": [True]})[0]
        for _ in range(either(5, 40))
    ]
    assert np.median(np.abs(np.array(told) - 7)) < 8


def test_a_model_that_knows_where_a_number_is_says_so_and_keeps_to_it() -> None:
    schema = sulq.Schema({"old": sulq.Boolean(), "pay": sulq.Real(0, 1000)})
    effect = Effect(sulq.col("old"), (0.5, 0.5), ((-0.5,), (0.5,)), ((0.1,), (0.1,)))
    model = sulq.hypotheses.AdditiveModel(schema, None, sulq.col("pay"), (0.25,), (effect,), (0.0, 40.0))
    assert model.predict({"old": [False, True]}).tolist() == [15.0, 35.0]
    assert model.describe().startswith("pay, 0 to 40 scaled to [−1, 1]: 0.25")
    numbers, classes = ((0.0, 1001.0), (-1.0, 1.0), (6.0, 5.0)), ((0.0, 1.0),)
    for label, pairs in (("pay", numbers), ("old", classes)):
        for within in pairs:
            text = sulq.hypotheses.AdditiveModel(schema, None, sulq.col(label), (0.25,), (), within).to_json()
            with pytest.raises(sulq.QueryError, match=f"the values of column '{label}' are not between"):
                sulq.Hypothesis.from_json(text)


def test_pairs_are_asked_for_where_a_survey_puts_each_to_somebody() -> None:
    """1500 people are enough for 21 questions at first, and too few for one of 190 pairs each."""
    rng = np.random.default_rng(0)
    rows = {f"x{place}": rng.random(1500) < 0.5 for place in range(20)}
    sample = sulq.open(rows | {"y": rows["x0"]}, {name: sulq.Boolean() for name in [*rows, "y"]}).sample()
    model = sulq.Additive("y").learn(sample)
    assert len(model.effects) == 20 and sample.left < 1500
