"""Tables that are made up, for what the data sets do not have: skewed numbers, few rows, interactions."""

from __future__ import annotations

import numpy as np
import pandas as pd

import sulq
from data_sets import DataSet, one_of
from sulq.schema import Kind


def sensors(rows: int = 6000, columns: int = 10, seed: int = 101) -> DataSet:
    """Positive numbers on very different scales, with wide bounds: nearly all of their mass lies near 0."""
    rng = np.random.default_rng(seed)
    faulty = rng.random(rows) < 0.35
    readings = np.exp(rng.normal(0, 1, (rows, columns))) * 10.0 ** rng.uniform(-2, 1, columns)
    readings[:, :3] *= np.where(faulty[:, None], [3.0, 0.4, 2.0], 1.0)
    names = [f"s{i}" for i in range(columns)]
    highest = 10.0 ** np.ceil(np.log10(readings.max(axis=0)) + 1)
    kinds: dict[str, Kind] = {
        name: sulq.Real(0, float(high)) for name, high in zip(names, highest, strict=True)
    }
    table = pd.DataFrame(readings, columns=names).assign(y=np.where(faulty, "faulty", "fine"))
    return DataSet(table, sulq.Schema(kinds | {"y": one_of("fine faulty")}), "y")


def hospital(rows: int = 4000, seed: int = 102) -> DataSet:
    """Patients who come back or not: counts and costs that are mostly small, and effects that add up."""
    rng = np.random.default_rng(seed)
    age, stay = rng.integers(18, 100, rows), np.minimum(rng.geometric(0.2, rows), 365)
    visits = np.minimum(rng.poisson(rng.gamma(0.5, 2, rows)), 200)
    ward, emergency = rng.choice(list("ABCDE"), rows, p=[0.4, 0.3, 0.15, 0.1, 0.05]), rng.random(rows) < 0.4
    diabetes = rng.random(rows) < 0.2
    odds = -1.6 + 0.02 * (age - 60) + 0.35 * np.log1p(visits) + 0.25 * np.log(stay) + 0.5 * emergency
    odds = odds + 0.8 * (ward == "C") + 0.6 * diabetes
    back = rng.random(rows) < 1 / (1 + np.exp(-odds))
    columns = {
        "age": age,
        "stay": stay,
        "visits": visits,
        "cost": np.exp(rng.normal(8, 1.2, rows)).clip(0, 1e6),
    }
    columns |= {"ward": ward, "emergency": emergency, "diabetes": diabetes, "y": np.where(back, "yes", "no")}
    kinds: dict[str, Kind] = {"age": sulq.Integer(0, 120), "stay": sulq.Integer(0, 365)}
    kinds |= {"visits": sulq.Integer(0, 200), "cost": sulq.Real(0, 1e6), "ward": one_of("A B C D E")}
    kinds |= {"emergency": sulq.Boolean(), "diabetes": sulq.Boolean(), "y": one_of("no yes")}
    return DataSet(pd.DataFrame(columns), sulq.Schema(kinds), "y")


def few(rows: int = 430, columns: int = 8, seed: int = 103) -> DataSet:
    """A few hundred rows, of which about 300 are learned from: three columns matter and six do not."""
    rng = np.random.default_rng(seed)
    points, kind = rng.normal(size=(rows, columns)), rng.choice(list("pqr"), rows)
    odds = 1.5 * points[:, 0] - 1.2 * points[:, 1] + np.where(kind == "p", 1.2, -0.4) - 0.8
    names = [f"x{i}" for i in range(columns)]
    yes = rng.random(rows) < 1 / (1 + np.exp(-odds))
    table = pd.DataFrame(points, columns=names).assign(kind=kind, y=np.where(yes, "yes", "no"))
    kinds: dict[str, Kind] = {name: sulq.Real(-5, 5) for name in names}
    return DataSet(table, sulq.Schema(kinds | {"kind": one_of("p q r"), "y": one_of("no yes")}), "y")
