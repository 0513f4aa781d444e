"""The command line: `sulq --help`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib.metadata import version
from typing import NoReturn

from rich.console import Console

from sulq.commands.arguments import add_learn
from sulq.commands.learn import learn
from sulq.demo import demo
from sulq.drafts import draft
from sulq.errors import SulqError
from sulq.privacy.ledger import Ledger
from sulq.schema import Schema
from sulq.sources.source import open as open_source
from sulq.tables import ledger_tables, schema_table


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; 0 if it went well, 1 if a check failed, 2 if what was asked for cannot be done."""
    try:
        options = _parser().parse_args(arguments)
        return options.run(options, Console()) or 0
    except SulqError as error:
        print(f"sulq: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        sys.stderr.close()
    return 0


class _Parser(argparse.ArgumentParser):
    """A parser whose complaints are one line, like all others."""

    def error(self, message: str) -> NoReturn:
        raise SulqError(f"{message}; see `{self.prog} --help`")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="sulq",
        description="Learn from people's data without seeing it.",
        epilog="Start with `sulq demo`; with your own data, `sulq schema draft FILE`, `sulq learn --help`.",
    )
    parser.add_argument("--version", action="version", version=f"sulq {version('sulq')}")
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
        description="Print a TOML draft: the columns and their types, and a hole (___) wherever a public "
        "bound or list of values belongs. Fill the holes from public knowledge, never from the data.",
        epilog="example: sulq schema draft people.csv > people.toml",
    )
    action.add_argument("file", help="a CSV, Parquet or DuckDB file, or a quoted glob of several")
    action.add_argument("--table", help="the table, if the file is a DuckDB database")
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

    add_learn(commands, learn)

    ledger = commands.add_parser("ledger", help="see what was spent, and that nothing was changed")
    actions = ledger.add_subparsers(title="actions", required=True, metavar="ACTION")

    action = actions.add_parser(
        "show",
        help="print the budget, the runs and their charges",
        description="Print what a ledger was made for, what each run was charged, and what is left.",
        epilog="example: sulq ledger show people.csv.ledger --entries",
    )
    action.add_argument("ledger", help="the file of a ledger")
    action.add_argument("--entries", action="store_true", help="print every charge and answer as well")
    action.set_defaults(run=_show_ledger)

    action = actions.add_parser(
        "verify",
        help="recompute every sum and hash",
        description="Recompute every sum and every hash of a ledger, and say what does not fit. The exit "
        "code is 1 if anything does not.",
        epilog="example: sulq ledger verify people.csv.ledger",
    )
    action.add_argument("ledger", help="the file of a ledger")
    action.set_defaults(run=_verify_ledger)
    return parser


def _draft(options: argparse.Namespace, console: Console) -> None:
    print(draft(options.file, options.table), end="")


def _show(options: argparse.Namespace, console: Console) -> None:
    schema = Schema.of(options.schema)
    console.print(schema_table(schema))
    if options.data is not None:
        open_source(options.data, schema, table=options.table)
        print(f"{options.data} has these columns.")


def _show_ledger(options: argparse.Namespace, console: Console) -> None:
    with Ledger.read(options.ledger) as ledger:
        for table in ledger_tables(ledger, options.entries):
            console.print(table)


def _verify_ledger(options: argparse.Namespace, console: Console) -> int:
    with Ledger.read(options.ledger) as ledger:
        faults = ledger.verify()
        number = sum(1 for _ in ledger.entries()) if not faults else 0
    for fault in faults:
        print(fault)
    if not faults:
        print(f"{options.ledger} is sound: {number} entries, every sum and every hash fits.")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
