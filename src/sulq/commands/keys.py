"""`sulq key`: who may ask a service, and what."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from sulq.errors import SulqError
from sulq.serve.keys import AccessKey, Keys, moment


def add_keys(commands: Any) -> None:
    """Add `sulq key` to the commands."""
    parser = commands.add_parser("key", help="make, list and revoke the keys of a service")
    actions = parser.add_subparsers(title="actions", required=True, metavar="ACTION")

    action = actions.add_parser(
        "add",
        help="make a key and print it, once",
        description="Make a key for an analyst and print it. It cannot be printed again: only its hash is "
        "kept. All keys of one name share that analyst's account and cap. A service that is running takes "
        "the key at once.",
        epilog="example: sulq key add people.csv.keys ada --dataset people --expires 2027-12-31",
    )
    action.add_argument("keys", help="the file of keys of a service; it is made if it is not there")
    action.add_argument("name", help="whose key it is")
    action.add_argument(
        "--dataset",
        dest="datasets",
        action="append",
        metavar="NAME",
        help="what it is for; may be given several times (default: all data sets of the service)",
    )
    action.add_argument("--expires", metavar="WHEN", help="as 2027-12-31 or 2027-12-31T12:00:00Z")
    action.add_argument(
        "--owner",
        action="store_true",
        help="a key of the owner: it may see all runs and the whole ledger, set caps, and make keys",
    )
    action.set_defaults(run=_add)

    action = actions.add_parser(
        "list", help="show all keys, without their secrets", epilog="example: sulq key list people.csv.keys"
    )
    action.add_argument("keys", help="the file of keys of a service")
    action.set_defaults(run=_list)

    action = actions.add_parser(
        "revoke",
        help="let a key be valid no more",
        description="Let a key be valid no more, from now on, also at a service that is running.",
        epilog="example: sulq key revoke people.csv.keys 5f0c9a1e",
    )
    action.add_argument("keys", help="the file of keys of a service")
    action.add_argument("id", help="the id of the key, as `sulq key list` shows it")
    action.set_defaults(run=_revoke)


def _add(options: argparse.Namespace, console: Console) -> None:
    expires = None if options.expires is None else moment(options.expires)
    if expires is not None and expires <= datetime.now(UTC):
        raise SulqError(f"a key that expires at {options.expires} would be valid never: name a later day")
    with Keys(options.keys) as keys:
        print(keys.add(options.name, "owner" if options.owner else "analyst", options.datasets, expires))


def _list(options: argparse.Namespace, console: Console) -> None:
    table = Table("id", "name", "scope", "data sets", "made", "valid", box=None, padding=(0, 2, 0, 0))
    with _there(options.keys) as keys:
        for key in keys.list():
            datasets = "all" if key.datasets is None else ", ".join(key.datasets)
            table.add_row(key.id, key.name, key.scope, datasets, f"{key.created:%Y-%m-%d}", _valid(key))
    console.print(table)


def _revoke(options: argparse.Namespace, console: Console) -> None:
    with _there(options.keys) as keys:
        keys.revoke(options.id)
    print(f"key {options.id} is valid no more")


def _there(path: str) -> Keys:
    """The keys in a file that must exist."""
    if not Path(path).is_file():
        raise SulqError(f"no file of keys {path!r}; `sulq key add` makes one")
    return Keys(path)


def _valid(key: AccessKey) -> str:
    if key.revoked is not None:
        return f"revoked {key.revoked:%Y-%m-%d}"
    if key.expires is None:
        return "until revoked"
    word = "expired" if key.expires <= datetime.now(UTC) else "until"
    return f"{word} {key.expires:%Y-%m-%d %H:%M}"
