"""Whatever the text is, a statement is answered or refused in one line; no tracebacks, no row in a message."""

from __future__ import annotations

import hypothesis.strategies as st
import sqlglot
from hypothesis import HealthCheck, given, settings
from sqlglot import exp

import sulq
from sulq.hypotheses import ResultSet
from sulq.learners.statement import Statement
from tests.statements.corpus import ANSWERED
from tests.statements.people import SCHEMA, people
from tests.statements.test_refusals import REFUSED

CHECKED = sulq.Schema(SCHEMA)
WORDS = [
    "SELECT",
    "FROM",
    "WHERE",
    "GROUP",
    "BY",
    "HAVING",
    "ORDER",
    "LIMIT",
    "count",
    "(",
    ")",
    "*",
    ",",
    "sum",
    "avg",
    "median",
    "age",
    "cost",
    "ward",
    "sick",
    "born",
    "left_on",
    "visits",
    "AND",
    "OR",
    "NOT",
    "IN",
    "BETWEEN",
    "LIKE",
    "IS",
    "NULL",
    "CASE",
    "WHEN",
    "THEN",
    "ELSE",
    "END",
    "'north'",
    "1",
    "0.5",
    "-3",
    "DATE",
    "'2019-01-01'",
    "=",
    "<",
    ">",
    "<>",
    "+",
    "-",
    "/",
    "%",
    "//",
    "^",
    "FILTER",
    "AS",
    "n",
    "people",
    "ROLLUP",
    "CUBE",
    "floor",
    "year",
    "date_part",
    "'year'",
    "coalesce",
    "DISTINCT",
    "OVER",
    "quantile_cont",
    ";",
    "--",
    "/*",
    '"',
    "[",
    "]",
    "?",
    "$1",
    "::",
    "INT",
    "ALL",
    "TRUE",
    "min",
    "max",
    "UNION",
    "JOIN",
    "ON",
    "EXPLAIN",
    "date_trunc",
    "'month'",
    "interval",
    "least",
    "abs",
    "round",
    "1e9",
    "1e-99",
    "nullif",
    "count(*)",
    "avg(cost)",
    "GROUPING",
    "SETS",
]
UNREADABLE = ("", "SELECT 'a", "SELECT count(* FROM people", "EXPLAIN ANALYZE SELECT count(*) FROM people")
TREES = [sqlglot.parse_one(text, read="duckdb") for text in (*ANSWERED, *REFUSED) if text not in UNREADABLE]
PIECES = [piece for tree in TREES for piece in tree.walk() if isinstance(piece, exp.Condition)]


def outcome(text: str) -> ResultSet | str:
    try:
        statement = Statement(text)
        next(statement.rounds(CHECKED))
        statement.questions(CHECKED)
        return statement.learn(people().exact())
    except sulq.SulqError as error:
        line = str(error)
        assert line and "\n" not in line and len(line) < 2000
        return line


def check(text: str) -> None:
    found = outcome(text)
    if isinstance(found, ResultSet):
        assert found.describe() and found.to_csv() and found.picture() and found._repr_html_()
        assert sulq.Hypothesis.from_json(found.to_json()) == found


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=60))
def test_any_text_is_answered_or_refused(text: str) -> None:
    check(text)
    check(f"SELECT count(*) FROM p WHERE {text}")


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=20))
def test_any_words_of_sql_are_answered_or_refused(words: list[str]) -> None:
    check(" ".join(words))
    check(f"SELECT count(*), {' '.join(words)} FROM people")


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from(TREES),
    st.lists(st.tuples(st.integers(0, 400), st.sampled_from(PIECES)), min_size=1, max_size=3),
)
def test_any_tree_of_sql_is_answered_or_refused(tree: exp.Expr, changes: list[tuple[int, exp.Expr]]) -> None:
    changed = tree.copy()
    for place, piece in changes:
        inner = [each for each in changed.walk() if isinstance(each, exp.Condition) and each is not changed]
        if inner:
            inner[place % len(inner)].replace(piece.copy())
    try:
        text = changed.sql("duckdb")
    except Exception:  # not every tree can be written
        return
    check(text)
