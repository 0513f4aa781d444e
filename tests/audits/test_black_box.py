"""A black box that keeps its promise is let pass, and one that does not is caught: wherever it leaks.

Every check has a false alarm rate of 1e-9, and the boxes leak so much that they are caught but for less than that.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sulq.audits.black_box import told_apart
from sulq.audits.laid_out import laid_out, numbers_in

RUNS = 1200


def laplace(centre: float, scale: float, seed: int) -> list[float]:
    return np.random.default_rng(seed).laplace(centre, scale, RUNS).tolist()


def test_a_box_that_keeps_its_promise_holds() -> None:
    finding = told_apart("a box", laplace(0, 1, 1), laplace(1, 1, 2), epsilon=1)
    assert finding.holds
    assert finding.evidence < 1
    assert "ε ≥" in finding.detectable


def test_a_box_with_a_third_of_its_noise_is_caught() -> None:
    assert not told_apart("a box", laplace(0, 1 / 3, 1), laplace(1, 1 / 3, 2), epsilon=1).holds


LEAKS: dict[str, Any] = {
    "an error": lambda there: ValueError("no rows") if there else 1.0,
    "the words of an error": lambda there: ValueError("row 7" if there else "row 8"),
    "a length": lambda there: [0.0] * (3 if there else 4),
    "a text": lambda there: {"verdict": "yes" if there else "no"},
    "NaN": lambda there: float("nan") if there else 0.0,
    "an infinity": lambda there: float("inf") if there else 0.0,
    "a type": lambda there: None if there else 0.0,
    "a number deep inside": lambda there: {"model": [{"leaves": (0, int(there))}]},
}


@pytest.mark.parametrize("leak", LEAKS)
def test_a_leak_is_noticed_whatever_it_is(leak: str) -> None:
    finding = told_apart("a box", [LEAKS[leak](True)] * 300, [LEAKS[leak](False)] * 300, epsilon=1)
    assert not finding.holds


def test_what_two_numbers_say_together_is_noticed() -> None:
    """Neither number tells the tables apart by itself: their sum does."""
    rng = np.random.default_rng(3)
    shared, other = rng.normal(0, 5, RUNS), rng.normal(0, 5, RUNS)
    first = np.column_stack([shared, 2 - shared])
    second = np.column_stack([other, -2 - other])
    assert not told_apart("a box", first.tolist(), second.tolist(), epsilon=1).holds


def test_delta_is_taken_off() -> None:
    """An event that comes only of one table, with a chance of 1/4, breaks ε but not (ε, 0.4)."""
    first = [1.0 if run % 4 == 0 else 0.0 for run in range(RUNS)]
    assert not told_apart("a box", first, [0.0] * RUNS, epsilon=0.1).holds
    assert told_apart("a box", first, [0.0] * RUNS, epsilon=0.1, delta=0.4).holds


def test_answers_of_every_kind_are_laid_out() -> None:
    names, rows = laid_out([{"a": [1, 2]}, ValueError("x"), None, {1, 2}, b"bytes", np.eye(2)])
    assert rows.shape == (6, len(names))
    assert dict(numbers_in(True)) == {"": 1.0}
