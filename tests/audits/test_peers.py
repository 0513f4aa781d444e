"""The audit finds the known errors of other libraries, where those are installed, without being told where they are."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import sulq
from sulq.audits.peers import fitted, matrix_part, measured, most_by_parts, opendp_pca, spent_by_parts
from tests.effort import long

ROWS, COLUMNS, EPSILON = 800, 6, 2.0


def ordinary() -> np.ndarray:
    """A table in which nothing points at the leak. Boxes shorten rows to norm 1."""
    return np.random.default_rng(0).uniform(-1, 1, (ROWS, COLUMNS))


def eigenvectors(power: float) -> Callable[[np.ndarray], np.ndarray]:
    """A box that draws an eigenvector u by rejection, and keeps it with exp(−uᵀAu)·(uᵀΩu)^(power·d/2).

    The law that is proved has a power of 1. diffprivlib and OpenDP have −1.
    """
    rng = np.random.default_rng(0)
    pools: dict[bytes, list[np.ndarray]] = {}

    def drawn(rows: np.ndarray) -> list[np.ndarray]:
        values, vectors = np.linalg.eigh(rows.T @ rows)
        form = EPSILON / 4 * (values.max() - values)
        low, high = 0.5, COLUMNS + 1.0
        for _ in range(60):
            b = (low + high) / 2
            low, high = (b, high) if (1 / (b + 2 * form)).sum() > 1 else (low, b)
        most = np.exp((b - COLUMNS) / 2) * (COLUMNS / b) ** (COLUMNS / 2)
        proposed = rng.standard_normal((200_000, COLUMNS)) / np.sqrt(1 + 2 * form / b)
        proposed /= np.linalg.norm(proposed, axis=1, keepdims=True)
        lost = proposed**2 @ form
        kept = np.exp(-lost) * (1 + 2 * lost / b) ** (power * COLUMNS / 2) / most
        return list(proposed[rng.random(len(kept)) < kept] @ vectors.T)

    def box(table: np.ndarray) -> np.ndarray:
        rows = table / np.maximum(1, np.linalg.norm(table, axis=1, keepdims=True))
        pool = pools.setdefault(rows.tobytes(), [])
        while not pool:
            pool.extend(drawn(rows))
        return pool.pop()

    return box


def test_eigenvectors_of_the_wrong_law_are_found_out() -> None:
    """The tables that show it are hunted, and so is the event. The noise is seeded."""
    finding = sulq.audit(eigenvectors(-1), EPSILON, ordinary(), runs=6000).findings[0]
    assert not finding.holds
    assert "along another" in finding.measured


def test_eigenvectors_of_the_law_that_is_proved_are_let_pass() -> None:
    """The noise is seeded, and without a seed this would fail once in 10^9 times."""
    assert sulq.audit(eigenvectors(1), EPSILON, ordinary(), runs=1000).holds


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


@pytest.mark.parametrize("columns", [30, 2])
def test_tables_on_which_the_parts_of_k_means_cost_more_are_found(columns: int) -> None:
    models = pytest.importorskip("diffprivlib.models")
    rows = np.random.default_rng(0).random((300, columns))
    make = lambda: models.KMeans(3, epsilon=1, bounds=(0, 1), random_state=7)  # noqa: E731
    finding = most_by_parts(make, rows, claimed=1)
    assert not finding.holds
    assert "by its parts [the test table" in str(finding)


def test_a_part_for_matrices_is_found_inside_of_a_model_with_the_epsilon_it_is_given() -> None:
    models = pytest.importorskip("diffprivlib.models")
    make = lambda: models.PCA(2, epsilon=3, centered=True, data_norm=1.0)  # noqa: E731
    box, epsilon = matrix_part(make, ordinary())
    said = box(ordinary())
    assert epsilon == pytest.approx(2) and [np.shape(each) for each in said] == [(COLUMNS,), (COLUMNS - 1,)]


@long
def test_the_private_eigenvectors_of_diffprivlibs_pca_follow_another_law() -> None:
    """10,000 runs show an ε of 2.3 where 2 is claimed, and take minutes."""
    models = pytest.importorskip("diffprivlib.models")
    make = lambda: models.PCA(1, epsilon=2 * EPSILON, centered=True, data_norm=1.0)  # noqa: E731
    box, epsilon = matrix_part(make, ordinary())
    assert epsilon == EPSILON
    assert not sulq.audit(box, epsilon, ordinary(), runs=10_000, alarm=1e-6).holds


@long
def test_the_private_pca_of_opendp_follows_another_law() -> None:
    """As diffprivlib's eigenvectors."""
    pytest.importorskip("opendp")
    pytest.importorskip("randomgen", reason="OpenDP draws its eigenvectors with it")
    made = opendp_pca(EPSILON, EPSILON / 100, ROWS, COLUMNS)
    assert not sulq.audit(measured(made), made.map(2), ordinary(), runs=10_000, alarm=1e-6).holds
