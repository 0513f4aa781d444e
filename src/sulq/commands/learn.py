"""`sulq learn`, `sulq table` and `sulq sql`: from a file to a hypothesis, its cost, and a report."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from sulq.commands.checks import (
    budget_given,
    check_clusters,
    check_elsewhere,
    check_here,
    check_writable,
    ledger_place,
)
from sulq.commands.command import Command
from sulq.commands.learners import run_name
from sulq.commands.opening import opened
from sulq.commands.show import clear_line, show_outcome, show_rehearsal, told_of, warn, warn_of_odd
from sulq.errors import LedgerError, SulqError
from sulq.hypotheses.result_set import ResultSet
from sulq.hypotheses.tabulation import Tabulation
from sulq.learners.kmeans import KMeans
from sulq.learners.learner import Learner
from sulq.ledger.ledger import Ledger
from sulq.ledger.purpose import differences, terms, whole
from sulq.ledger.stores import is_there
from sulq.numbers import amount
from sulq.oracles.remote import connect
from sulq.privacy.budget import Budget
from sulq.runs.expectations import odd_requests
from sulq.runs.files import write_whole
from sulq.runs.outcome import Outcome, spending
from sulq.runs.remote_run import RemoteRun
from sulq.runs.report import report
from sulq.runs.run import Run
from sulq.schema import Schema
from sulq.wire import canonical, digest

INTERRUPTED = (
    "interrupted; what was spent stays spent, and what it bought is kept: the same command again goes on "
    "from there, and what was answered already is free"
)


def learn(command: Command, options: argparse.Namespace, console: Console) -> int:
    """Run a learner on a file, show what it learned, and write it down where that was asked for.

    What can be refused is refused before there is a ledger, which binds its data to a budget.
    """
    if options.at is not None:
        check_elsewhere(options)
        budget = None
    else:
        check_here(options)
        budget = budget_given(options)
    try:
        if options.at is not None:
            return _learn_at(command, options, console)
        return _learn(command, options, budget, console)
    except KeyboardInterrupt:
        if (budget is None and options.at is None) or options.dry_run:
            raise
        # The ledger is not asked how much that is: others may keep it locked.
        raise KeyboardInterrupt(INTERRUPTED) from None


def _learn(command: Command, options: argparse.Namespace, budget: Budget | None, console: Console) -> int:
    schema = Schema.of(options.schema)
    source = opened(options, schema)
    learner = command.learner(options, schema)
    ledger = ledger_place(source, options.ledger, exact=budget is None)
    check_writable(options, ledger)
    name = options.named or _name(command, learner, schema)
    run = Run(learner, source, budget, options.neighbours, ledger, name)
    errors = Console(stderr=True)
    if options.dry_run:
        plan = run.rehearse(options.rows)
        rows = options.rows or plan.rows or run.offer.rows
        warn_of_odd(errors, odd_requests(budget, rows))
        show_rehearsal(plan, _left(ledger, schema, plan.promise, options), rows, console)
        return 0
    if isinstance(learner, KMeans) and budget is not None:
        check_clusters(learner.k, run.offer.rows)
    unit, odd = (None, []) if budget is None else (run.offer.unit, odd_requests(budget, run.offer.rows))
    if budget is None:
        warn(errors)
    try:
        outcome = run.learn(told_of(errors, unit, odd))
    finally:
        clear_line(errors)
    outcome = replace(outcome, prune=getattr(options, "prune", True))
    _tell(outcome, _title(command, outcome, options), options, console)
    return 0


def _learn_at(command: Command, options: argparse.Namespace, console: Console) -> int:
    """Learn from a data set of a curator elsewhere, whose offer says all that a file and options say here."""
    remote = connect(options.at, dataset=options.data, certificate=options.certificate)
    offer = remote.offer
    learner = command.learner(options, offer.schema)
    check_writable(options, None)
    run = RemoteRun(learner, remote, options.named or _name(command, learner, offer.schema))
    if options.dry_run:
        remaining = spending(remote.remaining, offer.unit)
        left = f"{remaining} of {amount(offer.total)} is left for you in {run.place}"
        rows = offer.rows if options.rows is None else options.rows
        show_rehearsal(run.rehearse(options.rows), left, rows, console)
        return 0
    if isinstance(learner, KMeans):
        check_clusters(learner.k, offer.rows)
    errors = Console(stderr=True)
    try:
        outcome = run.learn(told_of(errors, offer.unit))
    finally:
        clear_line(errors)
    _tell(outcome, _title(command, outcome, options), options, console)
    return 0


def _name(command: Command, learner: Learner[Any], schema: Schema) -> str:
    if not command.by_round:
        return run_name(command.name, learner)
    return f"{command.name}-{digest(canonical(next(learner.rounds(schema)).form))[:8]}"


def _title(command: Command, outcome: Outcome, options: argparse.Namespace) -> str:
    what = (
        f"{command.title.capitalize()} learned from" if outcome.hypothesis else f"No {command.title} found in"
    )
    return f"{what} {Path(options.data).name}"


def _tell(outcome: Outcome, title: str, options: argparse.Namespace, console: Console) -> None:
    """Write down what came of a run where that was asked for, and then show it."""
    files: dict[str, str] = {}
    if options.report is not None:
        files[options.report] = report(outcome, title, Path(options.data).name)
    if options.json is not None:
        files[options.json] = outcome.hypothesis.to_json() + "\n"
    if isinstance(outcome.hypothesis, Tabulation) and options.csv is not None:
        files[options.csv] = outcome.hypothesis.to_csv(margins=True) or ""
    if isinstance(outcome.hypothesis, ResultSet) and options.csv is not None:
        files[options.csv] = outcome.hypothesis.to_csv() or ""
    failed = {path: error for path, text in files.items() if (error := _error_of(path, text))}
    show_outcome(outcome, console)
    for path in files:
        if path not in failed:
            console.print(Text(f"written: {path}"))
    console.file.flush()
    unprinted = getattr(console.file, "failure", None)
    problems = [*map(str, failed.values()), *([f"cannot print: {unprinted.strerror}"] if unprinted else [])]
    if problems:
        raise SulqError(f"{'; '.join(problems)}; the same command again costs nothing")


def _left(path: str | Path, schema: Schema, promise: str, options: argparse.Namespace) -> str:
    """What there is to say of the ledger that the run itself would use."""
    facts = {"schema": schema.hash, "promise": promise, "neighbours": options.neighbours}
    if not is_there(path):
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
