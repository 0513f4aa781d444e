"""What all regressors have in common: y is one more column, between public bounds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from sulq.learners.learner import Learner
from sulq.schema import Real, Schema
from sulq.sklearn.estimator import Estimator
from sulq.sklearn.importances import importance, parts
from sulq.sklearn.labels import numbers_of


class NumberEstimator(RegressorMixin, Estimator, ABC):
    """The base of the regressors: the number is one more column."""

    target: Any

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from the rows of X and their numbers. Spends epsilon."""
        frame, schema = self._opened(X)
        numbers = numbers_of(y, len(next(iter(frame.values()))), type(self).__name__)
        if self.target is None:
            raise ValueError("between which bounds y lies is a public fact: give target=(low, high)")
        label = "y"
        while label in frame or label in schema:
            label += "_"
        low, high = self.target
        whole = Schema({**schema, label: Real(low, high)}, schema.unit)
        learner = self._learner(list(schema.attributes), label)
        self.hypothesis_ = self._learned(learner, {**frame, label: numbers}, whole)
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The number to expect of every row of X: of rows one may see."""
        frame = self._frame(X)
        return np.asarray(self.hypothesis_.predict(frame), dtype=np.float64).reshape(-1)

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """How much each column matters to what was learned, as a part of all; all 0 if none does."""
        return parts(importance(self.hypothesis_), self._names)

    @abstractmethod
    def _learner(self, features: list[str], label: str) -> Learner[Any]:
        """The learner with the parameters that were given."""
