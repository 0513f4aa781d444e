"""Limits: each is met exactly, follows from public facts, and is told in words."""

from __future__ import annotations

import json
import tracemalloc

import pytest

import sulq
from sulq.errors import QueryError
from sulq.queries import scope as scope_module
from sulq.queries.codes import OneHot
from sulq.queries.room import at_most
from sulq.queries.scope import Scope
from sulq.schema import Schema
from sulq.serve.limits import Limits, Traffic
from sulq.serve.refusals import RefusedError

SCHEMA = Schema({"x": sulq.Real(0, 1), "a": sulq.Category([str(level) for level in range(100)])})


def test_depth_is_counted_outside_of_texts() -> None:
    limits = Limits(depth=3)
    for fine in ("[[[1]]]", '{"a": {"b": {"c": 1}}}', json.dumps(["[[[[[", '"[[[[']), "[[],[],[],[[]]]"):
        limits.check_depth(fine)
    for deep in ("[[[[1]]]]", '[[["a", [1]]]]', '[[["\\"", [1]]]]', "[" * 10**6):
        with pytest.raises(RefusedError, match="3 deep"):
            limits.check_depth(deep)


def test_a_round_may_have_so_many_queries_and_numbers() -> None:
    limits, scope = Limits(queries=2, numbers=101), Scope(SCHEMA)
    one = sulq.count(by="a")
    limits.check_round(sulq.Round([one]), scope)
    with pytest.raises(QueryError, match="101 numbers"):
        limits.check_round(sulq.Round([one, sulq.total("x")]), scope)
    with pytest.raises(QueryError, match="2 queries"):
        limits.check_round(sulq.Round([sulq.total("x")] * 3), scope)


def test_what_is_too_wide_is_refused_before_memory_is_taken() -> None:
    def cross(times: int) -> sulq.Node:
        return OneHot(sulq.cross(*["a"] * times))

    scope = Scope(SCHEMA)
    tracemalloc.start()
    for wide in (cross(4), sulq.gram(cross(2)), sulq.outer(cross(1), cross(2))):
        with at_most(10_000), pytest.raises(QueryError, match="too many to answer at once; at most 10000"):
            scope.number(wide)
    assert tracemalloc.get_traced_memory()[1] < 10**7
    tracemalloc.stop()


def test_what_is_remembered_of_expressions_stays_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scope_module, "MOST_NUMBERS", 50_000)
    scope = Scope(SCHEMA)
    wide = OneHot(sulq.cross("a", "a"))
    for constant in range(40):
        scope.number(wide * (constant + 1))
        held = sum(getattr(facts, "width", 1) for facts in scope._known.values())
        assert 0 < held <= 50_000


def test_so_many_at_once_of_one_key_and_of_all() -> None:
    traffic = Traffic(Limits(at_once=2, in_all=3))
    with traffic.admitted("ada"), traffic.admitted("ada"):
        with pytest.raises(RefusedError, match="answered at once"), traffic.admitted("ada"):
            pass
        with traffic.admitted("bob"):
            assert traffic.at_once == 3
            with pytest.raises(RefusedError, match="answered at once"), traffic.admitted("carl"):
                pass
    assert traffic.at_once == 0
    with traffic.admitted("carl"):
        pass


def test_so_many_in_a_minute_which_come_back_evenly() -> None:
    now = [0.0]
    traffic = Traffic(Limits(rounds_a_minute=60), clock=lambda: now[0])

    def admitted() -> int:
        times = 0
        try:
            while True:
                with traffic.admitted("ada"):
                    times += 1
        except RefusedError as refused:
            assert refused.code == "too_many" and refused.retry_after == 1
        return times

    assert admitted() == 60
    now[0] = 10.5
    assert admitted() == 10
    with traffic.admitted("bob"):
        pass
    now[0] = 10_000
    assert admitted() == 60
