from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import sulq
from sulq.schema import Schema

DECLARED = {
    "unit": {"column": "person", "rows": 4},
    "columns": {
        "age": {"type": "integer", "low": 0, "high": 120, "missing": 40},
        "income": {"type": "real", "low": 0, "high": 1e6},
        "plan": {"type": "category", "values": ["a", "b"]},
        "sick": {"type": "boolean", "missing": True},
    },
}
TOML = """
[unit]
column = "person"
rows = 4
[columns.age]
type = "integer"
low = 0
high = 120
missing = 40
[columns.income]
type = "real"
low = 0
high = 1e6
[columns.plan]
type = "category"
values = ["a", "b"]
[columns.sick]
type = "boolean"
missing = true
"""
IN_PYTHON = sulq.Schema(
    {
        "age": sulq.Integer(0, 120, missing=40),
        "income": sulq.Real(0, 1e6),
        "plan": sulq.Category(["a", "b"]),
        "sick": sulq.Boolean(missing=True),
    },
    unit=sulq.Unit("person", rows=4),
)


def test_toml_dict_and_python_declare_the_same_schema(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text(TOML)
    assert Schema.of(path) == Schema.of(str(path)) == Schema.of(DECLARED) == IN_PYTHON
    assert Schema.of(path).hash == IN_PYTHON.hash
    assert Schema.of(IN_PYTHON.form()) == IN_PYTHON
    assert Schema.of({"age": sulq.Real(0, 1)}).hash != IN_PYTHON.hash


@pytest.mark.parametrize(
    ("declared", "complaint"),
    [
        ({}, "at least one column"),
        ({"age": "integer"}, r"what is \['age'\]"),
        ({"columns": {"age": {"type": "integer"}}}, "column 'age' needs low and high: public facts"),
        ({"columns": {"age": {"type": "real", "low": 0}}}, "column 'age' needs high"),
        (
            {"columns": {"age": {"type": "real", "low": 2, "high": 1}}},
            "column 'age': low = 2.0 must not exceed",
        ),
        (
            {"columns": {"age": {"type": "real", "low": float("nan"), "high": 1}}},
            "low = nan must be a finite",
        ),
        (
            {"columns": {"age": {"type": "real", "low": 0, "high": float("inf")}}},
            "high = inf must be a finite",
        ),
        ({"columns": {"age": {"type": "real", "low": 0, "high": "9"}}}, "high = '9' must be a finite number"),
        ({"columns": {"age": {"type": "real", "low": 0, "high": 1e300}}}, "1e200"),
        (
            {"columns": {"age": {"type": "integer", "low": 0, "high": 1.5}}},
            "high = 1.5 must be a whole number",
        ),
        ({"columns": {"age": {"type": "integer", "low": 0, "high": 2**70}}}, "64 bits"),
        ({"columns": {"age": {"type": "real", "low": 0, "high": 1, "missing": 7}}}, "missing = 7.0 must lie"),
        ({"columns": {"age": {"type": "real", "low": 0, "high": 1, "max": 2}}}, "unknown setting 'max'"),
        ({"columns": {"age": {"type": "number"}}}, "needs a type: one of real, integer, category, boolean"),
        ({"columns": {"p": {"type": "category", "values": []}}}, "at least one value"),
        ({"columns": {"p": {"type": "category", "values": "abc"}}}, "values must be a list"),
        ({"columns": {"p": {"type": "category", "values": ["a", "a"]}}}, "differ from each other"),
        ({"columns": {"p": {"type": "category", "values": [1, 1.0]}}}, "differ from each other"),
        ({"columns": {"p": {"type": "category", "values": [None]}}}, "a category's value"),
        ({"columns": {"p": {"type": "category", "values": ["(other)"]}}}, "cannot be declared"),
        (
            {"columns": {"p": {"type": "category", "values": ["a"], "missing": "b"}}},
            "missing = 'b' must be one",
        ),
        ({"columns": {"b": {"type": "boolean", "missing": 3}}}, "must be true or false"),
        ({"columns": {"b": "boolean"}, "unit": {"column": "p"}}, r"\[unit\] needs rows"),
        ({"columns": {"b": "boolean"}, "unit": {"column": "p", "rows": 0}}, "from 1 to"),
        (17, "a Schema, a dict or the path"),
    ],
)
def test_what_is_wrong_is_said_with_its_column(declared: Any, complaint: str) -> None:
    with pytest.raises(sulq.errors.SchemaError, match=complaint):
        Schema.of(declared)


def test_files_that_are_no_schema_are_refused(tmp_path: Path) -> None:
    with pytest.raises(sulq.errors.SchemaError, match="cannot read the schema"):
        Schema.of(tmp_path / "none.toml")
    path = tmp_path / "s.toml"
    path.write_text("[columns.age\n")
    with pytest.raises(sulq.errors.SchemaError, match="not valid TOML"):
        Schema.of(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(sulq.errors.SchemaError, match="UTF-8"):
        Schema.of(path)
    path.write_text('[columns.age]\ntype = "integer"  # ___ is a hole\nlow = ___\nhigh = ___\n')
    with pytest.raises(sulq.errors.SchemaError, match=r"holes \(___\).* line 3, 4"):
        Schema.of(path)


def test_an_unknown_column_is_named_with_those_there_are() -> None:
    with pytest.raises(
        sulq.errors.SchemaError, match="no column 'agee'; the schema has age, income, plan, sick"
    ):
        IN_PYTHON["agee"]


def test_the_salt_of_a_unit_is_a_text_that_can_be_hashed() -> None:
    with pytest.raises(sulq.errors.SchemaError, match="texts, of whole letters"):
        sulq.Unit("who", rows=1, salt="\ud83d")
