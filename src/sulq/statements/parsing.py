"""From a text to the tree of one SELECT over one table, or a refusal in one line."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError, SqlglotError

from sulq.errors import QueryError
from sulq.statements.refusals import Tree, written

MOST_LETTERS = 20_000
EXAMPLE = "SELECT ward, count(*), avg(cost) FROM people GROUP BY ward"
ANSWERED = ("expressions", "from_", "where", "group", "having", "order", "limit", "offset")
CLAUSES = {
    "with_": ("WITH", "ask one SELECT of the table at a time"),
    "joins": ("a join", "put what you need into one table first; there is one table here"),
    "laterals": ("a join", "put what you need into one table first; there is one table here"),
    "distinct": ("SELECT DISTINCT", "GROUP BY the columns: their possible values are public"),
    "qualify": ("QUALIFY", "filter aggregates by HAVING"),
    "windows": ("a window", "aggregate in groups, by GROUP BY"),
    "sample": ("a sample of the rows", "ask about all rows: noise is what protects them"),
    "locks": ("a lock", "leave FOR UPDATE out"),
    "into": ("INTO", "use --csv or --json to keep the result"),
    "pivots": ("PIVOT", "GROUP BY both columns"),
}


def parsed(text: object) -> exp.Select:
    """The tree of the one SELECT that a text holds.

    >>> parsed("SELECT count(*) FROM people").key
    'select'
    """
    if not isinstance(text, str) or len(text) > MOST_LETTERS:
        raise QueryError(f"a statement is a text of at most {MOST_LETTERS:,} letters, as {EXAMPLE!r}")
    with _quiet():
        try:
            trees = [tree for tree in sqlglot.parse(text, read="duckdb") if tree is not None]
        except ParseError as error:
            first = error.errors[0] if error.errors else {}
            near = " ".join(str(first.get("highlight") or "").split())[:40]
            place = f" at {near!r}, line {first.get('line')}, column {first.get('col')}" if near else ""
            raise QueryError(f"cannot read this SQL{place}; a statement looks like {EXAMPLE!r}") from None
        except SqlglotError:
            raise QueryError("cannot read this SQL: is a quote or a comment left open?") from None
        except RecursionError:
            raise QueryError("cannot read this SQL: it has too many brackets inside each other") from None
        except Exception:  # whatever a parser does with a text that is no SQL
            raise QueryError(f"cannot read this SQL; a statement looks like {EXAMPLE!r}") from None
    trees = [tree for tree in trees if not isinstance(tree, exp.Semicolon)]
    if not trees:
        raise QueryError(f"the statement is empty; a statement looks like {EXAMPLE!r}")
    if len(trees) > 1:
        raise QueryError(f"there are {len(trees)} statements: ask one at a time")
    return _select(trees[0])


def table_names(select: exp.Select) -> frozenset[str]:
    """What the one table of a SELECT is called, in lower case, or a refusal."""
    source = select.args.get("from_")
    if source is None:
        raise QueryError(f"FROM is missing: a statement looks like {EXAMPLE!r}")
    table = source.this
    if isinstance(table, exp.Subquery | exp.Values):
        raise QueryError("FROM takes the name of the table: a statement within a statement is not answered")
    if not isinstance(table, exp.Table) or not isinstance(table.this, exp.Identifier):
        raise QueryError(f"FROM takes a name for the table that was given, as people, not {written(table)}")
    name = table.this.name
    if table.args.get("db") or re.search(r"[./\\]", name):
        raise QueryError(
            f"{written(table)} is another table or file: there is one, that was given; call it people"
        )
    _check_clauses(table, ("this", "alias"))
    alias = table.args.get("alias")
    if alias is not None and alias.args.get("columns"):
        raise QueryError("columns have the names of the schema: leave the names after the table out")
    return frozenset({name.lower(), *([alias.name.lower()] if alias is not None else [])})


def _select(tree: Tree) -> exp.Select:
    while isinstance(tree, exp.Subquery) and not any(
        value for name, value in tree.args.items() if name != "this"
    ):
        tree = tree.this
    if isinstance(tree, exp.SetOperation):
        raise QueryError("UNION and its like are not answered: ask one SELECT at a time")
    if not isinstance(tree, exp.Select):
        kind = str(tree.this)[:40] if isinstance(tree, exp.Command) else type(tree).__name__.upper()
        what = written(tree) if isinstance(tree, exp.Condition) else kind
        raise QueryError(f"{what} is not answered, only SELECT: a statement looks like {EXAMPLE!r}")
    _check_clauses(tree, ANSWERED)
    if not tree.expressions:
        raise QueryError(f"SELECT asks for nothing: a statement looks like {EXAMPLE!r}")
    return tree


def _check_clauses(tree: Tree, answered: tuple[str, ...]) -> None:
    for name, value in tree.args.items():
        if value and name not in answered:
            clause, instead = CLAUSES.get(name, (name.strip("_").upper().replace("_", " "), "leave it out"))
            raise QueryError(f"{clause} is not answered: {instead}")


@contextmanager
def _quiet() -> Iterator[None]:
    """The parser prints no warnings of its own: a refusal is one line."""
    logger = logging.getLogger("sqlglot")
    before = logger.disabled
    logger.disabled = True
    try:
        yield
    finally:
        logger.disabled = before
