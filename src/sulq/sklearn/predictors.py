"""The default of classification and of regression: whichever learner fits rows, columns and budget."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sulq.learners import classifier, regressor
from sulq.schema import Kind
from sulq.sklearn.classifiers import ClassEstimator
from sulq.sklearn.numbers import NumberEstimator


class Classifier(ClassEstimator):
    """Predicts a class by whichever learner fits: `sulq.Classifier` as an estimator.

    `chosen_` says which learner was chosen, and why.

    Args:
        epsilon: what one `fit` may spend. There is no default.
        delta: δ, for an (ε, δ) promise.
        neighbours: "replace" (the number of rows is public) or "add-remove".
        bounds: the public bounds of numeric columns, as `sulq.sklearn` says.
        schema: instead of bounds, anything `sulq.open` takes for a schema.
        classes: the labels that a row could have, or "from y", as `sulq.sklearn` says.
        ledger: a file that remembers what was spent; by default each fit has a ledger in memory.
        bins: a dict of public edges for numbers, by column.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> people = rng.uniform([0, 0], [100, 50_000], size=(20_000, 2))
    >>> retired = np.where(people[:, 0] > 62.5, "yes", "no")
    >>> model = Classifier(epsilon=1, bounds=[(0, 100), (0, 50_000)], classes=["no", "yes"])
    >>> model.fit(people, retired).predict([[30, 1000], [90, 1000]])
    array(['no', 'yes'], dtype='<U3')
    >>> model.chosen_.partition(",")[0]
    'an additive model with a small tree'
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

    @property
    def chosen_(self) -> str:
        """Which learner was chosen, and why."""
        return str(self.hypothesis_.origin.chosen)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """How likely each class is, in the order of `classes_`, for every row of X: of rows one may see."""
        frame = self._frame(X)
        return np.asarray(self.hypothesis_.predict_proba(frame))

    def _label(self, codes: NDArray[np.int32], classes: list[str]) -> tuple[Any, Kind]:
        if len(classes) == 1:
            raise ValueError("two classes are needed, and there is one class only")
        return super()._label(codes, classes)

    def _learner(self, features: list[str], label: str) -> classifier.Classifier:
        return classifier.Classifier(label, features, bins=self.bins or {})


class Regressor(NumberEstimator):
    """Predicts a number by whichever learner fits: `sulq.Regressor` as an estimator.

    `chosen_` says which learner was chosen, and why.

    Args:
        epsilon: what one `fit` may spend. There is no default.
        target: the public bounds of y, as a pair. A number beyond is clamped.
        delta: δ, for an (ε, δ) promise.
        neighbours: "replace" (the number of rows is public) or "add-remove".
        bounds: the public bounds of numeric columns, as `sulq.sklearn` says.
        schema: instead of bounds, anything `sulq.open` takes for a schema.
        ledger: a file that remembers what was spent; by default each fit has a ledger in memory.
        bins: a dict of public edges for numbers, by column.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> people = rng.uniform(0, 10, size=(5000, 2))
    >>> model = Regressor(epsilon=1, delta=1e-6, target=(0, 10), bounds=(0, 10))
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
    ) -> None:
        self.epsilon = epsilon
        self.target = target
        self.delta = delta
        self.neighbours = neighbours
        self.bounds = bounds
        self.schema = schema
        self.ledger = ledger
        self.bins = bins

    @property
    def chosen_(self) -> str:
        """Which learner was chosen, and why."""
        return str(self.hypothesis_.origin.chosen)

    def _learner(self, features: list[str], label: str) -> regressor.Regressor:
        return regressor.Regressor(label, features, bins=self.bins or {})
