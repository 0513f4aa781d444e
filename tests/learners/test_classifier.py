"""A classifier chooses a learner by public facts and by privately counted rows, and says which and why."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sulq
from sulq.classes.pick import Pick
from sulq.hypotheses.additive import AdditiveModel
from sulq.hypotheses.tree import End, Tree
from sulq.learners.classifier import first_look
from sulq.learners.selection import CHOICE, conditions_of, counted, positive, selected, selected_effects
from sulq.learners.table_facts import TableFacts
from sulq.queries.choose import Choice
from sulq.talk.answers import Answer
from sulq.talk.laws import Noise
from sulq.talk.vector_law import VectorNoise

col = sulq.col
SURE = 10_000
"""An ε at which noise is nothing."""
SCHEMA = sulq.Schema(
    {"x": sulq.Integer(0, 99), "z": sulq.Real(0, 1), "town": sulq.Category(["n", "s"]), "y": sulq.Boolean()}
)


def people(rows: int, seed: int = 0) -> sulq.Source:
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 100, rows)
    town = rng.choice(["n", "s"], rows)
    return sulq.open({"x": x, "z": rng.random(rows), "town": town, "y": x >= 60}, SCHEMA)


WORDS = {
    "majority": "most frequent",
    "selection": "choice",
    "effects": "few chosen columns",
    "tree": "decision tree",
    "additive": "additive model",
    "rule and additive": "with a chosen rule",
    "tree and additive": "with a small tree",
}


@pytest.mark.parametrize(
    ("rows", "others", "columns", "classes", "kinds", "choosable", "way"),
    [
        (20, 10, 5, 2, "numbers", True, "majority"),
        (2000, 2, 5, 2, "numbers", True, "majority"),
        (300, 140, 5, 2, "numbers", True, "selection"),
        (300, 140, 5, 2, "numbers", False, "tree"),
        (900, 440, 5, 2, "numbers", True, "effects"),
        (6000, 2900, 40, 2, "numbers", True, "tree"),
        (2000, 300, 5, 2, "numbers", True, "tree"),
        (100, 50, 5, 2, "categories", True, "selection"),
        (600, 300, 5, 2, "categories", True, "tree"),
        (3000, 1500, 3, 2, "numbers", True, "rule and additive"),
        (4000, 2000, 3, 2, "numbers", True, "additive"),
        (16_000, 8000, 12, 2, "numbers", True, "additive"),
        (16_000, 8000, 11, 2, "numbers", True, "additive"),
        (12_000, 6000, 11, 2, "numbers", True, "rule and additive"),
        (3000, 1500, 3, 2, "numbers", False, "additive"),
        (4000, 2000, 3, 5, "numbers", False, "tree"),
        (4000, 2000, 3, 2, "categories", True, "tree"),
        (20_000, 9000, 3, 2, "categories", True, "tree and additive"),
        (20_000, 9000, 3, 2, "numbers", True, "tree and additive"),
        (20_000, 9000, 3, 2, "numbers", False, "tree and additive"),
    ],
)
def test_rows_columns_classes_and_noise_decide(
    rows: int, others: int, columns: int, classes: int, kinds: Any, choosable: bool, way: str
) -> None:
    table = TableFacts(rows, others, 3.0, 1.0, columns, classes, kinds, choosable)
    assert table.way == way
    assert WORDS[way] in table.why.partition("because")[0]


@pytest.mark.parametrize(
    ("rows", "columns", "way"),
    [
        (120, 30, "selection"),
        (150, 30, "effects"),
        (450, 30, "rule and additive"),
        (600, 9, "rule and additive"),
        (1200, 9, "additive"),
        (800, 30, "additive"),
        (3600, 30, "tree and additive"),
    ],
)
def test_under_epsilon_and_delta_an_additive_model_pays_with_less(rows: int, columns: int, way: str) -> None:
    assert TableFacts(rows, rows / 2, 3.0, 0.5, columns, 2, "numbers", True).way == way


def test_rows_that_noise_may_hide_are_not_given_up() -> None:
    """Of 10 rows that may be 100, more is asked for; of 10 that are 10, nothing is."""
    ways = [TableFacts(10, 90, 3.0, 0.5, 5, 2, "numbers", True, off).way for off in (90.0, 0.0)]
    assert ways == ["selection", "majority"]
    told = TableFacts(10, 90, 3.0, 0.5, 5, 2, "numbers", True, 90.0).why
    assert "because 10 ± 90 rows" in told


def noisy(counts: list[float], scale: int) -> Answer:
    return Answer(np.array(counts), Noise("laplace", Fraction(scale), Fraction(1), len(counts)))


@pytest.mark.parametrize(
    ("counts", "scale", "asks"),
    [
        ([180.0, 120.0], 40, "pick"),
        ([180.0, 120.0], 2000, "count"),
        ([1500.0, 1500.0], 300, "pick"),
        ([1500.0, 1500.0], 100, "pick"),
        ([3000.0, 40.0], 60, "choice"),
        ([1500.0, 1500.0], 1, "choice"),
        ([1500.0, 1500.0], 45, "tables"),
        ([3000.0, 600.0], 20, "tables"),
    ],
)
def test_what_the_first_count_says_decides_what_is_asked_next(
    counts: list[float], scale: int, asks: str
) -> None:
    """Conditions to choose from, the labels alone, tables of every column, or which question is best."""
    rounds = sulq.Classifier("y").rounds(SCHEMA)
    assert next(rounds).share == Fraction(1, 50)
    asked = rounds.send([noisy(counts, scale), Answer(sum(counts))])
    if asks == "choice":  # a tree counts the labels once more, and then chooses
        asked = rounds.send([noisy(counts, scale), Answer(sum(counts))])
    kinds = {"pick": Pick, "choice": Choice}
    if asks in kinds:
        assert isinstance(asked.queries[0], kinds[asks])
    else:
        assert len(asked.queries) == (1 if asks == "count" else 1 + 3)


def test_labels_are_counted_once_more_if_noise_hides_how_many_rows_there_are() -> None:
    """The number of rows is not public: both answers are noise, and only the second has less of it."""
    rounds = sulq.Classifier("y").rounds(SCHEMA)
    assert next(rounds).share == Fraction(1, 50)
    again = rounds.send([noisy([100.0, 90.0], 500), noisy([200.0], 5000)])
    assert again.share == Fraction(2, 25)
    assert [query.form for query in again.queries] == [query.form for query in first_look(col("y"))]
    asked = rounds.send([noisy([180.0, 170.0], 20), noisy([350.0], 200)])
    assert isinstance(asked.queries[0], Pick)
    assert asked.share == Fraction(9, 10) * CHOICE


def test_counts_of_labels_that_were_flipped_have_noise_of_vectors_and_allow_a_choice_all_the_same() -> None:
    curator = people(300).curator(epsilon=1)
    rounds = sulq.Classifier("y").rounds(SCHEMA)
    [counted, *_] = curator.denoised("y", "0.1").ask(next(rounds))
    assert isinstance(counted.law, VectorNoise)
    asked = rounds.send([replace(counted, value=np.array([180.0, 120.0])), Answer(300.0)])
    assert isinstance(asked.queries[0], Pick)


def test_where_nothing_can_be_learned_the_most_frequent_class_is_all_that_is_said() -> None:
    model = sulq.Classifier("y").learn(people(300).curator(epsilon="0.01"))
    assert isinstance(model, Tree)
    assert isinstance(model.root, End)
    assert model.origin is not None
    assert model.origin.learner == "Classifier"
    assert model.origin.chosen is not None
    assert model.origin.chosen.startswith("the most frequent class alone, because 300 rows")
    assert model.predict_proba({"x": [1, 99], "z": [0.5, 0.5], "town": ["n", "s"]}).shape == (2, 2)


def test_all_of_the_share_is_spent_and_no_more() -> None:
    for rows, epsilon in ((300, 1), (300, "0.01"), (4000, 1)):
        curator = people(rows).curator(epsilon=epsilon)
        sulq.Classifier("y", share="1/2").learn(curator)
        assert curator.spent <= curator.offer.total / 2
        assert curator.spent > curator.offer.total * 49 / 100


@pytest.mark.parametrize("answers", ["exact", "curator", "crowd", "sample", "denoised", "add-remove"])
def test_whoever_answers_is_asked_what_they_can_answer(answers: str) -> None:
    source = people(2_000)
    oracle: Any = {
        "exact": source.exact,
        "curator": lambda: source.curator(epsilon=1),
        "crowd": lambda: source.crowd(epsilon=4),
        "sample": source.sample,
        "denoised": lambda: source.curator(epsilon=1).denoised("y", "0.1"),
        "add-remove": lambda: source.curator(epsilon=1, delta="1e-6", neighbours="add-remove"),
    }[answers]()
    model = sulq.Classifier("y").learn(oracle)
    assert model.origin is not None
    assert model.origin.chosen
    again = sulq.Hypothesis.from_json(model.to_json())
    assert again.origin == model.origin


@pytest.mark.parametrize("kind", ["numbers", "categories"])
def test_an_additive_model_sees_what_goes_together_by_a_tree_beside_its_columns(kind: str) -> None:
    """One column says which of two others counts, so effects that add up cannot say it. Noise is nothing."""
    rng = np.random.default_rng(3)
    a, b, c = rng.integers(0, 4, (3, 4000))
    y = np.where(a < 2, b < 2, c < 2)
    if kind == "numbers":
        rows: dict[str, Any] = {"a": a, "b": b, "c": c, "y": y}
        kinds: dict[str, Any] = dict.fromkeys("abc", sulq.Integer(0, 3))
    else:
        rows = {"a": a.astype(str), "b": b.astype(str), "c": c.astype(str), "y": y}
        kinds = dict.fromkeys("abc", sulq.Category(list("0123")))
    source = sulq.open(rows, kinds | {"y": sulq.Boolean()})
    model = sulq.Classifier("y").learn(source.curator(epsilon=SURE))
    assert isinstance(model, AdditiveModel)
    assert model.origin is not None
    assert (model.origin.chosen or "").startswith("an additive model with a small tree")
    assert np.mean(model.predict(rows) == y) > 0.99
    assert np.mean(sulq.Additive("y").learn(source.exact()).predict(rows) == y) < 0.8
    assert "questions about a, b and c: " in model.describe()
    assert "questions about" in model.picture()
    assert sulq.Hypothesis.from_json(model.to_json()).predict(rows).tolist() == model.predict(rows).tolist()


class Selecting(sulq.Learner[Tree]):
    """The choice of conditions by itself."""

    share = 1

    def rounds(self, schema: sulq.Schema) -> Any:
        return selected(schema, col("y"), None, {"x": [20, 40, 60, 80], "z": [0.5]}, Fraction(1))


@pytest.mark.parametrize("settings", [{"epsilon": 10}, {"epsilon": 10, "delta": "1e-6"}])
def test_the_conditions_that_tell_two_classes_apart_are_chosen(settings: dict[str, Any]) -> None:
    """Of 1,200 rows at ε = 8 the best rule leads by 200, so that another is chosen with a chance below 1e-9."""
    tree = Selecting().learn(people(1200).curator(**settings))
    assert tree.predict({"x": [10, 59, 60, 99], "z": [0.2] * 4, "town": ["n"] * 4}).tolist() == [
        False,
        False,
        True,
        True,
    ]
    assert Selecting().learn(people(1200).exact()).accuracy == (1.0, 0.0)


EDGES: dict[str, list[float]] = {"x": [20, 40, 60, 80], "z": [0.25, 0.5]}


class SelectingEffects(sulq.Learner[sulq.Hypothesis]):
    """The choice of conditions, and the effects of their columns."""

    share = 1

    def __init__(self, every: bool = False, edges: dict[str, list[float]] = EDGES) -> None:
        self.every, self.edges = every, edges

    def rounds(self, schema: sulq.Schema) -> Any:
        return selected_effects(schema, col("both"), None, self.edges, Fraction(1), self.every)


@pytest.mark.parametrize("every", [False, True])
def test_conditions_that_were_chosen_are_an_attribute_beside_the_columns(every: bool) -> None:
    """At this ε the conditions that are always right are chosen, and noise changes no effect."""
    rng = np.random.default_rng(1)
    x, z = rng.integers(0, 100, 2000), rng.random(2000)
    rows = {"x": x, "z": z, "town": rng.choice(["n", "s"], 2000), "both": (x >= 60) & (z < 0.5)}
    kinds = {name: SCHEMA[name] for name in ("x", "z", "town")} | {"both": sulq.Boolean()}
    source = sulq.open(rows, kinds)
    model = SelectingEffects(every).learn(source.curator(epsilon=SURE))
    assert isinstance(model, AdditiveModel)
    names = {effect.name for effect in model.effects}
    assert names == {"x", "z", "x >= 60 and z < 0.5"} | ({"town"} if every else set())
    assert np.mean(model.predict(rows) == rows["both"]) > 0.99
    likely = model.predict_proba(rows)[:, 1]
    assert likely[rows["both"]].min() > likely[~rows["both"]].max()


def test_a_condition_that_is_a_column_is_no_attribute_beside_it() -> None:
    rows = {"a": [True, False] * 200, "b": [True, True, False, False] * 100, "both": [True, False] * 200}
    source = sulq.open(rows, dict.fromkeys(rows, sulq.Boolean()))
    model = SelectingEffects(edges={}).learn(source.exact())
    assert isinstance(model, AdditiveModel)
    assert [effect.name for effect in model.effects] == ["a"]


def test_where_no_condition_is_better_than_none_the_labels_are_counted() -> None:
    """All labels are the same, so "always" errs as seldom as anything, and it is the first of its like."""
    rows = {"a": [True, False] * 150, "both": [True] * 300}
    source = sulq.open(rows, dict.fromkeys(rows, sulq.Boolean()))
    model = SelectingEffects(edges={}).learn(source.exact())
    assert isinstance(model, Tree)
    assert model.predict({"a": [True, False]}).tolist() == [True, True]


def test_conditions_are_those_of_a_conjunction_or_of_its_opposite() -> None:
    a, b = col("x") >= 3, col("z") < 0.5
    rule = sulq.hypotheses.Rule(SCHEMA, None, (a, b))
    assert [each.key for each in conditions_of(rule)[0]] == [a.key, b.key]
    opposite = sulq.hypotheses.Selected(SCHEMA, None, ~rule.expression, "not")
    assert ([each.key for each in conditions_of(opposite)[0]], conditions_of(opposite)[1]) == (
        [a.key, b.key],
        False,
    )
    assert conditions_of(sulq.hypotheses.Rule(SCHEMA, None, ())) == ((), True)


def test_an_end_keeps_the_chosen_label_unless_another_leads_beyond_noise() -> None:
    tree = Tree(SCHEMA, None, col("y"), (), End(1, ()))
    assert [counted(tree, np.array([row]), 10.0).ends[0].label for row in ([40.0, 20.0], [200.0, 20.0])] == [
        1,
        0,
    ]


def test_a_category_of_two_values_is_told_apart_though_it_may_be_something_else() -> None:
    condition, no, yes = positive(SCHEMA, col("town")) or (None, None, None)
    assert condition is not None
    assert (condition.key, no, yes) == ((col("town") == "s").key, 0, 1)
    assert positive(SCHEMA, sulq.bins("x", [1, 2])) is None


def test_what_is_no_class_or_no_number_is_refused_before_anything_is_asked() -> None:
    with pytest.raises(sulq.QueryError, match="use Regressor"):
        next(sulq.Classifier("x").rounds(SCHEMA))
    with pytest.raises(sulq.QueryError, match="use Classifier"):
        next(sulq.Regressor("y").rounds(SCHEMA))
    with pytest.raises(sulq.QueryError):
        next(sulq.Classifier("y", bins={"town": [1]}).rounds(SCHEMA))


def test_a_regressor_says_whether_columns_have_their_say() -> None:
    little, much = (sulq.Regressor("x").learn(people(500).curator(epsilon=e)) for e in ("0.001", SURE))
    assert little.origin is not None
    assert much.origin is not None
    assert (little.origin.chosen or "").startswith("the average alone")
    assert (much.origin.chosen or "").startswith("an additive model")
