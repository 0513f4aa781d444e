"""Error bars of effects know that rows may be fewer than they seem, and that certainty has no log-odds.

All noise is seeded, so that there are no false alarms.
"""

from __future__ import annotations

import numpy as np

from sulq.effects.effect_errors import deviations, sharper
from sulq.effects.estimate import Estimate, Gradient, start
from sulq.effects.layout import Floats, Layout
from sulq.effects.logistic import Chances, logistic, reweighed
from tests.effort import either

LAYOUT = Layout((4,), (False,))
COUNTS = np.array([6000.0, 300.0, 300.0, 300.0])
BASE = float(np.log(0.25 / 0.75))
NOISE = 30.0


def learned(
    shares: Floats, rng: np.random.Generator, counts: Floats = COUNTS, noise: float = NOISE
) -> Estimate:
    """Effects of values with these shares of the label, of which there are so many rows."""
    estimate = start(LAYOUT, counts, np.zeros((4, 4)), np.full(4, 0.1875))
    for _ in range(6):
        at = estimate.effects
        value = counts * (shares - logistic(BASE + at)) + noise * rng.normal(size=4)
        before = reweighed(estimate, BASE) if estimate.gradients else estimate
        estimate = before.given(Gradient(at, value, np.full(4, noise**2)))
    return estimate


def centred(effects: Floats) -> Floats:
    return np.asarray(effects - np.average(effects, weights=COUNTS))


def held(
    shares: Floats,
    shorter: float = 1.0,
    straight: bool = False,
    counts: Floats = COUNTS,
    noise: float = NOISE,
) -> float:
    """How many effects are within their bars, of some trials."""
    rng, inside = np.random.default_rng(1), []
    truth = centred(np.log(shares / (1 - shares)) - BASE)
    for _ in range(either(24, 36)):
        estimate = learned(shares, rng, counts, noise)
        off = deviations(estimate, intercept=None if straight else BASE)
        inside.append(np.abs(centred(estimate.effects) - truth) <= shorter * 1.96 * off)
    return float(np.mean(inside))


def test_bars_hold_as_often_as_stated_and_would_not_if_they_were_shorter_by_30_percent() -> None:
    """So many rows that the noise is nearly all of the error: that rows are a sample is in the bars too."""
    shares, counts = np.array([0.2, 0.4, 0.3, 0.6]), 100 * COUNTS
    assert held(shares, counts=counts, noise=600.0) >= 0.95
    assert held(shares, 0.7, counts=counts, noise=600.0) < 0.95


def test_bars_hold_effects_of_values_whose_label_is_all_but_certain() -> None:
    """Sums do not tell 99.9 % from 99 %. Bars as if curvature were the same everywhere hold fewer."""
    shares = np.array([0.2, 0.9995, 0.999, 0.5])
    assert held(shares) >= 0.95
    assert held(shares, straight=True) < 0.9


def test_all_effects_may_be_larger_together_where_the_label_is_nearly_certain_and_only_there() -> None:
    """All effects times 1.3 change chances of 0.05 % by less than noise, and chances of 30 % by far more."""
    rng = np.random.default_rng(1)
    likely, certain = np.array([0.2, 0.4, 0.3, 0.6]), np.array([0.0005, 0.9995, 0.9995, 0.9995])
    for counts in (COUNTS, 100 * COUNTS):
        assert sharper(learned(likely, rng, counts), BASE) < 0.05
        assert sharper(learned(certain, rng, counts), BASE) > 0.3


def test_no_effects_at_all_are_not_larger_together() -> None:
    nothing = start(LAYOUT, COUNTS, np.zeros((4, 4)), np.full(4, 0.1875))
    at_none = nothing.given(Gradient(np.zeros(4), np.zeros(4), np.full(4, NOISE**2)))
    assert sharper(at_none, BASE) == 0.0


def test_a_value_that_may_have_no_rows_at_all_has_a_long_bar() -> None:
    """300 rows, off by 150: there may be none, and what a sum of noise says about them is nothing."""
    estimate = learned(np.array([0.2, 0.4, 0.1, 0.6]), np.random.default_rng(2))
    known = deviations(estimate, np.zeros(4), BASE)
    doubted = deviations(estimate, np.array([10.0, 150.0, 10.0, 10.0]), BASE)
    assert known[1] < 2 and doubted[1] > 3
    assert known[3] < 0.5 and doubted[3] < 0.5


def test_how_far_an_effect_is_from_a_chance_is_how_far_it_would_have_to_move() -> None:
    estimate = learned(np.array([0.2, 0.4, 0.1, 0.6]), np.random.default_rng(3), noise=0.0)
    chances = Chances(estimate, BASE)
    likely, _ = chances.expected()
    moved = chances.away(np.full(4, 0.05))
    again = chances.moved(moved) @ (masses := np.polynomial.hermite_e.hermegauss(15)[1]) / masses.sum()
    assert np.allclose(again - likely, 0.05, atol=1e-6)
    assert (chances.away(np.full(4, 1.0)) > 11.9).all() and (chances.away(np.full(4, -1.0)) < -11.9).all()
