"""`sulq plan`: how many rows it takes, how good it will be and what privacy costs, before any are there."""

from __future__ import annotations

import argparse
import re
import textwrap
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from sulq.commands.command import Command
from sulq.commands.learners import COMMANDS
from sulq.commands.plan_parties import add_plan_parties
from sulq.commands.plan_subjects import SUBJECTS, Subject
from sulq.commands.show import rounds_table
from sulq.errors import QueryError, SulqError
from sulq.numbers import several, whole
from sulq.pictures import lines
from sulq.pictures.lines import Line, Scale, spanning
from sulq.plans.bounds import Both
from sulq.plans.models import Model
from sulq.plans.plan import Plan, plan
from sulq.runs.files import write_whole
from sulq.schema import Schema
from sulq.theory.masked_parity import MaskedParity

NAMES: dict[Model, str] = {
    "sample": "a sample, no privacy",
    "curator": "a trusted curator",
    "crowd": "a crowd, nobody is trusted",
}
EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
PAPERS = ("calibration", "queries", "delta", "gamma")
"""The settings of the SuLQ paper's noise, by the names of `sulq.plan`."""
CALIBRATIONS = ("tight", "sulq-gaussian", "sulq-laplace")
MOST_BITS = 2000
"""A plan for so many bits and its picture take half a minute."""
REHEARSED = ("tree", "kmeans", "pca", "perceptron")


def add_plan(commands: Any) -> None:
    """Add `sulq plan` to the commands."""
    parser = commands.add_parser(
        "plan",
        help="how many rows it takes, how good it will be, and what privacy costs",
        description="Plan before there are any rows: how many a learner needs, for which error, at which "
        "privacy. Every number is told twice, by the papers' bound with its constants, and as small as exact "
        "tails allow. Nothing is read and nothing is spent.",
        epilog="`sulq plan conjunction --help` has examples.",
    )
    subjects = parser.add_subparsers(title="learners", required=True, metavar="LEARNER")
    for subject in SUBJECTS:
        start = f"  sulq plan {subject.name} --dimension 16"
        examples = ["--epsilon 1", "--epsilon 1 --rows 100000", "--rows 100000 --confidence 0.99"]
        subparser = subjects.add_parser(
            subject.name,
            help=subject.help,
            description=textwrap.fill(subject.description, 80),
            epilog="\n".join(
                [
                    "examples: rows for an epsilon; with rows too, how good it will be; without epsilon,",
                    "the smallest that will do",
                    *(f"{start} {example}" for example in examples),
                ]
            ),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        _add_options(subparser, subject)
        subparser.set_defaults(run=partial(_show_plan, subject))
    for command in COMMANDS:
        if command.name in REHEARSED:
            _add_rehearsal(subjects, command)
    add_plan_parties(subjects)


def _add_options(parser: argparse.ArgumentParser, subject: Subject) -> None:
    parser.add_argument(
        "--dimension",
        type=int,
        required=True,
        metavar="D",
        help=f"how many bits a row has, at most {MOST_BITS:,}",
    )
    if subject.name != "masked-parity":
        parser.add_argument(
            "--error",
            metavar="SHARE",
            help="how often the result may be wrong (default 0.1; with --rows and --epsilon it is asked for)",
        )
    parser.add_argument(
        "--confidence", metavar="CHANCE", help="how sure that must be, over rows and noise (default 0.95)"
    )
    parser.add_argument("--epsilon", metavar="E", help="what everyone is promised; there is no default")
    parser.add_argument("--rows", type=int, metavar="N", help="how many rows there are")
    if len(subject.models) > 1:
        parser.add_argument(
            "--model",
            choices=("all", *subject.models),
            default="all",
            help="who answers: sample (rows are a sample, no privacy), "
            "curator (trusted with the rows), crowd (nobody is trusted), or all of them (default)",
        )
        parser.add_argument(
            "--noise-rate", default="0", metavar="RATE", help="how often labels are wrong (default: never)"
        )
    if subject.name != "parity":
        _add_papers_noise(parser)
    parser.add_argument("--svg", metavar="FILE", help="write the picture of rows against epsilon there")


def _add_papers_noise(parser: argparse.ArgumentParser) -> None:
    """The settings of the SuLQ paper's own calibrations."""
    papers = parser.add_argument_group(
        "the SuLQ paper's noise",
        "A curator may answer as the SuLQ paper prints it: a number of queries is fixed beforehand, and a "
        "query is repeated until it is as exact as the learner wants (Theorem 3). Such a plan speaks of the "
        "rows themselves, and not of where they come from.",
    )
    papers.add_argument(
        "--calibration",
        choices=CALIBRATIONS,
        default="tight",
        help="the noise of the curator: tight (the least that keeps the promise; default), or the paper's",
    )
    papers.add_argument("--queries", type=int, metavar="T", help="how many queries there may be")
    papers.add_argument("--delta", metavar="DELTA", help="the delta of sulq-gaussian")
    papers.add_argument("--gamma", metavar="GAMMA", help="the gamma of Theorem 4, for sulq-gaussian")


def _add_rehearsal(subjects: Any, command: Command) -> None:
    subparser = subjects.add_parser(
        command.name,
        help=f"{command.help} (a rehearsal)",
        description=textwrap.fill(
            f"{command.description} No theorem says how many rows that needs, so it is rehearsed on rows "
            "that are made up from the schema: what it would ask, at what cost and how well answered. An "
            "estimate, not a promise.",
            80,
        ),
        epilog=f"example:\n  sulq plan {command.name} --schema people.toml --rows 20000 "
        + re.split(" --(?:delta|dry-run|report)", command.examples[0])[0],
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    subparser.add_argument("--schema", required=True, metavar="FILE", help="what is public about the columns")
    subparser.add_argument("--rows", type=int, required=True, metavar="N", help="how many rows there will be")
    subparser.add_argument("--epsilon", required=True, metavar="E", help="the budget; there is no default")
    command.add_options(subparser)
    subparser.set_defaults(run=partial(_show_rehearsal, command))


def _show_rehearsal(command: Command, options: argparse.Namespace, console: Console) -> None:
    schema = Schema.of(options.schema)
    learner = command.learner(options, schema)
    rehearsal = plan(learner, schema, rows=options.rows, epsilon=options.epsilon).rehearsal
    assert rehearsal is not None
    console.print(
        Text(
            f"An estimate: a rehearsal under {rehearsal.promise} on {options.rows:,} made-up rows.\n", "bold"
        )
    )
    console.print(rounds_table(rehearsal.rounds, rehearsal.total, rehearsal.unit))
    console.print("\nThe first round is as it will be; later ones depend on answers. Nothing is promised.")


def _show_plan(subject: Subject, options: argparse.Namespace, console: Console) -> None:
    whole("--dimension", options.dimension, 1, MOST_BITS, error=SulqError)
    chosen = getattr(options, "model", "curator")
    models = tuple(model for model in subject.models if chosen in (model, "all"))
    if _papers(options) and chosen == "all":
        models = ("curator",)
    plans: dict[Model, Plan] = {}
    refusals: dict[Model, QueryError] = {}
    for model in models:
        try:
            plans[model] = _plan(subject, options, model, options.epsilon, options.rows)
        except QueryError as error:
            if options.rows is None and options.epsilon is not None:
                raise
            refusals[model] = error
    if not plans:
        raise next(iter(refusals.values()))
    [first, *_] = plans.values()
    picture = _picture(subject, options, models)
    if options.svg is not None:
        write_whole(options.svg, picture.svg())
    console.print(_table(plans, options))
    for model, refusal in refusals.items():
        console.print(Text(f"{NAMES[model]}: {refusal}"), soft_wrap=True)
    reuse = {made.reuse for made in plans.values() if made.model != "crowd"}
    about = f"{several(first.rounds, 'round', 'rounds')}, {several(first.queries, 'query', 'queries')}"
    if first.tolerances:
        about += f", the finest of tolerance {min(first.tolerances):.3g}"
    console.print(Text(f"\n{about}. One sample may answer them all: {'; '.join(reuse) or first.reuse}.\n"))
    console.print(Text(f"{picture.title}\n", "bold"))
    console.print(lines.drawing(picture.across, picture.up, picture.drawn))
    if options.svg is not None:
        console.print(Text(f"\nwritten: {options.svg}"))


def _plan(
    subject: Subject, options: argparse.Namespace, model: Model, epsilon: Any, rows: int | None
) -> Plan:
    return plan(
        subject.learner,
        subject.schema(options.dimension),
        error=getattr(options, "error", None),
        confidence=options.confidence,
        epsilon=epsilon if model in ("curator", "crowd") else None,
        rows=rows,
        model=model,
        noise_rate=getattr(options, "noise_rate", 0),
        **{name: getattr(options, name) for name in PAPERS if getattr(options, name, None) is not None},
    )


def _papers(options: argparse.Namespace) -> bool:
    """Whether the noise is to be the SuLQ paper's."""
    return any(getattr(options, name, None) not in (None, "tight") for name in PAPERS)


def _table(plans: dict[Model, Plan], options: argparse.Namespace) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("who answers")
    wanted = [_wanted(made, options) for made in plans.values()]
    for name in dict.fromkeys(name for name, _ in wanted):
        table.add_column(f"{name}, the papers'", justify="right")
        table.add_column(f"{name}, tight", justify="right")
    table.add_column("rests on")
    columns = list(dict.fromkeys(name for name, _ in wanted))
    for (model, made), (name, figures) in zip(plans.items(), wanted, strict=True):
        cells = [""] * (2 * len(columns))
        place = 2 * columns.index(name)
        cells[place : place + 2] = [_written(figures.paper), _written(figures.tight)]
        table.add_row(NAMES[model], *cells, Text(made.theorem))
    return table


def _wanted(made: Plan, options: argparse.Namespace) -> tuple[str, Both]:
    """The number that the plan was asked for."""
    if options.rows is None:
        return "rows", made.rows
    if made.model in ("curator", "crowd") and options.epsilon is None:
        return "ε", made.epsilon
    if isinstance(made.learner, MaskedParity):
        return "confidence", made.confidence
    return "error", made.error


def _written(number: float | None) -> str:
    if number is None:
        return "–"
    if 0.999 < number < 1:
        return f"1 − {1 - number:.2g}"
    return f"{number:,}" if isinstance(number, int) else f"{number:.10g}"


@dataclass(frozen=True)
class _Picture:
    title: str
    across: Scale
    up: Scale
    drawn: tuple[Line, ...]

    def svg(self) -> str:
        note = "the smallest number that can be proved, for rows drawn independently"
        return lines.picture(self.title, self.across, self.up, self.drawn, note)


def _picture(subject: Subject, options: argparse.Namespace, models: tuple[Model, ...]) -> _Picture:
    """Rows against ε for each trust model: the price of privacy at a glance."""
    drawn = []
    for model in models:
        needed: dict[float, float | None] = {}
        if model == "sample":
            needed = dict.fromkeys(EPSILONS, _plan(subject, options, model, None, None).rows.tight)
        else:
            for epsilon in EPSILONS:
                with suppress(QueryError):  # the paper's theorems do not hold for every ε
                    needed[epsilon] = _plan(subject, options, model, epsilon, None).rows.tight
        points = tuple((epsilon, float(rows)) for epsilon, rows in needed.items() if rows is not None)
        drawn.append(Line(NAMES[model], points))
    title = f"Rows it takes to learn a {subject.name.replace('-', ' ')} of {options.dimension} bits"
    across = Scale("ε", EPSILONS[0], EPSILONS[-1], powers=True)
    up = spanning("rows", [rows for line in drawn for _, rows in line.points], powers=True)
    return _Picture(title, across, up, tuple(drawn))
