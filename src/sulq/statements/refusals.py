"""Why something cannot be answered, and what to ask instead: one line each, from the statement alone."""

from __future__ import annotations

from typing import TypeAlias

from sqlglot import exp

from sulq.errors import QueryError

Tree: TypeAlias = exp.Expr
"""A tree of SQL, as the parser makes it."""

MOST_LETTERS = 80
AGGREGATES = "count, count_if, sum, avg, median, quantile_cont, quantile_disc and their FILTER (WHERE …)"
FUNCTIONS = (
    "+ - * / // %, comparisons, AND, OR, NOT, IN, BETWEEN, LIKE, IS NULL, CASE, coalesce, nullif, abs, "
    "floor, ceil, least, greatest, year, month, quarter, isodow, dayname, date_trunc and date_diff"
)
REASONS: dict[type[Tree], tuple[str, str]] = {
    exp.Window: ("a window function says something of every row", "aggregate in groups, by GROUP BY"),
    exp.Subquery: ("a statement within a statement is not answered", "ask one SELECT of the table at a time"),
    exp.Select: ("a statement within a statement is not answered", "ask one SELECT of the table at a time"),
    exp.Exists: ("a statement within a statement is not answered", "ask one SELECT of the table at a time"),
    exp.Star: ("this shows single rows", "name groups in GROUP BY and ask for aggregates, as count(*)"),
    exp.Columns: ("this shows single rows", "name groups in GROUP BY and ask for aggregates, as count(*)"),
    exp.Placeholder: ("a placeholder has no value here", "write the value itself"),
    exp.Parameter: ("a placeholder has no value here", "write the value itself"),
    exp.CurrentDate: (
        "the day changes, and with it the question",
        "write the day itself, as DATE '2024-01-31'",
    ),
    exp.CurrentTimestamp: ("the time changes, and with it the question", "write a day, as DATE '2024-01-31'"),
    exp.Rand: ("a random number is no statistic of the rows", "leave it out"),
}
FOR_AGGREGATES: dict[type[Tree], tuple[str, str]] = {
    exp.Min: ("the smallest value is one person's", "ask for a quantile, as quantile_disc(x, 0.05)"),
    exp.Max: ("the largest value is one person's", "ask for a quantile, as quantile_disc(x, 0.95)"),
    **dict.fromkeys(
        (exp.Stddev, exp.StddevPop, exp.StddevSamp, exp.Variance, exp.VariancePop),
        (
            "spreads are not computed here",
            "ask for avg(x) and avg(x * x), or for quantiles: the variance is avg(x * x) - avg(x) * avg(x)",
        ),
    ),
    **dict.fromkeys(
        (exp.ApproxDistinct, exp.Distinct),
        (
            "which values are there is not a sum over rows",
            "GROUP BY the column: its possible values are public",
        ),
    ),
    **dict.fromkeys(
        (exp.ArrayAgg, exp.GroupConcat, exp.AnyValue, exp.First, exp.Last, exp.ArgMin, exp.ArgMax, exp.Mode),
        ("this shows the values of single rows", f"there are {AGGREGATES}"),
    ),
}


def written(tree: Tree) -> str:
    """An expression as SQL, on one line that is not too long."""
    try:
        text = tree.sql("duckdb", normalize_functions="lower", comments=False)
    except Exception:  # a tree that a parser makes of any text need not be one that it can write
        text = type(tree).__name__
    text = " ".join(text.split())
    return text if len(text) <= MOST_LETTERS else text[: MOST_LETTERS - 1] + "…"


def refused(tree: Tree, what: str | None = None, instead: str | None = None) -> QueryError:
    """The refusal of an expression.

    Args:
        tree: the expression.
        what: what is not answered; None for what is known of such expressions.
        instead: what to ask instead.
    """
    text = written(tree)
    if what is not None and instead is not None:
        return QueryError(f"{text}: {what} is not answered here: {instead}")
    for table in (FOR_AGGREGATES, REASONS):
        for kind, (reason, advice) in table.items():
            if isinstance(tree, kind):
                return QueryError(f"{text}: {reason}: {advice}")
    if isinstance(tree, exp.AggFunc):
        return QueryError(f"{text} is not answered here: there are {AGGREGATES}")
    return QueryError(f"{text} is not answered here: there are {FUNCTIONS}")
