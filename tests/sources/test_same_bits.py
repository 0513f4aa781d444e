"""Sums do not change from version to version: literals that were computed once, and hold for good."""

from __future__ import annotations

import hashlib
import json

import pytest

import sulq
from tests.sources.fixed_table import EXPRESSIONS, SCHEMA, canonical_sums, table

DIGEST = "ba667feab7f436739bfa126e5e0a68fc92855d111082c5d1018d3f58fa183983"
"""SHA-256 of the sums of all expressions, as JSON without spaces."""
READABLE = {
    0: [9167485925],
    3: [17157001850631],
    13: [130],
    18: [271, 182, 181, 363],
    24: [11607],
    34: [264425818525, -2699833455, 930735433, 389033135423, -3200311578, 276764466825],
    40: [284, 519, 194],
}
"""The sums of some expressions by their place, to see what kind of sum has changed."""


@pytest.mark.parametrize("threads", [1, 2])
def test_the_sums_of_a_fixed_table_are_those_of_every_version(threads: int) -> None:
    sums = canonical_sums(sulq.open(table(), SCHEMA, threads=threads))
    assert {place: sums[place] for place in READABLE} == READABLE
    assert hashlib.sha256(json.dumps(sums, separators=(",", ":")).encode()).hexdigest() == DIGEST


def test_some_sums_are_counted_by_hand() -> None:
    """The literals are not only what the code once said: plain Python finds the same."""
    rows = table().to_pylist()
    sums = dict(enumerate(canonical_sums(sulq.open(table(), SCHEMA))))
    ages = [60 if row["age"] is None else min(max(row["age"], 0), 120) for row in rows]
    assert sums[2] == [sum(ages)]
    assert sums[13] == [sum(age >= 65 and row["smokes"] for age, row in zip(ages, rows, strict=True))]
    plans = [[row["plan"] for row in rows].count(plan) for plan in ("free", "25%", "50 %, with comma")]
    assert sums[18] == [*plans, len(rows) - sum(plans)]


def test_there_are_expressions_of_some_forty_kinds() -> None:
    assert len({expression.key for expression in EXPRESSIONS}) == len(EXPRESSIONS) >= 40
