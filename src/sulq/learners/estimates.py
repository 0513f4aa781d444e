"""What can be made of noisy answers once they are paid for."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sulq.talk.answers import Answer
from sulq.talk.laws import Within

Floats = NDArray[np.float64]

ROUND = 0.8
"""The 1-norm of a row, as part of √d times its 2-norm, if its coordinates are from a bell curve: √(2/π)."""
RARE = 1e-4
"""The chance that one number is further off than `rarely_off` says."""
SPREAD = 1 / 6
"""One standard deviation as part of `rarely_off`: about √2/9.2 for Laplace noise, 1/3.9 for Gaussian."""


def shrunk(values: Floats, noise: float) -> Floats:
    """Numbers with noise of this deviation, drawn towards their average: less wrong, taken together.

    The positive-part estimate of James, Stein and Lindley: for more than three numbers its expected squared
    error is below that of the numbers themselves, whatever the truth is, for Gaussian noise.

    Args:
        values: the numbers; or several lists of numbers, each of which is drawn towards the average list.
        noise: one standard deviation of the noise in a number.

    >>> shrunk(np.array([1.0, 2.0, 3.0, 4.0, 5.0]), noise=1.0)
    array([1.4, 2.2, 3. , 3.8, 4.6])
    """
    middle = values.mean(axis=0)
    apart = values - middle
    free = max(0, len(values) - 3) * int(np.prod(values.shape[1:], dtype=int))
    return np.asarray(middle + kept(float((apart**2).sum()), free, noise) * apart)


def kept(squares: Any, free: int, noise: Any) -> Floats:
    """Which part of a difference to keep if some of it is noise: max(0, 1 − free·noise²/squares).

    Args:
        squares: the sum of the squares of the difference, or an array of such sums.
        free: in how many coordinates noise can move the difference.
        noise: one standard deviation of the noise in a coordinate, or an array of them.

    >>> kept(np.array([8.0, 1.0, 0.0]), 2, 1.0)
    array([0.75, 0.  , 0.  ])
    """
    some = np.where(squares > 0, squares, 1.0)
    return np.where(squares > 0, np.maximum(0.0, 1 - free * noise**2 / some), 0.0)


def rarely_off(answer: Answer) -> float:
    """How far off a single number of an answer is, but for a rare chance: what learners call its noise."""
    return float(np.max(answer.law.each(RARE)))


def usually_off(answer: Answer) -> float:
    """About one standard deviation of a single number of an answer.

    An adversary, who has no chance in it, may always be as far off as is allowed.
    """
    return float(answer.law.tolerance) if isinstance(answer.law, Within) else rarely_off(answer) * SPREAD


def certainly(counts: Answer) -> float:
    """How many rows there are at least, by counts of sets that share none, but for one standard deviation."""
    return float(np.sum(counts.value) - np.max(counts.deviation) * math.sqrt(np.size(counts.value)))
