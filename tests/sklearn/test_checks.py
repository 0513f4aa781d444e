"""scikit-learn's own checks: all of them for each estimator, with the thorough effort.

They look at a few dozen rows and want no noise, so epsilon is so large that noise is far below one step of any
sum. What remains of chance are ties: between equally good questions of a tree, which the checks do not notice,
and between hypotheses to choose from, of which the first is taken here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

import sulq.sklearn
from tests.effort import EFFORT, covering

COUNTS, NUMBERED, LENGTHS, MOMENTS = 1e10, 1e13, 5e13, 1e16
"""Sums of numbers have finer steps than counts, and those of products finer ones still: epsilon must be larger for
the noise to vanish."""
SIDES = (-5, 5)
NUMBERS = "an error about a number of y would depend on a row: one that is not finite has an outcome"
LABELS = "labels_ would keep the cluster of every row; predict says it of rows that one may see"


class Seeded:
    """Says that an estimator is deterministic, as without noise it is: some checks are only for those."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.non_deterministic = False
        return tags


class TreeClassifier(Seeded, sulq.sklearn.TreeClassifier):
    pass


class AdditiveClassifier(Seeded, sulq.sklearn.AdditiveClassifier):
    pass


class AdditiveRegressor(Seeded, sulq.sklearn.AdditiveRegressor):
    pass


class LinearRegression(Seeded, sulq.sklearn.LinearRegression):
    pass


class LogisticRegression(Seeded, sulq.sklearn.LogisticRegression):
    pass


class NaiveBayes(Seeded, sulq.sklearn.NaiveBayes):
    pass


class Classifier(Seeded, sulq.sklearn.Classifier):
    pass


class Regressor(Seeded, sulq.sklearn.Regressor):
    pass


class PerceptronClassifier(Seeded, sulq.sklearn.PerceptronClassifier):
    pass


class ConjunctionClassifier(Seeded, sulq.sklearn.ConjunctionClassifier):
    pass


class SelectClassifier(Seeded, sulq.sklearn.SelectClassifier):
    pass


class KMeans(Seeded, sulq.sklearn.KMeans):
    pass


class PCA(Seeded, sulq.sklearn.PCA):
    pass


class TruncatedSVD(Seeded, sulq.sklearn.TruncatedSVD):
    pass


ESTIMATORS: list[Any] = [
    TreeClassifier(epsilon=COUNTS, bounds=SIDES, classes="from y"),
    AdditiveClassifier(epsilon=COUNTS, bounds=SIDES, classes="from y", refinements=1),
    AdditiveRegressor(epsilon=NUMBERED, bounds=SIDES, target=(-1000, 1000), refinements=1),
    LinearRegression(epsilon=NUMBERED, bounds=SIDES, target=(-1000, 1000)),
    LogisticRegression(epsilon=NUMBERED, bounds=SIDES, classes="from y", steps=1),
    NaiveBayes(epsilon=COUNTS, bounds=SIDES, classes="from y"),
    Classifier(epsilon=COUNTS, bounds=SIDES, classes="from y"),
    Regressor(epsilon=NUMBERED, bounds=SIDES, target=(-1000, 1000)),
    PerceptronClassifier(epsilon=COUNTS, bounds=SIDES, classes="from y"),
    ConjunctionClassifier(epsilon=COUNTS, classes="from y"),
    SelectClassifier(epsilon=COUNTS, bounds=SIDES, classes="from y"),
    KMeans(epsilon=COUNTS, bounds=SIDES, n_clusters=3),
    PCA(epsilon=LENGTHS, bounds=SIDES),
    TruncatedSVD(epsilon=MOMENTS, bounds=SIDES, n_components=1),
]


@pytest.fixture(autouse=True)
def first_of_the_best(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without noise the choice is any of the best, and on the checks' few rows there are often several."""
    monkeypatch.setattr("sulq.classes.pick.choose", lambda _, scores: int(scores.argmax()))


def exemptions(estimator: Any) -> dict[str, str]:
    if isinstance(estimator, AdditiveRegressor | LinearRegression | Regressor):
        return {"check_supervised_y_no_nan": NUMBERS}
    return {"check_clustering": LABELS} if isinstance(estimator, KMeans) else {}


def each_once(every: pytest.MarkDecorator) -> pytest.MarkDecorator:
    """With the quick effort each estimator and each check, and not each check of each estimator."""
    names, pairs = every.args[0], list(every.args[1])
    if EFFORT == "quick":
        values = [getattr(pair, "values", pair) for pair in pairs]
        crossed = [{"estimator": type(one).__name__, "check": str(check.func)} for one, check in values]
        pairs = [pairs[place] for place in covering(crossed, "scikit-learn's checks")]
    return pytest.mark.parametrize(names, pairs, **every.kwargs)


@each_once(parametrize_with_checks(ESTIMATORS, expected_failed_checks=exemptions))
def test_an_estimator_passes_scikit_learns_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


NAMES = [name for name in sulq.sklearn.__all__ if hasattr(getattr(sulq.sklearn, name), "fit")]
"""All estimators that there are."""


def test_every_estimator_there_is_is_checked() -> None:
    assert {type(estimator).__name__ for estimator in ESTIMATORS} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_an_estimator_says_that_it_has_no_seed(name: str) -> None:
    assert get_tags(getattr(sulq.sklearn, name)(epsilon=1)).non_deterministic


def test_clusters_are_found_as_the_exempted_check_wants_them() -> None:
    x = np.repeat([[-5.0, 0.0], [5.0, 0.0], [0.0, 5.0]], 20, axis=0)
    found = KMeans(epsilon=COUNTS, bounds=SIDES, n_clusters=3).fit_predict(x)
    assert found.dtype == np.int32
    assert sorted(np.bincount(found)) == [20, 20, 20]
    assert len({*found[:20]}) == len({*found[20:40]}) == len({*found[40:]}) == 1
