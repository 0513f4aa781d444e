"""Effects from noisy gradients: what they are without noise, and what becomes of them with much of it."""

from __future__ import annotations

import numpy as np
import pytest

from sulq.effects.association import beyond_independence, second_moments
from sulq.effects.effect_errors import deviations
from sulq.effects.estimate import Gradient, start
from sulq.effects.layout import Layout
from sulq.effects.logistic import logistic, reweighed

LAYOUT = Layout((3, 4), (False, True))
SHARES = (np.array([0.2, 0.5, 0.3]), np.array([0.1, 0.4, 0.4, 0.1]))
ROWS = 10_000.0
COUNTS = ROWS * np.concatenate(SHARES)


def together(tilt: float) -> np.ndarray:
    """How many rows have both values, of attributes that lean on each other."""
    table = ROWS * np.outer(*SHARES)
    table[0, 0] += tilt
    table[1, 1] += tilt
    table[0, 1] -= tilt
    table[1, 0] -= tilt
    return table


@pytest.mark.parametrize("tilt", [0.0, 150.0])
def test_moments_of_a_value_add_up_however_rows_are_weighed(tilt: float) -> None:
    beyond = beyond_independence(LAYOUT, COUNTS, [together(tilt)], 3.0)
    masses = COUNTS * np.array([0.1, 0.2, 0.15, 0.25, 0.1, 0.05, 0.2])
    for part in LAYOUT.slices:
        masses[part] *= 1000 / masses[part].sum()
    moments = second_moments(LAYOUT, masses, beyond)
    assert np.allclose(moments, moments.T)
    assert np.linalg.eigvalsh(moments).min() > -1e-6
    for part in LAYOUT.slices:
        assert np.allclose(moments[:, part].sum(axis=1), masses)


def test_a_table_of_noise_says_that_attributes_are_independent() -> None:
    noise = np.random.default_rng(0).normal(0, 200.0, (3, 4))
    assert np.allclose(beyond_independence(LAYOUT, COUNTS, [together(0) + noise], 2000.0), 0)
    assert not np.allclose(beyond_independence(LAYOUT, COUNTS, [together(150)], 3.0), 0)


def solved(noise: float, rounds: int) -> tuple[np.ndarray, np.ndarray]:
    """The true effects on a number, and what noisy gradients make of them."""
    truth = np.array([-0.5, 0.1, 0.1667, -0.3, -0.1, 0.2, -0.1])
    for part in LAYOUT.slices:
        truth[part] -= np.average(truth[part], weights=COUNTS[part])
    beyond = beyond_independence(LAYOUT, COUNTS, [together(150)], 0.0)
    estimate = start(LAYOUT, COUNTS, beyond, np.ones(7), 0.1)
    exact, rng = estimate.curvature, np.random.default_rng(1)
    for _ in range(rounds):
        value = exact @ (truth - estimate.effects) + rng.normal(0, noise, 7)
        estimate = estimate.given(Gradient(estimate.effects, value, np.full(7, noise**2)))
    return truth, estimate.effects


def test_gradients_without_noise_give_the_effects_back() -> None:
    truth, effects = solved(0.0, 4)
    assert np.allclose(effects, truth, atol=0.01)


def test_gradients_of_noise_alone_give_effects_near_nothing() -> None:
    _, effects = solved(1e7, 4)
    assert np.abs(effects).max() < 0.2


def test_error_bars_shrink_with_noise() -> None:
    widths = []
    for noise in (1.0, 1000.0):
        estimate = start(LAYOUT, COUNTS, np.zeros((7, 7)), np.ones(7), 0.1)
        given = estimate.given(Gradient(np.zeros(7), np.zeros(7), np.full(7, noise**2)))
        widths.append(deviations(given))
    assert (widths[0] < widths[1]).all() and (widths[0] >= 0).all()


@pytest.mark.parametrize("noise", [100.0, 1000.0, 5000.0, 50_000.0])
def test_error_bars_hold_effects_that_are_larger_than_usual(noise: float) -> None:
    """The noise is seeded, so there are no false alarms. 95 % are stated, and 30 trials of 7 effects that go
    together are off by 2 points or so. Bars for effects as wide as they seem held 29 to 89 %."""
    truth = np.array([-2.0, 0.5, 0.5, -3.0, -0.5, 1.0, 1.0])
    for part in LAYOUT.slices:
        truth[part] -= np.average(truth[part], weights=COUNTS[part])
    rng, held = np.random.default_rng(2), []
    for _ in range(30):
        estimate = start(LAYOUT, COUNTS, np.zeros((7, 7)), np.ones(7), 0.1)
        for _ in range(3):
            value = estimate.curvature @ (truth - estimate.effects) + rng.normal(0, noise, 7)
            estimate = estimate.given(Gradient(estimate.effects, value, np.full(7, noise**2)))
        effects = estimate.effects.copy()
        for part in LAYOUT.slices:
            effects[part] -= np.average(effects[part], weights=COUNTS[part])
        held.append(np.abs(effects - truth) <= 1.96 * deviations(estimate))
    assert np.mean(held) >= 0.91


def test_weights_follow_from_what_the_model_says_of_itself() -> None:
    estimate = start(LAYOUT, COUNTS, np.zeros((7, 7)), np.full(7, 0.25))
    estimate = estimate.given(Gradient(np.zeros(7), 0.0 * COUNTS, np.ones(7)))
    flat = reweighed(estimate, 0.0)
    assert np.allclose(flat.weights, 0.25, atol=0.01), (
        "half of the rows have the label, whatever their values"
    )
    rare = reweighed(estimate, -4.0)
    chance = float(logistic(np.array(-4.0)))
    assert np.allclose(rare.weights, np.sqrt(0.25 * chance * (1 - chance)), rtol=0.1), (
        "halfway to the new ones"
    )


def test_where_noise_hides_a_value_its_error_bar_says_so_whatever_its_neighbours_are() -> None:
    """Intervals with few rows may differ from those beside them: no smoothness makes their bars short."""
    layout, counts = Layout((6,), (True,)), np.array([10_000.0, 5, 5, 5, 5, 5])
    blank = start(layout, counts, np.zeros((6, 6)), np.full(6, 0.2))
    known = blank.given(Gradient(np.zeros(6), np.zeros(6), np.full(6, 50.0**2)))
    assert deviations(known)[0] < 0.2 and (deviations(known)[1:] > 2.5).all()
