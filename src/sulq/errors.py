"""What can go wrong, in words that never depend on a row."""

from __future__ import annotations

import logging
from collections.abc import Callable
from fractions import Fraction
from typing import TypeVar

T = TypeVar("T")


class SulqError(Exception):
    """The base of every error sulq raises on purpose.

    >>> try:
    ...     raise QueryError("there are no rows")
    ... except SulqError as error:
    ...     print(error)
    there are no rows
    """


class SchemaError(SulqError):
    """A schema is incomplete or contradicts itself, or a table does not have the columns it declares.

    >>> import sulq
    >>> sulq.Real(5, 1)
    Traceback (most recent call last):
    sulq.errors.SchemaError: low = 5.0 must not exceed high = 1.0
    """


class QueryError(SulqError):
    """A query makes no sense for the schema, or could leave the exact range of its sums.

    >>> import sulq
    >>> sulq.bins("age", [])
    Traceback (most recent call last):
    sulq.errors.QueryError: bins need at least one edge, in increasing order
    """


class ReleaseError(SulqError):
    """The rows could not be read or added up after a round was charged.

    The error's words are the same whatever went wrong, and for whom.

    >>> print(ReleaseError())
    the rows could not be read or added up; what was charged stays charged, ...
    """

    def __init__(self) -> None:
        super().__init__(
            "the rows could not be read or added up; what was charged stays charged, and the same question "
            "asked again in the same run is answered under that charge (the data may be gone, changed or "
            "damaged)"
        )


def sheltered(look: Callable[[], T]) -> T:
    """The result of looking at rows. Whatever goes wrong becomes a ReleaseError.

    An error of a source may quote a row, so nobody but whoever runs the process may see it: it is in the log
    `sulq`, at the level of debugging.

    Args:
        look: reads rows and returns what was found.
    """
    try:
        return look()
    except Exception:
        logging.getLogger("sulq").debug("a release failed", exc_info=True)
    raise ReleaseError


class AdaptivityError(SulqError):
    """A second round was put to an oracle that allows only one.

    >>> import sulq
    >>> crowd = sulq.randhie().crowd(epsilon=1, interactive=False)
    >>> answers = crowd.ask(sulq.Round([sulq.mean("limited")], share="1/2"))
    >>> crowd.ask(sulq.Round([sulq.mean("chronic")], share="1/2"))
    Traceback (most recent call last):
    sulq.errors.AdaptivityError: this crowd answers one round, and was asked a second: ...
    """


class LedgerError(SulqError):
    """A ledger is damaged, belongs to other data, or cannot be written.

    >>> import sulq, tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     written = file.write(b"no ledger"), file.flush()
    ...     sulq.randhie().curator(epsilon=1, ledger=file.name)
    Traceback (most recent call last):
    sulq.errors.LedgerError: ...
    """


class AccessError(SulqError):
    """A key is missing, unknown, expired or revoked, or does not allow what was asked for.

    >>> print(AccessError("this key has expired: ask the owner for another"))
    this key has expired: ask the owner for another
    """


class RemoteError(SulqError):
    """A curator elsewhere cannot be reached, or is not understood.

    >>> import sulq
    >>> sulq.connect("http://127.0.0.1:1", key="sulq_0_0", dataset="people", patience=0)
    Traceback (most recent call last):
    sulq.errors.RemoteError: cannot reach http://127.0.0.1:1: ...
    """


class BudgetError(SulqError):
    """A charge, or a part of a budget, was asked for that the budget cannot bear.

    Args:
        unit: what the budget is counted in.
        requested: how much was asked for.
        remaining: how much there is.
        account: whose cap leaves so little, None if it is the budget itself.
        what: what was asked for, in words.

    >>> error = BudgetError("epsilon", requested=Fraction(3, 4), remaining=Fraction(1, 2))
    >>> error.excess
    Fraction(1, 4)
    >>> print(error)
    the charge of epsilon = 0.75 exceeds what is left, 0.5, by 0.25; it was not made
    """

    def __init__(
        self,
        unit: str,
        requested: Fraction,
        remaining: Fraction,
        account: str | None = None,
        what: str = "the charge",
    ) -> None:
        self.unit = unit
        self.requested = requested
        self.remaining = remaining
        self.account = account
        self.what = what
        self.excess = requested - remaining
        left = "what is left" if account is None else f"what is left of the cap of {account!r}"
        super().__init__(
            f"{what} of {unit} = {float(requested):.6g} exceeds {left}, "
            f"{float(remaining):.6g}, by {float(self.excess):.6g}; it was not made"
        )

    def __reduce__(self) -> tuple[type[BudgetError], tuple[str, Fraction, Fraction, str | None, str]]:
        return BudgetError, (self.unit, self.requested, self.remaining, self.account, self.what)
