"""What several fits spent together, said loudly while it happens."""

from __future__ import annotations

import threading
import warnings
from fractions import Fraction

from sulq.numbers import amount
from sulq.schema import Schema

_TALLY: dict[str, tuple[int, Fraction]] = {}
_LOCK = threading.Lock()


class SpendingWarning(UserWarning):
    """Several fits in this process learned from tables with the same columns: what they spent adds up.

    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", SpendingWarning)   # for who has added it up
    """


def tally(estimator: str, schema: Schema, spent: Fraction) -> None:
    """Count a fit; at the second, the fourth, the eighth and so on, say what all spent together.

    Tables are known by their columns: who is in them is not public.

    Args:
        estimator: what was fitted.
        schema: what is public about the columns.
        spent: what the fit may have spent.
    """
    with _LOCK:
        fits, total = _TALLY.get(schema.hash, (0, Fraction(0)))
        fits, total = fits + 1, total + spent
        _TALLY[schema.hash] = fits, total
    if fits > 1 and fits & (fits - 1) == 0:
        warnings.warn(
            f"{estimator}: {fits} fits in this process learned from tables with these columns. If they are "
            f"about the same people, what is published from all of them may cost them {amount(total)} in all "
            "and not what one fit costs. A ledger= would refuse that, and search_epsilon says it before",
            SpendingWarning,
            stacklevel=5,
        )
