"""Parts of a budget: what was handed out of a whole, and what was asked for it."""

from __future__ import annotations

import threading
from fractions import Fraction

from sulq.errors import BudgetError
from sulq.wire import digest


class Part:
    """A part of a budget. What is asked through it costs no more than its `limit` in all.

    Every question of a run counts once, also if its answer is in the ledger already. So a run that is started
    again in another process meets the limit where it met it before.

    >>> part = Part("epsilon", Fraction(1, 10))
    >>> part.take("main", "how many?", Fraction(1, 10)), part.take("main", "how many?", Fraction(1, 10))
    (True, False)
    >>> part.remaining
    Fraction(0, 1)
    >>> part.take("main", "how old?", Fraction(1, 100))
    Traceback (most recent call last):
    sulq.errors.BudgetError: the charge of epsilon = 0.01 exceeds what is left, 0, by 0.01; it was not made
    """

    def __init__(self, unit: str, limit: Fraction) -> None:
        self.unit = unit
        self.limit = limit
        self._taken: dict[tuple[str, str], Fraction] = {}
        self._lock = threading.Lock()

    @property
    def remaining(self) -> Fraction:
        """What may still be asked for."""
        with self._lock:
            return self.limit - sum(self._taken.values(), Fraction(0))

    def take(self, run: str, question: str, cost: Fraction) -> bool:
        """Count a question that is about to be charged, or refuse it if too little is left.

        False if it was counted before.
        """
        with self._lock:
            if (run, digest(question)) in self._taken:
                return False
            left = self.limit - sum(self._taken.values(), Fraction(0))
            if cost > left:
                raise BudgetError(self.unit, requested=cost, remaining=left)
            self._taken[run, digest(question)] = cost
            return True

    def give_back(self, run: str, question: str) -> None:
        """Forget a question that was not charged after all."""
        with self._lock:
            self._taken.pop((run, digest(question)), None)
