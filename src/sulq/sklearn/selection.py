"""The classifier that is one private choice from a class of hypotheses."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sulq.classes.small import SmallConjunctions
from sulq.learners.select import Select
from sulq.schema import Boolean, Kind
from sulq.sklearn.classifiers import BinaryClassifier
from sulq.sklearn.estimator import plain


class SelectClassifier(BinaryClassifier):
    """A few conditions that tell two classes apart: `sulq.Select` from `sulq.classes.SmallConjunctions`.

    The conditions are that a number reaches an edge, that a category has a value, that a truth value is true,
    and the opposites of these. What is chosen is a conjunction of them or the opposite of one, so neither
    class is preferred. All of epsilon goes into one choice, so this classifier learns from less than other
    classifiers.

    Args:
        epsilon: what one `fit` may spend. There is no default.
        delta: δ, for an (ε, δ) promise.
        neighbours: "replace" (the number of rows is public) or "add-remove".
        bounds: the public bounds of numeric columns, as `sulq.sklearn` says.
        schema: instead of bounds, anything `sulq.open` takes for a schema.
        classes: the labels that a row could have, or "from y", as `sulq.sklearn` says.
        ledger: a file that remembers what was spent; by default each fit has a ledger in memory.
        size: how many conditions at most; 1 gives decision stumps.
        bins: into how many equal parts a number's bounds are divided, where `edges` has no edges for it.
        edges: a dict of public edges, by column.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> people = rng.uniform([0, 0], [100, 50_000], size=(5000, 2))
    >>> poor = (people[:, 0] >= 50) & (people[:, 1] < 25_000)
    >>> rule = SelectClassifier(epsilon=1, bounds=[(0, 100), (0, 50_000)], classes=[False, True])
    >>> rule.fit(people, poor).hypothesis_.describe()
    'x0 >= 50 and x1 < 25000'
    >>> rule.predict([[80, 10_000], [80, 40_000]])
    array([ True, False])
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
        size: Any = SmallConjunctions.most,
        bins: Any = SmallConjunctions.bins,
        edges: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.neighbours = neighbours
        self.bounds = bounds
        self.schema = schema
        self.classes = classes
        self.ledger = ledger
        self.size = size
        self.bins = bins
        self.edges = edges

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of every row of X: of rows one may see."""
        frame = self._frame(X)
        return np.asarray(self.classes_[self.hypothesis_.predict(frame).astype(np.intp)])

    def _label(self, codes: NDArray[np.int32], classes: list[str]) -> tuple[Any, Kind]:
        super()._label(codes, classes)
        return codes == 1, Boolean()

    def _learner(self, features: list[str], label: str) -> Select:
        small = SmallConjunctions(
            plain(self.size), features, opposites=True, bins=plain(self.bins), edges=self.edges or {}
        )
        return Select(small, label)
