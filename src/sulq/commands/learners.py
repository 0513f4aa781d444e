"""The learners of `sulq learn`: what each asks for on the command line, and what it makes of that."""

from __future__ import annotations

import argparse
import json
from dataclasses import fields
from typing import Any

from sulq.commands.additive import ADDITIVE
from sulq.commands.command import Command, bins_option, features_option, label_option, share_option
from sulq.commands.linear import LINEAR
from sulq.commands.pairs import PAIRS
from sulq.commands.predictors import PREDICTORS
from sulq.commands.reading import columns_in, condition_in, edges_in, listed
from sulq.commands.selection import BEYOND, add_selection, selected_conjunction
from sulq.errors import QueryError
from sulq.learners.components import PCA
from sulq.learners.conjunction import Conjunction
from sulq.learners.id3 import ID3
from sulq.learners.kmeans import KMeans
from sulq.learners.learner import LATER, Learner
from sulq.learners.perceptron import Perceptron
from sulq.learners.select import Select
from sulq.queries.expressions import col
from sulq.queries.former import former_data
from sulq.queries.scope import scope_of
from sulq.schema import Integer, Real, Schema
from sulq.wire import digest


def run_name(command: str, learner: Learner[Any]) -> str:
    """The name of a run, the same for the same learner with the same settings.

    Settings that change no question, only what is made of the answers, do not count. Those that came later
    count where they are stated, so that a run that began before them goes on under its name.

    >>> run_name("kmeans", KMeans(3)) == run_name("kmeans", KMeans(3, None))
    True
    >>> run_name("kmeans", KMeans(3)) == run_name("kmeans", KMeans(4))
    False
    """
    settings = {
        field.name: getattr(learner, field.name)
        for field in fields(learner)  # type: ignore[arg-type]
        if (asks := field.metadata.get("asks", True))
        and (asks != LATER["asks"] or getattr(learner, field.name) != field.default)
    }
    return f"{command}-{digest(json.dumps(settings, sort_keys=True, default=_plain))[:8]}"


def _plain(value: Any) -> Any:
    """A setting as plain data, as version 0 wrote it: a run that began then goes on under its name."""
    form = getattr(value, "form", str(value))
    return former_data(form) or form


def _tree(options: argparse.Namespace, schema: Schema) -> ID3:
    label = condition_in(options.label, schema)
    if isinstance(label, str) and isinstance(schema[label], Integer | Real):
        raise QueryError(f"the label {label!r} is a number: compare it with one, as in '{label}>NUMBER'")
    learner = ID3(
        label,
        columns_in(options.features, schema),
        depth=options.depth,
        pick=options.pick,
        split=options.split,
        bins=edges_in(options.bins, schema),
        share=options.share,
    )
    if scope_of(schema).code(col(label) if isinstance(label, str) else label).size < 2:
        raise QueryError(f"the label {options.label!r} can only have one value: there is nothing to predict")
    return learner


def _tree_options(parser: Any) -> None:
    label_option(parser, "a boolean or category column, or a comparison")
    features_option(parser, "the columns a tree may ask about; all but the label's by default")
    parser.add_argument(
        "--depth",
        type=int,
        default=ID3.depth,
        metavar="N",
        help="how many questions lead to an end at most (default: 9 if they are yes-or-no, else 4); fewer "
        "are asked where noise would drown them",
    )
    parser.add_argument(
        "--pick",
        choices=("choose", "counts"),
        default=ID3.pick,
        help="how a question is picked: 'choose' asks only which one predicts the label best, which is cheap "
        "(default); 'counts' asks for a table of each, as the SuLQ paper does",
    )
    parser.add_argument(
        "--split",
        choices=("multiway", "binary"),
        default=ID3.split,
        help="a branch for each value, or yes-or-no questions, whose trees are small (the default where "
        "there are numbers to ask about)",
    )
    parser.add_argument(
        "--prune",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="show the tree without splits whose ends expect the same label at rates that cannot be told "
        "apart (default); --no-prune shows every end. --json has all that was counted either way",
    )
    bins_option(parser, "eight intervals")
    share_option(parser, "half of it picks the questions, half counts the labels at the ends")


def _kmeans(options: argparse.Namespace, schema: Schema) -> KMeans:
    return KMeans(options.k, columns_in(options.features, schema), options.iterations, options.share)


def _kmeans_options(parser: Any) -> None:
    parser.add_argument("--k", type=int, required=True, metavar="N", help="how many clusters")
    features_option(parser, "numeric columns; all of them by default")
    parser.add_argument(
        "--iterations",
        type=int,
        default=KMeans.iterations,
        metavar="N",
        help="how many steps to take from the private start, at most (default %(default)s)",
    )
    share_option(parser, "two rounds of histograms for a start, the rest for the steps")


def _pca(options: argparse.Namespace, schema: Schema) -> PCA:
    return PCA(options.components, columns_in(options.features, schema), options.norm, options.share)


def _pca_options(parser: Any) -> None:
    parser.add_argument(
        "--components", type=int, required=True, metavar="N", help="how many directions to find"
    )
    features_option(parser, "numeric or boolean columns; all numeric ones by default")
    parser.add_argument(
        "--norm",
        type=float,
        metavar="LENGTH",
        help="rows further than this from the mean are shortened to it, each column's interval being scaled "
        "to [-1, 1]; noise grows with its square (default: what a histogram of these distances asks for)",
    )
    share_option(parser, "three twentieths of it for the mean, most of the rest for products of columns")


def _perceptron(options: argparse.Namespace, schema: Schema) -> Perceptron:
    return Perceptron(
        condition_in(options.label, schema),
        columns_in(options.features, schema),
        iterations=options.iterations,
        norm=options.norm,
        keep=options.keep,
        share=options.share,
    )


def _perceptron_options(parser: Any) -> None:
    label_option(parser, "a boolean column, a category of two values, or a comparison")
    features_option(parser, "columns; all but the label's by default")
    parser.add_argument(
        "--iterations",
        type=int,
        default=Perceptron.iterations,
        metavar="N",
        help="the most corrections; each may cost an equal part, and fewer are asked, and paid for, if there "
        "are no more mistakes to tell from noise (default: as many as noise lets be of use, 16 at most)",
    )
    parser.add_argument(
        "--norm",
        type=float,
        default=Perceptron.norm,
        metavar="LENGTH",
        help="rows longer than this are shortened to it (default %(default)s)",
    )
    parser.add_argument(
        "--keep",
        choices=("last", "average", "best"),
        default=Perceptron.keep,
        help="which weights to keep; where no halfspace is right of all rows, 'average' and 'best' are "
        "usually better than 'last' and cost nothing more (default %(default)s)",
    )
    share_option(parser, "three tenths for where numbers are, the rest for corrections")


def _conjunction(options: argparse.Namespace, schema: Schema) -> Conjunction | Select:
    if options.select:
        return selected_conjunction(options, schema)
    if options.size is not None or options.bins:
        raise QueryError("--size and --bins go with --select")
    given = listed(options.features, schema)
    return Conjunction(
        condition_in(options.label, schema),
        None if given is None else [condition_in(text, schema) for text in given],
        error="0.1" if options.error is None else options.error,
        confidence=options.confidence,
        negations=options.negations,
        share=options.share,
    )


def _conjunction_options(parser: Any) -> None:
    label_option(parser, "a boolean column or a comparison")
    features_option(parser, "boolean columns or comparisons; all boolean columns by default")
    parser.add_argument(
        "--error",
        metavar="SHARE",
        help="how many of the rows the rule may get wrong (default 0.1); half of it costs double",
    )
    parser.add_argument(
        "--confidence",
        default="0.95",
        metavar="CHANCE",
        help="how sure that must be, over the noise (default %(default)s)",
    )
    parser.add_argument("--negations", action="store_true", help="consider the opposite of every feature too")
    parser.add_argument(
        "--share",
        metavar="PART",
        help="spend this part of the budget, and let the rule be as good as that allows; by default it costs "
        "what --error and --confidence need, and no more",
    )
    add_selection(parser)


COMMANDS = (
    *PREDICTORS,
    Command(
        "tree",
        "decision tree",
        "a decision tree for a label",
        "Learn a decision tree (ID3): each level of it is one round of questions, asked of all its nodes at "
        "the cost of one, and a last round counts the labels at the ends.",
        (
            "--label sick --epsilon 1 --dry-run",
            "--label 'income == >50K' --split binary --epsilon 1 --report tree.html",
        ),
        _tree_options,
        _tree,
    ),
    ADDITIVE,
    *LINEAR,
    Command(
        "kmeans",
        "clusters",
        "clusters of numeric columns",
        "Learn k centres (k-means): two rounds of histograms for a start, then a round for each step, with "
        "the size of every cluster and the sum of its rows.",
        ("--k 5 --features age,income --epsilon 1 --report clusters.html",),
        _kmeans_options,
        _kmeans,
    ),
    Command(
        "pca",
        "principal components",
        "the directions in which numeric columns vary most",
        "Learn principal components, from two rounds: the mean, then the products of every two columns.",
        ("--components 2 --epsilon 1 --delta 1e-6 --report components.html",),
        _pca_options,
        _pca,
    ),
    Command(
        "perceptron",
        "halfspace",
        "a weighted sum of columns that tells a label",
        "Learn a halfspace (the perceptron): every round counts and sums the rows it gets wrong.",
        ("--label sick --keep average --epsilon 1 --report halfspace.html",),
        _perceptron_options,
        _perceptron,
    ),
    Command(
        "conjunction",
        "conjunction",
        "which of many conditions hold whenever a label does",
        "Learn a conjunction from one round, with one question for each condition; or, with --select, "
        "from one private choice among all conjunctions.",
        (
            "--label flu --error 0.05 --epsilon 1",
            "--label sick --features 'age>=65,sex==f' --share 1/2 --epsilon 1",
            "--label sick --select --size 2 --negations --epsilon 1",
        ),
        _conjunction_options,
        _conjunction,
    ),
    PAIRS,
    *BEYOND,
)
