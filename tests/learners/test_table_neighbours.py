"""Tables cost what neighbours can tell apart: brute force on the sums that a table is made of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sulq
from sulq.talk.laws import Exactly, Noise

KINDS: dict[str, Any] = {
    "ward": sulq.Category(["north", "south"], missing="north"),
    "age": sulq.Integer(0, 200),
    "cost": sulq.Real(-3, 9, drop_missing=True),
    "born": sulq.Date("1999-12-31", "2000-02-29", drop_missing=True),
    "person": sulq.Integer(0, 9),
}
LEARNER = sulq.Table(
    ["ward", sulq.col("born") > "2000-01-01"],
    sums=["cost"],
    means=["cost", "age"],
    shares=[sulq.known("born")],
    medians=["age"],
    quantiles={"cost": [0.9]},
    bins={"cost": [0, 3]},
    where=sulq.known("cost") & (sulq.col("age") > 20),
    margins=True,
)


def rows(rng: np.random.Generator) -> dict[str, list[Any]]:
    """Three people with two rows each."""
    days = ["1999-12-31", "2000-02-29", "2000-01-01", "2000-02-01", ""]
    return {
        "ward": rng.choice(["north", "south"], 6).tolist(),
        "age": rng.integers(0, 201, 6).tolist(),
        "cost": rng.choice([-3.0, 9.0, 0.3, np.nan], 6, p=[0.4, 0.4, 0.1, 0.1]).tolist(),
        "born": rng.choice(days, 6).tolist(),
        "person": [0, 0, 1, 1, 2, 2],
    }


@pytest.mark.parametrize("unit", [None, sulq.Unit("person", rows=2)])
@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
@pytest.mark.parametrize("budget", [{"epsilon": 1}, {"rho": "0.5"}])
def test_no_neighbour_costs_more_than_is_charged(unit: Any, neighbours: Any, budget: dict[str, Any]) -> None:
    """The sum of |Δ| / scale is at most ε, and that of Δ² / 2σ² at most ρ, for whoever comes, goes or changes."""
    rng, schema, most = np.random.default_rng(8), sulq.Schema(KINDS, unit), 0.0
    round_ = next(LEARNER.rounds(schema))
    for _ in range(3):
        here, other, many = rows(rng), rows(rng), 1 if unit is None else 2
        there = {
            name: ([] if neighbours == "add-remove" else (column if name == "person" else other[name])[:many])
            + column[many:]
            for name, column in here.items()
        }
        source = sulq.open(here, schema)
        curator = source.curator(neighbours=neighbours, **budget)
        laws = [answer.law for answer in curator.ask(round_)]
        both = (each.exact().ask(round_) for each in (source, sulq.open(there, schema)))
        spent = 0.0
        for law, mine, yours in zip(laws, *both, strict=True):
            apart = np.abs(np.asarray(mine.value) - np.asarray(yours.value))
            assert isinstance(law, Noise | Exactly)
            if isinstance(law, Exactly):
                assert apart.max() == 0
                continue
            steps, parameter = apart / float(law.step), float(law.parameter)
            spent += float(
                steps.sum() / parameter if law.family == "laplace" else (steps**2).sum() / 2 / parameter
            )
        assert spent <= float(curator.spent) * (1 + 1e-9)
        most = max(most, spent / float(curator.spent))
    assert most > 0.05, "the rows differ in what is asked"
