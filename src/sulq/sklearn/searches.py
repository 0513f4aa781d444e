"""What a search or a cross-validation would spend, said before it starts."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from sklearn.base import clone, is_classifier
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import GridSearchCV, KFold, ParameterGrid
from sklearn.pipeline import FeatureUnion, Pipeline

from sulq.numbers import rational
from sulq.sklearn.estimator import Estimator, plain


def search_epsilon(search: Any, cv: Any = None) -> Fraction:
    """What a person loses at most by a search or a cross-validation: ε, summed over all fits that see them.

    With `KFold(k)` a person is in k − 1 of k training sets, so each candidate costs k − 1 times its
    epsilon, and the last fit on all rows, if there is one, costs the largest epsilon once more. Folds by
    place do not depend on what rows say. Other ways to deal rows may, as stratified folds do, and are
    refused. So are rows that come or go (neighbours="add-remove"), which shift all rows behind them into
    other folds, and whatever fits a private step as often as it likes, as bagging does.

    Where there is a delta, the deltas of as many fits add up too. What steps that are not private learn from
    rows is not in this sum. Scores are computed without noise: they are not private at any ε, and are not in
    this sum either.

    Args:
        search: a `GridSearchCV`, or an estimator or a pipeline that is given to `cross_val_score`.
        cv: for an estimator or a pipeline, the `KFold` that is given with it.

    >>> from sulq.sklearn import TreeClassifier
    >>> tree = TreeClassifier(epsilon=1, bounds=(0, 1), classes=[0, 1])
    >>> search_epsilon(GridSearchCV(tree, {"depth": [1, 2, 3]}, cv=KFold(5)))
    Fraction(13, 1)
    >>> search_epsilon(tree, cv=KFold(5))
    Fraction(4, 1)
    """
    if not isinstance(search, GridSearchCV):
        return _training_sets(search, cv) * _epsilon(search)
    if cv is not None:
        raise ValueError("a search within folds fits once for each pair of folds: add that up by yourself")
    grid = ParameterGrid(search.param_grid)
    each = [_epsilon(clone(search.estimator).set_params(**settings)) for settings in grid]
    return _training_sets(search, search.cv) * sum(each, Fraction(0)) + (
        max(each) if search.refit else Fraction(0)
    )


def _training_sets(search: Any, folds: Any) -> int:
    """In how many of the training sets a person is."""
    if type(folds) is int and not is_classifier(search):
        folds = KFold(folds)
    if type(folds) is not KFold:
        raise ValueError(
            "give cv=KFold(k): who is in which of other folds may depend on everybody's rows, as stratified "
            "folds do, and no sum of epsilons says what that costs"
        )
    return int(folds.get_n_splits()) - 1


def _epsilon(estimator: Any) -> Fraction:
    """What one fit costs: the sum over all private steps; a refusal if there are none."""
    spent = _summed(estimator)
    if spent == 0:
        raise ValueError(
            f"{type(estimator).__name__} has no private step: there is no epsilon that holds for it"
        )
    return spent


def _summed(step: Any) -> Fraction:
    if isinstance(step, Estimator):
        if step.neighbours != "replace":
            raise ValueError(
                'with neighbours="add-remove" a row that comes shifts others into other folds, and no sum of '
                'epsilons says what that costs: use neighbours="replace"'
            )
        return rational("epsilon", plain(step.epsilon))
    if isinstance(step, Pipeline):
        return sum((_summed(each) for _, each in step.steps), Fraction(0))
    if isinstance(step, ColumnTransformer):
        return sum((_summed(each) for _, each, _ in step.transformers), Fraction(0)) + _summed(step.remainder)
    if isinstance(step, FeatureUnion):
        return sum((_summed(each) for _, each in step.transformer_list), Fraction(0))
    parts = step.get_params(deep=True).values() if hasattr(step, "get_params") else ()
    if any(isinstance(part, Estimator) for part in parts):
        raise ValueError(
            f"{type(step).__name__} decides how often it fits what it is given: add that up by yourself, or "
            "use a pipeline"
        )
    return Fraction(0)
