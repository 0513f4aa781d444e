"""Quantiles in tables: of dates, of nobody, of odd columns, and between edges that are beyond the bounds."""

from __future__ import annotations

import re
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import sulq
from sulq.hypotheses.quantiles import IntervalCounts, NestedCounts
from sulq.talk.laws import Exactly
from tests.learners.tabulated import people, quantile

col = sulq.col


@given(st.lists(st.integers(0, 20), min_size=1, max_size=30), st.floats(0.01, 0.99))
def test_without_noise_a_quantile_is_within_its_interval(values: list[int], level: float) -> None:
    edges = (0.0, 1.0, 3.0, 8.0, 9.0, 15.0, 20.0)
    counts = np.histogram(np.array(values), [*edges[:-1], 21])[0].astype(float)
    finest = IntervalCounts((), counts, Exactly(), edges[1:-1])
    coarse = IntervalCounts((), np.add.reduceat(counts, [0, 2, 4]), Exactly(), (3.0, 9.0))
    rows = IntervalCounts((), counts.sum(keepdims=True), Exactly())
    figures = NestedCounts((rows,), (coarse, finest), (0.0, 20.0), integers=True).quantiles(level, (), 0.05)
    assert figures.low <= quantile(values, level) <= figures.high
    assert figures.low <= figures.value <= figures.high


def test_figures_of_dates_are_dates() -> None:
    born = sulq.Date("2000-01-01", "2000-03-31")
    source = sulq.open({"born": ["2000-01-03", "2000-01-05", "2000-01-05"]}, {"born": born})
    table = sulq.Table(means=["born"], medians=["born"]).learn(source.exact())
    assert table.describe().splitlines()[1].split() == ["3", "2000-01-04", "2000-01-05"]
    assert "2000-01-05" in table.picture()
    noisy = sulq.Table(medians=["born"]).learn(source.curator(epsilon=1)).describe()
    day = r"2000-\d\d-\d\d"
    assert re.search(rf"{day} \({day} to {day}\)", noisy) or re.search(rf" {day}$", noisy, re.MULTILINE)
    assert table.figures("median born").value == 4, "as numbers they are days since the first"


def test_edges_of_bins_beyond_the_bounds_cut_nothing() -> None:
    table = sulq.Table(medians=["age"], bins={"age": [-5, 0, 50, 99, 200]}).learn(people().exact())
    median = table.figures("median age")
    assert (median.low, median.high) == (0, 49) or (median.low, median.high) == (50, 98)
    with pytest.raises(sulq.QueryError, match="no edge in bins is between the bounds of 'age', 0 and 99"):
        sulq.Table(medians=["age"], bins={"age": [-5, 0, 200]}).learn(people().exact())


@pytest.mark.parametrize("where", [col("age") > 500, col("cost") > 1e6])
def test_a_quantile_of_nobody_tells_nothing(where: Any) -> None:
    """Of no rows every number is a quantile: 0 with certainty would be a made-up fact."""
    table = sulq.Table(["sick"], medians=["age"], where=where).learn(people().exact())
    median = table.figures("median age")
    assert (median.low == 0).all() and (median.high == 99).all() and not median.telling.any()


@pytest.mark.parametrize(
    ("kind", "value", "edges"),
    [
        (sulq.Real(0, 0.5), 0.5, [0.25, 0.5]),
        (sulq.Real(0, 1e-199), 0.0, []),
        (sulq.Real(-1e200, 1e200), 1, []),
    ],
)
def test_quantiles_of_odd_columns_are_found_and_shown(kind: Any, value: float, edges: list[float]) -> None:
    source = sulq.open({"x": [value] * 4}, {"x": kind})
    table = sulq.Table(medians=["x"], bins={"x": edges} if edges else {}).learn(source.exact())
    median = table.figures("median x")
    assert median.low <= value <= median.high and median.telling
    assert "median x" in table.describe()
