"""Rows with a label that is rarely true: a logistic model of six columns of all kinds."""

from __future__ import annotations

import numpy as np
import pandas as pd

import sulq

SCHEMA = sulq.Schema(
    {
        "age": sulq.Integer(18, 90),
        "bmi": sulq.Real(12, 60),
        "cost": sulq.Real(0, 50_000),
        "smoker": sulq.Boolean(),
        "ward": sulq.Category(["a", "b", "c", "d"], missing="a"),
        "visits": sulq.Integer(0, 20),
        "sick": sulq.Boolean(),
    }
)


def people(seed: int, rows: int = 20_000, rate: float = 0.128) -> pd.DataFrame:
    """Rows of which about a share of `rate` is sick; by how much each column counts is drawn too.

    Args:
        seed: of all that is drawn.
        rows: how many there are.
        rate: how many are sick.
    """
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 91, rows),
            "bmi": rng.normal(27, 5, rows).clip(12, 60),
            "cost": np.exp(rng.normal(7, 1.2, rows)).clip(0, 50_000),
            "smoker": rng.random(rows) < 0.25,
            "ward": rng.choice(list("abcd"), rows, p=[0.4, 0.3, 0.2, 0.1]),
            "visits": rng.poisson(2, rows).clip(0, 20),
        }
    )
    scaled = [
        (frame.age - 54) / 21,
        (frame.bmi - 27) / 5,
        (np.log1p(frame.cost) - 7) / 1.2,
        (frame.smoker - 0.25) / 0.43,
        (frame.visits - 2) / 1.4,
    ]
    direction = rng.normal(size=len(scaled))
    direction *= 1.2 / np.linalg.norm(direction)
    wards = dict(zip("abcd", rng.normal(0, 0.6, 4), strict=True))
    score = frame.ward.map(wards) + sum(own * column for own, column in zip(direction, scaled, strict=True))
    low, high = -20.0, 20.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (low, middle) if _chance(score + middle).mean() > rate else (middle, high)
    return frame.assign(sick=rng.random(rows) < _chance(score + low))


def _chance(score: pd.Series) -> pd.Series:
    return 1 / (1 + np.exp(-score))
