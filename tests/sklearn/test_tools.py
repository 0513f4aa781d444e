"""scikit-learn's tools around the estimators: pipelines, searches, frames with categories, and what they cost."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import BaggingClassifier
from sklearn.feature_selection import SelectFromModel
from sklearn.model_selection import GridSearchCV, KFold, RandomizedSearchCV, StratifiedKFold, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import SVR

import sulq.sklearn
from sulq.sklearn import SpendingWarning, search_epsilon, spending

SURE = 1e6
"""So large an epsilon that noise changes nothing here, but for a chance below 10^-9."""
LEVELS = ["low", "middle", "high"]


def people(rows: int = 600) -> pd.DataFrame:
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"age": rng.uniform(0, 100, rows), "idle": rng.uniform(0, 1, rows)})
    frame["plan"] = pd.Categorical(rng.choice(LEVELS, rows), categories=LEVELS)
    return frame


X = people()
Y = np.where((X["age"] > 50) & (X["plan"] != "low"), "yes", "no")
BOUNDS: dict[str, Any] = {"age": (0, 100), "idle": (0, 1), "plan": "from X"}
NUMBERS = {name: BOUNDS[name] for name in ("age", "idle")}
CLASSES = ["no", "yes"]


@pytest.fixture(autouse=True)
def nothing_spent_yet(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(spending, "_TALLY", {})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SpendingWarning)
        yield


def tree(**settings: Any) -> Any:
    return sulq.sklearn.TreeClassifier(
        **{"epsilon": SURE, "bounds": BOUNDS, "classes": CLASSES, "depth": 2} | settings
    )


@pytest.mark.parametrize("declared", ["from X", LEVELS, tuple(LEVELS), np.array(LEVELS)], ids=str)
@pytest.mark.parametrize("type_", ["category", "object", "string"])
def test_categories_come_from_the_frame_or_from_a_list(declared: Any, type_: str) -> None:
    frame = X.assign(plan=X["plan"].astype(type_)) if type_ != "category" else X
    model = tree(bounds=NUMBERS | {"plan": declared})
    if isinstance(declared, str) and type_ != "category":
        with pytest.raises(ValueError, match="the categories of 'plan' are a list of texts"):
            model.fit(frame, Y)
        return
    model.fit(frame, Y)
    assert set(model.hypothesis_.schema["plan"].levels) >= set(LEVELS)
    assert np.mean(model.predict(frame) == Y) > 0.97


def test_categories_that_nobody_declared_are_never_read_off_the_rows() -> None:
    for frame in (X, X.assign(plan=X["plan"].astype("string"))):
        with pytest.raises(ValueError, match="columns of texts need their categories declared") as caught:
            tree(bounds=NUMBERS).fit(frame, Y)
        assert "low" not in str(caught.value)
    rare = X.assign(plan=pd.Categorical([*X["plan"][:-1], "rare"]))
    assert (
        "rare" not in tree(bounds=NUMBERS | {"plan": LEVELS}).fit(rare, Y).hypothesis_.schema["plan"].levels
    )


ESTIMATORS: dict[str, Any] = {
    "TreeClassifier": lambda: tree(),
    "AdditiveClassifier": lambda: sulq.sklearn.AdditiveClassifier(
        epsilon=SURE, bounds=BOUNDS, classes=CLASSES
    ),
    "PerceptronClassifier": lambda: sulq.sklearn.PerceptronClassifier(
        epsilon=SURE, bounds=NUMBERS, classes=CLASSES
    ),
    "ConjunctionClassifier": lambda: sulq.sklearn.ConjunctionClassifier(epsilon=SURE, classes=CLASSES),
    "SelectClassifier": lambda: sulq.sklearn.SelectClassifier(epsilon=SURE, bounds=BOUNDS, classes=CLASSES),
    "Classifier": lambda: sulq.sklearn.Classifier(epsilon=SURE, bounds=BOUNDS, classes=CLASSES),
    "LogisticRegression": lambda: sulq.sklearn.LogisticRegression(
        epsilon=SURE, bounds=BOUNDS, classes=CLASSES
    ),
    "NaiveBayes": lambda: sulq.sklearn.NaiveBayes(epsilon=SURE, bounds=BOUNDS, classes=CLASSES),
    "AdditiveRegressor": lambda: sulq.sklearn.AdditiveRegressor(epsilon=1e9, bounds=BOUNDS, target=(0, 100)),
    "Regressor": lambda: sulq.sklearn.Regressor(epsilon=1e9, bounds=BOUNDS, target=(0, 100)),
    "LinearRegression": lambda: sulq.sklearn.LinearRegression(epsilon=1e9, bounds=BOUNDS, target=(0, 100)),
}
NUMBER = ["AdditiveRegressor", "Regressor", "LinearRegression"]


def fitted(name: str) -> tuple[Any, pd.DataFrame]:
    frame = X
    if name == "PerceptronClassifier":
        frame = X[["age", "idle"]]
    if name == "ConjunctionClassifier":
        frame = pd.DataFrame({"old": X["age"] > 50, "idle": X["idle"] > 0.5, "well": X["plan"] != "low"})
    return ESTIMATORS[name]().fit(frame, X["age"] if name in NUMBER else Y), frame


@pytest.mark.parametrize("name", ESTIMATORS)
def test_columns_that_matter_have_the_importance_and_the_names_are_kept(name: str) -> None:
    model, frame = fitted(name)
    importances = model.feature_importances_
    assert importances.shape == (frame.shape[1],) and importances.sum() == pytest.approx(1)
    assert importances[0] > 0.3 and importances[1] < 0.35 and importances[1] < importances[0]
    assert model.n_features_in_ == frame.shape[1] and list(model.feature_names_in_) == list(frame.columns)


@pytest.mark.parametrize(
    "name", ["TreeClassifier", "AdditiveClassifier", "Classifier", "LogisticRegression", "NaiveBayes"]
)
def test_probabilities_add_up_and_agree_with_the_classes(name: str) -> None:
    model, frame = fitted(name)
    likely = model.predict_proba(frame)
    assert likely.sum(axis=1) == pytest.approx(np.ones(len(frame)))
    assert np.array_equal(model.classes_[likely.argmax(axis=1)], model.predict(frame))


def test_the_weights_of_a_perceptron_are_its_coefficients() -> None:
    model, frame = fitted("PerceptronClassifier")
    scaled = np.stack([2 * frame["age"] / 100 - 1, 2 * frame["idle"] - 1], axis=1)
    assert model.coef_.shape == (1, 2) and model.intercept_.shape == (1,)
    assert model.decision_function(frame) == pytest.approx(
        (scaled @ model.coef_[0]) + model.intercept_[0], abs=1e-2
    )


def test_a_perceptron_takes_categories_as_they_are() -> None:
    model = sulq.sklearn.PerceptronClassifier(epsilon=SURE, bounds=BOUNDS, classes=CLASSES).fit(X, Y)
    assert model.coef_.shape == (1, len(model.coef_names_)) and "plan is low" in model.coef_names_
    assert model.feature_importances_.shape == (3,) and np.mean(model.predict(X) == Y) > 0.8


@pytest.mark.parametrize("name", ["LinearRegression", "LogisticRegression"])
def test_coefficients_have_error_bars_of_their_own_shape(name: str) -> None:
    promise = {"epsilon": 5, "delta": 1e-6, "bounds": (0, 10)}
    promise |= {"target": (0, 10)} if name == "LinearRegression" else {"classes": CLASSES}
    rows = np.random.default_rng(0).uniform(0, 10, size=(3000, 2))
    labels = rows[:, 0] if name == "LinearRegression" else np.where(rows[:, 0] > 5, CLASSES[1], CLASSES[0])
    model = getattr(sulq.sklearn, name)(**promise).fit(rows, labels)
    assert model.coef_errors_.shape == model.coef_.shape and (model.coef_errors_ > 0).all()
    assert np.allclose(model.coef_errors_.T, 1.96 * np.array(model.hypothesis_.deviations))


def test_a_pipeline_with_columns_of_different_kinds_is_fitted_and_scored() -> None:
    half = FunctionTransformer(lambda frame: frame / 2, feature_names_out="one-to-one")
    columns = ColumnTransformer(
        [("plan", OneHotEncoder(categories=[LEVELS], sparse_output=False), ["plan"]), ("age", half, ["age"])]
    )
    steps = make_pipeline(
        columns,
        sulq.sklearn.TreeClassifier(epsilon=SURE, bounds=[(0, 1)] * 3 + [(0, 50)], classes=CLASSES, depth=3),
    )
    assert np.mean(cross_val_score(steps, X, Y, cv=KFold(3))) > 0.9
    assert steps.fit(X, Y).score(X, Y) > 0.95
    assert search_epsilon(steps, cv=KFold(3)) == 2 * Fraction(SURE)


def test_a_search_says_what_it_spends_before_and_while_it_does() -> None:
    search = GridSearchCV(tree(epsilon=2), {"depth": [1, 2]}, cv=KFold(3))
    assert search_epsilon(search) == 2 * 2 * 2 + 2
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SpendingWarning)
        search.fit(X, Y)
    said = [str(warning.message) for warning in caught if issubclass(warning.category, SpendingWarning)]
    assert [text.partition(" fits")[0] for text in said] == [f"TreeClassifier: {fits}" for fits in (2, 4)]
    assert "may cost them 8 in all" in said[-1] and search.best_estimator_.hypothesis_ is not None
    assert list(spending._TALLY.values()) == [(7, Fraction(14))]


def test_epsilons_of_a_grid_add_up() -> None:
    search = GridSearchCV(tree(), {"epsilon": [1, np.float64(0.5)]}, cv=KFold(2), refit=False)
    assert search_epsilon(search) == Fraction(3, 2)


@pytest.mark.parametrize("cv", [None, 5, StratifiedKFold(3), [([0], [1])]], ids=str)
def test_folds_that_may_depend_on_rows_have_no_sum(cv: Any) -> None:
    with pytest.raises(ValueError, match=r"give cv=KFold\(k\)"):
        search_epsilon(GridSearchCV(tree(), {"depth": [1]}, cv=cv))


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: BaggingClassifier(tree(), n_estimators=10), "BaggingClassifier decides how often it fits"),
        (lambda: make_pipeline(OneVsRestClassifier(tree())), "OneVsRestClassifier decides how often"),
        (lambda: RandomizedSearchCV(tree(), {"depth": [1, 2]}), "RandomizedSearchCV decides how often"),
        (lambda: GridSearchCV(tree(), {"depth": [1, 2]}, cv=KFold(3)), "a search within folds"),
        (lambda: tree(neighbours="add-remove"), "shifts others into other folds"),
        (lambda: SVR(), "SVR has no private step"),
        (lambda: make_pipeline(StandardScaler(), SVR(epsilon=0.1)), "Pipeline has no private step"),
    ],
)
def test_what_cannot_be_added_up_has_no_sum(made: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        search_epsilon(made(), cv=KFold(5))


def test_the_epsilons_of_all_private_steps_add_up_and_those_of_others_do_not() -> None:
    """SVR and its like have an epsilon that has nothing to do with privacy."""
    reduced = sulq.sklearn.PCA(epsilon=2, bounds=(0, 1))
    both = FeatureUnion([("private", reduced), ("other", SelectFromModel(SVR(epsilon=0.1)))])
    assert search_epsilon(make_pipeline(both, "passthrough", tree(epsilon=1)), cv=KFold(3)) == 2 * 3


def test_a_single_fit_and_fits_with_a_ledger_warn_of_nothing(tmp_path: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", SpendingWarning)
        tree().fit(X, Y)
        for _ in range(3):
            tree(ledger=str(tmp_path / "people.ledger")).fit(X, Y)
