"""Inspection looks at every kind of source, and its proposals break nothing that can be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sulq
from sulq.inspection.hints import category_rules, numeral_rules
from sulq.inspection.inspect import inspect

CELLS = {"x": ["1", "2,5", "a", None, "40"], "y": [1.0, float("nan"), -3.0, None, 7.0]}
SCHEMA = {"x": sulq.Real(0, 10), "y": sulq.Real(0, 5)}


@pytest.mark.parametrize("way", ["csv", "parquet", "pandas", "dictionary"])
def test_every_source_is_inspected_alike(way: str, tmp_path: Path) -> None:
    table = pa.table({"x": CELLS["x"], "y": pa.array(CELLS["y"], pa.float64(), from_pandas=False)})
    data: Any = table
    if way == "csv":
        data = tmp_path / "t.csv"
        data.write_text('x,y\n1,1\n"2,5",nan\na,-3\n,\n40,7\n')
    elif way == "parquet":
        data = tmp_path / "t.parquet"
        pq.write_table(table, data)
    elif way == "pandas":
        data = pd.DataFrame(CELLS)
    elif way == "dictionary":
        data = table.set_column(0, "x", table["x"].dictionary_encode())
    inspection = inspect(data, SCHEMA)
    assert inspection.rows == 5
    assert {(f.where, f.what): f.many for f in inspection.findings} == {
        ("x", "missing"): 1,
        ("x", "not a number"): 2,
        ("x", "above 10"): 1,
        ("y", "missing"): 2,
        ("y", "below 0"): 1,
        ("y", "above 5"): 1,
    }
    assert {f.try_ for f in inspection.findings if f.what == "not a number"} == {('decimal = ","',)}


@pytest.mark.parametrize(
    ("unread", "read", "rules"),
    [
        ({"1,234": 1, "1,5": 1}, [], {"decimal": ","}),
        ({"1,234": 1}, ["12.5"], {"thousands": ","}),
        ({"1,5": 1}, ["12.5"], {}),
        ({"1.234,5": 1}, [], {"thousands": ".", "decimal": ","}),
        ({"1 234,5": 1}, [], {"thousands": " ", "decimal": ","}),
        ({"12 %": 1}, [], {"strip": "%"}),
        ({"twelve": 1}, [], {}),
    ],
)
def test_rules_for_numbers_are_proposed_if_no_number_is_lost(
    unread: dict[str, int], read: list[str], rules: dict[str, str]
) -> None:
    assert numeral_rules(sulq.Real(0, 1), unread, read)[0] == rules


def test_rules_for_categories_are_only_proposed_if_they_can_be_declared() -> None:
    for values, spellings in ((["a", "A"], ["a ", "A "]), (["yes", "no"], ["Y", "n", "yess", "maybe"])):
        rules = category_rules(sulq.Category(values), spellings)
        assert rules
        sulq.Category(values, **rules)


def test_a_file_in_utf_8_that_is_declared_otherwise_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("city\nZürich\nBern\n", encoding="utf-8")
    findings = inspect(path, {"city": sulq.Category(["Zürich", "Bern"])}, encoding="latin-1").findings
    assert findings[0].try_ == ("[csv]", 'encoding = "utf-8"')


def test_dates_are_inspected_and_their_format_is_proposed() -> None:
    cells = {"day": ["31.12.2001", "13.01.2002", "soon", None]}
    missing, unread = inspect(cells, {"day": sulq.Date("2000-01-01", "2009-12-31")}).findings
    assert (missing.what, unread.what, unread.many) == ("missing", "not a date", 3)
    assert unread.try_ == ('format = "%d.%m.%Y"',)
    dates = {"day": pa.array([0, 20_000, 11_000], pa.date32())}
    before, after = inspect(pa.table(dates), {"day": sulq.Date("2000-01-01", "2009-12-31")}).findings
    assert (before.what, after.what) == ("before 2000-01-01", "after 2009-12-31")
    assert "become 2009-12-31: the mean of the dates is" in after.effect


def test_quotes_are_no_fault_of_a_line(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b'x,y\r\n"1,5","say ""hi"""\r\n2,b')
    schema = {"x": sulq.Real(0, 10, decimal=","), "y": sulq.Category(['say "hi"', "b"])}
    assert inspect(path, schema).findings == ()
