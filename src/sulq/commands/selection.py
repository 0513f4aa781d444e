"""The commands whose learners need more than sums: parities, and choices from a class."""

from __future__ import annotations

import argparse
from typing import Any

from sulq.classes.base import HypothesisClass
from sulq.classes.boolean import Conjunctions, MonotoneConjunctions
from sulq.classes.grids import Stumps
from sulq.classes.small import SmallConjunctions
from sulq.commands.command import Command, bins_option, features_option, label_option, share_option
from sulq.commands.reading import columns_in, condition_in, edges_in, listed
from sulq.errors import QueryError
from sulq.learners.parity import Parity
from sulq.learners.select import Select
from sulq.queries.attributes import attribute, check_numbers, column_names, features_beside
from sulq.queries.node import Node
from sulq.schema import Schema


def _parity(options: argparse.Namespace, schema: Schema) -> Parity:
    return Parity(
        condition_in(options.label, schema),
        _conditions(options, schema),
        error=options.error,
        confidence=options.confidence,
        constant=options.constant,
        sampling=options.sampling,
        amplification="repeat" if options.amplification == "repeat" else "test set",
        share=options.share,
    )


def _parity_options(parser: Any) -> None:
    label_option(parser, "a boolean column or a comparison")
    features_option(parser, "boolean columns or comparisons; all boolean columns by default")
    parser.add_argument(
        "--error",
        default="0.1",
        metavar="SHARE",
        help="on how much of the population the parity may be wrong (default %(default)s); half of it needs "
        "twice the rows, and too few are refused",
    )
    _confidence(parser)
    parser.add_argument("--constant", action="store_true", help="consider the opposites of parities too")
    parser.add_argument(
        "--sampling",
        choices=("tight", "paper"),
        default=Parity.sampling,
        help="how many of the rows' equations are solved: 'tight', as many as the promise to everyone allows "
        "(default); 'paper', about half of that, as printed",
    )
    parser.add_argument(
        "--amplification",
        choices=("repeat", "test-set"),
        default="repeat",
        help="how a learner that gives up half of the time is made reliable: 'repeat' it, which needs fewer "
        "rows (default), or choose among many on a 'test-set'",
    )
    share_option(parser, "more of it needs fewer rows")


def _stump(options: argparse.Namespace, schema: Schema) -> Select:
    label, edges = condition_in(options.label, schema), edges_in(options.bins, schema)
    given = columns_in(options.features, schema)
    columns = column_names(features_beside(schema, given, attribute(schema, label)), schema)
    check_numbers("bins", edges, columns, schema)
    return _choice(Stumps(columns, edges=edges), label, options)


def _stump_options(parser: Any) -> None:
    label_option(parser, "a boolean column or a comparison")
    features_option(parser, "the columns a stump may ask about; all but the label's by default")
    bins_option(parser, "sixteen intervals")
    parser.add_argument("--error", metavar="SHARE", help=ERROR)
    _confidence(parser)
    share_option(parser, "the choice is one release")


def add_selection(parser: Any) -> None:
    """The options that make `conjunction` a choice."""
    parser.add_argument(
        "--select",
        action="store_true",
        help="choose one of all conjunctions, privately, instead of asking about each condition: better "
        "where no conjunction is right about all rows. Costs --share, by default the whole budget; with "
        "--error, too few rows are refused",
    )
    parser.add_argument(
        "--size",
        type=int,
        metavar="N",
        help="with --select: choose among the conjunctions of at most N conditions, on columns of every kind",
    )
    bins_option(parser, "with --size: sixteen intervals")


def selected_conjunction(options: argparse.Namespace, schema: Schema) -> Select:
    """What `conjunction --select` learns with."""
    features, edges = _conditions(options, schema), edges_in(options.bins, schema)
    if options.size is not None:
        small = SmallConjunctions(options.size, features, negations=options.negations, edges=edges)
        return _choice(small, condition_in(options.label, schema), options)
    if edges:
        raise QueryError("--bins go with --size")
    every = Conjunctions(features) if options.negations else MonotoneConjunctions(features)
    return _choice(every, condition_in(options.label, schema), options)


def _choice(hypotheses: HypothesisClass, label: str | Node, options: argparse.Namespace) -> Select:
    share = "1" if options.share is None else options.share
    return Select(hypotheses, label, error=options.error, confidence=options.confidence, share=share)


def _conditions(options: argparse.Namespace, schema: Schema) -> list[str | Node] | None:
    given = listed(options.features, schema)
    return None if given is None else [condition_in(text, schema) for text in given]


def _confidence(parser: Any) -> None:
    parser.add_argument(
        "--confidence",
        default="0.95",
        metavar="CHANCE",
        help="how sure --error must be, over the noise and the sample (default %(default)s)",
    )


ERROR = (
    "promise that on no more than this part of the population beyond the best stump's mistakes it is wrong; "
    "too few rows for that are refused. Not promised by default"
)
BEYOND = (
    Command(
        "parity",
        "parity",
        "whether an odd number of some conditions hold",
        "Learn a parity, which no statistical query can: by solving the equations of a random few of the "
        "rows, in one release. That no parity was found is an outcome too.",
        (
            "--label odd --epsilon 1 --dry-run",
            "--label odd --features a,b,c --error 0.05 --constant --epsilon 1 --report parity.html",
        ),
        _parity_options,
        _parity,
    ),
    Command(
        "stump",
        "decision stump",
        "the one question about one column that tells a label best",
        "Learn a decision stump: one private choice among all yes-or-no questions about one column. The "
        "cheapest model there is, for small budgets.",
        (
            "--label sick --share 0.1 --epsilon 1",
            "--label 'income == >50K' --bins age=25,45,65 --epsilon 1 --report stump.html",
        ),
        _stump_options,
        _stump,
    ),
)
