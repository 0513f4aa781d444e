"""One of very many candidates, with exactly the law of `sulq.privacy.selection`, in less time and memory.

A candidate with a gap below the best shows heads with probability exp(−γ·gap), the product of exp(−γ·2ⁱ) over
the binary digits of the gap. So it is tossed a coin for each of its digits, the largest first, until one
shows tails. Nearly all candidates are far behind and fall at the first coin, which takes one random byte. How
long it takes depends on how many are not.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sulq.privacy.coins import Coin, toss, uniform
from sulq.privacy.selection import ExponentialMechanism, Selection

AT_ONCE = 2**20
"""How many candidates are tossed for at once."""


def choose(mechanism: Selection, scores: NDArray[np.signedinteger[Any]]) -> int:
    """The index of the candidate that the mechanism chooses. Differences of scores must fit their type.

    >>> from sulq.privacy.selection import PermuteAndFlip
    >>> choose(PermuteAndFlip(epsilon=1, sensitivity=1), np.array([0, 1000, 0]))
    1
    """
    scale = (1 if mechanism.monotone else 2) * mechanism.sensitivity / mechanism.epsilon
    best = scores.max()
    if isinstance(mechanism, ExponentialMechanism):
        while True:
            # Candidates are drawn with replacement, and the first to show heads is chosen.
            drawn = uniform(scores.size, min(scores.size, AT_ONCE))
            accepted = heads(scale, best - scores[drawn])
            if accepted.size:
                return int(drawn[accepted[0]])
    starts = range(0, scores.size, AT_ONCE)
    accepted_in = [start + heads(scale, best - scores[start : start + AT_ONCE]) for start in starts]
    candidates = np.concatenate(accepted_in)
    return int(candidates[uniform(candidates.size, 1)[0]])


def heads(scale: Fraction, gaps: NDArray[np.signedinteger[Any]]) -> NDArray[np.int64]:
    """Where an independent coin of bias exp(−gap/scale) shows heads, in increasing order.

    >>> heads(Fraction(1, 100), np.array([0, 3, 0])).tolist()
    [0, 2]
    """
    left = np.arange(gaps.size)
    for digit in reversed(range(int(gaps.max(initial=0)).bit_length())):
        tossed = (gaps[left] >> digit) & 1 == 1
        tossed[tossed] = ~toss(Coin(1, 0, 2**digit / scale), int(np.count_nonzero(tossed)))
        left = left[~tossed]
    return left
