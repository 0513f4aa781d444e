"""Clusters: k-means."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin

from sulq.learners.kmeans import KMeans as Learner
from sulq.queries.vectors import features
from sulq.schema import Kind, Real
from sulq.sklearn.estimator import Estimator, plain
from sulq.sklearn.frames import kinds


class KMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, Estimator):
    """A few centres, and to each belong the rows nearest to it: `sulq.KMeans` as an estimator.

    The bounds of every column are scaled to [−1, 1], and distances are measured there; `cluster_centers_` are
    in the columns' own units. There is no `labels_`: it would keep something about every row, and `predict`
    gives the same.

    Args:
        epsilon: what one `fit` may spend. There is no default.
        n_clusters: how many centres.
        delta: δ, for an (ε, δ) promise.
        neighbours: "replace" (the number of rows is public) or "add-remove".
        bounds: the public bounds of numeric columns, as `sulq.sklearn` says.
        schema: instead of bounds, anything `sulq.open` takes for a schema.
        ledger: a file that remembers what was spent; by default each fit has a ledger in memory.
        iterations: how many steps at most, after the start.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> people = rng.normal([[20, 1.5]] * 10_000 + [[60, 2.5]] * 10_000, 0.1)
    >>> kmeans = KMeans(n_clusters=2, epsilon=1, bounds=[(0, 100), (1, 3)]).fit(people)
    >>> young, old = kmeans.predict([[20, 1.5], [60, 2.5]])
    >>> abs(kmeans.cluster_centers_[young] - [20, 1.5]) < [5, 0.2]
    array([ True,  True])
    """

    def __init__(
        self,
        *,
        epsilon: Any,
        n_clusters: Any = 8,
        delta: Any = None,
        neighbours: Any = "replace",
        bounds: Any = None,
        schema: Any = None,
        ledger: Any = None,
        iterations: Any = 2,
    ) -> None:
        self.epsilon = epsilon
        self.n_clusters = n_clusters
        self.delta = delta
        self.neighbours = neighbours
        self.bounds = bounds
        self.schema = schema
        self.ledger = ledger
        self.iterations = iterations

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from the rows of X. Spends epsilon. `y` is not looked at."""
        frame, schema = self._opened(X)
        learner = Learner(plain(self.n_clusters), list(schema.attributes), **self._settings("iterations"))
        self.hypothesis_ = self._learned(learner, frame, schema)
        self.cluster_centers_ = np.array(self.hypothesis_.natural)
        return self

    def fit_predict(self, X: Any, y: Any = None) -> NDArray[np.int32]:
        """Learn from rows that one may see, and say which cluster each of them is in."""
        return self.fit(X).predict(X)

    def predict(self, X: Any) -> NDArray[np.int32]:
        """The number of the cluster of every row of X: of rows one may see."""
        frame = self._frame(X)
        return np.asarray(self.hypothesis_.predict(frame), dtype=np.int32)

    def transform(self, X: Any) -> NDArray[np.float64]:
        """How far every row of X is from each centre, with all bounds scaled to [−1, 1]."""
        frame = self._frame(X)
        learned = self.hypothesis_
        rows = self._values(features(*learned.features), frame).reshape(-1, len(learned.features))
        return np.stack([np.linalg.norm(rows - centre, axis=1) for centre in learned.centres], axis=1)

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    def _kinds(self, names: list[str], columns: list[Any]) -> dict[str, Kind]:
        return kinds(names, columns, self.bounds, Real(0, 1))
