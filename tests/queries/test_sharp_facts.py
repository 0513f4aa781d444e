"""Products with a constant, inner products and lookups: no two rows are further apart than is said, and some are."""

from __future__ import annotations

import itertools
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import sulq
from sulq.queries.arithmetic import Multiply
from sulq.queries.expressions import Constant
from sulq.queries.node import Node
from sulq.queries.products import Dot
from sulq.queries.scope import scope_of
from tests.effort import examples
from tests.queries.random_expressions import SCHEMA as RANDOM
from tests.queries.random_expressions import scalars, vectors

SCHEMA = sulq.Schema(
    {
        "plan": sulq.Category(["a", "b", "c"]),
        "x": sulq.Real(-1, 1),
        "y": sulq.Real(-1, 1),
        "z": sulq.Real(0, 1),
    }
)
CORNERS = list(itertools.product("abc", [-1.0, 1.0], [-1.0, 1.0], [0.0, 1.0]))
PEOPLE = sulq.open(dict(zip(("plan", "x", "y", "z"), zip(*CORNERS, strict=True), strict=True)), SCHEMA)
ONE_HOT = sulq.one_hot("plan")
THREE_OF_FOUR = sulq.lookup("plan", [[10, 10, 10, 0], [10, 10, 0, 10], [10, 0, 10, 10], [0, 10, 10, 10]])
SHORT = sulq.clip_norm(sulq.vector("x", "y", "z"), 1, 1)
CASES: dict[str, tuple[Any, float, float]] = {
    "a lookup": (THREE_OF_FOUR, 40.0, 20.0),
    "a lookup times a number": (Multiply(THREE_OF_FOUR, Constant(3)), 120.0, 60.0),
    "weights of one-hot": (Dot(ONE_HOT, sulq.vector(5, 6, 7, 8)), 13.0, 8.0),
    "a short vector": (Dot(SHORT, sulq.vector(1, 1, 1)), 3.464, 2.0),
}
"""With how far two rows were said to differ, in the 1-norm, and are now."""


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("expression", [case for case, *_ in CASES.values()], ids=CASES.keys())
def test_no_two_rows_are_further_apart_than_is_said(expression: Any, order: Any) -> None:
    values = np.asarray(PEOPLE.values(expression), dtype=float).reshape(len(CORNERS), -1)
    apart = max(np.linalg.norm(a - b, order) for a, b in itertools.combinations(values, 2))
    for former in (False, True):
        facts = scope_of(SCHEMA, former).number(expression)
        spread = facts.spread1 if order == 1 else facts.spread_square**0.5
        assert apart <= spread * float(facts.unit) * (1 + 1e-9)


@pytest.mark.parametrize(("expression", "was", "now"), CASES.values(), ids=CASES.keys())
def test_the_bound_is_sharper_than_it_was_on_the_same_grid(expression: Any, was: float, now: float) -> None:
    sharp, former = (scope_of(SCHEMA, loose).number(expression) for loose in (False, True))
    assert float(former.spread1 * former.unit) == pytest.approx(was, rel=0.01)
    assert float(sharp.spread1 * sharp.unit) == pytest.approx(now, rel=0.01)
    assert (sharp.bits, sharp.low.tolist(), sharp.high.tolist()) == (
        former.bits,
        former.low.tolist(),
        former.high.tolist(),
    )


@settings(max_examples=examples(200), suppress_health_check=[HealthCheck.too_slow])
@given(st.one_of(scalars(3), vectors(2)))
def test_no_bound_of_any_expression_is_looser_than_it_was(expression: Node) -> None:
    """So there is no setting for the former ones: they are other numbers for the same sum, never better ones."""
    sharp, former = (scope_of(RANDOM, loose).number(expression) for loose in (False, True))
    assert sharp.bits == former.bits
    assert sharp.norm1 <= former.norm1 and sharp.square <= former.square
    assert sharp.spread1 <= former.spread1 and sharp.spread_square <= former.spread_square
    assert (sharp.low >= former.low).all() and (sharp.high <= former.high).all()
