"""What a table, a rule or a picture calls an expression says what it is."""

from __future__ import annotations

import pytest

import sulq
from sulq.hypotheses.hypothesis import words
from sulq.queries.node import Node

col = sulq.col


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (col("a") - 1, "a - 1"),
        (col("a") - (col("b") + 2), "a - (b + 2)"),
        (col("a") * (col("b") + 2), "a * (b + 2)"),
        (col("a") + col("b") + 2, "a + b + 2"),
        ((col("a") > 1) & (col("b") + 1 < 2), "a > 1 and b + 1 < 2"),
        ((col("a") > 1) | ((col("b") < 2) & col("c")), "a > 1 or (b < 2 and c)"),
        (~(col("a") > 1), "not (a > 1)"),
        (~col("a"), "not a"),
        (sulq.known("a"), "a known"),
        (col("a").weekday(), "weekday of a"),
    ],
)
def test_an_expression_is_said_in_words(expression: Node, text: str) -> None:
    assert words(expression) == text


def test_a_published_table_says_which_rows_it_is_about() -> None:
    people = sulq.randhie()
    table = sulq.Table(shares=[(col("age") >= 18) & (col("sex") == "male")], where=col("age") < 65).learn(
        people.curator(epsilon=1)
    )
    assert table.names == ("count", "share age >= 18 and sex == male")
    assert "only rows with age < 65" in table.note
