"""Estimators in use: tables of every kind, labels of every type, pipelines, searches, ledgers.

Where an exact outcome is expected, epsilon is so large that there is no noise.
"""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn import decomposition
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import sulq
from sulq.ledger.ledger import Ledger
from sulq.sklearn import (
    PCA,
    ConjunctionClassifier,
    KMeans,
    PerceptronClassifier,
    SelectClassifier,
    TreeClassifier,
    TruncatedSVD,
)

NOISELESS = 1e10
SIDES = {"age": (0, 100), "income": (0, 50)}


def people(rows: int = 2000, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"age": rng.uniform(0, 100, rows), "income": rng.uniform(0, 50, rows)})


PEOPLE = people()
OLD = np.where(PEOPLE["age"] >= 62.5, "yes", "no")


def tree(**changes: Any) -> TreeClassifier:
    settings = {"epsilon": NOISELESS, "bounds": SIDES, "classes": ["no", "yes"], "depth": 1}
    return TreeClassifier(**settings | changes)


TABLES = {
    "pandas": lambda frame: frame,
    "Polars": pl.from_pandas,
    "Arrow": pa.Table.from_pandas,
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize("asked", TABLES.values(), ids=TABLES)
def test_tables_of_every_library_teach_and_are_predicted_alike(table: Any, asked: Any) -> None:
    fitted = tree().fit(table(PEOPLE), OLD)
    assert fitted.hypothesis_ == tree().fit(PEOPLE, OLD).hypothesis_
    assert list(fitted.feature_names_in_) == list(SIDES)
    assert (fitted.predict(asked(PEOPLE)) == OLD).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.longdouble, ">f8", ">i4", object])
def test_arrays_of_every_type_teach(dtype: Any) -> None:
    x = PEOPLE.to_numpy().round().astype(dtype)
    y = np.where(x[:, 0] >= 63, "yes", "no")
    fitted = tree(bounds=[(0, 100), (0, 50)]).fit(x, y)
    assert not hasattr(fitted, "feature_names_in_")
    assert fitted.n_features_in_ == 2
    assert (fitted.predict(x) == y).mean() > 0.99


def test_categories_truth_values_and_numbers_are_declared_in_a_schema() -> None:
    rng = np.random.default_rng(1)
    x = pd.DataFrame(
        {
            "plan": rng.choice(["free", "paid", "none"], 3000),
            "kind": pd.Categorical(rng.choice(["a", "b"], 3000)),
            "well": rng.random(3000) < 0.5,
            "note": ["not in the schema"] * 3000,
        }
    )
    y = (x["plan"] == "free") & x["well"]
    plans, kinds = sulq.Category(["free", "paid"]), sulq.Category(["a", "b"], missing="a")
    schema = {"plan": plans, "kind": kinds, "well": sulq.Boolean()}
    fitted = TreeClassifier(epsilon=NOISELESS, schema=schema, classes=[False, True], depth=2).fit(x, y)
    assert (fitted.predict(x) == y).all()
    assert (fitted.predict(pl.from_pandas(x)) == y).all()


def test_a_person_with_several_rows_is_protected_as_one() -> None:
    frame = pd.DataFrame({"who": np.repeat(np.arange(500), 4), "age": PEOPLE["age"]})
    schema = sulq.Schema(
        {"who": sulq.Integer(0, 10**6), "age": sulq.Real(0, 100)}, sulq.Unit(column="who", rows=2)
    )
    fitted = tree(bounds=None, schema=schema).fit(frame, OLD)
    assert {
        leaf.name for question in fitted.hypothesis_.questions for leaf in question.leaves().values()
    } == {"age"}
    assert sum(end.size for end in fitted.hypothesis_.ends) == 1000
    assert (fitted.predict(frame) == OLD).all()


def test_truth_values_need_no_bounds() -> None:
    x = np.random.default_rng(2).random((500, 3)) < 0.5
    y = x[:, 1]
    for classifier in (TreeClassifier, PerceptronClassifier, ConjunctionClassifier, SelectClassifier):
        fitted = classifier(epsilon=NOISELESS, classes=[False, True]).fit(x, y)
        assert (fitted.predict(x) == y).all()
    assert KMeans(epsilon=NOISELESS, n_clusters=1).fit(x).cluster_centers_[0] == pytest.approx(
        x.mean(axis=0), abs=1e-3
    )
    for projection in (PCA(epsilon=1e15), TruncatedSVD(epsilon=1e15)):
        assert projection.fit(x).transform(x).shape[0] == 500


@pytest.mark.parametrize("labels", [["no", "yes"], [False, True], [-1, 1], [0.0, 0.5], ["(b)", "a"]])
def test_labels_come_back_as_they_were(labels: list[Any]) -> None:
    y = np.array(labels)[(OLD == "yes").astype(int)]
    for classes in (
        (labels, labels[::-1]) if isinstance(labels[0], float) else (labels, labels[::-1], "from y")
    ):
        fitted = tree(classes=classes).fit(PEOPLE, y)
        assert fitted.classes_.tolist() == sorted(labels)
        assert fitted.predict(PEOPLE).dtype == y.dtype
        assert (fitted.predict(PEOPLE) == y).all()


def test_three_classes_are_told_apart() -> None:
    y = np.digitize(PEOPLE["age"], [25, 75])
    fitted = tree(classes=[0, 1, 2], split="multiway").fit(PEOPLE, y)
    assert (fitted.predict(PEOPLE) == y).all()
    assert fitted.predict_proba(PEOPLE).shape == (len(PEOPLE), 3)


def test_a_label_that_is_no_class_counts_as_the_first() -> None:
    strange = [["a list"], {"a": "dict"}, None, float("nan"), "maybe", 7, (1, 2)]
    y = [*OLD[: -len(strange)], *strange]
    taken = [*OLD[: -len(strange)], *["no"] * len(strange)]
    objects = np.empty(len(y), dtype=object)
    objects[:] = y
    expected = tree().fit(PEOPLE, taken).hypothesis_
    assert tree().fit(PEOPLE, objects).hypothesis_ == expected
    assert tree().fit(PEOPLE, pd.Series(objects, index=range(5, 5 + len(y)))).hypothesis_ == expected


def test_one_odd_label_in_a_list_changes_no_other() -> None:
    numbers = (OLD == "yes").astype(int).tolist()
    expected = tree(classes=[0, 1]).fit(PEOPLE, [0, *numbers[1:]]).hypothesis_
    for odd in ("text", None, 1j, 0.5):
        assert tree(classes=[0, 1]).fit(PEOPLE, [odd, *numbers[1:]]).hypothesis_ == expected


def test_one_odd_cell_in_a_list_changes_no_other() -> None:
    rows = PEOPLE.to_numpy().tolist()[:200]
    settings = {"bounds": [(0, 100), (0, 50)]}
    expected = tree(**settings).fit([[50, True], *rows[1:]], OLD[:200]).hypothesis_
    for odd in ("text", None, 1j, float("nan"), "50"):
        assert tree(**settings).fit([[odd, 1], *rows[1:]], OLD[:200]).hypothesis_ == expected


def test_cells_out_of_bounds_are_clamped_and_missing_ones_in_the_middle() -> None:
    fitted = tree().fit(PEOPLE, OLD)
    odd = pd.DataFrame({"age": [np.inf, -np.inf, 1e308, np.nan], "income": [np.nan, np.inf, 1.0, -1e308]})
    same = pd.DataFrame({"age": [100, 0, 100, 50], "income": [25, 50, 1, 0]})
    assert (fitted.predict(odd) == fitted.predict(same)).all()


def test_probabilities_agree_with_predictions_also_where_all_is_noise() -> None:
    for epsilon in (0.001, 0.05, 1, NOISELESS):
        for classes in (["no", "yes"], ["maybe", "no", "yes"]):
            fitted = tree(epsilon=epsilon, classes=classes, depth=2).fit(PEOPLE, OLD)
            shares = fitted.predict_proba(PEOPLE)
            assert (shares > 0).all()
            assert shares.sum(axis=1) == pytest.approx(1)
            assert (fitted.classes_[shares.argmax(axis=1)] == fitted.predict(PEOPLE)).all()


def test_decisions_agree_with_predictions() -> None:
    fitted = PerceptronClassifier(epsilon=10, bounds=SIDES, classes=["no", "yes"], keep="best").fit(
        PEOPLE, OLD
    )
    assert ((fitted.decision_function(PEOPLE) > 0) == (fitted.predict(PEOPLE) == "yes")).all()
    assert len(set(fitted.decision_function(PEOPLE))) > 100


def test_a_prediction_is_what_the_hypothesis_says() -> None:
    fitted = tree(epsilon=1).fit(PEOPLE, OLD)
    assert (fitted.predict(PEOPLE) == fitted.hypothesis_.predict(PEOPLE)).all()
    assert fitted.hypothesis_.origin.promise == "ε = 1 (pure)"


def test_a_few_conditions_on_mixed_columns_are_chosen_for_either_class() -> None:
    rng = np.random.default_rng(6)
    x = PEOPLE.assign(plan=rng.choice(["free", "paid", "none"], len(PEOPLE)))
    y = np.where((x["plan"] == "free") & (x["age"] < 40), "yes", "no")
    schema = {
        "age": sulq.Real(0, 100),
        "income": sulq.Real(0, 50),
        "plan": sulq.Category(["free", "paid", "none"], missing="none"),
    }
    both = {"epsilon": NOISELESS, "schema": schema, "edges": {"age": [20, 40, 60]}}
    fitted = SelectClassifier(classes=["no", "yes"], **both).fit(x, y)
    assert fitted.hypothesis_.describe() == "age < 40 and plan == free"
    assert (fitted.predict(x) == y).all()
    fitted = SelectClassifier(classes=["no", "yes"], **both).fit(x, np.where(y == "no", "yes", "no"))
    assert fitted.hypothesis_.describe() == "not (age < 40 and plan == free)"
    stump = SelectClassifier(classes=["no", "yes"], size=1, **both).fit(x, y)
    assert stump.score(x, y) == (y == "no").mean()
    stump = SelectClassifier(classes=["no", "yes"], size=1, bins=8, bounds=SIDES, epsilon=1).fit(PEOPLE, OLD)
    assert stump.hypothesis_.describe() == "age >= 62.5"


def test_the_nearest_centre_is_the_one_predicted() -> None:
    fitted = KMeans(n_clusters=5, epsilon=1, bounds=SIDES).fit(PEOPLE)
    distances = fitted.transform(PEOPLE)
    assert (distances.argmin(axis=1) == fitted.predict(PEOPLE)).all()
    low, high = np.array(list(SIDES.values()), dtype=float).T
    units = (PEOPLE.to_numpy()[:, np.newaxis] - fitted.cluster_centers_) * 2 / (high - low)
    assert distances == pytest.approx(np.linalg.norm(units, axis=2), abs=1e-4)


@pytest.mark.parametrize("projection", [PCA, TruncatedSVD])
def test_a_projection_is_what_its_attributes_say(projection: Any) -> None:
    fitted = projection(n_components=2, epsilon=1, bounds=SIDES).fit(PEOPLE)
    low, high = np.array(list(SIDES.values()), dtype=float).T
    scaled = 2 * (PEOPLE.to_numpy() - low) / (high - low) - 1
    assert fitted.transform(PEOPLE) == pytest.approx((scaled - fitted.mean_) @ fitted.components_.T, abs=1e-3)
    assert fitted.explained_variance_ratio_.sum() <= 1 + 1e-9
    names = [f"{projection.__name__.lower()}{i}" for i in range(2)]
    assert list(fitted.set_output(transform="pandas").transform(PEOPLE).columns) == names


def test_principal_components_are_those_of_scikit_learn_without_noise() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(3000, 3)) @ np.diag([0.1, 0.05, 0.02]) @ np.linalg.qr(rng.normal(size=(3, 3)))[0]
    ours, plain = PCA(epsilon=1e15, bounds=(-1, 1), norm=3).fit(x), decomposition.PCA().fit(x)
    assert np.abs((ours.components_ * plain.components_).sum(axis=1)) == pytest.approx(1, abs=1e-3)
    assert ours.explained_variance_ == pytest.approx(plain.explained_variance_, rel=1e-2)


def test_a_pipeline_of_private_steps_has_bounds_that_are_public() -> None:
    pipeline = make_pipeline(
        FunctionTransformer(lambda x: x / [100, 50]),
        PCA(n_components=2, epsilon=NOISELESS, bounds=(0, 1)),
        PerceptronClassifier(epsilon=NOISELESS, bounds=(-3, 3), classes=["no", "yes"], iterations=20),
    ).set_output(transform="default")
    assert pipeline.fit(PEOPLE, OLD).score(PEOPLE, OLD) > 0.9
    pipeline.set_output(transform="pandas")
    assert pipeline.fit(PEOPLE, OLD).score(PEOPLE, OLD) > 0.9


def test_scores_and_searches_work() -> None:
    assert cross_val_score(tree(), PEOPLE, OLD, cv=3).min() > 0.99
    search = GridSearchCV(tree(), {"depth": np.arange(2), "epsilon": np.array([1e-6, NOISELESS])}, cv=3)
    assert search.fit(pl.from_pandas(PEOPLE), OLD).best_params_ == {"depth": 1, "epsilon": NOISELESS}


def test_a_fit_spends_its_epsilon_and_a_ledger_file_remembers(tmp_path: Path) -> None:
    path = tmp_path / "people.ledger"
    first = tree(epsilon=1, ledger=path).fit(PEOPLE, OLD)
    with Ledger.read(path) as ledger:
        assert ledger.spent == ledger.total == Fraction(1)
    assert tree(epsilon=1, ledger=str(path)).fit(PEOPLE, OLD).hypothesis_ == first.hypothesis_
    with pytest.raises(sulq.BudgetError, match="it was not made"):
        tree(epsilon=1, ledger=path, pick="counts").fit(PEOPLE, OLD)
    with pytest.raises(sulq.errors.LedgerError):
        tree(epsilon=2, ledger=path).fit(PEOPLE, OLD)


def test_without_a_ledger_every_fit_is_a_fresh_start() -> None:
    estimator = KMeans(n_clusters=2, epsilon=1, bounds=SIDES)
    first = estimator.fit(PEOPLE).cluster_centers_
    # Four coordinates on a grid of 2^16 steps, each spread by noise over hundreds of them.
    assert not np.array_equal(first, estimator.fit(PEOPLE).cluster_centers_)


def test_epsilon_has_no_default_and_survives_a_clone() -> None:
    with pytest.raises(TypeError, match="epsilon"):
        PCA()  # type: ignore[call-arg]
    assert clone(PCA(epsilon="1/3")).epsilon == "1/3"


@pytest.mark.parametrize("delta", [None, "1e-6"])
@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_every_promise_can_be_kept(delta: Any, neighbours: str) -> None:
    both = {"epsilon": np.float64(1.5), "delta": delta, "neighbours": neighbours}
    for estimator in (
        tree(**both),
        PerceptronClassifier(bounds=SIDES, classes=["no", "yes"], **both),
        ConjunctionClassifier(classes=["no", "yes"], **both),
        SelectClassifier(bounds=SIDES, classes=["no", "yes"], **both),
        KMeans(bounds=SIDES, n_clusters=np.int64(2), **both),
        PCA(bounds=SIDES, **both),
        TruncatedSVD(bounds=SIDES, **both),
    ):
        promise = estimator.fit(PEOPLE, OLD).hypothesis_.origin.promise
        assert promise == ("ε = 1.5 (pure)" if delta is None else "(ε, δ) = (1.5, 1e-06)")


def test_the_label_finds_a_name_that_is_free() -> None:
    frame = PEOPLE.rename(columns={"age": "y", "income": "y_"})
    fitted = tree(bounds=(0, 100)).fit(frame, OLD)
    assert list(fitted.hypothesis_.schema) == ["y", "y_", "y__"]
    assert (fitted.predict(frame) == OLD).all()


def test_sulq_does_not_need_scikit_learn() -> None:
    code = (
        "import sys, sulq; assert 'sklearn' not in sys.modules; sys.modules['sklearn'] = None\n"
        "try: import sulq.sklearn\nexcept ImportError as error: print(error)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout == "sulq.sklearn needs scikit-learn: pip install 'sulq[sklearn]'\n"
