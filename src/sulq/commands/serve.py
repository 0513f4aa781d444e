"""`sulq serve`: data sets behind HTTP."""

from __future__ import annotations

import argparse
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from sulq.commands.arguments import add_accounting
from sulq.errors import SulqError
from sulq.numbers import rational
from sulq.privacy.budget import budget
from sulq.serve.config import DatasetSettings, ServiceSettings, read_settings
from sulq.serve.keys import Keys
from sulq.sources.files import Files
from sulq.sources.postgres import is_address

EXAMPLES = """examples:
  sulq serve people.csv --schema people.toml --epsilon 1
  sulq serve people.csv --schema people.toml --epsilon 1 --cap '*=0.1' --cap ada=0.5 --check
  sulq serve curator.toml
  sulq serve people.csv --schema people.toml --epsilon 1 --ledger 'postgresql:///clinic' --workers 4"""
ABOUT_DATA = ("schema", "epsilon", "delta", "accounting", "rho", "table", "ledger", "name", "cap", "keys")


def add_serve(commands: Any) -> None:
    """Add `sulq serve` to the commands."""
    parser = commands.add_parser(
        "serve",
        help="answer analysts who have a key, and never the file",
        description="Put a data set behind HTTP. Analysts ask with a key (`sulq key add`) and "
        "sulq.connect(URL); every answer is charged to one budget before a row is looked at.\nThe owner's "
        "key is printed once, at the first start. For several data sets, write a configuration.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "data", help="a CSV, Parquet or DuckDB file; or a configuration, whose name ends in .toml"
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="say whether it would start, and what it would offer; serve nothing",
    )
    group = parser.add_argument_group("the data set")
    group.add_argument("--schema", metavar="FILE", help="what is public about the columns")
    group.add_argument(
        "--epsilon", metavar="E", help="the whole budget, of all analysts together, for all times"
    )
    group.add_argument("--delta", metavar="D", help="with --epsilon: promise (epsilon, delta)")
    add_accounting(group)
    group.add_argument("--rho", metavar="R", help="the whole budget in zero-concentrated privacy (zCDP)")
    group.add_argument(
        "--neighbours", choices=("replace", "add-remove"), default="replace", help="as for learn"
    )
    group.add_argument("--table", help="the table, if the data is a DuckDB database")
    group.add_argument(
        "--ledger",
        metavar="LEDGER",
        help="remembers what was spent: a file (default: DATA.ledger), or postgresql://HOST/DATABASE?schema=NAME",
    )
    group.add_argument("--name", metavar="NAME", help="what analysts call it (default: the name of the file)")
    group.add_argument(
        "--cap",
        action="append",
        metavar="ANALYST=AMOUNT",
        help="what an analyst may spend of the budget; * for all that are not named. May be given several "
        "times",
    )
    group.add_argument("--keys", metavar="FILE", help="the file of keys (default: DATA.keys)")
    group = parser.add_argument_group("where it listens")
    group.add_argument("--host", help="the address (default 127.0.0.1: this machine alone)")
    group.add_argument("--port", type=int, help="the port (default 8443; 0 for any that is free)")
    group.add_argument(
        "--certificate", metavar="FILE", help="the TLS certificate; needed beyond this machine"
    )
    group.add_argument("--private-key", metavar="FILE", help="the private key of the certificate")
    group.add_argument("--behind-proxy", action="store_true", help="a proxy in front of it speaks TLS")
    group.add_argument(
        "--workers",
        type=int,
        metavar="N",
        help="how many processes serve; several need a ledger in Postgres (default 1)",
    )
    parser.set_defaults(run=_serve)


def _serve(options: argparse.Namespace, console: Console) -> int:
    settings = _settings(options)
    if options.check:
        return _check(settings, console)
    try:
        from sulq.serve.console.visiting import HOME
        from sulq.serve.logs import log_to
        from sulq.serve.server import Server
        from sulq.serve.workers import Workers
    except ModuleNotFoundError as error:
        raise SulqError(f"`sulq serve` needs {error.name}: pip install 'sulq[serve]'") from None
    server = Server(settings) if settings.workers == 1 else Workers(settings)
    names = ", ".join(each.name for each in settings.datasets)
    console.print(Text(f"serving {names} at {server.url}; Ctrl-C ends it"), soft_wrap=True)
    console.print(Text(f"the console, for people: {server.url}{HOME}"), soft_wrap=True)
    _first_key(settings, console)
    log_to()
    server.run()
    return 0


def _first_key(settings: ServiceSettings, console: Console) -> None:
    """Make the owner's first key, and print it: the only time that it is seen."""
    with Keys(settings.keys) as keys:
        if any(key.owner for key in keys.list()):
            return
        secret = keys.add("owner", "owner")
    console.print(Text(f"the owner's key, shown this once: {secret}"), soft_wrap=True)
    console.print(Text(f"a key for an analyst: sulq key add {settings.keys} NAME"), soft_wrap=True)


def _check(settings: ServiceSettings, console: Console) -> int:
    from sulq.serve.opening import checked

    for name, offer in checked(settings).items():
        rows = "not public" if offer.rows is None else f"{offer.rows:,}"
        console.print(Text(f"{name}: {offer.promise}, {offer.neighbours}, rows: {rows}, would be served"))
    return 0


def _settings(options: argparse.Namespace) -> ServiceSettings:
    """What the service is told, by a configuration or by options."""
    where = {
        name: value
        for name in ("host", "port", "certificate", "private_key", "workers")
        if (value := getattr(options, name)) is not None
    } | ({"behind_proxy": True} if options.behind_proxy else {})
    if Path(options.data).suffix == ".toml":
        given = [f"--{name}" for name in ABOUT_DATA if getattr(options, name) is not None]
        if given:
            raise SulqError(f"{options.data} says what is served: leave out {', '.join(given)}")
        return replace(read_settings(options.data), **where)
    if options.schema is None:
        raise SulqError(
            "what is public about the columns? Give --schema FILE; `sulq schema draft` begins one"
        )
    if is_address(options.data):
        raise SulqError(
            "rows in Postgres are served by a configuration, which also names their ledger: give a .toml"
        )
    files = Files.find(options.data, options.table)
    first = files.paths[0]
    dataset = DatasetSettings(
        options.name or first.name.partition(".")[0],
        str(options.data),
        options.schema,
        budget(options.epsilon, options.delta, options.rho, options.accounting),
        options.table,
        options.neighbours,
        ledger=options.ledger,
        caps=_caps(options.cap or []),
    )
    return ServiceSettings((dataset,), options.keys or f"{first}.keys", **where)


def _caps(texts: list[str]) -> dict[str, Fraction]:
    caps = {}
    for text in texts:
        name, equals, amount = text.rpartition("=")
        if not equals or not name:
            raise SulqError(f"write a cap as ANALYST=AMOUNT, as ada=0.25 or '*=0.1', not as {text!r}")
        caps[name] = rational(f"the cap of {name}", amount)
    return caps
