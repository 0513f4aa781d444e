"""Whether a Python row function is running: then nobody answers questions.

A row function runs on people's rows. A question that it asked would be asked, and charged, because of a row.
"""

from __future__ import annotations

import threading

from sulq.errors import QueryError

_here = threading.local()


def enter_row_function() -> None:
    """Say that from now on this thread does nothing but run a row function."""
    _here.inside = True


def refuse_row_functions() -> None:
    """Called by whoever answers or charges.

    >>> refuse_row_functions()
    """
    if getattr(_here, "inside", False):
        raise QueryError("a row function cannot ask questions of its own")
