"""Estimated frequencies or counts made into such: not negative, and adding up.

An estimate without bias has negative numbers in it, and what is rare drowns in noise. The nearest point that
could be a vector of frequencies has a smaller squared error, always, because those points are a convex set
that the truth is in. It has a bias: do not average such vectors, average first.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def nearest_distribution(estimate: ArrayLike, whole: float = 1.0) -> NDArray[np.float64]:
    """The frequencies, or counts with a known sum, nearest to an estimate in the 2-norm.

    The same number is subtracted from all of them, and what falls below 0 becomes 0. The number is such that
    the rest add up to the whole. Sorted, the first j stay above 0, for the largest j whose smallest one
    exceeds what each of j would have to give up.

    Args:
        estimate: the estimated frequencies or counts.
        whole: what they add up to: 1 for frequencies.

    >>> nearest_distribution([0.75, 0.5, -0.25]).tolist()
    [0.625, 0.375, 0.0]
    """
    numbers = np.asarray(estimate, dtype=np.float64)
    # The same for all changes nothing but the rounding: beside the largest number, the whole may be nothing.
    numbers = numbers - numbers.max()
    falling = np.sort(numbers, axis=None)[::-1]
    given_up = (np.cumsum(falling) - whole) / np.arange(1, numbers.size + 1)
    staying = np.flatnonzero(falling > given_up)[-1]
    return np.asarray(np.maximum(numbers - given_up[staying], 0.0))
