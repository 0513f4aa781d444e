"""Parts of a budget: what was handed out of a whole, and what was asked for it."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import NoReturn, Protocol

from sulq.errors import BudgetError, SulqError
from sulq.numbers import rational
from sulq.privacy.memory import refuse_copy
from sulq.wire import check_run, digest


class Book(Protocol):
    """What a part needs of a ledger."""

    @property
    def remaining(self) -> Fraction: ...

    def charged(self, run: str, question: str, *, formerly: str | None = None) -> bool: ...

    def release(
        self,
        run: str,
        question: str,
        cost: Fraction,
        answer: Callable[[], str],
        *,
        account: str | None = None,
        formerly: str | None = None,
    ) -> str: ...


class Part:
    """A part of a budget, or the whole of it. What is asked through it costs no more than its `limit` in all.

    A part that is handed out is taken away for good: whoever handed it out can no longer spend it, whether or
    not the part does.

    All of this is counted in memory, from the questions that are asked through this object. Every question
    of a run counts once, also if its answer is in the ledger already. So a program that is started again
    hands out its parts again, gets its old answers through them at no cost, and meets every limit where it
    met it before. Until a part has asked its old questions again, all of it is kept free for it. For limits
    that hold across processes, give accounts a cap: `Ledger.set_cap`.

    Args:
        unit: what the budget is counted in.
        limit: how much of it this part has.
        whole: whether this is the whole budget: then the ledger itself keeps the limit.

    >>> whole = Part("epsilon", Fraction(1), whole=True)
    >>> tenth = whole.hand_out(Fraction(1, 10))
    >>> whole.left, tenth.left
    (Fraction(9, 10), Fraction(1, 10))
    >>> tenth.take("main", "how many?", Fraction(1, 10)), tenth.take("main", "how many?", Fraction(1, 10))
    (True, False)
    >>> tenth.take("main", "how old?", Fraction(1, 100))
    Traceback (most recent call last):
    sulq.errors.BudgetError: the charge of epsilon = 0.01 exceeds what is left, 0, by 0.01; it was not made
    """

    def __init__(self, unit: str, limit: Fraction, whole: bool = False) -> None:
        self.unit = unit
        self.limit = limit
        self.whole = whole
        self._lock = threading.Lock()
        self._parts: list[Part] = []
        self._taken: dict[tuple[str, str], Fraction] = {}
        self._asking: Counter[tuple[str, str]] = Counter()  # how many threads ask each question now
        self._charged: set[tuple[str, str]] = set()
        self._sum = Fraction(0)

    @property
    def left(self) -> Fraction:
        """What was neither asked for nor handed out."""
        return self.limit - self._sum - sum((part.limit for part in tuple(self._parts)), Fraction(0))

    def remaining(self, ledger: Book) -> Fraction:
        """What may still be asked for, or handed out, and not only of this part: others spend the ledger too.

        >>> from sulq.ledger.ledger import Ledger
        >>> ledger = Ledger(None, "epsilon", Fraction(1), {})
        >>> part = ledger.whole.hand_out(Fraction(3, 10))
        >>> _ = ledger.release("tree", "how many?", Fraction(1, 2), lambda: "20187")
        >>> ledger.whole.remaining(ledger), part.remaining(ledger)
        (Fraction(1, 5), Fraction(3, 10))
        """
        # The ledger first: a part takes before it charges, so that nothing is ever subtracted twice.
        in_ledger = ledger.remaining
        room = in_ledger - self._promised()
        return max(Fraction(0), room if self.whole else min(self.left, room))

    def hand_out(self, share: Fraction) -> Part:
        """Take a share of this part's limit away from it, and make it a part by itself.

        What others have spent of the ledger is not looked at here: it may be what this part asked before its
        program was started again.

        >>> half = Part("epsilon", Fraction(1)).hand_out(Fraction(1, 2))
        >>> half.hand_out(Fraction(3, 4)).limit
        Fraction(3, 8)
        >>> half.hand_out(Fraction(1, 2))
        Traceback (most recent call last):
        sulq.errors.BudgetError: the part of epsilon = 0.25 exceeds what is left, 0.125, by 0.125; ...
        """
        # A share below 0 would give this part more than it has.
        part = Part(self.unit, rational("share", share, most=1) * self.limit)
        with self._lock:
            if part.limit > self.left:
                raise BudgetError(self.unit, part.limit, max(Fraction(0), self.left), what="the part")
            self._parts.append(part)
        return part

    def take(self, run: str, question: str, cost: Fraction) -> bool:
        """Count a question that is about to be charged, or refuse it if too little is left.

        False if it was counted before.
        """
        key = run, digest(question)
        with self._lock:
            new = key not in self._taken
            if new:
                if cost > self.left and (self._parts or not self.whole):
                    raise BudgetError(self.unit, cost, max(Fraction(0), self.left))
                self._taken[key] = cost
                self._sum += cost
            self._asking[key] += 1
            return new

    def done(self, run: str, question: str, charged: bool) -> None:
        """Say how a question went that was taken. It is forgotten if no thread was, or may yet be, charged.

        Args:
            run: the name of the run.
            question: the question, as text.
            charged: whether it was charged, now or before.
        """
        key = run, digest(question)
        with self._lock:
            self._asking[key] -= 1
            if charged:
                self._charged.add(key)
            if self._asking[key] == 0:
                del self._asking[key]
                if key not in self._charged:
                    self._sum -= self._taken.pop(key)

    def release(
        self,
        ledger: Book,
        run: str,
        question: str,
        cost: Fraction,
        answer: Callable[[], str],
        *,
        account: str | None = None,
        formerly: str | None = None,
    ) -> str:
        """`Ledger.release`, for what is left of this part: everything else is as there.

        >>> from sulq.ledger.ledger import Ledger
        >>> ledger = Ledger(None, "epsilon", Fraction(1), {})
        >>> half = ledger.whole.hand_out(Fraction(1, 2))
        >>> half.release(ledger, "tree", "how many?", Fraction(1, 4), lambda: "20187")
        '20187'
        """
        check_run(run)
        self.take(run, question, cost)
        charged = True  # what is interrupted counts as charged
        try:
            # Also if another thread counted the question: that one may be refused, and this one charged.
            if self._parts:
                self._check_promises(ledger, run, question, formerly, cost)
            return ledger.release(run, question, cost, answer, account=account, formerly=formerly)
        except SulqError:
            charged = ledger.charged(run, question, formerly=formerly)
            raise
        finally:
            self.done(run, question, charged)

    def _check_promises(
        self, ledger: Book, run: str, question: str, formerly: str | None, cost: Fraction
    ) -> None:
        """Refuse a new charge that would leave the ledger too little for the parts that were handed out."""
        left = max(Fraction(0), ledger.remaining - self._promised())
        if cost > left and not ledger.charged(run, question, formerly=formerly):
            raise BudgetError(self.unit, cost, left)

    def _promised(self) -> Fraction:
        """What parts that were handed out may still ask for."""
        return sum((part.limit - part._asked() for part in tuple(self._parts)), Fraction(0))

    def _asked(self) -> Fraction:
        """What was asked for through this part, and through the parts of it."""
        return self._sum + sum((part._asked() for part in tuple(self._parts)), Fraction(0))

    def __reduce__(self) -> NoReturn:
        refuse_copy("a part of a budget", "hand it out again where it is needed")
