"""Error bars of weights hold what exact answers give, and bars that are 30 % shorter would not.

All noise is seeded, so that there are no false alarms.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from sulq.effects.estimate import Estimate, Gradient
from sulq.effects.layout import Floats
from sulq.effects.logistic import logistic
from sulq.effects.moments import Moments, given, repaired, unknown
from sulq.effects.weight_errors import deviations
from tests.effort import either

ROWS, WIDTH = 4000, 5
TRIALS = either(24, 36)


@dataclass(frozen=True)
class Rows:
    """Four columns of variance 1 behind a 1, of which the first two are alike, and an outcome."""

    point: Floats
    outcome: Floats
    base: float | None

    def gradient(self, weights: Floats) -> Floats:
        score = self.point @ weights
        return np.asarray(
            self.point.T @ (self.outcome - (score if self.base is None else logistic(self.base + score)))
        )


def rows(alike: float, classes: bool) -> Rows:
    rng = np.random.default_rng(5)
    each = rng.normal(size=(ROWS, WIDTH - 1))
    each[:, 1] = alike * each[:, 0] + (1 - alike**2) ** 0.5 * each[:, 1]
    point = np.column_stack([np.ones(ROWS), each])
    if classes:
        outcome = rng.random(ROWS) < logistic(point @ [-0.5, 1.5, -1.0, 0.5, 0.0])
        return Rows(point, outcome.astype(float), -0.3)
    number = point @ [0.0, 1.0, -0.5, 0.3, 0.0] + rng.normal(size=ROWS)
    return Rows(point, (number - number.mean()) / number.std(), None)


def learned(people: Rows, draw: Floats, noise: float, steps: int) -> tuple[Floats, Floats]:
    """Weights and their deviations, as the learners make them.

    Args:
        people: the rows.
        draw: noise of variance 1 for each number that is asked for.
        noise: one standard deviation of the noise.
        steps: how many gradients.
    """
    upper = WIDTH * (WIDTH + 1) // 2
    triangle = (people.point.T @ people.point)[np.triu_indices(WIDTH)] + noise * draw[:upper]
    triangle[0] = ROWS
    second = repaired(triangle, noise, np.full(WIDTH, float(ROWS)))
    blocks = [slice(place, place + 1) for place in range(1, WIDTH)]
    estimate = unknown(second, blocks, [None] * (WIDTH - 1), np.ones(WIDTH - 1))
    noises = np.full(WIDTH, noise**2)
    for step in range(steps):
        place = upper + step * WIDTH
        value = people.gradient(estimate.effects) + noise * draw[place : place + WIDTH]
        scale = 1.0 if people.base is None else _scale(estimate, second, people.base)
        estimate = given(estimate, second, scale, Gradient(estimate.effects, value, noises))
    return estimate.effects, deviations(estimate, second, np.eye(WIDTH), people.base)


def _scale(estimate: Estimate, second: Moments, base: float) -> float:
    spread = float(estimate.effects @ second.matrix @ estimate.effects) / ROWS
    chances = logistic(base + spread**0.5 * np.linspace(-2, 2, 9))
    return float((chances * (1 - chances)).mean())


def measured(alike: float, noise: float, classes: bool, family: str) -> tuple[Floats, Floats]:
    """Errors and deviations of all weights, trial by trial."""
    people, steps, rng = rows(alike, classes), 5 if classes else 2, np.random.default_rng(0)
    many = WIDTH * (WIDTH + 1) // 2 + 12 * WIDTH
    exact, _ = learned(people, np.zeros(many), 0.0, 12)
    errors, offs = [], []
    for _ in range(TRIALS):
        draw = rng.normal(size=many) if family == "gaussian" else rng.laplace(scale=0.5**0.5, size=many)
        weights, off = learned(people, draw, noise, steps)
        errors.append(weights - exact)
        offs.append(off)
    return np.array(errors), np.array(offs)


@pytest.mark.parametrize("family", ["gaussian", "laplace"])
@pytest.mark.parametrize(("alike", "noise"), [(0.0, 40.0), (0.9, 40.0), (0.9, 150.0)])
@pytest.mark.parametrize("classes", [False, True])
def test_bars_hold_as_often_as_stated(alike: float, noise: float, classes: bool, family: str) -> None:
    errors, offs = measured(alike, noise, classes, family)
    assert np.mean(np.abs(errors) <= 1.96 * offs) >= 0.95


@pytest.mark.parametrize("family", ["gaussian", "laplace"])
@pytest.mark.parametrize("alike", [0.0, 0.9])
def test_bars_of_linear_models_are_hardly_longer_than_they_need_be_where_noise_hides_little(
    alike: float, family: str
) -> None:
    """In the middle, a bar is at most 1.5 times as long as 1.96 times the root of the mean square of errors. If bars were 30 % shorter,
    fewer than 95 % would be held."""
    errors, offs = measured(alike, 40.0, False, family)
    ideal = np.sqrt((errors**2).mean(axis=0))
    assert np.median(np.median(offs, axis=0) / ideal) <= 1.5
    assert np.mean(np.abs(errors) <= 0.7 * 1.96 * offs) < 0.95


def test_exact_answers_have_no_error() -> None:
    many = WIDTH * (WIDTH + 1) // 2 + 12 * WIDTH
    for classes in (False, True):
        assert not learned(rows(0.5, classes), np.zeros(many), 0.0, 3)[1].any()


def test_columns_that_cannot_be_told_apart_have_long_bars_and_others_have_not() -> None:
    errors, offs = measured(0.999, 150.0, False, "gaussian")
    assert np.mean(np.abs(errors) <= 1.96 * offs) >= 0.95
    assert np.median(offs[:, 1]) > 5 * np.median(offs[:, 3])
