"""The classifier that is a conjunction of truth values."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sulq.learners.conjunction import Conjunction
from sulq.schema import Boolean, Kind
from sulq.sklearn.classifiers import BinaryClassifier


class ConjunctionClassifier(BinaryClassifier):
    """A conjunction of truth values: `sulq.Conjunction` as an estimator.

    Every column of X is read as true or false, so there are no bounds; a number is true unless it is 0. The
    second of the two classes, in order, is that of the rows where the conjunction holds. The rule is as good
    as epsilon allows.

    Args:
        epsilon: what one `fit` may spend. There is no default.
        delta: δ, for an (ε, δ) promise.
        neighbours: "replace" (the number of rows is public) or "add-remove".
        schema: anything `sulq.open` takes for a schema.
        classes: the two labels that a row could have, or "from y", as `sulq.sklearn` says.
        ledger: a file that remembers what was spent; by default each fit has a ledger in memory.
        error: on which part of the rows the rule may be wrong.
        negations: consider the opposite of every column too.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> symptoms = rng.random((5000, 3)) < 0.7
    >>> flu = symptoms[:, 0] & symptoms[:, 2]
    >>> rule = ConjunctionClassifier(epsilon=1, classes=[False, True]).fit(symptoms, flu)
    >>> rule.hypothesis_.describe()
    'x0 and x2'
    >>> rule.predict([[True, False, True], [False, True, True]])
    array([ True, False])
    """

    def __init__(
        self,
        *,
        epsilon: Any,
        delta: Any = None,
        neighbours: Any = "replace",
        schema: Any = None,
        classes: Any = None,
        ledger: Any = None,
        error: Any = 0.1,
        negations: Any = Conjunction.negations,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.neighbours = neighbours
        self.schema = schema
        self.classes = classes
        self.ledger = ledger
        self.error = error
        self.negations = negations

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # What is measured on are numbers, all of which are true.
        tags.classifier_tags.poor_score = True
        return tags

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of every row of X: of rows one may see."""
        frame = self._frame(X)
        return np.asarray(self.classes_[self.hypothesis_.predict(frame).astype(np.intp)])

    def _kinds(self, names: list[str], columns: list[Any]) -> dict[str, Kind]:
        return {name: Boolean() for name in names}

    def _label(self, codes: NDArray[np.int32], classes: list[str]) -> tuple[Any, Kind]:
        super()._label(codes, classes)
        return codes == 1, Boolean()

    def _learner(self, features: list[str], label: str) -> Conjunction:
        return Conjunction(label, features, share=1, **self._settings("error", "negations"))
