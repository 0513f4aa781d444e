"""Formulas of figures: the truth is within the bounds if it is within those of the figures they are made of."""

from __future__ import annotations

import math
import operator
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from sulq.errors import QueryError
from sulq.hypotheses.figures import CellFigures
from sulq.hypotheses.formulas import FormulaStep, check_formula, computed, rounded
from tests.effort import examples

NUMBERS = st.floats(-1e6, 1e6).map(lambda number: round(number, 3))
ONE: dict[str, Any] = {"negative": operator.neg, "floor": math.floor, "ceil": math.ceil, "abs": abs}
TWO: dict[str, Any] = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}


@st.composite
def formulas(draw: st.DrawFn, depth: int = 3) -> list[FormulaStep]:
    kind = draw(st.sampled_from(["measure", "number"] if depth == 0 else ["measure", "one", "two", "two"]))
    if kind == "measure":
        return [FormulaStep("measure", draw(st.integers(0, 2)))]
    if kind == "number":
        return [FormulaStep("number", draw(NUMBERS))]
    first = draw(formulas(depth - 1))
    if kind == "one":
        return [*first, FormulaStep(draw(st.sampled_from(list(ONE))))]
    return [*first, *draw(formulas(depth - 1)), FormulaStep(draw(st.sampled_from(list(TWO))))]


def value_of(formula: list[FormulaStep], truths: list[float]) -> float:
    stack: list[float] = []
    for step in formula:
        if step.do in ("measure", "number"):
            stack.append(truths[int(step.number)] if step.do == "measure" else step.number)
        elif step.do in ONE:
            stack.append(ONE[step.do](stack.pop()))
        else:
            right, left = stack.pop(), stack.pop()
            stack.append(TWO[step.do](left, right))
    return stack[0]


def figures(value: float, low: float, high: float) -> CellFigures:
    cells = [np.array([float(number)]) for number in (value, high - low, low, high)]
    return CellFigures(*(*cells, np.array([True])))


@settings(max_examples=examples(400))
@given(formulas(), st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS, NUMBERS), min_size=3, max_size=3))
def test_bounds_enclose_what_the_truth_comes_to(formula: list[FormulaStep], ends: list[Any]) -> None:
    sides = [sorted(each) for each in ends]
    measured = [figures(each[1], each[0], each[3]) for each in sides]
    try:
        right = value_of(formula, [each[2] for each in sides])
    except (ZeroDivisionError, OverflowError):
        return
    if not any(step.do == "measure" for step in formula):
        return
    check_formula(formula, 3)
    found = computed(tuple(formula), lambda measure: measured[measure])
    slack = 1e-6 * (1 + abs(right))
    rough = any(step.do in ("floor", "ceil") for step in formula)
    assert found.low[0] - slack - rough <= right <= found.high[0] + slack + rough
    assert not found.low[0] > found.high[0]


def test_a_quotient_by_what_may_be_0_has_no_bounds_and_tells_nothing() -> None:
    parts = [figures(5, 4, 6), figures(1, -1, 3)]
    ratio = (FormulaStep("measure", 0), FormulaStep("measure", 1), FormulaStep("/"))
    found = computed(ratio, lambda measure: parts[measure])
    assert (found.low[0], found.value[0], found.high[0], found.telling[0]) == (
        -math.inf,
        5.0,
        math.inf,
        False,
    )


@pytest.mark.parametrize(
    "formula",
    [
        (),
        (FormulaStep("number", 3),),
        (FormulaStep("measure", 1),),
        (FormulaStep("measure", 0.5),),
        (FormulaStep("measure", 0), FormulaStep("measure", 0)),
        (FormulaStep("measure", 0), FormulaStep("power")),
        (FormulaStep("+"),),
        (FormulaStep("measure", 0), FormulaStep("round", 99)),
        (FormulaStep("measure", 0), *[FormulaStep("negative")] * 2000),
    ],
)
def test_what_is_no_formula_is_refused(formula: tuple[FormulaStep, ...]) -> None:
    with pytest.raises(QueryError, match="formula"):
        check_formula(formula, 1)


def test_halves_are_rounded_away_from_zero_as_sql_does() -> None:
    assert rounded(np.array([0.5, 1.5, -0.5, 2.4, 1250.0]), 0).tolist() == [1.0, 2.0, -1.0, 2.0, 1250.0]
    assert rounded(np.array([1250.0]), -2).tolist() == [1300.0]
