"""The store that a place is: SQLite for files and memory, Postgres for addresses."""

from __future__ import annotations

from sulq.ledger.places import Address, Place, place_of
from sulq.ledger.postgres import PostgresStore
from sulq.ledger.sqlite import SqliteStore
from sulq.ledger.store import Store


def store_at(place: str | Place | Store | None, read_only: bool = False) -> Store:
    """The store that a place is.

    Args:
        place: a file, an address, None for memory, or the store itself.
        read_only: whether nothing may be written.

    >>> store_at("people.csv.ledger").name.endswith("people.csv.ledger")
    True
    >>> store_at("postgresql:///clinic?schema=people").name
    'postgresql:///clinic?schema=people'
    """
    if isinstance(place, Store):
        return place
    known = None if place is None else place_of(place)
    return PostgresStore(known, read_only) if isinstance(known, Address) else SqliteStore(known, read_only)


def is_there(place: str | Place) -> bool:
    """Whether there is a ledger at a place.

    Args:
        place: a file, or an address.

    >>> is_there("nowhere.ledger")
    False
    """
    known = place_of(place)
    if not isinstance(known, Address):
        return known.exists()
    store = PostgresStore(known, read_only=True)
    try:
        return store.exists()
    finally:
        store.close()
