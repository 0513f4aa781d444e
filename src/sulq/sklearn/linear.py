"""Linear regression, logistic regression and naive Bayes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sulq.effects.bars import SURELY
from sulq.learners.linear import LinearRegression as Linear
from sulq.learners.logistic import LogisticRegression as Logistic
from sulq.learners.naive_bayes import NaiveBayes as Bayes
from sulq.sklearn.additive import Effects, LikelyClassifier
from sulq.sklearn.estimator import Estimator
from sulq.sklearn.numbers import NumberEstimator


class Coefficients(Estimator):
    """What those with coefficients have in common."""

    @property
    def coef_names_(self) -> list[str]:
        """What the coefficients belong to: columns, and values of categories."""
        return list(self.hypothesis_.names)

    @property
    def coef_(self) -> NDArray[np.float64]:
        """The coefficients in the units of the columns; of more than two classes, a row for each."""
        return np.array(self.hypothesis_.coefficients, dtype=np.float64).T

    @property
    def coef_errors_(self) -> NDArray[np.float64]:
        """How far the error bar of each coefficient reaches to either side: 1.96 deviations of its error."""
        return SURELY * np.array(self.hypothesis_.deviations, dtype=np.float64).T

    @property
    def intercept_(self) -> Any:
        """What is predicted where all features are 0: a number, or log-odds."""
        intercept = self.hypothesis_.intercept
        return intercept if isinstance(intercept, float) else np.array(intercept)


class LinearRegression(Coefficients, NumberEstimator):
    """A linear model of a number: `sulq.LinearRegression` as an estimator.

    Args:
        epsilon: what one `fit` may spend. There is no default.
        target: the public bounds of y, as a pair. A number beyond is clamped.
        delta: δ, for an (ε, δ) promise.
        neighbours: "replace" (the number of rows is public) or "add-remove".
        bounds: the public bounds of numeric columns, as `sulq.sklearn` says.
        schema: instead of bounds, anything `sulq.open` takes for a schema.
        ledger: a file that remembers what was spent; by default each fit has a ledger in memory.

    >>> rng = np.random.default_rng(0)
    >>> people = rng.uniform(0, 10, size=(5000, 2))
    >>> model = LinearRegression(epsilon=1, delta=1e-6, target=(0, 10), bounds=(0, 10))
    >>> low, high = model.fit(people, people[:, 0]).predict([[2, 5], [8, 5]])
    >>> bool(abs(low - 2) < 1 and abs(high - 8) < 1), model.coef_.shape
    (True, (2,))
    >>> bool((model.coef_errors_ > 0).all()), model.coef_errors_.shape
    (True, (2,))
    """

    def __init__(
        self,
        *,
        epsilon: Any,
        target: Any = None,
        delta: Any = None,
        neighbours: Any = "replace",
        bounds: Any = None,
        schema: Any = None,
        ledger: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.target = target
        self.delta = delta
        self.neighbours = neighbours
        self.bounds = bounds
        self.schema = schema
        self.ledger = ledger

    def _learner(self, features: list[str], label: str) -> Linear:
        return Linear(label, features)


class LogisticRegression(Coefficients, LikelyClassifier):
    """A logistic model of a class: `sulq.LogisticRegression` as an estimator.

    Args:
        epsilon: what one `fit` may spend. There is no default.
        delta: δ, for an (ε, δ) promise.
        neighbours: "replace" (the number of rows is public) or "add-remove".
        bounds: the public bounds of numeric columns, as `sulq.sklearn` says.
        schema: instead of bounds, anything `sulq.open` takes for a schema.
        classes: the labels that a row could have, or "from y", as `sulq.sklearn` says.
        ledger: a file that remembers what was spent; by default each fit has a ledger in memory.
        steps: how often to ask for what is not yet explained, as in `sulq.LogisticRegression`.

    >>> rng = np.random.default_rng(0)
    >>> people = rng.uniform([0, 0], [100, 50_000], size=(5000, 2))
    >>> retired = np.where(people[:, 0] > 62.5, "yes", "no")
    >>> model = LogisticRegression(epsilon=1, bounds=[(0, 100), (0, 50_000)], classes=["no", "yes"])
    >>> model.fit(people, retired).predict([[20, 1000], [95, 1000]])
    array(['no', 'yes'], dtype='<U3')
    >>> model.coef_.shape, bool(model.coef_[0, 0] > 0)
    ((1, 2), True)
    """

    def __init__(
        self,
        *,
        epsilon: Any,
        delta: Any = None,
        neighbours: Any = "replace",
        bounds: Any = None,
        schema: Any = None,
        classes: Any = None,
        ledger: Any = None,
        steps: Any = Logistic.steps,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.neighbours = neighbours
        self.bounds = bounds
        self.schema = schema
        self.classes = classes
        self.ledger = ledger
        self.steps = steps

    def _learner(self, features: list[str], label: str) -> Logistic:
        return Logistic(label, features, **self._settings("steps"))


class NaiveBayes(Effects, LikelyClassifier):
    """Naive Bayes: `sulq.NaiveBayes` as an estimator.

    Args:
        epsilon: what one `fit` may spend. There is no default.
        delta: δ, for an (ε, δ) promise.
        neighbours: "replace" (the number of rows is public) or "add-remove".
        bounds: the public bounds of numeric columns, as `sulq.sklearn` says.
        schema: instead of bounds, anything `sulq.open` takes for a schema.
        classes: the labels that a row could have, or "from y", as `sulq.sklearn` says.
        ledger: a file that remembers what was spent; by default each fit has a ledger in memory.
        bins: a dict of public edges for numbers, by column.

    >>> rng = np.random.default_rng(0)
    >>> people = rng.uniform([0, 0], [100, 50_000], size=(5000, 2))
    >>> retired = np.where(people[:, 0] > 62.5, "yes", "no")
    >>> model = NaiveBayes(epsilon=1, bounds=[(0, 100), (0, 50_000)], classes=["no", "yes"])
    >>> model.fit(people, retired).predict([[30, 1000], [90, 1000]])
    array(['no', 'yes'], dtype='<U3')
    >>> bool(model.feature_importances_[0] > 0.7)
    True
    """

    def __init__(
        self,
        *,
        epsilon: Any,
        delta: Any = None,
        neighbours: Any = "replace",
        bounds: Any = None,
        schema: Any = None,
        classes: Any = None,
        ledger: Any = None,
        bins: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.neighbours = neighbours
        self.bounds = bounds
        self.schema = schema
        self.classes = classes
        self.ledger = ledger
        self.bins = bins

    def _learner(self, features: list[str], label: str) -> Bayes:
        return Bayes(label, features, bins=self.bins or {})
