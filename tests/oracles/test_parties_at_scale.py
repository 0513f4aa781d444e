"""Columns in different hands at the size they are meant for: no bias, and error bars that cover as often as stated."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import sulq
from tests.effort import either

col = sulq.col
ROWS, RUNS = either(10_000, 100_000), either(60, 400)
PROMISE: dict[str, Any] = {"epsilon": 1, "delta": "1e-6"}
ID = sulq.Integer(0, 10**6)


@cache
def hands() -> tuple[sulq.Source, sulq.Source, dict[str, float]]:
    """Two tables about the same people in different orders, and the true sums across them."""
    rng = np.random.default_rng(5)
    a, x = rng.random(ROWS) < 0.4, rng.uniform(-1, 1, ROWS)
    b = rng.random(ROWS) < np.where(a, 0.8, 0.2)
    y = np.clip(x + rng.normal(0, 0.3, ROWS), -1, 1)
    order = rng.permutation(ROWS)
    flag, number = sulq.Boolean(), sulq.Real(-1, 1)
    here = sulq.open({"id": np.arange(ROWS), "a": a, "x": x}, {"id": ID, "a": flag, "x": number})
    there = sulq.open({"id": order, "b": b[order], "y": y[order]}, {"id": ID, "b": flag, "y": number})
    return here, there, {"moment": float(x @ y), "count": float((a & b).sum())}


# How many buckets there are follows from how many people there are said to be.
SAID = {512: ROWS, 4096: 10 * ROWS, 16384: 30 * ROWS} if ROWS == 100_000 else {64: ROWS, 512: 10 * ROWS}


@pytest.mark.parametrize("buckets", SAID)
@pytest.mark.parametrize("name", ["moment", "count"])
def test_cross_moments_have_no_bias_and_bars_cover_as_often_as_they_say(name: str, buckets: int) -> None:
    """At (1, 10^-6) each. A bias of 5.5/√runs deviations is caught; false alarms: once in 10^7.

    Deviations are estimates of 63 degrees and more: they may be off by a twentieth.
    """
    here, there, sums = hands()
    value = col("x") * col("y") if name == "moment" else col("a") & col("b")
    asked, off, missed = sulq.Round([sulq.total(value)], share=1), [], 0
    for salt in range(RUNS):
        both = sulq.parties(
            [here.curator(**PROMISE), there.curator(**PROMISE)], "id", people=SAID[buckets], salt=f"{salt}"
        )
        [answer] = both.ask(asked)
        off.append((answer.value - sums[name]) / answer.deviation)
        missed += bool(abs(answer.value - sums[name]) > answer.radius(0.05))
    assert 0.4 < both.plan(asked).buckets / buckets < 2.5
    assert abs(np.mean(off)) < 5.5 / np.sqrt(RUNS) + 0.02
    assert abs(np.std(off) - 1) < 5.5 / np.sqrt(2 * RUNS) + 0.05
    assert missed <= (0.05 + 0.01) * RUNS + 5.5 * np.sqrt(0.06 * RUNS) + 1
