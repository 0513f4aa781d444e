"""`sulq plan`: how many rows it takes, how good it will be and what privacy costs, before any are there."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from sulq.commands.command import Command
from sulq.commands.learners import COMMANDS
from sulq.commands.show import rounds_table
from sulq.errors import QueryError, SulqError
from sulq.learners.conjunction import Conjunction
from sulq.learners.parity import Parity
from sulq.numbers import whole
from sulq.pictures import lines
from sulq.pictures.lines import Line, Scale, spanning
from sulq.plans.bounds import Both
from sulq.plans.models import Model
from sulq.plans.plan import Plan, plan
from sulq.runs.files import write_whole
from sulq.schema import Boolean, Schema
from sulq.theory.masked_examples import masked_parity_schema
from sulq.theory.masked_parity import MaskedParity

NAMES: dict[Model, str] = {
    "sample": "a sample, no privacy",
    "curator": "a trusted curator",
    "crowd": "a crowd, nobody is trusted",
}
EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
REHEARSED = ("tree", "kmeans", "pca", "perceptron")


@dataclass(frozen=True)
class Subject:
    """A learner that has a theorem, and what its rows look like for a number of bits."""

    name: str
    help: str
    description: str
    learner: Any
    schema: Callable[[int], Schema]
    models: tuple[Model, ...]


def _bits(dimension: int) -> Schema:
    return Schema({name: Boolean() for name in [*(f"x{j}" for j in range(dimension)), "label"]})


EVERY_MODEL: tuple[Model, ...] = ("sample", "curator", "crowd")
SUBJECTS = (
    Subject(
        "conjunction",
        "which of many conditions hold whenever a label does",
        "A conjunction of some of D conditions, from D questions in one round (Theorem 5 of the lecture "
        "notes): rows to find one that errs on at most --error of all that may come.",
        Conjunction("label"),
        _bits,
        EVERY_MODEL,
    ),
    Subject(
        "masked-parity",
        "the class that two rounds learn and one cannot",
        "Masked parity of D bits on uniform rows, from D + 1 questions in two rounds (Proposition 5.18 of "
        "'What can we learn privately?'). It is found exactly, or not.",
        MaskedParity(),
        masked_parity_schema,
        EVERY_MODEL,
    ),
    Subject(
        "parity",
        "a parity of some of many bits",
        "A parity of some of D bits, by solving equations (Theorem 4.4 of 'What can we learn privately?'): "
        "possible for a trusted curator, and for no crowd.",
        Parity("label"),
        _bits,
        ("curator",),
    ),
)


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


def _add_options(parser: argparse.ArgumentParser, subject: Subject) -> None:
    parser.add_argument("--dimension", type=int, required=True, metavar="D", help="how many bits a row has")
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
    parser.add_argument("--svg", metavar="FILE", help="write the picture of rows against epsilon there")


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
        + command.examples[0].split(" --dry-run")[0].split(" --report")[0],
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
    whole("--dimension", options.dimension, 1, error=SulqError)
    chosen = getattr(options, "model", "curator")
    models = tuple(model for model in subject.models if chosen in (model, "all"))
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
    about = f"{first.rounds} round(s), {first.queries} queries"
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
    )


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
        if model == "sample":
            rows = _plan(subject, options, model, None, None).rows.tight
            needed = dict.fromkeys(EPSILONS, rows)
        else:
            needed = {
                epsilon: _plan(subject, options, model, epsilon, None).rows.tight for epsilon in EPSILONS
            }
        points = tuple((epsilon, float(rows)) for epsilon, rows in needed.items() if rows is not None)
        drawn.append(Line(NAMES[model], points))
    title = f"Rows it takes to learn a {subject.name.replace('-', ' ')} of {options.dimension} bits"
    across = Scale("ε", EPSILONS[0], EPSILONS[-1], powers=True)
    up = spanning("rows", [rows for line in drawn for _, rows in line.points], powers=True)
    return _Picture(title, across, up, tuple(drawn))
