"""Putting a curator together: a source, a calibrated budget, and a ledger tied to both."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Literal, get_args

from sulq.errors import QueryError, SulqError
from sulq.ledger.ledger import Ledger
from sulq.ledger.places import Place, place_of
from sulq.ledger.stores import is_there
from sulq.numbers import Numeric
from sulq.oracles.chunks import dealt
from sulq.oracles.curator import Curator
from sulq.privacy.budget import ApproxDP
from sulq.privacy.calibrated import calibrated
from sulq.privacy.calibration import Calibration, Gaussian
from sulq.privacy.prices import Accounting
from sulq.privacy.sulq import SulqGaussian, SulqLaplace
from sulq.queries.query import Neighbours
from sulq.schema import Unit
from sulq.sources.sums import Sums
from sulq.talk.offer import Offer

IN_MEMORY = ":memory:"
Answering = Literal["joint", "chunks", "printed"]


def curator(
    source: Sums,
    epsilon: Numeric | None,
    delta: Numeric | None,
    rho: Numeric | None,
    neighbours: Neighbours,
    ledger: str | Place | None,
    truncate: bool,
    calibration: str,
    queries: int | None,
    answering: Answering,
    gamma: Numeric | None = None,
    interactive: bool = True,
) -> Curator:
    """See `Source.curator`."""
    if answering not in get_args(Answering):
        raise QueryError(f"answering is one of {', '.join(get_args(Answering))}, not {answering!r}")
    joint = answering == "joint"
    promised = calibrated(epsilon, delta, rho, calibration, queries if joint else None, gamma)
    path = ledger_place(source, ledger)
    if calibration == "tight":
        promised = as_accounted(promised, path)
    offer = replace(offered(source, promised, neighbours, truncate), interactive=interactive)
    facts = _facts(source, offer) | ({} if interactive else {"rounds": 1})
    if path is not None and is_there(path):
        facts = _as_kept(facts, path, source.schema.unit)
    if joint:
        record = Ledger(path, offer.unit, offer.total, facts, schema=source.schema.form())
        return Curator(offer, source, record, interactive=interactive)
    return dealt(offer, source, path, facts, queries, answering == "printed", interactive)


def offered(source: Sums, calibration: Calibration, neighbours: Neighbours, truncate: bool = False) -> Offer:
    """What a curator of these rows would offer. No cell is read."""
    # With a unit the number of rows is not public: whether a row counts depends on whom it names.
    public = source.schema.unit is None and neighbours == "replace"
    return Offer(source.schema, calibration, neighbours, source.rows if public else None, truncate)


def _facts(source: Sums, offer: Offer) -> dict[str, str | int]:
    """What ties a ledger to its data: public facts only. A hash of the rows would let one guess at them."""
    calibration = offer.calibration
    facts: dict[str, str | int] = {
        "schema": offer.schema.hash,
        "neighbours": offer.neighbours,
        "promise": offer.promise,
    }
    if offer.rows is not None:
        facts["rows"] = offer.rows
    if isinstance(calibration, SulqGaussian | SulqLaplace):
        # In words they are rounded, and the budget itself is a number of queries.
        facts["epsilon"] = str(calibration.epsilon)
        facts["delta"] = str(calibration.delta) if isinstance(calibration, SulqGaussian) else "0"
        if isinstance(calibration, SulqGaussian) and calibration.gamma is not None:
            facts["gamma"] = str(calibration.gamma)
    if source.files is not None and source.files.table is not None:
        facts["table"] = source.files.table
    return facts


def ledger_place(source: Sums, ledger: str | Place | None) -> Place | None:
    """Where the ledger of a curator is; None for memory."""
    if ledger is None and source.files is not None:
        ledger = source.files.ledger()
    return None if ledger is None or str(ledger) == IN_MEMORY else place_of(ledger)


def as_accounted(promised: Calibration, path: Place | None) -> Calibration:
    """The calibration, with the accounting that a ledger was made with if there is one.

    Earlier versions accounted (ε, δ) by zCDP alone. Their ledgers go on as they began.

    Args:
        promised: the calibration.
        path: where the ledger is, or would be; None for memory.
    """
    budget = getattr(promised, "budget", None)
    if not isinstance(budget, ApproxDP) or path is None or not is_there(path):
        return promised
    with Ledger.read(path) as ledger:
        total = ledger.total
    others: tuple[Accounting, ...] = ("zcdp", "gaussian")
    for accounting in others if total != budget.total else ():
        with suppress(SulqError):  # one of them may not be able to keep this promise
            former = replace(budget, accounting=accounting)
            if former.total == total:
                return Gaussian(former)
    return promised


def _as_kept(facts: dict[str, str | int], path: Place, unit: Unit | None) -> dict[str, str | int]:
    """The facts as a ledger of an earlier version has them: without the facts that it did not know yet.

    Such a ledger may also have the number of rows of people with one row each, which is no longer public.
    """
    with Ledger.read(path) as ledger:
        kept = ledger.facts
    later = {name for name in ("table", "epsilon", "delta") if name not in kept}
    facts = {name: fact for name, fact in facts.items() if name not in later}
    return facts | {"rows": kept["rows"]} if unit is not None and "rows" in kept else facts
