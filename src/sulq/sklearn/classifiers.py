"""Classifiers: what they have in common, decision trees and halfspaces."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from sulq.learners.id3 import ID3
from sulq.learners.learner import Learner
from sulq.learners.perceptron import Perceptron
from sulq.learners.select import Select
from sulq.schema import Category, Kind, Schema, text
from sulq.sklearn.estimator import Estimator
from sulq.sklearn.importances import importance, parts
from sulq.sklearn.labels import classes_of, codes_of, labels_of


class ClassEstimator(ClassifierMixin, Estimator, ABC):
    """The base of the classifiers: the label is one more column."""

    classes: Any

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from the rows of X and their labels. Spends epsilon."""
        frame, schema = self._opened(X)
        labels = labels_of(y, len(next(iter(frame.values()))), type(self).__name__)
        classes = classes_of(self.classes, labels)
        label = "y"
        while label in frame or label in schema:
            label += "_"
        learner = self._learner(list(schema.attributes), label)
        column, kind = self._label(codes_of(labels, classes), [text(value) for value in classes.tolist()])
        whole = Schema({**schema, label: kind}, schema.unit)
        self.hypothesis_ = self._learned(learner, {**frame, label: column}, whole)
        self.classes_ = classes
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of every row of X: of rows one may see."""
        frame = self._frame(X)
        predicted = self.hypothesis_.predict(frame)
        texts = np.array([text(value) for value in self.classes_.tolist()])
        order = np.argsort(texts)
        return np.asarray(self.classes_[order[np.searchsorted(texts, predicted, sorter=order)]])

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """How much each column matters to what was learned, as a part of all; all 0 if none does."""
        return parts(importance(self.hypothesis_), self._names)

    @abstractmethod
    def _learner(self, features: list[str], label: str) -> Learner[Any] | Select:
        """The learner with the parameters that were given."""

    def _label(self, codes: NDArray[np.int32], classes: list[str]) -> tuple[Any, Kind]:
        """The column of labels, and what is public about it."""
        return pa.DictionaryArray.from_arrays(codes, pa.array(classes)), Category(tuple(classes), classes[0])


class BinaryClassifier(ClassEstimator):
    """The base of those that know two classes only. The second, in order, counts as true."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _label(self, codes: NDArray[np.int32], classes: list[str]) -> tuple[Any, Kind]:
        if len(classes) == 1:
            raise ValueError("two classes are needed, and there is one class only")
        if len(classes) > 2:
            # In the words that scikit-learn's own checks look for.
            raise ValueError("Only binary classification is supported. The type of the target is multiclass.")
        return super()._label(codes, classes)


class TreeClassifier(ClassEstimator):
    """A decision tree: `sulq.ID3` as an estimator.

    Args:
        epsilon: what one `fit` may spend. There is no default.
        delta: δ, for an (ε, δ) promise.
        neighbours: "replace" (the number of rows is public) or "add-remove".
        bounds: the public bounds of numeric columns, as `sulq.sklearn` says.
        schema: instead of bounds, anything `sulq.open` takes for a schema.
        classes: the labels that a row could have, or "from y", as `sulq.sklearn` says.
        ledger: a file that remembers what was spent; by default each fit has a ledger in memory.
        depth: how many questions lead to an end, at most.
        pick: how a question is picked: "choose" or "counts", as in `sulq.ID3`.
        split: "multiway" or "binary" questions, as in `sulq.ID3`.
        ahead: how many questions the first choice picks together.
        bins: a dict of public edges for numbers, by column.
        prune: how many standard deviations a label must lead by, as in `sulq.ID3`.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> people = rng.uniform([0, 0], [100, 50_000], size=(2000, 2))
    >>> retired = np.where(people[:, 0] > 62.5, "yes", "no")
    >>> tree = TreeClassifier(epsilon=1, bounds=[(0, 100), (0, 50_000)], classes=["no", "yes"], depth=1)
    >>> tree.fit(people, retired).predict([[30, 1000], [80, 1000]])
    array(['no', 'yes'], dtype='<U3')
    >>> tree.hypothesis_.origin.promise
    'ε = 1 (pure)'
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
        depth: Any = ID3.depth,
        pick: Any = ID3.pick,
        split: Any = ID3.split,
        ahead: Any = ID3.ahead,
        bins: Any = None,
        prune: Any = ID3.prune,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.neighbours = neighbours
        self.bounds = bounds
        self.schema = schema
        self.classes = classes
        self.ledger = ledger
        self.depth = depth
        self.pick = pick
        self.split = split
        self.ahead = ahead
        self.bins = bins
        self.prune = prune

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The shares of the classes, in the order of `classes_`, among rows like each row of X.

        They come from the noisy counts at the ends: see `sulq.hypotheses.Tree.predict_proba`.
        """
        frame = self._frame(X)
        return np.asarray(self.hypothesis_.predict_proba(frame))

    def _learner(self, features: list[str], label: str) -> ID3:
        settings = self._settings("depth", "pick", "split", "ahead", "prune")
        return ID3(label, features, bins=self.bins or {}, **settings)


class PerceptronClassifier(BinaryClassifier):
    """A halfspace: `sulq.Perceptron` as an estimator.

    Args:
        epsilon: what one `fit` may spend. There is no default.
        delta: δ, for an (ε, δ) promise.
        neighbours: "replace" (the number of rows is public) or "add-remove".
        bounds: the public bounds of numeric columns, as `sulq.sklearn` says.
        schema: instead of bounds, anything `sulq.open` takes for a schema.
        classes: the two labels that a row could have, or "from y", as `sulq.sklearn` says.
        ledger: a file that remembers what was spent; by default each fit has a ledger in memory.
        iterations: how many corrections at most; by default noise decides.
        norm: rows longer than this are shortened to it before they are summed.
        keep: which halfspace to return: "last", "average" or "best", as in `sulq.Perceptron`.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> people = rng.uniform(0, 10, size=(20_000, 2))
    >>> older = people[:, 0] > people[:, 1]
    >>> people[:, 0] += np.where(older, 1, -1)
    >>> perceptron = PerceptronClassifier(epsilon=1, bounds=(-1, 11), classes=[False, True], keep="best")
    >>> perceptron.fit(people, older).predict([[1.0, 9.0], [9.0, 1.0]])
    array([False,  True])
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
        iterations: Any = Perceptron.iterations,
        norm: Any = Perceptron.norm,
        keep: Any = Perceptron.keep,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.neighbours = neighbours
        self.bounds = bounds
        self.schema = schema
        self.classes = classes
        self.ledger = ledger
        self.iterations = iterations
        self.norm = norm
        self.keep = keep

    @property
    def coef_names_(self) -> list[str]:
        """What the coefficients belong to: columns, and values of categories."""
        return list(self.hypothesis_.names)

    @property
    def coef_(self) -> NDArray[np.float64]:
        """The weights, in a single row, with the bounds of a number scaled to [−1, 1]."""
        return np.array([self.hypothesis_.weights])

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """What is added to the weighted sum."""
        return np.array([self.hypothesis_.intercept])

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """The size of each column's weight, or of a category's largest one, as a part of all."""
        learned, sizes = self.hypothesis_, dict[str, float]()
        for (name, _), weight in zip(learned.weighed, learned.weights, strict=True):
            sizes[name] = max(sizes.get(name, 0.0), abs(weight))
        return parts(sizes, self._names)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """How far on the side of the second class a row is, with every feature scaled to [−1, 1]."""
        frame = self._frame(X)
        return self._values(self.hypothesis_.margin, frame)

    def _learner(self, features: list[str], label: str) -> Perceptron:
        return Perceptron(label, features, **self._settings("iterations", "norm", "keep"))
