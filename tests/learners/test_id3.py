"""Trees: against a plain ID3, under noise, and what they may and may not hold."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sulq
from sulq.errors import QueryError, SchemaError
from sulq.hypotheses.tree import End, Split, Tree
from sulq.learners.id3 import ID3
from sulq.queries.reading import parse
from sulq.queries.routes import Route
from tests.effort import examples, runs

CAR = Path(__file__).parents[3] / "shared" / "data" / "car.csv.gz"


def entropy(labels):
    return -sum(n / len(labels) * math.log2(n / len(labels)) for n in Counter(labels).values())


def plain_id3(rows, labels, attributes, values, order, depth, above):
    """Section 4.4's first box: what to say of a row, as a function."""
    counts = Counter(labels)
    best = max(order, key=lambda label: (counts[label], -order.index(label)))
    said = best if counts[best] > counts[above] else above
    left = {}
    for a in attributes:
        parts = [[y for row, y in zip(rows, labels, strict=True) if row[a] == v] for v in values[a]]
        left[a] = (
            entropy(labels) - sum(len(part) / len(labels) * entropy(part) for part in parts if part)
            if labels
            else 0
        )
    if not depth or len(counts) < 2 or not left or round(max(left.values()), 9) <= 0:
        return lambda row: said
    asked = max(attributes, key=lambda a: (round(left[a], 9), -attributes.index(a)))
    below = {}
    for v in values[asked]:
        here = [i for i, row in enumerate(rows) if row[asked] == v]
        rest = [a for a in attributes if a != asked]
        below[v] = plain_id3(
            [rows[i] for i in here], [labels[i] for i in here], rest, values, order, depth - 1, said
        )
    return lambda row: below[row[asked]](row)


def agrees_with_plain_id3(frame, label, depth):
    values = {name: sorted(set(frame[name])) for name in frame}
    schema = sulq.Schema({name: sulq.Category(own, missing=own[0]) for name, own in values.items()})
    tree = ID3(label=label, depth=depth, pick="counts", prune=0).learn(sulq.open(frame, schema).exact())
    attributes = [name for name in frame if name != label]
    rows, labels = frame[attributes].to_dict("records"), list(frame[label])
    most = max(values[label], key=lambda y: (labels.count(y), -values[label].index(y)))
    plain = plain_id3(rows, labels, attributes, values, values[label], depth, most)
    everything = [
        dict(zip(attributes, row, strict=True)) for row in product(*(values[a] for a in attributes))
    ]
    assert tree.predict(pd.DataFrame(everything)).tolist() == [plain(row) for row in everything]


@pytest.mark.parametrize("seed", range(8))
def test_with_exact_counts_it_is_id3(seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {name: rng.choice(list("abcd")[:k], 60) for name, k in zip("pqrs", (2, 3, 4, 2), strict=True)}
    )
    frame["y"] = np.where(
        rng.random(60) < 0.2,
        rng.choice(list("uvw"), 60),
        np.where(frame.p == "a", "u", frame.q.map({"a": "v", "b": "u", "c": "w"})),
    )
    agrees_with_plain_id3(frame, "y", depth=1 + seed % 4)


@pytest.mark.skipif(not CAR.exists(), reason="the car data is not here")
def test_with_exact_counts_it_is_id3_on_cars():
    agrees_with_plain_id3(pd.read_csv(CAR, dtype=str), "class", depth=6)


def concept(n, seed=0):
    """y = (colour is red and old) or (colour is blue and weight ≥ 50), beside two columns of no use."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "idle": rng.random(n) < 0.5,
            "colour": rng.choice(["red", "green", "blue"], n),
            "old": rng.random(n) < 0.5,
            "weight": rng.uniform(0, 100, n),
            "shape": rng.choice(["x", "y", "z", "w"], n),
        }
    )
    frame["y"] = ((frame.colour == "red") & frame.old) | ((frame.colour == "blue") & (frame.weight >= 50))
    return frame


SCHEMA = sulq.Schema(
    {
        "idle": sulq.Boolean(),
        "colour": sulq.Category(["red", "green", "blue"]),
        "old": sulq.Boolean(),
        "weight": sulq.Real(0, 100),
        "shape": sulq.Category(["x", "y", "z", "w"]),
        "y": sulq.Boolean(),
    }
)


def accuracy(tree, seed=1):
    fresh = concept(4000, seed)
    return (tree.predict(fresh.drop(columns="y")) == fresh.y).mean()


@pytest.mark.parametrize(
    "settings_",
    [
        {},
        {"ahead": 2},
        {"pick": "counts"},
        {"split": "binary", "depth": 6},
        {"pick": "counts", "split": "binary"},
    ],
)
def test_exact_answers_give_the_concept(settings_):
    tree = ID3(label="y", **settings_).learn(sulq.open(concept(4000), SCHEMA).exact())
    assert accuracy(tree) == 1


@pytest.mark.parametrize("settings_", [{}, {"pick": "counts"}])
def test_a_curator_at_epsilon_5_gives_the_concept(settings_):
    # Leaves have some 400 rows or more and noise of scale below 1: a miss has a chance far below 1e-9.
    curator = sulq.open(concept(20_000), SCHEMA).curator(epsilon=5)
    tree = ID3(label="y", **settings_).learn(curator)
    assert accuracy(tree) >= 0.95
    assert curator.spent <= 5


@pytest.mark.parametrize("budget", [{"epsilon": 1}, {"rho": 0.5}, {"epsilon": 1, "neighbours": "add-remove"}])
@pytest.mark.parametrize("pick", ["choose", "counts"])
def test_it_spends_its_share_and_no_more(budget, pick):
    curator = sulq.open(concept(2000), SCHEMA).curator(**budget)
    ID3(label="y", pick=pick, share=Fraction(1, 3)).learn(curator)
    assert 0 < curator.spent <= curator.offer.calibration.total / 3


def test_a_run_started_again_gives_the_same_tree_at_no_cost(tmp_path):
    people = sulq.open(concept(2000), SCHEMA)
    first = people.curator(epsilon=1, ledger=tmp_path / "ledger")
    tree = ID3(label="y", share=0.5).learn(first, run="tree")
    again = people.curator(epsilon=1, ledger=tmp_path / "ledger")
    assert ID3(label="y", share=0.5).learn(again, run="tree").to_json() == tree.to_json()
    assert again.spent == first.spent <= Fraction(1, 2)


def test_a_private_tree_holds_noisy_counts_only():
    frame = concept(2000)
    tree = ID3(label="y", depth=0).learn(sulq.open(frame, SCHEMA).curator(epsilon=Fraction(1, 1000)))
    # At scale 2000 both counts come out exact with a chance below 1e-7.
    assert tree.root.counts != (float((~frame.y).sum()), float(frame.y.sum()))
    assert "epsilon" in tree.origin.promise or "ε" in tree.origin.promise


def test_depth_0_is_a_single_end():
    tree = ID3(label="colour", depth=0).learn(sulq.open(concept(500), SCHEMA).exact())
    assert isinstance(tree.root, End)
    assert set(tree.predict(concept(7)[["old"]])) == {tree.values[tree.root.label]}
    assert tree.describe().startswith("always ")


def test_a_label_of_one_value_needs_no_budget():
    people = sulq.open(
        {"a": [True, False], "y": ["u", "u"]}, {"a": sulq.Boolean(), "y": sulq.Category(["u"], missing="u")}
    )
    curator = people.curator(epsilon=1)
    assert ID3(label="y").learn(curator).predict({"a": [False]}).tolist() == ["u"]
    assert curator.spent == 0


@pytest.mark.parametrize(
    ("learner", "error", "says"),
    [
        (ID3(label="y", features=["colour", "height"]), SchemaError, "height"),
        (ID3(label="y", features=["colour", "y"]), QueryError, "feature"),
        (ID3(label="y", features=["old", "old"]), QueryError, "twice"),
        (ID3(label="y", features="old"), QueryError, "list"),
        (ID3(label="weight"), QueryError, "few values"),
        (ID3(label="z"), SchemaError, "z"),
        (ID3(label="y", depth=-1), QueryError, "depth"),
        (ID3(label="y", prune=-1), QueryError, "prune"),
        (ID3(label="y", pick="guess"), QueryError, "pick"),
        (ID3(label="y", bins={"colour": [1]}), QueryError, "bins"),
        (ID3(label="y", share=2), QueryError, "share"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_asked(learner, error, says):
    with pytest.raises(error, match=says):
        next(learner.rounds(SCHEMA))


def test_bins_are_what_is_asked_for():
    people = sulq.open(concept(500), SCHEMA)
    tree = ID3(label=sulq.col("weight") >= 30, features=["old", "colour"], depth=1).learn(people.exact())
    assert "weight" not in tree.describe()
    [weight] = ID3(label="y", features=["weight"], bins={"weight": [25, 50]}, split="multiway").questions(
        SCHEMA
    )
    assert weight.edges == (25, 50)
    [amount] = ID3(label="y", features=["gain"], split="multiway").questions(
        sulq.Schema({"gain": sulq.Integer(0, 6400), "y": sulq.Boolean()})
    )
    assert amount.edges == (50, 100, 200, 400, 800, 1600, 3200)


def test_a_tree_is_read_back_from_its_json():
    for label in ("y", "shape"):
        tree = ID3(label=label).learn(sulq.open(concept(3000), SCHEMA).curator(epsilon=1))
        again = Tree.from_json(tree.to_json())
        assert again.to_json() == tree.to_json()
        assert (again.predict(concept(100)) == tree.predict(concept(100))).all()
        assert again.describe() == tree.describe()
        assert parse(tree.expression.form).key == tree.expression.key


def test_a_tree_can_be_asked_about():
    people = sulq.open(concept(1000), SCHEMA)
    exact = people.exact()
    truth = ID3(label="y").learn(exact)
    assert exact.ask(sulq.Round([sulq.mean(truth.expression != sulq.col("y"))]))[0].value == 0
    shapes = ID3(label="shape").learn(exact)
    [table] = exact.ask(sulq.Round([sulq.count(by=[shapes.expression, shapes.label])]))
    said = shapes.predict(concept(1000))
    assert np.trace(table.value) == (said == concept(1000)["shape"]).sum()


@st.composite
def trees(draw, left=3):
    if left == 0 or draw(st.booleans()):
        return End(draw(st.integers(0, 1)), (1.0, 1.0))
    question = draw(st.integers(0, 2))
    branches = [draw(trees(left - 1)) for _ in range((2, 4, 5)[question])]
    return Split(question, tuple(branches))


@given(root=trees(), seed=st.integers(0, 2**32))
@settings(max_examples=examples(50))
def test_a_row_is_routed_where_a_walk_leads(root, seed):
    questions = (sulq.col("old"), sulq.col("colour"), sulq.bins(sulq.col("weight"), [20, 40, 60, 80]))
    tree = Tree(SCHEMA, None, sulq.col("y"), questions, root)
    frame = concept(40, seed)

    def walk(row):
        node = root
        answers = (int(row.old), ["red", "green", "blue"].index(row.colour), int(row.weight // 20))
        while isinstance(node, Split):
            node = node.branches[answers[node.question]]
        return node

    route = tree.route(list(range(len(tree.ends))), len(tree.ends))
    assert parse(route.form).key == route.key
    codes = sulq.open(frame, SCHEMA).values(route)
    assert [id(tree.ends[code]) for code in codes] == [id(walk(row)) for row in frame.itertuples()]
    assert tree.predict(frame).tolist() == [bool(walk(row).label) for row in frame.itertuples()]


@pytest.mark.parametrize(
    "steps",
    [(), ((),), ((1, 1, 2), (0,), (0,)), ((0, 0, 1), (0,)), ((0, 1, 2), (0,), (5,)), ((0, 1, 3), (0,), (0,))],
)
def test_a_route_that_leads_nowhere_is_refused(steps):
    with pytest.raises(QueryError):
        Route((sulq.col("old"),), steps, 2)


def test_a_route_has_a_way_for_each_possibility():
    with pytest.raises(QueryError, match="possibilities"):
        sulq.open(concept(3), SCHEMA).values(Route((sulq.col("colour"),), ((0, 1, 2), (0,), (1,)), 2))


def test_of_questions_picked_together_the_one_that_tells_most_is_asked_first() -> None:
    """The order of columns does not matter, and which rows end where does not change."""
    rng = np.random.default_rng(0)
    weak, strong = rng.random(4_000) < 0.5, rng.random(4_000) < 0.5
    label = np.where(strong, rng.random(4_000) < np.where(weak, 0.95, 0.6), rng.random(4_000) < 0.1)
    rows = {"weak": weak, "strong": strong, "y": label}
    for names in (["weak", "strong"], ["strong", "weak"]):
        schema = sulq.Schema({name: sulq.Boolean() for name in [*names, "y"]})
        people = sulq.open(rows, schema)
        for oracle in (people.exact(), people.curator(epsilon=4)):
            tree = sulq.ID3("y", ahead=2, depth=2, prune=0).learn(oracle)
            assert tree.describe().startswith("strong is false")
            assert np.array_equal(tree.predict(rows), rows["strong"])
    deeper = sulq.ID3("y", ahead=2, depth=3, prune=0).learn(people.exact())
    assert sum(end.size for end in deeper.ends) == 4_000


def ages_at_ends(tree: sulq.hypotheses.Tree, node: Any, low: float, high: float) -> list[tuple[float, float]]:
    """Between which ages one is at each end, as far as the questions on the way say."""
    if not hasattr(node, "branches"):
        return [(low, high)]
    question: Any = tree.questions[node.question]
    no, yes = node.branches
    edge = question.right.constant if question.relation == "<" else None
    return [
        *ages_at_ends(tree, no, low if edge is None else max(low, edge), high),
        *ages_at_ends(tree, yes, low, high if edge is None else min(high, edge)),
    ]


def test_nothing_is_asked_whose_answer_follows_from_what_was_asked() -> None:
    """Noise would ask whether somebody of 63 and up is below 36: at this ε in half of the trees, so 20 trees would miss
    it with a chance of 10⁻⁶."""
    rng = np.random.default_rng(1)
    rows = {"age": rng.integers(0, 100, 400), "town": rng.integers(0, 4, 400), "y": rng.random(400) < 0.5}
    kinds = {"age": sulq.Integer(0, 100), "town": sulq.Category([0, 1, 2, 3], missing=0), "y": sulq.Boolean()}
    people = sulq.open(rows, kinds)
    largest = 0
    for _ in range(runs(80, least=20)):
        tree = ID3("y", prune=0, depth=6).learn(people.curator(epsilon=20))
        ages = ages_at_ends(tree, tree.root, 0, 101)
        largest = max(largest, len(ages))
        assert all(low < high for low, high in ages)
    assert largest > 4


def test_a_number_that_is_crowded_near_zero_is_cut_there() -> None:
    """Nearly all readings are below 1/100 of their public bound, where intervals of equal width have no edge."""
    readings = np.r_[np.linspace(0.01, 0.3, 500), np.linspace(0.5, 0.9, 500)]
    rows = {"reading": readings, "y": readings > 0.4}
    people = sulq.open(rows, {"reading": sulq.Real(0, 100), "y": sulq.Boolean()})
    assert (ID3("y").learn(people.exact()).predict(rows) == rows["y"]).all()
