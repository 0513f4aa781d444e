"""Python functions as row expressions: fenced in, whatever they do."""

from __future__ import annotations

import math
from contextlib import suppress
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sulq

SCHEMA = {
    "kg": sulq.Real(30, 200),
    "n": sulq.Integer(0, 9),
    "plan": sulq.Category(["a", "b"]),
    "ok": sulq.Boolean(),
}
DATA = {
    "kg": np.array([50.0, 100.0, math.nan]),
    "n": np.array([1, 2, 3]),
    "plan": np.array(["a", "b", "c"]),
    "ok": np.array([True, False, True]),
}


def total(function: Any, columns: list[str], low: float, high: float, width: int = 1) -> Any:
    expression = sulq.row_function(function, columns, low, high, width)
    return sulq.open(DATA, SCHEMA).exact().ask(sulq.Round([sulq.total(expression)]))[0].value


def test_a_function_sees_columns_in_their_own_units() -> None:
    assert total(lambda rows: rows["kg"] / 10, ["kg"], 0, 100) == pytest.approx(5 + 10 + 11.5)
    assert total(lambda rows: rows["n"], ["n"], 0, 9) == 6
    assert total(lambda rows: rows["plan"] == "(other)", ["plan"], 0, 1) == 1
    assert total(lambda rows: rows["ok"], ["ok"], 0, 1) == 2
    both = total(lambda rows: np.stack([rows["n"], rows["ok"]], axis=1), ["n", "ok"], 0, 9, width=2)
    assert both.tolist() == [6, 2]


def test_values_out_of_the_declared_range_are_clipped_and_bad_ones_count_as_low() -> None:
    assert total(lambda rows: rows["n"] * 100.0, ["n"], -1, 1) == 3
    assert total(lambda rows: rows["n"] * math.nan, ["n"], -1, 1) == -3
    assert total(lambda rows: np.log(rows["n"] - 5.0), ["n"], -2, 2) == -6


def test_no_exception_escapes_and_other_rows_keep_their_values() -> None:
    def picky(rows: Any) -> Any:
        if (rows["n"] == 2).any():
            raise ValueError("row 2 again!")
        return rows["n"]

    assert total(picky, ["n"], 0, 9) == 1 + 0 + 3
    assert total(lambda rows: rows["nowhere"], ["n"], 0, 9) == 0
    assert total(lambda rows: [1, 2, 3, 4, 5], ["n"], 0, 9) == 0


@pytest.mark.parametrize(
    "impure",
    [
        lambda rows: rows["n"] - rows["n"].mean(),
        lambda rows: np.cumsum(rows["n"]),
        lambda rows: np.arange(len(rows["n"])),
        lambda rows: np.random.default_rng().random(len(rows["n"])),
    ],
)
def test_a_function_that_looks_at_other_rows_is_refused_before_any_row_is_read(impure: Any) -> None:
    expression = sulq.row_function(impure, ["n"], -1000, 1000)
    with pytest.raises(sulq.QueryError, match="another value in another batch"):
        sulq.Round([sulq.total(expression)]).sensitivity(sulq.Schema(SCHEMA), 1)


def test_its_bounds_are_those_declared() -> None:
    round_ = sulq.Round([sulq.total(sulq.row_function(lambda rows: rows["n"], ["n"], -2, 3))])
    assert round_.sensitivity(sulq.Schema(SCHEMA), 1) == 5
    assert round_.sensitivity(sulq.Schema(SCHEMA), 1, "add-remove") == 3


def test_it_stays_in_its_process() -> None:
    function = sulq.row_function(lambda rows: rows["n"], ["n"], 0, 9)
    assert function.key == function.key
    assert function.key != sulq.row_function(lambda rows: rows["n"], ["n"], 0, 9).key
    with pytest.raises(sulq.QueryError, match="process that made it"):
        sulq.queries.reading.parse(function.form)
    assert (function + 1).given(kg=sulq.col("n")).key == (function + 1).key
    with pytest.raises(sulq.QueryError, match="cannot be replaced"):
        function.given(n=sulq.col("kg"))


def test_a_range_and_columns_are_needed() -> None:
    with pytest.raises(sulq.QueryError, match="names the columns"):
        sulq.row_function(lambda rows: 0, [], 0, 1)
    with pytest.raises(sulq.errors.SchemaError):
        sulq.row_function(lambda rows: 0, ["n"], 1, 0)
    with pytest.raises(sulq.QueryError, match="width"):
        sulq.row_function(lambda rows: 0, ["n"], 0, 1, width=0)


def test_a_function_that_ends_the_process_on_a_row_only_loses_that_row() -> None:
    for ending in (SystemExit, KeyboardInterrupt, GeneratorExit):

        def leaves(rows: Any, ending: type[BaseException] = ending) -> Any:
            if (rows["n"] == 2).any():
                raise ending
            return rows["n"]

        assert total(leaves, ["n"], 0, 9) == 1 + 0 + 3
        expression = sulq.row_function(leaves, ["n"], 0, 9)
        assert sulq.open(DATA, SCHEMA).values(expression).tolist() == [1, 0, 3]


def test_a_function_cannot_ask_about_its_row() -> None:
    """A question asked from inside would be answered, and charged, only if the row is there."""
    people = sulq.open(DATA, SCHEMA)
    curator, crowd = people.curator(epsilon=1), people.crowd(epsilon=1)
    chunks = people.curator(epsilon=1, answering="chunks", queries=2)
    inner = sulq.Round([sulq.count(where=sulq.col("ok"))], share="1/10")

    def asks(rows: Any) -> Any:
        for oracle in (curator, crowd, chunks):
            if (rows["n"] == 2).any():
                with suppress(sulq.QueryError):
                    oracle.ask(inner, run="from inside")
        if (rows["n"] == 2).any():
            curator.ledger.release("from inside", "a question", Fraction(1, 10), lambda: "an answer")
        return rows["n"]

    asked = sulq.Round([sulq.total(sulq.row_function(asks, ["n"], 0, 9))], share="1/2")
    curator.ask(asked)
    assert (curator.spent, crowd.left, chunks.left, chunks.spent) == (Fraction(1, 2), 3, 2, 0)
    assert people.exact().ask(asked)[0].value == 1 + 0 + 3, "asking fails, and that counts as low"
    curator.ask(inner)
    assert curator.spent == Fraction(6, 10), "outside it is a question like any other"


def test_a_function_cannot_change_the_rows() -> None:
    def doubles(rows: Any) -> Any:
        rows["n"] *= 2
        return rows["n"]

    people = sulq.open(DATA, SCHEMA)
    asked = sulq.Round([sulq.total(sulq.row_function(doubles, ["n"], 0, 9)), sulq.total(sulq.col("n"))])
    with pytest.raises(sulq.QueryError, match="another value in another batch"):
        people.exact().ask(asked)
    assert people.values(sulq.col("n")).tolist() == [1, 2, 3]
