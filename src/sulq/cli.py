"""The command line: `sulq --help`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib.metadata import version

from rich.console import Console

from sulq.demo import demo, schema_table
from sulq.drafts import draft
from sulq.errors import SulqError
from sulq.schema import Schema
from sulq.sources.source import open as open_source


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; 0 if it went well, 2 if what was asked for cannot be done."""
    options = _parser().parse_args(arguments)
    try:
        options.run(options, Console())
    except SulqError as error:
        print(f"sulq: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        sys.stderr.close()
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="sulq",
        description="Learn from people's data without seeing it.",
        epilog="Start with `sulq demo`; then `sulq schema draft FILE` for your own data.",
    )
    parser.add_argument("--version", action="version", version=f"sulq {version('sulq')}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    command = commands.add_parser("demo", help="the sample data, a few questions, and what to do next")
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
    return parser


def _draft(options: argparse.Namespace, console: Console) -> None:
    print(draft(options.file, options.table), end="")


def _show(options: argparse.Namespace, console: Console) -> None:
    schema = Schema.of(options.schema)
    console.print(schema_table(schema))
    if options.data is not None:
        open_source(options.data, schema, table=options.table)
        console.print(f"{options.data} has these columns.", highlight=False)


if __name__ == "__main__":
    sys.exit(main())
