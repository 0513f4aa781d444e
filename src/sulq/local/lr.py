"""The LR oracle: a database that can only be asked through local randomizers, person by person.

Definitions 5.2 and 5.3 of the full version. If randomizers with ratios r₁, …, r_k are put to one person,
their reports together have a ratio of at most r₁·…·r_k, and it must stay at most e^ε. The ratios are exact
fractions and so is ε, so the comparison is exact too: e^ε is irrational, and enough digits of it decide.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any, NoReturn

import numpy as np

from sulq.errors import AdaptivityError, BudgetError, QueryError
from sulq.local.randomizer import Randomizer, rounded_up
from sulq.numbers import Numeric, rational, truth, whole
from sulq.privacy.coins import arithmetic, decimal, exp
from sulq.privacy.memory import check_process, refuse_copy
from sulq.row_function_guard import refuse_row_functions, row_functions
from sulq.wire import shown

Used = tuple[Fraction, Fraction]
"""What a person spent: the product of ratios, and a sum of exponents for those that are known by these."""
Of = Callable[[Any], Any] | None
"""What is reported of a person's value: a function of it, or the value itself."""
Call = tuple[int, Randomizer, Of]
"""The number of a person, the randomizer, and what is reported of their value."""
NOTHING: Used = Fraction(1), Fraction(0)
ONE_CALL = (
    "this LR oracle answers one round, and was asked a second: make all calls at once, by ask_at_once, or "
    "make the oracle with interactive=True"
)


class LocalRandomness:
    """LR_z of the papers, over a database z of people's values, with ε for each person.

    The values stay inside. `ask` charges the person before it looks at their value.

    Args:
        values: each person's value.
        epsilon: what is promised to each person, over all reports.
        interactive: whether there may be a second call. False is the noninteractive model of Definition 5.3:
            all calls are made at once, by one `ask` or one `ask_at_once`.

    >>> from sulq.local.response import RandomizedResponse
    >>> people = LocalRandomness([True, False, True], epsilon=1)
    >>> half = RandomizedResponse("1/2")
    >>> people.ask(0, half) in (True, False), people.ask(0, half) in (True, False)
    (True, True)
    >>> people.spent(0), people.spent(1)
    (1.0, 0.0)
    >>> people.ask(0, half)
    Traceback (most recent call last):
    sulq.errors.BudgetError: the charge of epsilon = 0.5 exceeds what is left, 9.65...e-20, ...
    """

    def __init__(
        self, values: Sequence[Any] | np.ndarray[Any, Any], epsilon: Numeric, interactive: bool = True
    ) -> None:
        # A Series would take a number for a label: of a filtered one, for another person's.
        self._values = values.to_numpy() if hasattr(values, "to_numpy") else values
        if isinstance(values, Mapping) or not (hasattr(values, "__len__") and hasattr(values, "__getitem__")):
            raise QueryError(f"an LR oracle takes a list or an array of people's values, not {shown(values)}")
        self._interactive = truth("interactive", interactive)
        self._calls = 0
        self._epsilon = rational("epsilon", epsilon)
        self._used: dict[int, Used] = {}
        self._lock = threading.Lock()
        self._process = os.getpid()

    def __len__(self) -> int:
        return len(self._values)

    @property
    def epsilon(self) -> Fraction:
        """What may be spent on each person."""
        return self._epsilon

    def ask(self, i: int, randomizer: Randomizer, of: Of = None) -> Any:
        """A report of person i, by this randomizer, of their value, or of this function of it.

        Raises BudgetError, and does not look at the value, if the person's ε does not allow it. It is one
        report, whatever the value is: where the function raises, or says what is no single value that the
        randomizer takes, it is that of 0. What it raised, or a second report, would tell on the value.
        """
        return self.ask_at_once([(i, randomizer, of)])[0]

    def ask_at_once(self, calls: Sequence[Call]) -> list[Any]:
        """Reports of several people, or several of one person, asked for before any of them is heard.

        Raises BudgetError, with nobody charged and nothing looked at, if somebody's ε does not allow it.

        Args:
            calls: for each report the number of the person, the randomizer, and the function of the person's
                value that is reported, or None for the value itself.

        >>> from sulq.local.response import RandomizedResponse
        >>> people = LocalRandomness([True, False], epsilon=1, interactive=False)
        >>> reports = people.ask_at_once([(i, RandomizedResponse(1), None) for i in range(2)])
        >>> people.ask(0, RandomizedResponse(1))
        Traceback (most recent call last):
        sulq.errors.AdaptivityError: this LR oracle answers one round, and was asked a second: ...
        """
        check_process(self._process, "an LR oracle", "make it in the process that asks")
        refuse_row_functions()
        calls = list(calls)  # no function knows of this list, and it is gone through several times
        try:
            blanks = [blank_of(randomizer) for _, randomizer, _ in calls]
        except (TypeError, ValueError):
            raise QueryError(
                "a call is a person's number, a randomizer, and a function of their value or None"
            ) from None
        with self._lock:
            if self._calls and not self._interactive:
                raise AdaptivityError(ONE_CALL)
            used = dict[int, Used]()
            for i, randomizer, _ in calls:
                person = self._person(i)
                before = used.get(person, self._used.get(person, NOTHING))
                used[person] = charged(before, randomizer, self._epsilon)
            self._used |= used
            self._calls += 1

        def report(call: Call, blank: Any) -> Any:
            i, randomizer, of = call
            return _report(randomizer, of, self._values[int(i)], blank)

        with np.errstate(all="ignore"):
            if all(of is None for _, _, of in calls):
                return [report(call, blank) for call, blank in zip(calls, blanks, strict=True)]
            with row_functions() as interruptions:
                pairs = zip(calls, blanks, strict=True)
                return [report(call, blank) for call, blank in pairs if not interruptions]

    def __reduce__(self) -> NoReturn:
        refuse_copy("an LR oracle", "ask this one")

    def spent(self, i: int) -> float:
        """The ε that was spent on person i, rounded up."""
        return rounded_up(_cost(self._used.get(self._person(i), NOTHING)))

    def _person(self, i: int) -> int:
        return whole("the number of a person", i, 0, len(self) - 1)


def charged(used: Used, randomizer: Randomizer, epsilon: Fraction) -> Used:
    """What a person spent once they have reported by one more randomizer; BudgetError if that is beyond ε.

    >>> from sulq.local.response import RandomizedResponse
    >>> product, total = charged(NOTHING, RandomizedResponse(1), Fraction(1))
    >>> round(float(product), 3), total
    (2.718, Fraction(0, 1))
    """
    exponent = randomizer.exponent
    more = (randomizer.ratio, Fraction(0)) if exponent is None else (Fraction(1), exponent)
    return _together(used, more, epsilon)


# What one person spends in very many reports are very long fractions.
@lru_cache(maxsize=64)
def _together(used: Used, more: Used, epsilon: Fraction) -> Used:
    after = used[0] * more[0], used[1] + more[1]
    if not at_most_power(after[0], epsilon - after[1]):
        raise BudgetError("epsilon", _cost(after) - _cost(used), epsilon - _cost(used))
    return after


def at_most_power(ratio: Fraction, exponent: Fraction) -> bool:
    """Whether ratio ≤ e^exponent, exactly.

    >>> at_most_power(Fraction(1), Fraction(0)), at_most_power(Fraction(3), Fraction(1))
    (True, False)
    """
    if exponent == 0:
        return ratio <= 1
    digits = 40
    while True:
        with arithmetic(digits):
            power = Fraction(exp(exponent))
        error = power * (abs(exponent) + 2) * Fraction(10, 10**digits)
        if abs(ratio - power) > error:
            return ratio < power
        digits *= 2


def _cost(used: Used) -> Fraction:
    """ε to fifty digits, rounded up: for people to read, while ratios are compared exactly."""
    product, total = used
    if product == 1:
        return total
    with arithmetic():
        return Fraction(decimal(product).ln() * (1 + Decimal("1e-50"))) + total


def _report(randomizer: Randomizer, of: Of, value: Any, blank: Any) -> Any:
    """One report of a function of a value; that of the blank, where this raises or is no value to report."""
    # Without a function nothing but Ctrl-C raises more than an Exception.
    with suppress(Exception if of is None else BaseException):
        cohort = _one(value if of is None else of(value))
        if _shapes(cohort) == _shapes(blank):
            return randomizer.sample(cohort)[0]
    return randomizer.sample(blank)[0]


@lru_cache(maxsize=1024)
def blank_of(randomizer: Randomizer) -> Any:
    """A cohort of one, whose value is 0 as the randomizer takes it: a number, a vector, a group and one.

    What nobody can report by is refused.

    >>> from sulq.local.response import RandomizedResponse
    >>> blank_of(RandomizedResponse(1))
    array([0])
    """
    with suppress(Exception):
        width = randomizer.estimate(np.array([None])).shape[-1]
        for value in (0, np.zeros(width), (0, np.zeros(width))):
            with suppress(Exception):
                cohort = _one(value)
                randomizer.sample(cohort)
                return cohort
    raise QueryError(f"by this randomizer nobody can report: {shown(randomizer)}")


def takes_codes(randomizer: Randomizer) -> bool:
    """Whether a randomizer reports on single numbers, as codes are, and not on vectors.

    >>> from sulq.local import CapReport, KaryResponse
    >>> takes_codes(KaryResponse(3, epsilon=1)), takes_codes(CapReport(3, norm=1, epsilon=1))
    (True, False)
    """
    return _shapes(blank_of(randomizer)) == [(1,)]


def _shapes(cohort: Any) -> list[tuple[int, ...]]:
    return [np.shape(part) for part in (cohort if isinstance(cohort, tuple) else (cohort,))]


def _one(value: Any) -> Any:
    """A cohort of one; a pair of a group and a vector is a pair of cohorts of one."""
    if isinstance(value, tuple) and len(value) == 2 and np.ndim(value[1]) == 1:
        return tuple(np.asarray(part)[np.newaxis] for part in value)
    return np.asarray(value)[np.newaxis]
