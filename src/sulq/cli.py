"""The command line: `sulq --help`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from typing import NoReturn

from rich.console import Console
from rich.text import Text

import sulq
from sulq.commands.arguments import add_csv, add_evaluate, add_learn, add_sql, add_table
from sulq.commands.audit import add_audit
from sulq.commands.check import add_check
from sulq.commands.keys import add_keys
from sulq.commands.learn import learn
from sulq.commands.pairs import add_synthesize
from sulq.commands.plan import add_plan
from sulq.commands.serve import add_serve
from sulq.commands.survey import add_survey
from sulq.commands.tables import ledger_tables, schema_table
from sulq.commands.terminal import Listener, interrupts, keep_standard_streams, print_utf8
from sulq.demo import demo
from sulq.drafts import draft
from sulq.errors import SulqError
from sulq.ledger.carrying import carry
from sulq.ledger.ledger import Ledger
from sulq.numbers import rational
from sulq.pictures import lines
from sulq.pictures.svg import clean
from sulq.progress import shown
from sulq.runs.files import write_whole
from sulq.schema import Csv, Schema
from sulq.sources.opening import open as open_source
from sulq.theory.atlas import atlas


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    The result is 0 if it went well, 1 if a check failed, 2 if what was asked for cannot be done, and 130 if
    it was interrupted. A reader that goes away, as with `| head`, changes nothing of this.
    """
    keep_standard_streams()
    output, errors = Listener(sys.stdout), Listener(sys.stderr)
    with redirect_stdout(output), redirect_stderr(errors):
        try:
            with interrupts():
                code = _run(arguments)
        except KeyboardInterrupt as interrupt:
            print(f"sulq: {clean(str(interrupt)) or 'interrupted'}", file=sys.stderr)
            code = 130
        finally:
            output.flush()
        if output.failure is not None and code == 0:
            print(f"sulq: cannot print: {output.failure.strerror}", file=sys.stderr)
            code = 2
        errors.flush()
    return code


def _run(arguments: Sequence[str] | None) -> int:
    try:
        options = _parser().parse_args(_with_learner(sys.argv[1:] if arguments is None else arguments))
        with shown():
            return options.run(options, Console()) or 0
    except SulqError as error:
        print(f"sulq: {clean(str(error))}", file=sys.stderr)
        return 2


def _with_learner(arguments: Sequence[str]) -> Sequence[str]:
    """`sulq learn people.csv …` as `sulq learn classifier people.csv …`: names of learners have no suffix."""
    if len(arguments) > 1 and arguments[0] == "learn" and Path(arguments[1]).suffix:
        return ["learn", "classifier", *arguments[1:]]
    return arguments


class _Parser(argparse.ArgumentParser):
    """A parser whose complaints are one line, like all others."""

    def error(self, message: str) -> NoReturn:
        raise SulqError(f"{message}; see `{self.prog} --help`")


@cache  # its eight hundred options take longer than most refusals
def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="sulq",
        description="Learn from people's data without seeing it.",
        epilog="Start with `sulq demo`; with your own data, `sulq schema draft FILE`, `sulq learn --help`.",
    )
    parser.add_argument("--version", action="version", version=f"sulq {sulq.__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    command = commands.add_parser(
        "demo", help="a tree from the sample data, private and exact, and what to do next"
    )
    command.set_defaults(run=lambda options, console: demo(console))

    schema = commands.add_parser("schema", help="say what is public about your columns")
    actions = schema.add_subparsers(title="actions", required=True, metavar="ACTION")

    action = actions.add_parser(
        "draft",
        help="write a schema with holes for what only you know",
        description="Print a TOML draft: the columns, the types that the file declares, and a hole (___) "
        "wherever a public bound or list of values belongs. Fill the holes from public knowledge, never from "
        "the data.",
        epilog="example: sulq schema draft people.csv > people.toml",
    )
    action.add_argument("file", help="a CSV, Parquet or DuckDB file, or a quoted glob of several")
    action.add_argument("--table", help="the table, if the file is a DuckDB database")
    add_csv(action)
    action.set_defaults(run=_draft)

    action = actions.add_parser(
        "show",
        help="check a schema and show it as a table",
        description="Check a schema, and with --data also that the data has its columns. No row is read.",
        epilog="example: sulq schema show people.toml --data people.csv",
    )
    action.add_argument("schema", help="a TOML file")
    action.add_argument("--data", help="a CSV, Parquet or DuckDB file, or a quoted glob of several")
    action.add_argument("--table", help="the table, if the data is a DuckDB database")
    action.set_defaults(run=_show)

    add_table(commands, learn)
    add_sql(commands, learn)
    add_check(commands)
    add_learn(commands, learn)
    add_evaluate(commands, learn)
    add_synthesize(commands)
    add_plan(commands)
    add_serve(commands)
    add_keys(commands)
    add_survey(commands)
    add_audit(commands)

    action = commands.add_parser(
        "atlas",
        help="measure and draw what each trust model can learn",
        description="Measure how many people it takes to learn masked parity and parity under a trusted "
        "curator and where nobody is trusted, and draw it: the separations of the paper 'What can we learn "
        "privately?'. Takes a minute or two.",
        epilog="example: sulq atlas --dimension 16 --epsilon 1 --runs 20 --out pictures",
    )
    action.add_argument(
        "--dimension",
        type=int,
        default=16,
        metavar="D",
        help="bits of an example: a power of two up to 16 (default %(default)s)",
    )
    action.add_argument(
        "--epsilon", required=True, metavar="E", help="what every person is promised; there is no default"
    )
    action.add_argument(
        "--runs", type=int, default=20, metavar="N", help="runs for every point (default %(default)s)"
    )
    action.add_argument("--out", metavar="FOLDER", help="write the pictures there, as SVG")
    action.set_defaults(run=_atlas)

    ledger = commands.add_parser("ledger", help="see what was spent, and that nothing was changed")
    actions = ledger.add_subparsers(title="actions", required=True, metavar="ACTION")

    action = actions.add_parser(
        "show",
        help="print the budget, the runs and their charges",
        description="Print what a ledger was made for, what runs and analysts were charged, their caps, and "
        "what is left.",
        epilog="example: sulq ledger show people.csv.ledger --entries",
    )
    action.add_argument("ledger", help="a ledger: its file, or postgresql://HOST/DATABASE?schema=NAME")
    action.add_argument("--entries", action="store_true", help="print every charge and answer as well")
    action.set_defaults(run=_show_ledger)

    action = actions.add_parser(
        "verify",
        help="recompute every sum and hash",
        description="Recompute every sum and every hash of a ledger, hold every charge against its caps, and "
        "say what does not fit. The exit code is 1 if anything does not.",
        epilog="example: sulq ledger verify people.csv.ledger",
    )
    action.add_argument("ledger", help="a ledger: its file, or postgresql://HOST/DATABASE?schema=NAME")
    action.add_argument(
        "--seal",
        metavar="HASH",
        help="a seal that this command printed before: an older copy of the ledger does not know it",
    )
    action.set_defaults(run=_verify_ledger)

    action = actions.add_parser(
        "carry",
        help="go on with a schema that was changed since",
        description="Carry a ledger over to a changed schema, if the change cannot affect what was promised: "
        "a new column, or rules by which more spellings are understood (aliases, trim, fold_case, thousands, "
        "strip). What was spent stays spent. The change is recorded in the ledger, and stored answers about "
        "cells that may be read otherwise since are not given again. Everything else is refused, with the "
        "reason: bounds, kinds, lists of values, rules for missing cells, the unit, and how files are read.",
        epilog="example: sulq ledger carry people.csv.ledger --schema people.toml --dry-run",
    )
    action.add_argument("ledger", help="a ledger: its file, or postgresql://HOST/DATABASE?schema=NAME")
    action.add_argument("--schema", required=True, metavar="FILE", help="the changed schema, a TOML file")
    action.add_argument(
        "--dry-run", action="store_true", help="say what would be recorded, and change nothing"
    )
    action.set_defaults(run=_carry_ledger)
    return parser


def _draft(options: argparse.Namespace, console: Console) -> None:
    csv = Csv(options.encoding or "utf-8", options.delimiter)
    print_utf8(draft(options.file, options.table, csv))


def _show(options: argparse.Namespace, console: Console) -> None:
    schema = Schema.of(options.schema)
    console.print(schema_table(schema))
    if options.data is not None:
        open_source(options.data, schema, table=options.table)
        print(f"{options.data} has these columns.")


def _atlas(options: argparse.Namespace, console: Console) -> None:
    folder = None if options.out is None else Path(options.out)
    if folder is not None and not folder.is_dir():
        raise SulqError(f"there is no folder {folder}")
    for plate in atlas(options.dimension, rational("epsilon", options.epsilon), options.runs):
        across, up = plate.axes
        path = None if folder is None else folder / f"{plate.name}.svg"
        if path is not None:
            write_whole(path, lines.picture(plate.title, across, up, plate.lines, plate.note))
        console.print(Text(f"\n{plate.title}\n", "bold"))
        console.print(lines.drawing(across, up, plate.lines))
        console.print(Text(f"\n{plate.note}", "dim"))
        if path is not None:
            console.print(Text(f"written: {path}"))


def _show_ledger(options: argparse.Namespace, console: Console) -> None:
    with Ledger.read(options.ledger) as ledger:
        for table in ledger_tables(ledger, options.entries):
            console.print(table)


def _verify_ledger(options: argparse.Namespace, console: Console) -> int:
    with Ledger.read(options.ledger) as ledger:
        faults = ledger.verify(options.seal)
        number, seal = (sum(1 for _ in ledger.entries()), ledger.seal) if not faults else (0, "")
    for fault in faults:
        print(fault)
    if not faults:
        print(f"{options.ledger} is sound: {number} entries, every sum and every hash fits.")
        print(f"seal: {seal}")
    return 1 if faults else 0


def _carry_ledger(options: argparse.Namespace, console: Console) -> None:
    change = carry(options.ledger, Schema.of(options.schema), dry_run=options.dry_run)
    for words in change.words:
        print(words)
    if change.columns is None:
        print("Stored answers are not given again: which of a person's rows count depends on all columns.")
    elif change.columns:
        print(f"Stored answers about {', '.join(change.columns)} are not given again.")
    print("Nothing was changed." if options.dry_run else "This was recorded; what was spent stays spent.")
