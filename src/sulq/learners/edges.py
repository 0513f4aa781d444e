"""Public edges to count between, for quantiles: they follow from a column's bounds alone."""

from __future__ import annotations

import math

MOST_INTERVALS = 4096
FEWEST_INTERVALS = 64
OCTAVES = 16
"""How often the distance to 0 is halved: amounts of money and the like are crowded there."""
TINY = 1e-200
"""No constant of an expression is smaller, but for 0."""
DEEPER = (64, 513)
"""From so many intervals on, counts of coarser intervals pay: one level of them, then two. It makes the rows
below an edge most certain where noise is Laplace's, which pays for each level what the others lose."""


def quantile_edges(low: float, high: float, integers: bool, most: int = MOST_INTERVALS) -> tuple[float, ...]:
    """Edges between a column's bounds: at all whole numbers if they are few, else close together near 0.

    Half of the intervals are equally wide. The others are in the part nearest to 0, an eighth of the column,
    where with each halving of the distance to 0 the intervals become half as wide. If 0 is not between the
    bounds, the bound that is nearest to it stands for it.

    Args:
        low: where the column starts.
        high: where it ends.
        integers: whether the column holds whole numbers only.
        most: how many intervals there may be, about.

    >>> quantile_edges(0.0, 4.0, integers=True)
    (1.0, 2.0, 3.0, 4.0)
    >>> edges = quantile_edges(0.0, 1e6, integers=True, most=64)
    >>> edges[:8], edges[-2:]
    ((1.0, 2.0, 3.0, 5.0, 7.0, 11.0, 15.0, 22.0), (937500.0, 968750.0))
    """
    if integers and high - low < most:
        return tuple(float(edge) for edge in range(int(low) + 1, int(high) + 1))
    zero = min(max(0.0, low), high)
    sides = [side for side in (low - zero, high - zero) if side]
    even, per_octave = most // 2, max(1, most // 2 // OCTAVES // len(sides))
    wide = high / even - low / even
    near = 2 * per_octave * wide
    distances = [near + wide * number for number in range(even)]
    for octave in range(1, OCTAVES + 1):
        start = near / 2**octave
        distances += [start + start / per_octave * number for number in range(per_octave)]
    edges = {math.copysign(distance, side) + zero for side in sides for distance in distances}
    edges |= {zero}
    if integers:
        edges = {float(math.floor(edge)) for edge in edges}
    return tuple(sorted(edge for edge in edges if low < edge < high and (abs(edge) > TINY or edge == 0)))


def nested(edges: tuple[float, ...]) -> list[tuple[float, ...]]:
    """These edges, and before them some of them, from coarse to fine: each level has equally many in a part.

    Args:
        edges: the edges between the finest intervals, in increasing order.

    >>> [len(level) + 1 for level in nested(tuple(map(float, range(4095))))]
    [16, 256, 4096]
    """
    depth = 1 + sum(len(edges) + 1 >= many for many in DEEPER)
    parts = next(parts for parts in range(2, len(edges) + 3) if parts**depth > len(edges))
    return [edges[parts**level - 1 :: parts**level] for level in range(depth - 1, -1, -1)]
