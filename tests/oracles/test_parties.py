"""Columns in different hands: estimates without bias, errors that cover, and no more than each party promised."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sulq
from sulq.errors import AdaptivityError
from sulq.oracles.parties_plan import Factor, best_buckets, deviation
from sulq.oracles.parties_round import PartiesRound
from sulq.oracles.sketches import Sketch, estimated
from sulq.queries.factored import Products
from sulq.queries.query import moves
from sulq.queries.rounds import Ahead
from sulq.queries.scope import scope_of
from sulq.serve.trial import trial
from tests.effort import either, most, runs

col = sulq.col
ID = sulq.Integer(0, 10**6)
SURE = 1e-9
ROWS = 2000


def table(columns: dict[str, Any], kinds: dict[str, Any], unit: sulq.Unit | None = None) -> sulq.Source:
    return sulq.open(columns, sulq.Schema({"id": ID} | kinds, unit))


def tables(rows: int = ROWS) -> tuple[sulq.Source, sulq.Source, sulq.Source]:
    """A whole table, and its columns in two hands whose rows are in other orders."""
    rng = np.random.default_rng(11)
    kinds = {
        "a": sulq.Boolean(),
        "x": sulq.Real(-1, 1),
        "b": sulq.Boolean(),
        "y": sulq.Real(0, 2),
        "d": sulq.Category(["no", "yes"], missing="no"),
    }
    a, x = rng.random(rows) < 0.4, rng.uniform(-1, 1, rows)
    b = rng.random(rows) < np.where(a, 0.8, 0.2)
    whole = {"a": a, "x": x, "b": b, "y": np.clip(x + 1, 0, 2), "d": np.where(b & (x > 0), "yes", "no")}
    hands = []
    for names in (("a", "x"), ("b", "y", "d")):
        order = rng.permutation(rows)
        columns = {"id": order} | {name: whole[name][order] for name in names}
        hands.append(table(columns, {name: kinds[name] for name in names}))
    return sulq.open(whole, kinds), *hands


WHOLE, HERE, THERE = tables()
BOTH = sulq.Round(
    [
        sulq.total(sulq.gram(sulq.features("x", "y"))),
        sulq.count(by=["a", "d"]),
        sulq.mean("b", where="a"),
        sulq.total("y", where=col("a") & (col("x") > 0), by="a"),
        sulq.count(where=~(col("a") & col("b"))),
        sulq.count(where="a"),
        sulq.count(),
    ],
    share=1,
)


def curators(**promise: Any) -> sulq.Parties:
    return sulq.parties({"here": HERE.curator(**promise), "there": THERE.curator(**promise)}, "id")


PROMISES = [
    {"epsilon": 8},
    {"epsilon": 6, "delta": "1e-6"},
    {"rho": 1},
    {"epsilon": 8, "neighbours": "add-remove"},
]


@pytest.mark.parametrize("promise", PROMISES, ids=str)
def test_all_answers_are_within_their_errors(promise: dict[str, Any]) -> None:
    """Of about 15 numbers one is off further once in 10^8 runs."""
    asked = sulq.parties([HERE.curator(**promise), THERE.curator(**promise)], "id", people=ROWS)
    for answer, true in zip(asked.ask(BOTH), WHOLE.exact().ask(BOTH), strict=True):
        assert np.shape(answer.value) == np.shape(true.value)
        assert (np.abs(answer.value - true.value) <= answer.radius(SURE)).all()


def test_a_party_that_is_asked_several_rounds_says_beforehand_what_all_of_them_cost() -> None:
    """Questions about a party's own columns and sketches of them are rounds of their own."""
    asked = curators(epsilon=8)
    cost = asked.cost(BOTH)
    assert cost == {"here": 8, "there": 8}
    asked.ask(BOTH)
    assert asked.spent == cost


def deviations_off(many: int, asked: sulq.Round, **promise: Any) -> np.ndarray[Any, Any]:
    """How many of its deviations the estimate is off by, under so many salts and noises."""
    [true] = WHOLE.exact().ask(asked)
    off = []
    for salt in range(many):
        hands = [HERE.curator(**promise), THERE.curator(**promise)]
        [answer] = sulq.parties(hands, "id", salt=str(salt)).ask(asked)
        off.append((answer.value - true.value) / answer.deviation)
    return np.array(off)


@pytest.mark.parametrize(
    ("value", "promise"),
    [
        (col("x") * (col("y") - 1), {"epsilon": 4}),
        # With 128 buckets: the larger ε is, the more there are, and the longer a thousand runs take.
        (col("a") & col("b"), {"epsilon": 3, "delta": "1e-6"}),
    ],
    ids=["moment", "count"],
)
def test_estimates_have_no_bias_and_errors_cover_as_often_as_stated(
    value: Any, promise: dict[str, Any]
) -> None:
    """A bias of a quarter of a deviation is caught where it is thorough; false alarms: 10^-7."""
    off = deviations_off(runs(1000, 80), sulq.Round([sulq.total(value)], share=1), **promise)
    # The mean of n is off by 5.5/√n once in 10^7.5; so is their spread by 5.5/√(2n).
    assert abs(off.mean()) < 5.5 / np.sqrt(len(off))
    assert abs(off.std() - 1) < 5.5 / np.sqrt(2 * len(off)) + 0.05


def test_three_parties_products_have_no_bias() -> None:
    """Deviations are estimates, so one in 16 may be above 1.96 of them; false alarms: 10^-7."""
    rng, rows = np.random.default_rng(3), 400
    flags = [rng.random(rows) < 0.6 for _ in range(3)]
    hands = [
        table({"id": range(rows), name: flag}, {name: sulq.Boolean()})
        for name, flag in zip("pqr", flags, strict=True)
    ]
    asked = sulq.Round([sulq.count(where=col("p") & col("q") & col("r"))], share=1)
    off = []
    for salt in range(runs(600, 60)):
        curators = [each.curator(epsilon=10) for each in hands]
        # The buckets of so few people: with more, runs take long.
        together = sulq.parties(curators, "id", people=40, salt=str(salt))
        [answer] = together.ask(asked)
        off.append((answer.value - np.logical_and.reduce(flags).sum()) / answer.deviation)
    assert abs(np.mean(off)) < 5.5 / np.sqrt(len(off))
    assert np.sum(np.abs(off) > 1.96) <= most(len(off), 0.06)


def test_one_row_moves_a_partys_sketch_by_no_more_than_its_facts_say() -> None:
    """Whatever changes in a row, its identifier too: the noise is calibrated to these facts."""
    rng = np.random.default_rng(4)
    kinds = {"id": ID, "x": sulq.Real(-1, 1), "y": sulq.Real(-1, 1)}
    schema = sulq.Schema(kinds)
    part = sulq.total(sulq.features("x", "y"), by=sulq.bucket("id", 64)).parts[0]
    bounds = {
        n: [moves(scope_of(schema), part, order, n) for order in (1, 2)] for n in ("replace", "add-remove")
    }  # type: ignore[arg-type]
    rows = {"id": np.arange(40), "x": rng.choice([-1, 1], 40), "y": rng.choice([-1, 1], 40)}
    [before] = sulq.open(rows, kinds).sums([part])
    unit, furthest = scope_of(schema).number(part).unit, Fraction(0)
    for new in range(40, 40 + either(50, 200)):
        other = {name: values.copy() for name, values in rows.items()}
        other["id"][0], other["x"][0], other["y"][0] = new, rng.choice([-1, 1]), rng.choice([-1, 1])
        fewer = {name: values[1:] for name, values in rows.items()}
        for changed, neighbours in ((other, "replace"), (fewer, "add-remove")):
            [after] = sulq.open(changed, kinds).sums([part])
            off = [Fraction(int(each)) * unit for each in after - before]
            assert sum(map(abs, off)) <= bounds[neighbours][0]
            assert sum(each**2 for each in off) <= bounds[neighbours][1]
            furthest = max(furthest, sum(map(abs, off)))
    assert furthest > bounds["replace"][0] * Fraction(99, 100)  # and the facts are not too careful


def test_a_release_is_as_likely_with_one_row_changed_as_its_promise_says() -> None:
    """ε = 1. False alarms: 10^-7, by Hoeffding's bound. A release with a tenth of the noise is caught."""
    kinds, times = {"id": ID, "x": sulq.Boolean()}, either(250, 4000)
    asked = sulq.Round([sulq.count(where="x", by=sulq.bucket("id", 64))], share=1)
    rows = {"id": [*range(1, 20), 0], "x": [True] * 20}
    changed = rows | {"id": [*range(1, 20), 77]}
    one, other = (sulq.open(each, kinds) for each in (rows, changed))
    first, last = (int(each.values(sulq.bucket("id", 64))[-1]) for each in (one, other))
    assert first != last
    released = [
        np.array([source.curator(epsilon=1).ask(asked)[0].value[[first, last]] for _ in range(times)])
        for source in (one, other)
    ]
    true = [source.exact().ask(asked)[0].value[[first, last]] for source in (one, other)]
    slack = np.sqrt(np.log(2e7) / (2 * times))
    for threshold in (-1.0, 0.0, 1.0):
        chances = [np.mean((each - true[1]) @ [1, -1] > threshold) for each in released]
        assert chances[0] <= np.exp(1) * chances[1] + (1 + np.exp(1)) * slack
    assert np.mean((released[0] - true[1]) @ [1, -1]) - np.mean((released[1] - true[1]) @ [1, -1]) > 0


def test_sketches_are_published_once_and_reused_at_no_cost() -> None:
    asked = curators(epsilon=4)
    asked.publish(sulq.one_hot(sulq.cross("a", sulq.bins("x", [0]))), share="1/2")
    asked.publish(sulq.one_hot(sulq.cross("b", "d")), share="1/2")
    spent = asked.spent
    assert spent == {"here": 2, "there": 2}
    four_way = sulq.count(by=["a", sulq.bins("x", [0]), "b", "d"])
    two_way, conditional = sulq.count(by=["d", "a"]), sulq.count(where=col("a") & col("b"))
    neither = sulq.count(where=~col("a") & ~col("b"))
    round_ = sulq.Round([four_way, two_way, conditional, neither], share=1)
    assert asked.cost(round_) == {} and asked.plan(round_).shares == {}
    for answer, true in zip(asked.ask(round_), WHOLE.exact().ask(round_), strict=True):
        assert (np.abs(answer.value - true.value) <= answer.radius(SURE)).all()
    assert asked.spent == spent
    again = curators(epsilon=4)
    again.sketches_from_json(asked.sketches_to_json())
    assert again.ask(round_)[1].value.tolist() == asked.ask(round_)[1].value.tolist()
    assert again.spent == {"here": 0, "there": 0}
    with pytest.raises(sulq.QueryError, match="other schemas or keys, or were dealt with another salt"):
        sulq.parties([THERE.exact(), HERE.exact()], "id").sketches_from_json(asked.sketches_to_json())
    with pytest.raises(sulq.QueryError, match="version 2"):
        again.sketches_from_json('{"sketches": 2}')


def test_a_sketch_that_follows_from_another_is_as_noisy_as_the_sum_it_is() -> None:
    asked = curators(epsilon=4)
    asked.publish(sulq.one_hot(sulq.cross("a", sulq.bins("x", [-0.5, 0, 0.5]))), share="1/2")
    [both] = asked.group.published.sketches.values()
    alone = asked.group.published.of(0, sulq.one_hot(sulq.bins("x", [-0.5, 0, 0.5])))
    assert alone is not None and alone.noise == both.noise * 2**0.5  # two cells of "a" for each bin
    split = both.sketch.sums.reshape(both.sketch.buckets, 2, 4)
    assert np.allclose(alone.sketch.sums, split.sum(axis=1))


def test_estimates_are_off_by_as_much_as_their_deviation_says() -> None:
    """400 times other buckets and other noise, seeded: the spread of estimates is known to 4 %."""
    rng, people, buckets = np.random.default_rng(5), 2000, 256
    values = rng.uniform(-1, 1, (people, 2))
    at = np.zeros(1, np.intp)
    products = Products(at, np.ones(1), {}, {0: at, 1: at})
    found = []
    for _ in range(400):
        dealt = rng.integers(0, buckets, people)
        sums = [np.bincount(dealt, column, buckets) + rng.normal(0, 1, buckets) for column in values.T]
        found.append(estimated(products, [Sketch(each[:, None]) for each in sums]))
    off = np.array([each.values[0] for each in found]) - values.prod(axis=1).sum()
    stated = np.mean([each.deviations[0] ** 2 for each in found])
    assert 0.85 < np.mean(off**2) / stated < 1.15


def test_sketches_that_were_dealt_with_another_salt_are_refused() -> None:
    exact = [HERE.exact(), THERE.exact()]
    asked = sulq.parties(exact, "id", salt="spring")
    asked.publish("x", share=1)
    with pytest.raises(sulq.QueryError, match="another salt"):
        sulq.parties(exact, "id", salt="autumn").sketches_from_json(asked.sketches_to_json())


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    def opened() -> sulq.Parties:
        hands = [
            HERE.curator(epsilon=8, ledger=tmp_path / "a"),
            THERE.curator(epsilon=8, ledger=tmp_path / "b"),
        ]
        return sulq.parties(hands, "id")

    first, again = opened().ask(BOTH, "mine"), opened()
    told = again.ask(BOTH, "mine")
    assert all(np.array_equal(one.value, other.value) for one, other in zip(first, told, strict=True))
    assert again.spent == {"party 1": 8, "party 2": 8}


def test_nobody_pays_if_one_party_cannot() -> None:
    poor = THERE.curator(epsilon=1)
    poor.ask(sulq.Round([sulq.count(where="b")], share="1/2"))
    asked = sulq.parties([HERE.curator(epsilon=1), poor], "id")
    with pytest.raises(
        sulq.BudgetError, match=r"^party 2: the charge of epsilon = .* exceeds what is left, 0.5"
    ):
        asked.ask(BOTH)
    with pytest.raises(sulq.BudgetError, match=r"^party 2: the charge"):
        sulq.NaiveBayes("b").learn(asked)
    with pytest.raises(sulq.BudgetError):
        sulq.NaiveBayes("a", ["b"]).learn(asked)  # whose first round is about the label alone
    assert asked.spent == {"party 1": 0, "party 2": Fraction(1, 2)}


def test_a_learner_that_is_run_again_is_free_at_all_parties() -> None:
    asked = sulq.parties([HERE.curator(epsilon=8), THERE.curator(epsilon=8)], "id")
    first = sulq.NaiveBayes("a", ["b"]).learn(asked, "again")
    spent = asked.spent
    assert sulq.NaiveBayes("a", ["b"]).learn(asked, "again") == first and asked.spent == spent


def test_a_round_pays_only_for_what_was_not_charged_before() -> None:
    """Sketches that were charged in the run are given again; the party's own sum is new."""
    crossing, mine, other = sulq.count(by=["a", "d"]), sulq.count(where="a"), sulq.total("x")
    hands = {"here": HERE.curator(epsilon=1), "there": THERE.curator(epsilon=1)}
    sulq.parties(hands, "id").ask(sulq.Round([crossing, mine], share="3/5"))
    asked = sulq.parties(hands, "id")
    asked.ask(sulq.Round([crossing, other], share="3/5"))
    assert asked.spent == {"here": Fraction(3, 5) * Fraction(17, 16), "there": Fraction(3, 5)}


def test_a_run_that_was_interrupted_between_two_rounds_of_a_party_can_be_paid_to_its_end() -> None:
    hands = {"here": HERE.curator(epsilon=1), "there": THERE.curator(epsilon=1)}
    asked = sulq.parties(hands, "id")
    own, _ = PartiesRound.of(BOTH, asked.group).rounds(0)
    hands["here"].ask(own, "mine")
    assert asked.afford(BOTH, "mine", Ahead(share=Fraction(1)))
    asked.ask(BOTH, "mine")
    assert asked.remaining == {"here": 0, "there": 0}


@pytest.mark.parametrize("exact", [False, True])
def test_a_party_that_answers_one_round_is_asked_for_no_second_and_nobody_pays(exact: bool) -> None:
    def together() -> sulq.Parties:
        once = HERE.exact(interactive=False) if exact else HERE.curator(epsilon=4, interactive=False)
        return sulq.parties({"there": THERE.curator(epsilon=4), "once": once}, "id")

    crossing = sulq.Round([sulq.count(by=["a", "d"])], share="1/4")
    asked = together()
    first = asked.ask(crossing)[0].value
    spent = asked.spent
    with pytest.raises(AdaptivityError, match=r"^once: this \w+ answers one round"):  # another round
        asked.ask(sulq.Round([sulq.total(col("x") * col("y"))], share="1/4"))
    assert asked.ask(crossing)[0].value.tolist() == first.tolist() and asked.spent == spent
    asked = together()
    with pytest.raises(AdaptivityError):  # sketches and a sum of its own are two rounds
        asked.ask(BOTH)
    assert set(asked.spent.values()) == {0}


def test_parties_elsewhere_are_asked_over_the_wire() -> None:
    with trial(hospital=HERE.curator(epsilon=8), registry=THERE.curator(epsilon=8)) as (url, key):
        asked = sulq.parties({name: sulq.connect(url, key, name) for name in ("hospital", "registry")}, "id")
        [answer] = asked.ask(sulq.Round([sulq.count(by=["a", "b"])], share=1))
        true = WHOLE.exact().ask(sulq.Round([sulq.count(by=["a", "b"])]))[0].value
        assert (np.abs(answer.value - true) <= answer.radius(SURE)).all()
        assert asked.spent == {"hospital": 8, "registry": 8}


def test_a_plan_says_the_best_number_of_buckets_and_what_comes() -> None:
    one, other = Factor(0.3**0.5, 1.0, 4.0, 3), Factor(1.0, 1.0, 9.0, 1)
    sizes = [2**power for power in range(6, 21)]
    best = best_buckets([[one, other]], 10**6)
    assert best == min(sizes, key=lambda size: deviation([one, other], 10**6, size))
    assert best == pytest.approx(10**6 * np.sqrt(0.3) / 36, rel=0.5)
    assert best_buckets([[Factor(1.0, 1.0, 1e-3, 1)] * 2], 10**6, width=1000) == 2**10
    round_ = sulq.Round([sulq.total(col("x") * (col("y") - 1))], share="1/2")
    deviations = []
    for _ in range(20):
        asked = curators(epsilon=4)
        deviations.append(asked.ask(round_)[0].deviation)
    plan = curators(epsilon=4).plan(round_)
    # Each is an estimate: of 150, the plan was 0.90 of the mean, with a deviation of 0.05. Of 20, that is 8 of theirs.
    assert plan.deviation == pytest.approx(np.mean(deviations), rel=0.2)
    assert {each.sketch.buckets for each in asked.group.published.sketches.values()} == {plan.buckets}
    assert plan.shares == {"here": 0.5, "there": 0.5}
    assert f"{plan.buckets:,} buckets for about 2,000 people." in plan.describe()
    assert "here is asked for 50 % of its budget." in plan.describe()


def test_promises_are_each_partys_own_and_add_up_for_who_is_in_all_tables() -> None:
    pure, rho = HERE.curator(epsilon=1), HERE.curator(rho=1)
    approximate = THERE.curator(epsilon=2, delta="1e-6")
    assert sulq.parties([pure, THERE.curator(epsilon=3)], "id").promise.endswith("all tables: ε = 4 (pure)")
    together = sulq.parties([pure, approximate], "id").promise.split("all tables: ")[1]
    assert together == sulq.ApproxDP(3, "1e-6").describe()
    assert sulq.parties([rho, THERE.curator(rho=2)], "id").promise.count("ρ") == 3
    assert sulq.parties([rho, approximate], "id").promise.endswith("all of these together")


def held(name: str, whose: str | None, neighbours: Any) -> sulq.Curator:
    """A curator of ten rows: one of each person, two of each home."""
    unit = None if whose is None else sulq.Unit(whose, rows=2)
    rows = {"id": range(10), "home": [place // 2 for place in range(10)], name: [True] * 10}
    # A unit's column need not be in the schema.
    return sulq.open(rows, sulq.Schema({"id": ID, name: sulq.Boolean()}, unit)).curator(
        epsilon=1, neighbours=neighbours
    )


CHANGES = [(whose, way) for whose in (None, "id", "home") for way in ("replace", "add-remove")]


def test_promises_add_up_only_where_they_are_about_the_same_change() -> None:
    """A replaced row goes and comes: beside ε = 1 for it, ε = 1 for a row that comes is 3 in all, and not 2."""
    for one, other in product(CHANGES, CHANGES):
        both = sulq.parties([held("a", *one), held("b", *other)], "id", people=10)
        known = one == other and one[0] != "home"  # whether a home here is a home there, nobody says
        together = "ε = 2 (pure)" if known else "all of these together"
        assert both.promise.split("all tables: ")[1] == together, (one, other)
