"""Statements agree with DuckDB on the clean table: bit for bit without noise, and within their bounds with it."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from typing import Any

import pytest

import sulq
from tests.statements.corpus import ANSWERED
from tests.statements.people import database, people


def plain(value: Any) -> Any:
    """A value of DuckDB as sulq has it."""
    if isinstance(value, datetime.datetime):
        return value.date().isoformat()
    if isinstance(value, Decimal):
        return float(value)
    return value.isoformat() if isinstance(value, datetime.date) else value


def truth(text: str, groups: list[int]) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    """What DuckDB says: for each value of the groups, the figures."""
    rows = database().execute(text).fetchall()
    found = {
        tuple(plain(row[place]) for place in groups): tuple(
            plain(cell) for place, cell in enumerate(row) if place not in groups
        )
        for row in rows
    }
    assert len(found) == len(rows), "NULL and what was summed over look the same"
    return found


def shown(result: sulq.hypotheses.ResultSet, beta: float) -> tuple[list[tuple[Any, ...]], list[list[Any]]]:
    """The groups of each row, and of each figure its value, its bounds, and whether it is telling."""
    columns = result.columns(beta)
    groups = [
        columns[name]
        for name, output in zip(result.names, result.outputs, strict=True)
        if output.axis is not None
    ]
    figures = [name for name, output in zip(result.names, result.outputs, strict=True) if output.axis is None]
    rows = len(columns[figures[0]])
    keys = [tuple(column[row] for column in groups) for row in range(rows)]
    return keys, [
        [(columns[f][row], columns[f"{f} low"][row], columns[f"{f} high"][row]) for f in figures]
        for row in range(rows)
    ]


def groups_of(result: sulq.hypotheses.ResultSet) -> list[int]:
    return [place for place, output in enumerate(result.outputs) if output.axis is not None]


def is_quantile(text: str) -> bool:
    return any(word in text for word in ("median", "quantile", "percentile"))


def test_there_are_enough_statements() -> None:
    assert len(set(ANSWERED)) >= 70


@pytest.mark.parametrize("text", ANSWERED)
def test_exact_answers_are_those_of_duckdb_to_the_last_bit(text: str) -> None:
    result = sulq.sql(text, people().exact())
    right = truth(text, groups_of(result))
    keys, figures = shown(result, 0.05)
    assert set(right) <= set(keys)
    for key, row in zip(keys, figures, strict=True):
        for place, (value, low, high) in enumerate(row):
            if key not in right:
                assert not (value > 0) or "avg" in text or is_quantile(text), (
                    "who is in no row of DuckDB's is nobody"
                )
            elif right[key][place] is not None:
                wanted = float(right[key][place])
                if is_quantile(text):
                    assert low <= wanted <= high
                elif "100.0 *" in text:  # percents are computed in another order
                    assert value == low == high == pytest.approx(wanted, rel=1e-15)
                else:
                    assert (value, low, high) == (wanted, wanted, wanted)
    if "ORDER BY" in text and "HAVING" not in text:
        assert [key for key in keys if key in right] == list(right)


@pytest.mark.parametrize("text", ANSWERED)
def test_noisy_answers_are_those_of_duckdb_within_their_bounds(text: str) -> None:
    """At β = 1e-9 for each of some 120 columns, a false alarm has a chance of about 1e-7."""
    result = sulq.sql(text, people().curator(epsilon=20))
    right = truth(text, groups_of(result))
    keys, figures = shown(result, 1e-9)
    for key, row in zip(keys, figures, strict=True):
        for place, (_, low, high) in enumerate(row):
            if key in right and right[key][place] is not None:
                wanted = float(right[key][place])
                slack = 1e-9 * (1 + abs(wanted))
                assert low - slack <= wanted <= high + slack
            assert not math.isnan(low)
