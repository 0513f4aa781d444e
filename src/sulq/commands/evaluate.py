"""`sulq evaluate`: what it takes on the command line, and what it makes of that."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from sulq.commands.command import Command, share_option
from sulq.commands.reading import SYNTAX, condition_in
from sulq.errors import SulqError
from sulq.hypotheses.hypothesis import Hypothesis
from sulq.learners.evaluate import BINS, Evaluate
from sulq.schema import Schema


def _evaluate(options: argparse.Namespace, schema: Schema) -> Evaluate:
    return Evaluate(
        _hypothesis(options.model),
        None if options.label is None else condition_in(options.label, schema),
        None if options.where is None else condition_in(options.where, schema),
        options.bins,
        options.share,
    )


def _hypothesis(file: str) -> Hypothesis:
    try:
        text = Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise SulqError(f"cannot read --model {file}: {reason}") from None
    return Hypothesis.from_json(text)


def _options(parser: Any) -> None:
    parser.add_argument(
        "--model",
        required=True,
        metavar="FILE",
        help="the hypothesis, as `sulq learn … --json FILE` wrote it: a tree, an additive model, a halfspace "
        "or any other that predicts",
    )
    parser.add_argument(
        "--label",
        metavar="LABEL",
        help=f"the truth to compare it with; by default what the hypothesis says it is about ({SYNTAX})",
    )
    parser.add_argument(
        "--where",
        metavar="CONDITION",
        help=f"only look at rows that meet this, such as those it was not learned from ({SYNTAX})",
    )
    parser.add_argument(
        "--bins",
        type=int,
        default=BINS,
        metavar="N",
        help="into how many bins scores are divided, for ROC curve and calibration (default %(default)s)",
    )
    share_option(parser, "all of it goes into one round")


EVALUATE = Command(
    "evaluate",
    "evaluation",
    "how good a hypothesis is: accuracy, ROC curve, calibration, errors of a number",
    "Find out how good a hypothesis is, by one more round of noisy answers. Of a class: accuracy and a "
    "confusion table; where the hypothesis has scores for two classes, also the ROC curve with its area, and "
    "calibration. Of a number: R², mean squared and mean absolute error. Every figure has bounds that noise "
    "keeps to at 95 %. Rows that were learned from flatter a hypothesis: evaluate it on others.",
    (
        "--model tree.json --epsilon 1 --share 1/10 --report evaluation.html",
        "--model tree.json --label sick --where 'year>=2020' --epsilon 1 --dry-run",
    ),
    _options,
    _evaluate,
)
