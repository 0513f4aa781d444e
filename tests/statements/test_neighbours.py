"""Statements cost what neighbours can tell apart: brute force over the most extreme rows, with missing cells."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest

import sulq
from sulq.talk.laws import Exactly, Noise

SCHEMA = sulq.Schema(
    {
        "ward": sulq.Category(["north", "south"], missing="north"),
        "x": sulq.Integer(-1, 2, drop_missing=True),
        "smokes": sulq.Boolean(drop_missing=True),
        "cost": sulq.Integer(-3, 5, drop_missing=True),
    }
)
ROWS = [
    *product(["north"], [-1, 2, None], [True, False, None], [-3, 5, None]),
    *product(["south"], [2], [True], [-3, 5]),
]
STATEMENTS = [
    "SELECT ward, count(*), avg(x), sum(cost), median(cost), avg(CAST(smokes AS INT)) FROM p WHERE cost > 0 GROUP BY ward",
    "SELECT smokes, count(*) FILTER (WHERE x > 0) / count(*), sum(x * cost), sum(coalesce(x, 5)) FROM p GROUP BY smokes",
    "SELECT x, sum(CASE WHEN smokes THEN cost ELSE x END), quantile_disc(x, 0.3) FILTER (WHERE NOT smokes) FROM p"
    " WHERE x IS NULL OR smokes GROUP BY x",
    "SELECT x > 0 AS g, smokes AND cost > 1 AS h, sum(x + 10), avg(x + 10), sum(smokes) FROM p GROUP BY CUBE (g, h)",
]


def source(*rows: tuple[Any, ...]) -> sulq.Source:
    return sulq.open({name: [row[place] for row in rows] for place, name in enumerate(SCHEMA)}, SCHEMA)


@cache
def alone(text: str) -> list[tuple[sulq.Answer, ...]]:
    """What is answered without noise about each row alone, and at last about no rows."""
    round_ = next(sulq.Statement(text).rounds(SCHEMA))
    return [tuple(source(*rows).exact().ask(round_)) for rows in (*([row] for row in ROWS), [])]


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
@pytest.mark.parametrize("budget", [{"epsilon": 1}, {"rho": "0.5"}])
@pytest.mark.parametrize("text", STATEMENTS)
def test_no_row_costs_more_than_is_charged(text: str, budget: dict[str, Any], neighbours: Any) -> None:
    """The sum of |Δ| / scale is at most ε, and that of Δ² / 2σ² at most ρ, for whatever row comes, goes or changes."""
    round_ = next(sulq.Statement(text).rounds(SCHEMA))
    *answers, nobody = alone(text)
    curator = source(ROWS[0]).curator(neighbours=neighbours, **budget)
    spent = np.zeros(())
    for place, released in enumerate(curator.ask(round_)):
        law, sums = released.law, np.array([np.ravel(each[place].value) for each in answers])
        others = sums if neighbours == "replace" else np.ravel(nobody[place].value)[np.newaxis]
        apart = np.abs(sums[:, np.newaxis] - others)
        assert isinstance(law, Noise | Exactly)
        if isinstance(law, Exactly):
            assert apart.max() == 0
            continue
        steps, parameter = apart / float(law.step), float(law.parameter)
        squares = (steps**2).sum(axis=-1) / 2 / parameter
        spent = spent + (steps.sum(axis=-1) / parameter if law.family == "laplace" else squares)
    assert 0.2 * float(curator.spent) < spent.max() <= float(curator.spent) * (1 + 1e-9)
