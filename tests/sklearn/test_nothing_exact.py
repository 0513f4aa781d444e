"""A fitted estimator holds nothing but its parameters, its hypothesis and what follows from that."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone, is_classifier, is_regressor

import sulq.sklearn
from tests.learners.test_nothing_exact import FLAGS, MEANS, SECRETS, SIDES, TABLE

CLASSES = {"classes": [False, True], "neighbours": "add-remove"}
BOUNDS = {"bounds": SIDES, "neighbours": "add-remove"}
ESTIMATORS: list[Any] = [
    sulq.sklearn.TreeClassifier(epsilon="1e-12", bounds=SIDES, depth=3, **CLASSES),
    sulq.sklearn.AdditiveClassifier(epsilon="1e-9", bounds=SIDES, **CLASSES),
    sulq.sklearn.AdditiveRegressor(epsilon="1e-3", target=(0, 1), **BOUNDS),
    sulq.sklearn.LinearRegression(epsilon="1e-3", target=(0, 1), **BOUNDS),
    sulq.sklearn.LogisticRegression(epsilon="1e-3", bounds=SIDES, **CLASSES),
    sulq.sklearn.NaiveBayes(epsilon="1e-9", bounds=SIDES, **CLASSES),
    sulq.sklearn.Classifier(epsilon="1e-9", bounds=SIDES, **CLASSES),
    sulq.sklearn.Regressor(epsilon="1e-3", target=(0, 1), **BOUNDS),
    sulq.sklearn.PerceptronClassifier(epsilon=1, bounds=SIDES, **CLASSES),
    sulq.sklearn.ConjunctionClassifier(epsilon="1e-9", **CLASSES),
    sulq.sklearn.SelectClassifier(epsilon="1e-9", bounds=SIDES, size=3, bins=4, **CLASSES),
    sulq.sklearn.KMeans(n_clusters=3, epsilon="1e-9", **BOUNDS),
    sulq.sklearn.PCA(epsilon="1e-6", **BOUNDS),
    sulq.sklearn.TruncatedSVD(epsilon="1e-6", **BOUNDS),
]


NAMES = [name for name in sulq.sklearn.__all__ if hasattr(getattr(sulq.sklearn, name), "fit")]
"""All estimators that there are."""


def test_every_estimator_there_is_is_walked() -> None:
    assert {type(estimator).__name__ for estimator in ESTIMATORS} == set(NAMES)


def table_for(estimator: Any, frame: Any) -> tuple[Any, Any]:
    names = FLAGS if isinstance(estimator, sulq.sklearn.ConjunctionClassifier) else tuple(SIDES)
    columns = {name: TABLE[name] for name in names}
    given = np.stack(list(columns.values()), axis=1) if frame is np.ndarray else frame(columns)
    return given, TABLE["y"] if is_classifier(estimator) or is_regressor(estimator) else None


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, np.ndarray])
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: type(estimator).__name__)
def test_a_fitted_estimator_holds_no_exact_statistic(estimator: Any, frame: Any) -> None:
    fitted = clone(estimator)
    if frame is np.ndarray and getattr(fitted, "bounds", None):
        fitted.set_params(bounds=list(SIDES.values()))
    x, y = table_for(fitted, frame)
    fitted.fit(x, y)
    assert SECRETS.told(vars(fitted)) == []
    if "mean_" in vars(fitted):
        assert not set(MEANS) & set(fitted.mean_)
    fitted.predict(x) if hasattr(fitted, "predict") else fitted.transform(x)
    assert SECRETS.told(vars(fitted)) == []


def test_an_estimator_that_kept_its_rows_would_be_caught() -> None:
    x, y = table_for(ESTIMATORS[0], pd.DataFrame)
    fitted = clone(ESTIMATORS[0]).fit(x, y)
    for kept in (x, y, float(x["a"].mean()), np.bincount(y), [{"rows": int(y.sum())}]):
        fitted.kept_ = kept
        assert any("kept_" in found for found in SECRETS.told(vars(fitted)))
