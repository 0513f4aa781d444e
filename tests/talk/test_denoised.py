"""Labels that are wrong part of the time: the rewritten query is right on average, and costs what it must."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sulq
from sulq.classes import Conjunctions
from sulq.classes.pick import Pick

col = sulq.col
SCHEMA = sulq.Schema(
    {"a": sulq.Boolean(), "k": sulq.Integer(0, 2), "x": sulq.Real(-4, 4), "y": sulq.Boolean()}
)
QUERIES = [
    sulq.mean(col("y")),
    sulq.mean(col("y") & ~col("a")),
    sulq.count(where=col("y")),
    sulq.count(where=col("y") & col("a"), by="k"),
    sulq.count(by=["k", "y"]),
    sulq.total(col("x"), by=["k", "y"]),
    sulq.total(sulq.vector(col("x"), col("a")), where=col("y"), by="k"),
    sulq.total(sulq.where(col("y"), col("x"), -col("x"))),
    sulq.mean(col("x"), where=col("y")),
    sulq.mean(col("a"), by=["y"]),
    sulq.mean(col("y"), by="k"),
    sulq.mean(sulq.vector(col("x"), 1), where=col("y"), by="k"),
]


def tables(rate: Fraction) -> tuple[sulq.Source, sulq.Source]:
    """Every row as often as the rate says with its label right and wrong: the average, made exact."""
    rng = np.random.default_rng(0)
    rows = 300
    k, x = rng.integers(0, 3, rows), rng.integers(-4, 5, rows).astype(float)
    a = rng.random(rows) < 0.4
    true: dict[str, Any] = {"a": a, "k": k, "x": x, "y": (k == 1) & a | (rng.random(rows) < 0.2)}
    times = rate.denominator
    noisy = {name: np.repeat(column, times) for name, column in true.items()}
    noisy["y"] = noisy["y"] ^ (np.tile(np.arange(times), rows) < rate.numerator)
    repeated = {name: np.repeat(column, times) for name, column in true.items()}
    return sulq.open(repeated, SCHEMA), sulq.open(noisy, SCHEMA)


@pytest.mark.parametrize("rate", [Fraction(0), Fraction(1, 4), Fraction(3, 10), Fraction(49, 100)])
def test_on_average_over_the_flips_every_answer_is_that_of_the_true_labels(rate: Fraction) -> None:
    true, noisy = tables(rate)
    asked = sulq.Round(QUERIES)
    for query, truth, answer in zip(
        QUERIES, true.exact().ask(asked), noisy.exact().denoised("y", rate).ask(asked), strict=True
    ):
        assert np.shape(truth.value) == np.shape(answer.value)
        # The coefficients 1/(1 − 2η) have 37 bits, and at most 100 times the rows 300.
        np.testing.assert_allclose(answer.value, truth.value, rtol=1e-6, atol=1e-4, err_msg=str(query.form))


def test_without_it_the_answers_are_wrong() -> None:
    true, noisy = tables(Fraction(3, 10))
    asked = sulq.Round([sulq.mean(col("y") & ~col("a"))])
    [truth], [naive] = true.exact().ask(asked), noisy.exact().ask(asked)
    assert abs(truth.value - naive.value) > 0.1


def test_a_choice_is_asked_of_the_labels_as_they_are_and_even_flips_leave_the_best_the_best() -> None:
    true, noisy = tables(Fraction(3, 10))
    asked = sulq.Round([sulq.choose(["a", "k"], label="y"), sulq.choose(["a"], label="y", by="k")])
    exact, denoised = true.exact().ask(asked), noisy.exact().denoised("y", "0.3").ask(asked)
    assert [np.all(a.value == b.value) for a, b in zip(exact, denoised, strict=True)] == [True, True]


@pytest.mark.parametrize("query", QUERIES[:7])
def test_one_query_becomes_one_query_that_can_move_by_a_factor_more(query: sulq.Query) -> None:
    """The range grows by at most 1/(1 − 2η): 2.5 at 0.3. Looked at through what a curator charges."""
    _, noisy = tables(Fraction(3, 10))
    before = sulq.Round([query]).sensitivity(SCHEMA, 1, "add-remove")
    seen: list[sulq.Round] = []

    class Listener(sulq.theory.Adversary):
        def ask(self, round_: sulq.Round, run: str = "main") -> Any:
            seen.append(round_)
            return noisy.exact().ask(round_, run)

    sulq.talk.denoised.Denoised(Listener(noisy), "y", "0.3").ask(sulq.Round([query], share=1))
    [asked] = seen
    assert len(asked.queries) == 1 and asked.share == 1
    after = asked.sensitivity(SCHEMA, 1, "add-remove")
    assert before < after <= before * Fraction(251, 100) * 2


def test_the_error_bar_of_a_rewritten_query_holds_under_a_curator() -> None:
    """80 answers, each within its 10⁻⁹ error bar of what the exact oracle says: a false alarm once in 10⁷ runs."""
    _, noisy = tables(Fraction(1, 4))
    asked = sulq.Round([sulq.count(by=["k", "y"]), sulq.mean(col("y"))], share=Fraction(1, 40))
    exact = noisy.exact().denoised("y", "0.25").ask(asked)
    curator = noisy.curator(epsilon=40).denoised("y", "0.25")
    missed = 0
    for run in range(40):
        for truth, answer in zip(exact, curator.ask(asked, f"run {run}"), strict=True):
            missed += bool(np.any(np.abs(answer.value - truth.value) > answer.radius(1e-9)))
    assert missed == 0


@pytest.mark.parametrize("rate", [Fraction(1, 2), 0.5, "0.7", 1, -0.1, "nan", "much"])
def test_labels_that_say_nothing_are_refused(rate: Any) -> None:
    _, noisy = tables(Fraction(0))
    with pytest.raises(sulq.QueryError):
        noisy.exact().denoised("y", rate)


def test_what_cannot_be_asked_about_noisy_labels_is_refused() -> None:
    _, noisy = tables(Fraction(0))
    oracle = noisy.exact().denoised("y", "0.1")
    for query in [
        sulq.choose(["a", "y"], label="k"),
        sulq.choose(["a"], label=col("y") & col("a")),
        sulq.choose([sulq.count(where=col("y")), sulq.count(where=col("a"))]),
        sulq.mean(col("x"), where=col("y"), tolerance=1, beta=0.1),
    ]:
        with pytest.raises(sulq.QueryError):
            oracle.ask(sulq.Round([query]))
    with pytest.raises(sulq.QueryError):
        noisy.exact().denoised("k", "0.1")
    with pytest.raises(sulq.SulqError):
        noisy.exact().denoised("nothing", "0.1")


def test_hypotheses_that_look_at_the_noisy_column_are_refused_however_they_name_it() -> None:
    rows = {name: [True, False] * 50 for name in "aby"}
    people = sulq.open(rows, {name: sulq.Boolean() for name in rows})
    curator = people.curator(epsilon=1)
    for looking in (Conjunctions(["a", "b"]), Conjunctions()):
        with pytest.raises(sulq.SulqError, match="'a'"):
            curator.denoised("a", 0.2).ask(sulq.Round([Pick(looking, sulq.col("y"))], share=0.1))
    assert curator.spent == 0
    for question in (Pick(Conjunctions(["b"]), sulq.col("y")), Pick(Conjunctions(), sulq.col("a"))):
        curator.denoised("a", 0.2).ask(sulq.Round([question], share=0.1))
    assert curator.spent == Fraction(1, 5)
