"""Edges of dates are numbers of days in forms, and dates wherever people read them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import sulq
from sulq.queries.scope import scope_of
from sulq.queries.value_names import value_names
from sulq.sources.source import Source

SCHEMA = sulq.Schema(
    {"born": sulq.Date("1990-01-01", "2009-12-31"), "sick": sulq.Boolean(), "age": sulq.Integer(0, 99)}
)
EDGES = {"born": ["1995-06-01", "2000-01-01"]}
IN_DAYS = [1977, 3652]
INTERVALS = ("below 1995-06-01", "1995-06-01 to 2000-01-01", "2000-01-01 and up")


def people() -> Source:
    born = [f"{year}-03-01" for year in range(1990, 2010)] * 20
    return sulq.open(
        {"born": born, "sick": [day < "2000" for day in born], "age": [2010 - int(day[:4]) for day in born]},
        SCHEMA,
    )


def a_tree(people: Source) -> str:
    tree = sulq.ID3("sick", features=["born"], pick="counts", bins=EDGES).learn(people.exact())
    return tree.describe(prune=False) + tree.picture(prune=False)


def a_table(people: Source) -> str:
    table = sulq.Table(by=["born"], bins=EDGES).learn(people.exact())
    return table.describe() + table.picture()


def weights(people: Source) -> str:
    return sulq.LinearRegression("age", [sulq.bins("born", IN_DAYS)]).learn(people.exact()).describe()


def an_answer(people: Source) -> str:
    [answer] = people.exact().ask(sulq.Round([sulq.count(by=[sulq.bins("born", IN_DAYS)])]))
    return str(answer)


@pytest.mark.parametrize("shown", [a_tree, a_table, weights, an_answer])
def test_edges_of_dates_are_shown_as_dates(shown: Callable[[Source], str]) -> None:
    text = shown(people())
    assert all(f"{edge}" in text for edges in EDGES.values() for edge in edges)
    assert not any(str(days) in text for days in IN_DAYS)


def test_forms_and_comparisons_have_the_number_of_days() -> None:
    in_days = sulq.bins("born", IN_DAYS)
    assert people().values(in_days == "below 1977").sum() == 120
    assert value_names(in_days, scope_of(SCHEMA)) == INTERVALS


def test_an_edge_within_a_day_is_shown_as_the_first_day_after_it() -> None:
    between = sulq.bins("born", [1976.4])
    assert value_names(between, scope_of(SCHEMA)) == ("below 1995-06-01", "1995-06-01 and up")


def test_an_edge_that_is_no_day_of_the_column_stays_a_number() -> None:
    beyond = sulq.bins("born", [-1, 9e9])
    assert value_names(beyond, scope_of(SCHEMA)) == ("below -1", "-1 to 9e+09", "9e+09 and up")
