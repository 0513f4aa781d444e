"""How much a tree asks at each of its levels: as much as its rows and its noise allow."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

import numpy as np
import pytest

import sulq
from sulq.learners.growth import Draft
from sulq.learners.id3 import ID3
from sulq.learners.levels import needed
from sulq.queries.choose import Choice
from sulq.queries.scope import scope_of
from sulq.talk.answers import Answer
from sulq.talk.laws import Noise

MANY = sulq.Schema(
    {f"x{i}": sulq.Boolean() for i in range(16)} | {"y": sulq.Category(["n", "u", "v"], missing="n")}
)


def test_of_many_columns_one_is_asked_about_and_then_a_pair_in_each_of_its_nodes() -> None:
    """Neither of the pair changes a majority without the other."""
    bits = np.random.default_rng(0).random((8_000, 16)) < 0.5
    kinds = np.where(~bits[:, 0], "n", np.where(bits[:, 3] ^ bits[:, 7], "u", "v"))
    rows = {f"x{i}": bits[:, i] for i in range(16)} | {"y": kinds}
    people = sulq.open(rows, MANY)
    # 2,000 rows are won or lost by each choice, and 1,000 lie at each end: a miss has a chance below 1e-9.
    for oracle in (people.exact(), people.curator(epsilon=2)):
        assert (ID3("y").learn(oracle).predict(rows) == kinds).all()


def noise(family: Literal["laplace", "gaussian"], rarely: float) -> Noise:
    """Three numbers with noise, each of which is this far off once in 10,000 times."""
    unscaled = Noise(family, Fraction(2**30), Fraction(1), 3)
    return unscaled.times(rarely / unscaled.each(1e-4))


@pytest.mark.parametrize(("radius", "share"), [(10.0, "1/50"), (1000.0, "2/25")])
def test_the_first_choice_takes_what_the_rows_ask_for(radius: float, share: str) -> None:
    asked = ID3("y").rounds(MANY)
    assert next(asked).share == Fraction(1, 50)
    counts = Answer(np.array([3000.0, 600.0, 400.0]), noise("laplace", radius))
    assert asked.send([counts, Answer(4000.0)]).share == Fraction(share)
    where = Answer(0)
    after = asked.send([where])
    assert after.share == Fraction(19, 50) - Fraction(share)


@pytest.mark.parametrize(
    ("radius", "shares"), [(1000.0, ["2/25", "3/10"]), (1e4, ["19/50", "3/5"]), (1e6, ["49/50"])]
)
def test_a_tree_has_no_more_ends_than_leave_the_most_frequent_label_certain(
    radius: float, shares: list[str]
) -> None:
    """Of three questions, of one, or of none: then all of the budget counts the labels."""
    asked = ID3("y").rounds(MANY)
    next(asked)
    counts = Answer(np.array([3000.0, 600.0, 400.0]), noise("laplace", radius))
    round_ = asked.send([counts, Answer(4000.0)])
    for share in shares:
        assert round_.share == Fraction(share)
        round_ = asked.send([Answer(0)]) if share != shares[-1] else round_
    assert len(shares) > 1 or round_.queries[0].statistic == "count"


def test_what_a_choice_needs_follows_from_how_noise_does_from_a_share() -> None:
    """4 times the noise of 2,000 is 8 times 1,000 rows: so many shares for Laplace noise, 64 for Gaussian."""
    counts = np.array([3000.0, 600.0, 400.0])
    laplace, gaussian = (Answer(counts, noise(family, 2000)) for family in ("laplace", "gaussian"))
    assert [float(needed(answer, again=4)) for answer in (laplace, gaussian)] == pytest.approx([8, 64])


def test_rows_that_are_not_public_are_counted_again_where_noise_hides_whether_they_are_enough() -> None:
    """4,000 rows: a first count that is off by thousands tells nothing, and a fourth of its noise does."""
    asked = ID3("y").rounds(MANY)
    next(asked)
    counts, about = np.array([3000.0, 600.0, 400.0]), Answer(4000.0, noise("laplace", 1e6))
    again = asked.send([Answer(counts, noise("laplace", 16_000)), about])
    assert again.share == Fraction(2, 25) and len(again.queries) == 1
    choice = asked.send([Answer(counts, noise("laplace", 4_000))])
    assert all(isinstance(query, Choice) for query in choice.queries)
    # What both counts cost is missing from the choices: two fifths of the budget, but for a tenth.
    assert choice.share == Fraction(3, 10)


def test_rows_that_are_not_public_are_counted_once_where_they_are_certainly_enough() -> None:
    asked = ID3("y").rounds(MANY)
    next(asked)
    counts, about = np.array([3000.0, 600.0, 400.0]), Answer(4000.0, noise("laplace", 1e6))
    choice = asked.send([Answer(counts, noise("laplace", 100)), about])
    assert all(isinstance(query, Choice) for query in choice.queries)


@pytest.mark.parametrize(("others", "label"), [((100.0, 80.0), 1), ((1000.0, 0.0), 0)])
def test_noise_turns_an_end_sooner_where_the_labels_above_are_as_frequent(
    others: tuple[float, float], label: int
) -> None:
    """A lead of 15 rows, with noise of 10: it counts where the label above is hardly ahead there."""
    schema = sulq.Schema({"a": sulq.Boolean(), "y": sulq.Boolean()})
    draft = Draft(scope_of(schema), [sulq.col("a")])
    draft.grow({0: [0]})
    ends = dict(zip(draft.ends, [np.array([40.0, 55.0]), np.array(others)], strict=True))
    tree = draft.tree(schema, sulq.col("y"), ends, deviation=10.0, prune=0.5)
    assert [end.label for end in tree.ends] == [label, 0]
