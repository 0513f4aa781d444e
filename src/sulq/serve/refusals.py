"""Refusals as they cross: a stable code, the words that are used in process too, and an HTTP status.

Every refusal follows from public facts. What goes wrong after a charge has one code and one text, whatever it
was.
"""

from __future__ import annotations

from typing import Any

from sulq.errors import AdaptivityError, BudgetError, LedgerError, ReleaseError, SulqError
from sulq.wire import one_line

STATUS = {
    "malformed": 400,
    "refused": 400,
    "key_missing": 401,
    "key_unknown": 401,
    "key_expired": 401,
    "key_revoked": 401,
    "not_allowed": 403,
    "not_found": 404,
    "method": 405,
    "too_slow": 408,
    "budget": 409,
    "second_round": 409,
    "conflict": 409,
    "too_large": 413,
    "media_type": 415,
    "too_many": 429,
    "failed": 500,
    "release_failed": 500,
    "closing": 503,
}
"""Every code there is, with its HTTP status."""
FAILED = "the curator could not do this; nothing was released, and its owner's log says more"


class RefusedError(SulqError):
    """A refusal that only a service has.

    Args:
        code: one of `STATUS`.
        message: what is wrong and what to do, on one line.
        retry_after: in how many seconds it may go better, if that is known.

    >>> refusal = RefusedError("key_expired", "this key has expired")
    >>> refusal.status, str(refusal)
    (401, 'this key has expired')
    """

    def __init__(self, code: str, message: str, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.status = STATUS[code]
        self.retry_after = retry_after


def refusal_of(error: BaseException, owner: bool = False) -> RefusedError:
    """What an error is to whoever asked.

    Args:
        error: what was raised.
        owner: whether the owner asks, who may see where the ledger is.

    >>> refusal_of(KeyError("a row")).code
    'failed'
    """
    if isinstance(error, RefusedError):
        return error
    if isinstance(error, BudgetError):
        return RefusedError("budget", str(error))
    if isinstance(error, AdaptivityError):
        return RefusedError("second_round", str(error))
    if isinstance(error, ReleaseError):
        return RefusedError("release_failed", str(error))
    if isinstance(error, LedgerError):
        return RefusedError("conflict", str(error)) if owner else RefusedError("failed", FAILED)
    if isinstance(error, SulqError):
        return RefusedError("refused", str(error))
    return RefusedError("failed", FAILED)


def error_form(refusal: RefusedError, error: BaseException | None = None) -> dict[str, Any]:
    """A refusal as it crosses. That of a budget also has its exact numbers.

    >>> error_form(RefusedError("not_found", "there is nothing here"))
    {'error': {'code': 'not_found', 'message': 'there is nothing here'}}
    """
    form: dict[str, Any] = {"code": refusal.code, "message": one_line(str(refusal))}
    if isinstance(error, BudgetError):
        form["budget"] = {
            "unit": error.unit,
            "requested": str(error.requested),
            "remaining": str(error.remaining),
            "account": error.account,
            "what": error.what,
        }
    return {"error": form}
