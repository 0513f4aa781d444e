"""How surprising a frequency is."""

from __future__ import annotations

import math


def surprise(count: int, n: int, chance: float) -> float:
    """By Chernoff's bound, a share this far off or farther, on this side, has a chance of at most exp(−surprise)."""
    share = count / n
    if not 0 < chance < 1:
        return 0.0 if share == chance else math.inf
    parts = ((share, chance), (1 - share, 1 - chance))
    return n * sum(p * math.log(p / q) for p, q in parts if p > 0)
