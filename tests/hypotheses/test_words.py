"""What a table, a rule or a picture calls an expression says what it is."""

from __future__ import annotations

import pytest

import sulq
from sulq.hypotheses.effect import Effect
from sulq.hypotheses.hypothesis import words
from sulq.hypotheses.words import OPPOSITES, ends_in_words
from sulq.queries.arithmetic import Compare
from sulq.queries.expressions import Constant
from sulq.queries.node import Node
from sulq.queries.routes import Route

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


def test_the_ends_of_a_tree_are_said_by_the_conditions_that_lead_there() -> None:
    schema = sulq.Schema({"a": sulq.Integer(0, 9), "town": sulq.Category(["n", "s"]), "old": sulq.Boolean()})
    steps = ((0, 1, 2), (0,), (1, 3, 4, 5), (1,), (2, 6, 7), (0,), (1,), (2,))
    route = Route((col("a") < 3, col("town"), col("old")), steps, 4)
    assert ends_in_words(route, schema) == [
        "a >= 3 or a < 3 and town is (other)",
        "a < 3 and town is n or a < 3 and town is s and old is false",
        "a < 3 and town is s and old is true",
        "never",
    ]
    assert ends_in_words(Route((), ((0,),), 1), schema) == ["always"]


def test_the_opposite_of_a_comparison_holds_just_where_it_fails() -> None:
    values = sulq.open({"a": [1, 2, 3]}, {"a": sulq.Integer(0, 9)})
    for relation, opposite in OPPOSITES.items():
        holds, fails = (values.values(Compare(each, col("a"), Constant(2))) for each in (relation, opposite))
        assert (holds != fails).all()


def test_a_published_table_says_which_rows_it_is_about() -> None:
    people = sulq.randhie()
    table = sulq.Table(shares=[(col("age") >= 18) & (col("sex") == "male")], where=col("age") < 65).learn(
        people.curator(epsilon=1)
    )
    assert table.names == ("count", "share age >= 18 and sex == male")
    assert "only rows with age < 65" in table.note


JOINED = sulq.Schema({"joined": sulq.Date("2000-01-01", "2009-12-31"), "sick": sulq.Boolean()})


def test_days_that_a_column_of_dates_is_compared_with_are_dates() -> None:
    late = sulq.col("joined") >= 366
    assert words(late, JOINED) == "joined >= 2001-01-01" and words(late) == "joined >= 366"
    assert words(~late | sulq.col("sick"), JOINED) == "not (joined >= 2001-01-01) or sick"
    assert words(sulq.col("joined") < 10**9, JOINED) == "joined < 1000000000"  # beyond any calendar
    route = Route((late,), ((0, 1, 2), (0,), (1,)), 2)
    assert ends_in_words(route, JOINED) == ["joined < 2001-01-01", "joined >= 2001-01-01"]


def test_effects_of_dates_have_dates_in_words_and_on_the_axis() -> None:
    bins = sulq.bins("joined", [366, 1096])
    effect = Effect(bins, (0.2, 0.3, 0.5), ((-1.0,), (0.2,), (1.0,)), ((0.1,), (0.1,), (0.1,)))
    model = sulq.hypotheses.AdditiveModel(JOINED, None, sulq.col("sick"), (0.0,), (effect,))
    assert "below 2001-01-01 −1.00 ± 0.20, 2001-01-01 to 2003-01-01 +0.20" in model.describe()
    picture = model.picture()
    assert (
        "2001-01-01 to 2003-01-01: 0.2" in picture and ">2005-06-23<" in picture and ">2,000<" not in picture
    )


@pytest.mark.parametrize(("relation", "day"), [("<", 31), (">=", 31), ("<=", 30), (">", 30)])
def test_a_comparison_with_a_part_of_a_day_is_said_with_the_day_that_means_the_same(
    relation: str, day: int
) -> None:
    schema = sulq.Schema({"born": sulq.Date("2000-01-01", "2010-12-31")})
    said = words(Compare(relation, col("born"), Constant(30.4)), schema)
    assert said == f"born {relation} {sulq.Date('2000-01-01', '2010-12-31').date(day)}"
