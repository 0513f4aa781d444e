"""Whom answers across parties are about, where some people are in one table only."""

from __future__ import annotations

import warnings
from contextlib import suppress
from typing import Any, Literal

import numpy as np
import pytest

import sulq
from sulq.oracles.curator import Curator
from sulq.queries.query import Neighbours
from tests.effort import most, runs
from tests.oracles.test_parties import SURE, col, table

A, B = col("a"), col("b")
MANY = table({"id": range(800), "a": [True, False] * 400}, {"a": sulq.Boolean()})
SOME = table({"id": range(500), "b": [True, True, False, True, False] * 100}, {"b": sulq.Boolean()})


@pytest.mark.parametrize("hands", [(MANY, SOME), (SOME, MANY)], ids=["many first", "some first"])
def test_what_is_denied_does_not_depend_on_who_is_first(hands: tuple[sulq.Source, sulq.Source]) -> None:
    """Of a person who is in one table only no condition of the other one holds, denied or not."""
    asked = sulq.parties([each.exact() for each in hands], "id")
    conditions = {~(A & B): 400 + 200 - 100, ~A | ~B: 400 + 200 - 100, ~(A | B): 100, ~A & ~B: 100}
    answers = asked.ask(sulq.Round([sulq.count(where=each) for each in conditions]))
    for answer, true in zip(answers, conditions.values(), strict=True):
        assert abs(answer.value - true) <= answer.radius(SURE) < 100
    assert answers[0].value == answers[1].value and answers[2].value == answers[3].value


ROWS = 2000
PEOPLE = np.random.default_rng(6)
X = PEOPLE.uniform(0, 1, ROWS)
COLUMNS: dict[str, Any] = {
    "sick": PEOPLE.random(ROWS) < 0.2 + 0.5 * X,
    "y": np.clip(X + PEOPLE.normal(0, 0.05, ROWS), 0, 1),
    "smokes": PEOPLE.random(ROWS) < 0.1 + 0.8 * X,
    "x": X,
}
KINDS: dict[str, Any] = {name: sulq.Boolean() if name[0] == "s" else sulq.Real(0, 1) for name in COLUMNS}
HAVE = {("sick", "y"): slice(0, 1600), ("smokes", "x"): slice(500, ROWS)}
IN_BOTH = sulq.open({name: column[500:1600] for name, column in COLUMNS.items()}, KINDS).exact()


def common(epsilon: int = 100, salt: str = "sulq", neighbours: Neighbours = "replace") -> sulq.Parties:
    """1,600 people here and 1,500 there, of whom 1,100 are the same."""
    hands = [
        table(
            {"id": np.arange(ROWS)[rows]} | {name: COLUMNS[name][rows] for name in names},
            {name: KINDS[name] for name in names},
        ).curator(epsilon=epsilon, neighbours=neighbours, ledger=":memory:")
        for names, rows in HAVE.items()
    ]
    return sulq.parties(hands, "id", about="common", people=1600, salt=salt)


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_all_sums_can_be_about_the_people_in_common(neighbours: Neighbours) -> None:
    """Sums of one party's columns and of none, too. Of 30 numbers one is off further once in 10^7."""
    asked = common(neighbours=neighbours)
    round_ = sulq.Round(
        [
            sulq.count(),
            sulq.count(where="sick"),
            sulq.mean("x"),
            sulq.total(sulq.gram(sulq.vector("x", "y"))),
            sulq.count(by=["sick", "smokes"]),
            sulq.mean("y", where="smokes", by="sick"),
            sulq.count(where=~(col("sick") & col("smokes"))),
            sulq.total((col("x") - 2) * (3 - col("y"))),
        ],
        share="1/2",
    )
    assert asked.cost(round_) == {"party 1": 50, "party 2": 50}
    assert None not in [
        each
        for each, q in zip(asked.error(round_, 0.05), round_.queries, strict=True)
        if q.statistic != "mean"
    ]
    assert asked.plan(round_).buckets > 0
    for answer, true in zip(asked.ask(round_), IN_BOTH.ask(round_), strict=True):
        assert (np.abs(answer.value - true.value) <= answer.radius(SURE)).all()
    assert asked.spent == {"party 1": 50, "party 2": 50}
    again = common(neighbours=neighbours)
    again.sketches_from_json(asked.sketches_to_json())
    assert again.cost(round_) == {} and again.ask(round_)[0].value == asked.ask(round_)[0].value


def test_counts_that_were_published_are_enough_for_the_people_in_common() -> None:
    asked = common()
    asked.publish(
        sulq.one_hot(sulq.cross("sick", sulq.bins("y", [0.5]))), sulq.one_hot("smokes"), share="1/2"
    )
    round_ = sulq.Round([sulq.count(), sulq.count(where="sick"), sulq.count(by=["smokes"])], share="1/2")
    assert asked.cost(round_) == {}
    for answer, true in zip(asked.ask(round_), IN_BOTH.ask(round_), strict=True):
        assert (np.abs(answer.value - true.value) <= answer.radius(SURE)).all()


def test_bars_of_tables_and_pairs_cover_the_people_in_common() -> None:
    """At 95 %, for all figures of a table at once. Where they covered 80 %, 150 runs would tell; false alarms: 10^-8."""
    true = IN_BOTH.ask(sulq.Round([sulq.count(by=["sick", "smokes"])]))[0].value.ravel()
    missed = {"table": 0, "pairs": 0}
    many = runs(150, 30)
    for salt in range(many):
        asked = common(salt=f"{salt}")
        table = sulq.Table(by=["sick", "smokes"], share="1/2").learn(asked).columns()
        missed["table"] += not covers(table["count low"][:4], true, table["count high"][:4])
        pairs = sulq.Pairs(["sick", "smokes"], share="1/2").learn(common(salt=f"{salt}"))
        found = pairs.table("sick", "smokes").columns()
        missed["pairs"] += not covers(found["low"], true, found["high"])
    assert max(missed.values()) <= most(many, 0.05)


def test_models_can_be_of_the_people_in_common() -> None:
    """At 95 % each; false alarms: 10^-8. With sums of single tables the slope is 0.3 too small, in each of 15 runs."""
    exact = sulq.LinearRegression("y", ["x"]).learn(IN_BOTH)
    bayes = sulq.NaiveBayes("sick", ["smokes"]).learn(IN_BOTH)
    missed = np.zeros(2, int)
    many = runs(100, 15)
    for salt in range(many):
        line = sulq.LinearRegression("y", ["x"], share="1/2").learn(common(2000, f"{salt}"))
        off = abs(line.coefficients[0] - exact.coefficients[0])
        assert off < 0.25
        missed[0] += off > 2 * line.deviations[0]
        [told] = sulq.NaiveBayes("sick", ["smokes"], share="1/2").learn(common(2000, f"{salt}")).effects
        away = np.abs(np.array(told.added) - np.array(bayes.effects[0].added))
        missed[1] += bool((away > 2 * np.array(told.deviations)).any())
    assert (missed <= most(many, 0.05)).all()


@pytest.mark.parametrize(
    "learner",
    [sulq.KMeans(1, ["y"]), sulq.ID3("sick", ["y"]), sulq.Classifier("sick", ["y"])],
    ids=lambda each: type(each).__name__,
)
def test_nobody_has_whole_rows_of_the_people_in_common(learner: Any) -> None:
    asked = common()
    with pytest.raises(sulq.QueryError, match="or knows who is in all tables"):
        learner.learn(asked)
    with pytest.raises(sulq.QueryError, match="or about the people whom they have in common"):
        asked.ask(sulq.Round([sulq.choose(["sick"], label="sick")], share=1))
    with pytest.raises(sulq.QueryError, match="ask with a share instead of a tolerance"):
        asked.ask(sulq.Round([sulq.count(tolerance=9, beta="0.1")]))
    assert set(asked.spent.values()) == {0}


def test_whom_sums_are_about_is_said_in_words_that_there_are() -> None:
    hands = [table({"id": [1], name: [1]}, {name: sulq.Boolean()}).exact() for name in "pqrs"]
    with pytest.raises(sulq.QueryError, match="about is 'each' or 'common', not 'all'"):
        sulq.parties(hands, "id", about="all")  # type: ignore[arg-type]
    with pytest.raises(sulq.QueryError, match="of at most 3 parties"):
        sulq.parties(hands, "id", about="common")


def test_who_learns_from_tables_of_other_sizes_is_warned_once() -> None:
    hands = [MANY.curator(epsilon=20), SOME.curator(epsilon=20)]
    learner = sulq.Table(by=["a", "b"], share="1/4")
    with pytest.warns(UserWarning, match="tables of 500 and 800 rows") as warned:
        learner.learn(sulq.parties(hands, "id"))
    assert [each.filename for each in warned] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sulq.parties(hands, "id").ask(sulq.Round([sulq.count(by=["a", "b"])], share="1/4"))
        learner.learn(sulq.parties(hands, "id", about="common", salt="another"))


def covers(low: Any, true: Any, high: Any) -> bool:
    return bool((np.asarray(low) <= true).all() and (true <= np.asarray(high)).all())


def test_pairs_of_columns_of_different_sizes_are_learned_of_the_people_in_common() -> None:
    ids, kinds = np.arange(600), np.array(list("uvw"))
    here = table({"id": ids, "a": ids % 2 == 0}, {"a": sulq.Boolean()}).curator(epsilon=50)
    there = table({"id": ids, "k": kinds[ids % 3]}, {"k": sulq.Category(list("uvw"), missing="u")})
    asked = sulq.parties([here, there.curator(epsilon=50)], "id", about="common")
    learned = sulq.Pairs(["a", "k"], share=1).learn(asked)
    assert np.shape(learned.table("a", "k").value) == (2, 3)


@pytest.mark.parametrize("about", ["each", "common"])
def test_a_learner_that_failed_anywhere_goes_on_where_it_stopped(
    about: Literal["each", "common"], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It fails at each question once, and costs what it costs without that."""
    ask, costs = Curator.ask, []
    for failing in range(6):
        hands = [
            table({"id": range(400), name: [True, False] * 200}, {name: sulq.Boolean()}) for name in "ab"
        ]
        asked = sulq.parties([hand.curator(epsilon=500) for hand in hands], "id", about=about)
        left = [failing]

        def failing_once(self: Curator, *args: Any, left: list[int] = left, **settings: Any) -> Any:
            left[0] -= 1
            if left[0] == 0:
                raise ConnectionError("gone for a moment")
            return ask(self, *args, **settings)

        monkeypatch.setattr(Curator, "ask", failing_once)
        learner = sulq.NaiveBayes("b", ["a"], share=1)
        with suppress(ConnectionError):
            learner.learn(asked)
        learner.learn(asked)
        costs.append(asked.spent)
    assert all(cost == costs[0] for cost in costs)
