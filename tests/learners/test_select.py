"""The generic learner at a curator's door."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sulq
import sulq.classes.shortest
from sulq.classes.boolean import Conjunctions, Parities
from sulq.classes.grids import Stumps, Thresholds
from sulq.classes.shortest import Shortest
from sulq.classes.sizes import occam_rows
from sulq.hypotheses import Nothing, Origin
from sulq.learners.compress import Compress
from sulq.learners.select import Select
from sulq.privacy.selection import ExponentialMechanism, PermuteAndFlip
from sulq.queries.rounds import Round

col = sulq.col


def people(rows: int = 8000, **schema: Any) -> sulq.Source:
    rng = np.random.default_rng(2)
    data: dict[str, Any] = {name: rng.random(rows) < 0.5 for name in "abcd"}
    data["age"] = rng.integers(0, 100, rows)
    data["y"] = data["a"] & ~data["c"]
    data["old"] = data["age"] >= 65
    data["odd"] = data["a"] ^ data["b"] ^ data["d"]
    data["who"] = np.arange(rows) // 2
    booleans = {name: sulq.Boolean() for name in [*"abcd", "y", "old", "odd"]}
    return sulq.open(data, sulq.Schema(booleans | {"age": sulq.Integer(0, 120)}, **schema))


@pytest.mark.parametrize("budget", [{"epsilon": 1}, {"rho": "0.1"}, {"epsilon": 1, "delta": 1e-6}])
@pytest.mark.parametrize("mechanism", [None, "permute-and-flip", "exponential"])
@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_the_best_hypothesis_is_chosen(budget: dict[str, Any], mechanism: Any, neighbours: Any) -> None:
    """It leads by at least a thousand rows; at the least γ here, 0.07, another has a chance below 1e-30."""
    curator = people().curator(**budget, neighbours=neighbours)
    rule = Select(Conjunctions("abcd"), "y", mechanism=mechanism).learn(curator)
    assert rule.describe() == "a and not c"
    assert rule.origin == sulq.hypotheses.hypothesis.Origin("Select", curator.promise, "main", 1)
    assert curator.remaining == 0


def test_other_classes_and_lists_are_chosen_from_too() -> None:
    source = people()
    learned = {
        "age >= 65": Select(Thresholds("age", [20, 40, 65, 80]), "old"),
        "a xor b xor d": Select(Parities("abcd"), "odd"),
        "age >= 60": Select(Stumps(["a", "age"], bins=10), "old"),
        "not b": Select([col("a"), ~col("b")], ~col("b") & (col("age") >= 0)),
    }
    for words, learner in learned.items():
        assert learner.learn(source.curator(epsilon=1)).describe() == words


def test_the_mechanism_spends_what_it_costs() -> None:
    usual = Select(Parities("ab"), "y")

    def selection(curator: sulq.Curator, share: str, learner: Select = usual) -> Any:
        [settled] = curator.offer.terms(Round([learner.question(curator.schema)], share)).selections
        return settled

    assert selection(people().curator(epsilon=1), "1/2") == PermuteAndFlip("1/2", 1)
    by_rho = people().curator(rho="0.5")
    chosen = selection(by_rho, "1")
    assert isinstance(chosen, ExponentialMechanism)
    assert chosen.epsilon > 2 and Fraction(499_999, 10**6) < chosen.rho() <= Fraction(1, 2)
    flipped = selection(by_rho, "1", Select(Parities("ab"), "y", mechanism="permute-and-flip"))
    assert isinstance(flipped, PermuteAndFlip)
    assert flipped.epsilon > 1 and Fraction(499_999, 10**6) < flipped.rho() <= Fraction(1, 2)
    named = selection(
        people().curator(epsilon=1), "1/2", Select(Parities("ab"), "y", mechanism="exponential")
    )
    assert named == ExponentialMechanism("1/2", 1)
    several = people(unit=sulq.schema.Unit("who", 2)).curator(epsilon=1, neighbours="add-remove")
    assert selection(several, "1") == PermuteAndFlip(1, 2, monotone=True)


def test_the_charge_is_in_the_ledger_before_a_row_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    source = people()
    curator = source.curator(epsilon=1)
    seen: list[Fraction] = []
    values = source.values
    monkeypatch.setattr(source, "values", lambda node: (seen.append(curator.spent), values(node))[1])
    Select(Parities("ab"), "y", share="1/4").learn(curator)
    assert seen == [Fraction(1, 4)] * 3


def test_an_answered_question_is_not_paid_for_again(tmp_path: Path) -> None:
    learner = Select(Conjunctions("abcd"), "odd", share="1/4")
    first = learner.learn(people().curator(epsilon=1, ledger=tmp_path / "ledger"))
    again = people().curator(epsilon=1, ledger=tmp_path / "ledger")
    assert learner.learn(again) == first
    assert again.spent == Fraction(1, 4)
    Select(Conjunctions("abc"), "odd", share="1/4").learn(again)
    assert again.spent == Fraction(1, 2)


def test_too_few_rows_for_a_stated_error_are_refused_before_anything_is_spent() -> None:
    curator = people(rows=200).curator(epsilon=1)
    needed = occam_rows(81, 0.02, 0.05, 1.0)
    with pytest.raises(
        sulq.QueryError, match=f"insufficient samples: .* needs {needed} rows, and there are 200"
    ):
        Select(Conjunctions("abcd"), "y", error=0.02).learn(curator)
    assert curator.spent == 0
    assert Select(Conjunctions("abcd"), "y", error=0.3).learn(curator)


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        (Select([], "y"), "no hypothesis"),
        (Select(Parities("ab"), "age"), "not true or false"),
        (Select(Parities("ab"), "y", mechanism="luck"), "mechanism is"),  # type: ignore[arg-type]
        (Select(Parities("ab"), "y", share=2), "share must be"),
        (Compress([], "y"), "nothing to choose from"),
        (Compress([Parities("ay")], "y"), "own features"),
    ],
)
def test_bad_input_is_refused_before_anything_is_spent(learner: Any, message: str) -> None:
    curator = people().curator(epsilon=1)
    with pytest.raises(sulq.SulqError, match=message):
        learner.learn(curator)
    assert curator.spent == 0


SURE = "0.99999999"


def test_compression_stops_at_the_first_class_that_does() -> None:
    """Each of these fails with a chance of 1e-8, by the promise."""
    short, middle, long = (Conjunctions(names) for names in ("ab", "abc", "abcd"))
    curator = people(40_000).curator(epsilon=4)
    rule = Compress([short, middle, long], "y", confidence=SURE).learn(curator)
    assert rule.describe() == "a and not c"
    assert curator.remaining == 0, "however many rounds there were"


def test_compression_that_finds_nothing_says_so() -> None:
    """No conjunction errs on less than a quarter of the rows; one is taken for good with chance 1e-8."""
    curator = people(40_000).curator(epsilon=4)
    assert Compress([Conjunctions("ab"), Conjunctions("abc")], "odd", confidence=SURE).learn(
        curator
    ) == Nothing(
        curator.schema,
        Origin("Compress", curator.promise, "main", 1),
        "hypothesis that passes its test",
        1e-8,
    )


def test_compression_never_uses_a_row_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    source = people(40_000)
    curator = source.curator(epsilon=4)
    learner = Compress([Conjunctions("ab"), Conjunctions("abc"), Conjunctions("abcd")], "odd")
    looked: list[np.ndarray[Any, Any]] = []
    original = sulq.classes.shortest._on

    def watched(asked: Any, rows: Any) -> Any:
        looked.append(rows)
        return original(asked, rows)

    monkeypatch.setattr(sulq.classes.shortest, "_on", watched)
    learner.learn(curator)
    used = np.concatenate(looked)
    assert len(set(used.tolist())) == len(used)
    sizes = [len(a) + len(b) for a, b in zip(looked[::2], looked[1::2], strict=True)]
    assert all(later >= 2 * earlier for earlier, later in pairwise(sizes))


def test_compression_needs_rows_enough_for_one_round_and_their_number() -> None:
    curator = people(100).curator(epsilon=4)
    with pytest.raises(sulq.QueryError, match=r"insufficient samples: .* there are 100; nothing was spent"):
        Compress([Conjunctions("ab")], "y").learn(curator)
    with pytest.raises(sulq.QueryError, match="public number of rows"):
        Compress([Conjunctions("ab")], "y").learn(people().curator(epsilon=4, neighbours="add-remove"))
    assert curator.spent == 0


def test_what_the_mechanisms_of_a_shortest_class_cannot_spend_is_refused_before_it_is_charged() -> None:
    curator = people().curator(epsilon=10**20)
    question = Shortest((Conjunctions("ab"),), sulq.col("y"), error="1/2")
    with pytest.raises(sulq.QueryError, match="for exact noise"):
        curator.ask(sulq.Round([question], share=1))
    assert curator.spent == 0
