"""Sums over the rows of one condition are accounted jointly, and no pair of rows moves them further."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sulq
from sulq.privacy.noise import DiscreteGaussian, DiscreteLaplace

SCHEMA = sulq.Schema(
    {
        "sick": sulq.Boolean(),
        "old": sulq.Boolean(),
        "x": sulq.Real(-1, 1),
        "y": sulq.Real(0, 3),
        "plan": sulq.Category(["a", "b", "c"]),
    }
)
CORNERS = [
    {"sick": sick, "old": old, "x": x, "y": y, "plan": plan}
    for sick, old, x, y, plan in itertools.product(
        [False, True], [False, True], [-1.0, 1.0], [0.0, 3.0], "ab"
    )
]
ROUNDS = {
    "a mean": [sulq.mean("x", where="sick")],
    "a mean and a count": [sulq.mean("x", where="sick"), sulq.count(where="sick")],
    "groups": [sulq.mean("y", where="sick", by="plan"), sulq.count(where="sick", by="plan")],
    "two conditions": [sulq.mean("x", where="sick"), sulq.mean("x", where="old")],
    "some without": [sulq.total("x"), sulq.mean("y", where="sick")],
}


def contributions(queries: list[Any]) -> list[np.ndarray[Any, Any]]:
    """What each corner adds to all sums of a round, laid end to end."""
    parts = [part for query in queries for part in query.parts]
    people = sulq.open({name: [row[name] for row in CORNERS] for name in CORNERS[0]}, SCHEMA)
    columns = [np.asarray(people.values(part), dtype=float).reshape(len(CORNERS), -1) for part in parts]
    return list(np.hstack(columns))


@pytest.mark.parametrize("queries", ROUNDS.values(), ids=ROUNDS.keys())
@pytest.mark.parametrize("order", [1, 2])
def test_two_rows_differ_by_the_joint_bound_at_most_and_some_do(queries: list[Any], order: Any) -> None:
    bound = float(sulq.Round(queries).sensitivity(SCHEMA, order))
    apart = [np.linalg.norm(a - b, order) for a, b in itertools.combinations(contributions(queries), 2)]
    assert max(apart) <= bound + 1e-9
    if queries is not ROUNDS["two conditions"]:  # these may both change: they are accounted apart
        assert max(apart) == pytest.approx(bound)


@pytest.mark.parametrize("queries", ROUNDS.values(), ids=ROUNDS.keys())
@pytest.mark.parametrize("budget", [{"epsilon": 1}, {"rho": 1}])
def test_the_noise_of_a_round_costs_what_it_is_charged_for_every_pair_of_rows(
    queries: list[Any], budget: Any
) -> None:
    """Σ |difference|/scale is the ε of discrete Laplace noise, Σ difference²/2σ² the ρ of Gaussian noise."""
    people = sulq.open({name: [row[name] for row in CORNERS] for name in CORNERS[0]}, SCHEMA)
    offer = people.curator(**budget).offer
    round_ = sulq.Round(queries, share=1)
    terms = offer.terms(round_)
    parts = [part for query in queries for part in query.parts]
    costs = []
    scales = []
    for part, noise in zip(parts, terms.noises, strict=True):
        facts = offer.scope.number(part)
        if isinstance(noise, DiscreteLaplace):
            scales += [float(noise.scale * facts.unit)] * facts.width
        elif isinstance(noise, DiscreteGaussian):
            scales += [float(noise.variance) ** 0.5 * float(facts.unit)] * facts.width
        else:
            scales += [np.inf] * facts.width
    for a, b in itertools.combinations(contributions(queries), 2):
        moved = np.abs(a - b) / np.array(scales)
        costs.append(moved.sum() if "epsilon" in budget else (moved**2).sum() / 2)
    assert max(costs) <= float(terms.cost) * (1 + 1e-9)
    if queries is ROUNDS["a mean"]:
        assert max(costs) == pytest.approx(float(terms.cost)), "with equality: 1 % less noise would be caught"
    assert offer.terms(round_, former=True).cost == terms.cost


@pytest.mark.parametrize("queries", ROUNDS.values(), ids=ROUNDS.keys())
@pytest.mark.parametrize("budget", [{"epsilon": 1}, {"rho": 1}, {"epsilon": 1, "delta": "1e-6"}])
def test_parts_that_are_accounted_jointly_never_have_more_noise_than_apart(
    queries: list[Any], budget: Any
) -> None:
    """So there is no setting for the former accounting: it is a looser bound of what the same noise costs."""
    people = sulq.open({name: [row[name] for row in CORNERS] for name in CORNERS[0]}, SCHEMA)
    round_ = sulq.Round(queries, share="1/10")
    offer = people.curator(**budget).offer
    together, apart = (offer.terms(round_, former).noises for former in (False, True))
    for now, before in zip(together, apart, strict=True):
        assert now is not None and before is not None and now.std <= before.std * (1 + 1e-9)
    for order in (1, 2):
        alone = sum(sulq.Round([each]).sensitivity(SCHEMA, order) for each in queries)  # type: ignore[arg-type]
        assert sulq.Round(queries).sensitivity(SCHEMA, order) <= alone  # type: ignore[arg-type]


def test_a_conditional_mean_has_a_third_less_noise() -> None:
    offer = (
        sulq.open({name: [row[name] for row in CORNERS] for name in CORNERS[0]}, SCHEMA)
        .curator(epsilon=1)
        .offer
    )
    round_ = sulq.Round([sulq.mean("x", where="sick")], share=1)
    together, apart = offer.terms(round_).noises[1], offer.terms(round_, former=True).noises[1]
    assert isinstance(together, DiscreteLaplace) and isinstance(apart, DiscreteLaplace)
    assert (together.scale, apart.scale) == (2, 3)


def test_where_rows_come_or_go_nothing_changes() -> None:
    query = sulq.mean("x", where="sick")
    assert sulq.Round([query]).sensitivity(SCHEMA, 1, "add-remove") == 2


def test_by_tolerances_a_round_costs_less_and_has_the_same_noise() -> None:
    offer = (
        sulq.open({name: [row[name] for row in CORNERS] for name in CORNERS[0]}, SCHEMA)
        .curator(epsilon=9)
        .offer
    )
    settings: Any = {"tolerance": 50, "beta": "0.01"}
    round_ = sulq.Round([sulq.total("x", where="sick", **settings), sulq.count(where="sick", **settings)])
    together, apart = offer.terms(round_), offer.terms(round_, former=True)
    assert together.noises == apart.noises
    assert together.cost < Fraction(7, 10) * apart.cost


def test_what_an_earlier_version_released_keeps_its_wider_error() -> None:
    people = sulq.open({name: [row[name] for row in CORNERS] for name in CORNERS[0]}, SCHEMA)
    curator = people.curator(epsilon=1)
    round_ = sulq.Round([sulq.total("x", where="sick"), sulq.count(where="sick")], share=1)
    terms = curator.offer.terms(round_)
    released = {"sums": [[0], [5]], "choices": []}
    old = curator.offer.read(round_, terms, released)[1]
    new = curator.offer.read(round_, terms, released | {"jointly": True})[1]
    assert old.deviation == pytest.approx(1.5 * new.deviation, rel=0.02)
    curator.ask(round_)
    [answer] = [entry.answer for entry in curator.kept(round_) if entry.answer is not None]
    assert json.loads(answer)["jointly"] is True
