"""What `sulq learn` and `sulq table` make sure of before anything is spent."""

from __future__ import annotations

import argparse
from pathlib import Path

from sulq.errors import SulqError
from sulq.ledger.places import Address, place_of
from sulq.oracles.assembly import IN_MEMORY
from sulq.privacy.budget import Budget, budget
from sulq.sources.source import Source


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
    if options.accounting is not None and options.delta is None:
        raise SulqError("--accounting goes with --epsilon and --delta")
    if options.rows is not None and not options.dry_run:
        raise SulqError("--rows is for --dry-run: the data knows its own number of rows")
    if not options.exact:
        return budget(options.epsilon, options.delta, options.rho, options.accounting)
    if options.dry_run:
        raise SulqError("--dry-run shows what a budget buys: give --epsilon or --rho, not --exact")
    return None


def ledger_place(source: Source, named: str | None, exact: bool = False) -> str | Path:
    """Where what is spent is remembered: as `Source.curator` has it, but never in memory.

    `exact` answers are not remembered, but a ledger that is there is not written over.
    """
    if named == IN_MEMORY:
        raise SulqError(
            "--ledger must be a file or an address: a budget that is forgotten with the command is none"
        )
    if named:
        place = place_of(named)
        return str(place) if isinstance(place, Address) else place
    assert source.files is not None
    path = source.files.beside if exact else source.files.ledger()
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def check_clusters(clusters: int, rows: int | None) -> None:
    """That there are no more clusters than rows, where their number may be said."""
    if rows is not None and clusters > rows:
        raise SulqError(f"{clusters} clusters are more than there are rows, {rows}; nothing was spent")


def check_elsewhere(options: argparse.Namespace) -> None:
    """That nothing is said here of what a curator elsewhere has said already."""
    names = (
        *("schema", "table", "query", "quoted_newlines"),
        *("epsilon", "delta", "accounting", "rho", "exact", "ledger"),
    )
    given = [f"--{name.replace('_', '-')}" for name in names if getattr(options, name) not in (None, False)]
    if given or options.neighbours != "replace":
        given += [] if options.neighbours == "replace" else ["--neighbours"]
        raise SulqError(f"the curator at {options.at} says what holds there: leave out {', '.join(given)}")
    if options.rows is not None and not options.dry_run:
        raise SulqError("--rows is for --dry-run: the curator knows how many rows there are")


def check_here(options: argparse.Namespace) -> None:
    """That it is said what a file needs."""
    if options.schema is None:
        raise SulqError(
            "what is public about the columns? Give --schema FILE (`sulq schema draft` begins one), or --at "
            "URL for a data set elsewhere"
        )
    if options.certificate is not None:
        raise SulqError("--certificate goes with --at")


def check_writable(options: argparse.Namespace, ledger: str | Path | None) -> None:
    """That the results can be written, and over nothing that is needed."""
    used = () if ledger is None else (options.data, options.schema, ledger)
    needed = {Path(path).resolve() for path in used}
    for name in ("report", "json", "csv"):
        given = getattr(options, name, None)
        if given is None:
            continue
        path = Path(given).resolve()
        if path in needed or (used and path.match(str(Path(options.data).resolve()))):
            raise SulqError(f"--{name} {given} would overwrite a file that is needed: name another")
        needed.add(path)
        try:
            try_to_write(path)
        except OSError as error:
            raise SulqError(f"cannot write --{name} {given}: {error.strerror}; nothing was spent") from None


def try_to_write(path: Path) -> None:
    """That a file can be written, before work is done for it; what is there stays as it is."""
    new = not path.exists()
    with path.open("ab"):
        pass
    if new:
        path.unlink()
