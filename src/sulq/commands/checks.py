"""What `sulq learn` makes sure of before anything is spent."""

from __future__ import annotations

import argparse
from fractions import Fraction
from pathlib import Path

from sulq.commands.outcome import spending
from sulq.errors import BudgetError, SulqError
from sulq.numbers import Numeric, rational
from sulq.oracles.assembly import IN_MEMORY
from sulq.oracles.curator import Curator
from sulq.privacy.budget import Budget, budget
from sulq.queries.rounds import Round
from sulq.sources.source import Source
from sulq.tables import amount


def budget_given(options: argparse.Namespace) -> Budget | None:
    """The budget, or None for exact answers; there is no default."""
    given = [name for name in ("epsilon", "rho", "exact") if getattr(options, name) not in (None, False)]
    if len(given) != 1:
        named = " and ".join(f"--{name}" for name in given) or "none"
        raise SulqError(
            "how much privacy may be spent? There is no default: give one of --epsilon E, --rho R and "
            f"--exact (no privacy); given: {named}"
        )
    if options.delta is not None and options.epsilon is None:
        raise SulqError("--delta goes with --epsilon")
    if options.rows is not None and not options.dry_run:
        raise SulqError("--rows is for --dry-run: the data knows its own number of rows")
    if not options.exact:
        return budget(options.epsilon, options.delta, options.rho)
    if options.dry_run:
        raise SulqError("--dry-run shows what a budget buys: give --epsilon or --rho, not --exact")
    return None


def ledger_file(source: Source, named: str | None, exact: bool = False) -> Path:
    """Where what is spent is remembered: as `Source.curator` has it, but always in a file.

    `exact` answers are not remembered, but a ledger that is there is not written over.
    """
    if named == IN_MEMORY:
        raise SulqError("--ledger must be a file: a budget that is forgotten with the command is none")
    if named:
        return Path(named)
    assert source.files is not None
    path = source.files.beside if exact else source.files.ledger()
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def public_rows(source: Source, options: argparse.Namespace) -> int | None:
    """How many rows there are, as far as that was stated or is public."""
    if options.rows is not None:
        return int(options.rows)
    public = source.schema.unit is None and options.neighbours == "replace"
    return source.rows if public else None


def check_clusters(clusters: int, rows: int | None) -> None:
    """That there are no more clusters than rows, where their number may be said."""
    if rows is not None and clusters > rows:
        raise SulqError(f"{clusters} clusters are more than there are rows, {rows}; nothing was spent")


def check_writable(options: argparse.Namespace, ledger: Path) -> None:
    """That the results can be written, and over nothing that is needed."""
    needed = {Path(path).resolve() for path in (options.data, options.schema, ledger)}
    for name in ("report", "json"):
        given = getattr(options, name)
        if given is None:
            continue
        path = Path(given).resolve()
        if path in needed or path.match(str(Path(options.data).resolve())):
            raise SulqError(f"--{name} {given} would overwrite a file that is needed: name another")
        needed.add(path)
        new = not path.exists()
        try:
            with path.open("ab"):
                pass
            if new:
                path.unlink()
        except OSError as error:
            raise SulqError(f"cannot write --{name} {given}: {error.strerror}; nothing was spent") from None


def check_payable(curator: Curator, first: Round) -> None:
    """That the whole budget would do for the first round, and that a curator can answer it at all."""
    cost = curator.cost(first)
    if cost > curator.remaining:
        raise BudgetError(curator.calibration.unit, cost, curator.remaining)


def check_affordable(curator: Curator, share: Numeric | None, run: str, ledger: Path) -> None:
    """That a new run can be paid for to its end: half a tree is worth nothing, and costs half."""
    if share is None or any(own.name == run for own in curator.ledger.runs()):
        return
    left, total, unit = curator.remaining, curator.calibration.total, curator.calibration.unit
    cost = rational("share", share, most=1) * total
    if cost > left:
        advice = f"give it a smaller --share, as {_down(left / total)}" if left else "the budget is spent"
        raise SulqError(
            f"this may cost {spending(cost, unit)}, and {spending(left, unit)} of {amount(total)} is left in "
            f"{ledger}: {advice}; nothing was spent"
        )


def _down(share: Fraction) -> str:
    """At most this share, in few letters."""
    return str(share) if len(str(share)) <= 7 else str(Fraction(int(share * 10**6), 10**6))
