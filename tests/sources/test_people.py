"""At most so many rows of a person count, and nobody's presence moves another's."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings

import sulq

COLUMNS = {"x": sulq.Integer(0, 1000), "c": sulq.Category(["a", "b"])}
row = st.tuples(
    st.sampled_from(["ann", "bob", "cy", None]), st.integers(0, 1000), st.sampled_from(["a", "b", None])
)


def opened(rows: list[tuple[Any, ...]], limit: int, **settings: Any) -> sulq.Source:
    table = pa.table(
        {
            "who": pa.array([r[0] for r in rows], pa.string()),
            "x": pa.array([r[1] for r in rows], pa.int64()),
            "c": pa.array([r[2] for r in rows], pa.string()),
        }
    )
    return sulq.open(table, sulq.Schema(COLUMNS, sulq.Unit("who", rows=limit)), **settings)


def counts(source: sulq.Source) -> np.ndarray[Any, Any]:
    """A histogram of (x, c): which rows count, whatever their order."""
    return np.asarray(source.sums([sulq.one_hot(sulq.cross(sulq.col("x"), sulq.col("c")))])[0], dtype=int)


@settings(max_examples=100, deadline=None)
@given(st.lists(row, max_size=25), st.integers(1, 4), st.randoms())
def test_nobody_moves_anothers_rows(rows: list[tuple[Any, ...]], limit: int, random: Any) -> None:
    everyone = counts(opened(rows, limit))
    alone = [counts(opened([r for r in rows if r[0] == name], limit)) for name in ("ann", "bob", "cy")]
    assert (everyone == sum(alone)).all(), "the table is the sum of its people; rows of nobody do not count"
    for name, own in zip(("ann", "bob", "cy"), alone, strict=True):
        assert own.sum() == min(limit, sum(r[0] == name for r in rows))
    shuffled = random.sample(rows, len(rows))
    assert (counts(opened(shuffled, limit)) == everyone).all(), "the order of the table does not matter"


def test_another_salt_picks_other_rows() -> None:
    rows = [("ann", x, "a") for x in range(200)]
    picks = set()
    for salt in ("one", "two", "three"):
        table = pd.DataFrame(rows, columns=["who", "x", "c"])
        source = sulq.open(table, sulq.Schema(COLUMNS, sulq.Unit("who", rows=5, salt=salt)))
        picks.add(tuple(np.flatnonzero(counts(source))))
    assert len(picks) == 3


def test_people_are_told_apart_by_any_type_of_column() -> None:
    for ids in ([1, 1, 2], [1.5, 1.5, 2.5], ["a", "a", "b"]):
        frame = pd.DataFrame({"who": ids, "x": [1, 2, 3], "c": ["a", "a", "b"]})
        assert sulq.open(frame, sulq.Schema(COLUMNS, sulq.Unit("who", rows=1))).rows == 2
    nobody = pd.DataFrame({"who": [np.nan, np.nan, 2.0], "x": [1, 2, 3], "c": ["a", "a", "b"]})
    assert sulq.open(nobody, sulq.Schema(COLUMNS, sulq.Unit("who", rows=1))).rows == 1
    table = pa.table({"who": pa.array([np.nan, 2.0]), "x": [1, 2], "c": ["a", "b"]})
    assert sulq.open(table, sulq.Schema(COLUMNS, sulq.Unit("who", rows=1))).rows == 1


def test_the_person_may_also_be_a_column_to_ask_about() -> None:
    frame = pd.DataFrame({"x": [1, 1, 2]})
    source = sulq.open(frame, sulq.Schema({"x": sulq.Integer(0, 5)}, sulq.Unit("x", rows=1)))
    assert source.exact().ask(sulq.Round([sulq.count(by="x")]))[0].value.tolist() == [0, 1, 1, 0, 0, 0]


def test_it_works_with_columns_on_disk_and_with_no_rows() -> None:
    rows = [("ann", 5, "a"), ("ann", 6, "b"), ("bob", 7, "a")]
    assert (counts(opened(rows, 1, memory=0)) == counts(opened(rows, 1))).all()
    assert counts(opened([], 2)).sum() == 0


def test_a_missing_person_column_is_refused() -> None:
    with pytest.raises(sulq.SchemaError, match="no column 'who'"):
        sulq.open(pd.DataFrame({"x": [1], "c": ["a"]}), sulq.Schema(COLUMNS, sulq.Unit("who", rows=1)))
