"""What the loops are compared on: rows of many lengths, and matrices that lie in memory in many ways."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from sulq import loops
from sulq.loops import compiled, plain

built = pytest.mark.skipif(compiled.LIBRARY is None, reason="there is no C compiler")

rows = st.integers(0, 40) | st.sampled_from([511, 512, 513, 1030])


def same(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> None:
    assert one.dtype == other.dtype
    assert one.shape == other.shape
    assert (one == other).all()


def matrix(rng: np.random.Generator, n: int, width: int, kind: str) -> plain.Matrix:
    if kind == "members":
        return loops.Members(rng.integers(0, width, n), width)
    if kind.startswith("moved"):
        columns = matrix(rng, n, width, kind.removeprefix("moved "))
        assert not isinstance(columns, loops.Members)
        return moving(rng, n, columns)
    dtype = {"shorts": np.int16, "ints": np.int32, "doubles": np.float64}[kind.removeprefix("taken ")]
    if kind.startswith("taken"):
        longer = rng.integers(-32767, 32768, (2 * n + 1, width)).astype(dtype)
        return loops.Taken(list(longer.T), rng.integers(0, 2 * n + 1, n))
    columns = rng.integers(-32767, 32768, (n, width)).astype(dtype)
    return list(columns.T)  # columns with gaps between their rows


def moving(rng: np.random.Generator, n: int, columns: Any) -> loops.Moved:
    """Columns that move in one of many ways."""
    width, codes = len(columns), int(rng.choice([1, 2, 16, 17, 256]))
    low = rng.choice([-np.inf, -9000.0], width)
    moves = loops.Moves(
        rng.choice([1.0, 2.0], width),
        rng.integers(-20_000, 20_000, (width, codes)).astype(np.float64),
        low,
        rng.choice([5000.0, np.inf], width),
        rng.choice([1.0, 0.25], width),
        finishing(rng, width) if rng.random() < 0.5 else None,
    )
    norms = [
        loops.Norm(float(rng.choice([1, 0.5])), order, limit)
        for order, limit in ((2, 9000.0), (1, 7000.5), (2, 0.25), (1, math.inf))
        if rng.random() < 0.5
    ]
    return loops.Moved(
        columns,
        moves if rng.random() < 0.8 else None,
        rng.integers(0, codes, n).astype(np.uint8) if codes > 1 else None,
        rng.integers(-1, 2, n).astype(np.float64) if rng.random() < 0.5 else None,
        norms,
    )


def finishing(rng: np.random.Generator, width: int) -> loops.Finish:
    """Squares of small numbers, and numbers that are stretched by what is on no grid."""
    squared = rng.random(width) < 0.3
    return loops.Finish(
        squared,
        np.where(squared, 0.0, rng.choice([0.0, 0.5, -7.0], width)),
        np.where(squared, 2.0**-17, rng.choice([1.0, 1 / 3, 0.7], width)),
        rng.choice([1.0, 0.5, 2.0], width),
    )


kinds = st.sampled_from(
    [
        "shorts",
        "ints",
        "doubles",
        "members",
        "taken shorts",
        "taken ints",
        "taken doubles",
        "moved shorts",
        "moved taken ints",
    ]
)

bounds = st.sampled_from([(-math.inf, math.inf), (-500.0, 2.0**20), (-math.inf, 77.0)])

factors = st.sampled_from([1.0, 0.5, 2.0**-11, 3 * 2.0**-4, -5.0])

every_step = st.builds(lambda factor, between: loops.Step(factor, *between), factors, bounds)
