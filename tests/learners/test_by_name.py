"""The papers' boxes by name: what they ask is theirs, query for query, and what they compute too."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sulq
from sulq.classes.sizes import boxed_parity_plan, parity_plan, printed_parity_rows
from sulq.learners.boxed_tree import gained, gamma_for
from sulq.learners.learner import Learner
from sulq.privacy.boxed_parity import noisy_argmin
from sulq.privacy.parity import ParityMechanism
from sulq.queries.query import Query
from sulq.queries.rounds import numbers_of
from sulq.queries.scope import scope_of
from sulq.talk.answers import Answer
from tests.effort import examples, runs

RNG = np.random.default_rng(7)
POINTS = np.clip(np.concatenate([RNG.normal(0.25, 0.05, (300, 2)), RNG.normal(0.7, 0.05, (200, 2))]), 0, 1)
UNIT = sulq.Schema({"x": sulq.Real(0, 1), "y": sulq.Real(0, 1)})


class Heard:
    """An oracle that keeps the rounds it is asked."""

    def __init__(self, oracle: Any) -> None:
        self.oracle, self.schema, self.promise = oracle, oracle.schema, oracle.promise
        self.rounds: list[sulq.Round] = []

    def ask(self, round_: sulq.Round, run: str = "main") -> list[Answer]:
        self.rounds.append(round_)
        answers: list[Answer] = self.oracle.ask(round_, run)
        return answers

    @property
    def shapes(self) -> list[list[tuple[str, int]]]:
        """For each round the statistic of every query, and how many numbers it has."""
        scope = scope_of(self.schema)
        return [
            [
                (query.statistic, math.prod(query.shape(scope)) or 1)
                for query in each.queries
                if isinstance(query, Query)
            ]
            for each in self.rounds
        ]


def points() -> sulq.Source:
    return sulq.open({"x": POINTS[:, 0], "y": POINTS[:, 1]}, UNIT)


def bits(table: dict[str, Any]) -> sulq.Source:
    return sulq.open(table, {name: sulq.Boolean() for name in table})


START = [[0.4, 0.5], [0.5, 0.4]]


def lloyd(centres: np.ndarray[Any, Any], steps: int) -> np.ndarray[Any, Any]:
    """The iterative update rule of section 4.2, without SuLQ."""
    for _ in range(steps):
        nearest = ((POINTS[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
        centres = np.array([POINTS[nearest == j].mean(axis=0) for j in range(len(centres))])
    return centres


@pytest.mark.parametrize("steps", [1, 2, 5])
def test_k_means_by_name_is_the_papers_update_rule(steps: int) -> None:
    oracle = Heard(points().exact())
    learned = sulq.KMeans(2, iterations=steps, start=START, step="paper").learn(oracle)
    assert np.allclose(learned.natural, lloyd(np.array(START), steps), atol=1e-4)
    assert all(shape == [("count", 2), ("total", 4)] for shape in oracle.shapes), "k and kd queries a step"
    assert len(oracle.shapes) <= steps


def test_given_centres_go_with_either_step() -> None:
    clipped = sulq.KMeans(2, iterations=8, start=START).learn(points().exact())
    assert np.allclose(sorted(clipped.natural), sorted(lloyd(np.array(START), 8).tolist()), atol=1e-3)


def test_k_means_by_name_asks_for_k_plus_kd_queries_a_step() -> None:
    learner = sulq.KMeans(2, iterations=3, start=START, step="paper")
    assert learner.most_numbers(UNIT) == 3 * (2 + 2 * 2)
    curator = points().curator(epsilon=10**5, calibration="sulq-laplace", queries=18)
    learner.learn(curator)
    assert curator.spent in (6, 12, 18)


@pytest.mark.parametrize(
    "start",
    [[[0.1, 0.2]], [[0.1], [0.2]], [[0.1, 0.2], [0.3, 1.2]], [["a", 0], [0, 0]], 7, [[math.nan, 0], [0, 0]]],
)
def test_what_are_no_centres_is_refused_before_anything_is_asked(start: Any) -> None:
    oracle = Heard(points().exact())
    with pytest.raises(sulq.QueryError, match="centres"):
        sulq.KMeans(2, start=start).learn(oracle)
    assert oracle.rounds == []


def test_lemma_1_bounds_how_far_noise_moves_a_centre() -> None:
    """At 95 %, in 40 runs at least 25: fewer by chance in less than 10⁻⁹."""
    covered, many = 0, 40
    for _ in range(many):
        learned = sulq.KMeans(2, iterations=1, start=START, step="paper").learn(points().curator(epsilon=2))
        off = np.abs(np.array(learned.natural) - lloyd(np.array(START), 1))
        covered += bool((off <= np.array(learned.natural_errors) + 1e-4).all())
    assert covered >= 25
    assert max(max(errors) for errors in learned.natural_errors) < 1


def test_svd_of_the_table_itself_is_numpys() -> None:
    oracle = Heard(points().exact())
    learned = sulq.SVD(2, scaled=False).learn(oracle)
    _, values, vectors = np.linalg.svd(POINTS)
    assert np.allclose(np.abs(learned.directions), np.abs(vectors), atol=1e-4)
    assert np.allclose(learned.variances, values**2 / len(POINTS), atol=1e-4)
    assert oracle.shapes == [[("total", 3), ("count", 1)]], "each pair of d columns once, of the paper's d²"
    assert np.allclose(
        learned.transform({"x": POINTS[:9, 0], "y": POINTS[:9, 1]}),
        POINTS[:9] @ np.array(learned.directions).T,
    )
    again = sulq.Hypothesis.from_json(learned.to_json())
    assert again.scaled is False and again.expression.key == learned.expression.key  # type: ignore[attr-defined]


def test_svd_in_natural_units_is_of_the_table_and_not_of_its_scale() -> None:
    rows = {"cm": [150.0, 180.0, 165.0, 172.0], "m": [1.5, 1.8, 1.65, 1.72], "tall": [0, 1, 0, 1]}
    people = sulq.open(rows, {"cm": sulq.Real(0, 250), "m": sulq.Real(0, 2.5), "tall": sulq.Boolean()})
    [first] = sulq.SVD(1, ["cm", "m", "tall"], scaled=False).learn(people.exact()).directions
    _, _, vectors = np.linalg.svd(np.array([rows["cm"], rows["m"], rows["tall"]]).T)
    assert np.allclose(first, np.abs(vectors[0]), atol=1e-5)
    scaled = sulq.SVD(1, ["cm", "m"]).learn(people.exact())
    assert scaled.scaled and np.allclose(scaled.directions, [[0.5**0.5] * 2], atol=1e-3)


def test_svd_in_natural_units_cuts_columns_to_the_grid_of_the_largest() -> None:
    """To multiples of 2^-17 of the largest bound, a power of two: of a column that is smaller than that nothing is left."""
    rng = np.random.default_rng(4)
    for largest, lost in ((2**10, 1e-3), (2**16, 0.03), (2**30, 1.0)):
        table = np.array([rng.uniform(1, 100, 500), rng.uniform(1, largest, 500)])
        people = sulq.open(
            {"x": table[0], "y": table[1]}, {"x": sulq.Real(0, 100), "y": sulq.Real(0, largest)}
        )
        cut = np.floor(table * 2**17 / largest) / 2**17 * largest
        variances = sulq.SVD(2, scaled=False).learn(people.exact()).variances
        assert np.allclose(variances, np.linalg.svd(cut, compute_uv=False) ** 2 / 500, rtol=1e-3)
        assert variances[1] >= (1 - lost) * np.linalg.svd(table, compute_uv=False)[1] ** 2 / 500


XOR = {"a": [0, 0, 1, 1] * 9, "b": [0, 1, 0, 1] * 9, "y": [0, 1, 1, 0] * 9}


def test_balanced_xor_is_learned_by_the_papers_box() -> None:
    """No question gains anything at the root, and the box goes on all the same."""
    oracle = Heard(bits(XOR).exact())
    tree = sulq.ID3("y", pick="counts", gamma=10).learn(oracle)
    assert tree.predict({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1]}).tolist() == [False, True, True, False]
    assert sulq.ID3("y", pick="counts").learn(bits(XOR).exact()).ends.__len__() == 1, "the other way stops"


def test_id3_by_name_asks_what_its_box_asks() -> None:
    """1. N_T and N_j; 4. N_j and N_jk for every attribute that is left: of 2 values and 2 labels each."""
    oracle = Heard(bits(XOR).exact())
    sulq.ID3("y", pick="counts", gamma=10).learn(oracle)
    assert oracle.shapes == [
        [("count", 1), ("count", 2)],
        [("count", 2), ("count", 4)] * 2,
        [("count", 2), ("count", 4)],
        [("count", 4), ("count", 8)],
        [("count", 4), ("count", 8)],
    ]


def test_id3_by_name_counts_no_row_of_a_node_that_is_closed() -> None:
    """On T queries it spends exactly the numbers of the box: nodes that are leaves cost nothing more."""
    rows = {"a": RNG.random(4000) < 0.01, "b": RNG.random(4000) < 0.5, "c": RNG.random(4000) < 0.5}
    rows["y"] = rows["b"] & rows["c"]
    oracle = Heard(bits(rows).curator(epsilon=400, calibration="sulq-laplace", queries=1000))
    sulq.ID3("y", pick="counts", gamma=30).learn(oracle)
    split = [numbers_of(round_, oracle.schema) for round_ in oracle.rounds]
    assert oracle.oracle.spent == sum(split)
    labels = 2
    for round_, numbers in zip(oracle.rounds[2::2], split[2::2], strict=True):
        nodes = numbers // (1 + labels)
        assert numbers == nodes * (1 + labels) and len(round_.queries) == 2


def test_id3_by_name_takes_gamma_or_within_and_not_both() -> None:
    oracle = sulq.open({"a": [True], "y": [True]}, {"a": sulq.Boolean(), "y": sulq.Boolean()}).exact()
    with pytest.raises(sulq.QueryError, match="give one of them"):
        sulq.ID3("y", pick="counts", gamma=10, within=0.1).learn(oracle)
    with pytest.raises(sulq.QueryError, match='goes with pick="counts"'):
        sulq.ID3("y", gamma=10).learn(oracle)


def test_id3_by_name_stops_at_gamma_times_the_noise() -> None:
    """3.: N_T < γε, ε = √(R·ln(1/δ)), is a leaf."""
    source = bits({"a": RNG.random(1000) < 0.5, "y": RNG.random(1000) < 0.5})
    curator = source.curator(epsilon=1, calibration="sulq-laplace", queries=100)
    deviation = 100 * math.sqrt(2)
    off = deviation * math.sqrt(math.log(2 * 2 / 0.05))
    for gamma, rounds in ((1000 / off * 1.01, 1), (1000 / off * 0.5, 3)):
        oracle = Heard(curator)
        sulq.ID3("y", pick="counts", gamma=gamma).learn(oracle, f"{gamma}")
        assert len(oracle.rounds) == rounds


def many_attributes(count: int = 100, rows: int = 5000) -> sulq.Source:
    """The first attribute tells the label in 95 % of the rows, the others nothing."""
    rng = np.random.default_rng(1)
    table: dict[str, Any] = {f"x{i}": rng.random(rows) < 0.5 for i in range(count)}
    return bits(table | {"y": table["x0"] ^ (rng.random(rows) < 0.05)})


@pytest.mark.parametrize("epsilon", [2, 10, 50, 250])
def test_id3_by_name_keeps_its_delta_however_many_attributes_there_are(epsilon: float) -> None:
    """The best question gains 0.71 bits a row: with ε = 250 it is found, and no other is ever asked."""
    for _ in range(runs(20, 3)):
        curator = many_attributes().curator(epsilon=epsilon)
        tree = sulq.ID3("y", pick="counts", within=0.3, depth=1).learn(curator)
        assert tree.gain_error <= 0.3
        assert [question.key for question in tree.questions] in ([], [sulq.col("x0").key])
        assert tree.questions or epsilon < 250


def test_every_query_of_id3_by_name_gets_the_same_part_of_the_budget() -> None:
    """2 + 2·100 at the root, 2 + 2·99 below it, and 2 for the leaves."""
    oracle = Heard(many_attributes().curator(epsilon=10**4))
    sulq.ID3("y", pick="counts", gamma="0.01", depth=2).learn(oracle)
    assert {each.share / len(each.queries) for each in oracle.rounds if each.share} == {Fraction(1, 404)}
    assert 0 <= oracle.oracle.remaining < 1e-9


def test_id3_by_name_splits_no_node_that_is_too_small_for_the_noise_of_its_tables() -> None:
    """At the root N_T is exact, and N_j has half the noise of what line 4 asks for."""
    source = bits({"a": RNG.random(1000) < 0.5, "y": RNG.random(1000) < 0.5})
    first = Heard(source.curator(epsilon=1))
    sulq.ID3("y", pick="counts", gamma=10**6).learn(first)
    [labels] = first.oracle.ask(first.rounds[0])[1:]
    off = float(labels.deviation) * math.sqrt(math.log(2 * 2 / 0.05))
    for part, rounds, ends in ((1.1, 1, 1), (0.7, 2, 1), (0.4, 3, 2)):
        oracle = Heard(source.curator(epsilon=1))
        tree = sulq.ID3("y", pick="counts", gamma=part * 1000 / off).learn(oracle)
        assert (len(oracle.rounds), len(tree.ends)) == (rounds, ends)


def most_by_recursion(sizes: tuple[int, ...], labels: int, depth: int) -> int:
    """The numbers of a node and all below it, if every node asks what takes most."""
    here = 1 + labels
    if not depth or not sizes:
        return here
    below = (
        size * most_by_recursion(sizes[:place] + sizes[place + 1 :], labels, depth - 1)
        for place, size in enumerate(sizes)
    )
    return here + sum(sizes) * here + max(below)


@pytest.mark.parametrize("sizes", [(2, 2, 2), (2, 10), (2, 3, 9), (4, 2, 3, 2), (1, 5, 2)])
def test_t_of_id3_by_name_is_the_most_that_any_tree_takes(sizes: tuple[int, ...]) -> None:
    kinds: dict[str, Any] = {
        f"x{i}": sulq.Category(list("abcdefghij"[:k]), missing="a") for i, k in enumerate(sizes)
    }
    rows: dict[str, Any] = {name: RNG.choice(kind.levels, 50) for name, kind in kinds.items()}
    source = sulq.open(rows | {"y": RNG.random(50) < 0.5}, kinds | {"y": sulq.Boolean()})
    for depth in range(len(sizes) + 1):
        learner = sulq.ID3("y", pick="counts", gamma="0.01", depth=depth)
        assert learner.most_numbers(source.schema) == most_by_recursion(sizes, 2, depth) - 1
    full = sulq.ID3("y", pick="counts", gamma="0.01")
    curator = source.curator(
        epsilon=10**6, calibration="sulq-laplace", queries=full.most_numbers(source.schema)
    )
    full.learn(curator)
    assert curator.spent > 0


def entropy(labels: np.ndarray[Any, Any]) -> float:
    shares = np.bincount(labels, minlength=2) / max(1, len(labels))
    return float(-(shares[shares > 0] * np.log2(shares[shares > 0])).sum())


def test_the_sum_of_the_box_is_minus_rows_times_the_conditional_entropy() -> None:
    attribute, label = RNG.integers(0, 3, 500), RNG.integers(0, 2, 500)
    cells = np.array(
        [[np.sum((attribute == j) & (label == k)) for k in range(2)] for j in range(3)], dtype=float
    )
    value, error = gained(cells.sum(axis=1), cells, 0.0, 0.0)
    conditional = sum(np.sum(attribute == j) * entropy(label[attribute == j]) for j in range(3))
    assert value == pytest.approx(-conditional) and error == pytest.approx(0, abs=1e-9)


def test_lemma_2_bounds_how_far_counts_within_an_error_are_from_the_sum() -> None:
    rng = np.random.default_rng(3)
    for _ in range(examples(400)):
        true = rng.integers(0, 60, (3, 2)).astype(float)
        off = float(rng.integers(0, 12))
        cells, sizes = true + rng.uniform(-off, off, (3, 2)), true.sum(axis=1) + rng.uniform(-off, off, 3)
        exactly, _ = gained(true.sum(axis=1), true, 0.0, 0.0)
        noisy, error = gained(sizes, cells, float(rng.integers(0, 9)), off)
        assert abs(noisy - exactly) <= error + 1e-9


@pytest.mark.parametrize("within", [0.01, 0.1, 1.0])
@pytest.mark.parametrize("values", [2, 5])
def test_gamma_keeps_the_loss_of_gain_within_delta(within: float, values: int) -> None:
    """For counts as bad as a node that is just split may have them: off by N_T/γ. Least: a smaller γ loses more."""
    gamma, rng = gamma_for(within, values), np.random.default_rng(5)
    rows, worst = 10_000.0, 0.0
    for _ in range(examples(60)):
        shares = rng.dirichlet(np.full(values * values, rng.choice([0.05, 1.0])))
        cells = shares.reshape(values, values) * rows
        _, error = gained(cells.sum(axis=1), cells, rows / gamma, rows / gamma)
        worst = max(worst, 2 * error / rows)
    assert 0 < worst <= within
    assert 1 < gamma * within / values**2 < 200, "O(t²/Δ) but for a logarithm"


def test_a_tree_says_how_much_gain_noise_may_have_cost() -> None:
    rows = {name: RNG.random(50_000) < 0.5 for name in "ab"}
    source = bits(rows | {"y": rows["a"]})
    tree = sulq.ID3("y", pick="counts", gamma=5).learn(source.curator(epsilon=1))
    assert 0 < tree.gain_error < 0.5
    assert sulq.ID3("y", pick="counts", gamma=5).learn(source.exact()).gain_error == 0
    assert sulq.Hypothesis.from_json(tree.to_json()).gain_error == tree.gain_error  # type: ignore[attr-defined]


def test_the_boxs_numbers_are_refused_where_they_mean_nothing() -> None:
    for settings in (
        {"gamma": 5},
        {"gamma": 5, "within": 0.1, "pick": "counts"},
        {"gamma": 0, "pick": "counts"},
    ):
        with pytest.raises(sulq.QueryError):
            sulq.ID3("y", **settings).learn(bits(XOR).exact())  # type: ignore[arg-type]


def perceptron(
    x: np.ndarray[Any, Any], label: np.ndarray[Any, Any], rounds: int
) -> list[np.ndarray[Any, Any]]:
    """The box of section 4.3 with exact answers, from w = 0."""
    w = [np.zeros(x.shape[1])]
    for _ in range(rounds):
        wrong = (x @ w[-1]) * label <= 0
        if not wrong.any():
            break
        w.append(w[-1] + (label[wrong, None] * x[wrong]).sum(axis=0) / wrong.sum())
    return w


def boxed_perceptron(features: list[str], iterations: int, stop: Any, label: str = "l") -> sulq.Perceptron:
    return sulq.Perceptron(
        label, features, iterations, norm=None, intercept=False, scaled=False, keep="last", stop=stop
    )


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-1, 1), (-0.25, 3)])
def test_the_perceptron_by_name_takes_the_boxs_steps_on_rows_as_they_are(low: float, high: float) -> None:
    """The paper's rows are of [0, 1]^d: what goes through the origin there does not go through their middle."""
    rows = np.random.default_rng(11).integers(low * 2**16, high * 2**16, (400, 3)) / 2**16
    label = np.where(rows @ [1.0, -2.0, 0.5] > 0, 1, -1)
    schema = {name: sulq.Real(low, high) for name in "xyz"} | {"l": sulq.Boolean()}
    table = {n: rows[:, i] for i, n in enumerate("xyz")}
    people = sulq.open(table | {"l": label > 0}, schema)
    oracle = Heard(people.exact())
    learner = boxed_perceptron(["x", "y", "z"], 30, 2)
    learned = learner.learn(oracle)
    steps = perceptron(rows, label, 30)
    assert np.allclose(learned.weights, steps[-1], atol=1e-6) and learned.intercept == 0
    assert (learned.predict(table) == (rows @ steps[-1] > 0)).all()
    assert all(shape == [("count", 1), ("total", 3)] for shape in oracle.shapes), "1 and d queries a round"
    assert len(oracle.shapes) == min(30, len(steps))
    assert learner.most_numbers(people.schema) == 30 * (1 + 3)
    again = sulq.Hypothesis.from_json(learned.to_json())
    assert again.describe() == learned.describe() and "in their own units" in learned.describe()
    assert (again.predict(table) == learned.predict(table)).all()


@pytest.mark.parametrize(
    "learner",
    [
        sulq.SVD(1, ["x"], scaled=np.False_),  # type: ignore[arg-type]
        sulq.Perceptron("b", ["x"], intercept=False, scaled=np.False_),  # type: ignore[arg-type]
    ],
    ids=["SVD", "perceptron"],
)
def test_what_numpy_calls_false_is_written_down_as_false(learner: Learner[Any]) -> None:
    learned = learner.learn(mixed(50).exact())
    assert sulq.Hypothesis.from_json(learned.to_json()).scaled is False  # type: ignore[attr-defined]


def test_rows_in_their_own_units_go_with_halfspaces_through_the_origin() -> None:
    oracle = Heard(points().exact())
    with pytest.raises(sulq.QueryError, match="scaled=False goes with intercept=False"):
        sulq.Perceptron(sulq.col("x") > 0.5, ["y"], scaled=False).learn(oracle)
    assert oracle.rounds == []


def test_the_perceptron_by_name_stops_at_so_many_deviations_of_the_noise() -> None:
    people = sulq.open(
        {"x": [0.5] * 90 + [-0.5] * 10, "l": [True] * 100}, {"x": sulq.Real(-1, 1), "l": sulq.Boolean()}
    )
    for epsilon, stop, rounds in ((10**4, "0.01", 5), (1, 10**6, 1)):
        oracle = Heard(people.curator(epsilon=epsilon, calibration="sulq-laplace", queries=10))
        boxed_perceptron(["x"], 5, stop).learn(oracle)
        assert len(oracle.rounds) == rounds


@pytest.mark.parametrize(
    ("at", "runs", "rows"), [((64, 0.05, 0.05, 0.5), 6, 92_257), ((8, 0.2, 0.1, 1.0), 5, 1_709)]
)
def test_theorem_3_8_by_name_has_its_runs_and_its_rows(
    at: tuple[int, float, float, float], runs: int, rows: int
) -> None:
    """β′ = β/2, log 1/β′ runs with ε′ = ε/log(1/β′) each, 8/ε′α·(d ln 2 + ln 1/β′) rows."""
    plan = parity_plan(*at, "paper")
    assert (plan.runs, plan.rows) == (runs, rows)


def test_theorem_3_8_by_name_runs_a_so_often_with_its_part_of_epsilon(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """If each run says ⊥, all k are made; else the first parity decides."""
    plan = parity_plan(4, 0.5, 0.25, 2.0, "paper")
    assert (plan.runs, plan.rows) == (3, 117)
    table = {f"x{j}": RNG.random(plan.rows) < 0.5 for j in range(4)}
    table["y"] = table["x0"] ^ table["x2"]
    learner = sulq.Parity("y", error="0.5", confidence="0.75", sampling="paper")
    said: list[Any] = []
    made: list[tuple[Fraction, int]] = []

    def release(mechanism: ParityMechanism, given: Any, unknowns: int) -> Any:
        made.append((mechanism.epsilon, len(given)))
        return said.pop(0)

    monkeypatch.setattr(ParityMechanism, "release", release)
    mask = np.array([True, False, True, False])
    for says, many in (([None, None, None], 3), ([None, mask, ~mask], 2)):
        made, said = [], says
        learned = learner.learn(bits(table).curator(epsilon=2))
        assert made == [(Fraction(2, 3), plan.rows)] * many
        assert bool(learned) == (many == 2)
    curator = bits({name: column[:-1] for name, column in table.items()}).curator(epsilon=2)
    with pytest.raises(sulq.QueryError, match=f"insufficient samples: .* needs {plan.rows} rows"):
        learner.learn(curator)
    assert curator.spent == 0


def test_the_box_of_a_star_has_its_constants() -> None:
    """α′ = α/5, β′ = β/3 (printed β/2), k to the base 4/3 (printed 3/4), n′ and s by the proof's constants."""
    plan = boxed_parity_plan(8, 0.2, 0.1, 1.0)
    assert plan.runs == math.ceil(math.log(30) / math.log(4 / 3)) == 12
    assert plan.each == math.ceil(8 / 0.04 * (8 * math.log(2) + math.log(4)))
    assert plan.tested == math.ceil(12 / 0.04 * math.log(12 / (0.1 / 3)))
    assert (
        plan.rows
        == plan.runs * plan.each + plan.tested + 1
        == printed_parity_rows(8, 0.2, 0.1, 1.0, "boxed") + 1
    )


def test_a_star_by_name_finds_a_parity_and_refuses_too_few_rows() -> None:
    """With a failure probability of 10⁻⁶."""
    learner = sulq.Parity("y", error="0.5", confidence="0.999999", sampling="paper", amplification="boxed")
    plan = boxed_parity_plan(4, 0.5, 1e-6, 2.0)
    table = {f"x{j}": RNG.random(plan.rows) < 0.5 for j in range(4)}
    people = bits(table | {"y": table["x0"] ^ table["x2"]})
    assert learner.learn(people.curator(epsilon=2)).describe() == "x0 xor x2"
    fewer = bits({name: column[:-1] for name, column in (table | {"y": table["x0"] ^ table["x2"]}).items()})
    curator = fewer.curator(epsilon=2)
    with pytest.raises(sulq.QueryError, match=f"insufficient samples: .* needs {plan.rows} rows"):
        learner.learn(curator)
    assert curator.spent == 0
    with pytest.raises(sulq.QueryError, match="goes with sampling='paper'"):
        sulq.Parity("y", amplification="boxed").learn(curator)


def test_the_noisy_argmin_has_the_law_of_laplace_noise() -> None:
    """Of two with 0 and 4 mistakes, k = 2, ε = 1: how often the second is taken, within 5 deviations (10⁻⁶)."""
    many = runs(20_000, 4_000)
    second = Counter(noisy_argmin([0, 4], Fraction(1), 2) for _ in range(many))[1] / many
    # Pr[X − Y ≥ 4 + 1] and half of ties count for neither: the first of equal ones is taken.
    p = math.exp(-1 / 2)
    law = {k: (1 - p) / (1 + p) * p ** abs(k) for k in range(-200, 201)}
    exactly = sum(law[x] * law[y] for x in law for y in law if 4 + y < x)
    assert abs(second - exactly) <= 5 * math.sqrt(exactly * (1 - exactly) / many)


def test_truncation_brings_answers_into_a_range_and_keeps_their_laws() -> None:
    curator = bits(XOR).curator(epsilon="1/100")
    [answer] = curator.ask(sulq.Round([sulq.count(by="a")], share=1))
    cut = sulq.truncated(answer, 0, 36)
    assert ((cut.value >= 0) & (cut.value <= 36)).all() and cut.law == answer.law
    assert curator.spent == Fraction(1, 100), "it costs nothing"
    assert (np.abs(cut.value - 18) <= np.abs(answer.value - 18)).all()
    assert sulq.truncated(sulq.Answer(7.5), -math.inf, 3).value == 3.0
    for low, high in ((3, 2), ("a few", 3), (None, 3), (math.nan, 3)):
        with pytest.raises(sulq.QueryError, match="a range goes from"):
            sulq.truncated(answer, low, high)  # type: ignore[arg-type]
    with pytest.raises(sulq.QueryError, match="an answer of an oracle, not 5"):
        sulq.truncated(5, 0, 1)  # type: ignore[arg-type]
    [chosen] = bits(XOR).curator(epsilon=1).ask(sulq.Round([sulq.choose(["a", "b"], label="y")], share=1))
    with pytest.raises(sulq.QueryError, match="has no range"):
        sulq.truncated(chosen, 0, 1)


def test_the_geometric_mechanism_is_at_hand_by_name() -> None:
    """Notes 21: f(k) = α^−|k|·(α − 1)/(α + 1) with α = e^(1/scale)."""
    noise, alpha = sulq.DiscreteLaplace(2), math.exp(1 / 2)
    assert noise.pmf(3) == pytest.approx(alpha**-3 * (alpha - 1) / (alpha + 1))
    assert noise.epsilon(sensitivity=1) == Fraction(1, 2)


LEARNERS: dict[str, Callable[[], Learner[Any]]] = {
    "k-means": lambda: sulq.KMeans(2, ["x", "y"], 2, start=START, step="paper"),
    "SVD": lambda: sulq.SVD(1, ["x", "y"], scaled=False),
    "ID3": lambda: sulq.ID3("b", ["a", "c"], pick="counts", gamma=4),
    "perceptron": lambda: boxed_perceptron(["x", "y"], 2, 3, label="b"),
}
ORACLES: dict[str, Callable[[sulq.Source], Any]] = {
    "exact": lambda source: source.exact(),
    "curator": lambda source: source.curator(epsilon=2),
    "curator in rho": lambda source: source.curator(rho=1),
    "rows that come or go": lambda source: source.curator(epsilon=2, neighbours="add-remove"),
    "SuLQ": lambda source: source.curator(epsilon=10**5, calibration="sulq-laplace", queries=500),
    "crowd": lambda source: source.crowd(epsilon=4),
    "sample": lambda source: source.sample(fresh=False),
    "denoised": lambda source: source.curator(epsilon=2).denoised("b", 0.1),
}


def mixed(rows: int, unit: sulq.Unit | None = None) -> sulq.Source:
    rng = np.random.default_rng(1)
    table: dict[str, Any] = {"x": rng.random(rows), "y": rng.random(rows), "who": np.arange(rows) // 2}
    table |= {name: rng.random(rows) < 0.5 for name in "abc"}
    columns = {"x": sulq.Real(0, 1), "y": sulq.Real(0, 1)} | {name: sulq.Boolean() for name in "abc"}
    return sulq.open(table, sulq.Schema(columns, unit))


@pytest.mark.parametrize("oracle", ORACLES.values(), ids=ORACLES)
@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
@pytest.mark.parametrize("unit", [None, sulq.Unit("who", 2)], ids=["rows", "unit"])
def test_every_box_runs_on_every_oracle(learner: Any, oracle: Any, unit: sulq.Unit | None) -> None:
    hypothesis = learner().learn(oracle(mixed(2000, unit)))
    assert sulq.Hypothesis.from_json(hypothesis.to_json()).describe() == hypothesis.describe()


@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
def test_every_box_takes_a_cell_that_is_dropped_from_sums_for_its_public_constant(learner: Any) -> None:
    """A point needs all its coordinates: who drops missing cells learns what others do, at the same noise."""
    rng = np.random.default_rng(2)
    drawn = {name: rng.uniform(0.4, 1, 400) for name in "xy"} | {
        name: rng.random(400) < 0.7 for name in "abc"
    }
    table = {name: [None if rng.random() < 0.4 else one for one in each] for name, each in drawn.items()}
    learned, asked = [], []
    for drop in (False, True):
        numbers = {name: sulq.Real(0, 1, missing=0.1, drop_missing=drop) for name in "xy"}
        people = sulq.open(table, numbers | {name: sulq.Boolean(drop_missing=drop) for name in "abc"})
        oracle = Heard(people.exact())
        form = json.loads(learner().learn(oracle).to_json())
        learned.append({key: part for key, part in form.items() if key != "schema"})
        asked.append([people.curator(epsilon=1).error(round_, 0.05) for round_ in oracle.rounds])
    assert learned[0] == learned[1] and asked[0] == asked[1]


@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
@pytest.mark.parametrize("oracle", ["exact", "curator", "rows that come or go", "SuLQ"])
def test_every_box_runs_on_an_empty_table(learner: Any, oracle: str) -> None:
    assert learner().learn(ORACLES[oracle](mixed(0))).describe()
