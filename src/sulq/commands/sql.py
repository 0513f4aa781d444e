"""`sulq sql`: what a SELECT is on the command line."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from rich.console import Console
from rich.text import Text

from sulq.commands.checks import budget_given, check_elsewhere, check_here
from sulq.commands.command import Command, bins_option, share_option
from sulq.commands.reading import edges_in
from sulq.learners.explaining import explanation
from sulq.learners.statement import Statement, explained
from sulq.numbers import amount
from sulq.oracles.remote import connect
from sulq.runs.outcome import spending
from sulq.runs.run import Run
from sulq.schema import Schema
from sulq.sources.opening import open as open_source
from sulq.talk.offer import Offer

Learn = Callable[[Command, argparse.Namespace, Console], int]


def select(learn: Learn, command: Command, options: argparse.Namespace, console: Console) -> int:
    """Run a SELECT on a file or at a curator elsewhere, or explain it.

    Args:
        learn: runs a learner.
        command: the command.
        options: what was asked for.
        console: where to print.
    """
    explains, options.statement = explained(options.statement)
    return _explain(options, console) if explains else learn(command, options, console)


def _explain(options: argparse.Namespace, console: Console) -> int:
    """Print the round of a statement. No row is read, and nothing is spent."""
    schema, offer = _offered(options)
    questions = _statement(options, schema).questions(schema, offer)
    unit = None if offer is None else offer.unit
    # Not wrapped: a line is a question.
    console.print(Text(explanation(questions, unit)), soft_wrap=True)
    if offer is not None:
        cost = sum((question.cost or Fraction(0) for question in questions), Fraction(0))
        console.print(
            Text(
                f"\nOne round, for {spending(cost, offer.unit)} of {amount(offer.total)}. Nothing was spent."
            )
        )
    return 0


def _offered(options: argparse.Namespace) -> tuple[Schema, Offer | None]:
    """What is public about the columns, and what a curator offers; None for exact answers."""
    if options.at is not None:
        check_elsewhere(options)
        with connect(options.at, dataset=options.data, certificate=options.certificate) as remote:
            return remote.schema, remote.offer
    check_here(options)
    budget = budget_given(options)
    schema = Schema.of(options.schema)
    source = open_source(options.data, schema, table=options.table, quoted_newlines=options.quoted_newlines)
    if budget is None:
        return schema, None
    return schema, Run(_statement(options, schema), source, budget, options.neighbours).offer


def _statement(options: argparse.Namespace, schema: Schema) -> Statement:
    return Statement(
        options.statement, edges_in(options.bins, schema), margins=options.margins, share=options.share
    )


def _options(parser: Any) -> None:
    parser.add_argument(
        "statement",
        help="one SELECT over one table, in quotes, in the dialect of DuckDB; FROM may name the table as it "
        "likes. EXPLAIN SELECT … shows what would be asked and at what cost",
    )
    bins_option(parser, "for quantiles, at each whole number or about 4,096 intervals")
    parser.add_argument(
        "--margins",
        action="store_true",
        help="for ROLLUP and its like: ask for the sums over all groups of a kind as well; by default they "
        "are sums of cells, which leaves more of the budget to the cells",
    )
    share_option(parser, "all aggregates get equal parts of it")


SQL = Command(
    "sql",
    "result",
    "a SELECT in SQL, with error bars",
    "Ask a SELECT of a file without giving anyone in it away: count, sum, avg, median and other quantiles, "
    "with FILTER, in groups, WHERE, HAVING, ORDER BY and LIMIT. Every figure comes with bounds that hold at "
    "95 %. All declared groups are shown, also those that nobody is in. What cannot be answered privately "
    "(single rows, joins, min, max, DISTINCT) is refused in a line that says what to ask instead.",
    (
        '"SELECT ward, count(*), avg(cost), median(age) FROM people GROUP BY ward" --epsilon 1 --dry-run',
        '"EXPLAIN SELECT ward, avg(cost) FROM people WHERE age >= 18 GROUP BY ward" --epsilon 1',
        '"SELECT floor(age / 10) * 10 AS tens, count(*) FROM people GROUP BY tens" --epsilon 1 --share 1/2',
        '"SELECT count(*) FILTER (WHERE sick) / count(*) FROM people" --epsilon 1 --csv out.csv',
    ),
    _options,
    _statement,
    by_round=True,
)
