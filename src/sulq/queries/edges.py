"""Public edges between the bounds of a number, even or closer and closer towards 0, and their intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise


def near_zero(
    low: float, high: float, integers: bool, even: int, per_halving: int, halvings: int
) -> list[float]:
    """Edges that divide an interval evenly, and others that halve the distance to 0 again and again.

    Nothing is read off the data. Amounts, durations and readings are crowded near 0, where intervals of equal
    width do not cut them if the bounds are wide.

    Args:
        low: where the interval starts.
        high: where it ends, above `low`.
        integers: whether all numbers are whole.
        even: into how many intervals of equal width it is divided.
        per_halving: how many edges there are until the distance to 0 is halved.
        halvings: how many such edges there are on each side of 0.

    >>> near_zero(0.0, 64.0, False, even=4, per_halving=1, halvings=4)
    [4.0, 8.0, 16.0, 32.0, 48.0]
    >>> near_zero(-8.0, 8.0, True, even=2, per_halving=1, halvings=4)
    [-4.0, -2.0, -1.0, 0.0, 1.0, 2.0, 4.0]
    """
    edges = [low + (high - low) * place / even for place in range(1, even)]
    for end in (low, high):
        edges += [end * 2.0 ** (-place / per_halving) for place in range(1, halvings + 1)]
        edges += [math.copysign(1.0, end)] if integers else []
    if low < 0 < high:
        edges.append(0.0)
    if integers:
        edges = [float(math.ceil(edge)) for edge in edges]
    return sorted({edge for edge in edges if low < edge <= high})


def interval_names(edges: Sequence[str]) -> tuple[str, ...]:
    """What the intervals between edges are called.

    >>> interval_names(["18", "65"])
    ('below 18', '18 to 65', '65 and up')
    """
    return f"below {edges[0]}", *(f"{a} to {b}" for a, b in pairwise(edges)), f"{edges[-1]} and up"
