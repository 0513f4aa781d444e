"""`sulq check`: what is wrong with a table, for its owner's eyes only."""

from __future__ import annotations

import argparse
import json
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from sulq.commands.arguments import add_csv, add_data
from sulq.commands.terminal import print_utf8
from sulq.inspection.findings import NOTICE, Finding, Inspection
from sulq.inspection.inspect import inspect
from sulq.numbers import several
from sulq.pictures.svg import clean


def add_check(commands: Any) -> None:
    """Add `sulq check` to the commands."""
    parser = commands.add_parser(
        "check",
        help="for the owner's eyes only: what is wrong with the data, and which rules would mend it",
        description="Look at every cell and say what is missing, out of range, not listed or not a number, "
        "with the spellings; what is wrong with lines, encoding and people; what each does to answers; and "
        "which rules of the schema would mend it. THIS IS NOT PRIVATE: it prints exact facts about "
        "people, for the owner of the data alone. Do not publish or pass on what it prints. The exit code "
        "is 1 if there is something to worry about, else 0.",
        epilog="example: sulq check people.csv --schema people.toml",
    )
    add_data(parser)
    add_csv(parser)
    parser.add_argument("--json", action="store_true", help="print it as JSON")
    parser.set_defaults(run=check)


def check(options: argparse.Namespace, console: Console) -> int:
    """Inspect a file and print what was found."""
    Console(stderr=True).print(Text.assemble(("NOT PRIVATE. ", "bold red"), (NOTICE, "red")))
    inspection = inspect(
        options.data,
        options.schema,
        table=options.table,
        quoted_newlines=options.quoted_newlines,
        encoding=options.encoding,
        delimiter=options.delimiter,
    )
    if options.json:
        print_utf8(json.dumps(inspection.form(), ensure_ascii=False, indent=2) + "\n")
    else:
        _show(inspection, console)
    return int(inspection.worry)


def _show(inspection: Inspection, console: Console) -> None:
    rows = several(inspection.rows, "row", "rows")
    if not inspection.findings:
        console.print(Text(f"{rows}: every cell is as the schema says.", "green"))
        return
    table = Table("where", "what", box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("how many", justify="right", no_wrap=True)
    table.add_column("what becomes of it")
    for finding in inspection.findings:
        style = "yellow" if finding.worry else "dim"
        many = f"{finding.many:,} ({finding.many / max(1, finding.of):.1%})".replace("%", " %")
        table.add_row(Text(clean(finding.where)), Text(clean(finding.what), style), many, _details(finding))
    console.print(Text(f"{rows}\n"))
    console.print(table)
    if inspection.worry:
        console.print(
            Text(
                "\nRules to try stand behind →. Add those to the schema that are public knowledge: how such "
                "data is written, not what it says."
            )
        )


def _details(finding: Finding) -> Text:
    lines = [Text(clean(finding.effect))]
    if finding.spellings:
        spellings = ", ".join(f"{spelling!r} {many:,}×" for spelling, many in finding.spellings.items())
        lines.append(Text(clean(spellings), "cyan"))
    lines += [Text(f"→ {clean(line)}", "green") for line in finding.try_]
    return Text("\n").join(lines)
