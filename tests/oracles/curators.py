"""People to ask, and what a curator would charge them."""

from __future__ import annotations

from typing import Any

import numpy as np

import sulq
from sulq.oracles.curator import Curator

SCHEMA = sulq.Schema(
    {
        "a": sulq.Boolean(),
        "b": sulq.Boolean(),
        "y": sulq.Boolean(),
        "pay": sulq.Real(0, 100),
        "age": sulq.Integer(0, 9),
    }
)


def people(rows: int = 1000, seed: int = 0) -> sulq.Source:
    rng = np.random.default_rng(seed)
    data: dict[str, Any] = {name: rng.random(rows) < 0.4 for name in ("a", "b", "y")}
    data |= {"pay": rng.uniform(0, 100, rows), "age": rng.integers(0, 10, rows)}
    return sulq.open(data, SCHEMA)


def terms(curator: Curator, round_: sulq.Round) -> Any:
    return curator.offer.terms(round_)
