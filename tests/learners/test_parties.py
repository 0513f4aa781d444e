"""Learners ask parties as they ask anybody else: columns that are in different hands are learned from."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import sulq

ID = sulq.Integer(0, 10**6)
KINDS: dict[str, Any] = {
    "a": sulq.Category(["u", "v", "w"], missing="u"),
    "x": sulq.Real(0, 10),
    "b": sulq.Boolean(),
    "sick": sulq.Boolean(),
    "pay": sulq.Real(0, 40),
    "old": sulq.Boolean(),
}
HANDS = (("a", "x"), ("b", "pay"), ("sick", "old"))


def rows(many: int = 15_000) -> dict[str, Any]:
    rng = np.random.default_rng(2)
    a, x, old = rng.integers(0, 3, many), rng.random(many) * 10, rng.random(many) < 0.5
    b = rng.random(many) < np.where(a == 1, 0.9, 0.1)
    sick = rng.random(many) < np.where(b, 0.85, 0.1)
    pay = np.clip(2 * x + 8 * sick + rng.normal(size=many), 0, 40)
    return {"a": np.array(["u", "v", "w"])[a], "x": x, "b": b, "sick": sick, "pay": pay, "old": old}


ROWS = rows()


def hands(*groups: tuple[str, ...]) -> list[sulq.Source]:
    ids, rng = np.arange(len(ROWS["x"])), np.random.default_rng(3)
    opened = []
    for names in groups:
        order = rng.permutation(ids)
        columns = {"id": order} | {name: ROWS[name][order] for name in names}
        opened.append(sulq.open(columns, {"id": ID} | {name: KINDS[name] for name in names}))
    return opened


def together(*groups: tuple[str, ...], **promise: Any) -> sulq.Parties:
    return sulq.parties([each.curator(**promise) for each in hands(*groups)], "id")


def error(model: Any, label: str) -> float:
    return float(np.mean(model.predict(ROWS) != ROWS[label]))


def test_naive_bayes_and_trees_learn_a_label_that_another_party_has() -> None:
    """ε = 20: what is learned is that b tells sick, far beyond the noise."""
    bayes = sulq.NaiveBayes("sick", ["a", "b"]).learn(together(*HANDS, epsilon=20))
    tree = sulq.ID3("sick", ["a", "b"], pick="counts", depth=1).learn(together(*HANDS, epsilon=20))
    assert error(bayes, "sick") < 0.2 and error(tree, "sick") < 0.2


@pytest.mark.parametrize("about", ["each", "common"])
def test_the_papers_tree_goes_on_where_some_nodes_are_leaves(about: Any) -> None:
    """At ε = 5 noise makes leaves of some nodes, and not of others, in each of several runs."""
    rng, ids = np.random.default_rng(0), list(range(3000))
    kinds = {"m": sulq.Category(list("xyz"), missing="x"), "k": sulq.Category(list("uvwst"), missing="u")}
    flag = {name: rng.random(3000) < 0.5 for name in "yb"}
    value = {name: rng.choice(list(kind.values), 3000) for name, kind in kinds.items()}
    one, other = (
        sulq.open({"id": ids, f: flag[f], c: value[c]}, {"id": ID, f: sulq.Boolean(), c: kinds[c]})
        for f, c in ("ym", "bk")
    )
    for run in range(3):
        both = sulq.parties(
            [one.curator(epsilon=5), other.curator(epsilon=5)], "id", about=about, salt=f"run {run}"
        )
        tree = sulq.ID3("y", ["m", "k", "b"], pick="counts", gamma="0.05").learn(both)
        assert set(tree.predict(flag | value)) <= {False, True}


def test_a_deeper_tree_counts_products_of_three_parties() -> None:
    exact = sulq.parties([each.exact() for each in hands(*HANDS)], "id")
    tree = sulq.ID3("sick", ["a", "b"], pick="counts", depth=2).learn(exact)
    assert error(tree, "sick") < 0.2


@pytest.mark.parametrize("gamma", [None, "0.05"])
def test_a_tree_that_may_count_products_of_four_parties_is_refused_before_anybody_is_asked(
    gamma: str | None,
) -> None:
    """A label here, and a question for each of the other three; two of them lead to products of three."""
    asked = together(("sick", "x"), ("a",), ("b",), ("old",), epsilon=20)
    tree = sulq.ID3("sick", ["a", "b", "old"], pick="counts", gamma=gamma)
    with pytest.raises(sulq.QueryError, match=r"products of 4 parties' columns .* at most 3"):
        tree.learn(asked)
    assert set(asked.spent.values()) == {0}
    assert replace(tree, depth=2).learn(asked).describe()
    near = sulq.ID3("sick", ["x", "a", "b"], pick="counts", gamma=gamma, depth=3)
    assert near.most_hands(asked.schema) == 3


def test_a_party_that_a_tree_asks_later_is_to_have_its_share() -> None:
    """The paper's tree asks about the label alone at first."""
    asked = together(*HANDS[1:], epsilon=20)
    asked.ask(sulq.Round([sulq.count(where="sick")], share="1/2"))
    before = asked.spent
    with pytest.raises(sulq.BudgetError, match="party 2"):
        sulq.ID3("b", ["sick"], pick="counts", gamma="0.05").learn(asked)
    assert asked.spent == before


def test_a_conjunction_over_two_parties() -> None:
    many = 20_000
    rng = np.random.default_rng(4)
    p, q, r = rng.random((3, many)) < 0.7
    here = sulq.open(
        {"id": range(many), "p": p, "q": q}, {"id": ID, "p": sulq.Boolean(), "q": sulq.Boolean()}
    )
    there = sulq.open(
        {"id": range(many), "r": r, "y": p & r}, {"id": ID, "r": sulq.Boolean(), "y": sulq.Boolean()}
    )
    asked = sulq.parties([here.curator(epsilon=50), there.curator(epsilon=50)], "id")
    rule = sulq.Conjunction("y", ["p", "q", "r"], error=0.3, share=1).learn(asked)
    assert rule.describe() == "p and r"
    with pytest.raises(sulq.QueryError, match="instead of a tolerance"):
        sulq.Conjunction("y", ["p", "q", "r"]).learn(asked)


@pytest.mark.parametrize(
    "features", [["x", "b", "sick"], ["x", "a"], ["b"]], ids=["everywhere", "elsewhere", "with the target"]
)
def test_linear_regression_weighs_columns_of_all_parties(features: list[str]) -> None:
    model = sulq.LinearRegression("pay", features).learn(together(*HANDS, epsilon=20))
    exact = sulq.LinearRegression("pay", features).learn(sulq.open(ROWS, KINDS).exact())
    off = [float(np.sqrt(np.mean((each.predict(ROWS) - ROWS["pay"]) ** 2))) for each in (model, exact)]
    # Noise takes less than half of what columns say about the pay: of 25 runs at most a hundredth.
    assert off[0] < (off[1] + np.std(ROWS["pay"])) / 2


def test_pairs_publish_all_tables_for_many_models() -> None:
    release = sulq.Pairs(["a", "b", "sick"]).learn(together(*HANDS, epsilon=20))
    assert error(release.naive_bayes("sick"), "sick") < 0.2
    again = type(release).from_json(release.to_json())
    assert [table.counts.value.shape for table in again.tables] == [(3, 2), (3, 2), (2, 2)]
    true = sulq.open(ROWS, KINDS).exact().ask(sulq.Round([sulq.count(by=["a", "b"])]))[0].value
    answer = release.tables[0].counts
    assert (np.abs(answer.value - true) <= answer.radius(1e-9)).all()


def test_tables_and_results_across_parties_are_within_their_errors() -> None:
    """At 95 % each: none is as far off as twice its bars but once in 10^3."""
    select = "SELECT b, sick, count(*) AS n, avg(x) AS x FROM people GROUP BY b, sick"
    table = sulq.Table(["b", "sick"], means=["x"]).learn(together(*HANDS, epsilon=20))
    assert "hold at 95 %" in table.describe()
    assert sulq.Hypothesis.from_json(table.to_json()).describe() == table.describe()
    result = sulq.sql(select, together(*HANDS, epsilon=20)).to_frame("polars")
    true = sulq.sql(select, sulq.open(ROWS, KINDS).exact()).to_frame("polars")
    for name in ("n", "x"):
        off = np.abs(result[name] - true[name]).to_numpy()
        assert (off <= (result[f"{name} high"] - result[f"{name} low"]).to_numpy()).all()


def test_a_model_of_one_partys_columns_is_judged_by_a_label_that_another_has() -> None:
    tree = sulq.ID3("sick", ["b"], pick="counts").learn(sulq.open(ROWS, KINDS).exact())
    seen = sulq.Evaluate(tree, "sick").learn(together(*HANDS, epsilon=20))
    right = 1 - error(tree, "sick")
    assert seen.accuracy.low - 0.1 < right < seen.accuracy.high + 0.1 < 1.2
    assert "told right" in seen.describe()


@pytest.mark.parametrize(
    "learner",
    [
        sulq.KMeans(2, ["x", "pay"]),
        sulq.KMeans(2, ["x", "pay"], start=[[1, 1], [9, 9]], step="paper"),
        sulq.Perceptron("sick", ["x"]),
        sulq.Perceptron("sick", ["x"], norm=None, intercept=False, scaled=False, keep="last"),
        sulq.LogisticRegression("sick", ["x"]),
        sulq.Additive("sick", ["x"]),
        sulq.DecisionList("sick", ["b"]),
        sulq.ID3("sick", ["b"]),
        sulq.Classifier("sick", ["b"]),
        sulq.Regressor("pay", ["x"]),
    ],
    ids=lambda each: type(each).__name__,
)
def test_who_asks_about_whole_rows_is_refused_before_anybody_is_asked(learner: Any) -> None:
    asked = together(*HANDS, epsilon=20)
    with pytest.raises(sulq.QueryError, match="asks about whole rows, of which no party holds all columns"):
        learner.learn(asked)
    assert set(asked.spent.values()) == {0}


@pytest.mark.parametrize(
    "learner",
    [
        sulq.KMeans(2, ["pay"]),
        sulq.Perceptron("b", ["pay"]),
        sulq.ID3("b", ["pay"]),
        sulq.Classifier("b", ["pay"]),
    ],
    ids=lambda each: type(each).__name__,
)
def test_who_asks_about_whole_rows_of_one_party_is_answered_by_it(learner: Any) -> None:
    asked = together(*HANDS, epsilon=20)
    assert learner.learn(asked).describe()
    assert [asked.spent[f"party {place}"] > 0 for place in (1, 2, 3)] == [False, True, False]


def factors(many: int) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(1)
    points = rng.normal(size=(many, 2)) @ rng.normal(size=(2, 8)) + 0.5 * rng.normal(size=(many, 8))
    return np.clip(points * 0.18, -1, 1)


NAMES = tuple(f"c{place}" for place in range(8))
HELD = (NAMES[:3], NAMES[3:6], NAMES[6:])


def eight(
    points: np.ndarray[Any, Any], hands: Any = HELD, about: Any = "each", **promise: Any
) -> sulq.Parties:
    opened = [
        sulq.open(
            {"id": range(len(points))} | {name: points[:, NAMES.index(name)] for name in hand},
            {"id": ID} | {name: sulq.Real(-1, 1) for name in hand},
        ).curator(**promise)
        for hand in hands
    ]
    return sulq.parties(opened, "id", about=about)


def captured(components: Any, points: np.ndarray[Any, Any]) -> float:
    """The variance along the directions, as a part of the most that as many directions can have."""
    order = [NAMES.index(name) for name in components.features]
    directions = np.array(components.directions).T
    variance = np.cov(points.T)[np.ix_(order, order)]
    best = np.linalg.eigvalsh(variance)[-directions.shape[1] :].sum()
    return float(np.trace(directions.T @ variance @ directions) / best)


@pytest.mark.parametrize("learner", [sulq.PCA, sulq.SVD])
def test_components_of_columns_in_three_hands(learner: Any) -> None:
    """60,000 people at ε = 5 are as many as a million at (1, 10^-6): see benchmarks/parties.py."""
    points = factors(60_000)
    # Columns are named in another order than they are held in.
    found = learner(2, features=NAMES[::-1]).learn(eight(points, epsilon=5))
    assert captured(found, points) >= 0.95


@pytest.mark.parametrize("hands", [HELD, (NAMES[:7], NAMES[7:])], ids=["three", "one column"])
@pytest.mark.parametrize("promise", [{"epsilon": 10}, {"epsilon": 10, "delta": "1e-6"}, {"rho": 5}], ids=str)
def test_each_hand_says_how_long_its_part_of_a_row_is(hands: Any, promise: Any) -> None:
    """Columns that take a ninth of their bounds, and less, and some of each: a norm for wide ones captured 0.5."""
    widths = np.array([0.1, 0.1, 0.1, 0.005, 0.005, 0.005, 0.03, 0.03])
    for points in (factors(60_000) * 0.1, factors(60_000) * widths):
        asked = eight(points, hands, **promise)
        found = sulq.PCA(2).learn(asked)
        assert captured(found, points) >= 0.95
        assert set(asked.remaining.values()) == {0}
        assert found.error > found.shortened > 0


def test_principal_components_of_nobody_and_of_few_people_across_parties() -> None:
    for many in (0, 1, 30):
        for about in ("each", "common"):
            found = sulq.PCA(2).learn(eight(factors(30)[:many], about=about, epsilon=1))
            assert np.isfinite(found.directions).all()
            assert len(found.describe().splitlines()) >= 2


@pytest.mark.parametrize(
    "paper", [{"calibration": "sulq-laplace"}, {"calibration": "sulq-gaussian", "delta": "1e-6"}]
)
def test_a_learner_of_one_round_asks_sulq_databases_for_no_more_than_their_queries(paper: Any) -> None:
    """Each party is asked for its sketches, and for sums of its own beside them, in two rounds."""
    learner = sulq.SVD(1, ["x", "pay"], scaled=False)

    def asked(queries: int) -> sulq.Parties:
        return together(*HANDS[:2], epsilon=50, queries=queries, **paper)

    enough = asked(5000)
    assert learner.learn(enough).features == ("x", "pay")
    assert all(1 < spent <= 5000 for spent in enough.spent.values())
    few = asked(10)
    with pytest.raises(sulq.BudgetError, match="charge of queries"):
        learner.learn(few)
    with pytest.raises(sulq.QueryError, match="how many all rounds of this learner ask"):
        sulq.PCA(1, ["x", "pay"]).learn(few)
    assert set(few.spent.values()) == {0}
