"""`sulq table`: what a table is on the command line."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import reduce
from operator import and_
from typing import Any

from sulq.commands.command import Command, bins_option, share_option
from sulq.commands.reading import SYNTAX, columns_in, condition_in, edges_in, listed
from sulq.learners.table import Table
from sulq.queries.expressions import named
from sulq.queries.node import Node
from sulq.schema import Schema


def _table(options: argparse.Namespace, schema: Schema) -> Table:
    return Table(
        _conditions(options.by, schema),
        sums=columns_in(options.sum, schema) or [],
        means=columns_in(options.mean, schema) or [],
        shares=_conditions(options.rate, schema),
        medians=columns_in(options.median, schema) or [],
        quantiles=edges_in(options.quantile, schema, "quantiles", "0.25,0.75"),
        where=_all_of(options.where, schema),
        bins=edges_in(options.bins, schema),
        margins=options.margins,
        whole=options.whole,
        share=options.share,
    )


def _conditions(texts: Sequence[str] | None, schema: Schema) -> list[str | Node]:
    return [condition_in(text, schema) for text in listed(texts, schema) or []]


def _all_of(texts: Sequence[str], schema: Schema) -> Node | None:
    conditions = [named(condition_in(text, schema)) for text in texts]
    return reduce(and_, conditions) if conditions else None


def _options(parser: Any) -> None:
    def several(name: str, metavar: str, words: str) -> None:
        parser.add_argument(
            name, action="append", metavar=metavar, help=f"{words}. May be given several times"
        )

    several("--by", "A,B", f"the groups: columns with few values, or comparisons ({SYNTAX})")
    several("--sum", "A,B", "add up these numbers in each group")
    several("--mean", "A,B", "average these numbers in each group")
    several("--rate", "A,B>5", "which share of a group's rows meets each of these conditions")
    several("--median", "A,B", "the medians of these numbers in each group")
    parser.add_argument(
        "--quantile",
        action="append",
        default=[],
        metavar="COLUMN=0.25,0.75",
        help="quantiles of a number, by their levels. May be given for several columns",
    )
    parser.add_argument(
        "--where",
        action="append",
        default=[],
        metavar="CONDITION",
        help=f"only look at rows that meet this ({SYNTAX}). May be given several times: all must be met",
    )
    bins_option(
        parser,
        "numbers in --by need them; quantiles have about 4,096 intervals by default, narrow ones near 0",
    )
    parser.add_argument(
        "--margins",
        action="store_true",
        help="ask for the sums over all groups of a kind as well; by default they are sums of cells, which "
        "leaves more of the budget to the cells",
    )
    parser.add_argument(
        "--whole",
        action="store_true",
        help="show counts as whole numbers from 0 that add up; it costs nothing, also afterwards",
    )
    share_option(parser, "all measures get equal parts of it")


TABLE = Command(
    "table",
    "table",
    "counts, sums, averages, shares and quantiles in groups, with error bars",
    "Make a table from a file without giving anyone in it away. Every figure comes with bounds that hold at "
    "95 %; figures within the noise are shown in brackets, and in grey in reports. Margins agree with their "
    "cells.",
    (
        "--by ward,diagnosis --epsilon 1 --dry-run",
        "--by ward,diagnosis --mean cost --median age --where 'age>=18' --epsilon 1 --csv out.csv",
        "--by sex,age --bins age=18,40,65 --rate sick --whole --epsilon 1 --report out.html",
        "--by ward --quantile cost=0.1,0.9 --share 1/2 --epsilon 1 --json table.json",
    ),
    _options,
    _table,
)
