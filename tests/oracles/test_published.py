"""Sketches that were published: what follows from them, what they leave out, and whose they are."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import sulq
from tests.oracles.test_parties import SURE, col, table

ROWS = 3000
RNG = np.random.default_rng(8)
M = np.where(RNG.random(ROWS) < 0.4, np.nan, 1.0)
K = RNG.integers(5, 7, ROWS)
B = RNG.random(ROWS) < 0.4
REAL, TWO = sulq.Real(-1, 9, drop_missing=True), sulq.Integer(5, 6)
KINDS: dict[str, Any] = {"m": REAL, "k": TWO, "f": sulq.Integer(0, 1), "b": sulq.Boolean()}
COLUMNS = {"m": M, "k": K, "f": K - 5, "b": B}
WHOLE = sulq.open(COLUMNS, KINDS)
HERE, THERE = (
    table({"id": range(ROWS)} | {name: COLUMNS[name] for name in hand}, {name: KINDS[name] for name in hand})
    for hand in ("mkf", "b")
)


def together() -> sulq.Parties:
    return sulq.parties([HERE.curator(epsilon=400), THERE.curator(epsilon=400)], "id")


def check(asked: sulq.Parties, *queries: Any) -> None:
    """All answers are within their errors: one is not once in 10^9."""
    round_ = sulq.Round(queries, share="0.3")
    for answer, true in zip(asked.ask(round_), WHOLE.exact().ask(round_), strict=True):
        assert (np.abs(answer.value - true.value) <= answer.radius(SURE)).all()


@pytest.mark.parametrize("published", [["k"], ["k", "f"]], ids=str)
def test_a_number_of_two_values_is_no_flag_of_the_second(published: list[str]) -> None:
    asked = together()
    asked.publish(sulq.one_hot(sulq.cross(*published)), share="0.3")
    check(asked, sulq.total("k", where="b"), sulq.mean("k", where="b"), sulq.total("f", where="b"))


def test_a_number_that_is_0_or_1_follows_from_its_counts() -> None:
    asked = together()
    asked.publish(sulq.one_hot(sulq.cross("k", "f")), "b", share="0.3")
    round_ = sulq.Round([sulq.total("f", where="b")], share="0.3")
    assert asked.cost(round_) == {}
    check(asked, *round_.queries)


@pytest.mark.parametrize("published", [["m"], [sulq.vector("m", "k")]], ids=["alone", "in a vector"])
def test_what_is_published_leaves_out_its_own_missing_cells(published: list[Any]) -> None:
    asked = together()
    asked.publish(*published, "b", share="0.3")
    free = sulq.total("m", where="b")
    assert asked.cost(sulq.Round([free], share="0.3")) == {}
    check(asked, free, sulq.total("k", where="b"))


@pytest.mark.parametrize(
    "query",
    [
        sulq.total("m", where=sulq.known("m") | col("b")),
        sulq.total(col("m") + col("b") + 0 * sulq.known("m")),
        sulq.total(sulq.where("b", sulq.vector("m", "k"), 0), where=sulq.known("m") | col("b")),
    ],
    ids=["times another", "of one party", "vector"],
)
def test_a_factor_of_a_query_that_says_itself_what_is_missing_leaves_out_no_more(query: Any) -> None:
    check(together(), query)


def test_sketches_are_taken_over_under_the_same_schemas_and_keys_only() -> None:
    flags, letters = {"id": range(400), "s": [True, False] * 200}, ["a", "b", "b", "c"] * 100
    kinds = {"s": sulq.Boolean()}

    def parties(other: Any, key: str = "id", name: str = "l") -> sulq.Parties:
        there = sulq.open(
            {"id": range(400), "to": range(400), name: letters},
            {"id": sulq.Integer(0, 999), "to": sulq.Integer(0, 999), name: other},
        )
        return sulq.parties([table(flags, kinds).exact(), there.exact()], ["id", key])

    first = parties(sulq.Category(["a", "b", "c"]))
    [answer] = first.ask(sulq.Round([sulq.count(by=["s", "l"])]))
    text = first.sketches_to_json()
    same = parties(sulq.Category(["a", "b", "c"]))
    same.sketches_from_json(text)
    assert (same.ask(sulq.Round([sulq.count(by=["s", "l"])]))[0].value == answer.value).all()
    others = [
        parties(sulq.Category(["c", "b", "a"])),
        parties(sulq.Category(["a", "b", "c"]), "to"),
        parties(sulq.Category(["a", "b", "c"]), "id", "r"),
    ]
    for other in others:
        with pytest.raises(sulq.QueryError, match="other schemas or keys"):
            other.sketches_from_json(text)
    form = json.loads(text)
    form["published"][0]["hand"], form["published"][1]["hand"] = 1, 0
    with pytest.raises(sulq.QueryError, match="of the columns of the party that published it"):
        same.sketches_from_json(json.dumps(form))
