"""Weighted sums of noise: the bounds hold, and are close to the truth."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from sulq.local.tails import Bounded
from sulq.talk.laws import Averaged, Exactly, Noise, Within
from sulq.talk.weighted import exceeds, quantile

WEIGHTS = {
    "one": [1.0],
    "two": [0.2, -0.8],
    "three": [0.5, 0.25, -1.0],
    "with zeros": [0.0, 1.0, 0.0, 0.5],
}


def distribution(law: Noise, weights: list[float]) -> tuple[Any, Any]:
    """All sums that matter and their chances, by enumeration."""
    reach = 40 if law.family == "laplace" else 14
    steps = np.arange(-reach, reach + 1)
    parameter = float(law.parameter)
    chance = (
        np.exp(-np.abs(steps) / parameter)
        if law.family == "laplace"
        else np.exp(-(steps**2) / (2 * parameter))
    )
    chance /= chance.sum()
    used = [weight for weight in weights if weight]
    sums = sum(weight * axis for weight, axis in zip(used, np.meshgrid(*[steps] * len(used)), strict=True))
    chances = np.prod(np.meshgrid(*[chance] * len(used)), axis=0)
    return np.abs(sums) * float(law.step) * law.factor, chances


@pytest.mark.parametrize(
    ("family", "parameter"), [("laplace", 3), ("laplace", Fraction(1, 2)), ("gaussian", 4)]
)
@pytest.mark.parametrize("name", WEIGHTS)
def test_a_sum_is_beyond_its_quantile_with_at_most_the_stated_chance(
    family: Any, parameter: Any, name: str
) -> None:
    law = Noise(family, Fraction(parameter), Fraction(1, 4), numbers=4, factor=2.0)
    sums, chances = distribution(law, WEIGHTS[name])
    for beta in (0.2, 0.05, 0.01):
        bound = quantile(np.array(WEIGHTS[name]), law, beta)
        assert chances[sums > bound + 1e-9].sum() <= beta + 1e-6
        assert exceeds(1.02 * bound + 1e-9, np.array(WEIGHTS[name]), law, beta)


@pytest.mark.parametrize(("many", "beta"), list(product((1, 5, 30), (0.05, 0.001))))
def test_laplace_sums_are_bounded_closely_where_steps_are_fine(many: int, beta: float) -> None:
    """Against 200,000 sums of a fixed seed; a quantile of 10^-3 of them is off by a tenth with chance below 10^-6."""
    law = Noise("laplace", Fraction(500), Fraction(1), numbers=many)
    weights = np.linspace(-1, 1.5, many)
    drawn = np.abs(np.random.default_rng(1).laplace(0, 500, (200_000, many)) @ weights)
    assert 0.9 < quantile(weights, law, beta) / np.quantile(drawn, 1 - beta) < 1.1


def test_errors_that_go_together_are_taken_at_their_worst() -> None:
    weights = np.array([1.0, -0.5])
    people = Averaged(Bounded((0.25,), (2,), above=0.5, below=0.5, span=1.0), people=100)
    for law in (people, Within(0.1)):
        assert quantile(weights, law, 0.05) == pytest.approx(1.5 * law.radius(0.05))
        assert not exceeds(1.49 * law.radius(0.05), weights, law, 0.05)


def test_without_noise_every_difference_is_one() -> None:
    assert exceeds(1e-12, np.ones(2), Exactly(), 0.05) and not exceeds(0.0, np.ones(2), Exactly(), 0.05)
    assert quantile(np.ones(2), Exactly(), 0.05) == 0.0
    assert quantile(np.zeros(2), Noise("laplace", Fraction(3), Fraction(1), numbers=2), 0.05) == 0.0
