"""A tree keeps what it was told: counts, their noise, and rates also where the label to expect is the same."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sulq
from sulq.hypotheses import Tree
from sulq.hypotheses.nodes import accuracy
from sulq.hypotheses.tree import End, Split
from sulq.sources.source import Source
from tests.effort import examples

SCHEMA = sulq.Schema({"old": sulq.Boolean(), "male": sulq.Boolean(), "sick": sulq.Boolean()})
QUESTIONS = (sulq.col("old"), sulq.col("male"))
EVERYONE = {"old": [False, False, True, True], "male": [False, True, False, True]}


def tree(root: Split | End) -> Tree:
    return Tree(SCHEMA, None, sulq.col("sick"), QUESTIONS, root)


def rarely(noise: float) -> Tree:
    """All of its ends expect false, at 2 %, 2 % and 20 %."""
    below = Split(1, (End(0, (980.0, 20.0), noise), End(0, (980.0, 20.0), noise)))
    return tree(Split(0, (below, End(0, (800.0, 200.0), noise))))


def uneven(rows: int = 20_000, seed: int = 0) -> Source:
    rng = np.random.default_rng(seed)
    old, male = rng.random(rows) < 0.3, rng.random(rows) < 0.5
    return sulq.open({"old": old, "male": male, "sick": rng.random(rows) < np.where(old, 0.3, 0.05)}, SCHEMA)


def test_a_split_is_shown_where_rates_differ_and_labels_do_not() -> None:
    assert rarely(5.0).describe().splitlines() == [
        "old is false: false (2000 rows, 98 % ± 0.7)",
        "old is true: false (1000 rows, 80 % ± 0.8)",
    ]
    assert rarely(500.0).describe().startswith("always false (3000 rows, 92 % ± ")
    whole = rarely(500.0).describe(prune=False).splitlines()
    assert len(whole) == 4 and all(line.endswith("within the noise)") for line in whole if "rows" in line)
    for shown in (rarely(500.0).picture(), rarely(500.0).picture(prune=False)):
        assert shown.startswith("<svg")
    assert "within the noise" in rarely(500.0).picture(prune=False)


def test_pruning_forgets_nothing_that_predicts() -> None:
    """The pruned tree expects the same labels, and has the same rows with the noise of their sum."""
    whole = rarely(5.0)
    shown = whole.pruned()
    assert [len(whole.ends), len(shown.ends)] == [3, 2]
    assert shown.ends[0] == End(0, (1960.0, 40.0), math.hypot(5.0, 5.0))
    assert shown.predict(EVERYONE).tolist() == whole.predict(EVERYONE).tolist() == [False] * 4
    assert shown.questions == QUESTIONS[:1] and shown.pruned() == shown
    assert "male" not in {leaf.name for leaf in shown.expression.leaves().values()}


def test_ends_that_noise_has_drowned_are_not_shown() -> None:
    drowned = End(0, (1.0, 3.0), 5.0)
    below = Split(1, (End(0, (980.0, 20.0), 5.0), End(1, (20.0, 980.0), 5.0)))
    grown = tree(Split(0, (drowned, below)))
    assert drowned.drowned and len(grown.describe(prune=False).splitlines()) == 4
    assert grown.describe().splitlines() == [
        "male is false: false (1000 rows, 98 % ± 1)",
        "male is true: true (1000 rows, 98 % ± 1)",
    ]


def test_prediction_needs_no_column_that_makes_no_difference() -> None:
    yes = tree(Split(0, (Split(1, (End(0, (9.0, 1.0)), End(0, (5.0, 4.0)))), End(1, (0.0, 9.0)))))
    assert yes.predict({"old": [True, False]}).tolist() == [True, False]
    with pytest.raises(sulq.SulqError, match="male"):
        yes.predict_proba({"old": [True, False]})


def test_rates_are_drawn_to_those_above_by_as_much_as_noise_asks_for() -> None:
    apart = []
    for noise in (0.0, 5.0, 50.0, 500.0, 1e9):
        low, _, high, _ = rarely(noise).predict_proba(EVERYONE)[:, 1]
        apart.append(high - low)
    assert apart == sorted(apart, reverse=True)
    assert apart[0] == pytest.approx(0.18, abs=0.01) and apart[-1] < 1e-6


numbers = st.floats(-1e6, 1e6)
ends = st.builds(
    End, st.integers(0, 1), st.tuples(numbers, numbers), st.sampled_from([0.0, 1e-9, 3.0, 1e7, 1e90])
)


@settings(max_examples=examples(60))
@given(ends, ends, ends)
def test_whatever_was_counted_rates_are_rates_and_agree_with_the_label(
    one: End, two: End, three: End
) -> None:
    grown = tree(Split(0, (Split(1, (one, two)), three)))
    with np.errstate(over="ignore"):
        shares = grown.predict_proba(EVERYONE)
    assert (shares > 0).all() and np.allclose(shares.sum(axis=1), 1)
    assert (shares.argmax(axis=1) == grown.predict(EVERYONE)).all()
    assert Tree.from_json(grown.to_json()) == grown
    if not any(end.drowned for end in grown.ends):
        assert grown.pruned().predict(EVERYONE).tolist() == grown.predict(EVERYONE).tolist()


def test_a_split_that_moves_no_row_changes_no_rate() -> None:
    """Where candidates are equally good, chance picks: it must not be seen in rates."""
    end = End(0, (80.0, 20.0))
    idle = tree(Split(0, (Split(1, (end, End(0, (0.0, 0.0)))), End(0, (0.0, 0.0)))))
    assert np.allclose(idle.predict_proba(EVERYONE), tree(end).predict_proba(EVERYONE))


def test_texts_from_before_ends_had_noise_are_read_and_noise_is_written() -> None:
    after = rarely(5.0)
    assert after.form["root"]["branches"][1] == {"label": 0, "counts": [800.0, 200.0], "noise": 5.0}
    assert Tree.from_json(after.to_json()) == after != rarely(6.0)
    before = json.loads(tree(Split(0, (End(0, (8.0, 2.0)), End(1, (0.0, 5.0))))).to_json())
    for end in before["root"]["branches"]:
        del end["noise"]
    read = Tree.of(before)
    assert [end.noise for end in read.ends] == [0.0, 0.0]
    assert read.predict_proba(EVERYONE).argmax(axis=1).tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"noise": -1.0}, "the noise of an end is a number from 0 to 1e100, not -1.0"),
        ({"noise": "much"}, "noise needs a number"),
        ({"counts": [1.0]}, "an end of this tree has 2 counts, and one of 2 labels"),
        ({"label": 2}, "an end of this tree has 2 counts, and one of 2 labels"),
        ({"more": 1}, "'more' is not known"),
    ],
)
def test_an_end_that_makes_no_sense_is_refused(change: dict[str, object], words: str) -> None:
    form = json.loads(tree(End(0, (8.0, 2.0))).to_json())
    form["root"] |= change
    with pytest.raises(sulq.QueryError, match=words):
        Tree.of(form)


@pytest.mark.parametrize("oracle", ["exact", "curator", "zcdp", "crowd", "sample"])
@pytest.mark.parametrize("pick", ["choose", "counts"])
def test_a_learned_tree_keeps_every_count_that_it_was_told(oracle: str, pick: str) -> None:
    people = uneven()
    oracles = {
        "exact": people.exact,
        "curator": lambda: people.curator(epsilon=1),
        "zcdp": lambda: people.curator(rho=0.5, neighbours="add-remove"),
        "crowd": lambda: people.crowd(epsilon=8),
        "sample": people.sample,
    }
    learned = sulq.ID3("sick", pick=pick, depth=2).learn(oracles[oracle]())  # type: ignore[arg-type]
    assert len(learned.ends) >= 2, "the label to expect is false everywhere"
    assert sum(end.size for end in learned.ends) == pytest.approx(20_000, rel=0.5)
    assert all((end.noise > 0) == (oracle != "exact") for end in learned.ends)
    rates = learned.predict_proba(EVERYONE)[:, 1]
    assert rates[2:].min() > 2 * rates[:2].max()
    assert learned.describe().count("%") >= 2


@pytest.mark.parametrize("noise", [20.0, 200.0])
def test_accuracy_is_within_its_error_though_noise_picks_the_labels(noise: float) -> None:
    """500 trees of eight ends: more than 5 % + 4 deviations of them, 44, would be a false alarm once in 10^4."""
    rng, missed = np.random.default_rng(3), 0
    for _ in range(500):
        sizes = rng.integers(0, 2000, size=8)
        true = np.column_stack([sizes, 2000 - sizes]).astype(float)
        counts = true + rng.laplace(scale=noise / math.sqrt(2), size=true.shape)
        labels = counts.argmax(axis=1)
        ends = [
            End(int(label), tuple(each), noise) for label, each in zip(labels, counts.tolist(), strict=True)
        ]
        share, error = accuracy(ends)
        missed += abs(share - true[np.arange(8), labels].sum() / true.sum()) > error
    assert missed <= 44


def test_a_tree_says_how_often_it_is_right_and_which_ends_are_noise() -> None:
    told = tree(Split(0, (End(0, (800.0, 200.0), 5.0), End(1, (1.0, 3.0), 5.0))))
    assert "The label to expect is that of 80 % ± 4 of the rows." in told.headline
    assert told.doubts == ("1 of 2 ends is within the noise.",)


def test_an_end_of_one_row_has_one_row() -> None:
    few = tree(Split(0, (End(0, (1.0, 0.0), 0.0), End(1, (0.0, 2.0), 0.0))))
    assert few.describe(prune=False).splitlines() == [
        "old is false: false (1 row, 100 %)",
        "old is true: true (2 rows, 100 %)",
    ]
