"""A run on the terminal: what is being asked, what came of it, and what it cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from rich.console import Console
from rich.control import Control
from rich.segment import ControlType
from rich.table import Table
from rich.text import Text

from sulq.numbers import amount
from sulq.pictures.svg import clean
from sulq.plans.rehearsal import Rehearsal
from sulq.plans.watching import AskedRound
from sulq.runs.expectations import to_expect
from sulq.runs.outcome import SYMBOLS, Outcome, RunBudget, spending

CLEAR = Control(ControlType.CARRIAGE_RETURN, (ControlType.ERASE_IN_LINE, 2))


def warn(console: Console) -> None:
    """Say loudly that there is no privacy here."""
    console.print(
        Text.assemble(
            ("EXACT ANSWERS, NO PRIVACY. ", "bold red"),
            ("This is for comparison only: do not publish or pass on what follows.", "red"),
        )
    )


def warn_of_odd(console: Console, odd: Sequence[str]) -> None:
    """Say what is odd about a request, a line each."""
    for sentence in odd:
        console.print(Text(f"warning: {sentence}", "yellow"), soft_wrap=True)


def told_of(
    console: Console, unit: str | None, odd: Sequence[str] = ()
) -> Callable[[AskedRound, bool], None]:
    """Tells of rounds as they are asked: on a terminal on one line that goes away, else a line for each.

    A spinner would fight for the cursor with the bar that is shown while a source sums for long.

    Args:
        console: where to tell.
        unit: what the budget is counted in, or None for exact answers.
        odd: what is odd about the request. It is said with the first round, before that is paid for: whoever
            is refused is told so in one line.
    """

    def tell(round_: AskedRound, done: bool) -> None:
        if round_.number == 1 and not done:
            warn_of_odd(console, odd)
        line = f"round {round_.number}: {round_.describe()} (numbers: {round_.numbers:,})"
        if unit is not None and round_.left is not None:
            free = ", answered from the ledger" if done and round_.stored else ""
            line += f"; costs {spending(round_.cost, unit)}{free}, {spending(round_.left, unit)} left"
        clear_line(console)
        if console.is_terminal and not done:
            console.print(Text(line, "dim"), end="\r", no_wrap=True, overflow="ellipsis", crop=True)
        elif done and not console.is_terminal:
            # How long an answer took may depend on the rows, so it is only said where nothing is private.
            console.print(Text(line if unit else f"{line}; {round_.seconds:.1f} s"), soft_wrap=True)

    return tell


def clear_line(console: Console) -> None:
    """Begin again where a line was that should go away."""
    if console.is_terminal:
        console.control(CLEAR)


def show_outcome(outcome: Outcome, console: Console) -> None:
    """Print the hypothesis, then what it cost, how sure it is, and how to go on."""
    console.print(outcome.drawing())
    if outcome.origin.chosen:
        console.print(Text(f"Chosen: {outcome.origin.chosen}."), soft_wrap=True)
    for sentence in outcome.hypothesis.doubts:
        console.print(Text(clean(sentence), "yellow"), soft_wrap=True)
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


def _summary(outcome: Outcome, account: RunBudget) -> list[tuple[str, str]]:
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


def show_rehearsal(plan: Rehearsal, ledger: str, rows: int | None, console: Console) -> None:
    """Print what a run would ask and pay, and what to expect of it.

    Args:
        plan: what the run would ask.
        ledger: what there is to say of the ledger.
        rows: how many rows there are, or are thought of; None where nobody said.
        console: where to print.
    """
    on = "" if plan.rows is None else f" on {plan.rows:,} made-up rows"
    console.print(
        Text(f"A rehearsal under {plan.promise}{on}. The data was not asked, and nothing was spent.\n")
    )
    console.print(rounds_table(plan.rounds, plan.total, plan.unit))
    whole = f"\nIn all {spending(plan.cost, plan.unit)} of {amount(plan.total)}; {ledger}."
    console.print(Text(whole), soft_wrap=True)
    for sentence in _expected(plan, rows):
        console.print(Text(sentence), soft_wrap=True)
    if len(plan.rounds) > 1:
        console.print(
            "Rounds after the first depend on answers: their number and their groups are an estimate."
        )


def _expected(plan: Rehearsal, rows: int | None) -> list[str]:
    """What to expect of a run, in words."""
    return [*_choice(plan), *_precision(plan, rows)]


def _choice(plan: Rehearsal) -> list[str]:
    """What a learner that chooses chose in the rehearsal."""
    origin = None if plan.hypothesis is None else plan.hypothesis.origin
    return [f"Chosen here: {origin.chosen}."] if origin is not None and origin.chosen else []


def _precision(plan: Rehearsal, rows: int | None) -> list[str]:
    if plan.hypothesis is not None and plan.hypothesis.outlook:
        return [plan.hypothesis.outlook]
    return to_expect(plan.rounds, rows, spending(plan.cost, plan.unit))


def rounds_table(rounds: tuple[AskedRound, ...], total: Fraction, unit: str) -> Table:
    """Rounds, what each cost and how far off its answers are."""
    table = Table("round", "asks", box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("numbers", justify="right")
    table.add_column(f"cost, {SYMBOLS[unit]}", justify="right", no_wrap=True)
    table.add_column("error at 95 %")
    for round_ in rounds:
        cost = f"{amount(round_.cost)} ({float(round_.cost / total):.0%})".replace("%", " %")
        for place, question in enumerate(round_.questions):
            number, price = (str(round_.number), cost) if place == 0 else ("", "")
            many = f"{question.times * question.numbers:,}"
            table.add_row(number, question.describe(), many, price, question.precision())
    return table
