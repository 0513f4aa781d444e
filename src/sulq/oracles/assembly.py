"""Putting a curator together: a source, a calibrated budget, and a ledger tied to both."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, get_args

from sulq.errors import QueryError
from sulq.ledger.ledger import Ledger
from sulq.numbers import Numeric
from sulq.oracles.chunks import dealt
from sulq.oracles.curator import Curator
from sulq.privacy.budget import budget
from sulq.privacy.calibration import Calibration, Gaussian, Laplace
from sulq.privacy.sulq import SulqGaussian, SulqLaplace
from sulq.queries.query import Neighbours
from sulq.schema import Unit
from sulq.sources.sums import Sums

IN_MEMORY = ":memory:"
Answering = Literal["joint", "chunks", "printed"]


def curator(
    source: Sums,
    epsilon: Numeric | None,
    delta: Numeric | None,
    rho: Numeric | None,
    neighbours: Neighbours,
    ledger: str | Path | None,
    truncate: bool,
    calibration: str,
    queries: int | None,
    answering: Answering,
) -> Curator:
    """See `Source.curator`."""
    if neighbours not in ("replace", "add-remove"):
        raise QueryError(f"neighbours are 'replace' or 'add-remove', not {neighbours!r}")
    if answering not in get_args(Answering):
        raise QueryError(f"answering is one of {', '.join(get_args(Answering))}, not {answering!r}")
    joint = answering == "joint"
    calibrated = _calibrated(epsilon, delta, rho, calibration, queries if joint else None)
    if calibrated.unit == "queries" and neighbours != "replace":
        raise QueryError("the SuLQ paper's promise is about a row that is replaced: neighbours='replace'")
    if ledger is None and source.files is not None:
        ledger = source.files.ledger()
    path = None if ledger is None or str(ledger) == IN_MEMORY else Path(ledger)
    facts = _facts(source, calibrated, neighbours)
    if path is not None and path.exists():
        facts = _as_kept(facts, path, source.schema.unit)
    if joint:
        record = Ledger(path, calibrated.unit, calibrated.total, facts, schema=source.schema.form())
        return Curator(source, calibrated, record, neighbours, truncate)
    return dealt(source, calibrated, neighbours, truncate, path, facts, queries, answering == "printed")


def _calibrated(
    epsilon: Numeric | None, delta: Numeric | None, rho: Numeric | None, calibration: str, queries: int | None
) -> Calibration:
    if calibration == "tight":
        if queries is not None:
            raise QueryError("a number of queries is only for the SuLQ paper's calibrations")
        given = budget(epsilon, delta, rho)
        tight = Laplace if given.unit == "epsilon" else Gaussian
        return tight(given.total, given.describe())
    if queries is None or epsilon is None or rho is not None:
        raise QueryError(f"{calibration} needs epsilon and the number of queries beforehand, and no rho")
    if calibration == "sulq-laplace" and delta is None:
        return SulqLaplace(epsilon, queries)
    if calibration == "sulq-gaussian" and delta is not None:
        return SulqGaussian(epsilon, delta, queries)
    raise QueryError(
        "calibrations are 'tight', 'sulq-gaussian' (with delta) and 'sulq-laplace' (without), "
        f"not {calibration!r}"
    )


def _facts(source: Sums, calibration: Calibration, neighbours: Neighbours) -> dict[str, str | int]:
    """What ties a ledger to its data: public facts only. A hash of the rows would let one guess at them."""
    facts: dict[str, str | int] = {
        "schema": source.schema.hash,
        "neighbours": neighbours,
        "promise": calibration.describe(),
    }
    if neighbours == "replace" and source.schema.unit is None:
        facts["rows"] = source.rows
    if isinstance(calibration, SulqGaussian | SulqLaplace):
        # In words they are rounded, and the budget itself is a number of queries.
        facts["epsilon"] = str(calibration.epsilon)
        facts["delta"] = str(calibration.delta) if isinstance(calibration, SulqGaussian) else "0"
    if source.files is not None and source.files.table is not None:
        facts["table"] = source.files.table
    return facts


def _as_kept(facts: dict[str, str | int], path: Path, unit: Unit | None) -> dict[str, str | int]:
    """The facts as a ledger of an earlier version has them: without those it did not know yet.

    It may also have the number of rows of people with one row each, which is no longer taken for public.
    """
    with Ledger.read(path) as ledger:
        kept = ledger.facts
    later = {name for name in ("table", "epsilon", "delta") if name not in kept}
    facts = {name: fact for name, fact in facts.items() if name not in later}
    return facts | {"rows": kept["rows"]} if unit is not None and "rows" in kept else facts
