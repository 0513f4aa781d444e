"""Schemas and ledgers as tables for people."""

from __future__ import annotations

from rich import markup
from rich.table import Table

from sulq.faces import could_hold, missing_becomes
from sulq.ledger.accounts import ANALYST, default_of, standing
from sulq.ledger.face import question_in_words, time_of
from sulq.ledger.ledger import Ledger
from sulq.numbers import amount
from sulq.pictures.svg import clean
from sulq.schema import Schema


def schema_table(schema: Schema) -> Table:
    """A schema, for people."""
    title = f"{schema.protected} is protected"
    table = Table(
        "column", "type", "what a row could hold", "missing becomes", title=title, title_justify="left"
    )
    for name, kind in schema.items():
        table.add_row(escape(name), kind.type, escape(could_hold(kind)), escape(missing_becomes(kind)))
    return table


def ledger_tables(ledger: Ledger, entries: bool) -> list[Table]:
    """What a ledger was made for, its accounts and caps, its runs, and if asked for every entry."""
    about = Table(show_header=False, box=None)
    about.add_row("budget", f"{amount(ledger.total)} {ledger.unit}")
    about.add_row("spent", f"{amount(ledger.spent)} ({float(ledger.spent / ledger.total):.1%})")
    about.add_row("left", amount(ledger.remaining))
    for name, value in ledger.facts.items():
        about.add_row(escape(name), escape(str(value)))
    for carry in ledger.carried:
        about.add_row("schema changed", escape("; ".join(carry.words)))

    runs = Table("run", "charges", "answers", "spent", "first", "last", title="runs", title_justify="left")
    for run in ledger.runs():
        charges, answers = str(run.charges), str(run.answers)
        runs.add_row(
            escape(run.name), charges, answers, amount(run.spent), time_of(run.first), time_of(run.last)
        )
    tables = [about, *_accounts(ledger), runs]
    return [*tables, _entries(ledger)] if entries else tables


def _accounts(ledger: Ledger) -> list[Table]:
    """Analysts and caps, if there are any. Runs without a cap are not listed: the table of runs has them."""
    accounts = {account.name: account for account in ledger.accounts()}
    table = Table("account", "spent", "cap", "left", title="accounts", title_justify="left")
    for name, account in accounts.items():
        if account.cap is not None and name == default_of(name):
            table.add_row(f"{escape(name)} (each)", "", amount(account.cap), "")
        elif account.cap is not None or name.startswith(ANALYST):
            cap = standing(name, accounts).cap
            left = amount(ledger.remaining_of(name))
            table.add_row(escape(name), amount(account.spent), "" if cap is None else amount(cap), left)
    return [table] if table.rows else []


def _entries(ledger: Ledger) -> Table:
    """Every entry, with accounts if any of them names one."""
    entries = list(ledger.entries())
    named = any(entry.account is not None for entry in entries)
    columns = ["no", "kind", "run", *(["account"] if named else []), "cost", "spent", "question", "time"]
    table = Table(*columns, title="entries", title_justify="left")
    for entry in entries:
        cap = f"cap {amount(entry.cap)}" if entry.cap is not None else ""
        cells = [
            str(entry.number),
            entry.kind,
            escape(entry.run),
            *([escape(entry.account or "")] if named else []),
            amount(entry.cost) if entry.kind == "charge" else "",
            amount(entry.spent),
            cap or escape(question_in_words(entry.question)),
            time_of(entry.time),
        ]
        table.add_row(*cells)
    return table


def escape(text: str) -> str:
    """A name that others chose, as text that means nothing to a terminal or to rich."""
    return markup.escape(clean(text))
