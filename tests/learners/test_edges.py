"""Edges for quantiles follow from a column's bounds alone, and are where rows may be crowded."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

import sulq
from sulq.classes.base import HypothesisClass, Setting
from sulq.learners.edges import FEWEST_INTERVALS, MOST_INTERVALS, nested, quantile_edges


@given(
    st.floats(-1e6, 1e6),
    st.floats(1e-3, 1e6),
    st.booleans(),
    st.sampled_from([FEWEST_INTERVALS, 1000, MOST_INTERVALS]),
)
def test_edges_increase_and_are_within_the_bounds(low: float, wide: float, integers: bool, most: int) -> None:
    if integers:
        low, wide = float(round(low)), float(round(wide) + 1)
    edges = quantile_edges(low, low + wide, integers, most)
    assert all(a < b for a, b in pairwise(edges))
    assert low < edges[0] and edges[-1] <= low + wide and 1 <= len(edges) <= most
    assert integers or len(edges) >= most / 2 - 1
    assert not integers or all(edge.is_integer() for edge in edges)
    assert not integers or wide >= most or len(edges) == wide


@given(st.sampled_from([1e2, 1e4, 1e6, 1e9]), st.floats(0.001, 1), st.booleans())
def test_near_zero_intervals_are_narrow_for_their_distance(high: float, place: float, both: bool) -> None:
    """Within a hundredth, or two where there are amounts below 0 as well; far from 0 that holds without."""
    value = high * place**3
    edges = [-high if both else 0.0, *quantile_edges(-high if both else 0.0, high, integers=False), high]
    around = next((a, b) for a, b in pairwise(edges) if a <= value < b or b == high)
    assert around[1] - around[0] <= max(value * (0.035 if both else 0.017), high / 2**18)


@given(st.integers(1, 5000))
def test_coarse_edges_are_some_of_the_finer_ones(many: int) -> None:
    edges = tuple(map(float, range(many)))
    levels = nested(edges)
    assert levels[-1] == edges and all(set(a) < set(b) for a, b in pairwise(levels))
    assert len(levels) == (1 if many < 63 else 2 if many < 512 else 3)
    for coarse, fine in pairwise([(), *levels]):
        parts = [sum(a <= e < b for e in fine) for a, b in pairwise([0.0, *coarse, float(many)])]
        assert max(parts) <= 2 * (many + 1) ** (1 / len(levels))


DATED = sulq.Schema({"born": sulq.Date("1900-01-01", "2020-12-31"), "y": sulq.Boolean()})
CUTTING: dict[str, Callable[[Any], sulq.Learner[Any]]] = {
    "tree": lambda edges: sulq.ID3("y", bins=edges),
    "counted tree": lambda edges: sulq.ID3("y", bins=edges, pick="counts"),
    "table": lambda edges: sulq.Table(["born"], bins=edges),
    "quantiles": lambda edges: sulq.Table([], quantiles={"born": [0.5]}, bins=edges),
    "additive": lambda edges: sulq.Additive("y", bins=edges),
    "bayes": lambda edges: sulq.NaiveBayes("y", bins=edges),
    "pairs": lambda edges: sulq.Pairs(bins=edges),
}


@pytest.mark.parametrize("learner", CUTTING.values(), ids=CUTTING.keys())
def test_edges_of_dates_may_be_dates(learner: Callable[[Any], sulq.Learner[Any]]) -> None:
    by_date, by_number = (next(learner({"born": [edge]}).rounds(DATED)) for edge in ("1950-01-01", 18262))
    assert by_date.form == by_number.form
    for wrong in ("1950-13-01", "soon"):
        with pytest.raises(sulq.SulqError, match="must be a date, as 2024-01-31"):
            next(learner({"born": [wrong]}).rounds(DATED))


@pytest.mark.parametrize("of_edges", [sulq.classes.Stumps, partial(sulq.classes.SmallConjunctions, 1)])
def test_edges_of_dates_in_a_class_may_be_dates(of_edges: Callable[..., HypothesisClass]) -> None:
    setting = Setting(DATED, sulq.col("y"))
    by_date, by_number = (of_edges(edges={"born": [edge]}) for edge in ("1950-01-01", 18262))
    many = by_date.size(setting)
    assert many == by_number.size(setting)
    for index in range(many):
        told = [each.hypothesis(index, setting).expression.key for each in (by_date, by_number)]
        assert told[0] == told[1]
