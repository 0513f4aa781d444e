"""The command line of `sulq learn`, `sulq table` and `sulq sql`: what all learners have in common."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias, get_args

from rich.console import Console

from sulq.commands.command import Command
from sulq.commands.evaluate import EVALUATE
from sulq.commands.learners import COMMANDS
from sulq.commands.sql import SQL, select
from sulq.commands.table import TABLE
from sulq.privacy.prices import Accounting

Learn: TypeAlias = Callable[[Command, argparse.Namespace, Console], int]


def add_learn(commands: Any, learn: Learn) -> None:
    """Add `sulq learn` to the commands, with a command of its own for each learner; `learn` does the work."""
    parser = commands.add_parser(
        "learn",
        help="learn a tree, clusters and more from a file, under a budget",
        description="Learn from a file without giving anyone in it away: the answers a learner gets are "
        "noisy, and what they cost is charged to a budget that you state. Without the name of a learner, "
        "`sulq learn people.csv ...` is `sulq learn classifier people.csv ...`.",
        epilog="`sulq learn tree --help` has examples; add --dry-run to any command to see its cost first.",
    )
    learners = parser.add_subparsers(title="learners", required=True, metavar="LEARNER")
    for command in COMMANDS:
        _add(learners, command, "sulq learn", learn)


def add_table(commands: Any, learn: Learn) -> None:
    """Add `sulq table` to the commands; `learn` does the work."""
    results = _add(commands, TABLE, "sulq", learn)
    results.add_argument("--csv", metavar="FILE", help="write the figures and their bounds, margins last")


def add_evaluate(commands: Any, learn: Learn) -> None:
    """Add `sulq evaluate` to the commands; `learn` does the work."""
    _add(commands, EVALUATE, "sulq", learn)


def add_sql(commands: Any, learn: Learn) -> None:
    """Add `sulq sql` to the commands; `learn` does the work, unless a statement is only to be explained."""
    results = _add(commands, SQL, "sulq", partial(select, learn))
    results.add_argument("--csv", metavar="FILE", help="write the figures and their bounds")


def _add(commands: Any, command: Command, prefix: str, learn: Learn) -> Any:
    """Add a command, and return the group of the options for its results."""
    start = f"  {prefix} {command.name} people.csv --schema people.toml"
    parser = commands.add_parser(
        command.name,
        help=command.help,
        description=textwrap.fill(command.description, 80),
        epilog="\n".join(["examples:", *(f"{start} {example}" for example in command.examples)]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_data(parser, elsewhere=True)
    command.add_options(parser.add_argument_group("what to learn"))
    _add_privacy(
        parser.add_argument_group(
            "privacy: one of --epsilon, --rho and --exact is needed, unless --at is given"
        )
    )
    results = parser.add_argument_group("before and after")
    _add_results(results)
    parser.set_defaults(run=partial(learn, command))
    return results


def add_data(parser: argparse.ArgumentParser, elsewhere: bool = False) -> None:
    """Where the rows are, and what is public about them.

    Args:
        parser: the command.
        elsewhere: whether the rows may be at a curator elsewhere, who has the schema too.
    """
    named = "; with --at, the name of a data set there" if elsewhere else ""
    parser.add_argument(
        "data",
        help=f"a CSV, Parquet or DuckDB file, a quoted glob of several, or postgresql://HOST/DATABASE{named}",
    )
    parser.add_argument(
        "--schema",
        required=not elsewhere,
        metavar="FILE",
        help="what is public about the columns; `sulq schema draft` begins one",
    )
    if elsewhere:
        parser.add_argument(
            "--at",
            metavar="URL",
            help="ask a curator elsewhere, who has the rows, the schema and the budget (`sulq serve`); the "
            'key is in SULQ_KEY, or in ~/.config/sulq/keys.toml as "URL" = "sulq_…"',
        )
        parser.add_argument(
            "--certificate",
            metavar="FILE",
            help="with --at: the certificate to trust, if the curator's is from no public authority",
        )
    parser.add_argument("--table", help="the table, if the data is a DuckDB or Postgres database")
    parser.add_argument(
        "--query",
        metavar="SELECT",
        help="instead of --table, a query of the Postgres database; it only reads",
    )
    parser.add_argument(
        "--quoted-newlines",
        action="store_true",
        help="cells of the CSV file may have line ends in quotes; only for a file known to be well-formed, "
        "as then one open quote swallows the rows after it",
    )


def add_csv(parser: argparse.ArgumentParser) -> None:
    """How a CSV file is written. Commands that take a schema read it there, in [csv]."""
    parser.add_argument(
        "--encoding",
        metavar="NAME",
        help="how a CSV file writes letters, as latin-1 or utf-16 (default: utf-8)",
    )
    parser.add_argument(
        "--delimiter",
        metavar="SIGN",
        help="what stands between the cells of a CSV file (default: what the first line has most of)",
    )


def add_accounting(group: Any) -> None:
    """How it is known that spending keeps an (ε, δ) promise."""
    group.add_argument(
        "--accounting",
        choices=get_args(Accounting),
        help="with --delta: how spending is accounted. tight (default): noise exactly, also beside choices; "
        "gaussian: the best for noise alone; zcdp: the formula of Canonne, Kamath and Steinke",
    )


def _add_privacy(group: Any) -> None:
    group.add_argument(
        "--epsilon",
        metavar="E",
        help="the whole budget of this data, for this and all later runs; there is no default. At 1, the "
        "odds of a guess about anyone can grow by a factor of e = 2.7; at 0.1, by a tenth",
    )
    group.add_argument(
        "--delta", metavar="D", help="with --epsilon: promise (epsilon, delta); far below 1 / rows, as 1e-6"
    )
    add_accounting(group)
    group.add_argument("--rho", metavar="R", help="the whole budget in zero-concentrated privacy (zCDP)")
    group.add_argument(
        "--exact", action="store_true", help="no noise, no privacy, to compare with: never publish the result"
    )
    group.add_argument(
        "--neighbours",
        choices=("replace", "add-remove"),
        default="replace",
        help="protect what a person's rows say (default; the number of rows is public), or also whether they "
        "are there",
    )
    group.add_argument(
        "--ledger",
        metavar="LEDGER",
        help="remembers what was spent: a file (default: DATA.ledger, beside the data), or a schema in "
        "Postgres, as postgresql://HOST/DATABASE?schema=people",
    )
    group.add_argument(
        "--run",
        dest="named",
        metavar="NAME",
        help="the run's name in the ledger. A run that is started again under its name gets its answers from "
        "there, at no cost; by default the name follows from the settings, so the same command is the same "
        "run",
    )


def _add_results(group: Any) -> None:
    group.add_argument(
        "--dry-run",
        action="store_true",
        help="rehearse on made-up rows, and print what would be asked, at what cost and how well answered; "
        "nothing is spent",
    )
    group.add_argument(
        "--rows",
        type=int,
        metavar="N",
        help="with --dry-run: rehearse on so many rows; needed where the number of rows is not public",
    )
    group.add_argument("--report", metavar="FILE", help="write a report: one HTML file, complete in itself")
    group.add_argument("--json", metavar="FILE", help="write the hypothesis, for `from_json` to read")
