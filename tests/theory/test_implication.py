"""Whether α implies β in probability is told across parties, with error bars that cover."""

from __future__ import annotations

import numpy as np
import pytest

import sulq
from sulq.theory import implication

ID = sulq.Integer(0, 10**6)


def hands(rows: int) -> tuple[dict[str, object], dict[str, object]]:
    rng = np.random.default_rng(8)
    smokes = rng.random(rows) < 0.5
    return {"id": range(rows), "smokes": smokes}, {
        "id": range(rows),
        "sick": rng.random(rows) < np.where(smokes, 0.9, 0.1),
    }


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_alpha_here_implies_beta_there(neighbours: str) -> None:
    """The gain is about 0.4, and the error at ε = 8 about a tenth of it. False alarms: 10^-6."""
    one, other = hands(20_000)
    flag = sulq.Boolean()
    asked = sulq.parties(
        [
            sulq.open(one, {"id": ID, "smokes": flag}).curator(epsilon=8, neighbours=neighbours),  # type: ignore[arg-type]
            sulq.open(other, {"id": ID, "sick": flag}).curator(epsilon=8, neighbours=neighbours),  # type: ignore[arg-type]
        ],
        "id",
        people=20_000,
    )
    found = implication(asked, "smokes", "sick", share=1)
    whole = sulq.open(one | other, {"smokes": flag, "sick": flag}).exact()
    true = implication(whole, "smokes", "sick")
    low, high = found.interval(1e-6)
    assert low <= true.gain <= high and high - low < 0.4
    assert true.interval() == (true.gain, true.gain) and true.holds(0.35) is True and true.holds(0.5) is False
    assert found.holds(0.1, 1e-6) is True and found.holds(0.9, 1e-6) is False
    assert found.holds(found.gain) is None


def test_what_is_no_condition_implies_nothing_and_is_implied_by_nothing() -> None:
    rows = {"flag": [True, False] * 50, "number": [3.0] * 100}
    curator = sulq.open(rows, {"flag": sulq.Boolean(), "number": sulq.Real(0, 9)}).curator(epsilon=1)
    for alpha, beta in (("number", "flag"), ("flag", "number"), ("flag", sulq.vector("flag", "flag"))):
        with pytest.raises(sulq.QueryError, match="not true or false"):
            implication(curator, alpha, beta, share=1)  # type: ignore[arg-type]
    assert curator.spent == 0
