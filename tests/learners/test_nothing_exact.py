"""What is learned under a curator holds noisy answers and public facts: no exact statistic, no row, no way back.

Every attribute is walked, and every number on the way (also in texts) is compared with what must not be there:
raw values as they are, and to eleven digits the usual statistics and what the same learner holds when it has
learned from exact answers. The number of rows is private here, by `add-remove`.

The budgets are small: counts have noise of scale 10^9 or more, so one of them is one of some fifty secret integers
with probability below 10^-7; other numbers are near one of some 300 secrets with probability below 10^-8 each.
False alarms are rarer than 10^-6 in a run. A single number is enough to be caught.
"""

from __future__ import annotations

import inspect
import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sulq
from sulq.learners.components import MEAN_STEPS
from sulq.ledger.ledger import Ledger
from sulq.oracles.curator import Curator
from sulq.oracles.exact import Exact
from sulq.queries.vectors import FEATURE_BITS

ROWS = 10_007
SIDES = {"a": (0.0, 100.0), "b": (-50.0, 50.0)}
FLAGS = ("p", "q", "r")
KEEPERS = (
    sulq.Source,
    Curator,
    Exact,
    Ledger,
    pd.DataFrame,
    pd.Series,
    pl.DataFrame,
    pl.Series,
    pa.Table,
    pa.Array,
    pa.ChunkedArray,
)
"""What holds rows, or leads to them."""


def people() -> dict[str, Any]:
    rng = np.random.default_rng(7)
    a, b = 100 * rng.beta(2, 5, ROWS), 100 * rng.beta(3, 5, ROWS) - 50
    flags = {name: rng.random(ROWS) < share for name, share in zip(FLAGS, (0.71, 0.53, 0.34), strict=True)}
    label = flags["p"] & (flags["q"] | (a > 31))
    return {"a": a, "b": b, **flags, "index": rng.integers(0, 2, ROWS), "y": label}


TABLE = people()
SCHEMA = sulq.Schema(
    {name: sulq.Real(*SIDES[name]) for name in SIDES}
    | {name: sulq.Boolean() for name in FLAGS}
    | {"index": sulq.Integer(0, 1), "y": sulq.Boolean()}
)


@dataclass(frozen=True)
class Secrets:
    """What must not be found: raw values as they are, and statistics."""

    raw: frozenset[float]
    statistics: frozenset[float]

    def and_those_of(self, exact: object) -> Secrets:
        """These, and all numbers of a thing that was learned from exact answers."""
        held = [x for _, leaf in leaves(exact) if not isinstance(leaf, str) for x in numbers(leaf)]
        return Secrets(self.raw, self.statistics | telling(held))

    def told(self, thing: object) -> list[str]:
        """Where a secret, or something that leads to one, is found among the attributes of a thing."""
        return [f"{path}: {what}" for path, leaf in leaves(thing) if (what := self._secret(leaf))]

    def _secret(self, leaf: object) -> str | None:
        if isinstance(leaf, KEEPERS):
            return f"a {type(leaf).__name__}"
        if isinstance(leaf, Rows):
            return f"one entry for each of {ROWS} rows"
        for number in numbers(leaf):
            if number in self.raw:
                return f"the raw value {number}"
            if any(math.isclose(number, secret, rel_tol=1e-11) for secret in self.statistics):
                return f"the exact statistic {number}"
        return None


class Rows:
    """Stands for an attribute that has as many entries as there are rows."""


def leaves(
    thing: object, path: str = "it", seen: dict[int, object] | None = None
) -> Iterator[tuple[str, object]]:
    """Everything that can be reached from a thing, with the way to it."""
    seen = {} if seen is None else seen
    if isinstance(thing, str | bytes | bool | int | float | complex | np.generic | None):
        yield path, thing
        return
    if id(thing) in seen or inspect.ismodule(thing) or inspect.isclass(thing):
        return
    seen[id(thing)] = thing  # kept alive, or another could come to have its id
    if isinstance(thing, KEEPERS):
        yield path, thing
        return
    for name, part in parts(thing):
        if isinstance(part, Rows):
            yield path, part
        else:
            yield from leaves(part, f"{path}{name}", seen)


def parts(thing: Any) -> Iterator[tuple[str, object]]:
    if isinstance(thing, np.ndarray | list | tuple | set | frozenset | Mapping) and len(thing) == ROWS:
        yield "", Rows()
    if isinstance(thing, np.ndarray):
        yield from ((f"[{place}]", value) for place, value in enumerate(thing.ravel().tolist()))
    elif isinstance(thing, Mapping):
        yield from (("{}", key) for key in thing)
        yield from ((f"[{key!r}]", value) for key, value in thing.items())
    elif isinstance(thing, list | tuple | set | frozenset):
        yield from ((f"[{place}]", value) for place, value in enumerate(thing))
    # A function keeps what it closes over, a method its object, and an object may have slots beside a dict.
    for cell in getattr(thing, "__closure__", None) or ():
        yield "()", cell.cell_contents
    if inspect.ismethod(thing):
        yield "()", thing.__self__
    slots = [name for kind in type(thing).__mro__ for name in getattr(kind, "__slots__", ())]
    held = {name: getattr(thing, name) for name in slots if hasattr(thing, name)}
    yield from ((f".{name}", value) for name, value in (held | getattr(thing, "__dict__", {})).items())


def numbers(leaf: object) -> list[float]:
    """The numbers that a leaf says: itself, or those in a text."""
    if isinstance(leaf, str) and re.fullmatch("[0-9a-f]{64}", leaf):
        return []  # the hash of an expression or a schema
    if isinstance(leaf, str):
        return [float(found) for found in re.findall(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?", leaf)]
    if isinstance(leaf, bool | np.bool_ | bytes | None):
        return []
    number = complex(leaf).real  # type: ignore[call-overload]
    return [number] if math.isfinite(number) else []


def feature(name: str, table: Mapping[str, Any]) -> Any:
    """A column as the learners meet it: its bounds at −1 and 1, on the grid of features."""
    low, high = SIDES[name]
    return np.rint((2 * (table[name] - low) / (high - low) - 1) * 2**FEATURE_BITS) / 2**FEATURE_BITS


def secrets_of(table: Mapping[str, Any]) -> Secrets:
    """Raw values, and the usual statistics of all rows and of every class, in natural and in scaled units."""
    found: list[float] = [float(ROWS)]
    every = np.ones(ROWS, bool)
    for rows in (every, table["y"], ~table["y"]):
        for chosen in itertools.product((True, False, None), repeat=len(FLAGS)):
            kept = rows.copy()
            for name, value in zip(FLAGS, chosen, strict=True):
                kept &= every if value is None else table[name] == value
            count = float(kept.sum())
            found += [count, count / ROWS, float(count / rows.sum())]
        columns = [table[name][rows] for name in SIDES]
        scaled = [feature(name, table)[rows] for name in SIDES]
        for x in [*columns, *scaled]:
            found += [math.fsum(x), math.fsum(x) / len(x), float(np.var(x)), float(np.std(x))]
            found += [float(np.min(x)), float(np.max(x)), float(np.median(x))]
        for both in (np.stack(columns), np.stack(scaled)):
            moments = both @ both.T / rows.sum()
            for matrix in (moments, moments * rows.sum(), np.cov(both, bias=True)):
                values, vectors = np.linalg.eigh(matrix)
                found += [
                    *matrix.ravel().tolist(),
                    *values.tolist(),
                    *vectors.ravel().tolist(),
                    np.trace(matrix),
                ]
    return Secrets(frozenset(float(x) for name in SIDES for x in table[name]), telling(found))


def telling(found: Iterable[float]) -> frozenset[float]:
    """Without the numbers that say nothing: small ones on the grid of features, such as 0, 1, or any centre.

    Powers of 2 are how fine grids are, which is public.
    """
    return frozenset(
        x
        for x in found
        if (abs(x) > 100 or not (x * 2**FEATURE_BITS).is_integer()) and abs(math.frexp(x)[0]) != 0.5
    )


SECRETS = secrets_of(TABLE)
MEANS = tuple(round(float(feature(name, TABLE).mean()) * MEAN_STEPS) / MEAN_STEPS for name in SIDES)
"""The exact means as `PCA` would round them, if no noise were added."""
# Trees of flags: noise picks the splits, and a public threshold of a number may equal some statistic by chance.
EVALUATED = sulq.ID3("y", list(FLAGS), depth=2).learn(
    sulq.open(TABLE, SCHEMA).curator(epsilon="1e-12", neighbours="add-remove")
)
CASES: list[tuple[sulq.Learner[Any], str]] = [
    (sulq.ID3("y", depth=3), "1e-12"),
    (sulq.ID3("y", depth=2, pick="counts"), "1e-12"),
    (sulq.KMeans(3, list(SIDES)), "1e-9"),
    (sulq.PCA(2, list(SIDES)), "1e-6"),
    (sulq.SVD(2, list(SIDES)), "1e-6"),
    (sulq.Additive("y", refinements=1), "1e-9"),
    (sulq.Classifier("y", list(FLAGS)), "1e-9"),
    (sulq.Regressor("a", list(FLAGS)), "1e-3"),
    (sulq.Additive("a", list(FLAGS)), "1e-3"),
    (sulq.Evaluate(EVALUATED, bins=8), "1e-9"),
    (sulq.LinearRegression("a"), "1e-3"),
    (sulq.LogisticRegression("y"), "1e-3"),
    (sulq.NaiveBayes("y"), "1e-9"),
    (sulq.DecisionList("y", list(FLAGS), length=2), "1e-9"),
    (sulq.CrossValidate(sulq.ID3("y", list(FLAGS), depth=2), folds=2, bins=8), "1e-9"),
    (sulq.Holdout(sulq.ID3("y", list(FLAGS), depth=1), bins=8), "1e-9"),
    (sulq.Perceptron("y", list(SIDES)), "1e-9"),
    (sulq.Perceptron("y", list(SIDES), norm=None, intercept=False, stop="1e-9"), "1e-9"),
    # Weights after a first look need a budget on which a count of mistakes is some secret by chance, about once in
    # a hundred runs. An average of weights has no such count.
    (sulq.Perceptron("y", list(SIDES), keep="average"), "1"),
    (sulq.Conjunction("y", list(FLAGS), share=1), "1e-9"),
    (sulq.theory.MaskedParity(["q", "r"], "index", "p", "y", share=1), "1e-9"),
    (sulq.Table(["p", "q"], shares=["y"], medians=["a"], bins={"a": [20, 31]}, margins=True), "1e-9"),
    (sulq.Pairs(["p", "q", "a", "y"], bins={"a": [20, 31]}), "1e-9"),
    (
        sulq.Statement(
            "SELECT p, q, count(*), sum(a), avg(b), sum(a) / sum(b) AS r, median(a), count(*) FILTER (WHERE y) AS n "
            "FROM people GROUP BY CUBE (p, q) HAVING count(*) = count(*) ORDER BY avg(b)",
            bins={"a": [20, 31]},
        ),
        "1e-6",
    ),
    (sulq.Table(["p"], sums=[sulq.features("a")], means=[sulq.features("b")]), "1e-9"),
]


EITHER = (sulq.col("p") & ~sulq.col("q")) | (~sulq.col("p") & sulq.col("q"))
RELEASES: dict[str, tuple[Any, str]] = {
    "parity": (sulq.Parity(EITHER, list(FLAGS)), "add-remove"),
    "parity, or its opposite": (sulq.Parity(EITHER, list(FLAGS), constant=True), "add-remove"),
    "parity on a test set": (
        sulq.Parity(EITHER, list(FLAGS), error="0.5", amplification="test set"),
        "replace",
    ),
    "the better of two models": (sulq.ChooseModel([EVALUATED, EVALUATED]), "add-remove"),
    "stumps": (sulq.Select(sulq.classes.Stumps(), "y"), "add-remove"),
    "thresholds": (sulq.Select(sulq.classes.Thresholds("a", [20, 31, 50]), "y"), "add-remove"),
    "rectangles": (sulq.Select(sulq.classes.Rectangles([("a", [20, 31]), ("b", [0])]), "y"), "add-remove"),
    "conjunctions": (sulq.Select(sulq.classes.Conjunctions(list(FLAGS)), "y"), "add-remove"),
    "small conjunctions": (sulq.Select(sulq.classes.SmallConjunctions(2, opposites=True), "y"), "add-remove"),
    "parities": (sulq.Select(sulq.classes.Parities(list(FLAGS)), "y"), "add-remove"),
    "halfspaces": (sulq.Select(sulq.classes.Halfspaces(list(FLAGS)), "y"), "add-remove"),
    "compression": (
        sulq.Compress(
            [sulq.classes.Conjunctions(["p"]), sulq.classes.Conjunctions(list(FLAGS))], "y", error="0.5"
        ),
        "replace",
    ),
}
"""Learners that ask for one release, which is a choice: on a budget of 1, what they find does depend on the rows."""


def test_every_learner_there_is_is_walked() -> None:
    exported = {getattr(module, name) for module in (sulq, sulq.theory) for name in module.__all__}
    learners = {kind for kind in exported if inspect.isclass(kind) and hasattr(kind, "learn")}
    walked = {type(learner) for learner, _ in CASES} | {type(learner) for learner, _ in RELEASES.values()}
    assert learners - {sulq.Learner} == walked


@pytest.mark.parametrize("name", RELEASES)
def test_what_was_released_holds_no_exact_statistic(name: str) -> None:
    learner, neighbours = RELEASES[name]
    source = sulq.open(TABLE, SCHEMA)
    # Nothing, which is an outcome too, has nothing to look at. Fifty times it is none with a chance below 1e-50.
    found = (learner.learn(source.curator(epsilon=1, neighbours=neighbours)) for _ in range(50))
    learned = next(each for each in found if each is not None)
    assert SECRETS.told(learned) == []
    assert SECRETS.told(learned.to_json()) == []
    for planted in (source, int(TABLE["y"].sum()), TABLE["y"]):
        object.__setattr__(learned, "planted", planted)
        assert any(".planted" in found for found in SECRETS.told(learned))


@pytest.mark.parametrize(("learner", "epsilon"), CASES, ids=lambda case: type(case).__name__)
def test_what_is_learned_privately_holds_no_exact_statistic(learner: sulq.Learner[Any], epsilon: str) -> None:
    source = sulq.open(TABLE, SCHEMA)
    secrets = SECRETS.and_those_of(learner.learn(source.exact()))
    learned = learner.learn(source.curator(epsilon=epsilon, neighbours="add-remove"))
    assert secrets.told(learned) == []
    assert secrets.told(learned.to_json()) == []
    if isinstance(learned, sulq.hypotheses.Components):
        assert not set(MEANS) & set(learned.mean)


@pytest.mark.parametrize(
    "learner", [learner for learner, _ in CASES[:6]], ids=lambda case: type(case).__name__
)
def test_what_is_learned_from_exact_answers_is_caught(learner: sulq.Learner[Any]) -> None:
    first, second = (learner.learn(sulq.open(TABLE, SCHEMA).exact()) for _ in range(2))
    assert SECRETS.and_those_of(first).told(second)


@pytest.mark.parametrize(
    ("learner", "where"),
    [(sulq.ID3("y", ["p"], depth=1, prune=0), ".counts"), (sulq.KMeans(1, list(SIDES)), ".sizes")],
)
def test_exact_counts_are_caught(learner: sulq.Learner[Any], where: str) -> None:
    learned = learner.learn(sulq.open(TABLE, SCHEMA).exact())
    assert any(where in found for found in SECRETS.told(learned))


def test_exact_means_are_caught() -> None:
    assert set(MEANS) <= set(sulq.PCA(2, list(SIDES)).learn(sulq.open(TABLE, SCHEMA).exact()).mean)


PLANTED: dict[str, Callable[[], object]] = {
    "a count": lambda: int(TABLE["y"].sum()),
    "a count as a float": lambda: np.float64(TABLE["p"].sum()),
    "the number of rows": lambda: ROWS,
    "a sum": lambda: float(TABLE["a"].sum()),
    "a mean in a dict in a list": lambda: [{"mean": float(TABLE["b"].mean())}],
    "a variance in an array": lambda: np.array([[0.0, float(np.var(TABLE["a"]))]]),
    "a largest value": lambda: float(TABLE["a"].max()),
    "a raw value in a set": lambda: {float(TABLE["b"][4711])},
    "a mean in a text": lambda: f'{{"mean": {float(TABLE["a"].mean())!r}}}',
    "a key": lambda: {int(TABLE["y"].sum()): "rows"},
    "labels": lambda: TABLE["y"],
    "a source": lambda: sulq.open(TABLE, SCHEMA),
    "a curator": lambda: (sulq.open(TABLE, SCHEMA).curator(epsilon=1),),
    "a ledger": lambda: sulq.open(TABLE, SCHEMA).curator(epsilon=1).ledger,
    "a method of a source": lambda: sulq.open(TABLE, SCHEMA).exact,
    "a frame": lambda: pd.DataFrame({"a": [1.0]}),
    "a closure": lambda: (lambda rows: lambda: rows)(TABLE["a"]),
}


@pytest.mark.parametrize("planted", PLANTED.values(), ids=PLANTED)
def test_a_planted_secret_is_caught(planted: Callable[[], object]) -> None:
    learned = sulq.Conjunction("y", list(FLAGS), share=1).learn(
        sulq.open(TABLE, SCHEMA).curator(epsilon="1e-9", neighbours="add-remove")
    )
    assert SECRETS.told(learned) == []
    object.__setattr__(learned, "planted", planted())
    assert any(".planted" in found for found in SECRETS.told(learned))
