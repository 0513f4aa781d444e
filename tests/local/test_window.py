"""Window reports: the law and its expectation in exact numbers, and a variance near the least there is."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from scipy.optimize import linprog
from scipy.sparse import csr_array

from sulq.errors import QueryError
from sulq.local import Interval, Item, WindowReport, best_randomizer, randomizer_of
from sulq.local.draws import PARTS
from sulq.local.window_designs import designs
from tests.effort import examples
from tests.local.test_randomizers import power

EPSILONS = st.fractions(Fraction(1, 100), 10, max_denominator=10**6)
TABLE = [(1, 1.17), (2, 1.40), (4, 1.72)]


@pytest.mark.parametrize(("epsilon", "factor"), TABLE)
def test_the_worst_variance_is_smaller_than_that_of_printed_reports_by_the_tables_factor(
    epsilon: int, factor: float
) -> None:
    best, printed = (best_randomizer(Interval(-1, 1), epsilon, method) for method in ("best", "printed"))
    assert isinstance(best, WindowReport)
    assert printed.variance(1) / best.variance(1) >= factor


def least_variance(epsilon: float, inputs: int, outputs: int, reach: float) -> float:
    """The least largest variance of any randomizer of numbers on a grid into reports on a grid: by a linear
    program, over all tables of probabilities."""
    numbers, counted = np.linspace(-1, 1, inputs), np.linspace(-reach, reach, outputs)
    cells = np.arange(inputs * outputs).reshape(inputs, outputs)
    size = cells.size + outputs + 1
    limits, limit_rows = [], 0
    for i in range(inputs):
        for sign, factor in ((1, -math.exp(epsilon)), (-1, 1)):
            rows = limit_rows + np.arange(outputs)
            limits += [
                (rows, cells[i], np.full(outputs, sign)),
                (rows, cells.size + np.arange(outputs), np.full(outputs, factor)),
            ]
            limit_rows += outputs
        limits += [
            (np.full(outputs, limit_rows), cells[i], counted**2),
            (np.array([limit_rows]), np.array([size - 1]), np.array([-1])),
        ]
        limit_rows += 1
    bounds = np.concatenate([np.append(np.zeros(2 * outputs), x * x) for x in numbers])
    equal = [(np.full(outputs, 2 * i + j), cells[i], counted**j) for i in range(inputs) for j in (0, 1)]
    values = np.concatenate([[1, x] for x in numbers])

    def matrix(parts: Any, height: int) -> Any:
        rows, columns, entries = (np.concatenate([part[k] for part in parts]) for k in range(3))
        return csr_array((entries, (rows, columns)), shape=(height, size))

    cost = np.zeros(size)
    cost[-1] = 1
    found = linprog(
        cost, matrix(limits, limit_rows), bounds, matrix(equal, 2 * inputs), values, method="highs"
    )
    return float(found.fun)


@pytest.mark.parametrize(("epsilon", "reach"), [(1, 3.0), (2, 2.0), (4, 1.4)])
def test_the_worst_variance_is_near_the_least_that_a_linear_program_finds(epsilon: int, reach: float) -> None:
    """Of all randomizers of 9 numbers into 61 reports, both on even grids."""
    least = least_variance(epsilon, 9, 61, reach)
    assert 0.99 * least <= WindowReport(-1, 1, epsilon).variance(1) <= 1.04 * least


@settings(max_examples=examples(100))
@given(EPSILONS)
def test_the_ratio_is_at_most_e_to_epsilon_and_one_step_more_of_truth_is_too_much(epsilon: Fraction) -> None:
    report = WindowReport(-1, 1, epsilon)
    assert report.ratio <= power(epsilon)
    form = report.form
    form["lies"] = str(report.lies - 1)
    assert randomizer_of(form).ratio > power(epsilon)


@settings(max_examples=examples(60))
@given(EPSILONS, st.integers(0, 2**20))
def test_the_expectation_is_the_number_in_exact_fractions(epsilon: Fraction, steps: int) -> None:
    """But for the last of 53 bits of where the number lies."""
    report = WindowReport(0, 1, epsilon)
    value = Fraction(steps, 2**20)
    expected = sum(report.pmf(cell, float(value)) * int(count) for cell, count in enumerate(report.counts))
    inside, outside = report.each
    number = expected / ((inside - outside) * int(report._marks[-1])) + Fraction(1, 2)
    assert abs(number - value) <= Fraction(4, PARTS)
    assert sum(report.pmf(cell, float(value)) for cell in range(report.cells)) == 1


@settings(max_examples=examples(60))
@given(st.lists(st.integers(0, 9), min_size=1, max_size=6), st.integers(1, 11), st.integers(1, 2**63))
def test_whatever_a_form_has_for_counts_the_report_is_without_bias_or_refused(
    values: list[int], window: int, lies: int
) -> None:
    form = WindowReport(-1, 1, 1).form | {"values": values, "window": window, "lies": str(lies)}
    try:
        report = randomizer_of(form)
    except QueryError as refused:
        assert "\n" not in str(refused)
        return
    assert isinstance(report, WindowReport)
    for place, mark in enumerate(report._marks.tolist()):
        chances = [report._chance(cell, place) for cell in range(report.cells)]
        expected = sum(chance * int(count) for chance, count in zip(chances, report.counts, strict=True))
        inside, outside = report.each
        # The last window's expectation is the upper end, the first's the lower.
        assert expected == (inside - outside) * (mark - Fraction(int(report._marks[-1]), 2))


@settings(max_examples=examples(60))
@given(EPSILONS)
def test_the_variance_of_an_unknown_value_is_the_largest_of_all_values(epsilon: Fraction) -> None:
    report = WindowReport(-3, 5, epsilon)
    variances = [report.variance(1, x) for x in np.linspace(-3, 5, 2001)]
    assert 0.999 * report.variance(1) <= max(variances) <= report.variance(1) * (1 + 1e-9)


def test_the_variance_of_a_value_is_that_of_the_enumerated_law() -> None:
    report = WindowReport(-3, 5, 2)
    told = np.array([report.estimate([cell])[0] for cell in range(report.cells)])
    for x in (-3.0, -2.9, 0.0, 1.0, 4.999, 5.0):
        chances = np.array([float(report.pmf(cell, x)) for cell in range(report.cells)])
        assert report.variance(1, x) == pytest.approx(chances @ (told - x) ** 2, rel=1e-9)


@settings(max_examples=examples(40))
@given(EPSILONS)
def test_the_default_never_has_a_larger_variance_than_a_printed_report(epsilon: Fraction) -> None:
    best, printed = (best_randomizer(Interval(0, 1), epsilon, method) for method in ("best", "printed"))
    assert best.variance(1) <= printed.variance(1)
    assert isinstance(best, WindowReport) or best.variance(1) * 0.94 <= WindowReport(0, 1, epsilon).variance(
        1
    )


def test_designs_are_in_order_and_short() -> None:
    ends = [up_to for up_to, _ in designs()]
    assert ends == sorted(ends) and 0.1 < ends[0] < 0.11 and 10 < ends[-1] < 11
    assert {len(design.values) for _, design in designs()} == {32, 64}


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"values": []}, "1 to 2048 values"),
    ({"values": "9"}, "values are a list"),
    ({"values": [1.5]}, "a value must be a whole number"),
    ({"values": [-1]}, "a value must be a whole number"),
    ({"values": [5, 5], "window": 1}, "counts more the further up"),
    ({"values": [5, 5], "window": 4}, "a window has 1 to 3 cells"),
    ({"window": 0}, "window must be a whole number"),
    ({"lies": "0"}, "lies is a whole number of steps"),
]


@pytest.mark.parametrize(("change", "words"), WRONG, ids=lambda each: str(each))
def test_a_form_of_a_window_report_that_is_none_is_refused_in_one_line(
    change: dict[str, Any], words: str
) -> None:
    with pytest.raises(QueryError, match=words):
        randomizer_of(WindowReport(0, 1, 1).form | change)


BEFORE = {
    "condition": None,
    "epsilon": "1",
    "group": None,
    "item": 1,
    "method": "best",
    "randomizer": {
        "bit": {"is": "response", "lies": "4961093570831980854"},
        "high": 120.0,
        "is": "one bit",
        "low": 0.0,
        "randomizer": 1,
    },
    "rows": 1,
    "schema": "9aea21022d7a2c561b2edb41c4990a95ea7846fef6ef006024ccc903e27aa99e",
    "shape": {"high": 120.0, "is": "interval", "low": 0.0},
    "value": {"name": "age", "node": "column"},
}
"""An item as it was written before there were window reports."""


def test_an_item_that_was_written_before_keeps_its_randomizer_its_form_and_its_name() -> None:
    item = Item.from_json(json.dumps(BEFORE))
    assert (item.method, item.described) == ("printed", "one bit")
    assert item.form() == BEFORE
    assert item.key == "8bf6dc2b192d3b4ff8f35aa61d84d437ae5618177c01acc7100fdb2e2e73f288"


def test_items_of_both_methods_have_names_of_their_own() -> None:
    before = Item.from_json(json.dumps(BEFORE))
    now = Item(before.schema, before.shape, before.epsilon, before.value)
    assert now.form()["method"] == "tight" and now.key != before.key and now.described == "window of cells"
    assert Item.from_json(now.to_json()) == now
    with pytest.raises(QueryError, match="reported by a window of cells here"):
        Item.from_json(json.dumps(BEFORE | {"method": "tight"}))
