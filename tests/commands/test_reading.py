from __future__ import annotations

import pytest

import sulq
from sulq.commands.reading import columns_in, condition_in, edges_in, listed
from sulq.errors import QueryError
from sulq.queries.node import Node

SCHEMA = sulq.Schema(
    {
        "age": sulq.Integer(0, 120),
        "height": sulq.Real(0, 2.5),
        "income": sulq.Category(["<=50K", ">50K"]),
        "sick": sulq.Boolean(),
        "a,b": sulq.Boolean(),
        "x>=y": sulq.Boolean(),
        "x": sulq.Integer(0, 9),
    }
)


def test_edges_of_dates_are_dates_or_days_since_the_first() -> None:
    schema = sulq.Schema({"born": sulq.Date("1900-01-01", "2020-12-31"), "age": sulq.Integer(0, 120)})
    edges = edges_in(["born=1900-01-03, 1950-01-01,30000.5"], schema)
    assert edges == {"born": [2.0, 18262.0, 30000.5]}
    with pytest.raises(sulq.SulqError, match="must be a date, as 2024-01-31"):
        edges_in(["born=1950-13-01"], schema)
    with pytest.raises(QueryError, match="must be a number"):
        edges_in(["age=1950-01-01"], schema)


def test_a_column_alone_is_its_name() -> None:
    assert condition_in(" age ", SCHEMA) == "age"
    assert condition_in("x>=y", SCHEMA) == "x>=y"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("income == >50K", sulq.col("income") == ">50K"),
        ("income==<=50K", sulq.col("income") == "<=50K"),
        ("income!='>50K'", sulq.col("income") != ">50K"),
        ("income == (other)", sulq.col("income") == "(other)"),
        ("age>65", sulq.col("age") > 65),
        ("age >= 65", sulq.col("age") >= 65),
        ("age<65", sulq.col("age") < 65),
        ("age<=65", sulq.col("age") <= 65),
        ("age==65", sulq.col("age") == 65),
        ("height > 1.75", sulq.col("height") > 1.75),
        ("x>=3", sulq.col("x") >= 3),
        ("sick==true", sulq.col("sick")),
        ("sick != True", ~sulq.col("sick")),
        ("sick==false", ~sulq.col("sick")),
    ],
)
def test_a_comparison_is_an_expression(text: str, expected: Node) -> None:
    found = condition_in(text, SCHEMA)
    assert isinstance(found, Node)
    assert found.key == expected.key


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("weight", "there is no column 'weight'"),
        ("weight>3", "cannot read 'weight>3'"),
        ("income=>50K", "cannot read"),
        ("income>50K", "is a category"),
        ("income==rich", "has no value 'rich'; it has <=50K, >50K, \\(other\\)"),
        ("age>old", "must be a number, not 'old'"),
        ("age>nan", "must be a number"),
        ("age>", "must be a number"),
        ("age>120", "the same for every row"),
        ("age>=0", "the same for every row"),
        ("age==121", "the same for every row"),
        ("sick>0", "is true or false"),
    ],
)
def test_what_makes_no_sense_is_refused_with_the_reason(text: str, complaint: str) -> None:
    with pytest.raises(QueryError, match=complaint):
        condition_in(text, SCHEMA)


def test_columns_come_one_at_a_time_or_with_commas() -> None:
    assert columns_in(None, SCHEMA) is None
    assert columns_in(["age, sick", "a,b"], SCHEMA) == ["age", "sick", "a,b"]
    assert listed(["age>3,sick"], SCHEMA) == ["age>3", "sick"]
    with pytest.raises(sulq.errors.SchemaError, match="no column 'weight'"):
        columns_in(["age,weight"], SCHEMA)
    with pytest.raises(QueryError, match="no feature is named"):
        columns_in([","], SCHEMA)


def test_edges_are_numbers_for_a_column() -> None:
    assert edges_in(["age=18,65", "height=1.5"], SCHEMA) == {"age": [18.0, 65.0], "height": [1.5]}
    for wrong in ("age", "weight=1", "age=1,b", "age=inf", "age="):
        with pytest.raises(QueryError):
            edges_in([wrong], SCHEMA)
    with pytest.raises(QueryError, match="twice"):
        edges_in(["age=1", "age=2"], SCHEMA)
