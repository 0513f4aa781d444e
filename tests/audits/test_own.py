"""`sulq.audit`: what others made is let pass if it keeps its claim, and caught if it does not.

Noise is drawn from fixed seeds where a box must hold; boxes that must be caught leak everything, or nearly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sulq
from sulq.audits.tables import pairs
from sulq.errors import QueryError
from sulq.local.response import RandomizedResponse
from sulq.privacy.terms import Terms
from sulq.serve.trial import trial

TABLE = np.linspace(0, 1, 12).reshape(-1, 1)


def box(scale: float) -> Callable[[Any], float]:
    rng = np.random.default_rng(5)
    return lambda rows: float(np.sum(rows) + rng.laplace(scale=scale))


def test_a_function_that_keeps_its_claim_holds_and_one_that_does_not_is_caught() -> None:
    assert sulq.audit(box(1), 1, TABLE, runs=600).holds
    found = sulq.audit(box(0.2), 1, TABLE, runs=600)
    assert [finding.holds for finding in found.violations] == [False]
    assert "box" in str(found) or "<lambda>" in str(found)


@pytest.mark.parametrize("claim", [sulq.PureDP(1), sulq.ApproxDP(1, "1e-6"), sulq.ZCDP("1/32"), "1", 1.0])
def test_a_claim_is_a_number_or_a_budget(claim: Any) -> None:
    assert not sulq.audit(box(0.01), claim, [TABLE, np.zeros((12, 1))], runs=300).holds


def test_a_lone_label_is_found_without_being_told() -> None:
    labels = np.array([0, 1] * 6)
    found = sulq.audit(lambda table: len(np.unique(table[1])), 1, (TABLE, labels), runs=200)
    assert not found.holds
    assert "the only one with its label" in str(found)


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_pairs_are_neighbours(neighbours: Any) -> None:
    table = np.random.default_rng(1).random((9, 3))
    for _, one, other in pairs((table, np.arange(9) % 2), neighbours):
        rows = [np.column_stack(each).tolist() for each in (one, other)]
        moved = [sum(row not in rows[1 - side] for row in rows[side]) for side in (0, 1)]
        assert max(moved) <= 1
        assert len(rows[0]) - len(rows[1]) == (neighbours == "add-remove")


ROWS = {"x": [0.5, 0.25, 1.0], "b": [True, False, True]}
OTHER = {"x": [0.5, 0.25, 0.0], "b": [True, False, False]}
FAR = {"x": [0.5, 0.125, 0.0], "b": [True, False, False]}
SCHEMA = {"x": sulq.Real(0, 1), "b": sulq.Boolean()}


def test_a_learner_is_examined_round_by_round() -> None:
    found = sulq.audit(sulq.Table(by=["b"], means=["x"]), sulq.PureDP(1), [ROWS, OTHER], schema=SCHEMA)
    assert found.holds
    assert "1 lost in all" in found.findings[0].measured


def test_a_curator_with_too_little_noise_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    curator = sulq.open(ROWS, SCHEMA).curator(epsilon=1, ledger=":memory:")
    round_ = sulq.Round([sulq.count(by="b")], share=1)
    assert sulq.audit(curator, 1, [ROWS, OTHER], ask=round_).holds
    terms = type(curator.offer).terms

    def cheap(self: Any, asked: sulq.Round) -> Terms:
        right = terms(self, asked)
        noises: Any = right.noises
        return replace(right, noises=tuple(replace(noise, scale=noise.scale / 2) for noise in noises))

    monkeypatch.setattr(type(curator.offer), "terms", cheap)
    assert not sulq.audit(curator, 1, [ROWS, OTHER], ask=round_).holds


def test_tables_are_neighbours_however_their_cells_are_written() -> None:
    """And whatever a column holds that the schema does not name."""
    here = ROWS | {"b": np.array([1, 0, 1]), "name": ["one", "two", "three"]}
    assert sulq.audit(sulq.Table(by=["b"]), 1, [here, OTHER], schema=SCHEMA).holds


class Blurted(RandomizedResponse):
    """A randomizer that tells the truth."""

    def sample(self, values: Any) -> Any:
        return np.asarray(values, dtype=bool)


def test_a_randomizer_is_examined_by_its_chances_and_by_its_reports() -> None:
    assert sulq.audit(RandomizedResponse(1), 1, [False, True]).holds
    assert not sulq.audit(RandomizedResponse(2), 1, [False, True]).holds
    assert not sulq.audit(Blurted(1), 1, [False, True]).holds


def test_a_row_function_is_hunted() -> None:
    function = sulq.row_function(lambda rows: rows["x"] * 7, ["x"], low=0, high=1)
    assert sulq.audit(function, 1, schema={"x": sulq.Real(0, 100)}).holds


def test_a_service_is_asked_about_two_data_sets() -> None:
    """ε = 5 an answer, claimed to be 0.01: 60 answers of each show that but for a chance below 1e-12."""
    tables = {"a": ROWS, "b": OTHER}
    curators = {
        name: sulq.open(rows, SCHEMA).curator(epsilon=5000, ledger=":memory:")
        for name, rows in tables.items()
    }
    round_ = sulq.Round([sulq.count(where="b")], share=Fraction(1, 1000))
    with trial(**curators) as (url, key):
        found = sulq.audit(url, "0.01", ("a", "b"), key=key, ask=round_, runs=60, alarm=1e-6)
    assert not found.holds


def refusals() -> Iterator[tuple[str, Callable[[], Any]]]:
    yield "a function is audited on data", lambda: sulq.audit(box(1), 1)
    yield "audit takes a function of a table", lambda: sulq.audit(7, 1)
    yield "two neighbouring tables", lambda: sulq.audit(sulq.Table(by=["b"]), 1, ROWS, schema=SCHEMA)
    yield "what is public about the columns", lambda: sulq.audit(sulq.col("x"), 1)
    yield "data=\\(A, B\\)", lambda: sulq.audit("https://x", 1)
    yield (
        "ask=Round",
        lambda: sulq.audit(sulq.open(ROWS, SCHEMA).curator(epsilon=1, ledger=":memory:"), 1, [ROWS, OTHER]),
    )

    for data in (np.zeros((0, 1)), np.zeros(3), "abc", (TABLE, [1]), 7):
        yield "a test table is an array", lambda data=data: sulq.audit(box(1), 1, data)
    for neighbours, table in (
        ("replace", {"x": [0.5], "b": [True]}),
        ("add-remove", OTHER),
        ("replace", FAR),
    ):
        yield (
            f"the two tables are no neighbours \\({neighbours}\\)",
            lambda neighbours=neighbours, table=table: sulq.audit(
                sulq.Table(by=["b"]), 1, [ROWS, table], schema=SCHEMA, neighbours=neighbours
            ),
        )
    for values in (None, [True]):
        yield (
            "a randomizer is audited on data",
            lambda values=values: sulq.audit(RandomizedResponse(1), 1, values),
        )
    yield "runs must be a whole number from 2", lambda: sulq.audit(box(1), 1, TABLE, runs=0)
    yield "every run of wants_names failed.*IndexError", lambda: sulq.audit(wants_names, 1, TABLE, runs=100)


def wants_names(table: Any) -> Any:
    """A box that was made for tables of another kind."""
    return table["age"]


def test_a_service_that_answers_nothing_was_not_examined() -> None:
    """Its budget is spent before the first run."""
    curators = {
        name: sulq.open(rows, SCHEMA).curator(epsilon=1, ledger=":memory:")
        for name, rows in {"a": ROWS, "b": OTHER}.items()
    }
    for curator in curators.values():
        curator.ask(sulq.Round([sulq.count(where="b")], share=1))
    with (
        trial(**curators) as (url, key),
        pytest.raises(QueryError, match="failed, so nothing was examined: BudgetError"),
    ):
        sulq.audit(url, 1, ("a", "b"), key=key, ask=sulq.Round([sulq.count(where="b")], share="1/2"), runs=4)


def test_an_error_that_tells_tables_apart_is_an_answer() -> None:
    def fails(table: Any) -> Any:
        raise ValueError(f"no {table[0][0]}")

    assert not sulq.audit(fails, 1, TABLE, runs=200).holds


@pytest.mark.parametrize(("words", "work"), list(refusals()), ids=[words for words, _ in refusals()])
def test_what_is_missing_is_said_in_one_line(words: str, work: Callable[[], Any]) -> None:
    with pytest.raises(QueryError, match=words) as refused:
        work()
    assert "\n" not in str(refused.value)
