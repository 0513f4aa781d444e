"""Classes of hypotheses: their mistakes are those of their members, and choosing among them is private."""

from __future__ import annotations

import itertools
import json
import math
import pickle
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

import sulq
from sulq.classes.base import HypothesisClass, Setting, check_size, class_of
from sulq.classes.boolean import Conjunctions, Hypotheses, MonotoneConjunctions, Parities
from sulq.classes.domains import Halfspaces, Labelings
from sulq.classes.grids import Intervals, Rectangles, Stumps, Thresholds
from sulq.classes.small import SmallConjunctions
from sulq.privacy.many_candidates import choose
from sulq.privacy.selection import ExponentialMechanism, PermuteAndFlip

col = sulq.col
SCHEMA = sulq.Schema(
    {name: sulq.Boolean() for name in "abcdy"}
    | {
        "age": sulq.Integer(0, 99),
        "income": sulq.Real(-5, 5),
        "plan": sulq.Category(["free", "paid"]),
        "rank": sulq.Integer(5, 7),
    }
)
SETTING = Setting(SCHEMA, col("y"))
EDGES = [20, 40, 65]


def people(rows: int = 300) -> sulq.Source:
    rng = np.random.default_rng(4)
    data: dict[str, Any] = {name: rng.random(rows) < 0.5 for name in "abcdy"}
    data["age"], data["income"] = rng.integers(0, 100, rows), rng.uniform(-5, 5, rows)
    data["plan"] = rng.choice(["free", "paid", "none"], rows)
    data["rank"] = rng.integers(5, 8, rows)
    return sulq.open(data, SCHEMA)


CLASSES: dict[str, tuple[HypothesisClass, int]] = {
    "list": (Hypotheses([col("a"), ~col("b"), col("age") > 50, "c"]), 4),
    "parities": (Parities("abcd"), 16),
    "parities of expressions": (Parities(["a", col("age") > 30]), 4),
    "monotone conjunctions": (MonotoneConjunctions("abcd"), 16),
    "conjunctions": (Conjunctions("abc"), 27),
    "thresholds": (Thresholds("age", EDGES), 5),
    "thresholds of a real": (Thresholds("income", [-1.5, 0, 0.1]), 5),
    "intervals": (Intervals("age", EDGES), 10),
    "rectangles": (Rectangles([("age", EDGES), ("income", [0])]), 30),
    "rectangles in space": (Rectangles([("age", [50]), ("income", [0.0, 2.5]), ("rank", [6])]), 54),
    "stumps": (Stumps(bins=4), 2 + 2 * (4 + 3 + 3 + 3 + 2)),
    "some stumps": (Stumps(["age", "plan"], edges={"age": [18]}), 2 + 2 * (1 + 3)),
    "halfspaces over bits": (Halfspaces("abc"), 104),
    "halfspaces over a grid": (Halfspaces([sulq.bins(col("age"), EDGES), "rank"]), 100),
    "labelings": (Labelings(["a", "plan"], [[0, 1, 0, 1, 1, 0], [1, 1, 1, 0, 0, 0], [0, 1, 0, 1, 1, 0]]), 2),
}


@pytest.mark.parametrize("name", CLASSES)
def test_mistakes_are_those_that_each_hypothesis_makes(name: str) -> None:
    listed, size = CLASSES[name]
    source = people()
    truth = source.values(col("y"))
    assert listed.size(SETTING) == size
    members = [listed.hypothesis(i, SETTING) for i in range(size)]
    expected = [np.count_nonzero(source.values(member.expression) != truth) for member in members]
    assert listed.mistakes(source.values, truth, SETTING).tolist() == expected
    assert len(set(expected)) > 1
    for member in (members[0], members[-1]):
        again = type(member).from_json(member.to_json())
        assert again == member
        assert again.describe() == member.describe() != ""
        assert member.picture().startswith("<svg")


@pytest.mark.parametrize(
    "name", ["parities", "conjunctions", "halfspaces over bits", "halfspaces over a grid"]
)
def test_no_two_hypotheses_of_a_class_are_the_same(name: str) -> None:
    listed, size = CLASSES[name]
    source = people(2000)
    said = {source.values(listed.hypothesis(i, SETTING).expression).tobytes() for i in range(size)}
    assert len(said) == size


@pytest.mark.parametrize(("bits", "number"), [(1, 4), (2, 14), (3, 104), (4, 1882), (5, 94572)])
def test_all_halfspaces_over_bits_are_listed(bits: int, number: int) -> None:
    """As many as there are threshold functions of so many variables."""
    schema = sulq.Schema({f"x{i}": sulq.Boolean() for i in range(bits)} | {"y": sulq.Boolean()})
    assert Halfspaces([f"x{i}" for i in range(bits)]).size(Setting(schema, col("y"))) == number


@pytest.mark.parametrize(("side", "ways"), [(2, 7), (3, 29), (4, 87), (5, 201)])
def test_all_halfplanes_over_a_grid_are_listed(side: int, ways: int) -> None:
    """As many as there are ways to divide a square of points by a line, with either part chosen."""
    schema = sulq.Schema(
        {"u": sulq.Integer(0, side - 1), "v": sulq.Integer(0, side - 1), "y": sulq.Boolean()}
    )
    assert Halfspaces(["u", "v"]).size(Setting(schema, col("y"))) == 2 * ways


TINY = sulq.Schema(
    {"a": sulq.Boolean(), "b": sulq.Boolean(), "y": sulq.Boolean()} | {"n": sulq.Integer(0, 3)}
)
BITS = [(a, b, y, 0) for a, b, y in itertools.product((0, 1), repeat=3)]
NUMBERS = [(0, 0, y, n) for y, n in itertools.product((0, 1), range(4))]
BOTH = [(a, 0, y, n) for a, y, n in itertools.product((0, 1), (0, 1), (0, 3))]
TINY_CLASSES: dict[str, tuple[HypothesisClass, list[tuple[int, ...]]]] = {
    "list": (Hypotheses(["a", ~col("b")]), BITS),
    "parities": (Parities("ab"), BITS),
    "monotone conjunctions": (MonotoneConjunctions("ab"), BITS),
    "conjunctions": (Conjunctions("ab"), BITS),
    "thresholds": (Thresholds("n", [1, 2, 3]), NUMBERS),
    "intervals": (Intervals("n", [1, 2, 3]), NUMBERS),
    "rectangles": (Rectangles([("n", [2]), (sulq.where(col("a"), 1, 0), [1])]), BOTH),
    "stumps": (Stumps(["a", "n"], edges={"n": [2]}), BOTH),
    "small conjunctions": (SmallConjunctions(2, ["a", "n"], opposites=True, edges={"n": [2]}), BOTH),
    "halfspaces": (Halfspaces("ab"), BITS),
    "labelings": (Labelings("ab", [[0, 1, 1, 0], [1, 1, 1, 1], [0, 0, 0, 1]]), BITS),
}


def mistakes_of(listed: HypothesisClass, table: tuple[tuple[int, ...], ...]) -> tuple[int, ...]:
    columns = dict(zip("abyn", np.array(table).T, strict=True))
    source = sulq.open(columns, TINY)
    found = listed.mistakes(source.values, source.values(col("y")), Setting(TINY, col("y")))
    return tuple(found.tolist())


def worst_choice(scores: dict[Any, tuple[int, ...]], rows: list[Any], law: Callable[[Any], Any]) -> float:
    worst = 1.0
    for table, own in scores.items():
        for row in rows:
            pairs = zip(law(own), law(scores[(row, *table[1:])]), strict=True)
            worst = max(worst, *(max(p / q, q / p) for p, q in pairs))
    return worst


@pytest.mark.parametrize("name", TINY_CLASSES)
@pytest.mark.parametrize("mechanism", [PermuteAndFlip, ExponentialMechanism])
def test_choosing_from_a_class_gives_no_row_away_beyond_epsilon(name: str, mechanism: Any) -> None:
    """The exact law of the choice on all tables of two rows and all their neighbours.

    A class that counted mistakes twice would be caught.
    """
    listed, rows = TINY_CLASSES[name]
    epsilon = 1.0
    scores = {table: mistakes_of(listed, table) for table in itertools.product(rows, repeat=2)}

    @cache
    def law(times: int, own: tuple[int, ...]) -> list[float]:
        found: list[float] = mechanism(1, 1).probabilities([-times * wrong for wrong in own])
        return found

    assert worst_choice(scores, rows, lambda own: law(1, own)) <= math.exp(epsilon) * (1 + 1e-12)
    assert worst_choice(scores, rows, lambda own: law(2, own)) > math.exp(epsilon)


def test_a_class_too_large_for_memory_is_refused_with_its_size() -> None:
    schema = sulq.Schema({f"x{i}": sulq.Boolean() for i in range(40)} | {"y": sulq.Boolean()})
    setting = Setting(schema, col("y"))
    with pytest.raises(sulq.QueryError, match=f"Parities are {2**40} hypotheses here"):
        check_size(Parities(), setting)
    with pytest.raises(sulq.QueryError, match=f"Conjunctions are {3**40} hypotheses here"):
        check_size(Conjunctions(), setting)


@pytest.mark.parametrize(
    ("listed", "message"),
    [
        (Hypotheses([]), "no hypothesis"),
        (Hypotheses(["age"]), "not true or false"),
        (Parities([]), "no features"),
        (Parities(["a", "age"]), "not true or false"),
        (Conjunctions(["a", "y"]), "own features"),
        (Thresholds("age", []), "at least one edge"),
        (Thresholds("plan", [1]), "is a category"),
        (Intervals("y", [1]), "own features"),
        (Rectangles([]), "at least one column"),
        (Stumps(["y"]), "own features"),
        (Stumps([]), "no columns"),
        (Stumps(bins=2**40), "bins must be a whole number from 1 to 65536"),
        (Halfspaces(["a", "b", "c", "d", "rank"]), "halfspaces can be listed"),
        (Halfspaces(["age", "rank"]), "halfspaces can be listed"),
        (Halfspaces(["a", "y"]), "own features"),
        (Labelings(["a"], [[0, 1, 1]]), "3 points, and the domain has 2"),
        (Labelings(["a"], [[0, 2]]), "truth values"),
        (Labelings([], [[0, 1]]), "at least one choice"),
    ],
)
def test_what_makes_no_sense_is_refused(listed: HypothesisClass, message: str) -> None:
    with pytest.raises(sulq.QueryError, match=message):
        check_size(listed, SETTING)


def test_a_million_conjunctions_are_chosen_from() -> None:
    """x3 and x7 and x11 leads by thousands of rows, so another is chosen with a chance below 1e-100."""
    rng = np.random.default_rng(0)
    bits = {f"x{i}": rng.random(50_000) < 0.7 for i in range(20)}
    labels = bits["x3"] & bits["x7"] & bits["x11"]
    schema = sulq.Schema({name: sulq.Boolean() for name in [*bits, "y"]})
    setting = Setting(schema, col("y"))

    def look(node: Any) -> Any:
        return bits[node.name]

    wrong = MonotoneConjunctions().mistakes(look, labels, setting)
    index = choose(PermuteAndFlip(1, 1), -wrong)
    assert MonotoneConjunctions().hypothesis(index, setting).describe() == "x3 and x7 and x11"


def test_a_class_does_not_change_with_the_lists_it_was_made_of() -> None:
    names, edges, table = ["a"], {"age": [18]}, np.zeros((1, 2), dtype=bool)
    made = [Conjunctions(names), Stumps(edges=edges), Labelings(["a"], table)]
    before = [each.form for each in made]
    names.append("b")
    edges["age"].append(65)
    edges["town"] = [1]
    table[0, 0] = True
    assert [each.form for each in made] == before
    assert pickle.loads(pickle.dumps(made)) == made


def test_a_column_may_be_called_like_a_row_expression_s_key() -> None:
    for made in (Stumps(edges={"node": [1, 2]}), Conjunctions([~col("node"), "node"])):
        assert class_of(json.loads(json.dumps(made.form))) == made


def test_a_class_that_an_earlier_version_pickled_does_not_change_either() -> None:
    earlier = Conjunctions.__new__(Conjunctions)
    earlier.__dict__["features"] = [col("a"), "b"]
    assert pickle.loads(pickle.dumps(earlier)) == Conjunctions([col("a"), "b"])


def test_a_class_of_what_cannot_be_written_down_is_refused_when_it_is_made() -> None:
    with pytest.raises(sulq.QueryError, match="is made of names, numbers, row expressions and lists"):
        Thresholds("age", {18, 65})  # type: ignore[arg-type]


def test_no_two_classes_have_one_name_in_forms() -> None:
    with pytest.raises(sulq.QueryError, match="'stumps' is the name of Stumps in forms"):
        type("Others", (Stumps,), {})
    assert type(class_of(Stumps().form)) is Stumps
