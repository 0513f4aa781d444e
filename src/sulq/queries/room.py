"""How many numbers can be asked for at once: as many as a machine holds, or fewer where many share it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

MOST_CELLS = 2**26

_room: ContextVar[int] = ContextVar("room", default=MOST_CELLS)


def most_cells() -> int:
    """How many numbers can be asked for at once, here and now.

    >>> most_cells() == MOST_CELLS
    True
    """
    return _room.get()


@contextmanager
def at_most(cells: int) -> Iterator[None]:
    """Refuse what asks for more numbers than this, before memory is taken for them.

    Args:
        cells: how many numbers may be asked for at once.

    >>> import sulq
    >>> from sulq.queries.scope import Scope
    >>> with at_most(10):
    ...     Scope(sulq.Schema({"x": sulq.Real(0, 1)})).number(sulq.vector(*["x"] * 11))
    Traceback (most recent call last):
    sulq.errors.QueryError: 11 numbers are too many to answer at once; at most 10
    """
    token = _room.set(min(cells, MOST_CELLS))
    try:
        yield
    finally:
        _room.reset(token)
