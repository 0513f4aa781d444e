"""The nearest vector of frequencies is one, and no other is nearer."""

from __future__ import annotations

import numpy as np
import pytest

from sulq.simplex import nearest_distribution

RNG = np.random.default_rng(3)


@pytest.mark.parametrize("k", [1, 2, 7, 300])
def test_the_nearest_distribution_is_one_and_no_other_is_nearer(k: int) -> None:
    for scale in (0.01, 1.0, 10.0):
        estimate = RNG.normal(1 / k, scale, k)
        found = nearest_distribution(estimate)
        assert found.min() >= 0
        assert found.sum() == pytest.approx(1)
        others = RNG.dirichlet(np.full(k, 0.3), 200)
        nearer = np.concatenate([others, 0.99 * found + 0.01 * others])
        assert (np.linalg.norm(nearer - estimate, axis=1) >= np.linalg.norm(found - estimate) - 1e-12).all()


def test_frequencies_stay_as_they_are() -> None:
    for frequencies in RNG.dirichlet(np.full(20, 0.5), 10):
        assert nearest_distribution(frequencies) == pytest.approx(frequencies)


def test_the_squared_error_never_grows() -> None:
    for frequencies in RNG.dirichlet(np.full(50, 0.2), 20):
        estimate = frequencies + RNG.normal(0, 0.05, 50)
        nearer = np.square(nearest_distribution(estimate) - frequencies).sum()
        assert nearer <= np.square(estimate - frequencies).sum()


def test_the_whole_is_kept_beside_noise_that_is_wider_by_far() -> None:
    for scale in (1e16, 1e60, 1e300):
        assert nearest_distribution(scale * RNG.normal(size=64), whole=100.0).sum() == pytest.approx(100)
