"""Every question to every oracle, where many, one or none are meant: it is refused for public reasons, or told.

The walk: every kind of expression, in every kind of query, of all rows, of some and of none, in groups and
without, on tables with rows and without; one row a person or several; both neighbours; every calibration and
way of answering; curator, crowd, sample, exact answers, and each of them denoised. Nothing is raised but a
refusal, and that comes before a row is read and is the same for tables that nobody may tell apart. Nothing
costs less than its noise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import sulq
from sulq.oracles.curator import Curator
from sulq.queries.choose import Choice
from sulq.queries.codes import Cross
from sulq.queries.facts import Code
from sulq.queries.query import Query
from sulq.queries.scope import Scope
from sulq.sources.table import TableSource
from tests.effort import EFFORT, either
from tests.oracles.losses import loss
from tests.queries.random_expressions import SCHEMA
from tests.queries.test_no_rows import EVERY_NODE, NEVER

col = sulq.col
FEW, MANY = 12, 9_000
UNIT = sulq.Unit("person", 3)
TABLES = ("some", "none", "empty")
"""Somebody meets the condition, nobody does, nobody is there."""
CURATORS: dict[str, dict[str, Any]] = {
    "epsilon": {"epsilon": 1},
    "epsilon and delta, truncated": {"epsilon": 1, "delta": "1e-6", "truncate": True},
    "sulq-laplace": {"epsilon": 1, "calibration": "sulq-laplace", "queries": 10**5},
    "sulq-gaussian": {"epsilon": 1, "delta": "1e-6", "calibration": "sulq-gaussian", "queries": 10**5},
}


def table(which: str, unit: sulq.Unit | None, rows: int = FEW) -> sulq.Source:
    rows = 0 if which == "empty" else rows
    data: dict[str, Any] = {
        "r": np.linspace(0, 5, rows),
        "big": np.linspace(0, 1e9, rows),
        "tiny": np.zeros(rows),
        "fixed": np.full(rows, 2.5),
        "i": np.arange(rows) % 9,
        "long": np.arange(rows),
        "b": np.arange(rows) % 2 == 0,
        "c": np.array(["u", "v", "w"])[np.arange(rows) % 3],
        "d": np.array(["no", "yes"])[np.arange(rows) % 2],
        "t": np.datetime64("2020-01-01") + np.arange(rows),
        "person": np.arange(rows) // 3,
    }
    if which == "some":
        data["r"][0] = 11.2
    return sulq.open(data, sulq.Schema(dict(SCHEMA), unit), threads=1)


def questions() -> list[Query | Choice]:
    never = col("r") >= 11
    found: list[Query | Choice] = [
        sulq.count(),
        sulq.count(where=never),
        sulq.count(where=never, by=["c", "d"]),
    ]
    for node in EVERY_NODE:
        if type(node).__name__ == "Function":
            continue
        code = isinstance(Scope(SCHEMA).facts(node), Code)
        numbers = sulq.one_hot(node) if code else node
        found += [
            sulq.total(numbers),
            sulq.total(numbers, where=never),
            sulq.mean(numbers, where=never, by="c"),
        ]
        if code:
            found += [sulq.count(by=node), sulq.choose([node, col("b")], label="d", by="c")]
    outer = sulq.outer(sulq.vector("r", "i"), sulq.vector("r", "i"))
    for around in (outer * 2, outer + 1, sulq.vector(outer), sulq.where("b", outer, outer * 2)):
        found += [
            sulq.total(around, where=never),
            sulq.mean(around, where=never, by=Cross((col("c"), col("d")))),
        ]
    found += [
        sulq.choose(["c", "d"], label="b", by=sulq.bins("r", [11]), score="purity"),
        sulq.choose([sulq.count(where=never), sulq.total(sulq.clip("r", 0, 1), where=never)]),
        sulq.total(sulq.row_function(lambda rows: 1 / (rows["r"] - rows["r"]), ["r"], 0, 1), where=never),
    ]
    return found


QUESTIONS = questions()


class Reading:
    """Notes whether rows were looked at."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.looked = False
        for name in ("sums", "values"):
            monkeypatch.setattr(TableSource, name, self._noting(getattr(TableSource, name)))

    def _noting(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*arguments: Any) -> Any:
            self.looked = True
            return method(*arguments)

        return noted


@pytest.fixture
def reading(monkeypatch: pytest.MonkeyPatch) -> Reading:
    return Reading(monkeypatch)


def outcome(oracle: Any, round_: sulq.Round, reading: Reading) -> str:
    """What becomes of a question: the words of a refusal, or the shapes of the answers."""
    reading.looked = False
    try:
        answers = oracle.ask(round_, run=f"{id(round_)}")
    except (sulq.QueryError, sulq.BudgetError) as refusal:
        assert not reading.looked, f"refused after a row was read: {refusal}"
        return f"refused: {refusal}"
    # Of a few: the tails of so many laws take long to work out.
    assert all(np.all(np.asarray(answer.radius(0.05)) >= 0) for answer in answers[::12])
    return f"answered: {[np.shape(answer.value) for answer in answers]}"


def told(oracle: Any, reading: Reading, questions: Sequence[Query | Choice]) -> list[str]:
    """What becomes of every question: each is priced by itself, and all that have a price are asked at once."""
    found, accepted = [], []
    for question in questions:
        reading.looked = False
        try:
            found.append(f"{oracle.cost(sulq.Round([question], share=1))}")
            accepted.append(question)
        except (sulq.QueryError, sulq.BudgetError) as refusal:
            found.append(f"refused: {refusal}")
        assert not reading.looked, "a price is public"
    return [*found, outcome(oracle, sulq.Round(accepted, share=1), reading)] if accepted else found


def walk(make: Callable[[str], Any], reading: Reading, alike: tuple[str, ...], whole: bool = True) -> None:
    """Ask everything of every table; of those that nobody may tell apart, the outcomes are the same.

    Where another walk is the `whole` one, every third question will do, and none of them denoised.
    """
    asked = QUESTIONS if whole else QUESTIONS[::3]
    found = {which: told(make(which), reading, asked) for which in TABLES}
    if whole:
        again = {which: told(make(which).denoised("b", "0.1"), reading, asked) for which in TABLES}
        found = {which: found[which] + again[which] for which in TABLES}
    assert len({repr(found[which]) for which in alike}) == 1
    refused = sum(words.startswith("refused") for words in found["some"])
    assert refused < len(asked) / 2, "most questions make sense"


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
@pytest.mark.parametrize("unit", [None, UNIT], ids=["a row each", "three rows"])
@pytest.mark.parametrize("settings", CURATORS.values(), ids=CURATORS)
def test_a_curator(
    settings: dict[str, Any], unit: sulq.Unit | None, neighbours: Any, reading: Reading
) -> None:
    if "calibration" in settings and neighbours == "add-remove":
        pytest.skip("the paper's promise is about a row that is replaced")
    # Where the number of rows is public, only tables of as many rows may not be told apart.
    public = unit is None and neighbours == "replace"
    alike = ("some", "none") if public else TABLES
    whole = settings == CURATORS["epsilon"] and (unit is None) == (neighbours == "replace")
    walk(lambda which: table(which, unit).curator(**settings, neighbours=neighbours), reading, alike, whole)


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
@pytest.mark.parametrize("unit", [None, UNIT], ids=["a row each", "three rows"])
@pytest.mark.parametrize("settings", CURATORS.values(), ids=CURATORS)
def test_nothing_costs_less_than_its_noise(
    settings: dict[str, Any], unit: sulq.Unit | None, neighbours: Any
) -> None:
    if "calibration" in settings and neighbours == "add-remove":
        return
    curator = table("some", unit).curator(**settings, neighbours=neighbours)
    accepted = []
    for question in QUESTIONS:
        round_ = sulq.Round([question], share="1/3")
        try:
            cost = curator.cost(round_)
        except sulq.QueryError:
            continue
        assert loss(curator, round_) <= cost
        accepted.append(question)
    together = sulq.Round(accepted, share="1/3")
    assert loss(curator, together) <= curator.cost(together)


@pytest.mark.parametrize(("answering", "settings"), [("chunks", {"epsilon": 1}), ("printed", {"rho": "0.1"})])
def test_a_curator_of_chunks(settings: dict[str, Any], answering: Any, reading: Reading) -> None:
    """One question each: a chunk serves one."""
    for question in QUESTIONS[:: either(9, 3)]:
        told = [
            outcome(
                table(which, None).curator(**settings, answering=answering, queries=2),
                sulq.Round([question], share="1/2"),
                reading,
            )
            for which in ("some", "none")
        ]
        assert told[0] == told[1]
    with pytest.raises(sulq.QueryError, match="cannot be dealt"):
        table("empty", None).curator(epsilon=1, answering=answering, queries=2)


@pytest.mark.parametrize("method", ["best", "paper"])
@pytest.mark.parametrize("unit", [None, UNIT], ids=["a row each", "three rows"])
def test_a_crowd(unit: sulq.Unit | None, method: Any, reading: Reading) -> None:
    """Everybody sees how many there are."""
    whole = method == "best" and unit is not None
    walk(lambda which: table(which, unit, MANY).crowd(1, method=method), reading, ("some", "none"), whole)


@pytest.mark.parametrize("fresh", [True, False])
def test_a_sample(fresh: bool, reading: Reading) -> None:
    whole = fresh or EFFORT == "thorough"
    walk(lambda which: table(which, None, MANY).sample(fresh=fresh), reading, ("some", "none"), whole)


@pytest.mark.parametrize("unit", [None, UNIT], ids=["a row each", "three rows"])
def test_exact_answers(unit: sulq.Unit | None, reading: Reading) -> None:
    found = {
        which: [
            outcome(oracle, sulq.Round([question]), reading)
            for oracle in (table(which, unit).exact(), table(which, unit).exact().denoised("b", "0.1"))
            for question in QUESTIONS[:: 1 if unit is None else 5]
        ]
        for which in TABLES
    }
    assert found["some"] == found["none"] == found["empty"]


def test_a_failure_after_the_charge_is_one_refusal_whatever_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    words = set()
    for failure in (
        ValueError("row 7 is 1.11e8"),
        MemoryError(),
        sulq.SulqError("damaged at row 7"),
        KeyError(7),
    ):

        def fails(*arguments: Any, failure: Exception = failure) -> Any:
            raise failure

        for make in (lambda source: source.curator(epsilon=1), lambda source: source.crowd(epsilon=1)):
            oracle = make(table("some", None))
            with monkeypatch.context() as broken:
                broken.setattr(TableSource, "sums", fails)
                broken.setattr(TableSource, "values", fails)
                with pytest.raises(sulq.errors.ReleaseError) as refused:
                    oracle.ask(sulq.Round([sulq.count(where=NEVER)], share="1/2"))
            assert refused.value.__cause__ is None and refused.value.__context__ is None
            words.add(str(refused.value))
            if isinstance(oracle, Curator):
                assert oracle.spent == 1 / 2
    assert len(words) == 1
