"""Truncation: an answer brought into a range, as lecture notes 21 have it. It looks at the answer alone."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from sulq.errors import QueryError
from sulq.talk.answers import Answer
from sulq.talk.choice_laws import BestOf, Gap, Population
from sulq.wire import shown


def truncated(answer: Answer, low: float, high: float) -> Answer:
    """The answer, with every number below `low` or above `high` brought to the nearest of the two.

    It costs nothing, because it looks at nothing but the answer. If the truth lies in the range, truncation
    brings no number further from it: so the error bars stay true, although answers are biased.

    Args:
        answer: what an oracle said to a count, a total or a mean.
        low: the least number that is possible; −inf for none.
        high: the largest number that is possible; inf for none.

    >>> from sulq.talk.laws import Within
    >>> truncated(Answer(-3.0, Within(5.0)), 0, 100).value
    0.0
    """
    if not isinstance(answer, Answer):
        raise QueryError(f"truncated takes an answer of an oracle, not {shown(answer)}")
    if isinstance(answer.law, Gap | BestOf | Population) or np.asarray(answer.value).dtype.kind != "f":
        raise QueryError("what was chosen has no range: truncate counts, totals and means")
    try:
        least, most = float(low), float(high)
    except (TypeError, ValueError, OverflowError):
        least = most = math.nan
    if not least <= most:
        raise QueryError(
            f"a range goes from a number to one that is no smaller, not from {low!r} to {high!r}"
        )
    value = np.clip(answer.value, least, most)
    return replace(answer, value=float(value) if np.ndim(value) == 0 else value)
