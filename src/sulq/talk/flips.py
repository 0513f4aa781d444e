"""What is left to chance where labels are flipped: which of them were.

Every label is flipped by itself, with probability η. If one label moves a number by at most 1, the number
strays from its average over the flips as a sum of flips does at most: the steps of the martingale that
uncovers one flip after another are c·(F − η) with |c| ≤ 1, and those of a coin F of bias η are sub-Gaussian
with the variance σ² = (1 − 2η)/(2·ln((1 − η)/η)) (Kearns and Saul, "Large Deviation Methods for Approximate
Probabilistic Inference", 1998), which is at most 1/4.
"""

from __future__ import annotations

import math


def stray(rows: int, rate: float, beta: float) -> float:
    """How far above its average a number is, but for a chance of beta, if a label moves it by at most 1.

    As far below, for another beta. A count by `Denoised` is a sum over the labels divided by 1 − 2η, so it is
    this over 1 − 2η from the count over the right labels.

    >>> round(stray(10_000, 0.3, 0.05)), stray(10_000, 0, 0.05)
    (119, 0.0)
    """
    if rate == 0:
        return 0.0
    variance = (1 - 2 * rate) / (2 * math.log((1 - rate) / rate))
    return math.sqrt(2 * rows * variance * math.log(1 / beta))


def flattered(rows: int, values: int, rate: float) -> float:
    """How much an attribute's score, by majorities, is above (1 − 2η)·score + η·rows on average, at most.

    Let n rows have one value. Before the flips m of them have the majority's label, and after the flips X of
    them have the label "true". The majority is then n/2 + |X − n/2|. The mean of X is d = (1 − 2η)(m − n/2)
    away from n/2, and n/2 + d = (1 − 2η)·m + η·n. The variance of X is v = η(1 − η)·n, so |X − n/2| is on
    average at least d and at most √(d² + v) ≤ d + √v (Jensen's inequality, twice). Over all values the √v add
    up to at most √(η(1 − η)·rows·values) (Cauchy and Schwarz).

    >>> flattered(10_000, 4, 0.3) < 92 < flattered(10_000, 5000, 0.3)
    True
    """
    return math.sqrt(rate * (1 - rate) * rows * values)


def behind(rows: int, values: int, candidates: int, rate: float, beta: float, gap: float = 0.0) -> float:
    """How many rows fewer than the best attribute the one chosen by flipped labels gets right, at most.

    That is over the right labels, but for a chance of beta over the flips.

    A score s becomes (1 − 2η)·s + η·rows, flattered by nothing to `flattered`, and strays. The best attribute
    may have been flattered by nothing and stray downwards, the chosen one the opposite.

    Args:
        rows: how many rows the choice is about.
        values: how many values an attribute has, at most.
        candidates: how many attributes there are.
        rate: how often labels are flipped: η.
        beta: the chance of more than that.
        gap: the `radius` of the answer: how far the chosen score may be from the best over the labels as they
            are.

    >>> round(behind(100_000, 4, 10, 0.1, 0.05))
    1335
    """
    off = flattered(rows, values, rate) + 2 * stray(rows, rate, beta / candidates) + gap
    return off / (1 - 2 * rate)
