"""Scores of a choice: whole steps, and no row moves one further than is claimed."""

from __future__ import annotations

import itertools
from typing import Any, Literal

import numpy as np
import pytest

import sulq
from sulq.queries.scope import Scope


def scores(
    choice: sulq.queries.choose.Choice, scope: Scope, rows: list[tuple[int, int]], labels: int
) -> np.ndarray:
    columns = {"a": [a for a, _ in rows], "b": [(a + y) % 2 for a, y in rows], "y": [y for _, y in rows]}
    people = sulq.open({name: np.array(column, dtype=int) for name, column in columns.items()}, scope.schema)
    return choice.scores(people.sums(choice.parts), scope)


@pytest.mark.parametrize("score", ["majority", "purity", (1, 7, 3)])
@pytest.mark.parametrize("labels", [2, 3])
def test_a_row_moves_every_score_the_same_way_by_no_more_than_its_steps(
    score: Literal["majority", "purity"] | tuple[int, ...], labels: int
) -> None:
    """Every table of up to three rows of two values and two or three labels, and every row added to it."""
    score = score[:labels] if isinstance(score, tuple) else score
    schema = sulq.Schema({"a": sulq.Integer(0, 1), "b": sulq.Integer(0, 1), "y": sulq.Integer(0, labels - 1)})
    scope = Scope(schema)
    choice = sulq.choose(["a", "b"], label="y", score=score)
    steps = choice.steps(scope)
    claimed = {"majority": 1, "purity": labels + 4}
    assert steps == (7 * (labels + 3) if isinstance(score, tuple) else claimed[score])
    assert choice.moves(scope, "replace") == choice.size(scope) == steps
    kinds = list(itertools.product(range(2), range(labels)))
    largest = 0
    for number in range(1, 4):
        for rows in itertools.combinations_with_replacement(kinds, number):
            before = scores(choice, scope, list(rows), labels)
            after = [scores(choice, scope, [*rows, kind], labels) for kind in kinds]
            for own in after:
                assert np.all(own >= before) and np.all(own - before <= steps)
                largest = max(largest, int((own - before).max()))
            for one, other in itertools.product(after, repeat=2):
                assert np.all(np.abs(one - other) <= steps), "a row replaced by another"
    assert largest == steps, "and no smaller bound holds"


def test_purity_sees_what_majorities_do_not() -> None:
    """A split that leaves the majority everywhere, and makes it much more certain on one side."""
    y = np.r_[np.zeros(90), np.ones(10), np.zeros(60), np.ones(40)].astype(bool)
    telling, idle = np.arange(200) < 100, np.arange(200) % 2 == 0
    people = sulq.open(
        {"idle": idle, "telling": telling, "y": y}, {n: sulq.Boolean() for n in ("idle", "telling", "y")}
    )
    for score, best in (("majority", 0), ("purity", 1)):
        [which] = people.exact().ask(sulq.Round([sulq.choose(["idle", "telling"], label="y", score=score)]))  # type: ignore[arg-type]
        assert which.value == best


def test_a_choice_is_read_back_with_its_score() -> None:
    asked = sulq.Round([sulq.choose(["a"], label="y", score="purity")], share=1)
    assert sulq.queries.reading.parse_round(asked.canonical) == asked
    with pytest.raises(sulq.QueryError, match="purity"):
        sulq.choose(["a"], label="y", score="gain")  # type: ignore[arg-type]


def test_weights_see_rates_change_where_one_label_is_rare() -> None:
    """Rates of 2 % and 18 %: far from the quarter and the half at which the other scores see anything."""
    y = np.r_[np.ones(20), np.zeros(980), np.ones(180), np.zeros(820)].astype(bool)
    telling, idle = np.arange(2000) < 1000, np.arange(2000) % 2 == 0
    kinds = {name: sulq.Boolean() for name in ("idle", "telling", "y")}
    people = sulq.open({"idle": idle, "telling": telling, "y": y}, kinds)
    for score, best in (("majority", 0), ("purity", 0), ((1, 9), 1)):
        [which] = people.exact().ask(sulq.Round([sulq.choose(["idle", "telling"], label="y", score=score)]))  # type: ignore[arg-type]
        assert which.value == best


def test_weights_are_read_back_and_those_that_make_no_sense_are_refused() -> None:
    weighed = sulq.Round([sulq.choose(["a"], label="y", score=(1, 7))], share=1)
    assert weighed.form["queries"][0]["score"] == [1, 7]
    assert sulq.queries.reading.parse_round(weighed.canonical) == weighed
    wrong: list[Any] = [(), (0, 1), (1, 1001), (1.5, 2), (True, 2), [1, 7], None]
    for score in wrong:
        with pytest.raises(sulq.QueryError, match="a whole weight from 1 to 1000 for each label"):
            sulq.choose(["a"], label="y", score=score)
    people = sulq.open({"a": [1], "y": [1]}, {"a": sulq.Boolean(), "y": sulq.Boolean()})
    for oracle in (people.exact(), people.curator(epsilon=1)):
        with pytest.raises(sulq.QueryError, match="there are 2 labels, and the score has 3 weights"):
            oracle.ask(sulq.Round([sulq.choose(["a"], label="y", score=(1, 2, 3))], share=1))


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_scores_on_a_coarser_grid_move_no_further_than_stated(
    neighbours: Literal["replace", "add-remove"],
) -> None:
    """What one row adds at most is no whole number of steps: wherever the sum was, it moves by one more at most."""
    scope = Scope(sulq.Schema({"a": sulq.Real(0, 1000), "b": sulq.Real(0, 1e-4)}))
    choice = sulq.choose([sulq.total(sulq.col("a") + sulq.col("b")), sulq.total(sulq.col("a"))])
    moves, part = choice.moves(scope, neighbours), scope.number(choice.parts[0])
    assert choice.size(scope) <= 2**31 and choice.score_step(scope) > part.unit
    assert part.magnitude * part.unit / choice.score_step(scope) % 1 > 0
    grown = []
    for start in (0, 1, part.magnitude // 3, 3**17, 5**20):
        before, after = (
            choice.scores([np.array([each], dtype=object), np.array([0], dtype=object)], scope)[0, 0]
            for each in (start, start + part.magnitude)
        )
        grown.append(after - before)
    assert max(grown) == moves and min(grown) >= moves - 1
