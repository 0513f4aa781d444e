"""Tables of rows with missing cells: a figure is about the rows whose cell is known."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sulq
from tests.learners.tabulated import FRAME, ROWS, SCHEMA, WARDS, people, quantile

col = sulq.col

DROPPED: dict[str, Any] = SCHEMA | {
    "age": sulq.Integer(0, 99, drop_missing=True),
    "cost": sulq.Real(0, 1000, missing=0, drop_missing=True),
    "sick": sulq.Boolean(drop_missing=True),
}


@cache
def holes() -> pd.DataFrame:
    """The same rows, where every third age, every fourth cost and every fifth diagnosis is missing."""
    frame, at = FRAME.copy(), np.arange(ROWS)
    frame["age"] = frame["age"].where(at % 3 > 0)
    frame["cost"] = frame["cost"].where(at % 4 > 0)
    return frame.assign(sick=frame["sick"].astype(object).where(at % 5 > 0))


@cache
def with_holes(unit: bool = False) -> sulq.Source:
    return sulq.open(holes(), sulq.Schema(DROPPED, sulq.Unit("person", rows=2) if unit else None))


@pytest.mark.parametrize("unit", [False, True])
def test_figures_are_about_the_rows_whose_cell_is_known(unit: bool) -> None:
    learner = sulq.Table(
        ["ward"],
        sums=["cost"],
        means=["cost"],
        shares=["sick", col("age") >= 50],
        medians=["age"],
        quantiles={"age": [0.9]},
    )
    table = learner.learn(with_holes(unit).exact())
    groups = [holes()[holes()["ward"] == ward] for ward in WARDS]
    expected = {
        "count": [len(group) for group in groups],
        "sum cost": [group["cost"].sum() for group in groups],
        "mean cost": [group["cost"].mean() for group in groups],
        "share sick": [group["sick"].dropna().astype(float).mean() for group in groups],
        "share age >= 50": [(group["age"].dropna() >= 50).mean() for group in groups],
        "median age": [quantile(group["age"].dropna(), 0.5) for group in groups],
        "90 % quantile age": [quantile(group["age"].dropna(), 0.9) for group in groups],
    }
    assert table.names == tuple(expected)
    for name, truth in expected.items():
        assert table.figures(name).value == pytest.approx(truth, rel=1e-6), name


def test_rows_that_miss_what_a_condition_or_a_group_looks_at_are_in_no_group() -> None:
    learner = sulq.Table(["age"], where=col("cost") >= 100, bins={"age": [50]})
    table = learner.learn(with_holes().exact())
    chosen = holes()[holes()["cost"] >= 100]["age"].dropna()
    assert table.figures("count").value.tolist() == [(chosen < 50).sum(), (chosen >= 50).sum()]
    assert (
        "only rows with cost >= 100 and cost known and age known"
        in learner.learn(with_holes().curator(epsilon=1, ledger=":memory:")).describe()
    )
    apart = sulq.Table([sulq.known("age"), "age"], bins={"age": [50]}).learn(with_holes().exact())
    assert apart.figures("count", by=[apart.axes[0]]).value.tolist() == [
        holes()["age"].isna().sum(),
        holes()["age"].notna().sum(),
    ], "who asks for them gets them as a group"


def test_a_count_of_the_same_rows_is_paid_for_once() -> None:
    """Where the condition or the groups leave out rows without a cell, all rows of the table have it."""
    schema = with_holes().schema

    def questions(**asked: Any) -> int:
        return len(next(sulq.Table(**asked).rounds(schema)).queries)

    assert questions(means=["age"]) == 3, "all rows, those with an age, and the sum of it"
    assert questions(means=["age"], where=col("age") >= 18) == 2
    assert questions(means=["age"], where=sulq.known("age") & (col("ward") == "west")) == 2
    assert questions(by=["sick"], shares=["sick"]) == 2
    assert questions(means=["age"], where=sulq.known("age") | (col("ward") == "west")) == 3
    learner = sulq.Table(["ward"], means=["age"], medians=["age"], where=col("age") >= 18)
    table, grown = learner.learn(with_holes().exact()), holes()[holes()["age"] >= 18]
    ages = [grown[grown["ward"] == ward]["age"] for ward in WARDS]
    assert table.figures("mean age").value == pytest.approx([each.mean() for each in ages], rel=1e-6)
    assert table.figures("median age").value.tolist() == [quantile(each, 0.5) for each in ages]


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_noisy_averages_of_known_cells_keep_to_their_bounds(neighbours: Any) -> None:
    learner = sulq.Table(["ward"], means=["cost"], shares=["sick"], medians=["age"])
    curator = with_holes().curator(epsilon=4, neighbours=neighbours, ledger=":memory:")
    table, truth = learner.learn(curator), learner.learn(with_holes().exact())
    for name in table.names:
        # The bounds miss with a chance of one in a million; where missing costs were 0, they would be 25 % off.
        figures = table.figures(name, beta=1e-6)
        exact = truth.figures(name).value
        assert ((figures.low <= exact + 1e-9) & (exact - 1e-9 <= figures.high)).all(), name
    assert (table.figures("mean cost").radius[:2] < 30).all()


def test_a_table_that_did_not_leave_out_missing_cells_is_read_as_it_was_made() -> None:
    former = sulq.Table(["ward"], means=["cost"]).learn(people().exact())
    dropped = replace(former, schema=sulq.Schema(SCHEMA | {"cost": DROPPED["cost"]}))
    assert dropped.figures("mean cost").value == pytest.approx(former.figures("mean cost").value)
