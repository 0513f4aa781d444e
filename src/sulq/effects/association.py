"""How attributes go together: second moments, made of noisy tables of pairs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sulq.effects.layout import Floats, Layout

SMALLEST = 0.3
"""No direction has less than this part of the variance that independent attributes would give it: where two
attributes say the same, steps are small and not wild."""
DROWNED = 0.5
"""A direction of a table is kept if it is longer than this part of what noise alone could be."""


def correlation(layout: Layout, counts: Floats, tables: Sequence[Floats], noise: float) -> Floats:
    """The second moments of all values, each divided by the roots of both counts.

    Args:
        layout: where the values are.
        counts: how many rows have each value, all positive, the same in all for every attribute.
        tables: for every pair of attributes how many rows have both values; none if attributes are to be
            taken for independent.
        noise: one standard deviation of the noise in a number of a table.

    >>> layout = Layout((2, 2), (False, False))
    >>> correlation(layout, np.array([5.0, 5, 5, 5]), [np.array([[5.0, 0], [0, 5]])], 0.0).round(1).tolist()
    [[1.1, 0.0, 0.9, 0.1], [0.0, 1.1, 0.1, 0.9], [0.9, 0.1, 1.1, 0.0], [0.1, 0.9, 0.0, 1.1]]
    """
    root = np.sqrt(counts)
    rows = counts[layout.slices[0]].sum()
    moments = np.outer(root, root) / rows
    for part in layout.slices:
        moments[part, part] = np.eye(part.stop - part.start)
    for (i, j), table in zip(layout.pairs if tables else (), tables, strict=True):
        a, b = layout.slices[i], layout.slices[j]
        beyond = table / np.outer(root[a], root[b]) - moments[a, b]
        moments[a, b] += _denoised(beyond, root[a], root[b], noise)
        moments[b, a] = moments[a, b].T
    sizes, directions = np.linalg.eigh(moments)
    return np.asarray((directions * sizes.clip(min=SMALLEST)) @ directions.T)


def _denoised(table: Floats, rows: Floats, columns: Floats, noise: float) -> Floats:
    """A table whose entries were divided by the roots of counts, without the directions that noise explains."""
    if noise == 0:
        return table
    left, sizes, right = np.linalg.svd(table, full_matrices=False)
    along_left = np.sqrt(((left / rows[:, np.newaxis]) ** 2).sum(axis=0) * (1 / columns**2).sum())
    along_right = np.sqrt(((right / columns) ** 2).sum(axis=1) * (1 / rows**2).sum())
    by_noise = DROWNED * noise * (along_left + along_right)
    kept = np.sqrt(np.maximum(0.0, sizes**2 - by_noise**2)).clip(max=1.0)
    return np.asarray((left * kept) @ right)
