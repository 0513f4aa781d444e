"""`sulq audit`: try to break every promise, and say what could have been found."""

from __future__ import annotations

import argparse
import json
import textwrap
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from sulq.audits.catalogue import CHECKS, Examined, audited, named
from sulq.audits.findings import Effort
from sulq.audits.report import report
from sulq.commands.checks import try_to_write
from sulq.commands.terminal import print_utf8
from sulq.errors import SulqError
from sulq.pictures.svg import clean
from sulq.runs.files import write_whole

EXAMPLES = """examples:
  sulq audit
  sulq audit --only noise,kills --json
  sulq audit --full --report audit.html"""


def add_audit(commands: Any) -> None:
    """Add `sulq audit` to the commands."""
    parser = commands.add_parser(
        "audit",
        help="try to break every promise that sulq makes, on this machine",
        description=textwrap.fill(
            "Examine this installation as an outsider would: laws of noise and of reports, enumerated; how "
            "far one person moves an answer, hunted; learners and a service, as black boxes; the ledger "
            "under races and kills; and the known attacks. No data of yours is read. Each check says what "
            "is claimed, what was found, and the smallest violation that it would have found. Takes a "
            "minute or two on two cores; --full takes up to an hour and finds smaller violations. The exit "
            "code is 1 if a claim does not hold, else 0.",
            80,
        ),
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--full", action="store_true", help="try harder: up to an hour")
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="A,B",
        help="only these checks (see --list). May be given several times",
    )
    parser.add_argument("--list", action="store_true", help="print the checks, and run none")
    parser.add_argument("--json", action="store_true", help="print all findings, or the list, as JSON")
    parser.add_argument(
        "--report", metavar="FILE", help="write a page about it, with a section for each known attack"
    )
    parser.add_argument(
        "--jobs", type=int, metavar="N", help="checks that run at once (default: one a core, two at most)"
    )
    parser.set_defaults(run=audit)


def audit(options: argparse.Namespace, console: Console) -> int:
    """Run checks and print what they found."""
    chosen = [name.strip() for given in options.only for name in given.split(",") if name.strip()]
    if options.only and not chosen:
        raise SulqError("--only names no check: see `sulq audit --list`")
    names = named(chosen)
    if options.list:
        if options.json:
            _print_json([_described(name) for name in names])
        else:
            console.print(_listed(names))
        return 0
    if options.jobs is not None and options.jobs < 1:
        raise SulqError(f"--jobs is at least 1, not {options.jobs}")
    path = None if options.report is None else Path(options.report)
    if path is not None:
        try:
            try_to_write(path)
        except OSError as error:
            raise SulqError(f"cannot write --report {path}: {error.strerror}; nothing was examined") from None
    effort: Effort = "full" if options.full else "quick"
    examined = []
    for each in audited(names, effort, options.jobs):
        examined.append(each)
        if not options.json:
            _show(each, console)
    examined.sort(key=lambda each: names.index(each.check))
    holds = all(each.holds for each in examined)
    if options.json:
        form = {"audit": 1, "effort": effort, "holds": holds, "checks": [each.form for each in examined]}
        _print_json(form)
    else:
        _sum_up(examined, console)
    if path is not None:
        write_whole(path, report(examined, effort))
        if not options.json:
            console.print(Text(f"written: {path}"))
    return 0 if holds else 1


def _print_json(form: object) -> None:
    print_utf8(json.dumps(form, ensure_ascii=False, indent=1) + "\n")


def _listed(names: list[str]) -> Table:
    table = Table("check", "what is examined", "how", box=None, padding=(0, 2, 0, 0))
    for name in names:
        table.add_row(*_described(name).values())
    return table


def _described(name: str) -> dict[str, str]:
    return {"check": name, "examined": CHECKS[name].title, "how": CHECKS[name].how}


def _show(each: Examined, console: Console) -> None:
    title = CHECKS[each.check].title
    if not each.tried:
        words = f"  {title}: {each.findings[0].measured}"
        console.print(Text.assemble(("– ", "yellow"), (each.check, "bold"), words), soft_wrap=True)
        return
    broken = [finding for finding in each.findings if not finding.holds]
    sign = Text("✓ ", "green") if not broken else Text("✗ ", "bold red")
    about = f"{title}: {len(each.tried) - len(broken)} of {len(each.tried)} claims hold"
    console.print(Text.assemble(sign, (each.check, "bold"), f"  {about}"), soft_wrap=True)
    for finding in broken or each.findings[:1]:
        style = "red" if broken else "dim"
        console.print(Text(f"    {clean(finding.subject)}", style), soft_wrap=True)
        for name, words in (
            ("claimed", finding.claimed),
            ("found", finding.measured),
            ("detectable", finding.detectable),
        ):
            console.print(Text(f"      {name:10} {clean(words)}", style), soft_wrap=True)


def _sum_up(examined: list[Examined], console: Console) -> None:
    claims = sum(len(each.tried) for each in examined)
    missing = [each.check for each in examined if not each.tried]
    broken = [each.check for each in examined if not each.holds]
    if broken:
        console.print(
            Text(
                f"VIOLATED: {', '.join(broken)}. Please report it: see SECURITY or the project's page.",
                "bold red",
            )
        )
    elif claims:
        words = f"All {claims:,} claims hold. A false alarm has a chance of one in a million at most."
        console.print(Text(words, "bold green"))
    if missing:
        console.print(Text(f"Not tried, see above: {', '.join(missing)}.", "yellow"))
