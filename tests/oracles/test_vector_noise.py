"""Sums of vectors under pure ε: which noise they get, what it costs for all pairs of rows, and its error bars."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sulq
from sulq.privacy.noise import DiscreteGaussian, DiscreteLaplace
from sulq.privacy.spherical import SphericalLaplace
from sulq.queries.exchanged import vector_moves
from sulq.serve.trial import trial
from sulq.talk.combined import Term, combined
from sulq.talk.law_forms import law_form, law_of
from sulq.talk.vector_law import VectorNoise
from tests.effort import either, most

col = sulq.col
COLUMNS = {
    "x": sulq.Real(-1, 1),
    "y": sulq.Real(0, 2),
    "z": sulq.Integer(-3, 3),
    "a": sulq.Boolean(),
    "c": sulq.Category(["u", "v"]),
}
CORNERS = [
    dict(zip(COLUMNS, values, strict=True))
    for values in itertools.product((-1.0, 0.25, 1.0), (0.0, 2.0), (-3, 3), (False, True), ("u", "v"))
]
POINT = sulq.vector("x", "y", "z")
QUERIES: dict[str, list[Any]] = {
    "a vector": [sulq.total(POINT)],
    "features": [sulq.total(sulq.features("x", "y", "z"))],
    "a vector by groups": [sulq.total(POINT, by="c")],
    "by two groups": [sulq.total(sulq.features("x", "y", norm=1), by=["c", "a"])],
    "a vector of some rows": [sulq.total(POINT, where="a")],
    "several of the same rows": [
        sulq.total(POINT, where="a"),
        sulq.count(where="a"),
        sulq.total(sulq.features("x", "z"), where="a", by="c"),
    ],
    "a mean": [sulq.mean(POINT, by="c")],
    "products": [sulq.total(sulq.gram(sulq.features("x", "y", "z", norm=1)))],
    "all of it": [
        sulq.total(POINT),
        sulq.count(by="c"),
        sulq.total("x"),
        sulq.total(sulq.features("x", "y")),
    ],
}
PROMISES: list[dict[str, Any]] = [{}, {"neighbours": "add-remove"}]


def people(rows: list[dict[str, Any]], unit: sulq.Unit | None = None) -> sulq.Source:
    table = {name: [row[name] for row in rows] for name in COLUMNS}
    return sulq.open(table | {"who": list(range(len(rows)))}, sulq.Schema(COLUMNS, unit))


def added(queries: list[Any]) -> list[list[list[int]]]:
    """What every corner adds to each sum, in steps."""
    source = people(CORNERS)
    parts = [part for query in queries for part in query.parts]
    columns = [
        np.rint(np.reshape(source.values(part), (len(CORNERS), -1)) / float(source.scope.number(part).unit))
        for part in parts
    ]
    return [[column[row].astype(int).tolist() for column in columns] for row in range(len(CORNERS))]


def lost(noise: Any, one: list[int], two: list[int]) -> float:
    """The logarithm of the largest ratio of likelihoods: lengths over scales."""
    moves = np.array(one) - np.array(two)
    if noise is None:
        return math.inf if moves.any() else 0.0
    if isinstance(noise, DiscreteLaplace):
        return float(np.abs(moves).sum() / noise.scale)
    return float(np.linalg.norm(moves.reshape(-1, noise.width), axis=1).sum() / float(noise.scale))


@pytest.mark.parametrize("promise", PROMISES, ids=["replace", "add-remove"])
@pytest.mark.parametrize("queries", QUERIES.values(), ids=QUERIES)
def test_a_round_costs_what_its_worst_pair_of_rows_loses(queries: list[Any], promise: dict[str, Any]) -> None:
    offer = people(CORNERS).curator(epsilon=1, **promise).offer
    terms = offer.terms(sulq.Round(queries, share="1/2"))
    rows = added(queries)
    nobody = [[0] * len(steps) for steps in rows[0]]
    pairs = itertools.combinations(rows, 2) if not promise else ((row, nobody) for row in rows)
    worst = max(sum(map(lost, terms.noises, one, two)) for one, two in pairs)
    assert worst <= float(terms.cost) * (1 + 1e-9)
    assert terms.cost == Fraction(1, 2)


@pytest.mark.parametrize("queries", QUERIES.values(), ids=QUERIES)
@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_vectors_move_as_far_as_is_said_and_some_rows_do_it(queries: list[Any], neighbours: Any) -> None:
    scope = people(CORNERS).scope
    for query in queries:
        for place, part in enumerate(query.parts):
            moved = vector_moves(scope, part, neighbours)
            if moved is None:
                continue
            rows = np.array(
                [np.reshape(row[place], (-1, moved.width)) for row in added([query])], dtype=float
            )
            if neighbours == "replace":
                apart = np.linalg.norm(rows[:, None] - rows[None], axis=-1).sum(axis=-1).max()
            else:
                apart = np.linalg.norm(rows, axis=-1).sum(axis=-1).max()
            furthest = float(moved.moves / scope.number(part).unit)
            assert apart <= furthest * (1 + 1e-9)
            assert apart >= 0.7 * furthest


def test_a_person_with_several_rows_moves_as_many_times_as_much() -> None:
    rows = CORNERS[:4]
    [part] = sulq.total(POINT, by="c").parts
    one = vector_moves(people(rows).scope, part, "replace")
    three = vector_moves(people(rows, sulq.Unit("who", 3)).scope, part, "replace")
    assert one is not None and three is not None
    assert three.moves == 3 * one.moves
    [noise] = (
        people(rows, sulq.Unit("who", 3))
        .curator(epsilon=1)
        .offer.terms(sulq.Round([sulq.total(POINT)], share=1))
        .noises
    )
    assert isinstance(noise, SphericalLaplace)


def test_the_narrower_noise_is_chosen() -> None:
    schema = sulq.Schema(
        {f"x{i}": sulq.Real(-1, 1) for i in range(8)} | {"c": sulq.Category(list("abcdefgh"))}
    )
    offer = sulq.open({name: [] for name in schema.attributes}, schema).curator(epsilon=1).offer
    everything = sulq.features(*(f"x{i}" for i in range(8)))
    cases = {
        "a box": (sulq.total(everything), SphericalLaplace, math.sqrt(16 / 9)),
        "a ball": (sulq.total(sulq.clip_norm(everything, 1)), SphericalLaplace, math.sqrt(16 / 9)),
        "a box by groups": (sulq.total(everything, by="c"), SphericalLaplace, math.sqrt(16 / 9)),
        "products": (
            sulq.total(sulq.gram(sulq.clip_norm(everything, 1))),
            SphericalLaplace,
            math.sqrt(72 / 37),
        ),
        "a short 1-norm": (sulq.total(sulq.clip_norm(everything, 1, order=1)), DiscreteLaplace, 1),
        "counts": (sulq.count(by="c"), DiscreteLaplace, 1),
        "one number": (sulq.total("x0"), DiscreteLaplace, 1),
    }
    for name, (query, kind, gain) in cases.items():
        round_ = sulq.Round([query], share=1)
        [best], [plain] = offer.terms(round_).noises, offer.terms(round_, vectors=False).noises
        assert isinstance(best, kind) and isinstance(plain, DiscreteLaplace), name
        assert plain.std / best.std == pytest.approx(gain, rel=1e-3), name
    for other in ({"rho": 1}, {"epsilon": 1, "delta": "1e-6"}):
        gaussian = sulq.open({name: [] for name in schema.attributes}, schema).curator(**other).offer
        assert isinstance(
            gaussian.terms(sulq.Round([sulq.total(everything)], share=1)).noises[0], DiscreteGaussian
        )
    printed = sulq.open({name: [] for name in schema.attributes}, schema).curator(
        epsilon=1, calibration="sulq-laplace", queries=100
    )
    assert isinstance(printed.offer.terms(sulq.Round([sulq.total(everything)])).noises[0], DiscreteLaplace)


def test_numbers_that_are_asked_one_by_one_have_laplace_noise_each() -> None:
    """Noise by coordinates, as before there was noise for vectors; and as the SuLQ paper prints it, by name."""
    schema = sulq.Schema({name: sulq.Real(-1, 1) for name in "xyz"})
    source = sulq.open({name: [0.5] for name in schema.attributes}, schema)
    offer = source.curator(epsilon=1).offer
    together = sulq.Round([sulq.total(sulq.vector("x", "y", "z"))], share=1)
    each = offer.terms(sulq.Round([sulq.total(name) for name in "xyz"], share=1))
    assert each.noises == offer.terms(together, vectors=False).noises * 3
    assert isinstance(each.noises[0], DiscreteLaplace) and isinstance(
        offer.terms(together).noises[0], SphericalLaplace
    )
    printed = source.curator(epsilon=1, calibration="sulq-laplace", queries=3).offer.terms(together)
    assert isinstance(printed.noises[0], DiscreteLaplace) and printed.cost == 3
    assert float(printed.noises[0].scale) == pytest.approx(float(each.noises[0].scale))


@pytest.mark.parametrize(("neighbours", "gain"), [("replace", 1.358), ("add-remove", 1.395)])
def test_products_of_eight_columns_gain_less_where_rows_are_replaced(neighbours: Any, gain: float) -> None:
    """64/(√18.5·√120), and 36/(√18.5·6)."""
    columns = {f"x{i}": sulq.Real(-1, 1) for i in range(8)}
    offer = sulq.open({name: [] for name in columns}, columns).curator(epsilon=1, neighbours=neighbours).offer
    for value, least in ((sulq.features(*columns), 4 / 3), (sulq.gram(sulq.features(*columns)), gain)):
        round_ = sulq.Round([sulq.total(value)], share=1)
        [best], [plain] = offer.terms(round_).noises, offer.terms(round_, vectors=False).noises
        assert (
            best is not None and plain is not None and plain.std / best.std == pytest.approx(least, rel=1e-3)
        )


def test_the_weights_of_a_round_mean_what_they_mean_for_laplace_noise() -> None:
    """A sum of weight 3 is three times as exact, whichever noise both get."""
    offer = people(CORNERS).curator(epsilon=1).offer
    unit = sulq.features("x", "y", "z")
    alike, double = (
        offer.terms(sulq.Round([sulq.total(unit, weight=w), sulq.total(sulq.features("x"))], share=1)).noises
        for w in (1, 3)
    )
    assert alike[0].std == pytest.approx(alike[1].std, rel=1e-6)
    assert 3 * double[0].std == pytest.approx(double[1].std, rel=1e-6)


def test_tolerances_are_kept_and_cost_less() -> None:
    """More than `most` are missed with a chance below 10^-8."""
    source = people(CORNERS * 40)
    query = sulq.total(sulq.features("x", "y", "z"), tolerance=60, beta="1/20")
    curator, runs = source.curator(epsilon=10**6), either(60, 600)
    round_ = sulq.Round([query])
    terms, plain = curator.offer.terms(round_), curator.offer.terms(round_, vectors=False)
    assert isinstance(terms.noises[0], SphericalLaplace) and terms.cost < plain.cost
    [true] = source.exact().ask(round_)
    missed = 0
    for run in range(runs):
        [answer] = curator.ask(round_, f"run {run}")
        missed += bool((np.abs(answer.value - true.value) > 60).any())
    assert missed <= most(runs, 0.05)


def test_error_bars_cover_as_often_as_they_say_and_hardly_more() -> None:
    source, many = people(CORNERS), either(400, 4000)
    query = sulq.total(sulq.features("x", "y", "z"), by="c")
    [true] = source.exact().ask(sulq.Round([query]))
    curator = source.curator(epsilon=many)
    misses, each = 0, 0
    for run in range(many):
        [answer] = curator.ask(sulq.Round([query], share=Fraction(1, many)), str(run))
        off = np.abs(answer.value - true.value)
        assert isinstance(answer.law, VectorNoise)
        misses += bool((off > answer.radius(0.1)).any())
        each += int(off.ravel()[0] > answer.law.each(0.1))
    assert misses <= 0.1 * many + 6 * math.sqrt(0.1 * many)
    assert abs(each - 0.1 * many) <= 6 * math.sqrt(0.1 * many)


def test_a_sum_of_numbers_of_one_vector_is_bounded_by_their_law() -> None:
    law = VectorNoise(Fraction(2**20), width=6, step=Fraction(1, 2**20), numbers=12)
    weights = np.array([3.0, -1.0, 0.5, 0, 0, 0, 1.0, 1.0, 0, 0, 2.0, 0])
    term = Term(law, float(weights @ weights), float(np.abs(weights).max()), float(np.abs(weights).sum()))
    draws = law.distribution.sample(12 * either(4000, 40_000)).astype(float).reshape(-1, 12) / 2**20
    off = np.abs(draws @ weights)
    for beta in (0.2, 0.05, 0.01):
        bound = combined([term], beta)
        share = float((off > bound).mean())
        assert share <= beta + 6 * math.sqrt(beta / len(off))
        # The quantile of so many draws is off by more than this once in 10^9 times.
        sure = 6 * math.sqrt(beta * (1 - beta) / len(off))
        assert bound <= 2 * float(np.quantile(off, 1 - beta + sure))
    single = Term(law, 4.0, 2.0, 2.0)
    assert combined([single], 0.05) == 2 * law.each(0.05)


def test_the_law_has_a_form_and_nonsense_has_none() -> None:
    law = VectorNoise(Fraction(7, 2), width=3, step=Fraction(1, 4), numbers=6)
    form = law_form(law)
    assert json.loads(json.dumps(form)) == form and form["law"] == "vector noise"
    assert law_of(form) == law and law.times(2.0).radius(0.1) == 2 * law.radius(0.1)
    for wrong in (
        {"numbers": 7},
        {"width": 0},
        {"parameter": "0"},
        {"step": "-1"},
        {"numbers": 0},
        {"more": 1},
    ):
        with pytest.raises(sulq.SulqError):
            law_of(form | wrong)


@pytest.mark.parametrize("beta", [0.05, 0.5, 0.9])
def test_a_tolerance_never_costs_more_by_vectors_than_number_by_number(beta: float) -> None:
    offer = people(CORNERS).curator(epsilon=1).offer
    round_ = sulq.Round([sulq.total(POINT, tolerance=50, beta=beta)])
    assert offer.terms(round_).cost <= offer.terms(round_, vectors=False).cost


def test_answers_that_an_earlier_version_stored_keep_their_wider_bars(tmp_path: Path) -> None:
    curator = people(CORNERS).curator(epsilon=1)
    round_ = sulq.Round([sulq.total(POINT)], share="1/2")
    terms = curator.offer.terms(round_)
    stored = json.loads(curator._release(round_, terms))
    assert stored["vectors"] is True
    [new] = curator.offer.read(round_, terms, stored)
    [old] = curator.offer.read(
        round_, terms, {key: value for key, value in stored.items() if key != "vectors"}
    )
    [plain] = curator.offer.terms(round_, vectors=False).noises
    assert isinstance(new.law, VectorNoise)
    assert old.law.distribution == plain and old.radius(0.05) > new.radius(0.05)


def test_a_curator_elsewhere_says_the_same_law_and_the_same_error_beforehand() -> None:
    round_ = sulq.Round([sulq.mean(POINT), sulq.total(POINT, by="c")], share="1/2")
    with trial(people=people(CORNERS).curator(epsilon=1)) as (url, key):
        remote = sulq.connect(url, key, "people")
        before = remote.error(round_, 0.05)
        answers = remote.ask(round_)
    assert isinstance(answers[1].law, VectorNoise)
    assert float(np.max(answers[1].radius(0.05))) == before[1]
    assert float(np.max(answers[0].radius(0.05))) == pytest.approx(before[0])


def test_no_rows_and_no_row_that_counts_get_the_noise_all_the_same() -> None:
    for source, where in ((people([]), None), (people(CORNERS), col("x") > 5)):
        curator = source.curator(epsilon=1, neighbours="add-remove")
        [answer] = curator.ask(sulq.Round([sulq.total(POINT, where=where, by="c")], share=1))
        assert isinstance(answer.law, VectorNoise) and np.abs(answer.value).min() > 0


def test_noise_of_vectors_is_drawn_anew_for_every_group_and_is_not_correlated() -> None:
    many = either(2000, 20_000)
    schema = sulq.Schema({"x": sulq.Real(-1, 1), "y": sulq.Real(-1, 1), "g": sulq.Integer(0, many - 1)})
    source = sulq.open({"x": [0.0], "y": [0.0], "g": [0]}, schema)
    [answer] = source.curator(epsilon=1).ask(
        sulq.Round([sulq.total(sulq.features("x", "y"), by="g")], share=1)
    )
    off = np.reshape(answer.value, (many, 2))
    for one, two in ((off[:, 0], off[:, 1]), (off[1:, 0], off[:-1, 0])):
        assert abs(float(np.corrcoef(one, two)[0, 1])) < 9 / math.sqrt(
            many
        )  # heavy tails: still 6 deviations
    assert off.std() == pytest.approx(answer.deviation, rel=12 / math.sqrt(many))
    # What is far off in one number is more often far off in the other: the vector is long.
    assert float(np.corrcoef(*np.abs(off).T)[0, 1]) > 0


def test_conditions_that_are_shared_are_accounted_by_vectors_too() -> None:
    """Where both rows satisfy the condition the vector moves further, and the count does not: it is free."""
    alone, both = (
        people(CORNERS).curator(epsilon=1).offer.terms(sulq.Round(queries, share=1)).noises
        for queries in (
            [sulq.total(POINT, where="a")],
            [sulq.total(POINT, where="a"), sulq.count(where="a", weight="1/100")],
        )
    )
    assert isinstance(both[0], SphericalLaplace) and both[0] == alone[0]
