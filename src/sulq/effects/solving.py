"""Linear systems whose numbers may be far apart, because noise can be of any width."""

from __future__ import annotations

import numpy as np

from sulq.effects.layout import Floats

RIDGE = 1e-9
"""What is added to a diagonal of ones where floats cannot tell a matrix from one that has no inverse."""


def solved(covariance: Floats, right: Floats) -> Floats:
    """C⁻¹·B for a covariance C.

    If floats cannot solve that as it stands, C gets ones on its diagonal first, and a little more there.

    Args:
        covariance: C, symmetric, without negative eigenvalues but for rounding.
        right: B.

    >>> solved(np.diag([2.0, 4.0]), np.eye(2)).tolist()
    [[0.5, 0.0], [0.0, 0.25]]
    >>> np.isfinite(solved(np.full((2, 2), 1e100), np.eye(2))).all()
    np.True_
    """
    try:
        return np.asarray(np.linalg.solve(covariance, right))
    except np.linalg.LinAlgError:
        scale = 1 / np.sqrt(np.diag(covariance).clip(min=1e-300))[:, np.newaxis]
        ones = covariance * scale * scale.T + RIDGE * np.eye(len(covariance))
        return np.asarray(scale * np.linalg.solve(ones, scale * right))
