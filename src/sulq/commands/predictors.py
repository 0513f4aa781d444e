"""`sulq learn classifier` and `sulq learn regressor`: predict a column, by whatever learner fits."""

from __future__ import annotations

import argparse
from typing import Any

from sulq.commands.command import Command, bins_option, features_option, label_option, share_option
from sulq.commands.reading import columns_in, condition_in, edges_in
from sulq.errors import QueryError
from sulq.hypotheses.target import Target
from sulq.learners.classifier import Classifier
from sulq.learners.regressor import Regressor
from sulq.queries.attributes import attribute
from sulq.schema import Schema


def _classifier(options: argparse.Namespace, schema: Schema) -> Classifier:
    label = condition_in(options.label, schema)
    if Target(schema, attribute(schema, label)).classes is None:
        raise QueryError(f"{options.label} is a number, and no class: `sulq learn regressor` predicts it")
    features, edges = columns_in(options.features, schema), edges_in(options.bins, schema)
    return Classifier(label, features, edges, options.share)


def _regressor(options: argparse.Namespace, schema: Schema) -> Regressor:
    features, edges = columns_in(options.features, schema), edges_in(options.bins, schema)
    return Regressor(condition_in(options.label, schema), features, edges, options.share)


def _options(parser: Any, label: str, share: str) -> None:
    label_option(parser, label)
    features_option(parser, "the columns to learn from; all but the label's by default")
    bins_option(parser, "many intervals, closer together near 0")
    share_option(parser, share)


def _classifier_options(parser: Any) -> None:
    _options(parser, "a category or boolean column, or a comparison", "2 %% say what to learn with")


def _regressor_options(parser: Any) -> None:
    _options(
        parser, "a numeric column", "5 %% say where the number is, and 14 %% what columns have to do with it"
    )


PREDICTORS = (
    Command(
        "classifier",
        "classifier",
        "predict a class: selection, tree or additive model, whichever fits",
        "Predict a class. A first count of the labels says how many rows there are, compared with the noise; "
        "by that, and by the number of columns and classes, the rest of the budget goes to the most frequent "
        "class alone, to one private choice of few conditions, to a tree, to an additive model, or to two of "
        "these. What was chosen, and why, is said.",
        ("--label sick --epsilon 1 --dry-run", "--label sick --epsilon 1 --report sick.html"),
        _classifier_options,
        _classifier,
    ),
    Command(
        "regressor",
        "regressor",
        "predict a number: an additive model, or the average where noise hides the rest",
        "Predict a number by an additive model. Where noise hides what the columns have to do with it, the "
        "budget goes to the average alone, and that is said.",
        ("--label income --epsilon 1 --delta 1e-6 --report income.html",),
        _regressor_options,
        _regressor,
    ),
)
