"""What parties refuse: answers that are no sketches, parties that make no sense, and questions nobody can answer."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import sulq
from sulq.oracles.curator import Curator
from sulq.talk.denoised import Denoised
from tests.oracles.test_parties import HERE, THERE, col, curators, table

UNKNOWN = HERE.curator(epsilon=1, neighbours="add-remove")
"""A party that does not make public how many rows it has."""


class Liar(Curator):
    """A party that says something else than it was asked for."""

    lie: Any = None

    def ask(self, round_: sulq.Round, run: str = "main") -> list[sulq.Answer]:
        return [replace(each, value=self.lie(each.value)) for each in super().ask(round_, run)]


@pytest.mark.parametrize(
    "lie",
    [lambda v: v[:-1], lambda v: np.concatenate([v, v]), lambda v: v * np.nan, lambda v: v + np.inf, np.sum],
    ids=["fewer", "twice as many", "no numbers", "infinite", "one"],
)
def test_what_is_no_sketch_is_refused_and_not_kept(lie: Any) -> None:
    honest = HERE.curator(epsilon=1)
    liar = Liar(honest.offer, honest.source, honest.ledger)
    liar.lie = lie
    asked = sulq.parties({"liar": liar, "there": THERE.curator(epsilon=1)}, "id")
    with pytest.raises(sulq.QueryError, match="liar answered with other numbers than a sketch has"):
        asked.ask(sulq.Round([sulq.count(by=["a", "d"])], share=1))
    assert not asked.group.published.sketches


@pytest.mark.parametrize(
    "wrong",
    [
        {"hand": True},
        {"hand": 1},
        {"hand": 7},
        {"buckets": 65},
        {"noise": True},
        {"sums": []},
        {"sums": ["1"] * 64},
    ],
    ids=str,
)
def test_sketches_that_make_no_sense_are_not_read(wrong: dict[str, Any]) -> None:
    good = {"hand": 0, "factor": col("a").form, "buckets": 64, "sums": [1] * 64, "noise": 1}
    form: dict[str, Any] = json.loads(curators(epsilon=1).sketches_to_json())
    for each, read in ((good, True), (good | wrong, False)):
        asked = curators(epsilon=1)
        text = json.dumps(form | {"published": [each]})
        if read:
            asked.sketches_from_json(text)
        else:
            with pytest.raises(sulq.QueryError):
                asked.sketches_from_json(text)
        assert bool(asked.group.published.sketches) == read


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: sulq.parties([], "id"), "at least two"),
        (lambda: sulq.parties([HERE.exact()], "id"), "at least two"),
        (lambda: sulq.parties([UNKNOWN], "id"), "at least two"),
        (lambda: sulq.parties([UNKNOWN, UNKNOWN], "id"), "two parties have a column 'a'"),
        (lambda: sulq.parties([HERE.exact(), HERE.exact()], "id"), "two parties have a column 'a'"),
        (lambda: sulq.parties([HERE.exact(), THERE.exact()], "who"), "^party 1: no column 'who'"),
        (lambda: sulq.parties({"x": HERE.exact(), "y": THERE.exact()}, ["id", "who"]), "^y: no column 'who'"),
        (lambda: sulq.parties([HERE.exact(), THERE.exact()], ["id"]), "a name for each party"),
        (lambda: sulq.parties([HERE.exact(), THERE.exact()], None), "a name for each party"),  # type: ignore[arg-type]
        (lambda: sulq.parties(HERE.exact(), "id"), "curators in a list, or by name"),  # type: ignore[arg-type]
        (lambda: sulq.parties([HERE.exact(), THERE.exact()], "id", salt="\ud83d"), "whole letters"),
        (lambda: sulq.parties([HERE.crowd(epsilon=1), THERE.exact()], "id"), "^party 1: a Crowd is no party"),  # type: ignore[list-item]
        (
            lambda: sulq.parties([HERE.curator(epsilon=1, truncate=True), THERE.exact()], "id"),
            "^party 1: it truncates",
        ),
        (
            lambda: sulq.parties(
                [HERE.curator(epsilon=1, answering="chunks", queries=2), THERE.exact()], "id"
            ),
            "from all of their rows",
        ),
        (
            lambda: sulq.parties(
                [each.curator(epsilon=1, neighbours="add-remove") for each in (HERE, THERE)], "id"
            ),
            "say people=",
        ),
    ],
)
def test_parties_that_make_no_sense_are_refused(make: Any, says: str) -> None:
    with pytest.raises(sulq.SulqError, match=says):
        make()


@pytest.mark.parametrize(
    ("query", "says"),
    [
        (sulq.count(where=col("x") < col("y")), "columns of several parties"),
        (sulq.total(col("a") & col("b"), tolerance=1, beta="0.1"), "with a share instead of a tolerance"),
        (sulq.choose(["a"], label="b"), "a choice over columns of several parties"),
        (sulq.count(where="who"), "who"),
        (sulq.total(sulq.features("x", "y", norm=1)), "columns of several parties"),
    ],
)
def test_what_parties_cannot_answer_is_refused_before_anybody_is_asked(query: Any, says: str) -> None:
    asked = curators(epsilon=1)
    with pytest.raises(sulq.SulqError, match=says):
        asked.ask(sulq.Round([query], share=None if "tolerance" in says else 1))
    assert asked.spent == {"here": 0, "there": 0}


def test_labels_are_not_denoised_across_parties() -> None:
    for way in (sulq.Parties.denoised, Denoised):
        with pytest.raises(sulq.QueryError, match="not denoised across parties: denoise the curator"):
            way(curators(epsilon=1), "a", "0.1")


def test_products_of_four_parties_are_refused() -> None:
    hands = [table({"id": [1], name: [1]}, {name: sulq.Boolean()}).exact() for name in "pqrs"]
    every = col("p") & col("q") & col("r") & col("s")
    with pytest.raises(sulq.QueryError, match="at most 3 parties"):
        sulq.parties(hands, "id").ask(sulq.Round([sulq.count(where=every)]))


def test_what_is_published_is_named() -> None:
    both = sulq.parties([HERE.curator(epsilon=1), THERE.curator(epsilon=1)], "id")
    with pytest.raises(sulq.QueryError, match="nothing is to be published: name columns"):
        both.publish(share="1/2")
    with pytest.raises(sulq.QueryError, match="what is published looks at one party's columns, and this and"):
        both.publish(col("a") & col("b"), share="1/2")
    assert set(both.spent.values()) == {0}
