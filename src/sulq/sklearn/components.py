"""Directions: principal components and singular vectors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from sulq.learners import components as learners
from sulq.schema import Kind, Real, Schema
from sulq.sklearn.estimator import Estimator, plain
from sulq.sklearn.frames import kinds


class Projection(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator, ABC):
    """The base of both: rows are moved by a mean and laid along a few directions."""

    n_components: Any
    norm: Any

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from the rows of X. Spends epsilon. `y` is not looked at."""
        frame, schema = self._opened(X)
        learned = self._learned(self._learner(schema), frame, schema)
        self.hypothesis_ = learned
        self.components_ = np.array(learned.directions)
        self.mean_ = np.array(learned.mean)
        self.explained_variance_ = np.array(learned.variances)
        self.explained_variance_ratio_ = np.array(learned.shares)
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """The coordinates of every row of X along the directions: of rows one may see."""
        frame = self._frame(X)
        return np.asarray(self.hypothesis_.transform(frame))

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    @abstractmethod
    def _learner(self, schema: Schema) -> learners.PCA | learners.SVD:
        """The learner with the parameters that were given."""

    def _kinds(self, names: list[str], columns: list[Any]) -> dict[str, Kind]:
        return kinds(names, columns, self.bounds, Real(0, 1))


class PCA(Projection):
    """Principal components: `sulq.PCA` as an estimator.

    The bounds of every column are scaled to [−1, 1] first, and all results are in these units: `transform`
    gives (scaled row − `mean_`) · `components_`ᵀ, and `explained_variance_` is the mean square of that, of
    rows no longer than `norm`. Both are noisy, so the mean of transformed rows is not exactly 0.

    Args:
        epsilon: what one `fit` may spend. There is no default.
        n_components: how many components, by default one for each column.
        delta: δ, for an (ε, δ) promise.
        neighbours: "replace" (the number of rows is public) or "add-remove".
        bounds: the public bounds of numeric columns, as `sulq.sklearn` says.
        schema: instead of bounds, anything `sulq.open` takes for a schema.
        ledger: a file that remembers what was spent; by default each fit has a ledger in memory.
        norm: rows longer than this are shortened to it, as in `sulq.PCA`.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> size = rng.normal(size=(5000, 1))
    >>> people = np.hstack([170 + 7 * size, 70 + 7 * size + rng.normal(size=(5000, 1))])
    >>> pca = PCA(n_components=1, epsilon=1, bounds=[(150, 190), (50, 90)]).fit(people)
    >>> pca.components_.round(1)
    array([[0.7, 0.7]])
    >>> abs(pca.transform([[170, 70], [190, 90]])).round()
    array([[0.],
           [1.]])
    """

    def __init__(
        self,
        *,
        epsilon: Any,
        n_components: Any = None,
        delta: Any = None,
        neighbours: Any = "replace",
        bounds: Any = None,
        schema: Any = None,
        ledger: Any = None,
        norm: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.n_components = n_components
        self.delta = delta
        self.neighbours = neighbours
        self.bounds = bounds
        self.schema = schema
        self.ledger = ledger
        self.norm = norm

    def _learner(self, schema: Schema) -> learners.PCA:
        names = list(schema.attributes)
        components = len(names) if self.n_components is None else plain(self.n_components)
        return learners.PCA(components, names, norm=plain(self.norm))


class TruncatedSVD(Projection):
    """Singular vectors, which are principal components without a mean: `sulq.SVD` as an estimator.

    The bounds of every column are scaled to [−1, 1] first, and all results are in these units: `transform`
    gives scaled row · `components_`ᵀ, and `explained_variance_` is the mean square of that, of rows no longer
    than `norm` and with noise. `mean_` is zero.

    Args:
        epsilon: what one `fit` may spend. There is no default.
        n_components: how many vectors.
        delta: δ, for an (ε, δ) promise.
        neighbours: "replace" (the number of rows is public) or "add-remove".
        bounds: the public bounds of numeric columns, as `sulq.sklearn` says.
        schema: instead of bounds, anything `sulq.open` takes for a schema.
        ledger: a file that remembers what was spent; by default each fit has a ledger in memory.
        norm: rows longer than this are shortened to it, as in `sulq.SVD`.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> people = rng.normal([[0.5, -0.5]] * 5000, 0.1)
    >>> svd = TruncatedSVD(n_components=1, epsilon=1, bounds=(-1, 1)).fit(people)
    >>> abs(svd.components_).round(1)
    array([[0.7, 0.7]])
    """

    def __init__(
        self,
        *,
        epsilon: Any,
        n_components: Any = 2,
        delta: Any = None,
        neighbours: Any = "replace",
        bounds: Any = None,
        schema: Any = None,
        ledger: Any = None,
        norm: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.n_components = n_components
        self.delta = delta
        self.neighbours = neighbours
        self.bounds = bounds
        self.schema = schema
        self.ledger = ledger
        self.norm = norm

    def _learner(self, schema: Schema) -> learners.SVD:
        return learners.SVD(plain(self.n_components), list(schema.attributes), norm=plain(self.norm))
