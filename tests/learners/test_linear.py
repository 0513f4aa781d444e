"""Linear and logistic regression, naive Bayes and decision lists: what they learn, and from whom."""

from __future__ import annotations

import pickle
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

import sulq

ROWS = 4000
SCHEMA = {
    "age": sulq.Integer(0, 99),
    "pay": sulq.Real(0, 1e6),
    "town": sulq.Category(["x", "y", "z"], missing="x"),
    "sick": sulq.Boolean(),
    "plan": sulq.Category(["full", "some", "none"], missing="none"),
    "cost": sulq.Real(0, 100),
}
FEATURES = ["age", "town", "pay"]


@cache
def table(rows: int = ROWS) -> dict[str, Any]:
    rng = np.random.default_rng(2)
    age, town = rng.integers(0, 100, rows), rng.integers(0, 3, rows)
    pay = rng.exponential(2000, rows)
    score = (age - 50) / 12 + np.array([-1.0, 0.0, 1.0])[town] - 0.5
    sick = rng.random(rows) < 1 / (1 + np.exp(-score))
    plan = np.where(age > 66, "full", np.where(age > 33, "some", "none"))
    cost = (20 + 0.4 * age + 10 * town + rng.normal(0, 5, rows)).clip(0, 100)
    names = np.array(list("xyz"))[town]
    return {"age": age, "pay": pay, "town": names, "sick": sick, "plan": plan, "cost": cost}


@cache
def people(rows: int = ROWS) -> sulq.Source:
    return sulq.open(table(rows), SCHEMA, threads=1)


CLASSIFIERS: dict[str, Any] = {
    "logistic": sulq.LogisticRegression,
    "bayes": sulq.NaiveBayes,
    "list": sulq.DecisionList,
}
LEARNERS: dict[str, Any] = {
    "linear": sulq.LinearRegression("cost", FEATURES),
    **{name: kind("sick", FEATURES) for name, kind in CLASSIFIERS.items()},
}


def right(model: Any, label: str) -> float:
    return float(np.mean(model.predict(table()) == table()[label]))


def off(model: Any) -> float:
    return float(np.mean(np.abs(model.predict(table()).reshape(-1) - table()["cost"])))


def test_exact_answers_give_least_squares() -> None:
    model = sulq.LinearRegression("cost", ["age", "town"]).learn(people().exact())
    rows = table()
    design = np.column_stack([np.ones(ROWS), rows["age"], *(rows["town"] == each for each in "yz")])
    truth = design @ np.linalg.lstsq(design, rows["cost"], rcond=None)[0]
    assert np.abs(model.predict(rows).reshape(-1) - truth).max() < 0.05
    assert model.names == ("age", "town is x", "town is y", "town is z")
    assert model.coefficients[0] == pytest.approx(0.4, abs=0.02) and set(model.deviations) == {0.0}


@pytest.mark.parametrize("promise", [{}, {"delta": "1e-6"}], ids=["pure", "approximate"])
@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_they_learn_under_every_promise(promise: dict[str, str], neighbours: Any) -> None:
    """At ε = 20, predictions are off by 4 on average without noise, and a model of the mean is off by 12."""

    def curator() -> sulq.Curator:
        return people().curator(epsilon=20, **promise, neighbours=neighbours)

    assert off(LEARNERS["linear"].learn(curator())) < 8
    for kind in CLASSIFIERS.values():
        assert right(kind("sick", FEATURES).learn(curator()), "sick") > 0.7
        assert right(kind("plan", FEATURES).learn(curator()), "plan") > 0.5


@pytest.mark.parametrize("kind", CLASSIFIERS.values(), ids=CLASSIFIERS)
@pytest.mark.parametrize("label", ["sick", "plan"])
def test_likelihoods_add_up_to_1_and_mistakes_can_be_counted(kind: Any, label: str) -> None:
    model = kind(label, FEATURES).learn(people().exact())
    likely = model.predict_proba(table())
    assert likely.shape == (ROWS, len(model.classes)) and np.allclose(likely.sum(axis=1), 1)
    [answer] = people().exact().ask(sulq.Round([sulq.error_rate(model, label)]))
    assert answer.value == pytest.approx(1 - right(model, label))


def test_likelihoods_of_a_logistic_model_are_calibrated() -> None:
    model = sulq.LogisticRegression("sick", FEATURES).learn(people().exact())
    likely, sick = model.predict_proba(table())[:, 1], table()["sick"]
    for low in (0.0, 0.25, 0.5, 0.75):
        here = (likely >= low) & (likely < low + 0.25)
        assert np.mean(likely[here]) == pytest.approx(np.mean(sick[here]), abs=0.06)


ORACLES: dict[str, Any] = {
    "exact": lambda: people().exact(),
    "crowd": lambda: people().crowd(epsilon=4),
    "sample": lambda: people().sample(),
    "zero-concentrated": lambda: people().curator(rho=1),
}


@pytest.mark.parametrize("oracle", ORACLES.values(), ids=ORACLES)
@pytest.mark.parametrize("name", LEARNERS)
def test_every_oracle_teaches_them(oracle: Any, name: str) -> None:
    model = LEARNERS[name].learn(oracle())
    assert np.isfinite(np.asarray(model.predict(table()), dtype=float)).all() and model.describe()


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_wrong_labels_can_be_reckoned_with(name: str) -> None:
    model = LEARNERS[name].learn(people().exact().denoised("sick", 0.1))
    assert right(model, "sick") > 0.6


@pytest.mark.parametrize("name", LEARNERS)
def test_a_person_may_have_several_rows(name: str) -> None:
    rows = {**table(), "person": np.arange(ROWS) // 2}
    schema = sulq.Schema({**SCHEMA, "person": sulq.Integer(0, ROWS)}, sulq.Unit("person", rows=2))
    model = LEARNERS[name].learn(sulq.open(rows, schema, threads=1).curator(epsilon=50, delta="1e-6"))
    assert off(model) < 10 if name == "linear" else right(model, "sick") > 0.65


@pytest.mark.parametrize("name", LEARNERS)
def test_a_run_spends_no_more_than_its_share(name: str) -> None:
    for share in (1, "1/2"):
        curator = people().curator(epsilon=1, delta="1e-6")
        type(LEARNERS[name])(*("cost" if name == "linear" else "sick", FEATURES), share=share).learn(curator)
        assert 0 < curator.ledger.spent <= Fraction(share)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_finished_run_is_answered_from_its_ledger(name: str, tmp_path: Any) -> None:
    curator = people().curator(epsilon=1, delta="1e-6", ledger=tmp_path / "ledger")
    first, spent = LEARNERS[name].learn(curator), curator.ledger.spent
    assert LEARNERS[name].learn(curator) == first and curator.ledger.spent == spent
    assert pickle.loads(pickle.dumps(first)) == first
    assert sulq.Hypothesis.from_json(first.to_json()) == first


def test_where_nothing_can_be_learned_the_average_is_said() -> None:
    """At ε = 10⁻³ a count of 4000 rows has noise of 10⁵ or so: all is hopeless, but for a chance of 10⁻⁶."""
    model = LEARNERS["linear"].learn(people().curator(epsilon="1e-3"))
    assert model.features == () and len(set(model.predict(table()).reshape(-1).tolist())) == 1
    assert LEARNERS["logistic"].learn(people().curator(epsilon="1e-3")).features == ()
    assert LEARNERS["list"].learn(people().curator(epsilon="1e-3")).conditions == ()


def test_wide_bounds_cost_little() -> None:
    """Numbers within 0.2 % of their bounds. Predictions are off by 8 where nothing is learned, and by 4 without
    noise; the noise of a model in the bounds' own scale would be off by some 100."""
    rows = {"x": table()["age"].astype(float), "y": table()["cost"]}
    wide = sulq.open(rows, {"x": sulq.Real(-50_000, 50_000), "y": sulq.Real(-50_000, 50_000)}, threads=1)
    model = sulq.LinearRegression("y").learn(wide.curator(epsilon=20, delta="1e-6"))
    assert np.mean(np.abs(model.predict(rows).reshape(-1) - rows["y"])) < 20


def test_a_list_reads_like_its_rows() -> None:
    model = sulq.DecisionList("plan", ["age"], length=3).learn(people().exact())
    assert right(model, "plan") > 0.85
    assert model.describe().startswith("if ") and model.describe().splitlines()[-1].startswith("else: ")


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        (sulq.LinearRegression("sick"), "is no number: LogisticRegression and NaiveBayes tell classes"),
        (sulq.LogisticRegression("cost"), "is a number: LinearRegression tells numbers"),
        (sulq.NaiveBayes("cost"), "is a number: compare it with one"),
        (sulq.DecisionList("cost"), "is a number: compare it with one"),
        (sulq.LinearRegression("cost", ["cost"]), "the label cannot be one of its own features"),
        (sulq.LogisticRegression("sick", steps=-1), "steps"),
        (sulq.DecisionList("sick", length=0), "length"),
    ],
)
def test_refusals_come_before_anything_is_spent(learner: Any, message: str) -> None:
    curator = people().curator(epsilon=1)
    with pytest.raises(sulq.QueryError, match=message):
        learner.learn(curator)
    assert curator.ledger.spent == 0


def test_error_bars_hold_what_exact_answers_to_the_same_questions_give() -> None:
    """12 runs of 5 coefficients: 95 % are stated. Fewer than 65 % would be 22 or more of 60 outside, which at 5 %
    has a chance below 10⁻¹². Coefficients of a run go together; if they did by pairs, the chance were below
    10⁻⁶. Error bars a third as wide would hold about 49 %."""
    bars = [ratio for _ in range(12) for ratio in _bars(people(), {"epsilon": 2, "delta": "1e-6"})]
    assert np.mean(np.array(bars) >= 1) > 0.65


def _bars(source: sulq.Source, promise: Any) -> list[float]:
    """Error bars of a run, each divided by the distance to what exact answers give after the same looks."""
    curator, exact = source.curator(**promise), source.exact()
    learner = LEARNERS["linear"]
    noisy, clean = learner.rounds(source.schema), learner.rounds(source.schema)
    model, truth = next(noisy), next(clean)
    while isinstance(model, sulq.Round):
        answers = curator.ask(model)
        look = all(query.statistic == "count" for query in model.queries)
        model, truth = _sent(noisy, answers), _sent(clean, answers if look else exact.ask(truth))
    apart = np.abs(np.array(model.coefficients) - np.array(truth.coefficients))
    return list(1.96 * np.array(model.deviations) / np.maximum(apart, 1e-300))


def _sent(rounds: Any, answers: Any) -> Any:
    try:
        return rounds.send(answers)
    except StopIteration as stop:
        return stop.value
