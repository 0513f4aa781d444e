"""A conjunction that may keep bad literals errs as rarely as is bounded, whatever their rates and rows."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sulq
from sulq.plans.literals import Literals, _failing
from sulq.plans.mistakes import Blur
from sulq.privacy.noise import DiscreteLaplace
from tests.classes.laws import chance_of_at_least
from tests.effort import runs

D = 20
BITS = sulq.Schema({name: sulq.Boolean() for name in [*(f"x{j}" for j in range(D)), "y"]})
LITERALS = Literals(count=D, error=0.1, threshold=0.1 / D)
NOISE = Blur(DiscreteLaplace(D), step=1.0)

EACH = 0.1 / D
RATES = {
    "all bad": np.full(D, 1.001 * EACH),
    "half bad, twice as much": np.repeat([0.0, 2.001 * EACH], D // 2),
    "all good": np.zeros(D),
    "unequal": EACH * np.array([0.0] * 5 + [0.5] * 5 + [1.5] * 5 + [2.5] * 5),
    "one very bad": np.append(np.zeros(D - 1), 3 * EACH),
}


def failures(rows: int, rates: np.ndarray[Any, Any], together: bool, trials: int) -> int:
    """How often the target loses a literal, or bad ones are kept that cost too much.

    `together`: the rows that violate one literal violate all that are violated more often.
    """
    rng = np.random.default_rng(3)
    failed = 0
    for _ in range(trials):
        if together:
            violations = np.searchsorted(np.sort(rng.random(rows)), rates)
        else:
            violations = rng.binomial(rows, rates)
        noise = rng.geometric(-np.expm1(-1 / D), D) - rng.geometric(-np.expm1(-1 / D), D)
        kept = violations + noise <= rows * LITERALS.threshold
        failed += bool((~kept & (rates == 0)).any() or rates[kept].sum() > LITERALS.error)
    return failed


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("rates", RATES.values(), ids=RATES.keys())
@pytest.mark.parametrize("rows", [15_000, 21_300])
def test_it_fails_as_rarely_as_is_bounded(rows: int, rates: np.ndarray[Any, Any], together: bool) -> None:
    """False alarms below 1e-7 a case. At 15,000 rows literals that are all good fail in a fifth of the runs."""
    trials = runs(1000, least=300)
    assert (
        chance_of_at_least(failures(rows, rates, together, trials), trials, LITERALS.failing(rows, NOISE))
        > 1e-7
    )


def test_the_bound_is_not_idle() -> None:
    """The target's own literals fail nearly as often as is bounded: a bound of half of it would be caught."""
    trials = runs(1000, least=1000)
    failed = failures(15_000, RATES["all good"], False, trials)
    assert chance_of_at_least(failed, trials, LITERALS.failing(15_000, NOISE) / 2) < 1e-6


def test_more_rows_are_never_worse() -> None:
    """What is kept follows the noise, so the bound falls."""
    learner = sulq.Conjunction("y", error=Fraction(1, 10), share=1)
    for epsilon in (Fraction(1, 2), Fraction(4)):
        smallest = sulq.plan(learner, BITS, epsilon=epsilon).rows.tight
        assert smallest is not None
        for factor in (2, 5, 20):
            planned = sulq.plan(learner, BITS, epsilon=epsilon, rows=factor * int(smallest), error="0.1")
            assert planned.error.tight == 0.1, "no refusal"


def test_the_plan_for_twenty_literals_takes_half_the_rows_of_every_decision_being_right() -> None:
    learner = sulq.Conjunction("y", error=Fraction(1, 10))
    tight = sulq.plan(learner, BITS, epsilon=1)
    paper = sulq.plan(sulq.Conjunction("y", error=Fraction(1, 10), keep="paper"), BITS, epsilon=1)
    assert tight.rows.tight == 21_293
    assert paper.rows.tight == 44_776
    assert tight.rows.paper == paper.rows.paper
    assert tight.tolerances == paper.tolerances


@pytest.mark.parametrize("bins", [64, 1024])
def test_bins_of_violations_cost_few_rows(bins: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Coarser bins raise the bound, and by little."""
    noise = Blur(DiscreteLaplace(2000), step=1.0)
    _failing.cache_clear()
    monkeypatch.setattr("sulq.plans.literals.BINS", 2**20)
    each, more = (LITERALS.failing(rows, noise) for rows in (2_120_000, 2_100_000))
    _failing.cache_clear()
    monkeypatch.setattr("sulq.plans.literals.BINS", bins)
    assert each * (1 - 1e-3) <= LITERALS.failing(2_120_000, noise) < more
    _failing.cache_clear()


@pytest.mark.parametrize("epsilon", ["1e-6", "1e-9"])
def test_a_tiny_epsilon_is_planned_without_a_list_of_all_numbers_of_violations(epsilon: str) -> None:
    """Noise outweighs the rows' own straying, so rows grow as 1/ε does."""
    learner = sulq.Conjunction("y", error=Fraction(1, 10))
    rows = sulq.plan(learner, BITS, epsilon=epsilon).rows.tight
    assert float(rows) * float(epsilon) == pytest.approx(21_193, rel=1e-3)


def people(rows: int, bad: float, rng: np.random.Generator) -> sulq.Source:
    """The label is x0 = … = x9. The ten others fail on so many of all rows, where the label is true."""
    label = rng.random(rows) < 0.5
    columns = {f"x{j}": label if j < D // 2 else label & (rng.random(rows) >= 2 * bad) for j in range(D)}
    return sulq.open(columns | {"y": label}, BITS, threads=1)


@pytest.mark.parametrize("bad", [0.0, 0.0101])
def test_the_learner_succeeds_as_often_as_is_promised_at_the_planned_rows(bad: float) -> None:
    """False alarms below 1e-7. At a third of the rows it fails in most of the runs, so the test can fail."""
    learner = sulq.Conjunction("y", error=Fraction(1, 10), share=1)
    rng, trials = np.random.default_rng(5), runs(100, least=25)

    def failed(rows: int) -> int:
        count = 0
        for _ in range(trials):
            rule = learner.learn(people(rows, bad, rng).curator(epsilon=1))
            kept = set(rule.describe().split(" and "))
            good = {f"x{j}" for j in range(D // 2 if bad else D)}
            count += not good <= kept or bad * len(kept - good) > 0.1
        return count

    assert chance_of_at_least(failed(21_293), trials, 0.05) > 1e-7
    if not bad:
        assert chance_of_at_least(failed(7_000), trials, 0.05) < 1e-7


def test_what_is_kept_follows_the_noise_between_half_and_all_of_error_by_d() -> None:
    learner = sulq.Conjunction("y", error=Fraction(1, 10), share=1)

    def most(parameter: int, **changes: Any) -> float:
        law = sulq.talk.laws.Noise("laplace", Fraction(parameter), Fraction(1), 1).times(1e-4)
        return sulq.Conjunction("y", error=Fraction(1, 10), **({"share": 1} | changes)).most(D, law)

    assert most(1) == 0.0025
    assert 0.0025 < most(7) < 0.005
    assert most(100) == 0.005
    assert most(100, keep="paper") == most(100, share=None) == 0.0025
    assert learner.most(D, sulq.talk.laws.Exactly()) == 0.0025
    with pytest.raises(sulq.QueryError, match="keep is 'tight' or 'paper'"):
        sulq.Conjunction("y", keep="half", share=1).learn(people(100, 0.0, np.random.default_rng(0)).exact())  # type: ignore[arg-type]


def test_a_literal_is_dropped_only_by_noise_beyond_the_whole_number_that_it_may_add() -> None:
    """Noise of just that number keeps it: counted as dropped, it made plans jump up where ε grows."""
    noise, rows = DiscreteLaplace(2), 100_000
    r = noise.radius(0.01)
    literals = Literals(2, 1.0, (r + 0.5) / rows, whole=True)
    assert literals.failing(rows, Blur(noise, step=1.0)) == pytest.approx(noise.tail(r), rel=1e-6)


@pytest.mark.parametrize(("smaller", "larger"), [(4, Fraction(9, 2)), (5, 6)])
def test_more_epsilon_needs_no_more_rows(smaller: Fraction, larger: Fraction) -> None:
    schema = sulq.Schema({f"x{i}": sulq.Boolean() for i in range(20)} | {"y": sulq.Boolean()})
    learner = sulq.Conjunction("y", error=Fraction(1, 10))
    rows = [sulq.plan(learner, schema, epsilon=epsilon).rows.tight for epsilon in (smaller, larger)]
    assert rows[1] < rows[0]
