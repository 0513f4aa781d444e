"""Boolean queries put together are the real-valued query, to within the tolerance."""

from __future__ import annotations

import numpy as np
import pytest

import sulq
from sulq.errors import QueryError
from sulq.local.digits import digits
from sulq.numbers import rational

SCHEMA = sulq.Schema({"x": sulq.Real(-3, 5), "y": sulq.Integer(0, 7)})


def people(rows: int = 2000) -> sulq.Source:
    rng = np.random.default_rng(1)
    return sulq.open({"x": rng.uniform(-3, 5, rows), "y": rng.integers(0, 8, rows)}, SCHEMA)


def means(source: sulq.Source, queries: tuple[sulq.Node, ...]) -> list[float]:
    return [
        float(answer.value)
        for answer in source.exact().ask(sulq.Round([sulq.mean(query) for query in queries]))
    ]


@pytest.mark.parametrize("tolerance", [8, 3, 1, "1/3", 0.05, "1/1000"])
def test_exact_answers_are_within_half_of_the_tolerance(tolerance: float | str) -> None:
    source, expression = people(), sulq.col("x")
    asked = digits(expression, tolerance, SCHEMA)
    [true] = means(source, (expression,))
    assert (
        abs(asked.mean(means(source, asked.queries)) - true)
        <= float(rational("tolerance", tolerance)) / 2 + 1e-9
    )


@pytest.mark.parametrize("sign", [-1, 1])
def test_answers_as_wrong_as_they_may_be_stay_within_the_tolerance(sign: int) -> None:
    source, expression = people(), sulq.col("x")
    asked = digits(expression, 0.5, SCHEMA)
    [true] = means(source, (expression,))
    wrong = [answer + sign * asked.tolerance for answer in means(source, asked.queries)]
    assert abs(asked.mean(wrong) - true) <= 0.5


def test_as_many_digits_are_asked_for_as_the_tolerance_needs() -> None:
    for tolerance, count in ((8, 1), (4, 1), (2, 2), ("1.99", 3), (1, 3), ("1/8", 6)):
        assert len(digits(sulq.col("x"), tolerance, SCHEMA).queries) == count


def test_the_digits_of_a_whole_number_are_its_own() -> None:
    """0, …, 7 in three digits, of (number − 0)/7: a number is in one of eight equal pieces, its own."""
    rows = sulq.open({"x": np.zeros(8), "y": np.arange(8)}, SCHEMA)
    asked = digits(sulq.col("y"), 1, SCHEMA)
    assert means(rows, asked.queries) == [0.5, 0.5, 0.5]


def test_every_digit_is_a_truth_value_of_the_row() -> None:
    for query in digits(sulq.col("x"), 1, SCHEMA).queries:
        assert sulq.count(where=query) is not None
        assert set(means(people(1), (query,))) <= {0.0, 1.0}


def test_a_vector_and_too_small_a_tolerance_are_refused() -> None:
    with pytest.raises(QueryError, match="single number"):
        digits(sulq.vector(sulq.col("x"), sulq.col("y")), 1, SCHEMA)
    with pytest.raises(QueryError, match="digits"):
        digits(sulq.col("x"), "1e-9", SCHEMA)
