"""Rows to make tables of, and the true figures of their groups."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd

import sulq

col = sulq.col

ROWS = 4_000

WARDS = ["north", "south", "west"]

SCHEMA: dict[str, Any] = {
    "ward": sulq.Category(WARDS, missing="north"),
    "sick": sulq.Boolean(),
    "age": sulq.Integer(0, 99),
    "cost": sulq.Real(0, 1000),
    "person": sulq.Integer(0, ROWS),
}


def rows() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    ward = rng.choice(WARDS, ROWS, p=[0.5, 0.4, 0.1])
    age = rng.integers(0, 100, ROWS)
    cost = np.minimum(1000, rng.exponential(150, ROWS) * (1 + (ward == "south")))
    columns = {"ward": ward, "sick": rng.random(ROWS) < 0.2 + age / 200, "age": age, "cost": cost}
    return pd.DataFrame(columns | {"person": np.arange(ROWS) // 2})


FRAME = rows()

LEARNER = sulq.Table(
    ["ward", "sick"],
    sums=["cost"],
    means=["cost", "age"],
    shares=[col("age") >= 50],
    medians=["age"],
    quantiles={"cost": [0.25, 0.9]},
)


@cache
def people(unit: bool = False) -> sulq.Source:
    return sulq.open(FRAME, sulq.Schema(SCHEMA, sulq.Unit("person", rows=2) if unit else None))


def quantile(values: Any, level: float) -> float:
    """The smallest value that at least this part of the values does not exceed."""
    return float(np.sort(values)[int(np.ceil(level * len(values))) - 1])


MEASURES: dict[str, Any] = {
    "count": lambda part: float(len(part)),
    "sum cost": lambda part: part["cost"].sum(),
    "mean cost": lambda part: part["cost"].mean(),
    "mean age": lambda part: part["age"].mean(),
    "share age >= 50": lambda part: (part["age"] >= 50).mean(),
    "median age": lambda part: quantile(part["age"], 0.5),
    "25 % quantile cost": lambda part: quantile(part["cost"], 0.25),
    "90 % quantile cost": lambda part: quantile(part["cost"], 0.9),
}

BY: list[list[str]] = [["ward", "sick"], ["ward"], ["sick"], []]


@cache
def truth(name: str, by: tuple[str, ...]) -> Any:
    if not by:
        return np.array(MEASURES[name](FRAME))
    sizes = [3 if axis == "ward" else 2 for axis in by]
    parts = FRAME.groupby(list(by), sort=True)
    return np.array([MEASURES[name](part) for _, part in parts]).reshape(sizes)
