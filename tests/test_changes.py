"""What is different between two schemas is said in words that name the column and both values."""

from __future__ import annotations

from typing import Any

import pytest

from sulq.changes import changes
from sulq.schema import Boolean, Category, Integer, Real, Schema, Unit

BEFORE = {"cost": Real(0, 100, missing=0), "ward": Category(["a", "b"]), "sick": Boolean()}


@pytest.mark.parametrize(
    ("changed", "unit", "said"),
    [
        ({}, None, []),
        ({"cost": Real(0, 200, missing=0)}, None, ["column 'cost': high was 100.0, is 200.0"]),
        ({"cost": Real(0, 100)}, None, ["column 'cost': missing was 0.0, is 50.0"]),
        ({"cost": Integer(0, 100)}, None, ["column 'cost' was real, is integer"]),
        ({"age": Integer(0, 9)}, None, ["column 'age' is new"]),
        (
            {"ward": Category(["a", "c"])},
            None,
            ["'c' is new among its values", "'b' is gone from its values"],
        ),
        ({"ward": Category(["b", "a"])}, None, ["its values are in another order"]),
        ({"ward": Category(["a", "b"], missing="a")}, None, ["missing was not given, is 'a'"]),
        ({}, Unit("person", 3), ["the unit is new"]),
    ],
)
def test_each_change_is_named(changed: dict[str, Any], unit: Unit | None, said: list[str]) -> None:
    found = changes(Schema(BEFORE).form(), Schema(BEFORE | changed, unit).form())
    assert len(found) == len(said)
    assert all(found_words.endswith(words) for found_words, words in zip(found, said, strict=True)), found


def test_what_is_gone_is_named() -> None:
    after = Schema({name: kind for name, kind in BEFORE.items() if name != "ward"})
    assert changes(Schema(BEFORE, Unit("person", 3)).form(), after.form()) == [
        "column 'ward' is gone",
        "the unit is gone",
    ]


def test_a_unit_of_other_rows_is_named() -> None:
    before, after = (Schema(BEFORE, Unit("person", rows)).form() for rows in (3, 5))
    assert changes(before, after) == ["the unit: rows was 3, is 5"]


def test_another_order_of_columns_is_named() -> None:
    turned = Schema(dict(reversed(BEFORE.items())))
    assert changes(Schema(BEFORE).form(), turned.form()) == ["the columns are in another order"]


def test_of_many_new_values_some_are_named() -> None:
    many = Category(["a", "b", *map(str, range(20))])
    [said] = changes(Schema(BEFORE).form(), Schema(BEFORE | {"ward": many}).form())
    assert said == "column 'ward': '0', '1', '2', '3', '4', 15 more are new among its values"
