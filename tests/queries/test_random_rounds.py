"""Random rounds, whose sums share conditions: no two rows move them further than is accounted for."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any, Literal

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import sulq
from sulq.privacy.terms import SumFacts, jointly
from sulq.queries.rounds import asked_of
from sulq.queries.scope import scope_of
from sulq.talk.row_questions import PublicFacts
from sulq.talk.sum_facts import round_facts
from tests.effort import examples
from tests.queries.random_expressions import SCHEMA, batch_of, conditions, queries, row

WEIGHTS = (Fraction(1), Fraction(3), Fraction(1, 2))


@st.composite
def rounds(draw: st.DrawFn) -> sulq.Round:
    """Several queries with few conditions among them, one perhaps the opposite of another."""
    some = draw(st.lists(conditions(1), min_size=1, max_size=2))
    every = [*some, ~some[0]]
    asked = draw(st.lists(queries(), min_size=2, max_size=4))
    return sulq.Round(
        [
            replace(each, where=draw(st.sampled_from([*every, None])), weight=draw(st.sampled_from(WEIGHTS)))
            for each in asked
        ]
    )


@pytest.mark.parametrize("former", [False, True])
@settings(max_examples=examples(400), deadline=None, suppress_health_check=list(HealthCheck))
@given(asked=rounds(), rows=st.lists(row, min_size=2, max_size=8))
def test_no_two_rows_move_a_round_further_than_is_accounted_for(
    former: bool, asked: sulq.Round, rows: list[dict[str, Any]]
) -> None:
    """In units of each sum's noise, under Laplace and under Gaussian noise."""
    scope = scope_of(SCHEMA)
    batch, asked = batch_of(scope, rows), asked_of(asked, SCHEMA)
    try:
        facts = round_facts(PublicFacts(SCHEMA), asked, former)
    except sulq.QueryError:
        return
    scales = [each.weight / (each.size or 1) for each in facts]
    parts = [part for query in asked.queries for part in query.parts]
    added = np.vstack(
        [
            np.reshape(batch.number(part), (each.width, len(rows))) * float(each.step * scale)
            for part, each, scale in zip(parts, facts, scales, strict=True)
        ]
    ).T
    assert _worst(added, 1) <= _accounted(facts, 1) * (1 + 1e-9)
    assert _worst(added, 2) ** 2 <= _accounted(facts, 2) * (1 + 1e-9)


def _worst(added: np.ndarray[Any, Any], order: int) -> float:
    return max(float(np.linalg.norm(one - other, order)) for one in added for other in added)


def _accounted(facts: list[SumFacts], order: Literal[1, 2]) -> float:
    return float(jointly(facts, order, lambda each: (each.weight / (each.size or 1)) ** order))
