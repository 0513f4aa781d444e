"""The SuLQ paper's own noise, its limit on the number of queries, and emulation by repetition."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sulq
from sulq.privacy.conversion import rho_of
from sulq.privacy.finer import FinerGaussian
from sulq.privacy.noise import DiscreteGaussian, DiscreteLaplace
from sulq.privacy.repeated import times_of
from sulq.privacy.sulq import SulqGaussian, SulqLaplace
from sulq.privacy.terms import SumFacts
from sulq.serve.trial import trial
from sulq.theory.emulation import repetitions
from tests.oracles.curators import people, terms

col = sulq.col


@pytest.mark.parametrize("queries", [10, 100, 1000])
def test_the_papers_noise_and_ours(queries: int) -> None:
    """R > 8T·ln²(T/δ)/ε² for δ = 1e-6, ε = 1; ρ accounting needs T/2ρ, and exact accounting 6 % less."""
    paper = SulqGaussian(1, "1e-6", queries).variance
    assert float(paper) == pytest.approx(8 * queries * math.log(queries / 1e-6) ** 2, rel=1e-9)
    assert paper > 8 * queries * math.log(queries / 1e-6) ** 2
    ours = Fraction(queries) / (2 * rho_of(1, Fraction(1, 10**6)))
    assert ours < paper / 90
    one = sulq.Round([sulq.count(where=col("a"))], share=Fraction(1, queries))
    [zcdp] = terms(people().curator(epsilon=1, delta=1e-6, calibration="zcdp"), one).noises
    [tight] = terms(people().curator(epsilon=1, delta=1e-6), one).noises
    assert isinstance(zcdp, DiscreteGaussian) and isinstance(tight, DiscreteGaussian | FinerGaussian)
    assert float(zcdp.variance) == pytest.approx(float(ours), rel=1e-6)
    rounds = Fraction(4, times_of(tight) ** 2)
    assert float(tight.variance - rounds) == pytest.approx(float(ours) / 1.0681, rel=1e-3)
    [printed] = terms(
        people().curator(epsilon=1, delta=1e-6, calibration="sulq-gaussian", queries=queries), one
    ).noises
    assert printed.variance == paper
    [laplace] = terms(people().curator(epsilon=1, calibration="sulq-laplace", queries=queries), one).noises
    assert laplace == DiscreteLaplace(SulqLaplace(1, queries).scale)
    assert laplace.scale > queries


def test_the_papers_limit_on_the_number_of_queries_is_enforced() -> None:
    curator = people().curator(epsilon=1, calibration="sulq-laplace", queries=12)
    curator.ask(sulq.Round([sulq.count(by="age")]))
    assert curator.spent == 10
    curator.ask(sulq.Round([sulq.count()]), run="the number of rows is public")
    assert curator.spent == 10
    curator.ask(sulq.Round([sulq.count(where=col("a")), sulq.total(col("pay"))]))
    with pytest.raises(sulq.BudgetError, match="queries = 1 exceeds what is left, 0"):
        curator.ask(sulq.Round([sulq.count(where=col("b"))]))
    with pytest.raises(sulq.QueryError, match="sums only"):
        curator.ask(sulq.Round([sulq.choose(["a"], label="y")]))
    with pytest.raises(sulq.BudgetError, match="exceeds what is left, 0"):
        curator.ask(sulq.Round([sulq.count(where=col("a"), tolerance=9, beta=0.1)]))


@pytest.mark.parametrize("settings", [{}, {"queries": 9}, {"queries": 9, "delta": "1e-6"}], ids=str)
def test_a_calibration_that_there_is_not_is_told_which_there_are(settings: dict[str, object]) -> None:
    with pytest.raises(sulq.QueryError, match=r"calibrations are 'tight', .* not 'sulq_gaussian'"):
        people().curator(epsilon=1, calibration="sulq_gaussian", **settings)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"calibration": "sulq-gaussian"}, "for epsilon with delta: state both"),
        ({"calibration": "sulq-laplace", "delta": "1e-6"}, "for epsilon without delta: leave it out"),
    ],
    ids=str,
)
def test_a_calibration_says_whether_it_has_a_delta(settings: dict[str, Any], told: str) -> None:
    with pytest.raises(sulq.QueryError, match=told):
        people().curator(epsilon=1, queries=9, **settings)


def test_other_ranges_than_the_papers_stretch_its_noise() -> None:
    curator = people().curator(epsilon=1, calibration="sulq-laplace", queries=10)
    count, pay = terms(curator, sulq.Round([sulq.count(where=col("a")), sulq.total(col("pay"))])).noises
    assert pay.scale == count.scale * 100 * 2**23  # a real to 100 has 23 bits after the point


PAPERS = [
    {"calibration": "sulq-laplace", "queries": 10},
    {"calibration": "sulq-gaussian", "delta": 1e-6, "queries": 10},
]


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper["calibration"])
@pytest.mark.parametrize(
    ("kind", "rows", "furthest"),
    [
        (sulq.Boolean(), 1, 1),
        (sulq.Boolean(), 5, 5),
        (sulq.Real(5, 6), 1, 1),  # one row is exchanged for another
        (sulq.Real(5, 6), 3, 18),  # three rows come or go
        (sulq.Real(-2, 6), 2, 16),  # two rows are exchanged
    ],
)
def test_the_papers_noise_is_stretched_by_how_far_a_person_moves_a_query(
    paper: dict[str, object], kind: sulq.Real | sulq.Boolean, rows: int, furthest: int
) -> None:
    schema = sulq.Schema({"x": kind}, None if rows == 1 else sulq.Unit("person", rows))
    source = sulq.open({"x": [5.5] * 6, "person": [1, 1, 1, 2, 2, 2]}, schema)
    curator = source.curator(epsilon=1, **paper)
    [noise] = terms(curator, sulq.Round([sulq.total(col("x"))])).noises
    step = source.scope.number(col("x")).unit
    if isinstance(noise, DiscreteLaplace):
        assert noise.scale * step == SulqLaplace(1, 10).scale * furthest
    else:
        assert noise.variance * step**2 == SulqGaussian(1, 1e-6, 10).variance * furthest**2


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper["calibration"])
def test_a_ledger_is_for_one_epsilon_exactly(paper: dict[str, object], tmp_path: Path) -> None:
    """Its budget is a number of queries, and in words ε is rounded."""
    people().curator(epsilon=1, **paper, ledger=tmp_path / "ledger").ledger.close()
    people().curator(epsilon=1, **paper, ledger=tmp_path / "ledger").ledger.close()
    with pytest.raises(sulq.errors.LedgerError, match="made for something else"):
        people().curator(epsilon="1.0000049", **paper, ledger=tmp_path / "ledger")


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper["calibration"])
def test_the_papers_answers_are_no_closer_than_the_tight_ones_where_people_have_several_rows(
    paper: dict[str, object],
) -> None:
    asked = sulq.Round([sulq.count(where=col("bought_drugs"))], share=1)
    delta = {key: value for key, value in paper.items() if key == "delta"}
    [printed] = sulq.randhie().curator(epsilon=1, **paper).error(asked, 0.05)
    [tight] = sulq.randhie().curator(epsilon=1, **delta).part("1/10").error(asked, 0.05)
    assert printed is not None and tight is not None
    assert printed >= tight * 0.999


@pytest.mark.parametrize(
    ("epsilon", "delta", "queries", "condition"),
    [
        (1, "0.9", 1, "variance R of at least 4"),
        ("0.1", "0.9", 1, "does not hold for a delta of 0.9"),
        ("0.05", "0.9", 1, "does not hold for a delta of 0.9"),
        ("0.3", "0.6", 1, "does not hold for a delta of 0.6"),
        (100, "1e-6", 10, "variance R of at least 4"),
        (5, "0.1", 1, "variance R of at least 4"),
    ],
)
def test_theorem_1_is_not_used_where_its_proof_fails(
    epsilon: float | str, delta: str, queries: int, condition: str
) -> None:
    with pytest.raises(sulq.QueryError, match=condition):
        SulqGaussian(epsilon, delta, queries)


@pytest.mark.parametrize("epsilon", ["0.01", "0.1", "0.5", 1, 2, 5, 10])
@pytest.mark.parametrize("delta", ["0.5", "0.3", "0.1", "1e-3", "1e-9", "1e-400"])
@pytest.mark.parametrize("queries", [1, 2, 10, 1000])
def test_where_theorem_1_is_used_its_promise_holds(epsilon: float, delta: str, queries: int) -> None:
    """The loss of T answers is normal with mean T/2R and variance T/R at worst: its two tails beyond ε."""
    try:
        paper = SulqGaussian(epsilon, delta, queries)
    except sulq.QueryError:
        return
    mu = math.sqrt(queries / float(paper.variance))
    beyond = [math.erfc((float(epsilon) / mu + side * mu / 2) / math.sqrt(2)) / 2 for side in (-1, 1)]
    assert sum(beyond) <= float(Fraction(delta)) or float(Fraction(delta)) == 0 == sum(beyond)


def test_statistical_queries_are_emulated_by_repetition() -> None:
    source = people(20_000)
    truth = source.exact().ask(sulq.Round([sulq.mean(col("pay"))]))[0].value
    for settings in ({"calibration": "sulq-laplace"}, {"calibration": "sulq-gaussian", "delta": 1e-6}):
        curator = source.curator(epsilon=100, queries=1000, **settings)
        answer = sulq.theory.emulated(curator, sulq.mean(col("pay")), tolerance=0.5, beta=1e-6)
        assert abs(answer - truth) <= 0.5
        spent = curator.spent
        assert spent >= 1
        assert sulq.theory.emulated(curator, sulq.mean(col("pay")), tolerance=0.5, beta=1e-6) == answer
        assert curator.spent == spent, "asked again, it is answered from the ledger"
        with pytest.raises(sulq.BudgetError):
            sulq.theory.emulated(curator, sulq.mean(col("pay")), tolerance=1e-4, beta=1e-6)
        assert curator.spent == spent
    with pytest.raises(sulq.QueryError, match="state a tolerance instead"):
        sulq.theory.emulated(source.curator(epsilon=1), sulq.mean(col("pay")), 0.5, 0.1)
    with pytest.raises(sulq.QueryError, match="mean of a single number"):
        sulq.theory.emulated(curator, sulq.total(col("pay")), 0.5, 0.1)


def test_what_repetition_brings_no_closer_to_the_truth_is_refused() -> None:
    """A mean over the rows that have the cell is a ratio of two sums; what is cut off does not average out."""
    dropped = sulq.open({"x": [0.5, None] * 50}, {"x": sulq.Real(0, 1, drop_missing=True)})
    paper: dict[str, Any] = {"epsilon": 100, "calibration": "sulq-laplace", "queries": 1000}
    curator = dropped.curator(**paper)
    with pytest.raises(sulq.QueryError, match="none is left out for a missing cell"):
        sulq.theory.emulated(curator, sulq.mean("x"), 0.5, 0.1)
    assert curator.spent == 0
    with_none = sulq.mean(sulq.where(sulq.known("x"), "x", 0))
    assert abs(sulq.theory.emulated(curator, with_none, 0.5, 1e-6) - 0.25) <= 0.5
    truncating = people().curator(**paper, truncate=True)
    with pytest.raises(sulq.QueryError, match="truncate=False"):
        sulq.theory.emulated(truncating, sulq.mean(col("pay")), 50, 0.1)
    assert truncating.spent == 0
    for no_mean in (
        sulq.choose(["a", "b"], label="y"),
        sulq.mean("pay", by="y"),
        sulq.mean(col("y"), where="a"),
    ):
        with pytest.raises(sulq.QueryError, match="mean of a single number"):
            sulq.theory.emulated(people().curator(**paper), no_mean, 50, 0.1)  # type: ignore[arg-type]


def test_a_curator_elsewhere_is_asked_again_and_again_too() -> None:
    curator = people().curator(epsilon=100, calibration="sulq-laplace", queries=50)
    with trial(people=curator) as (url, key):
        remote = sulq.connect(url, key, "people")
        answer = sulq.theory.emulated(remote, sulq.mean(col("pay")), tolerance=50, beta=0.1)
        assert remote.spent >= 1
        assert sulq.theory.emulated(remote, sulq.mean(col("pay")), tolerance=50, beta=0.1) == answer


def test_repetitions_are_enough_and_those_printed_are_not() -> None:
    """300 emulations at β = 0.2 miss at most 100 times (a false alarm of 1e-7 if they miss as they may).

    As printed, τ = 0.05 is taken for a variance, and far too few are asked for.
    """
    for calibration in (SulqGaussian(2, "1e-3", 50), SulqLaplace(2, 50)):
        step, one = Fraction(1, 2**10), Fraction(1)
        for as_printed in (False, True):
            times = repetitions(calibration, 2000, 0.01, 0.2, as_printed)
            [noise] = calibration.for_cost(
                [SumFacts(step, 1, moves1=one, moves2=one, size=one, reach=one, weight=one)], [], None
            ).noises
            averages = noise.sample(300 * times).reshape(300, times).mean(axis=1) * float(step) / 2000
            misses = int((np.abs(averages) > 0.01).sum())
            assert (misses <= 100) != as_printed


def test_emulation_says_nothing_of_a_number_of_rows_that_is_not_public() -> None:
    rows = {"who": np.repeat(np.arange(321), 2), "pay": np.full(642, 7.0)}
    schema = sulq.Schema({"pay": sulq.Real(0, 100)}, sulq.Unit("who", rows=2))
    for budget in ({"calibration": "sulq-laplace"}, {"calibration": "sulq-gaussian", "delta": 1e-6}):
        curator = sulq.open(rows, schema).curator(epsilon=1, queries=1000, **budget)
        for tolerance in (1e-5, 0.1, 10):
            with pytest.raises(sulq.QueryError, match="not public") as refused:
                sulq.theory.emulated(curator, sulq.mean(col("pay")), tolerance, 0.1)
            assert "642" not in str(refused.value) and curator.spent == 0


@pytest.mark.parametrize(
    "paper", [{"calibration": "sulq-laplace"}, {"calibration": "sulq-gaussian", "delta": "1e-6"}], ids=str
)
def test_a_tolerance_beyond_all_noise_takes_one_answer(paper: dict[str, Any]) -> None:
    curator = people().curator(epsilon=1, queries=10, **paper)
    for tolerance in (10**20, 10**308):
        assert curator.cost(sulq.Round([sulq.mean("pay", tolerance=tolerance, beta="0.1")])) == 1
    with pytest.raises(sulq.QueryError, match="beta must be"):
        curator.cost(sulq.Round([sulq.mean("pay", tolerance="0.1", beta="1e-600")]))


def test_what_no_repetition_reaches_is_refused() -> None:
    for paper in (SulqLaplace(1, 10), SulqGaussian(1, "1e-6", 10)):
        with pytest.raises(sulq.QueryError, match="too many repetitions"):
            repetitions(paper, 1000, "1e-200", 0.1)
    empty = sulq.open({"pay": np.empty(0)}, {"pay": sulq.Real(0, 100)})
    curator = empty.curator(epsilon=1, calibration="sulq-laplace", queries=10)
    with pytest.raises(sulq.QueryError, match="no rows"):
        sulq.theory.emulated(curator, sulq.mean(col("pay")), 0.5, 0.1)
