"""Find what the cells of window reports count: the table in `src/sulq/local/window_designs.py`.

For each ε = 2^(k/6) and some sizes of the window, the largest variance over all places of the window is
minimised over what cells count (sequential least squares, SciPy's SLSQP). The best is kept, rounded to whole
numbers of which the largest is 9999. A report is private and without bias whatever comes out of this.

    python benchmarks/windows.py > table.txt
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

Floats = NDArray[np.float64]
EXPONENTS = range(-20, 21)
LARGEST = 9999
FINE = 6.0
"""From this ε on there are 128 cells, below it 64: rounding to places of the window must stay small."""


class Found(NamedTuple):
    """What was found for a window: the largest variance, rounding between places included, and the counts."""

    variance: float
    window: int
    lower: Floats


def best(epsilon: float, cells: int, window: int) -> Found:
    """The counts of the lower half of the cells with the least largest variance.

    Args:
        epsilon: what is promised.
        cells: how many cells there are.
        window: how many of them a window has.
    """
    outside = 1 / (window * np.exp(epsilon) + cells - window)
    more = outside * (np.exp(epsilon) - 1)
    places = cells - window + 1
    inside = np.array([np.eye(cells)[place : place + window].sum(axis=0) for place in range(places)])
    half = cells // 2
    counts = np.concatenate([-np.eye(half), np.eye(half)[::-1]])
    numbers = more * inside @ counts
    chances = outside + more * inside
    # By symmetry the lower half of the places will do.
    some = slice(0, (places + 1) // 2)

    def variances(lower: Floats) -> Floats:
        return np.asarray((chances @ (counts @ lower) ** 2 - (numbers @ lower) ** 2)[some])

    def slopes(lower: Floats) -> Floats:
        squares = (2 * chances * (counts @ lower)) @ counts
        return np.asarray((squares - 2 * (numbers @ lower)[:, np.newaxis] * numbers)[some])

    start = np.full(half, 1 / numbers[-1].sum())
    solved = minimize(
        lambda v: v[-1],
        np.append(start, variances(start).max()),
        jac=lambda v: np.append(np.zeros(half), 1.0),
        constraints=[
            {
                "type": "ineq",
                "fun": lambda v: v[-1] - variances(v[:-1]),
                "jac": lambda v: np.column_stack([-slopes(v[:-1]), np.ones(len(slopes(v[:-1])))]),
            },
            {
                "type": "eq",
                "fun": lambda v: np.array([numbers[-1] @ v[:-1] - 1]),
                "jac": lambda v: np.append(numbers[-1], 0.0)[np.newaxis],
            },
        ],
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-12},
    )
    lower = np.maximum(solved.x[:-1], 0.0)
    at = numbers @ lower
    if not (np.diff(at) > 0).all():
        return Found(np.inf, window, lower)
    squares = chances @ (counts @ lower) ** 2
    chord = np.diff(squares) / np.diff(at)
    top = np.clip(chord / 2, at[:-1], at[1:])
    return Found(float((squares[:-1] + chord * (top - at[:-1]) - top**2).max()), window, lower)


def main() -> None:
    """Print the table, line by line."""
    share = 0.5
    for k in EXPONENTS:
        epsilon = 2 ** (k / 6)
        cells = 64 if epsilon < FINE else 128
        # The window shrinks as ε grows.
        last = round(share * cells)
        tried = range(max(1, last - 5), min(last + 1, cells // 2) + 1) if epsilon > 0.8 else [cells // 2]
        found = min((best(epsilon, cells, window) for window in tried), key=lambda each: each.variance)
        share = found.window / cells
        whole = np.rint(LARGEST * found.lower / found.lower.max()).astype(int)
        print(round(2 ** ((k + 0.5) / 6), 4), found.window, *whole, flush=True)


if __name__ == "__main__":
    main()
