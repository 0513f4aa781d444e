"""Any function, by its caller's promise: the noise for a stated Δf, marked as promised wherever it shows."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sulq
from sulq.classes.promised import PromisedFunction
from sulq.classes.promised_values import grid_step, moves_of
from sulq.hypotheses.rules import Rule
from sulq.learners.learner import Learner
from sulq.privacy.noise import DiscreteLaplace
from sulq.privacy.selection import ExponentialMechanism
from tests.oracles.curators import SCHEMA, people, terms

MEDIAN: dict[str, Any] = {"sensitivity": 5, "low": 0, "high": 100, "name": "median pay"}


def median(**changed: Any) -> PromisedFunction:
    return sulq.promised(lambda rows: float(np.median(rows["pay"])), ["pay"], **(MEDIAN | changed))


def best(**changed: Any) -> Any:
    settings: dict[str, Any] = {"candidates": 10, "sensitivity": 1, "low": 0, "high": 10**6, "name": "count"}
    return sulq.promised_choice(
        lambda rows: np.bincount(rows["age"], minlength=10), ["age"], **(settings | changed)
    )


@pytest.mark.parametrize("delta", ["1", "5", "0.3", "1e-9", "1e9", "7/3"])
def test_the_noise_is_laplace_of_the_stated_sensitivity(delta: str) -> None:
    """Scale Δf/ε, and no more than a millionth above it for rounding."""
    question = median(sensitivity=delta, low=0, high=Fraction(delta) * 1000)
    [settled] = terms(people().curator(epsilon="1/2"), sulq.Round([question], share=1)).selections
    noise = question._noise(settled)
    assert isinstance(noise, DiscreteLaplace)
    scale = noise.scale * grid_step(Fraction(delta))
    assert Fraction(delta) * 2 < scale <= Fraction(delta) * 2 * (1 + Fraction(1, 2**20))


def test_rounding_never_moves_a_value_by_more_than_what_is_paid_for() -> None:
    rng = np.random.default_rng(0)
    for _ in range(500):
        delta = Fraction(float(rng.uniform(0.001, 1000)))
        one = Fraction(float(rng.uniform(-1000, 1000)))
        other = one + delta * Fraction(float(rng.uniform(-1, 1)))
        assert abs(round(one / grid_step(delta)) - round(other / grid_step(delta))) <= moves_of(delta)


def test_one_person_changes_the_law_by_no_more_than_e_to_the_epsilon() -> None:
    """Enumerated: a function that moves by all of Δf, ε = 1."""
    question = median(sensitivity=1, low=0, high=10)
    [settled] = terms(people().curator(epsilon=1), sulq.Round([question], share=1)).selections
    noise, moves = question._noise(settled), moves_of(Fraction(1))
    for k in (-5 * moves, -moves, 0, 3, moves, 4 * moves):
        assert noise.pmf(k) <= math.e * noise.pmf(k - moves) * (1 + 1e-12)


def test_the_choice_is_the_exponential_mechanisms() -> None:
    [settled] = terms(people().curator(epsilon=1), sulq.Round([best()], share=1)).selections
    assert isinstance(settled, ExponentialMechanism) and settled.epsilon == 1 and not settled.monotone
    assert settled.sensitivity == moves_of(Fraction(1))


@pytest.mark.parametrize("budget", [{"epsilon": 50}, {"rho": 500}, {"epsilon": 50, "delta": "1e-6"}])
@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_answers_are_near_the_truth(budget: dict[str, Any], neighbours: Any) -> None:
    source = people(3000)
    exact = source.exact().ask(sulq.Round([median(), best()]))
    noisy = source.curator(**budget, neighbours=neighbours).ask(sulq.Round([median(), best()], share=1))
    assert abs(noisy[0].value - exact[0].value) <= noisy[0].radius(1e-9) < 50
    assert exact[0].radius(0.1) == 0 and 0 <= noisy[1].value < 10


def test_truncated_answers_lie_in_the_range_that_was_stated() -> None:
    """Noise of scale 2000 for a range of 10: it would put most answers beyond it, to either side."""
    curator = people().curator(epsilon=1, truncate=True)
    asked = [median(sensitivity=50, low=30, high=40) for _ in range(40)]
    values = [answer.value for answer in curator.ask(sulq.Round(asked, share=1))]
    assert {30.0, 40.0} <= set(values) and all(30 <= value <= 40 for value in values)


def test_the_ledger_says_who_promised_what() -> None:
    curator = people().curator(epsilon=1)
    curator.ask(sulq.Round([median()], share="1/2"))
    [charge] = [entry for entry in curator.ledger.entries() if entry.kind == "charge"]
    [kept] = json.loads(charge.question)["round"]["queries"]
    assert kept["promise"] == "the caller's" and kept["sensitivity"] == "5" and kept["name"] == "median pay"


def test_the_words_for_it_say_it_is_a_promise() -> None:
    said = median().words(people().curator(epsilon=1).offer.public)
    assert said == "median pay; the caller promises that one person moves median pay by at most 5"
    assert (
        best()
        .words(people().curator(epsilon=1).offer.public)
        .endswith("the caller promises that one person moves each count by at most 1")
    )
    assert sulq.count().caller_promises is None


class ByMedian(Learner[Rule]):
    """Rows above a promised median, or all."""

    share = 1

    def rounds(self, schema: sulq.Schema) -> Any:
        [middle] = yield sulq.Round([median()], share=1)
        return Rule(schema, None, (sulq.col("pay") > round(middle.value),))


def test_the_origin_of_what_is_learned_says_so() -> None:
    origin = ByMedian().learn(people().curator(epsilon=1)).origin
    assert origin is not None
    assert origin.promise == (
        "ε = 1 (pure), if one person moves median pay by at most 5, as the caller promises"
    )


def test_another_function_of_the_same_name_is_another_question() -> None:
    curator = people().curator(epsilon=1)
    question = median()
    [first] = curator.ask(sulq.Round([question], share="1/4"))
    assert curator.ask(sulq.Round([question], share="1/4"))[0].value == first.value
    assert curator.spent == Fraction(1, 4)
    curator.ask(sulq.Round([median()], share="1/4"))
    assert curator.spent == Fraction(1, 2)


@pytest.mark.parametrize(
    "function",
    [lambda rows: 1 / 0, lambda rows: "text", lambda rows: math.nan, lambda rows: None, lambda rows: exit()],
)
def test_a_function_that_fails_says_its_lowest_value(function: Any) -> None:
    question = sulq.promised(function, ["pay"], **MEDIAN)
    assert people().exact().ask(sulq.Round([question]))[0].value == 0
    scores = sulq.promised_choice(function, ["age"], candidates=3, sensitivity=1, low=0, high=9)
    assert people().exact().ask(sulq.Round([scores]))[0].value == 0


def test_values_are_clipped_to_the_public_range_and_columns_are_in_their_own_units() -> None:
    seen: dict[str, Any] = {}

    def look(rows: Any) -> float:
        seen.update(rows)
        rows["pay"][:] = 0  # its own copy
        return 10**9

    source = people(50)
    assert source.exact().ask(sulq.Round([sulq.promised(look, list(SCHEMA), **MEDIAN)]))[0].value == 100
    assert seen["a"].dtype == bool and seen["age"].min() >= 0 and seen["age"].max() <= 9
    assert source.exact().ask(sulq.Round([sulq.mean("pay")]))[0].value > 0
    wards = sulq.open({"w": ["A", "B", "B"]}, {"w": sulq.Category(["A", "B"])})
    share = sulq.promised(lambda rows: np.mean(rows["w"] == "B"), ["w"], sensitivity="1/3", low=0, high=1)
    assert wards.exact().ask(sulq.Round([share]))[0].value == pytest.approx(2 / 3, abs=1e-5)


def test_a_missing_cell_is_the_columns_public_constant() -> None:
    """A function has an entry for every row, also where sums leave the row out."""
    for constant in ({"missing": 3}, {"missing": 3, "drop_missing": True}):
        rows = sulq.open({"age": [7, None, 9]}, {"age": sulq.Integer(0, 9, **constant)})
        oldest = sulq.promised(lambda each: each["age"].sum(), ["age"], sensitivity=9, low=0, high=99)
        assert rows.exact().ask(sulq.Round([oldest]))[0].value == 7 + 3 + 9


def test_a_function_cannot_ask_questions_of_its_own() -> None:
    source = people()
    curator = source.curator(epsilon=1)

    def ask(rows: Any) -> float:
        return float(curator.ask(sulq.Round([sulq.count(where="a")], share="1/2"))[0].value)

    curator.ask(sulq.Round([sulq.promised(ask, ["pay"], **MEDIAN)], share="1/4"))
    assert curator.spent == Fraction(1, 4)


@pytest.mark.parametrize(
    "make",
    [
        lambda: people().crowd(epsilon=1),
        lambda: people().sample(),
        lambda: people().curator(epsilon=1, calibration="sulq-laplace", queries=9),
        lambda: people().curator(epsilon=1, answering="chunks", queries=4),
        lambda: people().curator(epsilon=1).denoised("y", 0.1),
    ],
    ids=["crowd", "sample", "SuLQ", "chunks", "denoised"],
)
def test_who_cannot_answer_refuses_before_anything_is_spent(make: Any) -> None:
    looked: list[Any] = []
    oracle = make()
    for question in (sulq.promised(looked.append, ["pay"], **MEDIAN), best()):
        with pytest.raises(sulq.QueryError):
            oracle.ask(sulq.Round([question], share="1/4"))
    assert looked == [] and getattr(oracle, "spent", 0) == 0


def test_it_does_not_travel() -> None:
    with pytest.raises(sulq.QueryError, match="cannot be read back, or asked elsewhere"):
        sulq.Round.from_json(sulq.Round([median()], share=1).to_json())


def test_what_is_no_promise_is_refused() -> None:
    for changed in (
        {"sensitivity": 0},
        {"sensitivity": -1},
        {"low": 5, "high": 4},
        {"name": ""},
        {"high": 10**20},
    ):
        with pytest.raises(sulq.QueryError):
            median(**changed)
    for changed in ({"candidates": 0}, {"candidates": 2**27}, {"sensitivity": "nan"}, {"low": 1, "high": 0}):
        with pytest.raises(sulq.QueryError):
            best(**changed)
    with pytest.raises(sulq.SulqError, match="no column"):
        people().exact().ask(sulq.Round([sulq.promised(len, ["nothing"], **MEDIAN)]))


def test_an_empty_table_is_answered_too() -> None:
    source = sulq.open({"pay": []}, {"pay": sulq.Real(0, 100)})
    spread = sulq.promised(lambda rows: float(np.sum(rows["pay"])), ["pay"], **MEDIAN)
    [answer] = source.curator(epsilon=10**6).ask(sulq.Round([spread], share=1))
    assert abs(answer.value) < 1


class Asking:
    """What a function returns: to make a number or an array of it asks somebody."""

    def __init__(self, ask: Any) -> None:
        self.ask = ask

    def __float__(self) -> float:
        self.ask()
        return 5.0

    def __array__(self, *_: Any, **__: Any) -> Any:
        self.ask()
        return np.full(10, 5.0)


def test_what_a_function_returns_cannot_ask_questions_either() -> None:
    curator, other = (people().curator(epsilon=1) for _ in range(2))
    asking = Asking(lambda: other.ask(sulq.Round([sulq.count()], share="1/2")))
    number = sulq.promised(lambda _: asking, ["pay"], sensitivity=1, low=0, high=10)
    choice = sulq.promised_choice(lambda _: asking, ["age"], candidates=10, sensitivity=1, low=0, high=10)
    curator.ask(sulq.Round([number, choice], share="1/2"))
    assert other.ledger.spent == 0 and curator.ledger.spent == Fraction(1, 2)


def test_a_range_beyond_all_floats_is_refused() -> None:
    for make in (median, best):
        with pytest.raises(sulq.QueryError, match="between -1e300 and 1e300"):
            make(sensitivity=10**308, low=10**308, high=10**309)
