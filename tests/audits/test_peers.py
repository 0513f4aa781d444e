"""The audit finds the known errors of other libraries, where those are installed, without being told where they are."""

from __future__ import annotations

import numpy as np
import pytest

import sulq
from sulq.audits.peers import diffprivlib_eigenvector, fitted, opendp_eigenvector, spent_by_parts
from tests.effort import long

ROWS, COLUMNS, EPSILON, RUNS = 601, 6, 1.5, 9000
"""By the law that is drawn, so many runs show an ε of 1.6 on average, and take minutes."""


def axes() -> np.ndarray:
    """Rows of norm 1 along the axes."""
    return np.eye(COLUMNS)[np.random.default_rng(0).integers(0, COLUMNS, ROWS)]


def test_naive_bayes_of_diffprivlib_tells_of_a_lone_label() -> None:
    models = pytest.importorskip("diffprivlib.models")
    rng = np.random.default_rng(0)
    box = fitted(lambda: models.GaussianNB(epsilon=1, bounds=(0, 1)))
    found = sulq.audit(box, 1, (rng.random((30, 2)), rng.integers(0, 2, 30)), runs=300)
    assert not found.holds
    assert "the only one with its label" in str(found)


@pytest.mark.parametrize(("columns", "replaced"), [(30, False), (30, True), (2, True)])
def test_the_parts_of_diffprivlibs_k_means_cost_more_than_it_claims(columns: int, replaced: bool) -> None:
    models = pytest.importorskip("diffprivlib.models")
    rows = np.random.default_rng(0).random((300, columns))
    rows[0] = 1
    other = np.vstack([np.zeros((1, columns)), rows[1:]]) if replaced else rows[1:]
    make = lambda: models.KMeans(3, epsilon=1, bounds=(0, 1), random_state=7)  # noqa: E731
    assert not spent_by_parts(make, rows, other, claimed=1).holds


@long
def test_the_private_eigenvectors_of_diffprivlib_follow_another_law() -> None:
    pytest.importorskip("diffprivlib")
    assert not sulq.audit(diffprivlib_eigenvector(EPSILON), EPSILON, axes(), runs=RUNS, alarm=1e-4).holds


@long
def test_the_private_eigenvectors_of_opendp_follow_another_law() -> None:
    pytest.importorskip("opendp")
    pytest.importorskip("randomgen", reason="OpenDP draws its eigenvectors with it")
    box = opendp_eigenvector(EPSILON, ROWS, COLUMNS)
    assert not sulq.audit(box, EPSILON, axes(), runs=RUNS, alarm=1e-4).holds
