"""What several fits spend together: said before by `search_epsilon`, and loudly while it happens."""

from __future__ import annotations

import threading
import warnings
from fractions import Fraction
from typing import Any

from sklearn.base import clone, is_classifier
from sklearn.model_selection import KFold, ParameterGrid

from sulq.numbers import amount, rational
from sulq.schema import Schema

_TALLY: dict[str, tuple[int, Fraction]] = {}
_LOCK = threading.Lock()


class SpendingWarning(UserWarning):
    """Several fits in this process learned from tables with the same columns: what they spent adds up.

    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", SpendingWarning)   # for who has added it up
    """


def tally(estimator: str, schema: Schema, spent: Fraction) -> None:
    """Count a fit; at the second, the fourth, the eighth and so on, say what all spent together.

    Tables are known by their columns: who is in them is not public.

    Args:
        estimator: what was fitted.
        schema: what is public about the columns.
        spent: what the fit may have spent.
    """
    with _LOCK:
        fits, total = _TALLY.get(schema.hash, (0, Fraction(0)))
        fits, total = fits + 1, total + spent
        _TALLY[schema.hash] = fits, total
    if fits > 1 and fits & (fits - 1) == 0:
        warnings.warn(
            f"{estimator}: {fits} fits in this process learned from tables with these columns. If they are "
            f"about the same people, what is published from all of them may cost them {amount(total)} in all "
            "and not what one fit costs. A ledger= would refuse that, and search_epsilon says it before",
            SpendingWarning,
            stacklevel=5,
        )


def search_epsilon(search: Any, cv: Any = None) -> Fraction:
    """What a person loses at most by a search or a cross-validation: ε, summed over all fits that see them.

    With `KFold(k)` a person is in k − 1 of k training sets, so each candidate costs k − 1 times its
    epsilon, and the last fit on all rows, if there is one, costs the largest epsilon once more. Folds by
    place do not depend on what rows say. Other ways to deal rows may, as stratified folds do, and are
    refused. Scores are computed without noise: they are not private at any ε, and are not in this sum.

    Args:
        search: a `GridSearchCV`, or an estimator that is given to `cross_val_score`.
        cv: for an estimator, the `KFold` that is given with it.

    >>> from sklearn.model_selection import GridSearchCV
    >>> from sulq.sklearn import TreeClassifier
    >>> tree = TreeClassifier(epsilon=1, bounds=(0, 1), classes=[0, 1])
    >>> search_epsilon(GridSearchCV(tree, {"depth": [1, 2, 3]}, cv=KFold(5)))
    Fraction(13, 1)
    >>> search_epsilon(tree, cv=KFold(5))
    Fraction(4, 1)
    """
    grid = getattr(search, "param_grid", None)
    folds = search.cv if grid is not None else cv
    if not isinstance(folds, KFold) and (is_classifier(search) or not isinstance(folds, int)):
        raise ValueError(
            "give cv=KFold(k): who is in which of other folds may depend on everybody's rows, as stratified "
            "folds do, and no sum of epsilons says what that costs"
        )
    seen = int(folds.get_n_splits() if isinstance(folds, KFold) else folds) - 1
    if grid is None:
        return seen * _epsilon(search)
    each = [_epsilon(clone(search.estimator).set_params(**settings)) for settings in ParameterGrid(grid)]
    return seen * sum(each, Fraction(0)) + (max(each) if search.refit else Fraction(0))


def _epsilon(estimator: Any) -> Fraction:
    """What one fit costs: the sum over all private steps."""
    steps = [estimator, *estimator.get_params(deep=True).values()]
    private = {id(step): step.epsilon for step in steps if hasattr(step, "epsilon")}
    return sum((rational("epsilon", _plain(epsilon)) for epsilon in private.values()), Fraction(0))


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value
