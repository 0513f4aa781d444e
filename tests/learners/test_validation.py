"""Cross-validation and hold-out: rows are told by models that did not see them, and every round is charged."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sulq
from sulq.hypotheses.verdict import verdict
from sulq.learners.folded import Dealt, public_fold
from sulq.learners.validation import together
from tests.learners.test_evaluate import (
    ADDITIVE,
    HALFSPACE,
    KINDS,
    NUMBER,
    OF_THREE,
    ORACLES,
    PEOPLE,
    TABLE,
    TREE,
    N,
    half_missing,
)

LEARNERS: dict[str, Any] = {
    "tree": sulq.ID3("y", ["a", "b"], depth=2),
    "tree by counts": sulq.ID3("y", ["a", "b"], depth=2, pick="counts"),
    "tree of three": sulq.ID3("kind", ["a", "b"], depth=2),
    "additive": sulq.Additive("y", ["a", "b"], refinements=1),
    "number": sulq.Additive("pay", ["a", "b"], refinements=1),
    "perceptron": sulq.Perceptron("y", ["a", "b"], iterations=2),
    "conjunction": sulq.Conjunction("y", ["a", sulq.col("b") > 4], share=1),
}


class Spy:
    """Exact answers; notes what was asked."""

    promise = "none"

    def __init__(self, source: Any) -> None:
        self.oracle, self.asked = source.exact(), []
        self.schema = source.schema

    def ask(self, round_: sulq.Round, run: str = "main") -> Any:
        self.asked.append(round_)
        return self.oracle.ask(round_, run)


def folds_of(source: Any, folds: int) -> Any:
    return np.asarray(source.values(public_fold(source.schema, folds, "")))


@pytest.mark.parametrize("name", LEARNERS)
def test_each_fold_is_told_by_the_model_of_all_other_rows(name: str) -> None:
    learner = LEARNERS[name]
    fold = folds_of(PEOPLE, 3)
    evaluation = sulq.CrossValidate(learner, folds=3).learn(PEOPLE.exact())
    parts = []
    for place in range(3):
        kept, held = (
            sulq.open({column: values[rows] for column, values in TABLE.items()}, KINDS)
            for rows in (fold != place, fold == place)
        )
        parts.append(sulq.Evaluate(learner.learn(kept.exact()), learner.label).learn(held.exact()))
    if evaluation.classes:
        assert evaluation.confusion.tolist() == sum(part.confusion for part in parts).tolist()
    else:
        assert evaluation.answers[1].value == pytest.approx(
            sum(part.answers[1].value for part in parts), rel=1e-3
        )
    alone = sulq.Holdout(learner, folds=3).learn(PEOPLE.exact())
    assert [np.asarray(a.value).tolist() for a in alone.answers] == [
        np.asarray(a.value).tolist() for a in parts[0].answers
    ]


def test_a_row_changes_only_the_rounds_of_other_folds_and_its_own_cell() -> None:
    """By enumeration with exact sums: one row comes, and the models of its fold are asked the same as before."""
    learner, folds = sulq.ID3("y", ["a", "b"], depth=1, pick="counts"), 3
    few = {name: values[:60] for name, values in TABLE.items()}
    dealt = folds_of(sulq.open(few, KINDS), folds)
    for missing in range(0, 60, 7):
        less = {name: np.delete(values, missing) for name, values in few.items()}
        rounds = []
        for rows in (few, less):
            source = sulq.open(rows, KINDS)
            # The same questions of both tables: those that the whole table leads to.
            spy = Spy(sulq.open(few, KINDS))
            sulq.CrossValidate(learner, folds=folds).learn(spy)
            rounds.append([[a.value for a in source.exact().ask(asked)] for asked in spy.asked])
        per_fold = (len(rounds[0]) - 1) // folds
        for place in range(folds):
            first, second = (each[place * per_fold : (place + 1) * per_fold] for each in rounds)
            same = all(
                np.array_equal(a, b)
                for one, other in zip(first, second, strict=True)
                for a, b in zip(one, other, strict=True)
            )
            assert same == (dealt[missing] == place)
        before, after = (np.concatenate([np.ravel(x) for x in each[-1][:2]]) for each in rounds)
        assert sorted((before - after).tolist())[-2:] == [1.0, 1.0] and np.abs(before - after).sum() == 2


@pytest.mark.parametrize("folds", [2, 5])
@pytest.mark.parametrize("kind", [sulq.CrossValidate, sulq.Holdout])
def test_the_cost_is_said_before_and_is_what_the_ledger_charges(kind: Any, folds: int) -> None:
    validation = kind(sulq.ID3("y", ["a", "b"], depth=2), folds=folds, share="1/2")
    models = folds if kind is sulq.CrossValidate else 1
    assert models * validation.cost_of_learning + validation.cost_of_evaluation == Fraction(1, 2)
    curator = PEOPLE.curator(epsilon=2)
    validation.learn(curator)
    charged = [entry.cost for entry in curator.ledger.entries() if entry.kind == "charge"]
    assert curator.spent == sum(charged) <= 1
    assert charged[-1] == 2 * validation.cost_of_evaluation
    assert sum(charged[:-1]) <= 2 * models * validation.cost_of_learning


def test_what_cannot_be_paid_to_its_end_is_refused_before_its_first_round() -> None:
    curator = PEOPLE.curator(epsilon=1)
    curator.ask(sulq.Round([sulq.count(by="y")], share="1/2"))
    with pytest.raises(sulq.BudgetError):
        sulq.CrossValidate(sulq.ID3("y", depth=1)).learn(curator)
    assert curator.spent == Fraction(1, 2)


@pytest.mark.parametrize("oracle", [name for name in ORACLES if name != "chunks"])
def test_every_oracle_validates(oracle: str) -> None:
    evaluation = sulq.CrossValidate(LEARNERS["tree"], folds=2).learn(ORACLES[oracle](PEOPLE))
    assert evaluation.tested == "cross-validated in 2 folds"
    assert evaluation.accuracy.low <= evaluation.accuracy.value <= evaluation.accuracy.high


def test_all_rows_of_a_person_are_in_one_fold() -> None:
    rows = TABLE | {"who": np.arange(N) % 100}
    schema = sulq.Schema({"who": sulq.Integer(0, 99), **KINDS}, sulq.Unit("who", rows=20))
    people = sulq.open(rows, schema)
    fold, who = folds_of(people, 5), people.values(sulq.col("who"))
    assert all(len(set(fold[who == each])) == 1 for each in range(100)) and len(set(fold)) == 5
    assert sulq.CrossValidate(LEARNERS["tree"], folds=2).learn(people.curator(epsilon=1)).accuracy


def test_equal_rows_are_in_one_fold_and_folds_are_about_equal() -> None:
    rng = np.random.default_rng(0)
    people = sulq.open({"x": rng.random(10_000)}, {"x": sulq.Real(0, 1)})
    twice = sulq.open({"x": [0.25, 0.5, 0.25, 0.5]}, {"x": sulq.Real(0, 1)})
    sizes = np.bincount(folds_of(people, 5), minlength=5)
    assert abs(sizes - 2000).max() < 200  # five deviations; the rows are the same in every run
    first, second, third, fourth = folds_of(twice, 97)
    assert (first, second) == (third, fourth)
    assert not np.array_equal(people.values(sulq.fold("x", 5)), people.values(sulq.fold("x", 5, "another")))


def test_a_fold_is_the_same_from_every_source_and_through_the_wire() -> None:
    fold = sulq.fold(["a", "b", "pay"], 7, "s")
    assert sulq.queries.reading.from_json(sulq.queries.reading.to_json(fold)).key == fold.key
    backwards = sulq.open({name: values[::-1] for name, values in TABLE.items()}, KINDS)
    assert np.array_equal(PEOPLE.values(fold), backwards.values(fold)[::-1])
    assert (
        PEOPLE.exact().ask(sulq.Round([sulq.count(by=fold)]))[0].value.tolist()
        == np.bincount(PEOPLE.values(fold)).tolist()
    )


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: sulq.fold([], 5), "at least one column"),
        (lambda: sulq.fold("a", 1), "from 2 to 1000, not 1"),
        (lambda: sulq.fold("a", 5, 3), "salt of folds is a text"),
        (lambda: sulq.fold("a", 5, "\ud83d"), r"text of whole letters, not '\\ud83d'"),
        (lambda: sulq.CrossValidate(sulq.ID3("y"), folds=0).cost_of_learning, "folds must be a whole number"),
        (lambda: sulq.CrossValidate(TREE).learn(PEOPLE.exact()), "a learner, not Tree: `Evaluate` judges"),
        (lambda: sulq.ChooseModel(None).learn(PEOPLE.exact()), "nothing to choose from"),
        (lambda: sulq.CrossValidate(sulq.KMeans(2)).learn(PEOPLE.exact()), "KMeans predicts no label"),
        (
            lambda: sulq.CrossValidate(sulq.Conjunction("y", ["a"])).learn(PEOPLE.exact()),
            "Conjunction asks by tolerances",
        ),
        (
            lambda: sulq.CrossValidate(sulq.Select(sulq.classes.Stumps(), "y")).learn(
                PEOPLE.curator(epsilon=1)
            ),
            "Select asks about the rows themselves",
        ),
        (lambda: sulq.CrossValidate(sulq.ID3("y"), folds=1).learn(PEOPLE.exact()), "folds"),
        (lambda: sulq.CrossValidate(sulq.ID3("y"), evaluation=1).learn(PEOPLE.exact()), "evaluation"),
    ],
)
def test_what_cannot_be_validated_is_refused(made: Any, said: str) -> None:
    with pytest.raises(sulq.QueryError, match=said):
        made()


@pytest.mark.parametrize("kind", [sulq.CrossValidate, sulq.Holdout])
@pytest.mark.parametrize(
    ("learner", "settings", "said"),
    [
        (sulq.ID3("y", ["a"], depth=1), {"bins": 1}, "the number of bins"),
        (sulq.ID3("y", ["a"], depth=1), {"bins": 10.5}, "the number of bins"),
        (sulq.ID3("y", ["a"], depth=1), {"salt": "\ud83d"}, "whole letters"),
        (sulq.Evaluate(TREE, "y"), {}, "Evaluate predicts no label"),
    ],
)
def test_what_the_last_round_cannot_do_is_refused_before_the_first_is_paid(
    kind: Any, learner: Any, settings: dict[str, Any], said: str
) -> None:
    curator = PEOPLE.curator(epsilon=1)
    with pytest.raises(sulq.QueryError, match=said):
        kind(learner, **settings).learn(curator)
    assert curator.spent == 0


def test_a_cell_that_only_deals_a_row_may_be_missing() -> None:
    rows = TABLE | {"idle": [None if place % 10 else 1.0 for place in range(N)]}
    people = sulq.open(rows, {**KINDS, "idle": sulq.Real(0, 1, drop_missing=True)})
    learner = LEARNERS["tree"]
    assert sulq.CrossValidate(learner, folds=2).learn(people.exact()).confusion.sum() == N
    held_out = sulq.Holdout(learner, folds=2).learn(people.exact()).confusion.sum()
    assert held_out == np.sum(folds_of(people, 2) == 0)


def test_a_row_that_misses_a_feature_is_judged_by_what_is_said_of_it() -> None:
    _, people = half_missing()
    learner = LEARNERS["tree"]
    assert sulq.CrossValidate(learner, folds=2).learn(people.exact()).confusion.sum() == N
    held_out = sulq.Holdout(learner, folds=2).learn(people.exact()).confusion.sum()
    assert held_out == np.sum(folds_of(people, 2) == 0)
    # Of the rows whose b is known the first is wrong less often (25 % against 41 %), of all rows the second.
    models = [
        sulq.hypotheses.Rule(people.schema, None, (each,)) for each in (sulq.col("b") > 4, sulq.col("a"))
    ]
    wrong = people.exact().ask(sulq.Round([sulq.error_rate(model, "y") for model in models]))
    assert sulq.ChooseModel(models, "y").learn(people.exact()).place == 1 and wrong[1].value < wrong[0].value


def test_models_of_different_classes_are_not_judged_together() -> None:
    schema = PEOPLE.schema
    dealt = Dealt(public_fold(schema, 2, ""), 2)
    with pytest.raises(sulq.QueryError, match="different classes"):
        together(dealt, [verdict(TREE, "y", schema), verdict(OF_THREE, "kind", schema)])
    both = together(dealt, [verdict(TREE, "y", schema), verdict(ADDITIVE, "y", schema)])
    fold = folds_of(PEOPLE, 2)
    assert np.array_equal(
        PEOPLE.values(both.predicted), np.where(fold == 0, TREE.predict(TABLE), ADDITIVE.predict(TABLE))
    )


def test_the_best_model_is_chosen_and_it_is_said_how_sure() -> None:
    never = sulq.hypotheses.Rule(sulq.Schema(KINDS), None, (sulq.col("b") > 9.5,))
    exact = sulq.ChooseModel([never, TREE], "y").learn(PEOPLE.exact())
    assert (exact.place, exact.model, exact.behind()) == (1, TREE, 0.0)
    curator = PEOPLE.curator(epsilon=1)
    # The tree leads by some 700 rows: another choice has a chance below e^-100.
    chosen = sulq.ChooseModel([TREE, never, never], "y", share="1/10").learn(curator)
    assert chosen.place == 0 and 0 < chosen.behind(0.05) < 300 and curator.spent == Fraction(1, 10)
    assert np.array_equal(chosen.predict(TABLE), TREE.predict(TABLE))
    again = sulq.Hypothesis.from_json(chosen.to_json())
    assert (again, again.behind(0.05)) == (chosen, chosen.behind(0.05))
    assert (
        sulq.Evaluate(chosen).learn(PEOPLE.exact()).metrics()
        == sulq.Evaluate(TREE).learn(PEOPLE.exact()).metrics()
    )


def test_numbers_are_chosen_by_their_absolute_errors() -> None:
    flat = sulq.Additive("pay", ["a"]).learn(PEOPLE.exact())
    for oracle in (PEOPLE.exact(), PEOPLE.curator(epsilon=10), PEOPLE.sample()):
        assert sulq.ChooseModel([flat, NUMBER]).learn(oracle).place == 1
    with pytest.raises(sulq.QueryError, match="Tree says true or false"):
        sulq.ChooseModel([NUMBER, TREE]).learn(PEOPLE.exact())
    with pytest.raises(sulq.QueryError, match="at least two"):
        sulq.ChooseModel([NUMBER]).learn(PEOPLE.exact())


def test_a_model_that_tells_fewer_classes_apart_is_not_chosen_for_it() -> None:
    of_two = replace(HALFSPACE, label=sulq.col("kind"), values=("v", "u"))
    assert verdict(of_two, "kind", PEOPLE.schema).classes == ("not u", "u")
    with pytest.raises(sulq.QueryError, match="the hypotheses tell different classes"):
        sulq.ChooseModel([OF_THREE, of_two]).learn(PEOPLE.exact())


@pytest.mark.parametrize("kind", [sulq.CrossValidate, sulq.Holdout])
def test_a_label_of_one_class_is_refused_before_anything_is_spent(kind: Any) -> None:
    kinds = {"a": sulq.Boolean(), "only": sulq.Category(["u"], missing="u")}
    people = sulq.open({"a": [0, 1] * 20, "only": ["u"] * 40}, kinds)
    tree, curator = sulq.ID3("only", ["a"], depth=1), people.curator(epsilon=1)
    for learner in (kind(tree), sulq.Evaluate(tree.learn(people.exact()))):
        with pytest.raises(
            sulq.QueryError, match="only can only have one value: there is nothing to evaluate"
        ):
            learner.learn(curator)
    assert curator.spent == 0


def test_a_model_that_tells_everyone_the_same_number_is_judged() -> None:
    """A number that is always 0 looks like a truth value."""
    kinds = {"id": sulq.Integer(0, 39), "a": sulq.Boolean(), "x": sulq.Integer(0, 4)}
    people = sulq.open({"id": range(40), "a": [0, 1] * 20, "x": [0] * 40}, kinds)
    learner = sulq.Additive("x", ["a"], refinements=1)
    assert sulq.Evaluate(learner.learn(people.exact())).learn(people.exact()).numbers.mean_squared.value == 0
    assert sulq.CrossValidate(learner, folds=2).learn(people.exact()).numbers.mean_squared.value == 0


@pytest.mark.parametrize("unit", [None, "person"])
def test_numbers_are_chosen_where_how_many_rows_there_are_is_not_public(unit: str | None) -> None:
    """Whole rows come and go, or a person has three: then scores must fit whatever the number of rows is."""
    rng = np.random.default_rng(4)
    x = rng.uniform(0, 1, 3000)
    rows = {"person": np.arange(3000) // 3, "x": x, "y": 70 * x + rng.normal(0, 3, 3000)}
    columns = {"person": sulq.Integer(0, 10**6), "x": sulq.Real(0, 1), "y": sulq.Real(-100, 100)}
    people = sulq.open(rows, sulq.Schema(columns, unit=unit and sulq.Unit(unit, 3)))
    line, flat = (
        sulq.LinearRegression("y", ["x"]).learn(oracle)
        for oracle in (people.exact(), people.curator(epsilon="1e-6"))
    )
    chosen = sulq.ChooseModel([flat, line]).learn(people.curator(epsilon=4, neighbours="add-remove"))
    assert chosen.place == 1
