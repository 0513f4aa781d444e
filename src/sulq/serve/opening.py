"""Opening a service's data sets: sources, ledgers and caps. What cannot work is refused before it starts."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from sulq.errors import SulqError
from sulq.ledger.stores import is_there
from sulq.oracles.assembly import IN_MEMORY, offered
from sulq.oracles.curator import Curator
from sulq.privacy.calibrated import tight
from sulq.schema import Schema
from sulq.serve.config import DatasetSettings, ServiceSettings, account_of
from sulq.serve.desk import Desk
from sulq.serve.limits import Room
from sulq.sources.opening import open as open_source
from sulq.sources.source import Source
from sulq.talk.offer import Offer


def opened(
    settings: ServiceSettings, curators: Mapping[str, Curator] | None = None, room: Room | None = None
) -> dict[str, Desk]:
    """The data sets of a service, ready to be asked. Their ledgers are made if they are not there.

    Args:
        settings: what the service was told.
        curators: further data sets, by name.
        room: for how many numbers there is memory at once; None for as many as the limits say.
    """
    limits, schedule = settings.limits, settings.schedule
    room = Room(limits.numbers) if room is None else room
    desks = {
        name: Desk(name, _shared(each), limits, room, schedule) for name, each in (curators or {}).items()
    }
    with ExitStack() as undone:
        for each in settings.datasets:
            curator = _curator(each)
            undone.callback(curator.ledger.close)
            desks[each.name] = Desk(each.name, curator, limits, room, schedule)
        undone.pop_all()
    return desks


def checked(settings: ServiceSettings) -> dict[str, Offer]:
    """What each data set would offer. A ledger binds data to a budget, so none is made.

    Args:
        settings: what the service was told.
    """
    offers = {}
    for each in settings.datasets:
        source = _source(each)
        ledger = _ledger(each, source)
        if is_there(ledger):  # what it was made for is compared
            curator = _unshared(each, source)
            curator.ledger.close()
            offers[each.name] = curator.offer
        else:
            offers[each.name] = offered(source, tight(each.budget), each.neighbours, each.truncate)  # type: ignore[arg-type]
    return offers


def _source(settings: DatasetSettings) -> Source:
    schema = Schema.of(settings.schema)
    return open_source(
        settings.data,
        schema,
        table=settings.table,
        query=settings.query,
        quoted_newlines=settings.quoted_newlines,
    )


def _ledger(settings: DatasetSettings, source: Source) -> str | Path:
    if settings.ledger is not None:
        if Path(settings.ledger).name == IN_MEMORY:
            raise SulqError("the ledger of a service is never in memory: a budget that is forgotten is none")
        return settings.ledger
    assert source.files is not None
    return source.files.ledger()


def _unshared(settings: DatasetSettings, source: Source) -> Curator:
    return source.curator(
        settings.budget,
        neighbours=settings.neighbours,  # type: ignore[arg-type]
        ledger=_ledger(settings, source),
        truncate=settings.truncate,
    )


def _curator(settings: DatasetSettings) -> Curator:
    curator = _unshared(settings, _source(settings))
    try:
        for name, cap in settings.caps.items():
            curator.ledger.set_cap(account_of(name), cap)
    except BaseException:
        curator.ledger.close()
        raise
    return _shared(curator)


def _shared(curator: Curator) -> Curator:
    """The same curator, for many threads at once."""
    if type(curator) is not Curator:
        raise SulqError("only a curator who answers with all rows can be served: answering='joint'")
    return replace(curator, ledger=curator.ledger.shared())
