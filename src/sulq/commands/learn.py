"""`sulq learn` and `sulq table`: from a file and a schema to a hypothesis, its cost, and a report."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.text import Text

from sulq.commands.checks import budget_given, check_clusters, check_writable, ledger_file
from sulq.commands.command import Command
from sulq.commands.learners import run_name
from sulq.commands.show import clear_line, show_outcome, show_rehearsal, told_of, warn
from sulq.errors import LedgerError, SulqError
from sulq.hypotheses.tabulation import Tabulation
from sulq.learners.kmeans import KMeans
from sulq.ledger.ledger import Ledger
from sulq.ledger.purpose import differences, terms, whole
from sulq.numbers import amount
from sulq.privacy.budget import Budget
from sulq.runs.files import write_whole
from sulq.runs.outcome import Outcome, spending
from sulq.runs.report import report
from sulq.runs.run import GOES_ON, Run
from sulq.schema import Schema
from sulq.sources.opening import open as open_source


def learn(command: Command, options: argparse.Namespace, console: Console) -> int:
    """Run a learner on a file, show what it learned, and write it down where that was asked for.

    What can be refused is refused before there is a ledger, which binds its data to a budget.
    """
    budget = budget_given(options)
    try:
        return _learn(command, options, budget, console)
    except KeyboardInterrupt:
        if budget is None or options.dry_run:
            raise
        # The ledger is not asked how much that is: others may keep it locked.
        raise KeyboardInterrupt(f"interrupted; what was spent stays spent: {GOES_ON}") from None


def _learn(command: Command, options: argparse.Namespace, budget: Budget | None, console: Console) -> int:
    schema = Schema.of(options.schema)
    source = open_source(options.data, schema, table=options.table, quoted_newlines=options.quoted_newlines)
    learner = command.learner(options, schema)
    ledger = ledger_file(source, options.ledger, exact=budget is None)
    check_writable(options, ledger)
    name = options.named or run_name(command.name, learner)
    run = Run(learner, source, budget, options.neighbours, ledger, name)
    if options.dry_run:
        plan = run.rehearse(options.rows)
        show_rehearsal(plan, _left(ledger, schema, plan.promise, options), console)
        return 0
    if isinstance(learner, KMeans) and budget is not None:
        check_clusters(learner.k, run.offer.rows)
    errors = Console(stderr=True)
    if budget is None:
        warn(errors)
    try:
        outcome = run.learn(told_of(errors, None if budget is None else run.offer.unit))
    finally:
        clear_line(errors)
    outcome = replace(outcome, prune=getattr(options, "prune", True))
    _tell(outcome, _title(command, outcome, options), options, console)
    return 0


def _title(command: Command, outcome: Outcome, options: argparse.Namespace) -> str:
    what = (
        f"{command.title.capitalize()} learned from" if outcome.hypothesis else f"No {command.title} found in"
    )
    return f"{what} {Path(options.data).name}"


def _tell(outcome: Outcome, title: str, options: argparse.Namespace, console: Console) -> None:
    """Write down what came of a run where that was asked for, and then show it."""
    files: dict[str, str] = {}
    if options.report is not None:
        files[options.report] = report(outcome, title)
    if options.json is not None:
        files[options.json] = outcome.hypothesis.to_json() + "\n"
    if isinstance(outcome.hypothesis, Tabulation) and options.csv is not None:
        files[options.csv] = outcome.hypothesis.to_csv(margins=True) or ""
    failed = {path: error for path, text in files.items() if (error := _error_of(path, text))}
    show_outcome(outcome, console)
    for path in files:
        if path not in failed:
            console.print(Text(f"written: {path}"))
    if failed:
        raise SulqError(f"{'; '.join(map(str, failed.values()))}; the same command again costs nothing")


def _left(path: Path, schema: Schema, promise: str, options: argparse.Namespace) -> str:
    """What there is to say of the ledger that the run itself would use."""
    facts = {"schema": schema.hash, "promise": promise, "neighbours": options.neighbours}
    if not path.exists():
        return f"{path} is not there yet, the run itself would make it"
    with Ledger.read(path) as ledger:
        kept = {name: value for name, value in ledger.facts.items() if name in facts}
        different = differences(
            terms(ledger.unit, ledger.total, kept) | whole(ledger.schema),
            terms(ledger.unit, ledger.total, facts) | whole(schema.form()),
        )
        if different:
            raise LedgerError(
                f"ledger {path} was made for something else: {'; '.join(different)}: the run would be refused"
            )
        return f"{spending(ledger.remaining, ledger.unit)} of {amount(ledger.total)} is left in {path}"


def _error_of(path: str, text: str) -> SulqError | None:
    """Why a file could not be written; None if it was."""
    try:
        write_whole(path, text)
    except SulqError as error:
        return error
    return None
