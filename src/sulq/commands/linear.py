"""`sulq learn linear|logistic|bayes|list`: what they ask for on the command line."""

from __future__ import annotations

import argparse
from typing import Any

from sulq.commands.command import Command, bins_option, features_option, label_option, share_option
from sulq.commands.reading import columns_in, condition_in, edges_in
from sulq.learners.decision_list import DecisionList
from sulq.learners.linear import LinearRegression
from sulq.learners.logistic import LogisticRegression
from sulq.learners.naive_bayes import NaiveBayes
from sulq.schema import Schema

CLASSES = "a category or a boolean column, or a comparison"


def _linear(options: argparse.Namespace, schema: Schema) -> LinearRegression:
    return LinearRegression(
        condition_in(options.label, schema), columns_in(options.features, schema), options.share
    )


def _linear_options(parser: Any) -> None:
    label_option(parser, "a numeric column")
    features_option(parser, "the columns that it is predicted by; all but the label's by default")
    share_option(parser, "a tenth for a first look, four for products of columns, the rest for corrections")


def _logistic(options: argparse.Namespace, schema: Schema) -> LogisticRegression:
    return LogisticRegression(
        condition_in(options.label, schema),
        columns_in(options.features, schema),
        options.steps,
        options.share,
    )


def _logistic_options(parser: Any) -> None:
    label_option(parser, CLASSES)
    features_option(parser, "the columns that it is predicted by; all but the label's by default")
    parser.add_argument(
        "--steps",
        type=int,
        default=LogisticRegression.steps,
        metavar="N",
        help="how often to ask for what is not yet explained (default: 4 times, and 2 times under pure ε)",
    )
    share_option(parser, "a tenth for a first look, three for products of columns, the rest for the steps")


def _bayes(options: argparse.Namespace, schema: Schema) -> NaiveBayes:
    return NaiveBayes(
        condition_in(options.label, schema),
        columns_in(options.features, schema),
        edges_in(options.bins, schema),
        options.share,
    )


def _bayes_options(parser: Any) -> None:
    label_option(parser, CLASSES)
    features_option(parser, "the columns to count with the label; all but the label's by default")
    bins_option(parser, "many intervals, joined where rows are few")
    share_option(parser, "all of it in one round of counts")


def _list(options: argparse.Namespace, schema: Schema) -> DecisionList:
    return DecisionList(
        condition_in(options.label, schema),
        columns_in(options.features, schema),
        options.length,
        options.share,
    )


def _list_options(parser: Any) -> None:
    label_option(parser, CLASSES)
    features_option(parser, "the columns that rules may look at; all but the label's by default")
    parser.add_argument(
        "--length",
        type=int,
        default=DecisionList.length,
        metavar="N",
        help="how many rules at most (default %(default)s); fewer are asked for, and paid for, where "
        "the rows that are left are noise",
    )
    share_option(parser, "three quarters pick the rules, a quarter counts the classes of their rows")


LINEAR = (
    Command(
        "linear",
        "linear model",
        "a number as a weighted sum of columns",
        "Learn a linear regression: a first look shows where the values of each column are, a second round "
        "sums up products of columns, and a third what is then not explained. Coefficients are shrunk by as "
        "much as noise asks for. The report draws them with error bars; grey is within the noise.",
        (
            "--label cost --epsilon 1 --delta 1e-6 --report coefficients.html",
            "--label cost --features age,town --epsilon 1 --dry-run",
        ),
        _linear_options,
        _linear,
    ),
    Command(
        "logistic",
        "logistic model",
        "the odds of a class as a weighted sum of columns",
        "Learn a logistic regression: a first look, a round of products of columns, then a few rounds that "
        "sum up what is not yet explained. It says how likely each class is. The report draws coefficients "
        "with error bars; grey is within the noise.",
        (
            "--label sick --epsilon 1 --delta 1e-6 --report odds.html",
            "--label 'age>=65' --features town,cost --epsilon 1 --dry-run",
        ),
        _logistic_options,
        _logistic,
    ),
    Command(
        "bayes",
        "naive Bayes model",
        "how often each value goes with each class, from one round",
        "Learn naive Bayes: one round counts how often each value of each column goes with each class. It "
        "takes columns for independent, so it is too sure where several say the same; `sulq learn additive` "
        "mends that with more rounds.",
        ("--label sick --epsilon 1 --report effects.html",),
        _bayes_options,
        _bayes,
    ),
    Command(
        "list",
        "decision list",
        "if this then A, else if that then B, else C",
        "Learn a decision list: each round picks the condition that tells most about the rows which no rule "
        "fits yet, and a last round counts the classes of the rows of each rule.",
        ("--label sick --length 4 --epsilon 1 --report rules.html",),
        _list_options,
        _list,
    ),
)
