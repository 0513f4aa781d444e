"""A budget that is kept in memory belongs to one process, and there is one of it."""

from __future__ import annotations

import os
from typing import NoReturn

from sulq.errors import LedgerError


def check_process(born: int, what: str, instead: str) -> None:
    """Refuse what was made in another process: after a fork, both have a copy of the budget.

    >>> check_process(os.getpid(), "a crowd", "make it after the fork")
    """
    if born != os.getpid():
        raise LedgerError(
            f"{what} in memory cannot be used after a fork, where it is a second copy of the budget; nothing "
            f"was released; {instead}"
        )


def refuse_copy(what: str, instead: str) -> NoReturn:
    """Refuse to copy or to pickle what holds a budget: the copy would spend it a second time.

    >>> refuse_copy("a crowd", "ask the one there is")
    Traceback (most recent call last):
    sulq.errors.LedgerError: a crowd in memory cannot be copied, nor can its budget; ask the one there is
    """
    raise LedgerError(f"{what} in memory cannot be copied, nor can its budget; {instead}")
