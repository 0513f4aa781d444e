"""Evaluation by further queries: the figures are right without noise, and their error bars hold with it."""

from __future__ import annotations

import json
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix, r2_score, roc_auc_score

import sulq
from sulq.hypotheses.intervals import area, ratio
from sulq.hypotheses.verdict import verdict
from sulq.learners.evaluate import Comparison
from sulq.talk.laws import Noise
from tests.effort import either, most

N = 3000


def table(rows: int = N) -> dict[str, Any]:
    rng = np.random.default_rng(3)
    a, b = rng.random(rows) < 0.5, rng.integers(0, 10, rows)
    chance = 1 / (1 + np.exp(-(1.2 * a + 0.5 * (b - 5))))
    y = rng.random(rows) < chance
    kind = np.where(y, "u", np.where(b > 3, "v", "w"))
    return {"a": a, "b": b, "y": y, "kind": kind, "pay": 10.0 * b + 5 * a + rng.normal(0, 5, rows)}


KINDS = {
    "a": sulq.Boolean(),
    "b": sulq.Integer(0, 9),
    "y": sulq.Boolean(),
    "kind": sulq.Category(["u", "v", "w"], missing="u"),
    "pay": sulq.Real(-20, 120),
}
TABLE = table()
PEOPLE = sulq.open(TABLE, KINDS)
TREE = sulq.ID3("y", ["a", "b"], depth=3).learn(PEOPLE.exact())
ADDITIVE = sulq.Additive("y", ["a", "b"]).learn(PEOPLE.exact())
HALFSPACE = sulq.Perceptron("y", ["a", "b"], keep="best").learn(PEOPLE.exact())
OF_THREE = sulq.ID3("kind", ["a", "b"], depth=2).learn(PEOPLE.exact())
ADDITIVE_OF_THREE = sulq.Additive("kind", ["a", "b"]).learn(PEOPLE.exact())
NUMBER = sulq.Additive("pay", ["a", "b"]).learn(PEOPLE.exact())
MODELS = {
    "tree": (TREE, "y"),
    "additive": (ADDITIVE, "y"),
    "halfspace": (HALFSPACE, "y"),
    "rule": (sulq.hypotheses.Rule(sulq.Schema(KINDS), None, (sulq.col("a"), sulq.col("b") > 4)), "y"),
    "a rule that is always true": (sulq.hypotheses.Rule(sulq.Schema(KINDS), None, ()), "y"),
    "selected": (sulq.Select(sulq.classes.Stumps(["a", "b"]), "y").learn(PEOPLE.exact()), "y"),
    "tree of three": (OF_THREE, "kind"),
    "additive of three": (ADDITIVE_OF_THREE, "kind"),
}


@pytest.mark.parametrize("name", MODELS)
def test_without_noise_the_confusion_table_is_that_of_the_predictions(name: str) -> None:
    model, label = MODELS[name]
    evaluation = sulq.Evaluate(model, label).learn(PEOPLE.exact())
    predicted, truth = model.predict(TABLE), TABLE[label]
    assert evaluation.confusion.tolist() == confusion_matrix(predicted, truth).tolist()
    accuracy = evaluation.accuracy
    assert accuracy.value == accuracy.low == accuracy.high == pytest.approx(np.mean(predicted == truth))
    for place, each in enumerate(evaluation.classes):
        told, true = evaluation.confusion[place], evaluation.confusion[:, place]
        assert evaluation.recall(each).value == pytest.approx(true[place] / true.sum())
        assert evaluation.precision(each).value == pytest.approx(
            told[place] / told.sum() if told.sum() else 0.5
        )


@pytest.mark.parametrize("model", [TREE, ADDITIVE], ids=["tree", "additive"])
def test_without_noise_curves_and_calibration_are_those_of_the_scores(model: Any) -> None:
    likely, truth = model.predict_proba(TABLE)[:, 1], TABLE["y"]
    evaluation = sulq.Evaluate(model, bins=50).learn(PEOPLE.exact())
    assert abs(evaluation.auroc.value - roc_auc_score(truth, likely)) <= evaluation.ties + 1e-9
    binned = np.digitize(likely, evaluation.edges)
    assert evaluation.auroc.value == pytest.approx(roc_auc_score(truth, binned), abs=2e-3)
    shares = {round(mean, 3): metric.value for mean, metric in evaluation.calibration()}
    for place in np.unique(binned):
        mean, share = likely[binned == place].mean(), truth[binned == place].mean()
        nearest = min(shares, key=lambda known: abs(known - mean))
        assert abs(nearest - mean) < 0.01 and shares[nearest] == pytest.approx(share, abs=0.02)


def test_the_score_of_a_halfspace_has_a_curve_and_no_calibration() -> None:
    evaluation = sulq.Evaluate(HALFSPACE, bins=40).learn(PEOPLE.exact())
    margin = PEOPLE.values(HALFSPACE.margin)
    assert abs(evaluation.auroc.value - roc_auc_score(TABLE["y"], margin)) <= evaluation.ties + 1e-9
    with pytest.raises(sulq.QueryError, match="no probabilities"):
        evaluation.calibration()


def test_without_noise_the_errors_of_a_number_are_those_of_the_predictions() -> None:
    evaluation = sulq.Evaluate(NUMBER).learn(PEOPLE.exact())
    predicted, truth = np.clip(NUMBER.predict(TABLE), -20, 120), PEOPLE.values(sulq.col("pay"))
    errors = evaluation.numbers
    # Numbers that are squared are truncated to half their digits first.
    assert errors.r2.value == pytest.approx(r2_score(truth, predicted), abs=1e-4)
    assert errors.mean_squared.value == pytest.approx(np.mean((truth - predicted) ** 2), rel=1e-3)
    assert errors.mean_absolute.value == pytest.approx(np.mean(np.abs(truth - predicted)), rel=1e-6)
    with pytest.raises(sulq.QueryError, match="is a number"):
        _ = evaluation.accuracy


ORACLES: dict[str, Any] = {
    "pure": lambda source: source.curator(epsilon=1),
    "approximate": lambda source: source.curator(epsilon=1, delta="1e-6"),
    "zero-concentrated": lambda source: source.curator(rho="0.1"),
    "add-remove": lambda source: source.curator(epsilon=1, neighbours="add-remove"),
    "crowd": lambda source: source.crowd(epsilon=4),
    "sample": lambda source: source.sample(),
    "chunks": lambda source: source.curator(epsilon=1, answering="chunks", queries=5),
    "exact": lambda source: source.exact(),
}


@pytest.mark.parametrize("oracle", ORACLES)
@pytest.mark.parametrize("model", [ADDITIVE, NUMBER], ids=["class", "number"])
def test_every_oracle_can_be_asked(oracle: str, model: Any) -> None:
    evaluation = sulq.Evaluate(model).learn(ORACLES[oracle](PEOPLE))
    for metric in evaluation.metrics().values():
        assert metric.low <= metric.value + 1e-12 and metric.value <= metric.high + 1e-12
    for again in (sulq.Hypothesis.from_json(evaluation.to_json()), pickle.loads(pickle.dumps(evaluation))):
        assert again == evaluation and again.metrics() == evaluation.metrics()
    assert evaluation.picture().startswith("<svg") and evaluation.headline and evaluation.doubts


def test_wrong_labels_can_be_accounted_for() -> None:
    rng = np.random.default_rng(5)
    flipped = sulq.open(TABLE | {"y": TABLE["y"] ^ (rng.random(N) < 0.2)}, KINDS)
    true = sulq.Evaluate(TREE).learn(PEOPLE.exact()).accuracy.value
    denoised = sulq.Evaluate(TREE).learn(flipped.exact().denoised("y", "0.2")).accuracy.value
    # The estimate has a deviation of about 0.012; the rows are the same in every run.
    assert abs(denoised - true) < 0.05 < true - sulq.Evaluate(TREE).learn(flipped.exact()).accuracy.value


@pytest.mark.parametrize("rows", [0, 1])
@pytest.mark.parametrize("model", [ADDITIVE, NUMBER], ids=["class", "number"])
def test_tables_of_no_rows_and_of_one_are_evaluated(rows: int, model: Any) -> None:
    few = sulq.open({name: values[:rows] for name, values in TABLE.items()}, KINDS)
    for oracle in (few.exact(), few.curator(epsilon=1, neighbours="add-remove"), few.curator(epsilon=1)):
        evaluation = sulq.Evaluate(model).learn(oracle)
        assert evaluation.describe() and evaluation.picture()
        assert all(metric.low <= metric.high for metric in evaluation.metrics().values())


def test_a_condition_that_no_row_meets_leaves_nothing_known() -> None:
    evaluation = sulq.Evaluate(TREE, where=sulq.col("b") > 8.5).learn(PEOPLE.exact())
    assert evaluation.confusion.sum() == np.sum(TABLE["b"] == 9)
    nobody = sulq.Evaluate(TREE, where=(sulq.col("b") > 5) & (sulq.col("b") < 3)).learn(PEOPLE.exact())
    assert (nobody.accuracy.low, nobody.accuracy.high, nobody.calibration()) == (0.0, 1.0, [])


def test_rows_that_miss_a_cell_are_left_out_of_every_figure() -> None:
    kinds = KINDS | {"pay": sulq.Real(-20, 120, drop_missing=True)}
    pay = [None if place % 3 == 0 else value for place, value in enumerate(TABLE["pay"])]
    people = sulq.open(TABLE | {"pay": pay}, kinds)
    model = sulq.Additive("pay", ["a", "b"]).learn(people.exact())
    assert sulq.Evaluate(model).learn(people.exact()).answers[0].value == sum(
        value is not None for value in pay
    )


def half_missing() -> tuple[dict[str, Any], sulq.Source]:
    """The rows where every second b is missing, which the schema drops."""
    rows = TABLE | {"b": [None if place % 2 else int(value) for place, value in enumerate(TABLE["b"])]}
    return rows, sulq.open(rows, KINDS | {"b": sulq.Integer(0, 9, drop_missing=True)})


def test_rows_that_miss_a_feature_are_told_by_its_constant_and_count() -> None:
    rows, people = half_missing()
    for learner in (sulq.ID3("y", ["a", "b"], depth=3), sulq.Additive("y", ["a", "b"])):
        model = learner.learn(people.exact())
        confusion = sulq.Evaluate(model).learn(people.exact()).confusion
        assert confusion.tolist() == confusion_matrix(model.predict(rows), TABLE["y"]).tolist()
        [wrong] = people.exact().ask(sulq.Round([sulq.error_rate(model, "y")]))
        assert wrong.value == pytest.approx(1 - np.trace(confusion) / N)
    for learner in (sulq.LinearRegression("pay", ["a", "b"]), sulq.Additive("pay", ["a", "b"])):
        number = learner.learn(people.exact())
        off = np.abs(TABLE["pay"] - np.clip(number.predict(rows), -20, 120))
        errors = sulq.Evaluate(number).learn(people.exact()).numbers
        assert errors.mean_absolute.value == pytest.approx(off.mean(), rel=1e-6)


def test_rows_that_miss_a_cell_of_the_condition_are_left_out() -> None:
    rows, people = half_missing()
    model = sulq.ID3("y", ["a"], depth=1).learn(people.exact())
    evaluation = sulq.Evaluate(model, where=sulq.col("b") < 8).learn(people.exact())
    assert evaluation.confusion.sum() == sum(value is not None and value < 8 for value in rows["b"])


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_one_row_moves_the_sums_no_further_than_the_noise_is_for(neighbours: Any) -> None:
    """By enumeration, with exact sums: all pairs of rows of a small domain, exchanged or added."""
    domain = [
        (a, b, y, k, p)
        for a in (0, 1)
        for b in (0, 5, 9)
        for y in (0, 1)
        for k in "uvw"
        for p in (-20, 9, 120)
    ]
    values = sulq.open(dict(zip(KINDS, map(list, zip(*domain, strict=True)), strict=True)), KINDS)
    for model, label in [*MODELS.values(), (NUMBER, "pay")]:
        comparison = Comparison(PEOPLE.schema, verdict(model, label, PEOPLE.schema), None)
        for query in comparison.questions(comparison.edges):
            alone = sulq.Round([query])
            for part in query.parts:
                rows = np.asarray(values.values(part), dtype=float).reshape(len(domain), -1)
                apart = (
                    np.abs(rows[:, None] - rows[None]).sum(axis=2)
                    if neighbours == "replace"
                    else np.abs(rows).sum(axis=1)
                )
                assert apart.max() <= alone.sensitivity(PEOPLE.schema, 1, neighbours) + 1e-9


def test_people_with_several_rows_cost_the_noise_of_all_of_them() -> None:
    kinds = {"who": sulq.Integer(0, 99), **KINDS}
    rows = TABLE | {"who": np.arange(N) % 100}
    for many in (1, 3):
        people = sulq.open(rows, sulq.Schema(kinds, sulq.Unit("who", rows=many)))
        evaluation = sulq.Evaluate(TREE).learn(people.curator(epsilon=1))
        assert evaluation.answers[0].law.parameter == many * Fraction(2) * Fraction(9, 4)


@pytest.mark.parametrize(
    ("hypothesis", "label", "said"),
    [
        (
            sulq.KMeans(2, ["b", "pay"]).learn(PEOPLE.exact()),
            "y",
            "Centres cannot be evaluated: it says clusters",
        ),
        (sulq.PCA(1, ["b", "pay"]).learn(PEOPLE.exact()), "y", "Components cannot be evaluated"),
        (sulq.Table(["a"]).learn(PEOPLE.exact()), "y", "Tabulation cannot be evaluated: it says figures"),
        (
            sulq.hypotheses.Nothing(sulq.Schema(KINDS), None, "parity", 0.05),
            "y",
            "Nothing cannot be evaluated",
        ),
        (TREE, "pay", "Tree says true or false of a row, and pay is a number"),
        (NUMBER, "y", "AdditiveModel says a number of a row, and y is true or false"),
        (OF_THREE, "y", "Tree says one of 3 classes of a row, and y is true or false"),
        (MODELS["rule"][0], None, "Rule does not say what it is about"),
        (TREE, "z", "no column 'z'"),
    ],
)
def test_what_cannot_be_asked_is_refused_by_name_before_anything_is_spent(
    hypothesis: Any, label: str | None, said: str
) -> None:
    curator = PEOPLE.curator(epsilon=1)
    with pytest.raises(sulq.SulqError, match=said):
        sulq.Evaluate(hypothesis, label).learn(curator)
    assert curator.spent == 0


def test_columns_that_are_declared_otherwise_are_refused() -> None:
    kinds = KINDS | {"b": sulq.Integer(0, 8)}
    with pytest.raises(sulq.QueryError, match="column 'b' is declared otherwise than where Tree"):
        sulq.Evaluate(TREE).learn(sulq.open(TABLE, kinds).exact())
    kinds = KINDS | {"kind": sulq.Category(["w", "v", "u"], missing="u")}
    with pytest.raises(sulq.QueryError, match="the label's column 'kind' is declared otherwise"):
        sulq.Evaluate(OF_THREE).learn(sulq.open(TABLE, kinds).exact())


COUNTS = np.array([[900, 800, 600, 300, 150, 60], [30, 60, 120, 200, 240, 250]], dtype=float)
RUNS = either(30, 400)


@pytest.mark.parametrize("family", ["laplace", "gaussian"])
@pytest.mark.parametrize("scale", [2, 40])
def test_error_bars_hold_as_often_as_they_say_and_are_not_much_wider(family: Any, scale: int) -> None:
    """Accuracy, AUROC and one bin of a calibration table, under exact noise.

    False alarm rate below 10^-7 in all: 12 bounds of 10^-8. Widths are held against the spread of 20,000 estimates
    with noise from a fixed seed.
    """
    law = Noise(
        family, Fraction(scale) if family == "laplace" else Fraction(scale) ** 2, Fraction(1), COUNTS.size
    )
    above = np.tri(6, k=-1) + np.eye(6) / 2
    right = np.array([[1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1]], dtype=float)
    one_bin = np.zeros((2, 6))
    one_bin[:, 3] = 1
    truth = (
        float(COUNTS[1] @ above @ COUNTS[0] / COUNTS[0].sum() / COUNTS[1].sum()),
        float((right * COUNTS).sum() / COUNTS.sum()),
        float(COUNTS[1, 3] / COUNTS[:, 3].sum()),
    )
    figures = []
    for _ in range(RUNS):
        noisy = COUNTS + np.array(law.distribution.sample(COUNTS.size), dtype=float).reshape(COUNTS.shape)
        flat = noisy.ravel()
        figures.append(
            [
                area(noisy[0], noisy[1], law, 0.05),
                ratio(flat, right.ravel(), np.ones(flat.size), law, 0.05),
                ratio(flat, (one_bin * [[0], [1]]).ravel(), one_bin.ravel(), law, 0.05),
            ]
        )
    rng = np.random.default_rng(0)
    drawn = (rng.laplace if family == "laplace" else rng.normal)(0, scale, (20_000, *COUNTS.shape)) + COUNTS
    sums, bins = drawn.sum(axis=2), drawn[:, :, 3]
    spreads = (
        np.std(np.einsum("ri,ij,rj->r", drawn[:, 1], above, drawn[:, 0]) / sums.prod(axis=1)),
        np.std((right * drawn).sum(axis=(1, 2)) / sums.sum(axis=1)),
        np.std(bins[:, 1] / bins.sum(axis=1)),
    )
    for place, (true, spread) in enumerate(zip(truth, spreads, strict=True)):
        _, lows, highs = np.array([run[place] for run in figures]).T
        assert np.sum((lows > true) | (highs < true)) <= most(RUNS, 0.05)
        # At the small scale a step of the grid is as large as the noise, and bars are wider for it.
        assert np.mean(highs - lows) / 2 < (2.6 if scale == 40 else 6) * 1.96 * spread


def test_the_bars_of_an_evaluation_hold_the_figures_of_the_rows() -> None:
    """Private evaluations, each with three figures at 95 %: more than `most` fail with a chance below 10^-8."""
    exact = sulq.Evaluate(ADDITIVE).learn(PEOPLE.exact())
    failures = {"accuracy": 0, "AUROC": 0, "calibration": 0}
    runs = either(10, 60)
    for _ in range(runs):
        noisy = sulq.Evaluate(ADDITIVE).learn(PEOPLE.curator(epsilon=1))
        for name, metric in noisy.metrics().items():
            failures[name] += not metric.low <= exact.metrics()[name].value <= metric.high
        edges = [0.0, *noisy.edges, 1.0]
        table = np.asarray(exact.answers[1].value)
        known = {place: row[1] / row.sum() for place, row in enumerate(table) if row.sum()}
        failures["calibration"] += any(
            not metric.low <= known[place] <= metric.high
            for mean, metric in noisy.calibration()
            if (place := min(len(edges) - 2, int(np.searchsorted(edges, mean, side="right")) - 1)) in known
        )
    assert max(failures.values()) <= most(runs, 0.05)


def test_words_of_others_stay_on_their_line_and_out_of_the_terminal() -> None:
    names = ("<script>", "two\nlines", "red\x1b[31m")
    rows = {"a": [0, 1, 1] * 20, "k": list(names) * 20}
    people = sulq.open(rows, {"a": sulq.Boolean(), "k": sulq.Category(names, missing="<script>")})
    evaluation = sulq.Evaluate(sulq.ID3("k", ["a"], depth=1).learn(people.exact())).learn(people.exact())
    form = json.loads(evaluation.to_json()) | {"model": "<script>\n\x1b[31m", "tested": "two\nlines\x1b[0m"}
    read = sulq.Hypothesis.from_json(json.dumps(form))
    with pytest.raises(sulq.QueryError) as refused:
        read.recall("none")
    for text in (read.headline, str(refused.value)):
        assert "\n" not in text and "\x1b" not in text
    assert "\x1b" not in read.describe() + read.picture() and "<script>" not in read.picture()
