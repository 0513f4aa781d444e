"""Classes by scores: the class with the largest score, and how likely each class is."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sulq.effects.logistic import logistic
from sulq.queries.codes import Cross, Nearest
from sulq.queries.lookups import Lookup
from sulq.queries.node import Node

FAR = 64.0
"""Further than any score that makes a difference."""


def chosen(score: Node, width: int) -> Node:
    """Which class has the largest score, as a row expression: a truth value where there is one score.

    Args:
        score: the log-odds of the second of two classes, or of each of more.
        width: how many scores there are.
    """
    if width == 1:
        return score > 0
    # Of equally long vectors in the directions of the axes, the nearest is that of the largest number.
    centres = tuple(tuple(FAR * (i == j) for j in range(width)) for i in range(width))
    return Nearest(score, centres)


def differs(choice: Node, truth: Node, size: int, others: bool = False) -> Node:
    """Whether a class is not the true one, as a row expression.

    Args:
        choice: the class that is said, as `chosen` says it.
        truth: the true class.
        size: how many classes there are.
        others: whether the truth may also be none of them, which is never said.
    """
    different = tuple((int(i != j),) for i in range(size) for j in range(size + others))
    return Lookup(Cross((choice, truth)), different)


def likelihoods(scores: NDArray[Any], width: int) -> NDArray[np.float64]:
    """How likely each class is: a row for each row of scores, a column for each class.

    Args:
        scores: the log-odds of the second of two classes, or of each of more.
        width: how many scores a row has.

    >>> likelihoods(np.array([0.0, 1.0]), 1).round(3).tolist()
    [[0.5, 0.5], [0.269, 0.731]]
    """
    likely = logistic(np.asarray(scores, dtype=np.float64))
    if width == 1:
        likely = likely.reshape(-1)
        return np.stack([1 - likely, likely], axis=1)
    return np.asarray(likely / likely.sum(axis=1, keepdims=True))
