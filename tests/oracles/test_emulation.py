"""Learners that state tolerances run on a SuLQ database by repetition, and T is known before the first query."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sulq
from sulq.learners.learner import Learner
from sulq.privacy.noise import DiscreteGaussian, DiscreteLaplace
from sulq.privacy.repeated import RepeatedNoise, repetitions
from sulq.privacy.sulq import SulqGaussian, SulqLaplace
from sulq.queries.rounds import numbers_of
from sulq.talk.answers import Answer
from sulq.talk.laws import MeanOfNoise
from sulq.theory.emulation import emulation_rows
from tests.effort import runs
from tests.oracles.curators import SCHEMA, people, terms

col = sulq.col
PAPERS: list[dict[str, Any]] = [
    {"calibration": "sulq-laplace"},
    {"calibration": "sulq-gaussian", "delta": "1e-6"},
    {"calibration": "sulq-gaussian", "delta": "5e-7", "gamma": "5e-7"},
]
NAMES = [f"{paper['calibration']}{' by Theorem 4' if 'gamma' in paper else ''}" for paper in PAPERS]


def bits(rows: int, columns: int = 4) -> sulq.Source:
    """Rows in which every combination is as frequent as any other; y is x0 and x1."""
    places = np.arange(rows)
    table: dict[str, Any] = {f"x{j}": (places >> j) % 2 == 1 for j in range(columns)}
    table["y"] = table["x0"] & table["x1"]
    return sulq.open(table, {name: sulq.Boolean() for name in table})


@pytest.mark.parametrize("paper", PAPERS, ids=NAMES)
def test_a_conjunction_is_learned_on_a_sulq_database(paper: dict[str, Any]) -> None:
    """At a confidence of 1 − 10⁻⁷, which is the false alarm rate."""
    learner = sulq.Conjunction("y", error=0.2, confidence="0.9999999")
    planned = sulq.plan(
        learner, bits(16).schema, epsilon=1, queries=400, error=0.2, confidence="0.9999999", **paper
    )
    assert planned.rows.tight is not None
    curator = bits(16 * math.ceil(planned.rows.tight / 16)).curator(epsilon=1, queries=400, **paper)
    assert learner.learn(curator).describe() == "x0 and x1"
    assert 4 <= curator.spent <= 400


@pytest.mark.parametrize("paper", PAPERS, ids=NAMES)
def test_a_tolerance_costs_as_many_queries_as_it_takes_repetitions(paper: dict[str, Any]) -> None:
    curator = bits(1600).curator(epsilon=1, queries=1000, **paper)
    round_ = sulq.Round([sulq.mean(col("x0"), tolerance="0.5", beta="0.01")])
    [noise, count] = terms(curator, round_).noises
    assert isinstance(noise, RepeatedNoise) and count is None
    calibration = curator.offer.calibration
    assert isinstance(calibration, SulqGaussian | SulqLaplace)
    assert noise.times == sulq.theory.emulation.repetitions(calibration, 1600, "0.5", "0.01")
    assert curator.cost(round_) == noise.times
    [answer] = curator.ask(round_)
    assert curator.spent == noise.times
    assert 0 < answer.radius(0.01) <= 0.5
    assert curator.error(round_, 0.01) == [pytest.approx(answer.radius(0.01))]
    assert [again.value for again in curator.ask(round_)] == [answer.value]
    assert curator.spent == noise.times


@pytest.mark.parametrize("noise", [DiscreteLaplace(30), DiscreteGaussian(900)], ids=["laplace", "gaussian"])
def test_the_mean_of_repeated_answers_is_as_close_as_stated(noise: Any) -> None:
    """At β = 0.2 at most 40 % of the means miss: a false alarm of less than 10⁻⁶ for 200 of them, and
    a number of repetitions that is four times too small is caught, because nearly all miss then.
    """
    times = repetitions(noise, Fraction(4), 0.2)
    many = runs(200, 2000)
    tallies = RepeatedNoise(noise, times).tally(np.full(many, 7, dtype=object))
    missed = sum(abs(int(tally) / times - 7) > 4 for tally in tallies)
    assert missed <= 0.4 * many
    fewer = RepeatedNoise(noise, max(1, times // 40)).tally(np.zeros(many, dtype=object))
    assert sum(abs(int(tally) / max(1, times // 40)) > 4 for tally in fewer) > 0.4 * many
    assert RepeatedNoise(noise, times).radius(0.2) <= 4 * (1 + 1e-8)
    assert RepeatedNoise(noise, times).radius(0.2) > 4 * 0.9


def test_a_round_takes_no_more_draws_than_end_in_minutes() -> None:
    """A query may be repeated two billion times, and three such queries may not be asked at once."""
    noise = DiscreteGaussian(Fraction(2) ** 100)
    distance = Fraction(2) ** 50 * Fraction(math.sqrt(2 * math.log(2 / 0.1) / 2**31))
    assert repetitions(noise, distance, 0.1) == pytest.approx(2**31, rel=1e-6)
    with pytest.raises(sulq.QueryError, match="too many repetitions"):
        repetitions(noise, distance / 2, 0.1)
    curator = bits(1600).curator(epsilon=1, queries=10**8, calibration="sulq-laplace")
    one = sulq.mean("x0", tolerance=5, beta="0.1")
    assert 1.8e9 < curator.cost(sulq.Round([one])) < 2**31
    with pytest.raises(sulq.QueryError, match="a round takes at most 4,294,967,296 repetitions"):
        curator.ask(sulq.Round([one] * 3))
    assert curator.spent == 0


def test_a_tally_adds_up_exactly() -> None:
    """Draws far beyond 2^32 add up without a loss: in the tally of 10 the truth counts tenfold."""
    wide = RepeatedNoise(DiscreteLaplace(2**54), 10)
    tally = wide.tally(np.array([2**80], dtype=object))
    assert isinstance(tally[0], int) and abs(tally[0] - 10 * 2**80) < 2**62
    narrow = RepeatedNoise(DiscreteLaplace(Fraction(1, 2**40)), 2**20 + 3)
    assert narrow.tally(np.array([5, -1], dtype=object)).tolist() == [5 * (2**20 + 3), -(2**20) - 3]


def test_the_law_of_a_repeated_answer_travels() -> None:
    curator = bits(1600).curator(epsilon=1, queries=1000, calibration="sulq-laplace")
    [answer] = curator.ask(sulq.Round([sulq.count(where="x0", tolerance=400, beta="0.01")]))
    assert isinstance(answer.law, MeanOfNoise)
    again = Answer.from_json(answer.to_json())
    assert (again.value, again.law, again.radius(0.1)) == (answer.value, answer.law, answer.radius(0.1))
    twice = answer.law.times(2)
    assert twice.radius(0.1) == 2 * answer.radius(0.1) and twice.power == Fraction(1, 2)


def test_truncation_of_a_repeated_answer_is_to_the_range_of_one() -> None:
    """At this noise an answer is out of range in nearly every run; 40 of them never are."""
    source = bits(16)
    for _ in range(40):
        curator = source.curator(epsilon=1, queries=10**6, calibration="sulq-laplace", truncate=True)
        [answer] = curator.ask(sulq.Round([sulq.count(where="x0", tolerance=10**6, beta="0.01")]))
        assert 0 <= answer.value <= 16


def test_emulation_needs_a_public_number_of_rows() -> None:
    schema = sulq.Schema({"x": sulq.Boolean()}, sulq.Unit("who", rows=2))
    source = sulq.open({"x": [True] * 6, "who": [1, 1, 2, 2, 3, 3]}, schema)
    curator = source.curator(epsilon=1, queries=1000, calibration="sulq-laplace")
    with pytest.raises(sulq.QueryError, match="when their number is public"):
        curator.ask(sulq.Round([sulq.mean("x", tolerance=0.5, beta=0.1)]))
    assert curator.spent == 0


@pytest.mark.parametrize("paper", PAPERS, ids=NAMES)
def test_an_empty_table_has_no_mean_within_a_tolerance(paper: dict[str, Any]) -> None:
    curator = bits(0).curator(epsilon=1, queries=1000, **paper)
    with pytest.raises(sulq.QueryError, match="too many repetitions"):
        sulq.Conjunction("y").learn(curator)
    assert curator.spent == 0


SHARED: list[Learner[Any]] = [
    sulq.ID3("y", pick="counts"),
    sulq.ID3("y", pick="counts", depth=2),
    sulq.ID3("y", pick="counts", features=["a", "age"], bins={"age": [3, 5, 8]}),
    sulq.Perceptron("y", iterations=5),
    sulq.KMeans(2, ["pay", "age"], iterations=3),
    sulq.PCA(1),
    sulq.SVD(1),
    sulq.Conjunction("y", share=1),
    sulq.Table(["a", "b"]),
    sulq.NaiveBayes("y"),
    sulq.Additive("y"),
    sulq.Additive("pay", features=["a"], refinements=0),
    sulq.Additive("age", refinements=2),
    sulq.LinearRegression("pay"),
    sulq.LinearRegression("pay", features=["plan", "age"]),
    sulq.LogisticRegression("y"),
    sulq.LogisticRegression("plan", features=["age"], steps=0),
    sulq.Pairs(),
    sulq.Pairs(pairs=[("a", "pay"), ("age", "plan")]),
]


def _id(learner: Learner[Any]) -> str:
    return f"{type(learner).__name__} {getattr(learner, 'depth', '')}"


@pytest.mark.parametrize("learner", SHARED, ids=_id)
@pytest.mark.parametrize("unit", [None, sulq.Unit("who", 1)], ids=["rows", "unit"])
def test_no_learner_asks_for_more_numbers_than_it_says(learner: Learner[Any], unit: sulq.Unit | None) -> None:
    source = among(unit)
    most = learner.most_numbers(source.schema)
    curator = source.curator(epsilon=10**6, calibration="sulq-laplace", queries=10**6)
    learner.learn(curator)
    heard = [numbers_of(sulq.Round.of(each["round"]), source.schema) for each in questions(curator)]
    assert curator.spent == sum(heard)
    if most is not None:
        assert curator.spent <= most
        short = source.curator(epsilon=1, calibration="sulq-laplace", queries=most - 1)
        with pytest.raises(sulq.BudgetError) as refused:
            learner.learn(short)
        assert refused.value.requested == most and short.spent == 0


def among(unit: sulq.Unit | None) -> sulq.Source:
    rng = np.random.default_rng(0)
    rows: dict[str, Any] = {name: rng.random(400) < 0.4 for name in ("a", "b", "y")}
    rows |= {"pay": rng.uniform(0, 100, 400), "age": rng.integers(0, 10, 400), "who": np.arange(400)}
    rows["plan"] = rng.choice(["free", "paid", "family"], 400)
    return sulq.open(
        rows, sulq.Schema(dict(SCHEMA) | {"plan": sulq.Category(["free", "paid", "family"])}, unit)
    )


def questions(curator: sulq.Curator) -> list[Any]:
    return [json.loads(entry.question) for entry in curator.ledger.entries() if entry.kind == "charge"]


def test_a_tree_that_would_be_refused_half_way_is_refused_at_the_start() -> None:
    """With T = 200 it used to spend 192 and stop there."""
    curator = bits(1600).curator(epsilon=10**4, calibration="sulq-laplace", queries=200)
    with pytest.raises(sulq.BudgetError, match="the charge of queries = 272 exceeds what is left, 200"):
        sulq.ID3("y", pick="counts").learn(curator)
    assert curator.spent == 0


def test_a_run_of_exactly_t_queries_is_answered_to_its_end() -> None:
    source = people(400)
    most = sulq.Perceptron("y", iterations=3, keep="last").most_numbers(source.schema)
    curator = source.curator(epsilon=10**6, calibration="sulq-laplace", queries=most)
    sulq.Perceptron("y", iterations=3, keep="last").learn(curator)
    assert curator.remaining >= 0


def test_an_interrupted_run_is_checked_for_what_is_left_of_it() -> None:
    source, learner = people(400), sulq.PCA(1)
    most = learner.most_numbers(source.schema)
    curator = source.curator(epsilon=10**6, calibration="sulq-laplace", queries=most)
    growing = learner.rounds(source.schema)
    curator.ask(next(growing))
    assert 0 < curator.spent < most
    learner.learn(curator)
    assert curator.spent == most


@pytest.mark.parametrize("learner", [sulq.DecisionList("y"), sulq.ID3("y")], ids=_id)
def test_a_learner_that_does_not_know_its_t_is_refused_before_its_first_query(learner: Learner[Any]) -> None:
    curator = people(400).curator(epsilon=1, calibration="sulq-laplace", queries=10**6)
    with pytest.raises(
        sulq.QueryError, match=r"answer no choices; .* ask for sums alone, as ID3\(pick='counts'"
    ):
        learner.learn(curator)
    assert curator.spent == 0


@pytest.mark.parametrize("columns", [19, 20])
def test_pairs_know_their_t_unless_there_are_so_many_columns_that_pairs_are_chosen(columns: int) -> None:
    source = bits(1600, columns - 1)
    learner = sulq.Pairs()
    curator = source.curator(epsilon=10**6, calibration="sulq-laplace", queries=4 * columns**2)
    if columns == 19:
        assert learner.most_numbers(source.schema) == 2 * 19 + 4 * 19 * 18 // 2
        learner.learn(curator)
        assert curator.spent == 2 * 19 + 4 * 19 * 18 // 2
    else:
        with pytest.raises(sulq.QueryError, match=r"as .*Pairs\(pairs=\[...\]\)"):
            learner.learn(curator)
        assert curator.spent == 0


@pytest.mark.parametrize(("k", "columns", "most"), [(2, 1, 90), (2, 2, 271), (5, 3, 2_796), (2, 4, 8_473)])
def test_t_of_k_means_follows_from_its_centres_and_columns(k: int, columns: int, most: int) -> None:
    """Histograms of 64 bins, at most 8 parts of each column for each cluster, and two steps of k(1 + d)."""
    names = [f"x{i}" for i in range(columns)]
    rows = np.random.default_rng(0).random((columns, 2000))
    source = sulq.open(dict(zip(names, rows, strict=True)), {name: sulq.Real(0, 1) for name in names})
    learner = sulq.KMeans(k)
    assert learner.most_numbers(source.schema) == most
    for epsilon in (10**7, 1):
        curator = source.curator(epsilon=epsilon, calibration="sulq-laplace", queries=most)
        learner.learn(curator)
        assert curator.spent <= most
        assert epsilon == 1 or curator.spent > 0.7 * most, "it is not idle"


def test_theorem_3_as_printed_and_as_proved() -> None:
    """R = 10^4·…: n² ≥ R·ln(q/δ)/(T − q)·Σ1/τ, and with τ for the error and not the variance."""
    paper = SulqGaussian(1, "1e-6", 500)
    variance = float(paper.variance)
    printed = math.sqrt(variance * math.log(4 / 0.05) / (500 - 4) * 4 / 0.0125)
    assert emulation_rows(paper, [0.0125] * 4, 0.05, as_printed=True) == math.ceil(printed)
    proved = math.sqrt(2 * variance * math.log(8 / 0.05) / (500 - 4) * 4 / 0.0125**2)
    assert emulation_rows(paper, [0.0125] * 4, 0.05) == math.ceil(proved)
    with pytest.raises(sulq.QueryError, match="needs T > 4"):
        emulation_rows(SulqGaussian(1, "1e-6", 4), [0.0125] * 4, 0.05)
    for none in ([], [0.1, 0.0]):
        with pytest.raises(sulq.QueryError, match="at least one query, and tolerances above 0"):
            emulation_rows(paper, none, 0.05)


@pytest.mark.parametrize("paper", PAPERS, ids=NAMES)
@pytest.mark.parametrize("queries", [5, 50, 1000])
def test_a_plan_by_theorem_3_is_what_the_run_takes(paper: dict[str, Any], queries: int) -> None:
    schema = bits(16).schema
    planned = sulq.plan(sulq.Conjunction("y"), schema, epsilon="1/2", queries=queries, **paper)
    assert planned.rows.paper is not None and planned.rows.tight is not None
    assert planned.rows.tight <= planned.rows.paper * 1.001
    assert "Theorem 3" in planned.theorem and not planned.covered
    for rows, enough in ((planned.rows.tight, True), (planned.rows.tight - 1, False)):
        curator = bits(int(rows)).curator(epsilon="1/2", queries=queries, **paper)
        [round_] = [next(planned.learner.rounds(schema))]
        assert (curator.cost(round_) <= queries) == enough


@pytest.mark.parametrize("paper", PAPERS, ids=NAMES)
@pytest.mark.parametrize("printed", [False, True])
@pytest.mark.parametrize("queries", [40, 100, 1000])
def test_the_papers_rows_are_enough_where_queries_have_a_beta_of_their_own(
    paper: dict[str, Any], printed: bool, queries: int
) -> None:
    """The two rounds of masked parity have half of β each, and the first has more queries."""
    learner = sulq.theory.MaskedParity(paper=printed)
    schema = sulq.theory.masked_parity_schema(4)
    planned = sulq.plan(learner, schema, confidence="0.9", epsilon=1, queries=queries, **paper)
    assert planned.rows.paper is not None and planned.rows.tight is not None
    assert planned.rows.tight <= planned.rows.paper <= 1.2 * planned.rows.tight
    checked = sulq.plan(
        learner, schema, confidence="0.9", epsilon=1, rows=int(planned.rows.paper), queries=queries, **paper
    )
    assert checked.confidence.tight == 0.9


@pytest.mark.parametrize("paper", PAPERS, ids=NAMES)
@pytest.mark.parametrize(
    "wanted",
    [
        {"epsilon": "1e-30"},
        {"epsilon": "1e-300"},
        {"epsilon": 1, "error": "1e-30"},
        {"epsilon": 1, "error": "1e-250"},
    ],
    ids=str,
)
def test_a_plan_that_no_table_is_large_enough_for_is_refused(
    paper: dict[str, Any], wanted: dict[str, Any]
) -> None:
    with pytest.raises(sulq.QueryError, match=r"takes more than 2\^50 rows"):
        sulq.plan(sulq.Conjunction("y"), bits(16).schema, queries=200, **wanted, **paper)


def test_a_plan_is_for_no_more_rows_than_it_looks_for() -> None:
    schema = bits(16).schema
    for paper in ({}, *({"queries": 200} | paper for paper in PAPERS)):
        assert sulq.plan(sulq.Conjunction("y"), schema, rows=2**50, **paper).epsilon.tight == 0.0001
        with pytest.raises(sulq.QueryError, match="rows must be a whole number from 1 to 1125899906842624"):
            sulq.plan(sulq.Conjunction("y"), schema, rows=10**20, **paper)


def test_a_plan_by_theorem_3_says_the_noise_and_what_would_do() -> None:
    schema = bits(16).schema
    learner = sulq.Conjunction("y")
    paper: dict[str, Any] = {"calibration": "sulq-gaussian", "delta": "1e-6", "queries": 100}
    planned = sulq.plan(learner, schema, epsilon=1, **paper)
    assert planned.variance is not None
    assert round(planned.variance.paper or 0) == 271457 and round(planned.variance.tight or 0) == 2053
    assert (
        planned.oracle == "source.curator(epsilon=1, delta=1e-06, calibration='sulq-gaussian', queries=100)"
    )
    smaller = sulq.plan(learner, schema, rows=10**6, **paper).epsilon.tight
    assert smaller is not None and smaller < 1
    better = sulq.plan(learner, schema, rows=10**6, epsilon=1, **paper).error.tight
    assert better is not None and better < 0.1
    with pytest.raises(sulq.QueryError, match=r"100 rows are too few"):
        sulq.plan(learner, schema, rows=100, epsilon=1, error=0.1, **paper)
    with pytest.raises(sulq.QueryError, match="T = 4 queries are too few for 4 numbers"):
        sulq.plan(learner, schema, epsilon=1, **(paper | {"queries": 4}))
    for other in (sulq.Parity("y"), sulq.ID3("y", pick="counts", gamma=2), sulq.KMeans(2)):
        with pytest.raises(sulq.QueryError, match="for learners that state tolerances"):
            sulq.plan(other, schema, epsilon=1, **paper)
    with pytest.raises(sulq.QueryError, match="a plan's calibration is 'tight'"):
        sulq.plan(learner, schema, epsilon=1, calibration="gaussian")
    with pytest.raises(sulq.QueryError, match="not public with a unit"):
        sulq.plan(learner, sulq.Schema(dict(schema.items()), sulq.Unit("who", 2)), epsilon=1, **paper)
    with pytest.raises(sulq.QueryError, match="go with the SuLQ paper's calibrations"):
        sulq.plan(learner, schema, epsilon=1, queries=100)


def test_theorem_4_has_a_chance_for_each_of_its_two_events() -> None:
    """R > 8·ln(2/γ)·ln(T/δ)·T/ε² + (2λ√T + T)/ε, λ = √(2·ln(2/γ))."""
    rare = math.log(2 / 1e-3)
    printed = 8 * rare * math.log(100 / 1e-6) * 100 / 0.25 + (2 * math.sqrt(2 * rare * 100) + 100) / 0.5
    paper = SulqGaussian("1/2", "1e-6", 100, "1e-3")
    assert float(paper.variance) == pytest.approx(printed, rel=1e-9)
    assert paper.variance > Fraction(printed)
    assert paper.describe() == "(ε, δ, T) = (0.5, 0.001001, 100) (SuLQ, Gaussian)"
    # The loss of T answers is normal with mean T/2R and variance T/R at worst: its two tails beyond ε.
    mu = math.sqrt(100 / float(paper.variance))
    beyond = [math.erfc((0.5 / mu + side * mu / 2) / math.sqrt(2)) / 2 for side in (-1, 1)]
    assert sum(beyond) <= 1e-3 + 1e-6
    with pytest.raises(sulq.QueryError, match="Theorem 4 of the SuLQ paper is proved for a variance R of at"):
        SulqGaussian(50, "0.1", 1, "0.1")
    with pytest.raises(sulq.QueryError, match="it goes with calibration='sulq-gaussian'"):
        bits(16).curator(epsilon=1, gamma="0.1")


def test_a_ledger_is_for_one_gamma(tmp_path: Any) -> None:
    paper: dict[str, Any] = {"epsilon": 1, "delta": "1e-6", "calibration": "sulq-gaussian", "queries": 10}
    bits(16).curator(**paper, gamma="1e-3", ledger=tmp_path / "ledger").ledger.close()
    with pytest.raises(sulq.errors.LedgerError, match="made for something else"):
        bits(16).curator(**paper, ledger=tmp_path / "ledger")
    offer = bits(16).curator(**paper, gamma="1e-3").offer
    assert type(offer).from_json(offer.to_json()) == offer
