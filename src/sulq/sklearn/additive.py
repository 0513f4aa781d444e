"""Additive models: a classifier with probabilities, and a regressor."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sulq.learners.additive import Additive
from sulq.schema import Kind
from sulq.sklearn.classifiers import ClassEstimator
from sulq.sklearn.estimator import Estimator
from sulq.sklearn.numbers import NumberEstimator


class Effects(Estimator):
    """What those with effects of columns have in common."""

    bins: Any
    refinements: Any

    def _additive(self, features: list[str], label: str) -> Additive:
        return Additive(label, features, bins=self.bins or {}, **self._settings("refinements"))


class LikelyClassifier(ClassEstimator):
    """The base of classifiers that say how likely each class is."""

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """How likely each class is, in the order of `classes_`, for every row of X: of rows one may see."""
        frame = self._frame(X)
        return np.asarray(self.hypothesis_.predict_proba(frame))

    def _label(self, codes: NDArray[np.int32], classes: list[str]) -> tuple[Any, Kind]:
        if len(classes) == 1:
            raise ValueError("two classes are needed, and there is one class only")
        return super()._label(codes, classes)


class AdditiveClassifier(Effects, LikelyClassifier):
    """An additive model of a class: `sulq.Additive` as an estimator.

    Args:
        epsilon: what one `fit` may spend. There is no default.
        delta: δ, for an (ε, δ) promise.
        neighbours: "replace" (the number of rows is public) or "add-remove".
        bounds: the public bounds of numeric columns, as `sulq.sklearn` says.
        schema: instead of bounds, anything `sulq.open` takes for a schema.
        classes: the labels that a row could have, or "from y", as `sulq.sklearn` says.
        ledger: a file that remembers what was spent; by default each fit has a ledger in memory.
        bins: a dict of public edges for numbers, by column.
        refinements: how often to ask for what is not yet explained, as in `sulq.Additive`.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> people = rng.uniform([0, 0], [100, 50_000], size=(5000, 2))
    >>> retired = np.where(people[:, 0] > 62.5, "yes", "no")
    >>> model = AdditiveClassifier(epsilon=1, bounds=[(0, 100), (0, 50_000)], classes=["no", "yes"])
    >>> model.fit(people, retired).predict([[30, 1000], [90, 1000]])
    array(['no', 'yes'], dtype='<U3')
    >>> bool(model.predict_proba([[90, 1000]])[0, 1] > 0.7)
    True
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
        refinements: Any = Additive.refinements,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.neighbours = neighbours
        self.bounds = bounds
        self.schema = schema
        self.classes = classes
        self.ledger = ledger
        self.bins = bins
        self.refinements = refinements

    def _learner(self, features: list[str], label: str) -> Additive:
        return self._additive(features, label)


class AdditiveRegressor(NumberEstimator, Effects):
    """An additive model of a number: `sulq.Additive` as an estimator.

    Args:
        epsilon: what one `fit` may spend. There is no default.
        target: the public bounds of y, as a pair. A number beyond is clamped.
        delta: δ, for an (ε, δ) promise.
        neighbours: "replace" (the number of rows is public) or "add-remove".
        bounds: the public bounds of numeric columns, as `sulq.sklearn` says.
        schema: instead of bounds, anything `sulq.open` takes for a schema.
        ledger: a file that remembers what was spent; by default each fit has a ledger in memory.
        bins: a dict of public edges for numbers, by column.
        refinements: how often to ask for what is not yet explained, as in `sulq.Additive`.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> people = rng.uniform(0, 10, size=(5000, 2))
    >>> model = AdditiveRegressor(epsilon=1, delta=1e-6, target=(0, 10), bounds=(0, 10))
    >>> low, high = model.fit(people, people[:, 0]).predict([[2, 5], [8, 5]])
    >>> bool(low < 4 and high > 6)
    True
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
        bins: Any = None,
        refinements: Any = Additive.refinements,
    ) -> None:
        self.epsilon = epsilon
        self.target = target
        self.delta = delta
        self.neighbours = neighbours
        self.bounds = bounds
        self.schema = schema
        self.ledger = ledger
        self.bins = bins
        self.refinements = refinements

    def _learner(self, features: list[str], label: str) -> Additive:
        return self._additive(features, label)
