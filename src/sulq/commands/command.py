"""What a learner's command is, and the options that several have."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sulq.commands.reading import SYNTAX
from sulq.learners.learner import Learner
from sulq.schema import Schema


@dataclass(frozen=True)
class Command:
    """One learner of `sulq learn`."""

    name: str
    title: str
    help: str
    description: str
    examples: Sequence[str]
    add_options: Callable[[Any], None]
    learner: Callable[[argparse.Namespace, Schema], Learner[Any]]
    by_round: bool = False
    """Whether a run is named by the round it asks, so that what only changes the result costs nothing."""


def label_option(parser: Any, what: str) -> None:
    parser.add_argument("--label", required=True, metavar="LABEL", help=f"what to predict: {what} ({SYNTAX})")


def features_option(parser: Any, what: str) -> None:
    parser.add_argument(
        "--features", action="append", metavar="A,B,C", help=f"{what}. May be given several times"
    )


def bins_option(parser: Any, usual: str) -> None:
    parser.add_argument(
        "--bins",
        action="append",
        default=[],
        metavar="COLUMN=1,2,4",
        help=f"where to cut a number, or a date at 2000-01-01; from its public bounds by default ({usual}). "
        "Choose edges by public knowledge, not by looking at the data. May be given for several columns",
    )


def share_option(parser: Any, how: str) -> None:
    parser.add_argument(
        "--share",
        default="1",
        metavar="PART",
        help=f"the part of the budget to spend, as 0.5 or 1/2 (default: all of it); {how}",
    )
