"""`sulq learn`: from a file and a schema to a hypothesis, its cost, and a report."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import TypeVar

from rich.console import Console
from rich.text import Text

from sulq.commands.checks import (
    budget_given,
    check_affordable,
    check_clusters,
    check_payable,
    check_writable,
    ledger_file,
    public_rows,
)
from sulq.commands.command import Command
from sulq.commands.files import write_whole
from sulq.commands.learners import run_name
from sulq.commands.outcome import Account, Outcome, spending
from sulq.commands.releases import Releasing, release_of
from sulq.commands.report import report
from sulq.commands.show import clear_line, show_outcome, show_rehearsal, show_release, told_of, warn
from sulq.errors import LedgerError, SulqError
from sulq.hypotheses.hypothesis import Hypothesis, Origin
from sulq.learners.kmeans import KMeans
from sulq.learners.learner import Learner
from sulq.learners.parity import Parity
from sulq.learners.select import Select
from sulq.ledger.ledger import Ledger
from sulq.ledger.purpose import differences, terms, whole
from sulq.oracles.assembly import IN_MEMORY
from sulq.oracles.curator import Curator
from sulq.plans.rehearsal import made_up, rehearse
from sulq.plans.watching import Watched
from sulq.privacy.budget import Budget
from sulq.schema import Schema
from sulq.sources.opening import open as open_source
from sulq.sources.source import Source
from sulq.tables import amount

GOES_ON = "the same command goes on from there, and pays for nothing twice"
H = TypeVar("H")


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
    if isinstance(learner, Parity | Select):
        return _released(command, learner, options, budget, source, ledger, console)
    first = next(learner.rounds(schema))
    if isinstance(learner, KMeans):
        check_clusters(learner.k, public_rows(source, options))
    if options.dry_run:
        return _rehearse(learner, options, source, ledger, console)

    errors = Console(stderr=True)
    run = options.named or run_name(command.name, learner)
    account = None
    if budget is None:
        warn(errors)
        watched = Watched(source.exact(), told_of(errors, None))
        hypothesis = _learned(lambda: learner.learn(watched, run), errors)
    else:
        check_payable(_curator(source, options, IN_MEMORY), first)
        curator = _curator(source, options, ledger)
        with curator.ledger:
            check_affordable(curator, options.share, run, ledger)
            watched = Watched(curator, told_of(errors, curator))
            hypothesis = _learned(lambda: learner.learn(watched, run), errors, curator, run)
            account = Account(budget, options.neighbours, str(ledger), curator.remaining)
    title = f"{command.title.capitalize()} learned from {Path(options.data).name}"
    outcome = Outcome(title, hypothesis, tuple(watched.asked), account, hypothesis.origin, schema)
    _tell(outcome, options, console)
    return 0


def _curator(source: Source, options: argparse.Namespace, ledger: str | Path) -> Curator:
    return source.curator(
        options.epsilon, options.delta, options.rho, neighbours=options.neighbours, ledger=ledger
    )


def _learned(learn: Callable[[], H], errors: Console, curator: Curator | None = None, run: str = "") -> H:
    """What is learned; or, if that is refused on the way, why, and what was spent so far."""
    try:
        return learn()
    except SulqError as error:
        if curator is None or not (spent := _spent(curator, run)):
            raise
        paid = spending(spent, curator.calibration.unit)
        raise SulqError(f"{error}; run {run} has spent {paid} so far: {GOES_ON}") from error
    finally:
        clear_line(errors)


def _spent(curator: Curator, run: str) -> Fraction:
    """What a run was charged, as far as its ledger can say."""
    with suppress(SulqError):
        return sum((own.spent for own in curator.ledger.runs() if own.name == run), Fraction(0))
    return Fraction(0)


def _released(
    command: Command,
    learner: Parity | Select,
    options: argparse.Namespace,
    budget: Budget | None,
    source: Source,
    ledger: Path,
    console: Console,
) -> int:
    """Run a learner that asks for one release, or say what that would be."""
    if budget is None:
        raise SulqError(
            "--exact is for learners that ask for sums, and this one asks for one private release: give "
            "--epsilon or --rho"
        )
    rehearsed = source if options.rows is None else made_up(source.schema, options.rows)
    release = release_of(learner, trial := _curator(rehearsed, options, IN_MEMORY))
    if options.dry_run:
        left = _left(ledger, source.schema, trial.promise, options)
        show_release(release, trial, public_rows(source, options), left, console)
        return 0
    errors = Console(stderr=True)
    run = options.named or run_name(command.name, learner)
    curator = _curator(source, options, ledger)
    with curator.ledger:
        check_affordable(curator, learner.share, run, ledger)
        watched = Releasing(curator, release.question, told_of(errors, curator))
        found = _learned(lambda: learner.learn(watched, run), errors, curator, run)
        account = Account(budget, options.neighbours, str(ledger), curator.remaining)
    what = f"No {command.title} found in" if found is None else f"{command.title.capitalize()} learned from"
    outcome = Outcome(
        f"{what} {Path(options.data).name}",
        found,
        tuple(watched.asked),
        account,
        Origin(type(learner).__name__, curator.promise, run, 1),
        source.schema,
        release.otherwise,
    )
    _tell(outcome, options, console)
    return 0


def _tell(outcome: Outcome, options: argparse.Namespace, console: Console) -> None:
    """Write down what came of a run where that was asked for, and then show it."""
    files: dict[str, str] = {}
    if options.report is not None:
        files[options.report] = report(outcome)
    if options.json is not None:
        found = outcome.hypothesis
        files[options.json] = "null\n" if found is None else found.to_json() + "\n"
    failed = {path: error for path, text in files.items() if (error := _error_of(path, text))}
    show_outcome(outcome, console)
    for path in files:
        if path not in failed:
            console.print(Text(f"written: {path}"))
    if failed:
        raise SulqError(f"{'; '.join(map(str, failed.values()))}; the same command again costs nothing")


def _rehearse(
    learner: Learner[Hypothesis],
    options: argparse.Namespace,
    source: Source,
    ledger: Path,
    console: Console,
) -> int:
    rows = public_rows(source, options)
    if rows is None:
        raise SulqError("the number of rows is not public here: say how many to rehearse on, --rows N")
    plan = rehearse(
        learner,
        source.schema,
        rows,
        epsilon=options.epsilon,
        delta=options.delta,
        rho=options.rho,
        neighbours=options.neighbours,
    )
    show_rehearsal(plan, rows, _left(ledger, source.schema, plan.promise, options), console)
    return 0


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
