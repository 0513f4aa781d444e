"""Whom answers across parties are about, where some people are in one table only."""

from __future__ import annotations

import pytest

import sulq
from tests.oracles.test_parties import SURE, col, table

A, B = col("a"), col("b")
MANY = table({"id": range(800), "a": [True, False] * 400}, {"a": sulq.Boolean()})
SOME = table({"id": range(500), "b": [True, True, False, True, False] * 100}, {"b": sulq.Boolean()})


@pytest.mark.parametrize("hands", [(MANY, SOME), (SOME, MANY)], ids=["many first", "some first"])
def test_what_is_denied_does_not_depend_on_who_is_first(hands: tuple[sulq.Source, sulq.Source]) -> None:
    """Of a person who is in one table only no condition of the other one holds, denied or not."""
    asked = sulq.parties([each.exact() for each in hands], "id")
    conditions = {~(A & B): 400 + 200 - 100, ~A | ~B: 400 + 200 - 100, ~(A | B): 100, ~A & ~B: 100}
    answers = asked.ask(sulq.Round([sulq.count(where=each) for each in conditions]))
    for answer, true in zip(answers, conditions.values(), strict=True):
        assert abs(answer.value - true) <= answer.radius(SURE) < 100
    assert answers[0].value == answers[1].value and answers[2].value == answers[3].value
