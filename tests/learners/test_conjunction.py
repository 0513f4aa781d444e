"""The conjunction learner: one round, and never more wrong than it says, whatever answers within tolerance say."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sulq
from sulq.hypotheses.hypothesis import Origin
from sulq.talk.answers import Answer

col = sulq.col
NAMES = [f"x{i}" for i in range(6)]
SCHEMA = sulq.Schema({name: sulq.Boolean() for name in [*NAMES, "y"]})


def examples(rows: int, target: tuple[int, ...], seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    bits = rng.random((len(NAMES), rows)) < 0.8
    label = np.all(bits[list(target)], axis=0) if target else np.ones(rows, bool)
    return {**dict(zip(NAMES, bits, strict=True)), "y": label}


def errors(rule: sulq.hypotheses.Rule, data: dict[str, Any]) -> float:
    return float(np.mean(rule.predict(data) != data["y"]))


@pytest.mark.parametrize("target", [(), (0,), (1, 4), (0, 2, 3, 5)])
def test_exact_answers_find_the_target(target: tuple[int, ...]) -> None:
    data = examples(3000, target)
    oracle = sulq.open(data, SCHEMA).exact()
    rule = sulq.Conjunction(label="y", error=0.02).learn(oracle)
    assert rule.describe() == (" and ".join(f"x{i}" for i in target) or "always")
    assert errors(rule, data) == 0
    assert oracle.rounds == 1
    assert oracle.queries == len(NAMES)


@dataclass
class Liar:
    """Answers every query as wrongly as its tolerance allows, by signs given beforehand."""

    source: sulq.Source
    signs: tuple[int, ...]
    promise: str = "answers within tolerance"
    seen: list[Fraction] = field(default_factory=list)

    @property
    def schema(self) -> sulq.Schema:
        return self.source.schema

    def ask(self, round_: sulq.Round, run: str = "main") -> list[Answer]:
        truth = self.source.exact().ask(round_)
        answers = []
        for query, answer, sign in zip(round_.queries, truth, self.signs, strict=True):
            assert isinstance(query, sulq.Query)
            assert query.tolerance is not None, "a statistical query learner states its tolerances"
            self.seen.append(query.tolerance)
            answers.append(Answer(answer.value + sign * float(query.tolerance), answer.law))
        return answers


@pytest.mark.parametrize("target", [(0,), (1, 4), (0, 2, 3)])
def test_no_answers_within_tolerance_make_it_miss_its_error(target: tuple[int, ...]) -> None:
    """Every one of the 2^6 ways to push six answers to the ends of their tolerances, and the truth."""
    data = examples(2000, target, seed=3)
    source = sulq.open(data, SCHEMA)
    for signs in [*itertools.product((-1, 1), repeat=len(NAMES)), (0,) * len(NAMES)]:
        oracle = Liar(source, signs)
        rule = sulq.Conjunction(label="y", error=0.3).learn(oracle)
        assert errors(rule, data) <= 0.3
        kept = set(rule.describe().split(" and "))
        assert kept >= {f"x{i}" for i in target}, "every literal of the target is kept"
        assert set(oracle.seen) == {Fraction(3, 10) / 12}


def test_under_a_curator_it_is_as_good_as_promised_and_pays_once(tmp_path: Path) -> None:
    data = examples(40_000, (1, 4))
    source = sulq.open(data, SCHEMA)
    curator = source.curator(epsilon=1, ledger=tmp_path / "ledger")
    learner = sulq.Conjunction(label="y", error=0.05, confidence="0.999999")
    rule = learner.learn(curator, run="rule")
    assert errors(rule, data) <= 0.05
    assert {"x1", "x4"} <= set(rule.describe().split(" and "))
    assert rule.origin == Origin("Conjunction", "ε = 1 (pure)", "rule", 1)
    spent = curator.spent
    assert 0 < spent < 1
    again = learner.learn(source.curator(epsilon=1, ledger=tmp_path / "ledger"), run="rule")
    assert again == rule
    assert curator.spent == spent, "a run that is started again is answered from the store"


def test_what_the_budget_cannot_buy_is_refused_before_spending_or_asked_by_share() -> None:
    curator = sulq.open(examples(200, (1,)), SCHEMA).curator(epsilon="0.1")
    with pytest.raises(sulq.BudgetError):
        sulq.Conjunction(label="y", error=0.05).learn(curator)
    assert curator.spent == 0
    rule = sulq.Conjunction(label="y", error=0.05, share=0.5).learn(curator)
    assert curator.spent == Fraction(1, 20)
    assert isinstance(rule, sulq.hypotheses.Rule)


def test_negations_and_expressions_are_literals_too() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"a": rng.random(900) < 0.5, "b": rng.random(900) < 0.5, "age": rng.integers(0, 90, 900)}
    )
    frame["y"] = frame["a"] & ~frame["b"] & (frame["age"] >= 30)
    schema = {"a": sulq.Boolean(), "b": sulq.Boolean(), "age": sulq.Integer(0, 90), "y": sulq.Boolean()}
    learner = sulq.Conjunction(label="y", features=["a", "b", col("age") >= 30], error=0.01, negations=True)
    rule = learner.learn(sulq.open(frame, schema).exact())
    assert rule.describe() == "a and age >= 30 and not b"
    without_label = frame.drop(columns="y")
    assert (rule.predict(without_label) == frame["y"]).all()
    copy = sulq.hypotheses.Rule.from_json(rule.to_json())
    assert copy.describe() == rule.describe()
    assert copy.origin == rule.origin
    assert (copy.predict(without_label) == frame["y"]).all()


def test_how_wrong_a_rule_is_is_one_more_query() -> None:
    data = examples(5000, (1, 4))
    source = sulq.open(data, SCHEMA)
    rule = sulq.hypotheses.Rule(SCHEMA, None, (col("x1"),))
    exact = source.exact().ask(sulq.Round([sulq.error_rate(rule, "y")]))[0].value
    assert exact == pytest.approx(errors(rule, data))
    query = sulq.error_rate(rule, "y", tolerance=0.02, beta=1e-6)
    assert abs(source.curator(epsilon=1).ask(sulq.Round([query]))[0].value - exact) <= 0.02


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"label": "z"}, "no column 'z'"),
        ({"label": "y", "features": ["x0", "x0"]}, "named twice"),
        ({"label": "y", "features": ["y"]}, "own features"),
        ({"label": "y", "features": []}, "no features"),
        ({"label": "y", "error": 0}, "error must be"),
        ({"label": "y", "error": 2}, "error must be"),
        ({"label": "y", "confidence": 1}, "confidence must lie above 0 and be less than 1"),
    ],
)
def test_bad_settings_are_refused_before_anything_is_asked(settings: dict[str, Any], complaint: str) -> None:
    curator = sulq.open(examples(50, (1,)), SCHEMA).curator(epsilon=1)
    with pytest.raises(sulq.SulqError, match=complaint):
        sulq.Conjunction(**settings).learn(curator)
    assert curator.spent == 0


def test_a_text_that_is_no_rule_is_refused() -> None:
    start = '{"schema": {"columns": {"a": "boolean"}}, "origin": null'
    literals = ["5", '"abc"', "null", "[5]", '[{"node": "Constant", "constant": 1' + "0" * 400 + "}]"]
    told = [f'{start}, "literals": {literal}}}' for literal in literals]
    path = '{"schema": "schema.toml", "origin": null, "literals": []}'
    for text in ("", "{}", "[]", "[" * 100_000, start + "}", path, *told):
        with pytest.raises(sulq.SulqError):
            sulq.hypotheses.Rule.from_json(text)
    assert sulq.hypotheses.Rule.from_json(f'{start}, "literals": []}}').describe() == "always"
