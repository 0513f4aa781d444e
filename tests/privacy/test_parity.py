"""The parity mechanism: exactly as private as it says, and right as often as it promises."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

from sulq.classes.sizes import bottom_rate, joint_rate, parity_plan, parity_rows, sampling_rate
from sulq.privacy.gf2 import Bits, Words, equations, packed_vector, products, solve
from sulq.privacy.parity import Attempts, ParityMechanism, best_of, first_of
from sulq.queries.query import Neighbours
from tests.classes.laws import (
    BOTTOM,
    Law,
    Row,
    all_rows,
    chance_of_at_least,
    law_of_a,
    law_of_attempts,
    worst_ratio,
)


def replaced(table: tuple[Row, ...], bits: int) -> list[tuple[Row, ...]]:
    return [
        (*table[:i], row, *table[i + 1 :])
        for i in range(len(table))
        for row in all_rows(bits)
        if row != table[i]
    ]


def worst_replacement(bits: int, rows: int, law_of: Callable[..., Law]) -> tuple[float, float]:
    """The largest ratio of any outcome, and of ⊥, over all pairs of tables that differ in one row."""
    laws = {table: law_of(table, bits) for table in itertools.product(all_rows(bits), repeat=rows)}
    pairs = [(law, laws[other]) for table, law in laws.items() for other in replaced(table, bits)]
    bottoms = [max(a[BOTTOM] / b[BOTTOM], b[BOTTOM] / a[BOTTOM]) for a, b in pairs]
    return max(worst_ratio(a, b) for a, b in pairs), max(bottoms)


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 2.0])
@pytest.mark.parametrize(("bits", "rows"), [(1, 1), (1, 3), (2, 2), (3, 2)])
def test_no_outcome_gives_a_replaced_row_away_beyond_epsilon(bits: int, rows: int, epsilon: float) -> None:
    p, q = sampling_rate(epsilon), bottom_rate(epsilon)
    worst, bottom = worst_replacement(bits, rows, partial(law_of_a, p=p, q=q))
    assert worst == pytest.approx(math.exp(epsilon), rel=1e-12), "it is met with equality"
    assert bottom == pytest.approx(math.exp(epsilon), rel=1e-12), "by ⊥ too"
    slightly_more, _ = worst_replacement(bits, rows, partial(law_of_a, p=1.01 * p, q=q))
    assert slightly_more > math.exp(epsilon) * (1 + 1e-4), "a larger p is caught"
    _, likelier = worst_replacement(bits, rows, partial(law_of_a, p=p, q=0.99 * q))
    assert likelier > math.exp(epsilon) * (1 + 1e-5), "a smaller q is caught"


@pytest.mark.parametrize("mean", [1.0, 3.0, 8.0])
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 2.0])
@pytest.mark.parametrize(("bits", "rows"), [(1, 1), (1, 3), (2, 2), (3, 2)])
def test_attempts_do_not_give_a_replaced_row_away_beyond_epsilon(
    bits: int, rows: int, epsilon: float, mean: float
) -> None:
    p = joint_rate(epsilon, mean)
    worst, _ = worst_replacement(bits, rows, partial(law_of_attempts, p=p, mean=mean))
    assert worst <= math.exp(epsilon) * (1 + 1e-12)
    if mean * p == pytest.approx(epsilon, rel=1e-12):  # ⊥ meets the bound, on tables as small as these
        assert worst == pytest.approx(math.exp(epsilon), rel=1e-12)
        more, _ = worst_replacement(bits, rows, partial(law_of_attempts, p=1.01 * p, mean=mean))
        assert more > math.exp(epsilon) * (1 + 1e-4), "a larger p is caught"


@pytest.mark.parametrize(("epsilon", "mean"), [(0.5, 1.5), (2.0, 3.0)])
def test_a_larger_p_of_attempts_is_caught_where_a_parity_gives_most_away(epsilon: float, mean: float) -> None:
    """All rows say that the bit is the label. One of them is replaced by one that says that it is not.

    An attempt that takes none of the others says "never" half of the time, or always if it takes the one. With
    many rows there are few such attempts, and the bound of the proof is met: here to 1 part in 10,000.
    """

    def never(p: float, others: int, agrees: bool) -> float:
        alone = (1 - p) ** others
        says, anything = (alone * (1 - p) / 2, 1.0) if agrees else (alone * (1 + p) / 2, 1 - p * (1 - alone))
        return says * -math.expm1(-mean * anything) / anything

    p = joint_rate(epsilon, mean)
    for agrees in (True, False):  # the same by enumeration
        table = (((1,), 1),) * 5 + (((1,), int(agrees)),)
        assert law_of_attempts(table, 1, p, mean)[0,] == pytest.approx(never(p, 5, agrees), rel=1e-9)

    def ratio(p: float) -> float:
        return never(p, 80, agrees=False) / never(p, 80, agrees=True)

    assert mean * p < 0.999 * epsilon, "⊥ is not what binds"
    assert math.exp(epsilon) * 0.9999 < ratio(p) <= math.exp(epsilon) * (1 + 1e-12)
    assert ratio(1.01 * p) > math.exp(epsilon) * (1 + 1e-3)


@pytest.mark.parametrize("mean", [1.0, 3.0])
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 2.0])
def test_attempts_do_not_give_away_that_a_row_came_or_went(epsilon: float, mean: float) -> None:
    def worst(p: float) -> float:
        return max(
            worst_ratio(law, law_of_attempts((*table, row), 2, p, mean))
            for table in itertools.combinations_with_replacement(all_rows(2), 2)
            for law in [law_of_attempts(table, 2, p, mean)]
            for row in all_rows(2)
        )

    p = joint_rate(epsilon, mean, "add-remove")
    assert worst(p) <= math.exp(epsilon) * (1 + 1e-12)
    if mean * p == pytest.approx(epsilon, rel=1e-12):
        assert worst(1.01 * p) > math.exp(epsilon) * (1 + 1e-4)


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
@pytest.mark.parametrize("epsilon", ["1/1000", "1/2", "3", "40"])
@pytest.mark.parametrize("mean", ["1/100", "1", "7/2", "60"])
def test_the_rate_that_is_used_is_the_planned_one_rounded_down(
    epsilon: str, mean: str, neighbours: Neighbours
) -> None:
    exact = Attempts(Fraction(epsilon), Fraction(mean), neighbours).rate
    assert float(exact) == pytest.approx(
        joint_rate(float(Fraction(epsilon)), float(Fraction(mean)), neighbours)
    )
    assert exact * Fraction(mean) <= Fraction(epsilon)


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 2.0])
def test_no_outcome_gives_away_that_a_row_came_or_went(epsilon: float) -> None:
    def worst(p: float) -> float:
        return max(
            worst_ratio(law_of_a(table, 2, p, q), law_of_a((*table, row), 2, p, q))
            for table in itertools.product(all_rows(2), repeat=2)
            for row in all_rows(2)
        )

    p, q = sampling_rate(epsilon, neighbours="add-remove"), bottom_rate(epsilon, neighbours="add-remove")
    assert worst(p) <= math.exp(epsilon) * (1 + 1e-12)
    assert worst(1.01 * p) > math.exp(epsilon) * (1 + 1e-4)


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 2.0])
def test_the_papers_rate_is_private_too_and_wastes_some_of_epsilon(epsilon: float) -> None:
    worst, _ = worst_replacement(2, 2, partial(law_of_a, p=sampling_rate(epsilon, "paper")))
    assert worst <= math.exp(epsilon)
    assert worst < math.exp(0.9 * epsilon)


def test_skipping_the_first_step_is_caught() -> None:
    """Without the 1/2 of step 1 the chance of ⊥ is nothing on one table and something on its neighbour."""
    p = sampling_rate(0.5)

    def without(table: tuple[Row, ...]) -> dict[Any, float]:
        law = {said: 2 * chance for said, chance in law_of_a(table, 1, p).items()}
        law[BOTTOM] -= 1
        return {said: chance for said, chance in law.items() if chance > 1e-12}

    agree, differ = (((1,), 1), ((1,), 1)), (((1,), 1), ((1,), 0))
    assert worst_ratio(without(agree), without(differ)) == math.inf


@pytest.mark.parametrize(
    ("sampling", "neighbours"), [("tight", "replace"), ("paper", "replace"), ("tight", "add-remove")]
)
def test_what_is_released_has_the_law_that_was_enumerated(sampling: Any, neighbours: Neighbours) -> None:
    """6000 runs and at most 5 outcomes; 6.5 deviations either way are a chance below 1e-9 in all.

    A probability that is off by 0.042 is caught.
    """
    table = (((1, 0), 1), ((1, 1), 0), ((0, 1), 0))
    given = equations(
        np.array([x for x, _ in table], dtype=bool).T, np.array([y for _, y in table], dtype=bool)
    )
    mechanism = ParityMechanism(Fraction(1), sampling, neighbours)
    law = law_of_a(table, 2, sampling_rate(1.0, sampling, neighbours), bottom_rate(1.0, sampling, neighbours))
    law_is_met(mechanism.release, given, law)


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_what_attempts_release_has_the_law_that_was_enumerated(neighbours: Neighbours) -> None:
    """As above; the table's labels are no parity, so some attempts fail."""
    table = (((1, 0), 1), ((1, 1), 0), ((0, 1), 0))
    given = equations(
        np.array([x for x, _ in table], dtype=bool).T, np.array([y for _, y in table], dtype=bool)
    )
    attempts = Attempts(Fraction(2), Fraction(3, 2), neighbours)
    law_is_met(attempts.release, given, law_of_attempts(table, 2, float(attempts.rate), 1.5))


def law_is_met(release: Callable[..., Bits | None], given: Words, law: Law) -> None:
    runs = 6000
    said = [release(given, 2) for _ in range(runs)]
    seen = Counter(BOTTOM if mask is None else tuple(mask.astype(int).tolist()) for mask in said)
    assert seen.keys() <= law.keys()
    for outcome, chance in law.items():
        assert abs(seen[outcome] - runs * chance) <= 6.5 * math.sqrt(runs * chance * (1 - chance))


@pytest.mark.parametrize(
    ("sampling", "neighbours"), [("tight", "replace"), ("paper", "replace"), ("tight", "add-remove")]
)
def test_rows_are_taken_at_the_rate_that_is_claimed(sampling: Any, neighbours: Neighbours) -> None:
    """A million coins; 6.5 deviations are a chance below 1e-10, and a rate 1.5 % too large is caught."""
    rate = sampling_rate(0.5, sampling, neighbours)
    taken = int(ParityMechanism(Fraction(1, 2), sampling, neighbours).sample(10**6).sum())
    assert abs(taken - 10**6 * rate) < 6.5 * math.sqrt(10**6 * rate * (1 - rate))
    assert 6.5 * math.sqrt(rate * (1 - rate) / 10**6) < 0.02 * rate


def drawn(rows: int, bits: int, ones: float, rng: np.random.Generator) -> tuple[Bits, Bits, Bits]:
    x, target = rng.random((bits, rows)) < ones, rng.random(bits) < 0.5
    return x, np.bitwise_xor.reduce(x[target], axis=0), target


@pytest.mark.parametrize("sparse", [1, 4])
def test_it_is_right_as_often_as_promised_at_the_promised_number_of_rows(sparse: int) -> None:
    """d = 64, α = β = 0.05, ε = 0.5; 150 tables of fresh rows, their bits 1 with probability 2^-sparse.

    Where bits are mostly 0, a parity that is wrong about one feature errs on just 1/16. The test fails with
    a chance below 1e-7 if one table in twenty fails, and nearly always if one in five does.
    """
    rng = np.random.default_rng(5)
    error, beta, epsilon = 0.05, 0.05, Fraction(1, 2)
    plan = parity_plan(64, error, beta, float(epsilon))
    assert plan.rows <= 6100
    attempts = Attempts(epsilon, Fraction(plan.runs))
    failures = 0
    for _ in range(150):
        words = rng.integers(0, 2**64, (sparse, plan.rows, 1), dtype=np.uint64)
        x, target = np.bitwise_and.reduce(words, axis=0), rng.random(64) < 0.5
        labels = products(x, packed_vector(target))[:, np.newaxis]
        found = attempts.release(np.hstack([x, labels.astype(np.uint64)]), 64)
        # Two parities differ on a row if an odd number of its bits are among those they differ in.
        apart = 0 if found is None else np.count_nonzero(found ^ target)
        failures += found is None or (1 - (1 - 2 * 2.0**-sparse) ** apart) / 2 > error
    assert chance_of_at_least(failures, 150, beta) > 1e-7
    assert chance_of_at_least(30, 150, beta) < 1e-7


def test_tanh_needs_about_half_the_rows_of_the_paper() -> None:
    """How many rows until the equations in S have full rank, at ε = 1/2: the mean of 40 tables each.

    In theory the ratio is tanh(1/4)/(1/8) = 1.96, and its estimate has a deviation of 0.05.
    """
    rng = np.random.default_rng(6)

    def equations_until_solved() -> int:
        x, y, _ = drawn(130, 64, 0.5, rng)
        given, low, high = equations(x, y), 64, 130
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if solve(given[:middle], 64).rank == 64 else (middle + 1, high)
        return low

    def mean_rows(sampling: Any) -> float:
        taken = [np.flatnonzero(ParityMechanism(Fraction(1, 2), sampling).sample(2000)) for _ in range(40)]
        return float(np.mean([1 + places[equations_until_solved() - 1] for places in taken]))

    ratio = mean_rows("paper") / mean_rows("tight")
    assert 1.65 < ratio < 2.27


def test_repeating_as_the_paper_does_works_and_takes_fifteen_times_the_rows() -> None:
    """It fails with a chance of 2^-40 or so; six runs with ε/6 each are promised to fail in one of twenty."""
    rng = np.random.default_rng(9)
    assert 15 < parity_rows(64, 0.05, 0.05, 0.5, "paper") / parity_rows(64, 0.05, 0.05, 0.5) < 15.5
    x, y, target = drawn(4000, 10, 0.5, rng)
    found = first_of(ParityMechanism(Fraction(2), "paper"), equations(x, y), 10, 40)
    assert found is not None and (found == target).all()


def test_the_best_on_a_test_set_is_chosen() -> None:
    """With ε = 8 a run that does not stop finds the target; all 40 runs stop with a chance of 1e-12."""
    rng = np.random.default_rng(7)
    x, y, target = drawn(20_000, 10, 0.5, rng)
    found = best_of(ParityMechanism(Fraction(8)), equations(x, y), 10, 40, 2000)
    assert found is not None
    assert (found == target).all()


def test_the_parity_with_the_fewest_mistakes_on_the_test_set_is_chosen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The right one leads by hundreds of rows, so another is chosen with a chance below 1e-100."""
    rng = np.random.default_rng(8)
    x, y, target = drawn(4000, 10, 0.5, rng)
    said = iter([~target, None, target, np.roll(~target, 1)])
    monkeypatch.setattr(ParityMechanism, "release", lambda *_: next(said))
    found = best_of(ParityMechanism(Fraction(2)), equations(x, y), 10, 4, 2000)
    assert found is target
