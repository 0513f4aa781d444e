"""A run on the terminal: what is being asked, what came of it, and what it cost."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from rich.console import Console
from rich.control import Control
from rich.segment import ControlType
from rich.table import Table
from rich.text import Text

from sulq.commands.outcome import SYMBOLS, Account, Outcome, spending
from sulq.commands.releases import Release
from sulq.oracles.curator import Curator
from sulq.plans.rehearsal import Rehearsal
from sulq.plans.watching import AskedRound
from sulq.tables import amount

CLEAR = Control(ControlType.CARRIAGE_RETURN, (ControlType.ERASE_IN_LINE, 2))


def warn(console: Console) -> None:
    """Say loudly that there is no privacy here."""
    console.print(
        Text.assemble(
            ("EXACT ANSWERS, NO PRIVACY. ", "bold red"),
            ("This is for comparison only: do not publish or pass on what follows.", "red"),
        )
    )


def told_of(console: Console, curator: Curator | None) -> Callable[[AskedRound, bool], None]:
    """Tells of rounds as they are asked: on a terminal on one line that goes away, else a line for each.

    A spinner would fight for the cursor with the bar that a source shows while it sums for long.
    """

    def tell(asked: AskedRound, done: bool) -> None:
        line = f"round {asked.number}: {asked.describe()} (numbers: {asked.numbers:,})"
        if curator is not None:
            unit = curator.calibration.unit
            free = ", answered from the ledger" if done and asked.stored else ""
            line += f"; costs {spending(asked.cost, unit)}{free}, {spending(curator.remaining, unit)} left"
        clear_line(console)
        if console.is_terminal and not done:
            console.print(Text(line, "dim"), end="\r", no_wrap=True, overflow="ellipsis", crop=True)
        elif done and not console.is_terminal:
            # How long an answer took may depend on the rows, so it is only said where nothing is private.
            console.print(Text(line if curator else f"{line}; {asked.seconds:.1f} s"), soft_wrap=True)

    return tell


def clear_line(console: Console) -> None:
    """Begin again where a line was that should go away."""
    if console.is_terminal:
        console.control(CLEAR)


def show_outcome(outcome: Outcome, console: Console) -> None:
    """Print the hypothesis, then what it cost, how sure it is, and how to go on."""
    found = outcome.hypothesis
    console.print(Text(outcome.otherwise) if found is None else found.drawing())
    console.print()
    account = outcome.account
    if account is None:
        return
    console.print(rounds_table(outcome.asked, account.budget.total, account.budget.unit))
    console.print()
    about = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    for heading, words in _summary(outcome, account):
        about.add_row(heading, Text(words))
    console.print(about)


def _summary(outcome: Outcome, account: Account) -> list[tuple[str, str]]:
    now = ""
    if outcome.charged < outcome.cost:
        now = f"; only {account.words(outcome.charged)} of it now, the rest was paid for before"
    part = f" ({float(outcome.cost / account.budget.total):.0%} of the budget)".replace("%", " %")
    return [
        ("promise", account.budget.describe()),
        ("cost", account.words(outcome.cost) + part + now),
        ("left", account.words(account.remaining)),
        ("ledger", account.ledger),
        ("run", f"{outcome.origin.run}: the same command again costs nothing"),
    ]


def show_rehearsal(plan: Rehearsal, rows: int, ledger: str, console: Console) -> None:
    """Print what a run would ask and pay."""
    console.print(
        Text(
            f"A rehearsal under {plan.promise} on {rows:,} made-up rows. The data was not asked, and nothing "
            "was spent.\n"
        )
    )
    console.print(rounds_table(plan.rounds, plan.total, plan.unit))
    whole = f"\nIn all {spending(plan.cost, plan.unit)} of {amount(plan.total)}; {ledger}."
    console.print(Text(whole), soft_wrap=True)
    if len(plan.rounds) > 1:
        console.print(
            "Rounds after the first depend on answers: their number and their groups are an estimate."
        )


def show_release(release: Release, curator: Curator, rows: int | None, ledger: str, console: Console) -> None:
    """Print what a run of one release would ask and pay, and how many rows its promise needs."""
    unit, total = curator.calibration.unit, curator.calibration.total
    console.print(
        Text(f"A rehearsal under {curator.promise}. The data was not asked, and nothing was spent.\n")
    )
    console.print(rounds_table((AskedRound(1, (release.question,), release.cost),), total, unit))
    whole = f"\nOne release, for {spending(release.cost, unit)} of {amount(total)}; {ledger}."
    console.print(Text(whole), soft_wrap=True)
    if release.needed is not None:
        there = "; how many there are is not public" if rows is None else f"; there are {rows:,}"
        console.print(Text(f"The promise needs {release.needed:,} rows{there}."), soft_wrap=True)


def rounds_table(rounds: tuple[AskedRound, ...], total: Fraction, unit: str) -> Table:
    """Rounds, what each cost and how far off its answers are."""
    table = Table("round", "asks", box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("numbers", justify="right")
    table.add_column(f"cost, {SYMBOLS[unit]}", justify="right", no_wrap=True)
    table.add_column("error at 95 %")
    for asked in rounds:
        cost = f"{amount(asked.cost)} ({float(asked.cost / total):.0%})".replace("%", " %")
        for place, question in enumerate(asked.questions):
            number, price = (str(asked.number), cost) if place == 0 else ("", "")
            many = f"{question.times * question.numbers:,}"
            table.add_row(number, question.describe(), many, price, question.precision())
    return table
