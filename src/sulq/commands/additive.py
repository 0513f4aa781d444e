"""`sulq learn additive`: what it asks for on the command line, and what it makes of that."""

from __future__ import annotations

import argparse
from typing import Any

from sulq.commands.command import Command, bins_option, features_option, label_option, share_option
from sulq.commands.reading import columns_in, condition_in, edges_in
from sulq.learners.additive import Additive
from sulq.schema import Schema


def _additive(options: argparse.Namespace, schema: Schema) -> Additive:
    return Additive(
        condition_in(options.label, schema),
        columns_in(options.features, schema),
        edges_in(options.bins, schema),
        options.refinements,
        options.share,
    )


def _additive_options(parser: Any) -> None:
    label_option(parser, "a category, a boolean or a numeric column, or a comparison")
    features_option(parser, "the columns that may have an effect; all but the label's by default")
    bins_option(parser, "many intervals, joined where rows are few")
    parser.add_argument(
        "--refinements",
        type=int,
        default=Additive.refinements,
        metavar="N",
        help="how often to ask for what is not yet explained (default: 8 times, and 3 times under pure ε)",
    )
    share_option(parser, "a quarter shows how columns go with the label and each other, the rest refines")


ADDITIVE = Command(
    "additive",
    "additive model",
    "how much each column adds to the odds of a label, or to a number",
    "Learn an additive model: the effects of all columns add up to the log-odds of a class, or to a "
    "number. A first round shows how each column goes with the label, a second how columns go together, "
    "and a few more sum up what is not yet explained. The report draws each effect with its error bars.",
    (
        "--label sick --epsilon 1 --delta 1e-6 --report effects.html",
        "--label income --features age,town --epsilon 1 --dry-run",
    ),
    _additive_options,
    _additive,
)
