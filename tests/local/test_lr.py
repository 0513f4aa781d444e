"""A person's ε is kept exactly, over any sequence of randomizers, and refusals do not look at the value."""

from __future__ import annotations

import math
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sulq.errors import BudgetError, QueryError, SulqError
from sulq.local.keyed import KeyedReport
from sulq.local.laplace import LaplaceReport
from sulq.local.lr import LocalRandomness, at_most_power
from sulq.local.piecewise import PiecewiseReport
from sulq.local.response import RandomizedResponse
from sulq.local.unary import UnaryResponse
from tests.local.cases import CASES


class Watched:
    """A database that counts how often it is looked at."""

    def __init__(self, *values: Any) -> None:
        self.values, self.looked = values, 0

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, i: int) -> Any:
        self.looked += 1
        return self.values[i]


def test_ten_tenths_make_one_and_not_a_bit_more() -> None:
    people = LocalRandomness([True, False], 1)
    tenth = RandomizedResponse("1/10")
    for _ in range(10):
        people.ask(0, tenth)
    assert people.spent(0) == 1.0
    with pytest.raises(BudgetError):
        people.ask(0, RandomizedResponse(1e-8))


def test_the_whole_of_epsilon_can_be_spent_at_once_by_every_kind_of_randomizer() -> None:
    for epsilon in (Fraction(1, 3), Fraction(1), Fraction(5)):
        for randomizer in (
            RandomizedResponse(epsilon),
            LaplaceReport(0, 1, epsilon),
            PiecewiseReport(0, 1, epsilon),
        ):
            people = LocalRandomness([1.0], epsilon)
            people.ask(0, randomizer)
            with pytest.raises(BudgetError):
                people.ask(0, RandomizedResponse("1/1000"))


def told(value: Any) -> Any:
    raise SystemExit(value)


@pytest.mark.parametrize("case", CASES)
def test_a_report_is_one_whatever_a_function_makes_of_the_value(case: Any) -> None:
    """Many reports at the price of one, and what is raised, would tell the value itself."""
    randomizer = case.make(1)
    value, usual = case.values[-1], randomizer.sample(case.cohort(case.values[-1:]))[0]
    strange = ["x", None, {}, math.nan, 10**400, (1, 2, 3), object(), np.zeros(0), np.zeros((9, 9))]
    values = [*strange, [value] * 100, np.full(100, 1.0)]
    functions = [lambda _, given=given: given for given in values]
    calls = [(given, None) for given in values] + [(value, of) for of in (*functions, told, lambda _: 1 / 0)]
    for given, of in calls:
        people = LocalRandomness([given], 1)
        report = people.ask(0, randomizer, of)
        assert np.shape(report) == np.shape(usual) and np.asarray(report).dtype == np.asarray(usual).dtype
        assert 0.99 < people.spent(0) <= 1


class Interrupting:
    """A value that is looked at while somebody presses Ctrl-C."""

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt


def test_an_interruption_is_none_of_the_values() -> None:
    """Without a function nothing of the caller's runs that could raise it: it is passed on, as everywhere."""
    people = LocalRandomness([Interrupting(), True], 1)
    with pytest.raises(KeyboardInterrupt):
        people.ask(0, RandomizedResponse(1))
    assert people.ask(1, RandomizedResponse("1/2"), lambda _: Interrupting()) in (True, False)


def interrupted(_: Any) -> bool:
    """Somebody presses Ctrl-C while a function runs, which takes no notice of it."""
    try:
        signal.raise_signal(signal.SIGINT)
    finally:
        return True  # noqa: B012


@pytest.mark.parametrize("ending", [SystemExit, KeyboardInterrupt, GeneratorExit])
def test_what_a_function_raises_ends_nothing(ending: type[BaseException]) -> None:
    def ends(_: Any) -> None:
        raise ending

    people = LocalRandomness([True] * 3, 1)
    assert len(people.ask_at_once([(i, RandomizedResponse(1), ends) for i in range(3)])) == 3


def test_ctrl_c_is_heard_although_functions_raise_nothing() -> None:
    ran: list[int] = []
    before = signal.getsignal(signal.SIGINT)
    people = LocalRandomness([True] * 4, 1)
    functions = [ran.append, interrupted, ran.append]
    with pytest.raises(KeyboardInterrupt) as raised:
        people.ask_at_once([(i, RandomizedResponse(1), of) for i, of in enumerate(functions)])
    # Its traceback shows nothing of the function, which knew the value, and the next function does not run.
    assert all(entry.name != "interrupted" for entry in raised.traceback) and raised.value.__context__ is None
    assert ran == [True] and [people.spent(i) for i in range(3)] == [1.0] * 3
    assert signal.getsignal(signal.SIGINT) is before
    assert people.ask(3, RandomizedResponse(1), bool) in (True, False)


def test_a_handler_that_raises_nothing_disturbs_nothing() -> None:
    heard: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
    try:
        people = LocalRandomness([True] * 2, 1)
        reports = people.ask_at_once([(i, RandomizedResponse(1), interrupted) for i in range(2)])
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(reports) == 2 and heard == [signal.SIGINT] * 2


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGALRM])
def test_what_a_handler_of_any_other_signal_raises_is_passed_on(number: signal.Signals) -> None:
    def ends(*_: Any) -> None:
        raise SystemExit("it is time")

    def interrupted_by(_: Any) -> bool:
        signal.raise_signal(number)
        return True

    before = signal.signal(number, ends)
    try:
        with pytest.raises(SystemExit, match="it is time"):
            LocalRandomness([True], 1).ask(0, RandomizedResponse(1), interrupted_by)
        assert signal.getsignal(number) is ends
    finally:
        signal.signal(number, before)


def test_a_function_cannot_change_what_is_asked_of_others() -> None:
    """The second report was paid with a thousandth, and by chance it is true as often as not: 2^-200."""
    tiny, truth = RandomizedResponse("1/1000"), RandomizedResponse(40)
    calls: list[Any] = []

    def changing(_: Any) -> bool:
        calls[1] = (1, truth, None)
        return True

    seconds = []
    for _ in range(200):
        calls[:] = [(0, tiny, changing), (1, tiny, None)]
        seconds.append(LocalRandomness([True] * 2, 1).ask_at_once(calls)[1])
    assert not all(seconds)


def test_calls_may_come_one_by_one() -> None:
    people = LocalRandomness([True] * 3, 1, interactive=False)
    assert len(people.ask_at_once((i, RandomizedResponse(1), None) for i in range(3))) == 3
    assert [people.spent(i) for i in range(3)] == [1.0] * 3


def test_values_are_counted_and_not_looked_up_by_labels() -> None:
    series = pd.Series([False, True, False, True])
    people = LocalRandomness(series[series], 40)
    assert [people.ask(i, RandomizedResponse(40)) for i in range(2)] == [True, True]
    for values in ({0: True}, {True}, 5):
        with pytest.raises(QueryError, match="takes a list or an array of people's values"):
            LocalRandomness(values, 1)  # type: ignore[arg-type]


def test_functions_run_in_any_thread() -> None:
    people = LocalRandomness([True] * 2, 1)
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(people.ask, 0, RandomizedResponse(1), told).result() in (True, False)


def test_a_function_of_a_value_cannot_ask_for_more() -> None:
    people = LocalRandomness([True, False], 1)
    people.ask(0, RandomizedResponse("1/2"), lambda _: people.ask(1, RandomizedResponse("1/2")))
    assert people.spent(0) == 0.5 and people.spent(1) == 0


def test_a_refusal_does_not_look_at_the_value_and_costs_nothing() -> None:
    values = Watched(True)
    people = LocalRandomness(values, "1/2")  # type: ignore[arg-type]
    with pytest.raises(BudgetError) as refused:
        people.ask(0, RandomizedResponse("3/4"))
    assert values.looked == 0
    assert people.spent(0) == 0.0
    assert float(refused.value.requested) == pytest.approx(0.75)
    assert refused.value.remaining == Fraction(1, 2)
    assert refused.value.excess > 0
    people.ask(0, RandomizedResponse("1/2"))
    assert values.looked == 1


def test_a_charge_is_recorded_before_the_value_is_looked_at() -> None:
    class Failing(Watched):
        def __getitem__(self, i: int) -> Any:
            raise OSError

    people = LocalRandomness(Failing(True), 1)  # type: ignore[arg-type]
    with pytest.raises(OSError):
        people.ask(0, RandomizedResponse(1))
    assert people.spent(0) == 1.0
    with pytest.raises(BudgetError):
        people.ask(0, RandomizedResponse("1/100"))


@pytest.mark.parametrize("randomizer", ["response", None, 1, [RandomizedResponse(1)]], ids=str)
def test_what_is_no_randomizer_is_refused_before_any_charge(randomizer: Any) -> None:
    oracle = LocalRandomness([True], epsilon=1)
    with pytest.raises(QueryError):
        oracle.ask(0, randomizer)
    assert oracle.spent(0) == 0


@pytest.mark.parametrize("call", [(0, RandomizedResponse(1)), (0,), 0, None], ids=str)
def test_a_call_has_three_parts(call: Any) -> None:
    oracle = LocalRandomness([True], epsilon=1)
    with pytest.raises(QueryError, match="a call is"):
        oracle.ask_at_once([(0, RandomizedResponse(1), None), call])
    assert oracle.spent(0) == 0


def test_people_have_budgets_of_their_own() -> None:
    people = LocalRandomness([True] * 3, 1)
    people.ask(1, RandomizedResponse(1))
    people.ask(2, RandomizedResponse("1/4"))
    assert [people.spent(i) for i in range(3)] == [0.0, 1.0, 0.25]
    people.ask(0, RandomizedResponse(1))


def test_rational_and_irrational_ratios_add_up() -> None:
    people = LocalRandomness([1.0], 1)
    people.ask(0, LaplaceReport(0, 1, "1/2"))
    people.ask(0, RandomizedResponse("1/4"))
    people.ask(0, LaplaceReport(0, 1, "1/8"))
    with pytest.raises(BudgetError):
        people.ask(0, LaplaceReport(0, 1, "1/7"))
    people.ask(0, PiecewiseReport(0, 1, "1/8"))
    assert people.spent(0) == pytest.approx(1.0, abs=1e-9)


def test_all_reports_of_a_person_together_are_epsilon_private() -> None:
    """The joint law of three reports is enumerated; the ratio is their product, and at most e^ε."""
    asked = [RandomizedResponse("1/2"), RandomizedResponse("1/3"), RandomizedResponse("1/6")]
    worst = max(
        math.prod(
            (r.pmf(w, True) / r.pmf(w, False) for r, w in zip(asked, reports, strict=True)), start=Fraction(1)
        )
        for reports in product((False, True), repeat=3)
    )
    assert worst == math.prod((r.ratio for r in asked), start=Fraction(1))
    assert at_most_power(worst, Fraction(1))
    people = LocalRandomness([True], 1)
    for randomizer in asked:
        people.ask(0, randomizer)


def test_a_report_is_of_a_function_of_the_value() -> None:
    """Each of 30 reports at ε = 40 is a lie with a chance of 5e-18."""
    people = LocalRandomness([{"age": 70}, {"age": 20}], 2000)
    old = [people.ask(i, RandomizedResponse(40), of=lambda row: row["age"] > 65) for i in (0, 1) * 15]
    assert old == [True, False] * 15


def test_values_may_be_pairs_numbers_and_codes() -> None:
    people = LocalRandomness([(1, np.array([0.5, 0.5]))], 3)
    assert people.ask(0, KeyedReport(2, [0, 0], [1, 1], 1)).shape == ()
    assert LocalRandomness(np.array([3, 4]), 1).ask(1, UnaryResponse(12, 1)).shape == (2,)


def test_a_race_does_not_overspend() -> None:
    people = LocalRandomness([True], 1)
    granted: list[bool] = []

    def ask() -> None:
        for _ in range(20):
            try:
                people.ask(0, RandomizedResponse("1/10"))
                granted.append(True)
            except BudgetError:
                pass

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(granted) == 10


@pytest.mark.parametrize("i", [-1, 2, 0.5, True, "0"])
def test_who_is_not_there_cannot_be_asked(i: Any) -> None:
    with pytest.raises(QueryError, match="number of a person"):
        LocalRandomness([1, 2], 1).ask(i, RandomizedResponse(1))


@pytest.mark.parametrize("epsilon", [0, -1, math.inf])
def test_epsilon_is_a_positive_number(epsilon: float) -> None:
    with pytest.raises(SulqError):
        LocalRandomness([1], epsilon)


def test_a_ratio_is_compared_with_a_power_to_the_last_digit() -> None:
    """Rational numbers that agree with e to 60 digits, on both sides: its series, cut off."""
    below, term = Fraction(0), Fraction(1)
    for k in range(1, 50):
        below += term
        term /= k
    assert at_most_power(below, Fraction(1))
    assert not at_most_power(below + 2 * term, Fraction(1))
    assert at_most_power(Fraction(1), Fraction(0))
    assert not at_most_power(Fraction(1), Fraction(-1, 10**30))
