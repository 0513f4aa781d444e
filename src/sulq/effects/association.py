"""How attributes go together: second moments, made of noisy tables of pairs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sulq.effects.layout import Floats, Layout

SMALLEST = 0.6
"""No direction has less than this part of the variance that independent attributes would give it: where two
attributes say the same, steps are small and not wild."""
DROWNED = 0.5
"""A direction of a table is kept if it is longer than this part of what noise alone could be."""


def beyond_independence(layout: Layout, counts: Floats, tables: Sequence[Floats], noise: float) -> Floats:
    """How far pairs of values are from being independent, each divided by the roots of both counts.

    Args:
        layout: where the values are.
        counts: how many rows have each value, all positive, the same in all for every attribute.
        tables: for every pair of attributes how many rows have both values; none if attributes are to be
            taken for independent.
        noise: one standard deviation of the noise in a number of a table.

    >>> layout = Layout((2, 2), (False, False))
    >>> beyond_independence(layout, np.full(4, 5.0), [np.array([[5.0, 0], [0, 5]])], 0.0)[0].round(3)
    array([ 0. ,  0. ,  0.5, -0.5])
    """
    root, rows = np.sqrt(counts), counts[layout.slices[0]].sum()
    beyond = np.zeros((layout.width, layout.width))
    for (i, j), table in zip(layout.pairs if tables else (), tables, strict=True):
        a, b = layout.slices[i], layout.slices[j]
        scale = np.outer(root[a], root[b])
        beyond[a, b] = _denoised(table / scale - scale / rows, root[a], root[b], noise)
        beyond[b, a] = beyond[a, b].T
    return beyond


def second_moments(layout: Layout, masses: Floats, beyond: Floats, smallest: float = SMALLEST) -> Floats:
    """How much two values have in common, where rows count differently.

    However rows are weighed, the numbers of one value with all values of another attribute add up to what is
    known of that value alone.

    Args:
        layout: where the values are.
        masses: how much the rows with each value count, all positive, the same in all for every attribute.
        beyond: what `beyond_independence` says.
        smallest: no direction has less than this part of the variance that independent attributes would give.

    >>> layout = Layout((2, 2), (False, False))
    >>> beyond = beyond_independence(layout, np.full(4, 5.0), [np.array([[5.0, 0], [0, 5]])], 0.0)
    >>> second_moments(layout, np.full(4, 5.0), beyond)[0].round(2)
    array([ 5.75, -0.75,  4.25,  0.75])
    """
    root = np.sqrt(masses)
    share = root / np.sqrt(masses[layout.slices[0]].sum())
    sizes, directions = np.linalg.eigh(_apart(layout, share, np.eye(layout.width) + beyond))
    within = _apart(layout, share, (directions * sizes.clip(min=smallest)) @ directions.T)
    return np.asarray((within + np.outer(share, share)) * np.outer(root, root))


def _apart(layout: Layout, share: Floats, matrix: Floats) -> Floats:
    """P·M·P for a symmetric M, P taking from each attribute's part of a vector what is along its shares."""
    left = matrix.copy()
    for part in layout.slices:
        left[part] -= np.outer(share[part], share[part] @ matrix[part])
    both = left.copy()
    for part in layout.slices:
        both[:, part] -= np.outer(left[:, part] @ share[part], share[part])
    return np.asarray(both)


def _denoised(table: Floats, rows: Floats, columns: Floats, noise: float) -> Floats:
    """A table, its entries divided by the roots of counts, without the directions that noise explains."""
    if noise == 0:
        return table
    left, sizes, right = np.linalg.svd(table, full_matrices=False)
    along_left = np.sqrt(((left / rows[:, np.newaxis]) ** 2).sum(axis=0) * (1 / columns**2).sum())
    along_right = np.sqrt(((right / columns) ** 2).sum(axis=1) * (1 / rows**2).sum())
    by_noise = DROWNED * noise * (along_left + along_right)
    kept = np.sqrt(np.maximum(0.0, sizes**2 - by_noise**2)).clip(max=1.0)
    return np.asarray((left * kept) @ right)
