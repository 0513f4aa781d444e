"""What is put around an oracle offers what the oracle offers: every oracle, with everything around it."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sulq
from sulq.plans.watching import Watched

ROWS = 4_000
SCHEMA = {"a": sulq.Boolean(), "x": sulq.Real(0, 1), "y": sulq.Boolean(), "z": sulq.Boolean()}


def people() -> sulq.Source:
    rng = np.random.default_rng(0)
    a, flips = rng.random(ROWS) < 0.4, rng.random((2, ROWS)) < 0.2
    return sulq.open({"a": a, "x": rng.random(ROWS), "y": a ^ flips[0], "z": a ^ flips[1]}, SCHEMA)


ORACLES: dict[str, Callable[[], Any]] = {
    "exact": lambda: people().exact(),
    "curator": lambda: people().curator(epsilon=8),
    "curator in rho": lambda: people().curator(rho=4),
    "curator of a part": lambda: people().curator(epsilon=8).part("1/2"),
    "the paper's curator": lambda: people().curator(epsilon=8, calibration="sulq-laplace", queries=50),
    "chunks": lambda: people().curator(epsilon=8, answering="chunks", queries=8),
    "printed chunks": lambda: people().curator(epsilon=8, answering="printed", queries=8),
    "crowd": lambda: people().crowd(epsilon=4),
    "the paper's crowd": lambda: people().crowd(epsilon=4, method="paper"),
    "sample": lambda: people().sample(),
    "the same sample": lambda: people().sample(fresh=False),
    "adversary": lambda: sulq.theory.Adversary(people()),
}
AROUND: dict[str, Callable[[Any], Any]] = {
    "watched": Watched,
    "denoised": lambda oracle: sulq.talk.denoised.Denoised(oracle, "y", "0.2"),
    "denoised twice": lambda oracle: oracle.denoised("y", "0.2").denoised("z", "0.2"),
    "watched and denoised": lambda oracle: Watched(oracle).denoised("y", "0.2"),
    "denoised and watched": lambda oracle: Watched(oracle.denoised("y", "0.2")),
    "watched twice": lambda oracle: Watched(Watched(oracle)),
    "watched, denoised and watched": lambda oracle: Watched(Watched(oracle).denoised("y", "0.2")),
}
FACTS = ("left", "spent", "remaining", "rounds", "queries", "schema", "promise")


def asked_of(name: str) -> sulq.Round:
    if name == "adversary":
        return sulq.Round([sulq.mean(sulq.col("y"), tolerance=0.01, beta=0.1)])
    if name == "the paper's curator":
        return sulq.Round([sulq.mean(sulq.col("y")), sulq.count(where=sulq.col("a"))])
    return sulq.Round(
        [sulq.mean(sulq.col("y")), sulq.count(by=["a", "y"]), sulq.mean(sulq.col("x"))], share="1/4"
    )


@pytest.fixture(params=ORACLES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("around", AROUND)
def test_everything_can_be_put_around_every_oracle(name: str, around: str) -> None:
    inside = ORACLES[name]()
    oracle, asked = AROUND[around](inside), asked_of(name)
    answers = oracle.ask(asked)
    assert len(answers) == len(asked.queries)
    # The exact mean of all rows is near 1/2. A false alarm is rarer than one in 10^9 for each of them.
    far = answers[0].radius(1e-9)
    assert np.all(np.isfinite(far))
    assert 0.3 - far < answers[0].value < 0.7 + far
    for fact in FACTS:
        assert hasattr(oracle, fact) == hasattr(inside, fact)
        if hasattr(inside, fact):
            assert getattr(oracle, fact) == getattr(inside, fact)


@pytest.mark.parametrize("around", AROUND)
def test_what_a_round_would_cost_and_how_good_it_would_be_is_said_from_outside(
    name: str, around: str
) -> None:
    inside = ORACLES[name]()
    oracle, asked = AROUND[around](inside), asked_of(name)
    for offered in ("cost", "error", "influence"):
        extra = (0.05,) if offered == "error" else ()
        if not hasattr(inside, offered):
            with pytest.raises(AttributeError):
                getattr(oracle, offered)(asked, *extra)
            continue
        said = getattr(oracle, offered)(asked, *extra)
        if offered == "cost":
            assert said == inside.cost(asked) or "denoised" in around
            assert said > 0
        else:
            assert len(said) == len(asked.queries)
            assert said[0] is not None and said[0] >= 0
    for told, answer in zip(
        oracle.error(asked, 0.05) if hasattr(inside, "error") else [], oracle.ask(asked), strict=False
    ):
        if told is not None:
            assert told == pytest.approx(float(np.max(answer.radius(0.05))))


@pytest.mark.parametrize("denoised", [False, True])
def test_what_is_watched_is_charged_as_the_oracle_inside_charges(name: str, denoised: bool) -> None:
    inside = ORACLES[name]()
    watched = Watched(inside.denoised("y", "0.2") if denoised else inside)
    asked = asked_of(name)
    uses_up = name not in ("exact", "adversary", "the same sample")
    cost = watched.cost(asked) if uses_up else Fraction(0)
    watched.ask(asked)
    watched.ask(asked)
    first, again = watched.asked
    assert first.cost == first.charged == cost
    assert again.charged == 0 and again.stored == (again.cost > 0)
    assert not first.stored


def test_a_learner_is_told_the_same_by_a_crowd_that_is_watched() -> None:
    watched = Watched(people().crowd(epsilon=8).denoised("y", "0.2"))
    rule = sulq.Conjunction("y", ["a"], share=1).learn(watched)
    assert rule.origin is not None and rule.origin.promise == "ε = 8 (pure, local)"
    assert [asked.cost for asked in watched.asked] == [ROWS]


def test_the_mask_blind_oracle_can_be_watched_and_denoised() -> None:
    blind = sulq.theory.MaskBlind((1, 0, 1), 0)
    asked = sulq.Round([sulq.mean(sulq.col("label"))])
    for around in (Watched(blind), sulq.talk.denoised.Denoised(Watched(blind), "label", "0.1")):
        assert np.isfinite(around.ask(asked)[0].value)
