"""People who were not asked yet, in an order drawn by lot."""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Callable
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sulq.errors import BudgetError, QueryError
from sulq.privacy.memory import check_process
from sulq.sources.rows import Rows

MOST_PEOPLE = 2**60


class Cohorts:
    """A source's rows, given out in cohorts by lot, each row once.

    >>> import sulq
    >>> people = sulq.open({"sick": [True, False, True]}, {"sick": sulq.Boolean()})
    >>> cohorts = Cohorts(people)
    >>> cohorts.next(2).rows, cohorts.left
    (2, 1)
    """

    def __init__(self, source: Rows) -> None:
        self.source = source
        self._process = os.getpid()
        self._given = 0
        self._lock = threading.Lock()

    @property
    def left(self) -> int:
        """How many people were not asked yet."""
        return self.source.rows - self._given

    def require(self, size: int) -> None:
        """Refuse, with nobody asked, if fewer people are left, or if another process may ask them too."""
        check_process(self._process, "a survey", "make it in the process that asks")
        if size > self.left:
            raise BudgetError("people", requested=Fraction(size), remaining=Fraction(self.left))

    def next(self, size: int) -> Rows:
        """The rows of so many people who were not asked yet."""
        with self._lock:
            self.require(size)
            chosen = self._order[self._given : self._given + size]
            self._given += size
        return self.source.only(chosen)

    @cached_property
    def _order(self) -> NDArray[np.int64]:
        # Whom a question goes to is no secret, and no promise rests on it: a good generator will do.
        return np.random.default_rng(secrets.randbits(128)).permutation(self.source.rows)


def smallest(enough: Callable[[int], bool]) -> int:
    """The smallest size that is enough, if more is never worse."""
    low, high = 0, 1
    while not enough(high):
        low, high = high, 2 * high
        if high > MOST_PEOPLE:
            raise QueryError("no number of people is large enough for this tolerance")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
