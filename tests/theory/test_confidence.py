"""The SuLQ paper's own definition of privacy: what a release does to somebody's confidence, and its bound."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import sulq
from sulq.privacy.noise import DiscreteGaussian, DiscreteLaplace
from sulq.theory import conf, confidence
from tests.effort import runs
from tests.oracles.curators import terms

SCHEMA = sulq.Schema({"sick": sulq.Boolean(), "x": sulq.Real(0, 1)})
OTHERS = {"sick": [True, False, True, False, True], "x": [0.0, 1.0, 0.5, 0.25, 1.0]}
SICK, WELL = {"sick": True, "x": 1.0}, {"sick": False, "x": 0.0}
BELIEFS = [(SICK, "0.3"), (WELL, "0.6"), ({"sick": True, "x": 0.25}, "0.1")]
COUNT = sulq.Round([sulq.count(where="sick")], share=1)


def with_row(row: Any) -> sulq.Source:
    return sulq.open({name: [*OTHERS[name], row[name]] for name in OTHERS}, SCHEMA)


def test_conf_is_the_logarithm_of_the_odds() -> None:
    assert conf(0.5) == 0 and -conf(0.1) == pytest.approx(conf(0.9)) == pytest.approx(math.log(9))
    assert conf("1/3") == pytest.approx(-math.log(2)) and conf("1e-400") == pytest.approx(-400 * math.log(10))
    for wrong in (0, 1, -1, 2, math.nan, "few", None):
        with pytest.raises(sulq.QueryError, match="above 0 and be less than 1"):
            conf(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("budget", [{"epsilon": 1}, {"rho": "1/2"}])
def test_the_posterior_is_bayes_rule(budget: Any) -> None:
    """By hand: the count is 4 with a sick row and 3 without."""
    curator = with_row(SICK).curator(**budget)
    [answer] = curator.ask(COUNT)
    [noise] = terms(curator, COUNT).noises
    assert isinstance(noise, DiscreteLaplace | DiscreteGaussian)
    sick, well = (noise.pmf(round(answer.value) - true) for true in (4, 3))
    learned = confidence(curator, [(COUNT, [answer])], OTHERS, BELIEFS, sulq.col("sick"))
    assert learned.prior == pytest.approx(0.4)
    assert learned.posterior == pytest.approx(0.4 * sick / (0.4 * sick + 0.6 * well))
    assert learned.gain == pytest.approx(conf(learned.posterior) - conf(0.4))


def test_answers_of_several_rounds_and_kinds_add_up() -> None:
    curator = with_row(WELL).curator(epsilon=1)
    first = sulq.Round([sulq.count(by="sick"), sulq.total(sulq.col("x"))], share="1/2")
    second = sulq.Round([sulq.mean("x"), sulq.count()], share="1/2")
    released = [(each, curator.ask(each)) for each in (first, second)]
    both = confidence(curator, released, OTHERS, [(SICK, "1/2"), (WELL, "1/2")], sulq.col("sick"))
    alone = [
        confidence(curator, [each], OTHERS, [(SICK, "1/2"), (WELL, "1/2")], sulq.col("sick")).gain
        for each in released
    ]
    assert both.gain == pytest.approx(sum(alone), abs=1e-9), "rounds are independent given the row"
    assert abs(both.gain) <= 1 + 1e-9, "of ε = 1 in all"


EDGES = sulq.Round([sulq.count(where=sulq.col("x") <= edge) for edge in (0.1, 0.3, 0.6, 0.9)])
EVEN = [(SICK, "1/2"), (WELL, "1/2")]


@pytest.mark.parametrize("row", [SICK, WELL], ids=["sick", "well"])
def test_by_laplace_noise_no_release_gains_more_than_epsilon(row: Any) -> None:
    """Theorem 5: a deterministic bound, so that no run exceeds it, whoever the row is."""
    for _ in range(runs(20, 1)):
        curator = with_row(row).curator(epsilon="1/2", calibration="sulq-laplace", queries=4)
        gain = confidence(curator, [(EDGES, curator.ask(EDGES))], OTHERS, BELIEFS, sulq.col("sick")).gain
        assert abs(gain) <= 0.5


def gains(epsilon: float, many: int) -> Any:
    """The gains of so many releases by Theorem 1's noise for ε, of the four counts that one row moves by 1.

    The first is also worked out by `confidence`, from a release of its own.
    """
    curator = with_row(SICK).curator(epsilon=epsilon, delta="0.1", calibration="sulq-gaussian", queries=4)
    noises = terms(curator, EDGES).noises
    released = curator.ask(EDGES)
    true = [answer.value for answer in with_row(SICK).exact().ask(EDGES)]
    first = [[round(answer.value - exact) for answer, exact in zip(released, true, strict=True)]]
    draws = np.concatenate([first, np.array([noise.sample(many) for noise in noises]).T]).astype(float)
    # With the row well, each count is one more: (k − 1)² − k² over twice the variance is how much less likely.
    likely = ((draws - 1) ** 2 - draws**2).sum(axis=1) / (2 * float(noises[0].variance))
    [one] = [confidence(curator, [(EDGES, released)], OTHERS, EVEN, sulq.col("sick")).gain]
    assert likely[0] == pytest.approx(one)
    return likely[1:]


def test_by_gaussian_noise_few_releases_gain_more_than_epsilon() -> None:
    """Theorem 1 at δ = 0.1: of 10,000 releases at most 12 %, or less than one in 10⁹ is unlucky. The check has
    teeth: by the noise for 12 times the ε, more than a third of them gain or lose more.
    """
    assert (np.abs(gains(0.5, 10_000)) > 0.5).mean() <= 0.12
    assert (np.abs(gains(6.0, 10_000)) > 0.5).mean() > 1 / 3


def test_beliefs_that_make_no_sense_are_refused() -> None:
    curator = with_row(SICK).curator(epsilon=1)
    released = [(COUNT, curator.ask(COUNT))]
    for beliefs, predicate, told in (
        ([(SICK, "1/2")], sulq.col("sick"), "add up to 1, not to 0.5"),
        ([], sulq.col("sick"), "add up to 1"),
        ([(SICK, 1)], sulq.col("sick"), "true of all"),
        ([(SICK, "1/2"), (WELL, "1/2")], sulq.col("x") > 2, "or of none"),
    ):
        with pytest.raises(sulq.QueryError, match=told):
            confidence(curator, released, OTHERS, beliefs, predicate)
    choice = sulq.Round([sulq.choose(["sick"], label="sick")], share=1)
    with pytest.raises(sulq.QueryError, match="counts, totals and means"):
        confidence(curator, [(choice, [sulq.Answer(0)])], OTHERS, BELIEFS, sulq.col("sick"))
    unit = sulq.open({"sick": [True], "who": [1]}, sulq.Schema({"sick": sulq.Boolean()}, sulq.Unit("who", 1)))
    with pytest.raises(sulq.QueryError, match="a person of one row"):
        confidence(unit.curator(epsilon=1), [], {"sick": []}, [(SICK, 1)], sulq.col("sick"))


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"answering": "chunks", "queries": 2}, "answers from all rows"),
        ({"truncate": True}, "truncated answer"),
        ({"truncate": True, "delta": "1e-6"}, "truncated answer"),
    ],
    ids=str,
)
def test_answers_whose_law_is_another_are_refused(settings: Any, told: str) -> None:
    """Of a chunk of the rows, all rows say nothing; of what was cut off, nobody knows how much it was."""
    curator = with_row(SICK).curator(epsilon=1, **settings)
    with pytest.raises(sulq.QueryError, match=told):
        confidence(curator, [(COUNT, curator.ask(COUNT))], OTHERS, BELIEFS, sulq.col("sick"))


def test_what_is_known_has_all_columns() -> None:
    curator = with_row(SICK).curator(epsilon=1)
    released = [(COUNT, curator.ask(COUNT))]
    for others, beliefs in (({}, BELIEFS), (OTHERS, [({"x": 0}, 1)])):
        with pytest.raises(sulq.QueryError, match="has column"):
            confidence(curator, released, others, beliefs, sulq.col("sick"))


def test_who_knows_all_rows_but_one_knows_as_many() -> None:
    """Of fewer rows a count would seem to be off by what is noise, and a mean could be no answer at all."""
    for round_ in (COUNT, sulq.Round([sulq.mean("x")], share=1)):
        curator = with_row(SICK).curator(epsilon=1)
        released = [(round_, curator.ask(round_))]
        for others in (
            {name: each[1:] for name, each in OTHERS.items()},
            {name: each * 2 for name, each in OTHERS.items()},
        ):
            with pytest.raises(sulq.QueryError, match="all rows but one, 5 of them"):
                confidence(curator, released, others, EVEN, "sick")


def test_answers_to_something_else_are_refused() -> None:
    curator = with_row(SICK).curator(epsilon=1)
    round_ = sulq.Round([sulq.count(where="sick"), sulq.mean("x"), sulq.count()], share=1)
    sick, mean, rows = curator.ask(round_)
    for answers, told in (
        ([sick, mean], "has as many answers, not 2"),
        ([mean, mean, rows], "to another query than the count"),
        ([sick, sulq.Answer(0.5), rows], "to another query than the mean"),
        ([sulq.Answer(math.nan), mean, rows], "to another query than the count"),
        ([sulq.Answer(np.zeros(2)), mean, rows], "to another query than the count"),
        ([sick, mean, sulq.Answer(7.0)], "none of those that are believed in"),
    ):
        with pytest.raises(sulq.QueryError, match=told):
            confidence(curator, [(round_, answers)], OTHERS, EVEN, "sick")


def test_a_predicate_is_a_boolean_column_or_true_or_false() -> None:
    curator = with_row(SICK).curator(epsilon=1)
    released = [(COUNT, curator.ask(COUNT))]
    by_name, by_expression = (
        confidence(curator, released, OTHERS, EVEN, each) for each in ("sick", sulq.col("sick"))
    )
    assert by_name == by_expression
    for wrong, told in (
        ("x", "not true or false"),
        (sulq.col("x") * 2, "not true or false"),
        (1, "needed here"),
    ):
        with pytest.raises(sulq.QueryError, match=told):
            confidence(curator, released, OTHERS, EVEN, wrong)  # type: ignore[arg-type]


def test_thirds_are_beliefs_that_add_up_to_1() -> None:
    curator = with_row(SICK).curator(epsilon=1)
    released = [(COUNT, curator.ask(COUNT))]
    floats, exact = (
        confidence(curator, released, OTHERS, [(row, third) for row, _ in BELIEFS], "sick")
        for third in (1 / 3, "1/3")
    )
    assert floats.gain == pytest.approx(exact.gain)
    with pytest.raises(sulq.QueryError, match=r"add up to 1, not to 0\.99999"):
        confidence(curator, released, OTHERS, [(row, "0.33333") for row, _ in BELIEFS], "sick")


def test_an_answer_without_noise_settles_what_it_is_about() -> None:
    """Of rows of which the other is public, a number that nobody moves says nothing."""
    curator = with_row(SICK).curator(epsilon=1)
    rows = sulq.Round([sulq.count()], share=1)
    assert confidence(curator, [(rows, curator.ask(rows))], OTHERS, BELIEFS, sulq.col("sick")).gain == 0


def test_what_is_known_is_not_read_from_the_curator() -> None:
    curator = with_row(SICK).curator(epsilon=1)
    answers = curator.ask(COUNT)
    looks = curator.looks
    assert np.isfinite(confidence(curator, [(COUNT, answers)], OTHERS, BELIEFS, sulq.col("sick")).gain)
    assert curator.looks == looks and curator.spent == 1


def test_noise_that_was_drawn_for_whole_vectors_is_refused() -> None:
    """Its law on whole numbers is an integral over a cube; numbers by themselves have a simple one."""
    curator = with_row(SICK).curator(epsilon=1)
    round_ = sulq.Round([sulq.total(sulq.vector("x", sulq.col("x") * 2, "x"))], share=1)
    with pytest.raises(sulq.QueryError, match="ask for each number by itself"):
        confidence(curator, [(round_, curator.ask(round_))], OTHERS, BELIEFS, sulq.col("sick"))
