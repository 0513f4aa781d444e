"""Some rows of a table: which ones is settled once, before anything is read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sulq

ROWS = {"age": [31, 64, 70], "sick": [True, False, True]}
PEOPLE = sulq.open(ROWS, {"age": sulq.Integer(0, 120), "sick": sulq.Boolean()})


@pytest.mark.parametrize("at", [[3], [-1], [0.5], [True, False, True], [[0]], ["0"], 1])
def test_places_that_are_none_are_refused_before_anything_is_read(at: Any) -> None:
    with pytest.raises(sulq.QueryError, match="rows are taken by their places"):
        PEOPLE.only(np.array(at))


def test_no_row_is_taken_twice_because_its_person_is_charged_once() -> None:
    with pytest.raises(sulq.QueryError, match="every row is taken once"):
        PEOPLE.only(np.array([0, 2, 0]))


def test_all_columns_have_the_same_rows_also_if_the_list_of_places_changes() -> None:
    at = np.array([2, 0])
    some = PEOPLE.only(at)
    assert some.values(sulq.col("age")).tolist() == [70, 31]
    at[:] = 1
    assert some.values(sulq.col("sick")).tolist() == [True, True]


def test_no_row_at_all_can_be_taken() -> None:
    assert PEOPLE.only(np.array([], dtype=np.intp)).rows == 0
